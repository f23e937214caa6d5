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
    api_etag_of(&first, (const api_segment[]){{"ab", 2}, {"c", 1}}, 2);
    api_etag_of(&second, (const api_segment[]){{"a", 1}, {"bc", 2}}, 2);
    api_etag_of(&again, (const api_segment[]){{"ab", 2}, {"c", 1}}, 2);
    ck_assert_str_ne(first.text, second.text);
    ck_assert_str_eq(first.text, again.text);
    ck_assert_uint_eq(strlen(first.text), 34);
}
END_TEST

START_TEST(if_none_match_is_a_list_compared_weakly)
{
    api_etag etag;
    char list[128];
    api_etag_of(&etag, (const api_segment[]){{"x", 1}}, 1);
    ck_assert(api_etag_matches(&etag, etag.text));
    ck_assert(api_etag_matches(&etag, "*"));
    ck_assert(api_etag_matches(&etag, "  *"));
    snprintf(list, sizeof list, "\"one\", W/%s ,\"two\"", etag.text);
    ck_assert(api_etag_matches(&etag, list));
    ck_assert(!api_etag_matches(&etag, "\"one\", \"two\""));
    ck_assert(!api_etag_matches(&etag, ""));
    ck_assert(!api_etag_matches(&etag, "\""));
    snprintf(list, sizeof list, "\"%.20s", etag.text + 1);
    ck_assert(!api_etag_matches(&etag, list));
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

Suite *etag_suite(void)
{
    const TTest *const tests[] = {sha256_is_the_standards, pieces_do_not_run_together,
                                  if_none_match_is_a_list_compared_weakly,
                                  if_match_takes_no_weak_tag, NULL};
    return unit_suite("etag", tests);
}
