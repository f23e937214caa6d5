/* /v1/sets without a server: storing, preconditions, documentation, missing memory. */
#include "unit.h"
#include "unit_service.h"
#include "json/schema.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/v1/sets/a"

/* A file of one tensor with one f32: 8 bytes of length, 55 of header, 4 of data. */
static const char HEADER[] = "{\"t\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
#define FILE_SIZE (8 + sizeof HEADER - 1 + 4)

/* Write a file whose data is one byte and three zeros. Returns dst. */
static const char *file_of(char first, char dst[FILE_SIZE])
{
    memset(dst, 0, FILE_SIZE);
    dst[0] = (char)(sizeof HEADER - 1);
    memcpy(dst + 8, HEADER, sizeof HEADER - 1);
    dst[FILE_SIZE - 4] = first;
    return dst;
}

/* Store a file with a precondition. Returns the status; ret_tag is the ETag if there is one. */
static unsigned put(unit_service *service, char first, const char *name, const char *value,
                    char *ret_tag)
{
    char file[FILE_SIZE];
    const char *headers[] = {name, value, NULL};
    api_reply *reply =
        unit_send(service, "PUT", PATH, headers, file_of(first, file), FILE_SIZE);
    unsigned status = api_reply_status(reply);
    if (ret_tag && unit_field(reply, "ETag"))
        snprintf(ret_tag, 80, "%s", unit_field(reply, "ETag"));
    api_reply_unref(reply);
    return status;
}

static unsigned ask(unit_service *service, const char *method, const char *name,
                    const char *value)
{
    const char *headers[] = {name, value, NULL};
    api_reply *reply = unit_ask(service, method, PATH, headers, NULL);
    unsigned status = api_reply_status(reply);
    api_reply_unref(reply);
    return status;
}

START_TEST(a_set_is_stored_and_replaced_and_removed)
{
    unit_service service;
    char tag[80], other[80], file[FILE_SIZE];
    size_t size;
    unit_service_start(&service);
    ck_assert_uint_eq(ask(&service, "GET", NULL, NULL), 404);
    ck_assert_uint_eq(put(&service, 1, NULL, NULL, tag), 201);
    ck_assert_uint_eq(strlen(tag), 66);
    ck_assert_uint_eq(put(&service, 2, NULL, NULL, other), 204);
    ck_assert_str_ne(tag, other);
    api_reply *reply = unit_ask(&service, "GET", PATH, NULL, NULL);
    char *body = unit_body(reply, &size);
    ck_assert_uint_eq(size, FILE_SIZE);
    ck_assert_int_eq(memcmp(body, file_of(2, file), FILE_SIZE), 0);
    ck_assert_str_eq(unit_field(reply, "ETag"), other);
    ck_assert_uint_eq(ask(&service, "DELETE", NULL, NULL), 204);
    ck_assert_uint_eq(ask(&service, "DELETE", NULL, NULL), 404);
    ck_assert_int_eq(memcmp(body, file, FILE_SIZE), 0); /* the reply still holds the set */
    free(body);
    api_reply_unref(reply);
    unit_service_stop(&service);
}
END_TEST

START_TEST(conditions_are_judged_against_what_stands)
{
    unit_service service;
    char one[80], two[80], weak[90], list[200];
    unit_service_start(&service);
    ck_assert_uint_eq(put(&service, 1, "If-Match", "*", NULL), 412);
    ck_assert_uint_eq(put(&service, 1, "If-None-Match", "*", one), 201);
    ck_assert_uint_eq(put(&service, 2, "If-None-Match", "*", NULL), 412);
    ck_assert_uint_eq(put(&service, 2, "If-None-Match", one, NULL), 412);
    ck_assert_uint_eq(put(&service, 2, "If-Match", one, two), 204);
    ck_assert_uint_eq(put(&service, 3, "If-Match", one, NULL), 412);
    ck_assert_uint_eq(put(&service, 2, "If-None-Match", one, NULL), 204);
    snprintf(weak, sizeof weak, "W/%s", two);
    ck_assert_uint_eq(put(&service, 3, "If-Match", weak, NULL), 412);
    snprintf(list, sizeof list, "%s, %s", one, two);
    ck_assert_uint_eq(ask(&service, "GET", "If-None-Match", weak), 304);
    ck_assert_uint_eq(ask(&service, "GET", "If-None-Match", list), 304);
    ck_assert_uint_eq(ask(&service, "HEAD", "If-None-Match", one), 200);
    ck_assert_uint_eq(ask(&service, "GET", "If-Match", one), 412);
    ck_assert_uint_eq(ask(&service, "GET", "If-Match", list), 200);
    ck_assert_uint_eq(ask(&service, "DELETE", "If-Match", one), 412);
    ck_assert_uint_eq(ask(&service, "DELETE", "If-None-Match", "*"), 412);
    ck_assert_uint_eq(ask(&service, "DELETE", "If-Match", list), 204);
    ck_assert_uint_eq(ask(&service, "DELETE", "If-Match", "*"), 412);
    unit_service_stop(&service);
}
END_TEST

START_TEST(event_threads_do_not_store)
{
    unit_service service;
    api_reply *reply = NULL;
    unit_service_start(&service);
    static const char *const methods[] = {"PUT", "DELETE"};
    for (size_t i = 0; i < 2; i++) {
        const api_request request = {.method = methods[i], .target = PATH, .quick = true};
        ck_assert_int_eq(api_handle(service.service, &request, &reply), API_LATER);
    }
    unit_service_stop(&service);
}
END_TEST

