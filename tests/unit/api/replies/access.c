/* Access to the store. */
#include "replies/access.h"
#include "bytes/digest.h"

#include "unit.h"
#include "unit_service.h"

#include <stdio.h>
#include <string.h>

#define KEY "correct-horse-battery-staple"

START_TEST(loopback_names_are_told_from_others)
{
    static const char *const local[] = {"localhost",    "LocalHost:8080", "127.0.0.1",
                                        "127.0.0.1:80", "127.255.3.4",    "[::1]",
                                        "[::1]:8080",   "localhost:",     "127.1.2.3:1"};
    static const char *const others[] = {"",
                                         "example.org",
                                         "localhost.example.org",
                                         "127.0.0.1.example.org",
                                         "127.0.0",
                                         "127.1",
                                         "127.0.0.256",
                                         "127.0.0.1.",
                                         "128.0.0.1",
                                         "0127.0.0.1",
                                         "10.0.0.1",
                                         "127.0.0.1:80:80",
                                         "localhost,",
                                         "[::2]",
                                         "[::1]x",
                                         "[::1",
                                         "127.0.0.1x",
                                         "localhost:x",
                                         "xlocalhost",
                                         "127..0.1",
                                         "127.0.0.1 ",
                                         "0x7f.0.0.1",
                                         "127.0.0.1234",
                                         "localhost, evil.example",
                                         ".127.0.0.1",
                                         "2130706433",
                                         "localhost@evil",
                                         "127.0.0.1.5"};
    for (size_t i = 0; i < UNIT_COUNT(local); i++)
        ck_assert_msg(api_is_loopback_host(local[i]), "%s", local[i]);
    for (size_t i = 0; i < UNIT_COUNT(others); i++)
        ck_assert_msg(!api_is_loopback_host(others[i]), "%s", others[i]);
}
END_TEST

static unsigned ask(unit_service *service, const char *method, const char *target,
                    const char *name, const char *value, const char *also, const char *its)
{
    const char *headers[] = {name, value, also, its, NULL};
    api_reply *reply = unit_ask(service, method, target, headers, NULL);
    unsigned status = api_reply_status(reply);
    bool challenge = unit_field(reply, "WWW-Authenticate") != NULL;
    ck_assert_int_eq(challenge, status == 401);
    api_reply_unref(reply);
    return status;
}

static const char *const METHODS[] = {"GET",     "HEAD", "PUT", "DELETE",
                                      "OPTIONS", "POST", "BREW"};

START_TEST(with_a_key_every_method_needs_it)
{
    unit_service service;
    static const char *const wrong[] = {"Bearer",
                                        "Bearer ",
                                        "Bearer x",
                                        "Basic " KEY,
                                        KEY,
                                        "Bearer " KEY "x",
                                        "Bearer " KEY " ",
                                        "Bearer " KEY ", Bearer x",
                                        "bearer" KEY,
                                        "Bearer Correct-horse-battery-staple"};
    unit_service_start(&service);
    service.host.api_key = KEY;
    for (size_t m = 0; m < UNIT_COUNT(METHODS); m++) {
        const char *target = m % 2 ? "/v1/sets/x" : "/v1/sets";
        ck_assert_uint_eq(ask(&service, METHODS[m], target, NULL, NULL, NULL, NULL), 401);
        for (size_t i = 0; i < UNIT_COUNT(wrong); i++)
            ck_assert_uint_eq(
                ask(&service, METHODS[m], target, "Authorization", wrong[i], NULL, NULL), 401);
        for (size_t length = 1; length < 2 * strlen(KEY); length++) {
            char text[100];
            snprintf(text, sizeof text, "Bearer %.*s", (int)length, KEY KEY);
            unsigned status =
                ask(&service, METHODS[m], target, "Authorization", text, NULL, NULL);
            ck_assert_int_eq(status != 401, length == strlen(KEY));
        }
        ck_assert_uint_ne(
            ask(&service, METHODS[m], target, "Authorization", "bearer   " KEY, NULL, NULL),
            401);
        ck_assert_uint_ne(ask(&service, METHODS[m], target, "Authorization", "Bearer " KEY,
                              "Origin", "https://example.org"),
                          403); /* with the key, requests of web pages are let in too */
    }
    ck_assert_uint_eq(ask(&service, "GET", "/v1/info", NULL, NULL, NULL, NULL), 200);
    ck_assert_uint_eq(ask(&service, "GET", "/v1/sets/", NULL, NULL, NULL, NULL), 404);
    unit_service_stop(&service);
}
END_TEST

