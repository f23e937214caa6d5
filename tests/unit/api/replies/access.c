/* Access to the store. */
#include "replies/access.h"
#include "bytes/digest.h"

#include "unit.h"
#include "unit_service.h"

#include <stdio.h>
#include <string.h>

#define KEY "correct-horse-battery-staple"

/* Fail the k-th allocation for every k while a request is refused: it is refused all the same,
 * or answered with 503. */
static void starve_refusal(const char *method, const char *target, const char *key, bool local,
                           unsigned refused)
{
    bool failed = true;
    for (size_t k = 0; failed; k++) {
        unit_service service;
        unit_service_start(&service);
        service.host.api_key = key;
        service.host.local = local;
        service.host.tables = API_OPEN_TO_KEYS;
        unit_fail_allocations(k, 1);
        api_reply *reply = unit_ask(&service, method, target, NULL, "x");
        failed = unit_allow_allocations().failed > 0;
        unsigned status = api_reply_status(reply);
        ck_assert_msg(status == refused || (failed && status == 503),
                      "%s %s: %u at allocation %zu", method, target, status, k);
        api_reply_unref(reply);
        unit_service_stop(&service);
    }
}

START_TEST(nobody_is_let_in_for_want_of_memory)
{
    starve_refusal("GET", "/v1/sets", KEY, true, 401);
    starve_refusal("GET", "/v1/sets/x", KEY, true, 401);
    starve_refusal("DELETE", "/v1/sets/x", KEY, true, 401);
    starve_refusal("GET", "/v1/sets", NULL, false, 403);
    starve_refusal("PUT", "/v1/sets/A", NULL, true, 400);
    starve_refusal("POST", "/v1/identify", KEY, false, 401);
    starve_refusal("GET", "/v1/identify?set=a", NULL, true, 401);
}
END_TEST

START_TEST(an_upload_is_refused_by_its_head_for_want_of_memory)
{
    unit_service service;
    api_head head;
    unit_service_start(&service);
    service.host.api_key = KEY;
    const api_request request = {.method = "PUT", .target = "/v1/sets/a"};
    unit_fail_allocations(0, SIZE_MAX);
    api_reply *reply = api_judge_head(service.service, &request, &head);
    unit_allow_allocations();
    ck_assert_ptr_nonnull(reply);
    ck_assert_uint_eq(api_reply_status(reply), 503);
    api_reply_unref(reply);
    unit_service_stop(&service);
}
END_TEST

START_TEST(secrets_match_only_themselves)
{
    ck_assert(api_secrets_match("", ""));
    ck_assert(api_secrets_match(KEY, KEY));
    ck_assert(!api_secrets_match(KEY, ""));
    ck_assert(!api_secrets_match("a", "b"));
}
END_TEST

Suite *access_suite(void)
{
    const TTest *const tests[] = {nobody_is_let_in_for_want_of_memory,
                                  an_upload_is_refused_by_its_head_for_want_of_memory,
                                  secrets_match_only_themselves, NULL};
    return unit_suite("access", tests);
}
