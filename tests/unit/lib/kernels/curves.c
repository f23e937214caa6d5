/* Tests of logarithms and exponentials in double, with the kernels of every instruction set:
 * they are as near to those in double-double as their header says. */
#include "kernels/curves.h"

#include "kernels/kernel.h"
#include "numerics/elementary.h"
#include "unit.h"

#include <math.h>

#define COUNT 61

/* |near - exact|, as a part of exact. */
static double find_error(double near, dd exact)
{
    dd difference = dd_add((dd){near, 0}, dd_neg(exact));
    return exact.hi == 0 ? fabs(near) : fabs(difference.hi / exact.hi);
}

START_TEST(logarithms_are_near_the_exact_ones)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 3;
    for (int repeat = 0; repeat < 3000; repeat++) {
        double numbers[COUNT], logarithms[COUNT];
        for (size_t i = 0; i < COUNT; i++) { /* 1, and others of all sizes from there on */
            double part = (double)(unit_random(&state) >> 11) * 0x1p-53;
            int exponent = (int)(unit_random(&state) % 1000) - 45;
            numbers[i] = i == 0         ? 1
                         : exponent < 1 ? 1 + ldexp(part, exponent)
                                        : ldexp(1 + part, exponent);
        }
        for (size_t k = 0; k < count; k++) {
            kernels[k]->curves->logarithms(numbers, COUNT, logarithms);
            for (size_t i = 0; i < COUNT; i++)
                ck_assert_msg(find_error(logarithms[i], pe_log((dd){numbers[i], 0})) < 0x1p-46,
                              "%s: ln %a is not %a", kernels[k]->name, numbers[i],
                              logarithms[i]);
        }
    }
}
END_TEST

START_TEST(exponentials_are_near_the_exact_ones)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 5;
    for (int repeat = 0; repeat < 3000; repeat++) {
        double numbers[COUNT], exponentials[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            double part = (double)(unit_random(&state) >> 11) * 0x1p-52 - 1;
            numbers[i] = ldexp(part * PE_CURVE_EXPONENT_MAX, -(int)(unit_random(&state) % 60));
        }
        numbers[0] = PE_CURVE_EXPONENT_MAX;
        numbers[1] = -PE_CURVE_EXPONENT_MAX;
        numbers[2] = 0;
        for (size_t k = 0; k < count; k++) {
            kernels[k]->curves->exponentials(numbers, COUNT, exponentials);
            for (size_t i = 0; i < COUNT; i++) {
                double most = (fabs(numbers[i]) + 4) * 0x1p-51;
                dd exact = pe_apply_exponent(pe_exp((dd){numbers[i], 0}));
                ck_assert_msg(find_error(exponentials[i], exact) < most, "%s: e^%a is not %a",
                              kernels[k]->name, numbers[i], exponentials[i]);
            }
        }
    }
}
END_TEST

Suite *curves_suite(void)
{
    const TTest *const tests[] = {logarithms_are_near_the_exact_ones,
                                  exponentials_are_near_the_exact_ones, NULL};
    return unit_suite("curves", tests);
}