START_TEST(without_a_key_it_is_open_locally_but_not_to_web_pages)
{
    unit_service service;
    unit_service_start(&service);
    for (size_t m = 0; m < UNIT_COUNT(METHODS); m++) {
        const char *method = METHODS[m], *target = m % 2 ? "/v1/sets/x" : "/v1/sets";
        ck_assert_uint_ne(ask(&service, method, target, NULL, NULL, NULL, NULL), 403);
        ck_assert_uint_ne(ask(&service, method, target, "Host", "localhost:1", NULL, NULL),
                          403);
        ck_assert_uint_eq(ask(&service, method, target, "Host", "evil.example", NULL, NULL),
                          403);
        ck_assert_uint_eq(
            ask(&service, method, target, "Host", "localhost", "Origin", "http://localhost"),
            403);
        ck_assert_uint_eq(ask(&service, method, target, "Host", "localhost", "Origin", "null"),
                          403);
        service.host.any_host = true; /* but no page */
        ck_assert_uint_ne(ask(&service, method, target, "Host", "any.example", NULL, NULL),
                          403);
        ck_assert_uint_eq(ask(&service, method, target, "Host", "any.example", "Origin",
                              "http://any.example"),
                          403);
        service.host.any_host = false;
        service.host.local = false;
        ck_assert_uint_eq(ask(&service, method, target, "Host", "localhost", NULL, NULL), 403);
        service.host.local = true;
    }
    ck_assert_uint_eq(ask(&service, "GET", "/v1/info", "Host", "any.example", NULL, NULL), 200);
    unit_service_stop(&service);
}
END_TEST

static unsigned ask_table(unit_service *service, const char *name, const char *value)
{
    const char *headers[] = {"Content-Type", "application/octet-stream", name, value, NULL};
    api_reply *reply =
        unit_ask(service, "POST", "/v1/compare/integer?length=1", headers, "\0\0\0\0");
    unsigned status = api_reply_status(reply);
    api_reply_unref(reply);
    return status == 401 || status == 403 ? status : 0;
}

START_TEST(tables_are_for_everybody_for_keys_or_for_local_clients)
{
    unit_service service;
    unit_service_start(&service);
    service.host.api_key = KEY;
    service.host.tables_key = "compute-and-change-nothing";
    ck_assert_uint_eq(ask_table(&service, "Origin", "null"), 0);
    service.host.tables = API_OPEN_TO_KEYS;
    ck_assert_uint_eq(ask_table(&service, "Authorization", "Bearer x"), 401);
    ck_assert_uint_eq(ask_table(&service, "Authorization", "Bearer " KEY), 0);
    ck_assert_uint_eq(ask_table(&service, "Authorization", "Bearer compute-and-change-nothing"),
                      0);
    ck_assert_uint_eq(ask(&service, "DELETE", "/v1/sets/x", "Authorization",
                          "Bearer compute-and-change-nothing", NULL, NULL),
                      401);
    service.host.tables = API_OPEN_LOCALLY;
    ck_assert_uint_eq(ask_table(&service, "Host", "localhost"), 0);
    ck_assert_uint_eq(ask_table(&service, "Host", "evil.example"), 403);
    ck_assert_uint_eq(ask_table(&service, "Sec-Fetch-Site", "cross-site"), 403);
    ck_assert_uint_eq(ask_table(&service, "Sec-Fetch-Site", "same-origin"), 0);
    ck_assert_uint_eq(ask_table(&service, "X-Forwarded-For", "127.0.0.1"), 403);
    service.host.local = false;
    ck_assert_uint_eq(ask_table(&service, "Host", "localhost"), 403);
    unit_service_stop(&service);
}
END_TEST

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
    const TTest *const tests[] = {loopback_names_are_told_from_others,
                                  with_a_key_every_method_needs_it,
                                  without_a_key_it_is_open_locally_but_not_to_web_pages,
                                  tables_are_for_everybody_for_keys_or_for_local_clients,
                                  nobody_is_let_in_for_want_of_memory,
                                  an_upload_is_refused_by_its_head_for_want_of_memory,
                                  secrets_match_only_themselves,
                                  NULL};
    return unit_suite("access", tests);
}
