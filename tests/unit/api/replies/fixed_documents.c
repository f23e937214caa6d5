/* Documents that are built once: the first request is a worker's, every other one a hit. */
#include "unit.h"
#include "unit_service.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const TARGETS[] = {"/openapi.json", "/v1/schemes", "/v1/schemes/rope",
                                      "/v1/schemes/sinusoidal"};

/* One header of a request, the context of `header_of`. */
typedef struct sent_header {
    api_header header;
    const char *value;
} sent_header;

static const char *header_of(void *context, api_header header)
{
    const sent_header *sent = context;
    return sent && sent->header == header ? sent->value : NULL;
}

static api_progress ask(unit_service *service, const char *method, const char *target,
                        const sent_header *sent, bool quick, api_reply **ret_reply)
{
    const api_request request = {.method = method,
                                 .target = target,
                                 .header = header_of,
                                 .context = (void *)(uintptr_t)sent,
                                 .quick = quick};
    *ret_reply = NULL;
    return api_handle(service->service, &request, ret_reply);
}

static api_reply *ask_quickly(unit_service *service, const char *method, const char *target,
                              const sent_header *sent)
{
    api_reply *reply;
    ck_assert_int_eq(ask(service, method, target, sent, true, &reply), API_DONE);
    return reply;
}

static void build(unit_service *service, const char *target)
{
    api_reply *reply;
    ck_assert_int_eq(ask(service, "GET", target, NULL, false, &reply), API_DONE);
    ck_assert_uint_eq(api_reply_status(reply), 200);
    api_reply_unref(reply);
}

START_TEST(a_document_is_built_by_a_worker_and_then_a_hit_in_every_coding)
{
    static const sent_header gzip = {API_HEADER_ACCEPT_ENCODING, "gzip"};
    unit_service service;
    api_reply *reply;
    unit_service_start(&service);
    for (size_t i = 0; i < UNIT_COUNT(TARGETS); i++) {
        ck_assert_int_eq(ask(&service, "GET", TARGETS[i], NULL, true, &reply), API_LATER);
        build(&service, TARGETS[i]);
        for (int coded = 0; coded < 2; coded++) {
            unit_fail_allocations(0, SIZE_MAX);
            api_progress progress =
                ask(&service, "GET", TARGETS[i], coded ? &gzip : NULL, true, &reply);
            ck_assert_uint_eq(unit_allow_allocations().asked, 0);
            ck_assert_int_eq(progress, API_DONE);
            ck_assert_uint_eq(api_reply_status(reply), 200);
            ck_assert_int_eq(unit_field(reply, "Content-Encoding") != NULL, coded);
            api_reply_unref(reply);
        }
    }
    unit_service_stop(&service);
}
END_TEST

START_TEST(conditions_and_head_are_answered_from_the_kept_document)
{
    unit_service service;
    unit_service_start(&service);
    for (size_t i = 0; i < UNIT_COUNT(TARGETS); i++) {
        build(&service, TARGETS[i]);
        api_reply *whole = ask_quickly(&service, "GET", TARGETS[i], NULL);
        const char *tag = unit_field(whole, "ETag");
        const sent_header same = {API_HEADER_IF_NONE_MATCH, tag},
                          other = {API_HEADER_IF_MATCH, "\"other\""},
                          match = {API_HEADER_IF_MATCH, tag},
                          none = {API_HEADER_ACCEPT_ENCODING, "*;q=0"};
        const struct {
            const char *method;
            const sent_header *sent;
            unsigned status;
        } cases[] = {{"GET", &same, 304},  {"HEAD", &same, 304}, {"GET", &other, 412},
                     {"GET", &match, 200}, {"HEAD", NULL, 200},  {"GET", &none, 406}};
        for (size_t c = 0; c < UNIT_COUNT(cases); c++) {
            api_reply *reply =
                ask_quickly(&service, cases[c].method, TARGETS[i], cases[c].sent);
            ck_assert_uint_eq(api_reply_status(reply), cases[c].status);
            if (cases[c].status < 400)
                ck_assert_str_eq(unit_field(reply, "ETag"), tag);
            if (cases[c].status == 200 && !cases[c].sent)
                ck_assert_uint_eq(api_reply_length(reply),
                                  api_body_size(api_reply_body(whole)));
            api_reply_unref(reply);
        }
        api_reply_unref(whole);
    }
    unit_service_stop(&service);
}
END_TEST

/* ---- several requests at once ---- */

#define THREADS 8

typedef struct asker {
    pthread_t thread;
    unit_service *service;
    pthread_barrier_t *begin;
    api_progress progress;
    api_reply *reply;
} asker;

static void *ask_at_once(void *context)
{
    asker *self = context;
    pthread_barrier_wait(self->begin);
    self->progress = ask(self->service, "GET", "/openapi.json", NULL, false, &self->reply);
    return NULL;
}

START_TEST(requests_that_come_at_once_build_a_document_once)
{
    unit_service service;
    asker askers[THREADS];
    pthread_barrier_t begin;
    unit_service_start(&service);
    pthread_barrier_init(&begin, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        askers[i] = (asker){.service = &service, .begin = &begin};
        ck_assert_int_eq(pthread_create(&askers[i].thread, NULL, ask_at_once, &askers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(askers[i].thread, NULL);
    ck_assert_uint_eq(service.landings, 1);
    api_reply *kept = ask_quickly(&service, "GET", "/openapi.json", NULL);
    for (size_t i = 0; i < THREADS; i++) {
        ck_assert(askers[i].progress == API_BUSY || askers[i].reply == kept);
        api_reply_unref(askers[i].reply);
    }
    api_reply_unref(kept);
    pthread_barrier_destroy(&begin);
    unit_service_stop(&service);
}
END_TEST

/* ---- without memory ---- */

START_TEST(a_document_that_lacks_memory_is_built_by_the_next_request)
{
    bool failed = true;
    for (size_t k = 0; failed; k += 1 + k / 3) {
        unit_service service;
        api_reply *reply;
        unit_service_start(&service);
        unit_fail_allocations(k, 1);
        ask(&service, "GET", "/v1/schemes/rope", NULL, false, &reply);
        failed = unit_allow_allocations().failed > 0;
        ck_assert(api_reply_status(reply) == 200 || (failed && api_reply_status(reply) == 503));
        ck_assert_uint_eq(service.landings, 1);
        api_reply *again;
        api_progress expected = api_reply_status(reply) == 200 ? API_DONE : API_LATER;
        ck_assert_int_eq(ask(&service, "GET", "/v1/schemes/rope", NULL, true, &again),
                         expected);
        api_reply_unref(again);
        build(&service, "/v1/schemes/rope");
        ck_assert_uint_eq(service.landings, expected == API_DONE ? 1 : 2);
        api_reply_unref(reply);
        unit_service_stop(&service);
    }
}
END_TEST

Suite *fixed_documents_suite(void)
{
    const TTest *const tests[] = {
        a_document_is_built_by_a_worker_and_then_a_hit_in_every_coding,
        conditions_and_head_are_answered_from_the_kept_document,
        requests_that_come_at_once_build_a_document_once,
        a_document_that_lacks_memory_is_built_by_the_next_request,
        NULL,
    };
    return unit_suite("fixed_documents", tests);
}
