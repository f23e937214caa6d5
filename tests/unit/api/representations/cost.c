/* Tests of prices: what the server refuses to compute, and what it says of work for later. */
#include "unit.h"
#include "unit_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEAR   "/v1/encodings/learned?length=1000&dim=64&format=raw" /* 2560000 */
#define STREAM "/v1/encodings/learned?length=100000&dim=64&format=raw"
#define CHEAP  "/v1/encodings/sinusoidal?length=4&dim=8"

static void expect(unit_service *service, const char *method, const char *target,
                   unsigned status, const char *part)
{
    api_reply *reply = unit_ask(service, method, target, NULL, NULL);
    ck_assert_uint_eq(api_reply_status(reply), status);
    if (part) {
        const api_segment *segments;
        ck_assert_uint_eq(api_body_segments(api_reply_body(reply), &segments), 1);
        char *text = strndup(segments[0].data, segments[0].size);
        ck_assert_msg(strstr(text, part) != NULL, "%s", text);
        free(text);
    }
    api_reply_unref(reply);
}

START_TEST(what_costs_more_than_the_limit_is_refused)
{
    unit_service service;
    unit_service_start(&service);
    expect(&service, "HEAD", DEAR, 200, NULL);
    service.host.compute_cost = 1000000;
    expect(&service, "GET", DEAR, 422, "\"too_large\"");
    expect(&service, "GET", DEAR, 422, "2.6e+06 multiply-adds");
    expect(&service, "GET", DEAR, 422, "at most 1000000 multiply-adds");
    expect(&service, "GET", DEAR, 422, "length must be reduced, or dim");
    expect(&service, "HEAD", DEAR, 422, NULL);
    expect(&service, "GET", CHEAP, 200, NULL);
    unit_service_stop(&service);
}
END_TEST

/* A request's header: a range of the first bytes. */
static const char *first_bytes(void *context, api_header header)
{
    (void)context;
    return header == API_HEADER_RANGE ? "bytes=0-999" : NULL;
}

START_TEST(of_a_stream_what_is_read_of_it_counts)
{
    unit_service service;
    unit_service_start(&service);
    service.host.compute_cost = 1000000;
    expect(&service, "HEAD", STREAM, 422, NULL);
    expect(&service, "GET", STREAM, 422, "2.6e+08 multiply-adds");
    const api_request request = {.method = "GET", .target = STREAM, .header = first_bytes};
    api_reply *reply = NULL;
    ck_assert_int_eq(api_handle(service.service, &request, &reply), API_DONE);
    ck_assert_uint_eq(api_reply_status(reply), 206);
    api_reply_unref(reply);
    service.host.compute_cost = 100;
    ck_assert_int_eq(api_handle(service.service, &request, &reply), API_DONE);
    ck_assert_uint_eq(api_reply_status(reply), 422);
    api_reply_unref(reply);
    unit_service_stop(&service);
}
END_TEST

static uint64_t price_of(unit_service *service, const char *target, api_progress wanted)
{
    uint64_t price = 99;
    const api_request request = {
        .method = "GET", .target = target, .quick = true, .ret_price = &price};
    api_reply *reply = NULL;
    ck_assert_int_eq(api_handle(service->service, &request, &reply), wanted);
    api_reply_unref(reply);
    return price;
}

START_TEST(work_for_later_comes_with_its_price)
{
    unit_service service;
    unit_service_start(&service);
    const char *stream = "/v1/encodings/integer?length=100000000&format=raw";
    ck_assert_uint_eq(price_of(&service, DEAR, API_LATER), 2560000);
    ck_assert_uint_eq(price_of(&service, CHEAP, API_DONE), 0);
    ck_assert_uint_eq(price_of(&service, stream, API_LATER), 0);
    unit_service_stop(&service);
}
END_TEST

START_TEST(small_requests_of_any_scheme_are_quick)
{
    unit_service service;
    unit_service_start(&service);
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        char target[256];
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(i));
        snprintf(target, sizeof target, "/v1/encodings/%s?%s", info->name, info->example);
        ck_assert_uint_eq(price_of(&service, target, API_DONE), 0);
    }
    unit_service_stop(&service);
}
END_TEST

Suite *cost_suite(void)
{
    const TTest *const tests[] = {
        what_costs_more_than_the_limit_is_refused, of_a_stream_what_is_read_of_it_counts,
        work_for_later_comes_with_its_price, small_requests_of_any_scheme_are_quick, NULL};
    return unit_suite("cost", tests);
}
