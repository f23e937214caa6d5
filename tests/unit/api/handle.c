/* Whole requests: routing, limits, conditional requests, representations. */
#include "routes.h"
#include "unit.h"
#include "unit_service.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define TARGET "/v1/encodings/sinusoidal?length=4&dim=8"

static unsigned status_of(unit_service *service, const char *method, const char *target)
{
    api_reply *reply = unit_ask(service, method, target, NULL, NULL);
    unsigned status = api_reply_status(reply);
    api_reply_unref(reply);
    return status;
}

START_TEST(every_route_answers_and_refuses_other_methods)
{
    unit_service service;
    unit_service_start(&service);
    static const char *const targets[] = {
        "/v1/schemes",  "/v1/schemes/binary", TARGET,          "/v1/info",
        "/health/live", "/health/ready",      "/openapi.json", "/metrics"};
    ck_assert_uint_eq(api_route_find("GET", "/nowhere"), api_route_count() - 1);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        ck_assert_uint_eq(status_of(&service, "GET", targets[i]), 200);
        ck_assert_uint_eq(status_of(&service, "HEAD", targets[i]), 200);
        ck_assert_uint_eq(status_of(&service, "OPTIONS", targets[i]), 204);
        ck_assert_uint_eq(status_of(&service, "PUT", targets[i]), 405);
        ck_assert_str_eq(api_route_name_get(api_route_find("HEAD", targets[i])).method, "GET");
        ck_assert_str_eq(api_route_name_get(api_route_find("BREW", targets[i])).pattern,
                         "other");
    }
    ck_assert_uint_eq(status_of(&service, "POST", "/v1/info"), 405);
    ck_assert_uint_eq(status_of(&service, "GET", "/v1/schemes/"), 404);
    ck_assert_uint_eq(status_of(&service, "GET", "/v1/schemes/binary/x"), 404);
    ck_assert_uint_eq(status_of(&service, "GET", "/"), 404);
    ck_assert_uint_eq(status_of(&service, "GET", "*"), 400);
    ck_assert_uint_eq(status_of(&service, "GET", "/v1/in\xfc"), 400);
    service.readiness = API_DRAINING;
    ck_assert_uint_eq(status_of(&service, "GET", "/health/ready"), 503);
    ck_assert_uint_eq(status_of(&service, "GET", "/health/live"), 200);
    unit_service_stop(&service);
}
END_TEST

START_TEST(routes_of_one_path_are_neighbours_and_no_target_has_two_paths)
{
    size_t count;
    const api_route *routes = api_route_table(&count);
    for (size_t i = 0; i < count; i++) {
        api_match match = api_match_route(routes[i].method, routes[i].pattern);
        ck_assert_ptr_eq(match.route, &routes[i]);
        ck_assert_ptr_null(match.query);
        for (size_t k = 0; k < i; k++) {
            bool same = strcmp(routes[i].pattern, routes[k].pattern) == 0;
            ck_assert(!same || strcmp(routes[i - 1].pattern, routes[i].pattern) == 0);
            ck_assert(!same || routes[i].right == routes[k].right);
        }
    }
    api_match match = api_match_route("HEAD", "/v1/schemes/rope?a=/?");
    ck_assert_str_eq(match.route->pattern, "/v1/schemes/{scheme}");
    ck_assert_mem_eq(match.parameter.data, "rope", match.parameter.size);
    ck_assert_uint_eq(match.parameter.size, 4);
    ck_assert_str_eq(match.query, "a=/?");
    match = api_match_route("BREW", "/v1/sets/rope");
    ck_assert_ptr_null(match.route);
    ck_assert_int_eq(match.right, API_RIGHT_STORE);
}
END_TEST

