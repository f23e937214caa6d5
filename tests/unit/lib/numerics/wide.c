/* Wide fractions: sums, products and powers, compared with Python's integers and mpmath. */
#include "numerics/wide.h"
#include "near.h"
#include "unit.h"

#define ONES 0xffffffffffffffff

static const pe_wide ZERO = {{0, 0, 0, 0}};

static void equals(pe_wide got, pe_wide expected, size_t which)
{
    unit_wide_is_near(got, expected, 0, "case %zu", which);
}

START_TEST(sums_carry_through_all_limbs_and_wrap)
{
    const pe_wide all = {{ONES, ONES, ONES, ONES}}, least = {{1, 0, 0, 0}};
    const pe_wide low_ones = {{ONES, ONES, ONES, 0}}, high_one = {{0, 0, 0, 1}};
    equals(pe_wide_add(all, least), ZERO, 0);
    equals(pe_wide_add(low_ones, least), high_one, 1);
    equals(pe_wide_sub(high_one, least), low_ones, 2);
    equals(pe_wide_sub(ZERO, least), all, 3);
    equals(pe_wide_sub(all, all), ZERO, 4);
    equals(pe_wide_sub(all, ZERO), all, 5);
    equals(pe_wide_add(all, all), (pe_wide){{ONES - 1, ONES, ONES, ONES}}, 6);
}
END_TEST

START_TEST(shifts_across_limbs_and_out)
{
    const pe_wide a = {
        {0x1111222233334444, 0x5555666677778888, 0x9999aaaabbbbcccc, 0xddddeeeeffff0000}};
    equals(pe_wide_shift_right(a, 0), a, 0);
    equals(pe_wide_shift_right(a, 16),
           (pe_wide){{0x8888111122223333, 0xcccc555566667777, 0x00009999aaaabbbb,
                      0x0000ddddeeeeffff}},
           1);
    equals(pe_wide_shift_right(a, 64), (pe_wide){{a.limb[1], a.limb[2], a.limb[3], 0}}, 2);
    equals(pe_wide_shift_right(a, 192), (pe_wide){{a.limb[3], 0, 0, 0}}, 3);
    equals(pe_wide_shift_right(a, 255), (pe_wide){{1, 0, 0, 0}}, 4);
    equals(pe_wide_shift_right(a, 256), ZERO, 5);
    equals(pe_wide_shift_right(a, 1000000), ZERO, 6);
}
END_TEST

#define FACTOR 0xc2cd789a380208a9, 0xf3c64af775a89294, 0xed2f89d94a2f20aa, 0x6a8ac4ba05805975
#define OTHER_FACTOR                                                                           \
    0xea90a8f0d66b829e, 0xec148cb48e73ca47, 0x19999e3fa46d6753, 0xa11d459a2f978d87
static const pe_wide SOME = {{FACTOR}};

/* Expected: the upper 256 bits of the full product of Python integers. */
static const struct {
    pe_wide a, b, expected;
} PRODUCTS[] = {
    {{{0x7ce42c8218072e8c, 0xe4b06ce60741c7a8, 0x63ca828dd5f4b3b2, 0x9b810e766ec9d286}},
     {{0xc4647159c324c985, 0xb2221a58008a05a6, 0x442e3d437204e52d, 0xcd447e35b8b6d8fe}},
     {{0xf50fca6e5ac5cb9c, 0x241bdb14e0af3ed8, 0x8e80df4dd7865c2a, 0x7caff386d5372832}}},
    {{{ONES, ONES, ONES, ONES}},
     {{ONES, ONES, ONES, ONES}},
     {{0xfffffffffffffffe, ONES, ONES, ONES}}},
    {{{0, 0, 0, 0x8000000000000000}},
     {{0, 0, 0, 0x8000000000000000}},
     {{0, 0, 0, 0x4000000000000000}}},
    {{{0, 0, 0, 0x8000000000000000}}, {{3, 0, 0, 0}}, {{1, 0, 0, 0}}},
    {{{1, 0, 0, 0}}, {{ONES, ONES, ONES, ONES}}, {{0, 0, 0, 0}}},
};

