/* Range and If-Range. */
#include "http/ranges.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

#define WHOLE 1000

typedef struct range_case {
    const char *text;
    uint64_t first, size;
} range_case;

START_TEST(one_range_is_a_part)
{
    static const range_case cases[] = {
        {"bytes=0-0", 0, 1},
        {"bytes=0-499", 0, 500},
        {"bytes=500-999", 500, 500},
        {"bytes=999-999", 999, 1},
        {"bytes=999-", 999, 1},
        {"bytes=0-", 0, 1000},
        {"bytes=1-", 1, 999},
        {"bytes=0-1000", 0, 1000},
        {"bytes=998-99999", 998, 2},
        {"bytes=-1", 999, 1},
        {"bytes=-999", 1, 999},
        {"bytes=-1000", 0, 1000},
        {"bytes=-1001", 0, 1000},
        {"Bytes=7-8", 7, 2},
        {"bytes=007-0008", 7, 2},
        {"bytes= 7-8 ", 7, 2},
        {"bytes=,7-8,", 7, 2}, /* elements of a list may be empty */
        {"bytes= , ,\t7-8", 7, 2},
        {"bytes=7-99999999999999999999999999999999", 7, 993},
        {"bytes=-99999999999999999999999999999999", 0, 1000},
        {"bytes=0-18446744073709551615", 0, 1000},
        {"bytes=0-18446744073709551616", 0, 1000},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        uint64_t first, size;
        ck_assert_msg(api_read_range(cases[i].text, WHOLE, &first, &size) == API_RANGE_PART,
                      "%s", cases[i].text);
        ck_assert_msg(first == cases[i].first && size == cases[i].size, "%s: %llu+%llu",
                      cases[i].text, (unsigned long long)first, (unsigned long long)size);
    }
}
END_TEST

START_TEST(what_lies_behind_the_end_is_unsatisfiable)
{
    static const char *const texts[] = {"bytes=1000-",
                                        "bytes=1000-1000",
                                        "bytes=5000-6000",
                                        "bytes=-0",
                                        "bytes=-000",
                                        "bytes=18446744073709551615-",
                                        "bytes=18446744073709551616-",
                                        "bytes=99999999999999999999999999-"};
    uint64_t first, size;
    for (size_t i = 0; i < UNIT_COUNT(texts); i++)
        ck_assert_msg(api_read_range(texts[i], WHOLE, &first, &size) == API_RANGE_UNSATISFIABLE,
                      "%s", texts[i]);
    ck_assert_int_eq(api_read_range("bytes=1000-", 1001, &first, &size), API_RANGE_PART);
    ck_assert_int_eq(api_read_range("bytes=18446744073709551614-", UINT64_MAX, &first, &size),
                     API_RANGE_PART);
    ck_assert_uint_eq(first, UINT64_MAX - 1);
    ck_assert_uint_eq(size, 1);
}
END_TEST

START_TEST(anything_else_asks_for_the_whole)
{
    static const char *const texts[] = {
        "",           "bytes",       "bytes=",      "bytes=-",           "bytes=--1",
        "bytes=a-b",  "bytes=1",     "bytes=1-2-3", "bytes=2-1",         "bytes=1000-999",
        "bytes=+1-2", "bytes=1 -2",  "bytes=1- 2",  "bytes=0x1-2",       "bytes=1-2;3-4",
        "bytes 1-2",  "byte=1-2",    "bytes =1-2",  "rows=1-2",          "items=0-",
        "bytes=,",    "bytes=1.0-2", " bytes=1-2",  "bytes=0-0,5-6",     "bytes=0-0,-1",
        "bytes=-0,1", "bytes=1-2,x", "bytes=x,1-2", "bytes=2000-,3000-", "=1-2"};
    for (size_t i = 0; i < UNIT_COUNT(texts); i++) {
        uint64_t first, size;
        ck_assert_msg(api_read_range(texts[i], WHOLE, &first, &size) == API_RANGE_NONE, "%s",
                      texts[i]);
    }
}
END_TEST

START_TEST(if_range_holds_for_the_same_strong_tag_alone)
{
    api_etag etag;
    char text[80];
    api_etag_compute(&etag, (const api_segment[]){{"x", 1}}, 1);
    ck_assert(api_if_range_holds(etag.text, &etag));
    snprintf(text, sizeof text, " \t%s ", etag.text);
    ck_assert(api_if_range_holds(text, &etag));
    static const char *const around[][2] = {{"W/", ""}, {"", ", \"x\""}, {"\"x\", ", ""},
                                            {"x", ""},  {"", "x"},       {"\"", "\""}};
    for (size_t i = 0; i < UNIT_COUNT(around); i++) {
        snprintf(text, sizeof text, "%s%s%s", around[i][0], etag.text, around[i][1]);
        ck_assert_msg(!api_if_range_holds(text, &etag), "%s", text);
    }
    snprintf(text, sizeof text, "%.33s", etag.text);
    ck_assert(!api_if_range_holds(text, &etag));
    ck_assert(!api_if_range_holds("", &etag));
    ck_assert(!api_if_range_holds("*", &etag));
    ck_assert(!api_if_range_holds("Sat, 01 Jan 2028 00:00:00 GMT", &etag));
}
END_TEST

Suite *ranges_suite(void)
{
    const TTest *const tests[] = {
        one_range_is_a_part, what_lies_behind_the_end_is_unsatisfiable,
        anything_else_asks_for_the_whole, if_range_holds_for_the_same_strong_tag_alone, NULL};
    return unit_suite("ranges", tests);
}