START_TEST(probes_are_told_from_other_paths)
{
    static const char *const probes[] = {"/health/live", "/health/ready", "/metrics",
                                         "/metrics?x"};
    static const char *const others[] = {"/",         "/v1/info", "/health/", "/health/live/x",
                                         "/metrics/", TARGET};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        ck_assert_msg(api_is_probe(probes[i]), "%s", probes[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!api_is_probe(others[i]), "%s", others[i]);
}
END_TEST

START_TEST(refuses_a_target_over_the_limit)
{
    unit_service service;
    char target[600] = TARGET "&positions=";
    unit_service_start(&service);
    memset(target + strlen(target), '1', 599 - strlen(target));
    target[512] = '\0';
    ck_assert_uint_ne(status_of(&service, "GET", target), 414);
    target[512] = '1', target[513] = '\0';
    ck_assert_uint_eq(status_of(&service, "GET", target), 414);
    unit_service_stop(&service);
}
END_TEST

static bool end_at_once(void *context, const pe_scheme *scheme, double done)
{
    (void)context, (void)scheme;
    return done == 0 || done == 1;
}

/* A proxy repeats a 503 on another node, which helps only where this one stops. */
START_TEST(a_deadline_is_no_503_but_the_end_of_the_server_is)
{
    static const struct {
        api_readiness readiness;
        unsigned status;
        const char *code, *retry_after;
    } CASES[] = {{API_READY, 422, "deadline_exceeded", NULL},
                 {API_DRAINING, 503, "unavailable", "1"}};
    const pe_runner runner = {.go_on = end_at_once};
    unit_service service;
    unit_service_start(&service);
    pe_cache_set_runner(service.cache, &runner);
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        size_t size;
        service.readiness = CASES[i].readiness;
        api_reply *reply = unit_ask(
            &service, "GET", "/v1/encodings/floater?length=3000&dim=64&format=raw", NULL, NULL);
        ck_assert_uint_eq(api_reply_status(reply), CASES[i].status);
        ck_assert_int_eq(api_reply_refusal(reply), API_REFUSAL_COMPUTE_DEADLINE);
        ck_assert_pstr_eq(unit_field(reply, "Retry-After"), CASES[i].retry_after);
        char *body = unit_body(reply, &size);
        json_t *document = json_loadb(body, size, 0, NULL);
        ck_assert_str_eq(json_string_value(json_object_get(document, "code")), CASES[i].code);
        json_decref(document);
        free(body);
        api_reply_unref(reply);
    }
    unit_service_stop(&service);
}
END_TEST

START_TEST(hits_share_one_reply)
{
    unit_service service;
    unit_service_start(&service);
    api_reply *miss = unit_ask(&service, "GET", TARGET, NULL, NULL);
    api_reply *first = unit_ask(&service, "GET", TARGET, NULL, NULL);
    api_reply *second =
        unit_ask(&service, "GET", "/v1/encodings/sinusoidal?dim=8.0&length=4", NULL, NULL);
    ck_assert_ptr_eq(first, second);
    ck_assert_ptr_ne(first, miss);
    ck_assert_ptr_eq(api_reply_body(first), api_reply_body(miss));
    ck_assert_str_eq(unit_field(first, "Cache-Status"), "posenc; hit");
    ck_assert_ptr_null(unit_field(first, "Server-Timing"));
    ck_assert_ptr_nonnull(unit_field(miss, "Server-Timing"));
    api_reply_unref(miss);
    api_reply_unref(first);
    api_reply_unref(second);
    unit_service_stop(&service);
}
END_TEST

/* Bytes that the cache counts after a miss and a hit. */
static uint64_t bytes_after_a_hit(size_t reply_overhead)
{
    unit_service service;
    pe_cache_stats stats;
    unit_service_start(&service);
    service.host.reply_overhead = reply_overhead;
    api_reply_unref(unit_ask(&service, "GET", TARGET, NULL, NULL));
    api_reply_unref(unit_ask(&service, "GET", TARGET, NULL, NULL));
    pe_cache_read_stats(service.cache, &stats);
    unit_service_stop(&service);
    return stats.bytes;
}

START_TEST(the_cache_counts_what_the_host_keeps_for_a_reply)
{
    ck_assert_uint_eq(bytes_after_a_hit(3000), bytes_after_a_hit(0) + 3000);
}
END_TEST

/* Ask for what cannot be computed; returns how many computations were tried. */
static uint64_t misses_of_a_failure(unit_service *service, uint64_t arrived)
{
    pe_cache_stats before, after;
    const api_request request = {.method = "GET",
                                 .target = "/v1/similarity/integer?length=300&metric=dot"
                                           "&dtype=f16&format=raw",
                                 .arrived = arrived};
    api_reply *reply;
    pe_cache_read_stats(service->cache, &before);
    ck_assert_int_eq(api_handle(service->service, &request, &reply), API_DONE);
    ck_assert_uint_eq(api_reply_status(reply), 422);
    pe_cache_read_stats(service->cache, &after);
    api_reply_unref(reply);
    return after.misses - before.misses;
}