START_TEST(products_lose_at_most_four_units)
{
    for (size_t i = 0; i < UNIT_COUNT(PRODUCTS); i++) {
        /* the middle of what is allowed */
        pe_wide short_by_two = pe_wide_sub(PRODUCTS[i].expected, (pe_wide){{2, 0, 0, 0}});
        unit_wide_is_near(pe_wide_mul(PRODUCTS[i].a, PRODUCTS[i].b), short_by_two, 2,
                          "product %zu", i);
        equals(pe_wide_mul(PRODUCTS[i].a, PRODUCTS[i].b),
               pe_wide_mul(PRODUCTS[i].b, PRODUCTS[i].a), i);
    }
}
END_TEST

/* Expected: Python integers modulo 2^256. */
static const struct {
    pe_wide a;
    int64_t k;
    pe_wide expected;
} INTEGER_MULTIPLES[] = {
    {{{FACTOR}},
     3,
     {{0x486869cea80619fb, 0xdb52e0e660f9b7be, 0xc78e9d8bde8d6200, 0x3fa04e2e10810c61}}},
    {{{FACTOR}},
     -9007199254740992,
     {{0xeae0000000000000, 0xad67a650ecb8ffbe, 0xeaa18736a1114aed, 0xd1425a0ec4d6ba1b}}},
    {{{FACTOR}},
     INT64_MAX,
     {{0xbd328765c7fdf757, 0x6da07155a65871bf, 0x8cb39ba270a5289f, 0x8c0d00329f9736df}}},
    {{{FACTOR}},
     INT64_MIN,
     {{0x8000000000000000, 0x9e9943b2e3fefbab, 0x861cda84452bb6b5, 0x9683b135ae86faa}}},
    {{{1, 0, 0, 0}}, 3, {{3, 0, 0, 0}}},
    {{{1, 0, 0, 0}}, -3, {{0xfffffffffffffffd, ONES, ONES, ONES}}},
    {{{1, 0, 0, 0}}, INT64_MIN, {{0x8000000000000000, ONES, ONES, ONES}}},
    {{{ONES, ONES, ONES, ONES}}, -3, {{3, 0, 0, 0}}},
    {{{ONES, ONES, ONES, ONES}}, 9007199254740992, {{0xffe0000000000000, ONES, ONES, ONES}}},
    {{{ONES, ONES, ONES, ONES}}, INT64_MIN, {{0x8000000000000000, 0, 0, 0}}},
    {{{0, 0, 0, 0x8000000000000000}}, 3, {{0, 0, 0, 0x8000000000000000}}},
    {{{0, 0, 0, 0x8000000000000000}}, -3, {{0, 0, 0, 0x8000000000000000}}},
    {{{0, 0, 0, 0x8000000000000000}}, INT64_MIN, {{0, 0, 0, 0}}},
};

START_TEST(integer_multiples_are_exact_modulo_one_turn)
{
    for (size_t i = 0; i < UNIT_COUNT(INTEGER_MULTIPLES); i++)
        equals(pe_wide_mul_integer(INTEGER_MULTIPLES[i].a, INTEGER_MULTIPLES[i].k),
               INTEGER_MULTIPLES[i].expected, i);
    equals(pe_wide_mul_integer(SOME, 0), ZERO, 100);
    equals(pe_wide_mul_integer(SOME, 1), SOME, 101);
}
END_TEST

START_TEST(leading_multiples_are_those_of_the_leading_bits)
{
    const int64_t factors[] = {
        0, 1, -1, 3, -7, 1 << 30, INT64_MAX, INT64_MIN, -123456789012345};
    uint64_t state = 4;
    for (int repeat = 0; repeat < 100; repeat++)
        for (size_t i = 0; i < UNIT_COUNT(factors); i++) {
            const pe_wide a = {{0, 0, unit_random(&state), unit_random(&state)}};
            pe_wide other = a;
            other.limb[0] = other.limb[1] = unit_random(&state);
            equals(pe_wide_mul_leading(other, factors[i]), pe_wide_mul_integer(a, factors[i]),
                   i);
        }
}
END_TEST

