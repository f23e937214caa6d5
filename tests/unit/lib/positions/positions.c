/* Tests of positions: exact sums, exact phases, and the bounds of what a request may ask for.
 */
#include "positions/positions.h"
#include "near.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* offset + row·step, computed with Python's fractions: the nearest double, and the double
 * nearest to the rest. */
static const struct {
    double offset, step;
    uint64_t row;
    dd position;
} POSITIONS[] = {
    {0, 0.1, 3, {0x1.3333333333334p-2, -0x1p-55}},
    {0.1, 0.1, 10, {0x1.199999999999ap0, -0x1p-55}},
    {-0.3, 0.1, 3, {0x1p-55, 0}},
    {1e15, 0.3333333333333333, 7, {0x1.c6bf526340013p49, -0x1.5555555555568p-5}},
    {-0x1p53, 1, 9007199254740992, {0, 0}},
    {0x1p53, -0.5, 12345, {0x1.fffffffffe7e4p52, -0.5}},
    {1e-300, 1, 1, {1, 0x1.56e1fc2f8f359p-997}},
    {0.5, 0x1p-60, 1, {0.5, 0x1p-60}},
    {-70, 0.1, 700, {0x1.18p-48, 0}},
    {123.456, 1e-17, 999999, {0x1.edd2f1a9fc137p6, -0x1.40c7baf7e74ep-48}},
    {0.1, 1e9, 9007199, {0x1.ffffff0d0f6p52, 0x1.999999999999ap-4}},
    {0, 5e-324, 3, {0x1.8p-1073, 0}},
    {4503599627370497, 0.7, 1073741825, {0x1.000002ccccccep52, 0x1.fffffccccccccp-2}},
};

START_TEST(a_position_is_offset_plus_row_times_step_to_105_bits)
{
    for (size_t i = 0; i < UNIT_COUNT(POSITIONS); i++) {
        pe_positions positions = {UINT64_MAX, POSITIONS[i].offset, POSITIONS[i].step, NULL};
        dd got = pe_position_get(&positions, POSITIONS[i].row);
        dd expected = POSITIONS[i].position;
        double error = (got.hi - expected.hi) + (got.lo - expected.lo);
        ck_assert_msg(fabs(error) <= fabs(expected.hi) * 0x1p-105, "%g + %llu * %g is %a + %a",
                      POSITIONS[i].offset, (unsigned long long)POSITIONS[i].row,
                      POSITIONS[i].step, got.hi, got.lo);
        ck_assert(got.hi + got.lo == got.hi);
    }
}
END_TEST

START_TEST(a_list_is_taken_as_it_is)
{
    static const double LIST[] = {3, -0.1, 0, 0x1p53, 5e-324};
    pe_positions positions = {5, 0, 1, LIST};
    for (uint64_t row = 0; row < 5; row++) {
        dd position = pe_position_get(&positions, row);
        ck_assert(position.hi == LIST[row] && position.lo == 0);
    }
}
END_TEST

/* position/2π modulo 1, computed with mpmath and cut to 256 bits. */
static const struct {
    double offset, step;
    uint64_t row;
    pe_wide phase;
} PHASES[] = {
    {0.0,
     1.0,
     9007199254740991,
     {{0xab7960387a232116, 0x4b374d24ce4e11cd, 0x6efd05202f7caaac, 0x8091805f2afea45c}}},
    {-0x1p53,
     0.1,
     12345,
     {{0xf438810bc272ff62, 0xb2a7a04498ef559f, 0xe732d0d4e020eaf7, 0xd0be31a05c476bfe}}},
    {0.5,
     -0.75,
     1000000000,
     {{0x39d8623c07a41874, 0x56b6ef5de911babb, 0x62ef99a763bc01ed, 0xc2ba59817395284b}}},
    {1000000000.0,
     1.0,
     131071,
     {{0xe4d94ebf85f1152e, 0x1a3b27d7cc590f7e, 0xfda63bbf1576adfa, 0xb07f3a2c3f487140}}},
};

START_TEST(a_phase_of_any_position_is_good_to_200_bits)
{
    for (size_t i = 0; i < UNIT_COUNT(PHASES); i++) {
        pe_positions positions = {UINT64_MAX, PHASES[i].offset, PHASES[i].step, NULL};
        pe_wide phase = pe_position_phase(&positions, PHASES[i].row, pe_wide_radian);
        unit_wide_is_near(phase, PHASES[i].phase, (1ULL << 56) - 1, "case %zu", i);
    }
}
END_TEST

START_TEST(a_list_turns_as_far_as_a_sum)
{
    for (uint64_t row = 0; row < 1000; row++) {
        pe_positions sum = {1000, -100.5, 0.375, NULL};
        double position = -100.5 + 0.375 * (double)row;
        pe_positions list = {1, 0, 1, &position};
        unit_wide_is_near(pe_position_phase(&list, 0, pe_wide_radian),
                          pe_position_phase(&sum, row, pe_wide_radian), (1 << 16) - 1,
                          "position %g", position);
    }
}
END_TEST

