/* Tests of exact sums of products: ties, cancellation, and what is no number. */
#include "apply/sum.h"

#include "unit.h"

#include <math.h>

static double sum_of(pe_dtype dtype, double a, dd b, double c, dd d)
{
    pe_sum sum = {.nan = false};
    pe_sum_add(&sum, a, b);
    pe_sum_add(&sum, c, d);
    return pe_sum_rounded(&sum, dtype);
}

START_TEST(ties_go_to_even_unless_a_rest_decides)
{
    const dd one = {1, 0}, more = {0x1p-24, 0x1p-90}, less = {0x1p-24, -0x1p-90};
    ck_assert_double_eq(sum_of(PE_F32, 1, one, 1, (dd){0x1p-24, 0}), 1);
    ck_assert_double_eq(sum_of(PE_F32, 1 + 0x1p-23, one, 1, (dd){0x1p-24, 0}), 1 + 0x1p-22);
    ck_assert_double_eq(sum_of(PE_F32, 1, one, 1, more), 1 + 0x1p-23);
    ck_assert_double_eq(sum_of(PE_F32, 1 + 0x1p-23, one, 1, less), 1 + 0x1p-23);
    ck_assert_double_eq(sum_of(PE_F64, 1, one, 1, (dd){0x1p-53, 0x1p-1000}), 1 + 0x1p-52);
}
END_TEST

START_TEST(what_may_be_half_way_is_half_way)
{
    const dd fifth = dd_div(1, 5), one = {1, 0};
    for (int odd = 0; odd < 2; odd++) { /* 1 + odd · ulp + 5/2 · 1/5 · ulp */
        pe_sum sum = {.unsure = PE_ENTRY_ERROR};
        double start = 1 + odd * 0x1p-52;
        pe_sum_add(&sum, start, one);
        pe_sum_add(&sum, 2.5 * 0x1p-52, fifth);
        ck_assert_double_eq(pe_sum_rounded(&sum, PE_F64), 1 + 2 * odd * 0x1p-52);
    }
    pe_sum near = {.unsure = PE_ENTRY_ERROR}; /* the entry is small, and half way is farther */
    pe_sum_add(&near, 1 + 0x1p-24, one);
    pe_sum_add(&near, 0x1p-100, fifth);
    ck_assert_double_eq(pe_sum_rounded(&near, PE_F32), 1 + 0x1p-23);
}
END_TEST

START_TEST(entries_of_80_bits_are_exact)
{
    const dd one = {1, 0}, eighty = {1, 0x1p-79}, more = {1, 0x1p-80 + 0x1p-105};
    for (int odd = 0; odd < 2; odd++) { /* half way, but for a further term */
        pe_sum sum = {.unsure = PE_ENTRY_ERROR};
        pe_sum_add(&sum, 1 + odd * 0x1p-23, eighty);
        pe_sum_add(&sum, 0x1p-24, one);
        pe_sum_add(&sum, -1, (dd){0x1p-79, 0});
        pe_sum_add(&sum, odd ? -0x1p-100 : 0x1p-100, one);
        pe_sum_add(&sum, odd ? -0x1p-23 : 0, (dd){0x1p-79, 0});
        ck_assert_double_eq(pe_sum_rounded(&sum, PE_F32), 1 + 0x1p-23);
    }
    pe_sum sum = {.unsure = PE_ENTRY_ERROR}; /* this one is not exact: half way */
    pe_sum_add(&sum, 1, more);
    pe_sum_add(&sum, 0x1p-24, one);
    pe_sum_add(&sum, -1, (dd){more.lo, 0});
    pe_sum_add(&sum, 0x1p-100, one);
    ck_assert_double_eq(pe_sum_rounded(&sum, PE_F32), 1);
}
END_TEST

START_TEST(sums_cancel_and_scale_without_loss)
{
    const dd one = {1, 0}, above = {1, 0x1p-80};
    ck_assert_double_eq(sum_of(PE_F64, 0x1p1000, above, -0x1p1000, one), 0x1p920);
    ck_assert_double_eq(sum_of(PE_F64, 0x1p1023, (dd){2, 0}, -0x1p1023, one), 0x1p1023);
    ck_assert_double_eq(sum_of(PE_F64, 0x1p-1074, one, 0x1p-1074, one), 0x1p-1073);
    ck_assert_double_eq(sum_of(PE_F64, 0x1p-1074, (dd){0.5, 0}, 0, one), 0);
    ck_assert_double_eq(sum_of(PE_F64, 0x1p-1074, (dd){0.5, 0x1p-60}, 0, one), 0x1p-1074);
    ck_assert(!signbit(sum_of(PE_F32, -1, one, 1, one)));
    ck_assert(!signbit(sum_of(PE_F32, -0x1p-200, one, 0, one)));
}
END_TEST

START_TEST(infinities_and_nan_are_as_ieee_754_has_them)
{
    const dd one = {1, 0}, zero = {0, 0}, infinite = {-(double)INFINITY, 0};
    ck_assert_double_eq(sum_of(PE_F32, INFINITY, one, 1, one), INFINITY);
    ck_assert_double_eq(sum_of(PE_F32, 1, one, 1, infinite), -INFINITY);
    ck_assert(isnan(sum_of(PE_F32, INFINITY, one, 1, infinite)));
    ck_assert(isnan(sum_of(PE_F32, INFINITY, zero, 1, one)));
    ck_assert(isnan(sum_of(PE_F32, NAN, zero, 1, infinite)));
    ck_assert_double_eq(sum_of(PE_F16, 65519, one, 0, one), 65504);
    ck_assert_double_eq(sum_of(PE_F16, 65520, one, 0, one), INFINITY);
    ck_assert_double_eq(sum_of(PE_F64, 0x1p1023, one, 0x1p1023, one), INFINITY);
    ck_assert_double_eq(sum_of(PE_F64, -0x1p1023, (dd){0x1p300, 0}, 1, one), -INFINITY);
}
END_TEST

Suite *sum_suite(void)
{
    const TTest *const tests[] = {
        ties_go_to_even_unless_a_rest_decides,
        what_may_be_half_way_is_half_way,
        entries_of_80_bits_are_exact,
        sums_cancel_and_scale_without_loss,
        infinities_and_nan_are_as_ieee_754_has_them,
        NULL,
    };
    return unit_suite("sum", tests);
}
