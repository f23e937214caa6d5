/* Entity tags. */
#include "http/etag.h"
#include "bytes/digest.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

START_TEST(sha256_is_the_standards)
{
    char hex[65];
    api_sha256_hex("abc", 3, hex); /* FIPS 180-4, example */
    ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
END_TEST

START_TEST(pieces_do_not_run_together)
{
    api_etag first, second, again;
    api_etag_compute(&first, (const api_segment[]){{"ab", 2}, {"c", 1}}, 2);
    api_etag_compute(&second, (const api_segment[]){{"a", 1}, {"bc", 2}}, 2);
    api_etag_compute(&again, (const api_segment[]){{"ab", 2}, {"c", 1}}, 2);
    ck_assert_str_ne(first.text, second.text);
    ck_assert_str_eq(first.text, again.text);
    ck_assert_uint_eq(strlen(first.text), 34);
}
END_TEST

START_TEST(if_none_match_is_a_list_compared_weakly)
{
    api_etag etag;
    char list[128];
    api_etag_compute(&etag, (const api_segment[]){{"x", 1}}, 1);
    ck_assert(api_tag_is_listed(etag.text, etag.text, false));
    ck_assert(api_tag_is_listed(etag.text, "*", false));
    ck_assert(api_tag_is_listed(etag.text, "  *", false));
    snprintf(list, sizeof list, "\"one\", W/%s ,\"two\"", etag.text);
    ck_assert(api_tag_is_listed(etag.text, list, false));
    ck_assert(!api_tag_is_listed(etag.text, "\"one\", \"two\"", false));
    ck_assert(!api_tag_is_listed(etag.text, "", false));
    ck_assert(!api_tag_is_listed(etag.text, "\"", false));
    snprintf(list, sizeof list, "\"%.20s", etag.text + 1);
    ck_assert(!api_tag_is_listed(etag.text, list, false));
}
END_TEST

START_TEST(if_match_takes_no_weak_tag)
{
    static const char tag[] = "\"abc\"";
    static const char *const matching[] = {
        "\"abc\"", "*", " * ", "\"x\", \"abc\"", "W/\"abc\", \"abc\"", "\"abc\",W/\"x\""};
    static const char *const others[] = {
        "W/\"abc\"", "\"x\", W/\"abc\"", "abc", "\"ABC\"", "\"*\"", "", "**", "*a", "\"abc"};
    for (size_t i = 0; i < UNIT_COUNT(matching); i++) {
        ck_assert_msg(api_tag_is_listed(tag, matching[i], true), "%s", matching[i]);
        ck_assert_msg(api_tag_is_listed(tag, matching[i], false), "%s", matching[i]);
    }
    for (size_t i = 0; i < UNIT_COUNT(others); i++)
        ck_assert_msg(!api_tag_is_listed(tag, others[i], true), "%s", others[i]);
    ck_assert(api_tag_is_listed(tag, others[0], false));
    ck_assert(api_tag_is_listed(tag, others[1], false));
}
END_TEST

/* An api_request's `header`: the context has the values of If-Match and If-None-Match. */
static const char *condition(void *context, api_header header)
{
    const char *const *values = context;
    return header == API_HEADER_IF_MATCH        ? values[0]
           : header == API_HEADER_IF_NONE_MATCH ? values[1]
                                                : NULL;
}

START_TEST(preconditions_are_judged_in_their_order)
{
    static const struct {
        const char *values[2], *tag;
        api_conditions conditions;
    } CASES[] = {
        {{NULL, NULL}, "\"a\"", API_CONDITIONS_HOLD},
        {{"\"a\"", NULL}, "\"a\"", API_CONDITIONS_HOLD},
        {{"\"b\"", NULL}, "\"a\"", API_IF_MATCH_FAILS},
        {{"W/\"a\"", NULL}, "\"a\"", API_IF_MATCH_FAILS},
        {{NULL, "\"b\""}, "\"a\"", API_CONDITIONS_HOLD},
        {{NULL, "W/\"a\""}, "\"a\"", API_IF_NONE_MATCH_FAILS},
        {{"\"b\"", "\"a\""}, "\"a\"", API_IF_MATCH_FAILS},
        {{"\"a\"", "*"}, "\"a\"", API_IF_NONE_MATCH_FAILS},
        {{"*", NULL}, NULL, API_IF_MATCH_FAILS},
        {{NULL, "*"}, NULL, API_CONDITIONS_HOLD},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        const api_request request = {.header = condition,
                                     .context = (void *)(uintptr_t)CASES[i].values};
        const api_call call = {.request = &request};
        ck_assert_msg(api_judge_conditions(&call, CASES[i].tag) == CASES[i].conditions,
                      "case %zu", i);
    }
}
END_TEST

Suite *etag_suite(void)
{
    const TTest *const tests[] = {sha256_is_the_standards,
                                  pieces_do_not_run_together,
                                  if_none_match_is_a_list_compared_weakly,
                                  if_match_takes_no_weak_tag,
                                  preconditions_are_judged_in_their_order,
                                  NULL};
    return unit_suite("etag", tests);
}
