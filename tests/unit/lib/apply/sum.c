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
        sums_cancel_and_scale_without_loss,
        infinities_and_nan_are_as_ieee_754_has_them,
        NULL,
    };
    return unit_suite("sum", tests);
}
