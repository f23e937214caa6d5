/* Tests of the sets that a call finds: a store that changes whenever it is asked. */
#include "files/found_sets.h"

#include "unit.h"
#include "unit_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS 5

/* A store in which every search finds a new version of each set. */
typedef struct changing {
    api_store store;
    const api_store *real;
    unsigned finds;
    bool is_empty;
} changing;

/* A file of one float, which is the number of the version. */
static api_set *version_of(unsigned number)
{
    static const char HEADER[] =
        "{\"table\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,4]}}";
    uint64_t length = sizeof HEADER - 1;
    float entry = (float)number;
    char *bytes = malloc(8 + length + sizeof entry);
    pe_error error;
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, HEADER, length);
    memcpy(bytes + 8 + length, &entry, sizeof entry);
    return api_set_read(bytes, 8 + length + sizeof entry, &error);
}

static api_store_status find(void *context, const char *name, bool quick, api_set **ret_set)
{
    changing *self = context;
    (void)name, (void)quick;
    self->finds++;
    if (self->is_empty)
        return self->is_empty = false, API_STORE_ABSENT;
    *ret_set = version_of(self->finds);
    return API_STORE_DONE;
}

static void begin(unit_service *service, changing *self)
{
    unit_service_start(service);
    *self = (changing){.store = *service->host.store, .real = service->host.store};
    self->store.context = self;
    self->store.find = find;
    service->host.store = &self->store;
}

static void end(unit_service *service, changing *self)
{
    service->host.store = self->real;
    unit_service_stop(service);
}

/* A batch of requests with the sets "a" and "b" in turns. */
static api_reply *ask(unit_service *service)
{
    char body[1024] = "{\"format\": \"json\", \"requests\": [";
    for (int i = 0; i < REQUESTS; i++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "%s{\"name\": \"n%d\", \"scheme\": \"learned\", \"length\": 1, "
                 "\"set\": \"%c\"}",
                 i > 0 ? "," : "", i, "ab"[i % 2]);
    strcat(body, "]}");
    return unit_ask(service, "POST", "/v1/batch",
                    (const char *const[]){"Content-Type", "application/json", NULL}, body);
}

/* How often a text is in the body of a reply, from its beginning. */
static size_t count_of(const api_reply *reply, const char *text)
{
    size_t size = 0, count = 0;
    api_body *body = api_reply_body(reply);
    if (!api_body_is_stream(body)) {
        char *held = unit_body(reply, &size);
        for (const char *at = held; (at = strstr(at, text)); at += strlen(text))
            count++;
        free(held);
        return count;
    }
    char read[8192] = "";
    for (size_t got;
         (got = api_body_read(body, size, read + size, sizeof read - 1 - size)) > 0;)
        size += got;
    unit_assert(size < sizeof read - 1);
    for (const char *at = read; (at = strstr(at, text)); at += strlen(text))
        count++;
    return count;
}

START_TEST(a_batch_finds_each_set_once)
{
    unit_service service;
    changing store;
    begin(&service, &store);
    api_reply *reply = ask(&service);
    ck_assert_uint_eq(api_reply_status(reply), 200);
    ck_assert_uint_eq(store.finds, 2);
    ck_assert_uint_eq(count_of(reply, "[1.0]"), 3);
    api_reply_unref(reply);
    reply = ask(&service); /* another call finds what there is now */
    ck_assert_uint_eq(store.finds, 4);
    ck_assert_uint_eq(count_of(reply, "[3.0]"), 3);
    api_reply_unref(reply);
    end(&service, &store);
}
END_TEST

START_TEST(a_set_that_was_absent_stays_absent)
{
    unit_service service;
    changing store;
    begin(&service, &store);
    store.is_empty = true;
    api_reply *reply = ask(&service);
    ck_assert_uint_eq(api_reply_status(reply), 422);
    ck_assert_uint_eq(store.finds, 2);
    ck_assert_uint_eq(count_of(reply, "\"given\": \"a\""), 3);
    api_reply_unref(reply);
    end(&service, &store);
}
END_TEST

Suite *found_sets_suite(void)
{
    const TTest *const tests[] = {
        a_batch_finds_each_set_once,
        a_set_that_was_absent_stays_absent,
        NULL,
    };
    return unit_suite("found_sets", tests);
}