START_TEST(the_range_spans_all_positions)
{
    static const double LIST[] = {3, -7.5, 0, 12, 11};
    double low, high;
    pe_positions list = {5, 0, 1, LIST}, one = {1, 5, -1e300, NULL};
    pe_positions rising = {11, -2, 0.5, NULL}, falling = {11, -2, -0.5, NULL};
    pe_positions_range(&list, &low, &high);
    ck_assert(low == -7.5 && high == 12);
    pe_positions_range(&one, &low, &high);
    ck_assert(low == 5 && high == 5);
    pe_positions_range(&rising, &low, &high);
    ck_assert(low == -2 && high == 3);
    pe_positions_range(&falling, &low, &high);
    ck_assert(low == -7 && high == -2);
}
END_TEST

/* ---- bounds ---- */

START_TEST(positions_reach_from_minus_to_plus_2_to_the_53)
{
    static const char *const LEGAL[] = {
        "length=1&offset=9007199254740992",
        "length=1&offset=-9007199254740992",
        "length=2&offset=9007199254740991",
        "length=3&offset=9007199254740992&step=-9007199254740992",
        "length=2&step=9007199254740992",
        "length=2&offset=9007199254740992&step=-0.001",
        "positions=9007199254740992,-9007199254740992",
    };
    for (size_t i = 0; i < UNIT_COUNT(LEGAL); i++)
        pe_request_unref(unit_legal_request("integer", LEGAL[i]));
    static const char *const TOO_FAR[] = {
        "length=2&offset=9007199254740992",
        "length=2&offset=-9007199254740992&step=-1",
        "length=4&offset=9007199254740992&step=-9007199254740992",
        "length=2&offset=9007199254740992&step=0.001",
        "length=2&offset=9007199254740992&step=1e-300",
        "length=2&offset=-9007199254740992&step=-1e-300",
        "length=3&step=9007199254740992",
    };
    for (size_t i = 0; i < UNIT_COUNT(TOO_FAR); i++)
        unit_refuses("integer", TOO_FAR[i], PE_OUT_OF_RANGE, "length", "2^53");
    unit_refuses("integer", "length=1&offset=9007199254740994", PE_OUT_OF_RANGE, "offset", "");
    unit_refuses("integer", "length=1&step=-9007199254740994", PE_OUT_OF_RANGE, "step", "");
    unit_refuses("integer", "positions=9007199254740994", PE_OUT_OF_RANGE, "positions", "");
    unit_refuses("integer", "positions=1,-1e300", PE_OUT_OF_RANGE, "positions", "");
}
END_TEST

START_TEST(every_position_indexed_scheme_has_these_bounds)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        if (!unit_scheme_takes(info, "offset"))
            continue;
        char query[200];
        snprintf(query, sizeof query, "length=2&offset=9007199254740992%s", unit_needs(info));
        unit_refuses(info->name, query, PE_OUT_OF_RANGE, "length", "2^53");
    }
}
END_TEST

START_TEST(the_binary_scheme_takes_no_negative_or_fractional_position)
{
    static const struct {
        const char *query, *parameter;
    } CASES[] = {
        {"width=54&length=3&offset=-1", "offset"},
        {"width=54&length=3&offset=0.5", "offset"},
        {"width=54&length=3&step=0.5", "step"},
        {"width=54&length=3&step=-1", "step"},
        {"width=54&length=3&offset=1&step=-1", "step"},
        {"width=54&positions=1,2,-3", "positions"},
        {"width=54&positions=1,2.5", "positions"},
        {"width=54&positions=-0.5", "positions"},
        {"width=54&positions=1e-300", "positions"},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++)
        unit_refuses("binary", CASES[i].query, PE_OUT_OF_RANGE, CASES[i].parameter, "0, 1, 2");
    static const char *const LEGAL[] = {
        "width=54&length=3&offset=2&step=-1", "width=54&length=3&step=0",
        "width=54&length=2&step=3.0",         "width=54&positions=-0",
        "width=54&positions=2,1e3,0",         "width=54&length=1&offset=9007199254740992",
    };
    for (size_t i = 0; i < UNIT_COUNT(LEGAL); i++)
        pe_request_unref(unit_legal_request("binary", LEGAL[i]));
}
END_TEST

START_TEST(a_refused_position_is_shown)
{
    pe_request *request = NULL;
    pe_error error;
    unit_request("binary", "width=54&positions=1,2.5,-3", &UNIT_LIMITS, &request, &error);
    ck_assert_str_eq(error.problems[0].given, "2.5");
    unit_request("integer", "length=3&offset=9007199254740992", &UNIT_LIMITS, &request, &error);
    ck_assert_str_eq(error.problems[0].given, "9007199254740992 + 2 * 1");
}
END_TEST

Suite *positions_suite(void)
{
    const TTest *const tests[] = {
        a_position_is_offset_plus_row_times_step_to_105_bits,
        a_list_is_taken_as_it_is,
        a_phase_of_any_position_is_good_to_200_bits,
        a_list_turns_as_far_as_a_sum,
        the_range_spans_all_positions,
        positions_reach_from_minus_to_plus_2_to_the_53,
        every_position_indexed_scheme_has_these_bounds,
        the_binary_scheme_takes_no_negative_or_fractional_position,
        a_refused_position_is_shown,
        NULL,
    };
    return unit_suite("positions", tests);
}
