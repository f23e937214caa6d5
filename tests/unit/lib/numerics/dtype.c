/* Rounding to element types: a single rounding to nearest, ties to even, zeros to +0. */
#include "numerics/dtype.h"
#include "unit.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const pe_dtype REAL_DTYPES[] = {PE_F32, PE_F64, PE_F16, PE_BF16};
static const pe_dtype HALF_DTYPES[] = {PE_F16, PE_BF16};

static double round_double(pe_dtype dtype, double value)
{
    unsigned char element[8];
    pe_round_row(dtype, &value, 1, element);
    return unit_element(dtype, element);
}

static double round_dd(pe_dtype dtype, double hi, double lo)
{
    unsigned char element[8];
    pe_round_dd(dtype, (dd){hi, lo}, element);
    return unit_element(dtype, element);
}

/* Whether two numbers are equal and have the same sign, even if they are 0. */
static bool same(double a, double b)
{
    return a == b && signbit(a) == signbit(b);
}

/* Fail unless a number rounds to `expected`, and the negated number to -expected, or to +0. */
static void rounds_to(pe_dtype dtype, double value, double expected)
{
    double negative = expected == 0 ? 0 : -expected;
    double got = round_double(dtype, value), got_negative = round_double(dtype, -value);
    if (!same(got, expected) || !same(got_negative, negative))
        ck_abort_msg("%a in %s is %a, not %a", value, pe_dtype_name(dtype), got, expected);
}

static void dd_rounds_to(pe_dtype dtype, double hi, double lo, double expected)
{
    double negative = expected == 0 ? 0 : -expected;
    double got = round_dd(dtype, hi, lo), got_negative = round_dd(dtype, -hi, -lo);
    if (!same(got, expected) || !same(got_negative, negative))
        ck_abort_msg("%a + %a in %s is %a, not %a", hi, lo, pe_dtype_name(dtype), got,
                     expected);
}

/* Check the rounding of numbers between two neighbours, of which `even` has the even last bit.
 */
static void check_interval(pe_dtype dtype, double below, double above, double even)
{
    double middle = (below + above) / 2;
    rounds_to(dtype, below, below);
    rounds_to(dtype, nextafter(middle, 0), below);
    rounds_to(dtype, middle, even);
    rounds_to(dtype, nextafter(middle, INFINITY), above);
    dd_rounds_to(dtype, below, 0, below);
    dd_rounds_to(dtype, middle, -0x1p-1060, below);
    dd_rounds_to(dtype, middle, 0, even);
    dd_rounds_to(dtype, middle, 0x1p-1060, above);
    dd_rounds_to(dtype, nextafter(middle, 0), middle * 0x1p-54, below);
    dd_rounds_to(dtype, nextafter(middle, INFINITY), -middle * 0x1p-54, above);
}

START_TEST(f16_and_bf16_round_at_the_midpoints_of_all_neighbours)
{
    for (size_t i = 0; i < UNIT_COUNT(HALF_DTYPES); i++) {
        uint16_t infinite = HALF_DTYPES[i] == PE_F16 ? 0x7c00 : 0x7f80;
        for (uint16_t bits = 0; bits + 1 < infinite; bits++) {
            uint16_t next = (uint16_t)(bits + 1);
            double below = unit_element(HALF_DTYPES[i], &bits);
            double above = unit_element(HALF_DTYPES[i], &next);
            check_interval(HALF_DTYPES[i], below, above, bits & 1 ? above : below);
        }
    }
}
END_TEST

START_TEST(f32_rounds_at_the_midpoints_of_neighbours)
{
    uint64_t state = 1;
    for (size_t i = 0; i < 100000; i++) {
        uint64_t random = unit_random(&state);
        uint32_t bits = (uint32_t)random & 0x7fffffff;
        if (i % 8 == 0)
            bits >>= 8 + (random >> 32) % 23; /* subnormal */
        if (bits >= 0x7f7fffff)
            continue;
        uint32_t next = bits + 1;
        double below = unit_element(PE_F32, &bits), above = unit_element(PE_F32, &next);
        check_interval(PE_F32, below, above, bits & 1 ? above : below);
    }
}
END_TEST

START_TEST(zeros_and_numbers_that_vanish_round_to_plus_zero)
{
    static const double NUMBERS[] = {0.0, -0.0, 0x1p-1074, -0x1p-1074, -1e-300, 1e-60, -1e-60};
    for (size_t i = 0; i < UNIT_COUNT(REAL_DTYPES); i++) {
        pe_dtype dtype = REAL_DTYPES[i];
        for (size_t n = 0; n < UNIT_COUNT(NUMBERS); n++) {
            unsigned char element[8], single[8], zeros[8] = {0};
            if (dtype == PE_F64 && NUMBERS[n] != 0)
                continue;
            pe_round_row(dtype, &NUMBERS[n], 1, element);
            pe_round_dd(dtype, (dd){NUMBERS[n], 0}, single);
            ck_assert_int_eq(memcmp(element, zeros, pe_dtype_size(dtype)), 0);
            ck_assert_int_eq(memcmp(single, zeros, pe_dtype_size(dtype)), 0);
        }
    }
}
END_TEST