START_TEST(an_upload_is_judged_by_its_head)
{
    unit_service service;
    api_head head;
    unit_service_start(&service);
    api_request request = {.method = "PUT", .target = PATH};
    ck_assert_ptr_null(api_judge_head(service.service, &request, &head));
    ck_assert_uint_eq(head.body_limit, service.host.upload_bytes);
    service.host.local = false;
    api_reply *reply = api_judge_head(service.service, &request, &head);
    ck_assert_uint_eq(api_reply_status(reply), 403);
    api_reply_unref(reply);
    service.host.local = true;
    request.target = "/v1/sets/A";
    reply = api_judge_head(service.service, &request, &head);
    ck_assert_uint_eq(api_reply_status(reply), 400);
    api_reply_unref(reply);
    request.method = "POST";
    ck_assert_ptr_null(api_judge_head(service.service, &request, &head));
    ck_assert_uint_eq(head.body_limit, service.host.body_bytes);
    unit_service_stop(&service);
}
END_TEST

START_TEST(names_are_bounded)
{
    unit_service service;
    char file[FILE_SIZE], target[100];
    unit_service_start(&service);
    static const struct {
        const char *name;
        unsigned status;
    } names[] = {{"a", 201},   {"0", 201},  {"a.b_c-d", 201}, {".a", 400},  {"-a", 400},
                 {"_a", 400},  {"A", 400},  {"a%62", 400},    {"..", 400},  {"a~", 400},
                 {"a+b", 400}, {"a:", 400}, {"a?", 400},      {"a?b", 400}, {"", 404}};
    file_of(1, file);
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        snprintf(target, sizeof target, "/v1/sets/%s", names[i].name);
        api_reply *reply = unit_send(&service, "PUT", target, NULL, file, FILE_SIZE);
        unsigned wanted = names[i].status == 404 ? 404 : names[i].status;
        ck_assert_msg(api_reply_status(reply) == wanted, "%s: %u", names[i].name,
                      api_reply_status(reply));
        api_reply_unref(reply);
    }
    for (int length = 64; length <= 65; length++) {
        snprintf(target, sizeof target, "/v1/sets/%0*d", length, 7);
        api_reply *reply = unit_send(&service, "PUT", target, NULL, file, FILE_SIZE);
        ck_assert_uint_eq(api_reply_status(reply), length == 64 ? 201 : 400);
        api_reply_unref(reply);
    }
    unit_service_stop(&service);
}
END_TEST

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

START_TEST(what_a_set_may_give_is_documented)
{
    const pe_parameter set = {.name = "set", .type = PE_STORED};
    const pe_parameter dim = {.name = "dim",
                              .type = PE_INTEGER,
                              .required = true,
                              .stored = "table",
                              .stored_axis = 1,
                              .maximum = 9};
    json_t *schema = api_parameter_schema(&set), *described = api_describe_parameter(&set);
    ck_assert_str_eq(text_of(schema, "type"), "string");
    ck_assert_str_eq(text_of(schema, "pattern"), "^[a-z0-9][a-z0-9._-]{0,63}$");
    ck_assert_str_eq(text_of(described, "format"), "set name");
    json_decref(schema);
    json_decref(described);
    schema = api_parameter_schema(&dim);
    described = api_describe_parameter(&dim);
    ck_assert_str_eq(text_of(schema, "x-stored"), "taken from tensor table axis 1 of the set");
    ck_assert_str_eq(text_of(described, "stored"), text_of(schema, "x-stored"));
    ck_assert(!api_is_required(&dim));
    json_decref(schema);
    json_decref(described);
}
END_TEST

/* Fail the k-th allocation for every k. The answer must be right or a 503, and the store must
 * hold whole files alone. */
static void starve(const char *method, const char *target, bool body, unsigned wanted)
{
    char file[FILE_SIZE];
    file_of(9, file);
    for (size_t k = 0;; k++) {
        unit_service service;
        uint64_t sets, bytes;
        unit_service_start(&service);
        if (wanted != 201)
            ck_assert_uint_eq(put(&service, 1, NULL, NULL, NULL), 201);
        unit_fail_allocations(k, 1);
        api_reply *reply =
            unit_send(&service, method, target, NULL, body ? file : NULL, body ? FILE_SIZE : 0);
        bool failed = unit_allow_allocations().failed > 0;
        unsigned status = api_reply_status(reply);
        ck_assert_msg(status == wanted || (failed && status == 503),
                      "%s %s: %u at allocation %zu", method, target, status, k);
        api_reply_unref(reply);
        service.host.store->totals(service.host.store->context, &sets, &bytes);
        ck_assert_uint_eq(bytes, sets * FILE_SIZE);
        unit_service_stop(&service);
        if (!failed)
            break;
        ck_assert_uint_lt(k, 5000);
    }
}

START_TEST(survives_every_failing_allocation)
{
    starve("PUT", PATH, true, 201);
    starve("PUT", PATH, true, 204);
    starve("GET", PATH, false, 200);
    starve("HEAD", PATH, false, 200);
    starve("GET", "/v1/sets", false, 200);
    starve("DELETE", PATH, false, 204);
}
END_TEST

Suite *stored_sets_suite(void)
{
    const TTest *const tests[] = {a_set_is_stored_and_replaced_and_removed,
                                  conditions_are_judged_against_what_stands,
                                  event_threads_do_not_store,
                                  an_upload_is_judged_by_its_head,
                                  names_are_bounded,
                                  what_a_set_may_give_is_documented,
                                  survives_every_failing_allocation,
                                  NULL};
    return unit_suite("stored_sets", tests);
}