START_TEST(requests_share_the_failures_since_they_came)
{
    unit_service service;
    unit_service_start(&service);
    uint64_t arrived = api_moment(service.service);
    ck_assert_uint_eq(misses_of_a_failure(&service, arrived), 1);
    ck_assert_uint_eq(misses_of_a_failure(&service, arrived), 0);
    ck_assert_uint_eq(misses_of_a_failure(&service, api_moment(service.service)), 1);
    ck_assert_uint_eq(misses_of_a_failure(&service, 0), 1);
    unit_service_stop(&service);
}
END_TEST

START_TEST(a_reply_outlives_its_cache)
{
    unit_service service;
    size_t size;
    unit_service_start(&service);
    api_reply *reply = unit_ask(&service, "GET", TARGET "&format=npy", NULL, NULL);
    unit_service_stop(&service);
    char *body = unit_body(reply, &size);
    ck_assert_uint_eq(size, 128 + 4 * 8 * 4);
    ck_assert_int_eq(memcmp(body, "\x93NUMPY\x01\x00", 8), 0);
    free(body);
    api_reply_unref(reply);
}
END_TEST

START_TEST(a_matching_etag_computes_nothing)
{
    unit_service service;
    pe_cache_stats stats;
    unit_service_start(&service);
    api_reply *head = unit_ask(&service, "HEAD", TARGET "&format=raw", NULL, NULL);
    const char *headers[] = {"If-None-Match", unit_field(head, "ETag"), NULL};
    api_reply *reply = unit_ask(&service, "GET", TARGET "&format=raw", headers, NULL);
    ck_assert_uint_eq(api_reply_status(reply), 304);
    ck_assert_ptr_null(api_reply_body(reply));
    ck_assert_uint_eq(api_reply_length(head), 128);
    pe_cache_read_stats(service.cache, &stats);
    ck_assert_uint_eq(stats.computed, 0);
    api_reply_unref(reply);
    api_reply_unref(head);
    unit_service_stop(&service);
}
END_TEST

/* For every dtype the header is padded to the alignment, and the offsets end with the body. */
START_TEST(safetensors_data_is_aligned)
{
    unit_service service;
    static const char *const dtypes[] = {"f64", "f32", "f16", "bf16"};
    unit_service_start(&service);
    for (size_t i = 0; i < 4; i++) {
        char target[128];
        size_t size;
        snprintf(target, sizeof target, TARGET "&format=safetensors&dtype=%s", dtypes[i]);
        api_reply *reply = unit_ask(&service, "GET", target, NULL, NULL);
        char *body = unit_body(reply, &size);
        uint64_t header = 0;
        for (unsigned b = 0; b < 8; b++)
            header |= (uint64_t)(unsigned char)body[b] << (8 * b);
        ck_assert_uint_eq((header + 8) % 64, 0);
        json_t *root = json_loadb(body + 8, (size_t)header, 0, NULL);
        ck_assert_ptr_nonnull(root);
        json_t *offsets = json_object_get(json_object_get(root, "encoding"), "data_offsets");
        ck_assert_int_eq(json_integer_value(json_array_get(offsets, 0)), 0);
        ck_assert_uint_eq((uint64_t)json_integer_value(json_array_get(offsets, 1)) + header + 8,
                          size);
        json_decref(root);
        free(body);
        api_reply_unref(reply);
    }
    unit_service_stop(&service);
}
END_TEST

Suite *handle_suite(void)
{
    const TTest *const tests[] = {every_route_answers_and_refuses_other_methods,
                                  routes_of_one_path_are_neighbours_and_no_target_has_two_paths,
                                  probes_are_told_from_other_paths,
                                  refuses_a_target_over_the_limit,
                                  a_deadline_is_no_503_but_the_end_of_the_server_is,
                                  hits_share_one_reply,
                                  the_cache_counts_what_the_host_keeps_for_a_reply,
                                  requests_share_the_failures_since_they_came,
                                  a_reply_outlives_its_cache,
                                  a_matching_etag_computes_nothing,
                                  safetensors_data_is_aligned,
                                  NULL};
    return unit_suite("handle", tests);
}
