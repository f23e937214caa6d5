/* Request ids, traceparents, and histograms of durations. */
#include "observe/trace.h"

#include "observe/histogram.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

START_TEST(a_request_id_is_128_safe_characters)
{
    char text[TRACE_ID_MAX + 2];
    memset(text, 'x', sizeof text);
    text[TRACE_ID_MAX + 1] = '\0';
    ck_assert(!trace_id_is_legal(text));
    text[TRACE_ID_MAX] = '\0';
    ck_assert(trace_id_is_legal(text));
    ck_assert(!trace_id_is_legal(""));
    for (int c = 1; c < 256; c++) {
        const char one[] = {'a', (char)c, '\0'};
        bool safe = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                    (c >= 'a' && c <= 'z') || strchr("._:/+=@-", c);
        ck_assert_msg(trace_id_is_legal(one) == safe, "character %d", c);
    }
}
END_TEST

START_TEST(new_ids_are_legal_and_differ)
{
    char ids[100][TRACE_ID_MAX + 1];
    for (size_t i = 0; i < 100; i++) {
        trace_new_id(ids[i]);
        ck_assert(trace_id_is_legal(ids[i]));
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(ids[i], ids[k]);
    }
}
END_TEST

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"

START_TEST(a_traceparent_is_read_as_the_standard_says)
{
    static const char *const good[] = {"00-" TRACE "-" SPAN "-01", "00-" TRACE "-" SPAN "-ff",
                                       "cc-" TRACE "-" SPAN "-01",
                                       "cc-" TRACE "-" SPAN "-01-what-the-future-will-be-like"};
    static const char *const bad[] = {"",
                                      "00",
                                      "ff-" TRACE "-" SPAN "-01",
                                      "0-" TRACE "-" SPAN "-01",
                                      "0g-" TRACE "-" SPAN "-01",
                                      "00-" TRACE "-" SPAN "-0",
                                      "00-" TRACE "-" SPAN "-0g",
                                      "00-" TRACE "-" SPAN "-01-",
                                      "00-" TRACE "-" SPAN "-01 ",
                                      "cc-" TRACE "-" SPAN "-01.what",
                                      "00_" TRACE "-" SPAN "-01",
                                      "00-" TRACE "_" SPAN "-01",
                                      "00-" TRACE "-" SPAN "_01",
                                      "00-00000000000000000000000000000000-" SPAN "-01",
                                      "00-" TRACE "-0000000000000000-01",
                                      "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
                                      "00-" TRACE "-00F067AA0BA902B7-01",
                                      " 00-" TRACE "-" SPAN "-01",
                                      "00-" TRACE "-" SPAN "-01, 00-" TRACE "-" SPAN "-01"};
    char parent[TRACE_PARENT + 1], trace[33], span[17];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(trace_read_parent(good[i], parent), "%s", good[i]);
        ck_assert_uint_eq(strlen(parent), TRACE_PARENT);
        ck_assert_int_eq(strncmp(parent, "00-", 3), 0);
        ck_assert_int_eq(strncmp(parent + 2, good[i] + 2, TRACE_PARENT - 2), 0);
        trace_split_parent(parent, trace, span);
        ck_assert_str_eq(trace, TRACE);
        ck_assert_str_eq(span, SPAN);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!trace_read_parent(bad[i], parent), "%s", bad[i]);
}
END_TEST

static void expect_text(histogram *durations, const char *labels, const char *expected)
{
    api_text out = {0};
    histogram_write(durations, HISTOGRAM_WORK, "x_seconds", labels, &out);
    char *text = api_text_take(&out);
    ck_assert_ptr_nonnull(text);
    ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
    free(text);
}

START_TEST(a_histogram_counts_up_to_each_bound_in_seconds)
{
    histogram durations = {0};
    ck_assert_uint_eq(histogram_count(&durations), 0);
    histogram_add(&durations, HISTOGRAM_WORK, 0);
    histogram_add(&durations, HISTOGRAM_WORK, 50000);       /* a bucket includes its bound */
    histogram_add(&durations, HISTOGRAM_WORK, 50001);       /* the next bucket */
    histogram_add(&durations, HISTOGRAM_WORK, 61000000000); /* above all bounds */
    ck_assert_uint_eq(histogram_count(&durations), 4);
    expect_text(&durations, "",
                "x_seconds_bucket{le=\"5e-05\"} 2\n"
                "x_seconds_bucket{le=\"0.0002\"} 3\n");
    expect_text(&durations, "",
                "x_seconds_bucket{le=\"60.0\"} 3\nx_seconds_bucket{le=\"+Inf\"} 4\n"
                "x_seconds_sum 61.000100001\nx_seconds_count 4\n");
    expect_text(&durations, "a=\"b\"", "x_seconds_bucket{a=\"b\",le=\"5e-05\"} 2\n");
    expect_text(&durations, "a=\"b\"",
                "x_seconds_sum{a=\"b\"} 61.000100001\n"
                "x_seconds_count{a=\"b\"} 4\n");
}
END_TEST

START_TEST(bounds_ascend_and_fit)
{
    static const histogram_bound *const all[] = {HISTOGRAM_WORK, HISTOGRAM_STAYS};
    for (size_t i = 0; i < UNIT_COUNT(all); i++) {
        size_t count = 0;
        for (; all[i][count].label; count++) {
            ck_assert(count == 0 || all[i][count].nanoseconds > all[i][count - 1].nanoseconds);
            ck_assert(strtod(all[i][count].label, NULL) * 1e9 ==
                      (double)all[i][count].nanoseconds);
        }
        ck_assert_uint_le(count, HISTOGRAM_BOUNDS_MAX);
    }
}
END_TEST

Suite *trace_suite(void)
{
    const TTest *const tests[] = {a_request_id_is_128_safe_characters,
                                  new_ids_are_legal_and_differ,
                                  a_traceparent_is_read_as_the_standard_says,
                                  a_histogram_counts_up_to_each_bound_in_seconds,
                                  bounds_ascend_and_fit,
                                  NULL};
    return unit_suite("trace", tests);
}
