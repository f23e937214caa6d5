/* Exact sums, among them some whose sign floating-point sums get wrong. */
#include "numerics/exact.h"

#include "unit.h"

#include <math.h>

START_TEST(a_sum_has_the_sign_of_the_exact_value)
{
    static const struct {
        double terms[4][2];
        int sign;
    } SUMS[] = {
        {{{0, 1}, {-0.0, 2}}, 0},
        {{{1, 1}, {-1, 1}}, 0},
        {{{0x1p1000, 1}, {0x1p-1074, 0x1p-1074}, {-0x1p1000, 1}}, 1},
        {{{0x1p1000, 1}, {-0x1p-1074, 0x1p-1074}, {-0x1p1000, 1}}, -1},
        {{{0x1.fffffffffffffp1023, 4}, {-0x1.fffffffffffffp1023, -4}}, 1},
        {{{-0x1.fffffffffffffp1023, 4}, {0x1.fffffffffffffp1023, -4}}, -1},
        {{{1 + 0x1p-52, 1 + 0x1p-52}, {-1, 1}, {-0x1p-51, 1}}, 1},
        {{{1 + 0x1p-52, 1 + 0x1p-52}, {-1, 1}, {-0x1p-51, 1}, {-0x1p-104, 1}}, 0},
        {{{3, 0x1p-60}, {-1, 0x1p-59}, {-0x1p-61, 2}}, 0},
        {{{0x1p-1074, 1}, {-0x1p-1022, 0x1p-52}}, 0},
    };
    for (size_t i = 0; i < UNIT_COUNT(SUMS); i++) {
        for (int order = 0; order < 2; order++) { /* forwards and backwards */
            pe_exact sum = {{0}};
            for (size_t t = 0; t < 4; t++) {
                const double *term = SUMS[i].terms[order ? 3 - t : t];
                pe_exact_add(&sum, term[0], term[1]);
            }
            ck_assert_msg(pe_exact_sign(&sum) == SUMS[i].sign, "sum %zu", i);
        }
    }
}
END_TEST

START_TEST(subtracting_every_term_leaves_zero)
{
    uint64_t state = 5;
    pe_exact sum = {{0}};
    double terms[200][2];
    for (size_t i = 0; i < UNIT_COUNT(terms); i++) {
        terms[i][0] = ldexp((double)(int64_t)unit_random(&state),
                            (int)(unit_random(&state) % 1900) - 1000);
        terms[i][1] =
            ldexp((double)(int64_t)unit_random(&state), -61 - (int)(unit_random(&state) % 900));
        pe_exact_add(&sum, terms[i][0], terms[i][1]);
    }
    ck_assert_int_ne(pe_exact_sign(&sum), 0);
    for (size_t i = UNIT_COUNT(terms); i-- > 0;)
        pe_exact_add(&sum, -terms[i][0], terms[i][1]);
    ck_assert_int_eq(pe_exact_sign(&sum), 0);
}
END_TEST

START_TEST(a_value_has_106_bits_and_says_whether_more_follow)
{
    static const struct {
        double terms[3][2];
        dd value;
    } SUMS[] = {
        {{{0, 1}, {0, 1}, {0, 1}}, {0, 0}},
        {{{3, 0.5}, {0, 1}, {0, 1}}, {1.5, 0}},
        {{{-1, 1}, {0x1p-60, -1}, {0, 1}}, {-1, -0x1p-60}},
        {{{0x1p100, 1}, {1, 1}, {0, 1}}, {0x1p100, 1}},
        {{{0x1p500, 1}, {0x1p-500, 1}, {0, 1}}, {0x1p500, 0x1p395}}, /* the last of 106 bits */
        {{{0x1p500, 1}, {0x1p447, 1}, {-0x1p-500, 1}}, {0x1p500, 0x1.ffffffffffffep446}},
        {{{1e20, 1e10}, {-1e20, 1e10}, {0x1p-62, 1}}, {0x1p-62, 0}},
    };
    for (size_t i = 0; i < UNIT_COUNT(SUMS); i++) {
        pe_exact sum = {{0}};
        for (size_t t = 0; t < 3; t++)
            pe_exact_add(&sum, SUMS[i].terms[t][0], SUMS[i].terms[t][1]);
        dd value = pe_exact_value(&sum);
        ck_assert_msg(value.hi == SUMS[i].value.hi && value.lo == SUMS[i].value.lo,
                      "sum %zu: %a + %a", i, value.hi, value.lo);
    }
}
END_TEST

Suite *exact_suite(void)
{
    const TTest *const tests[] = {a_sum_has_the_sign_of_the_exact_value,
                                  subtracting_every_term_leaves_zero,
                                  a_value_has_106_bits_and_says_whether_more_follow, NULL};
    return unit_suite("exact", tests);
}