/* Expected: Python fractions, rounded towards zero. */
static const struct {
    pe_wide a;
    double x;
    pe_wide expected;
} REAL_MULTIPLES[] = {
    {{{FACTOR}},
     -0x1.999999999999ap-4,
     {{0xd06710f4b6f85d3b, 0x6e3507fcc7c879c2, 0xca5fc168120ab3f6, 0xf55885ed65d9907c}}},
    {{{FACTOR}},
     -0x1.1933333333333p6,
     {{0xbd5959607a4e6e3c, 0xe35371fe178ae8c4, 0x2e6d433b353a1200, 0xbe17c6eab07490f3}}},
    {{{FACTOR}},
     0x1.fffffffffffffp51,
     {{0x292943b2e3fefbab, 0xaf69075bcecf36d6, 0x141777780a5fca33, 0x6219709b9ad47637}}},
    {{{FACTOR}}, 0x1.56e1fc2f8f359p-997, {{0, 0, 0, 0}}},
    {{{FACTOR}}, 0x1.3c083126e978dp-215, {{0x1070d67410c, 0, 0, 0}}},
    {{{FACTOR}}, 0x1.3c083126e978dp-250, {{32, 0, 0, 0}}},
    {{{FACTOR}}, 0x1p-1074, {{0, 0, 0, 0}}},
    {{{FACTOR}},
     -0x1.199999999999ap-60,
     {{0xd33a548375be5777, 0xc93db6dc5c2cfbc5, 0xacdc133605934879, 0xfffffffffffffff8}}},
    {{{OTHER_FACTOR}},
     -0x1.999999999999ap-4,
     {{0x6052da1555d78960, 0x5e250bac2c64b09a, 0xd82198e699560c6d, 0xefe3790a2e70d7fe}}},
    {{{OTHER_FACTOR}}, 0x1p-1074, {{0, 0, 0, 0}}},
};

START_TEST(multiples_by_doubles_are_truncated)
{
    for (size_t i = 0; i < UNIT_COUNT(REAL_MULTIPLES); i++)
        equals(pe_wide_mul_double(REAL_MULTIPLES[i].a, REAL_MULTIPLES[i].x),
               REAL_MULTIPLES[i].expected, i);
    equals(pe_wide_mul_double(SOME, 0), ZERO, 100);
    equals(pe_wide_mul_double(SOME, -0.0), ZERO, 101);
    equals(pe_wide_mul_double(SOME, -0x1p63), pe_wide_mul_integer(SOME, INT64_MIN), 102);
    equals(pe_wide_mul_double(SOME, 0x1.fffffffffffffp62),
           pe_wide_mul_integer(SOME, 0x7ffffffffffffc00), 103);
}
END_TEST

/* Expected: mpmath with 1400 bits, truncated to 256. */
static const struct {
    double base;
    uint64_t numerator, denominator;
    pe_wide expected;
} POWERS[] = {
    {10000,
     2,
     512,
     {{0x35d90742f566bae3, 0x5e6778ea0b3f4efc, 0x2691ae3ad5d10dd9, 0xf6f4105d39987d2d}}},
    {1.5,
     2,
     3,
     {{0xd2db6ffaf0a55382, 0x188536856a73db82, 0x8ddf03dc5534f04, 0xc35d54120574dfbd}}},
    {1e18,
     2,
     1048576,
     {{0xa31a262c78771b75, 0xbb23f41658ef4dec, 0x15d2dafd4a2e6553, 0xfffad1c36ebf1925}}},
    {1e18, 1, 1, {{0x5afe688c928e1f21, 0x5fe645cc4873f9e6, 0x725dd1d243aba0e7, 0x12}}},
    {1e18, 4, 1, {{0x1c450, 0, 0, 0}}},
    {1.0000000000000002,
     1,
     1,
     {{0xffffffffffff, 0xfffffff000000000, 0xffffff, 0xfffffffffffff000}}},
    {9007199254740992.0,
     3,
     7,
     {{0xb4d18fcc7a8338da, 0xae3b4b9150aef76e, 0x10c853f511694540, 0x270228ec45f}}},
    {1.9999999999999998, 1, 1, {{0x80000000000, 0x100000000, 0x200000, 0x8000000000000400}}},
};

