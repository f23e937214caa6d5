/* Correctly rounded functions, compared with values of mpmath; and double-doubles compared with
 * 256-bit integers. */
#include "numerics/correct.h"

#include "unit.h"

#include <math.h>

START_TEST(logarithms_are_the_nearest_doubles)
{
    static const struct {
        uint64_t numerator;
        double expected;
    } VALUES[] = {
        {0x1, -0x1.2b708872320e2p+5},
        {0x3, -0x1.22a69334db8cap+5},
        {0x5, -0x1.1e9067763b478p+5},
        {0x10000000000001, -0x1.62e42fefa39eep+0},
        {0x1fffffffffffff, -0x1.62e42fefa39f0p-1},
        {0x20000000000001, -0x1.62e42fefa39eep-1},
        {0x3fffffffffffff, -0x1.0000000000000p-54},
        {0x3ffffffffffffd, -0x1.8000000000001p-53},
        {0x2d413cccfe7799, -0x1.62e42fefa39efp-2},
        {0x3dafff88f3673b, -0x1.2d7b2385509b6p-5},
        {0x2aaaaaaaaaaaab, -0x1.9f323ecbf984bp-2},
        /* arguments that double-doubles do not decide */
        {0x3f90fb963e0d3f, -0x1.bd948d5311d0fp-8},
        {0x1025bc892cb263, -0x1.608b2b0a3a89ep+0},
        {0x3fb079819286bb, -0x1.3ee0404c51cbdp-8},
        {0x3f9a99e37b355b, -0x1.96db14e1f6e28p-8},
        {0x3fa7e2d798bc71, -0x1.616821aee9cb5p-8},
        {0x3b741ea2a35319, -0x1.2dd27486f5f7fp-4},
    };
    for (size_t i = 0; i < UNIT_COUNT(VALUES); i++) {
        ck_assert(pe_correct_log(VALUES[i].numerator) == VALUES[i].expected);
        ck_assert(pe_wide_correct_log(VALUES[i].numerator) == VALUES[i].expected);
    }
}
END_TEST

START_TEST(cosines_are_the_nearest_doubles)
{
    static const struct {
        uint64_t turns;
        double expected;
    } VALUES[] = {
        {0x0, 1},
        {0x1, 1},
        {0x4000000000000, 0x1.6a09e667f3bcdp-1},
        {0x7ffffffffffff, 0x1.921fb54442d18p-51},
        {0x8000000000000, 0},
        {0x8000000000001, -0x1.921fb54442d18p-51},
        {0x10000000000000, -1},
        {0x10000000000001, -1},
        {0x17fffffffffff9, -0x1.5fdbbe9bba775p-48},
        {0x1fffffffffffff, 1},
        {0x15555555555555, -0x1.0000000000002p-1},
        {0x7048860ddf79, 0x1.fe1a3d7844a57p-1},
        /* arguments that double-doubles do not decide */
        {0x103f356d305544, -0x1.ff65ff4da0614p-1},
        {0x1839ed7ee8e622, 0x1.6bd9d13c9236fp-5},
        {0x1824b64fef7d60, 0x1.cd4711a252bbcp-6},
        {0xa42fbaab5a081, -0x1.b7eee7d29d974p-2},
        {0x84dd38fdf8160, -0x1.e8b51aa6c3adfp-5},
        {0x9c240402f7f3f, -0x1.5aa3a6dca4896p-2},
    };
    for (size_t i = 0; i < UNIT_COUNT(VALUES); i++) {
        ck_assert(pe_correct_cos(VALUES[i].turns) == VALUES[i].expected);
        if (VALUES[i].turns % (1ULL << 50) != 0)
            ck_assert(pe_wide_correct_cos(VALUES[i].turns) == VALUES[i].expected);
    }
}
END_TEST

START_TEST(quantiles_are_the_nearest_doubles)
{
    static const struct {
        int64_t numerator;
        double expected;
    } VALUES[] = {
        {1, 0x1.323fee65d1421p-53},
        {-1, -0x1.323fee65d1421p-53},
        {3, 0x1.cb5fe598b9e32p-52},
        {4503599627370497, 0x1.4739ad275a34dp-1},
        {9007199254740991, 0x1.ffffffffffffcp+0},
        {-9007199254740991, -0x1.ffffffffffffcp+0},
        {9007199254740989, 0x1.ffffffffffff3p+0},
        {375299968947541, 0x1.988090d8d4dd5p-5},
        {-320255973460669, -0x1.5c8c9d25b0a12p-5},
        /* arguments that double-doubles do not decide */
        {3442409529514109, 0x1.e5cc95c9b5d04p-2},
        {409963231921431, 0x1.be4491770f82ep-5},
        {3363714532895025, 0x1.d9dac0f026046p-2},
        {1629320625535461, 0x1.beb2fa6346d25p-3},
        {197252038365157, 0x1.ad46c843aa0abp-6},
        {6844028635168531, 0x1.179c39905b3cap+0},
    };
    for (size_t i = 0; i < UNIT_COUNT(VALUES); i++)
        ck_assert(pe_correct_quantile(VALUES[i].numerator) == VALUES[i].expected);
}
END_TEST

/* A random argument below 2^53; two of three are near 0 or near 2^53. */
static uint64_t argument(uint64_t *state, int i)
{
    uint64_t number = unit_random(state) >> 11, shift = unit_random(state) % 53;
    if (i % 3 == 1)
        return number >> shift;
    return i % 3 == 2 ? (1ULL << 53) - 1 - (number >> shift) : number;
}

START_TEST(double_doubles_round_as_256_bit_integers_do)
{
    uint64_t state = 1;
    for (int i = 0; i < 30000; i++) {
        uint64_t numerator = 2 * argument(&state, i) + 1;
        unit_assert(pe_correct_log(numerator) == pe_wide_correct_log(numerator));
        uint64_t turns = (argument(&state, i) + (unit_random(&state) << 47)) % (1ULL << 53);
        if (turns % (1ULL << 50) != 0)
            unit_assert(pe_correct_cos(turns) == pe_wide_correct_cos(turns));
    }
    for (int i = 0; i < 5000; i++) {
        int64_t numerator = (int64_t)(argument(&state, i) | 1);
        double quantile = pe_correct_quantile(numerator);
        unit_assert(!pe_wide_is_quantile_above_midpoint(numerator, quantile));
        unit_assert(pe_wide_is_quantile_above_midpoint(numerator, nextafter(quantile, 0)));
        unit_assert(pe_correct_quantile(-numerator) == -quantile);
    }
}
END_TEST

Suite *correct_suite(void)
{
    const TTest *const tests[] = {
        logarithms_are_the_nearest_doubles, cosines_are_the_nearest_doubles,
        quantiles_are_the_nearest_doubles, double_doubles_round_as_256_bit_integers_do, NULL};
    return unit_suite("correct", tests);
}