START_TEST(overflow_begins_half_a_step_above_the_largest_number)
{
    static const double LARGEST[PE_DTYPE_COUNT] = {
        [PE_F32] = FLT_MAX, [PE_F64] = DBL_MAX, [PE_F16] = 65504, [PE_BF16] = 0x1.fep127};
    for (size_t i = 0; i < UNIT_COUNT(REAL_DTYPES); i++) {
        pe_dtype dtype = REAL_DTYPES[i];
        double overflow = pe_dtypes[dtype].overflow;
        rounds_to(dtype, LARGEST[dtype], LARGEST[dtype]);
        rounds_to(dtype, nextafter(overflow, 0), LARGEST[dtype]);
        if (dtype != PE_F64) {
            rounds_to(dtype, overflow, INFINITY);
            dd_rounds_to(dtype, overflow, -0x1p-60, LARGEST[dtype]);
        }
    }
    ck_assert_double_eq(pe_dtypes[PE_F64].overflow, INFINITY);
    ck_assert_double_eq(pe_dtypes[PE_F16].overflow, 65520);
    ck_assert_double_eq(pe_dtypes[PE_I32].overflow, 2147483648.0);
}
END_TEST

/* Rounding first to f32, or to the nearest double, would change the result of these. */
START_TEST(nothing_is_rounded_twice)
{
    rounds_to(PE_F16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10);
    rounds_to(PE_F16, 1 + 0x1p-10 + 0x1p-11 - 0x1p-40, 1 + 0x1p-10);
    rounds_to(PE_BF16, 1 + 0x1p-8 + 0x1p-50, 1 + 0x1p-7);
    rounds_to(PE_BF16, 1 + 0x1p-7 + 0x1p-8 - 0x1p-50, 1 + 0x1p-7);
    dd_rounds_to(PE_F32, 1 + 0x1p-24, 0x1p-100, 1 + 0x1p-23);
    dd_rounds_to(PE_F32, 1 + 0x1p-24, -0x1p-100, 1);
    dd_rounds_to(PE_F32, 1 + 0x1p-23 + 0x1p-24, -0x1p-100, 1 + 0x1p-23);
    dd_rounds_to(PE_F16, 1 + 0x1p-11, 0x1p-54, 1 + 0x1p-10);
    dd_rounds_to(PE_F64, 1, 0x1p-54, 1);
    /* below a power of two the last place is smaller */
    dd_rounds_to(PE_F32, 1, -0x1p-60, 1);
    dd_rounds_to(PE_F32, 0x1p-149, -0x1p-250, 0x1p-149);
    dd_rounds_to(PE_F32, 1 - 0x1p-25, 0x1p-80, 1);
    dd_rounds_to(PE_F32, 1 - 0x1p-25, -0x1p-80, 1 - 0x1p-24);
}
END_TEST

START_TEST(a_sum_that_is_not_normalised_is_rounded_once_too)
{
    dd_rounds_to(PE_F64, 1, 0x1p-53 + 0x1p-60, 1 + 0x1p-52);
    dd_rounds_to(PE_F32, 16777216, 1, 16777216);
    dd_rounds_to(PE_F32, 16777216, 1.5, 16777218);
    dd_rounds_to(PE_F16, 2048, 1, 2048);
    dd_rounds_to(PE_BF16, 256, 3, 260);
}
END_TEST

START_TEST(what_is_written_keeps_the_sign_of_zeros_and_overflows)
{
    static const double NUMBERS[] = {-0.0, 0.0, 0.1, -0x1p200, 0x1p1000, 65521, 3, -7};
    const size_t count = UNIT_COUNT(NUMBERS);
    double read[UNIT_COUNT(NUMBERS)], elements[UNIT_COUNT(NUMBERS)];
    for (size_t i = 0; i < UNIT_COUNT(REAL_DTYPES); i++) {
        const double overflow = pe_dtypes[REAL_DTYPES[i]].overflow;
        pe_write_row(elements, REAL_DTYPES[i], NUMBERS, count);
        pe_read_row(read, REAL_DTYPES[i], elements, count);
        for (size_t n = 0; n < count; n++) {
            const bool fits = fabs(NUMBERS[n]) < overflow;
            unit_assert(fabs(read[n]) ==
                        (fits ? fabs(round_double(REAL_DTYPES[i], NUMBERS[n])) : INFINITY));
            unit_assert(!signbit(read[n]) == !signbit(NUMBERS[n]));
        }
    }
    pe_write_row(elements, PE_I32, NUMBERS + count - 2, 2);
    pe_read_row(read, PE_I32, elements, 2);
    unit_assert(read[0] == 3 && read[1] == -7);
}
END_TEST

Suite *dtype_suite(void)
{
    const TTest *const tests[] = {
        f16_and_bf16_round_at_the_midpoints_of_all_neighbours,
        f32_rounds_at_the_midpoints_of_neighbours,
        zeros_and_numbers_that_vanish_round_to_plus_zero,
        overflow_begins_half_a_step_above_the_largest_number,
        nothing_is_rounded_twice,
        a_sum_that_is_not_normalised_is_rounded_once_too,
        what_is_written_keeps_the_sign_of_zeros_and_overflows,
        NULL,
    };
    return unit_suite("dtype", tests);
}
