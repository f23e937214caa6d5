/* Range and If-Range. */
#include "http/ranges.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

#define WHOLE 1000

/* Above all what tests/fuzz/range.c does not judge: lists, blanks, and what is malformed. */
START_TEST(a_range_is_a_part_or_none_or_beyond_the_end)
{
    static const struct {
        const char *text;
        api_range outcome;
        uint64_t first, size;
    } CASES[] = {
        {"bytes=0-0", API_RANGE_PART, 0, 1},
        {"bytes=500-", API_RANGE_PART, 500, 500},
        {"bytes=0-1000", API_RANGE_PART, 0, 1000},
        {"bytes=998-99999", API_RANGE_PART, 998, 2},
        {"bytes=-1001", API_RANGE_PART, 0, 1000},
        {"bytes=007-0008", API_RANGE_PART, 7, 2},
        {"bytes= 7-8 ", API_RANGE_PART, 7, 2},
        {"bytes=,7-8,", API_RANGE_PART, 7, 2}, /* elements of a list may be empty */
        {"bytes= , ,\t7-8", API_RANGE_PART, 7, 2},
        {"bytes=0-18446744073709551616", API_RANGE_PART, 0, 1000},
        {"bytes=1000-", API_RANGE_UNSATISFIABLE, 0, 0},
        {"bytes=-000", API_RANGE_UNSATISFIABLE, 0, 0},
        {"bytes=18446744073709551616-", API_RANGE_UNSATISFIABLE, 0, 0},
    };
    static const char *const MALFORMED[] = {
        "",           "bytes",       "bytes=",      "bytes=-",           "bytes=--1",
        "bytes=a-b",  "bytes=1",     "bytes=1-2-3", "bytes=2-1",         "bytes=1000-999",
        "bytes=+1-2", "bytes=1 -2",  "bytes=1- 2",  "bytes=0x1-2",       "bytes=1-2;3-4",
        "bytes 1-2",  "byte=1-2",    "bytes =1-2",  "rows=1-2",          "items=0-",
        "bytes=,",    "bytes=1.0-2", " bytes=1-2",  "bytes=0-0,5-6",     "bytes=0-0,-1",
        "bytes=-0,1", "bytes=1-2,x", "bytes=x,1-2", "bytes=2000-,3000-", "=1-2"};
    uint64_t first, size;
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        first = size = 0;
        ck_assert_msg(api_read_range(CASES[i].text, WHOLE, &first, &size) == CASES[i].outcome,
                      "%s", CASES[i].text);
        if (CASES[i].outcome == API_RANGE_PART)
            ck_assert_msg(first == CASES[i].first && size == CASES[i].size, "%s: %llu+%llu",
                          CASES[i].text, (unsigned long long)first, (unsigned long long)size);
    }
    for (size_t i = 0; i < UNIT_COUNT(MALFORMED); i++)
        ck_assert_msg(api_read_range(MALFORMED[i], WHOLE, &first, &size) == API_RANGE_NONE,
                      "%s", MALFORMED[i]);
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
    const TTest *const tests[] = {a_range_is_a_part_or_none_or_beyond_the_end,
                                  if_range_holds_for_the_same_strong_tag_alone, NULL};
    return unit_suite("ranges", tests);
}
