/* Tests of products with one factor: exact integers decide how they are rounded. */
#include "kernels/scale.h"

#include "kernels/kernel.h"
#include "numerics/exact.h"
#include "unit.h"

#include <math.h>
#include <string.h>

/* The sign of factor · number - rounded. */
static int compare(dd factor, double number, double rounded)
{
    pe_exact sum = {{0}};
    pe_exact_add(&sum, number, factor.hi);
    pe_exact_add(&sum, number, factor.lo);
    pe_exact_add(&sum, rounded, -1);
    return pe_exact_sign(&sum);
}

/* Check a product that is rounded to odd: it is exact, or an odd neighbour of the exact one. */
static void check_odd(dd factor, double number, double product)
{
    uint64_t bits;
    memcpy(&bits, &product, sizeof bits);
    int sign = compare(factor, number, product);
    if (sign == 0)
        return;
    double other = nextafter(product, sign > 0 ? INFINITY : -INFINITY);
    ck_assert(bits % 2 == 1);
    ck_assert_int_eq(compare(factor, number, other), -sign);
}

/* Check a product that is rounded to nearest: the exact one is no further than half-way to
 * either neighbour. */
static void check_nearest(dd factor, double number, double product)
{
    pe_exact above = {{0}}, below = {{0}}; /* 2·exact - product - neighbour */
    double up = nextafter(product, INFINITY), down = nextafter(product, -INFINITY);
    for (int part = 0; part < 2; part++) {
        pe_exact_add(&above, number, 2 * (part ? factor.lo : factor.hi));
        pe_exact_add(&below, number, 2 * (part ? factor.lo : factor.hi));
    }
    pe_exact_add(&above, product, -1);
    pe_exact_add(&above, up, -1);
    pe_exact_add(&below, product, -1);
    pe_exact_add(&below, down, -1);
    ck_assert_int_le(pe_exact_sign(&above), 0);
    ck_assert_int_ge(pe_exact_sign(&below), 0);
}

START_TEST(products_are_rounded_as_the_exact_ones)
{
    /* factors whose products with these numbers have at most 106 bits, so that they are exact
     */
    static const dd FACTORS[] = {
        {0.5, 0}, {-1.0 / 3, -0x1p-60}, {1 + 0x1p-40, 0x1p-70}, {-0x1.8p-20, 0x1.8p-90}};
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    double numbers[100], products[100];
    uint64_t state = 1;
    for (size_t i = 0; i < UNIT_COUNT(numbers); i++)
        numbers[i] = (double)(unit_random(&state) >> (33 + i % 30)) - 1000;
    for (size_t k = 0; k < count; k++)
        for (size_t f = 0; f < UNIT_COUNT(FACTORS); f++)
            for (size_t part = 1; part <= UNIT_COUNT(numbers); part += 11) {
                kernels[k]->scale(FACTORS[f], numbers, part, true, products);
                for (size_t i = 0; i < part; i++)
                    check_nearest(FACTORS[f], numbers[i], products[i]);
                kernels[k]->scale(FACTORS[f], numbers, part, false, products);
                for (size_t i = 0; i < part; i++)
                    check_odd(FACTORS[f], numbers[i], products[i]);
            }
}
END_TEST

/* The sign of first · second · third ± |first · second| · slack - end. Factors have at most 17
 * bits, so that their products are exact. */
static int compare_end(const double *factors, double slack, double end)
{
    pe_exact sum = {{0}};
    pe_exact_add(&sum, factors[0] * factors[1], factors[2]);
    pe_exact_add(&sum, fabs(factors[0] * factors[1]), slack);
    pe_exact_add(&sum, end, -1);
    return pe_exact_sign(&sum);
}

START_TEST(brackets_hold_what_is_within_the_error)
{
    enum { COUNT = 37 };
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    double factors[3][COUNT], below[COUNT], above[COUNT];
    uint64_t state = 2;
    for (size_t i = 0; i < 3 * COUNT; i++)
        factors[i % 3][i / 3] = ldexp((double)(unit_random(&state) >> 47) - 65536, -16);
    for (size_t k = 0; k < count; k++) {
        kernels[k]->bracket(factors[0], factors[1], factors[2], COUNT, 0x1p-50, below, above);
        for (size_t i = 0; i < COUNT; i++) {
            const double three[] = {factors[0][i], factors[1][i], factors[2][i]};
            /* an end is rounded by less than an eighth of the error */
            ck_assert_int_ge(compare_end(three, -0.875 * 0x1p-50, below[i]), 0);
            ck_assert_int_le(compare_end(three, -1.125 * 0x1p-50, below[i]), 0);
            ck_assert_int_le(compare_end(three, 0.875 * 0x1p-50, above[i]), 0);
            ck_assert_int_ge(compare_end(three, 1.125 * 0x1p-50, above[i]), 0);
        }
    }
}
END_TEST

Suite *scale_suite(void)
{
    const TTest *const tests[] = {products_are_rounded_as_the_exact_ones,
                                  brackets_hold_what_is_within_the_error, NULL};
    return unit_suite("scale", tests);
}