START_TEST(powers_are_good_to_240_bits)
{
    for (size_t i = 0; i < UNIT_COUNT(POWERS); i++) {
        pe_wide power =
            pe_wide_power(POWERS[i].base, POWERS[i].numerator, POWERS[i].denominator);
        unit_wide_is_near(power, POWERS[i].expected, 1 << 16, "%g^-(%llu/%llu)", POWERS[i].base,
                          (unsigned long long)POWERS[i].numerator,
                          (unsigned long long)POWERS[i].denominator);
    }
}
END_TEST

START_TEST(powers_that_are_powers_of_two_are_exact)
{
    static const struct {
        double base;
        uint64_t numerator, denominator;
        unsigned shift; /* the power is 2^-shift */
    } CASES[] = {
        {2, 1, 1, 1},       {2, 4, 1, 4},        {4, 1, 2, 1},        {4, 3, 2, 3},
        {1024, 3, 10, 3},   {65536, 1, 16, 1},   {0x1p53, 2, 106, 1}, {0x1p53, 1, 1, 53},
        {0x1p63, 1, 1, 63}, {0x1p63, 4, 1, 252}, {8, 512, 1536, 1},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_wide half = {{0, 0, 0, 1ULL << 63}};
        equals(pe_wide_power(CASES[i].base, CASES[i].numerator, CASES[i].denominator),
               pe_wide_shift_right(half, CASES[i].shift - 1), i);
    }
}
END_TEST

/* Expected: mpmath, truncated. */
static const struct {
    pe_wide a;
    double x;
    pe_wide quotient;
} DOUBLE_QUOTIENTS[] = {
    {{{0x25ba9399c9a1f6a7, 0x8d63bd85b2d95bdd, 0x3da465cfd147f6f6, 0x19880e23d45f1fb5}},
     3.0,
     {{0xc938688988b5237, 0x2f213f2c90f31e9f, 0x148c21eff06d5252, 0x882af6146ca5fe7}}},
    {{{0xc726b365d8d3bf51, 0xa72436fcd9c624f5, 0x305e09e399c82079, 0x8b47e126082711}},
     40.7,
     {{0xcc84b49d3d20640f, 0x91099410fb7fc938, 0x722b7e25f7dc1532, 0x36c10da90de5d}}},
    {{{0x1c0418447bd92c64, 0x95845b194943e8d7, 0xaa956d5731666149, 0x110c4a6b8c88d899}},
     1000000000.0,
     {{0xb56a3e69c09d14d, 0xe84531694649c8af, 0x25212ce3bb4e5893, 0x49387c60}}},
    {{{0x129a55c5482b5f44, 0xfcc7bc152d27ebd6, 0x7a8f774b1385906f, 0x62d36c3c62f9e742}},
     1.0000000000000002,
     {{0xb24e772efcafb41f, 0x41b604bde964b7ba, 0x43cbb11b75743c33, 0x62d36c3c62f9e115}}},
};

START_TEST(quotients_by_doubles_are_rounded_down)
{
    for (size_t i = 0; i < UNIT_COUNT(DOUBLE_QUOTIENTS); i++)
        equals(pe_wide_div_double(DOUBLE_QUOTIENTS[i].a, DOUBLE_QUOTIENTS[i].x),
               DOUBLE_QUOTIENTS[i].quotient, i);
}
END_TEST

START_TEST(a_radian_is_one_turn_over_two_pi)
{
    const pe_wide radian = {{0x7f9458eaf7aef158, 0x36d8a5664f10e410, 0x7f09d5f47d4d3770,
                             0x28be60db9391054a}}; /* mpmath, truncated */
    equals(pe_wide_radian, radian, 0);
}
END_TEST

Suite *wide_suite(void)
{
    const TTest *const tests[] = {
        sums_carry_through_all_limbs_and_wrap,
        shifts_across_limbs_and_out,
        products_lose_at_most_four_units,
        integer_multiples_are_exact_modulo_one_turn,
        leading_multiples_are_those_of_the_leading_bits,
        multiples_by_doubles_are_truncated,
        powers_are_good_to_240_bits,
        powers_that_are_powers_of_two_are_exact,
        quotients_by_doubles_are_rounded_down,
        a_radian_is_one_turn_over_two_pi,
        NULL,
    };
    return unit_suite("wide", tests);
}
