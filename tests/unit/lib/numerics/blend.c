/* Blends, compared with fractions of 128-bit integers. */
#include "numerics/blend.h"

#include "unit.h"

#include <math.h>

__extension__ typedef __int128 int128;

/* Fail unless `got` is the element nearest to the entry for α = m/2^20 and integers a, b and p,
 * which is a fraction with the denominator 2^20 - m. */
static void is_nearest(pe_dtype dtype, int64_t m, const int64_t integers[3], double got)
{
    int128 denominator = (1 << 20) - m;
    int128 numerator = denominator * integers[0] + m * ((int128)integers[1] - integers[2]);
    double up = unit_nearest(dtype, nextafter(got, INFINITY)), down;
    /* the neighbours of `got` in its dtype */
    for (double step = fabs(got) * 0x1p-53; up == got; step *= 2)
        up = unit_nearest(dtype, got + step);
    down = unit_nearest(dtype, nextafter(got, -INFINITY));
    for (double step = fabs(got) * 0x1p-53; down == got; step *= 2)
        down = unit_nearest(dtype, got - step);
    /* twice the midpoints, as integers in units of 2^-40 */
    int128 twice = (int128)2 << 40;
    int128 upper = (int128)ldexp(got + up, 40), lower = (int128)ldexp(got + down, 40);
    ck_assert_msg(numerator * twice <= upper * denominator &&
                      numerator * twice >= lower * denominator,
                  "%lld %lld %lld, %lld: %a", (long long)integers[0], (long long)integers[1],
                  (long long)integers[2], (long long)m, got);
}

START_TEST(entries_are_the_nearest_elements)
{
    static const pe_dtype DTYPES[] = {PE_F32, PE_BF16};
    uint64_t state = 3;
    for (int i = 0; i < 60000; i++) {
        pe_dtype dtype = DTYPES[i % 2];
        int64_t m = 1 + (int64_t)(unit_random(&state) % ((1 << 20) - 1)), integers[3];
        double doubles[3];
        for (int j = 0; j < 3; j++) {
            integers[j] = (int64_t)unit_random(&state) >> 44;
            doubles[j] = (double)integers[j];
        }
        unsigned char element[8];
        pe_blend blend = pe_blend_init((double)m * 0x1p-20, dtype);
        pe_blend_row(&blend, &doubles[0], &doubles[1], &doubles[2], 1, element);
        is_nearest(dtype, m, integers, unit_element(dtype, element));
    }
}
END_TEST

static double blend_one(pe_dtype dtype, double alpha, double a, double b, double p)
{
    unsigned char element[8];
    pe_blend blend = pe_blend_init(alpha, dtype);
    pe_blend_row(&blend, &a, &b, &p, 1, element);
    return unit_element(dtype, element);
}

START_TEST(ties_go_to_even)
{
    /* α = 1/4: a + (b - p)/3 */
    ck_assert(blend_one(PE_F32, 0.25, 1, 3 * 0x1p-24, 0) == 1);
    ck_assert(blend_one(PE_F32, 0.25, 1, 9 * 0x1p-24, 0) == 1 + 0x1p-22);
    ck_assert(blend_one(PE_F32, 0.25, 1, 9 * 0x1p-24, 0x1p-80) == 1 + 0x1p-23);
    ck_assert(blend_one(PE_F32, 0.25, 1, 3 * 0x1p-24, -0x1p-80) == 1 + 0x1p-23);
    ck_assert(blend_one(PE_F64, 0.25, 1, 3 * 0x1p-53, 0) == 1);
    ck_assert(blend_one(PE_F64, 0.25, 1, 9 * 0x1p-53, 0) == 1 + 0x1p-51);
    ck_assert(blend_one(PE_F64, 0.25, 1, 9 * 0x1p-53, 0x1p-1074) == 1 + 0x1p-52);
    ck_assert(blend_one(PE_F64, 0.25, -1, -3 * 0x1p-53, 0x1p-1074) == -1 - 0x1p-52);
    ck_assert(blend_one(PE_F16, 0.25, 1, 3 * 0x1p-11, 0) == 1);
    ck_assert(blend_one(PE_F16, 0.25, 1, 9 * 0x1p-11, 0) == 1 + 0x1p-9);
    /* half the smallest element */
    ck_assert(blend_one(PE_F32, 0.25, 0, 3 * 0x1p-150, 0) == 0);
    ck_assert(blend_one(PE_F32, 0.25, 0, 3 * 0x1p-150, -0x1p-1074) == 0x1p-149);
    ck_assert(blend_one(PE_F64, 0.25, 0x1p-1074, -3 * 0x1p-1074, 0) == 0);
}
END_TEST

START_TEST(terms_that_cancel_leave_the_exact_rest)
{
    ck_assert(blend_one(PE_F64, 0.75, 3, 0, 1) == 0); /* 3 - 3 */
    double zero = blend_one(PE_F32, 0.75, -3, 1, 0);
    ck_assert(zero == 0 && !signbit(zero));
    ck_assert(blend_one(PE_F64, 0.75, 3, 0x1p-1000, 1) == 3 * 0x1p-1000);
    ck_assert(blend_one(PE_F32, 0.75, 3, 0x1p-140, 1) == 3 * 0x1p-140);
    ck_assert(blend_one(PE_BF16, 0.75, 3, -0x1p-130, 1) == -3 * 0x1p-130);
    ck_assert(blend_one(PE_F64, 0x1p-1074, 1, 2, 1) == 1);
    ck_assert(blend_one(PE_F64, 1 - 0x1p-53, 0, 0x1p900, 0) == 0x1p953 - 0x1p900);
    ck_assert(blend_one(PE_F64, 0.3, 0x1.fp1022, 0x1p1022, 0x1p1022) == 0x1.fp1022);
}
END_TEST

START_TEST(scaling_by_powers_of_two_changes_no_digit)
{
    static const int SCALES[] = {-990, -899, -500, 500, 899, 960};
    uint64_t state = 9;
    for (int i = 0; i < 3000; i++) {
        double numbers[3], alpha = (double)(1 + (unit_random(&state) >> 12)) * 0x1p-53;
        for (int j = 0; j < 3; j++)
            numbers[j] = (double)((int64_t)unit_random(&state) >> (i % 3 * 8)) * 0x1p-64;
        double plain = blend_one(PE_F64, alpha, numbers[0], numbers[1], numbers[2]);
        int scale = SCALES[i % 6];
        double scaled = blend_one(PE_F64, alpha, ldexp(numbers[0], scale),
                                  ldexp(numbers[1], scale), ldexp(numbers[2], scale));
        if (plain == 0 || fabs(plain) > 0x1p-30) /* else the scaled one may be subnormal */
            unit_assert(scaled == ldexp(plain, scale));
    }
}
END_TEST

Suite *blend_suite(void)
{
    const TTest *const tests[] = {entries_are_the_nearest_elements, ties_go_to_even,
                                  terms_that_cancel_leave_the_exact_rest,
                                  scaling_by_powers_of_two_changes_no_digit, NULL};
    return unit_suite("blend", tests);
}
