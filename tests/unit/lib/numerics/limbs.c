/* Operations on limbs. A Python script computed all expected values. */
#include "numerics/limbs.h"

#include "unit.h"

#include <string.h>

#define ONES  0xffffffffffffffff
#define COUNT 3
#define GUARD 0x5a5a5a5a5a5a5a5a /* the limb behind a number, which must not change */

static void copy(uint64_t guarded[COUNT + 1], const uint64_t number[COUNT])
{
    memcpy(guarded, number, COUNT * sizeof *number);
    guarded[COUNT] = GUARD;
}

static void is_number(const uint64_t guarded[COUNT + 1], const uint64_t expected[COUNT],
                      size_t which)
{
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_msg(guarded[i] == expected[i], "case %zu: limb %zu is %016llx, not %016llx",
                      which, i, (unsigned long long)guarded[i],
                      (unsigned long long)expected[i]);
    ck_assert_uint_eq(guarded[COUNT], GUARD);
}

static const struct {
    uint64_t a[COUNT], b[COUNT], sum[COUNT], carry, difference[COUNT];
    int order; /* the sign of a - b */
} PAIRS[] = {
    {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, {0, 0, 0}, 0},
    {{ONES, ONES, ONES}, {1, 0, 0}, {0, 0, 0}, 1, {0xfffffffffffffffe, ONES, ONES}, 1},
    {{0, 0, 1}, {1, 0, 0}, {1, 0, 1}, 0, {ONES, ONES, 0}, 1},
    {{0, 0, 0}, {1, 0, 0}, {1, 0, 0}, 0, {ONES, ONES, ONES}, -1},
    {{ONES, ONES, ONES}, {ONES, ONES, ONES}, {0xfffffffffffffffe, ONES, ONES}, 1, {0, 0, 0}, 0},
    {{ONES, 0, 0}, {1, 0, 0}, {0, 1, 0}, 0, {0xfffffffffffffffe, 0, 0}, 1},
    {{0xb9096a04e7d80068, 0xc963cfe0afae5a3b, 0xe1454c40c439f34a},
     {0x26b563b1e794ee14, 0xac8be7d742840d2b, 0xd96e5adfa2beee31},
     {0xdfbecdb6cf6cee7c, 0x75efb7b7f2326766, 0xbab3a72066f8e17c},
     1,
     {0x9254065300431254, 0x1cd7e8096d2a4d10, 0x7d6f161217b0519},
     1},
    {{0x19fcfc64e7aa8576, 0x5df43efb2, 0},
     {0xe7ca430e92ac3d42, 0x6e82a012b5c5cd1, 0x1a08084b69599354},
     {0x1c73f737a56c2b8, 0x6e82a070aa04c84, 0x1a08084b69599354},
     0,
     {0x3232b95654fe4834, 0xf917d604b3e792e0, 0xe5f7f7b496a66cab},
     -1},
    {{0x1333bc1cfe6c2b03, 0x20050ed31a6e72b9, 0x7972a36d51b31a6c},
     {0x1333bc1cfe6c2b02, 0x20050ed31a6e72b9, 0x7972a36d51b31a6c},
     {0x26677839fcd85605, 0x400a1da634dce572, 0xf2e546daa36634d8},
     0,
     {1, 0, 0},
     1},
    {{0x1333bc1cfe6c2b03, 0x20050ed31a6e72b9, 0x7972a36d51b31a6c},
     {0x1333bc1cfe6c2b03, 0x20050ed31a6e72b8, 0x7972a36d51b31a6c},
     {0x26677839fcd85606, 0x400a1da634dce571, 0xf2e546daa36634d8},
     0,
     {0, 1, 0},
     1},
    {{0x1333bc1cfe6c2b03, 0x20050ed31a6e72b9, 0x7972a36d51b31a6c},
     {0x1333bc1cfe6c2b03, 0x20050ed31a6e72b9, 0xf972a36d51b31a6c},
     {0x26677839fcd85606, 0x400a1da634dce572, 0x72e546daa36634d8},
     1,
     {0, 0, 0x8000000000000000},
     -1},
};

START_TEST(sums_carry_and_differences_borrow_through_all_limbs)
{
    for (size_t i = 0; i < UNIT_COUNT(PAIRS); i++) {
        uint64_t number[COUNT + 1];
        copy(number, PAIRS[i].a);
        ck_assert_uint_eq(pe_limbs_add(number, PAIRS[i].b, COUNT), PAIRS[i].carry);
        is_number(number, PAIRS[i].sum, i);
        copy(number, PAIRS[i].a);
        ck_assert_uint_eq(pe_limbs_sub(number, PAIRS[i].b, COUNT), PAIRS[i].order < 0);
        is_number(number, PAIRS[i].difference, i);
    }
}
END_TEST

START_TEST(the_highest_limb_that_differs_decides_a_comparison)
{
    for (size_t i = 0; i < UNIT_COUNT(PAIRS); i++) {
        ck_assert_int_eq(pe_limbs_compare(PAIRS[i].a, PAIRS[i].b, COUNT), PAIRS[i].order);
        ck_assert_int_eq(pe_limbs_compare(PAIRS[i].b, PAIRS[i].a, COUNT), -PAIRS[i].order);
    }
    ck_assert_int_eq(pe_limbs_compare(PAIRS[0].a, PAIRS[1].a, 0), 0);
}
END_TEST

static const struct {
    uint64_t a[COUNT], factor, product[COUNT], above, quotient[COUNT], remainder;
} SMALL[] = {
    {{0, 0, 0}, 7, {0, 0, 0}, 0, {0, 0, 0}, 0},
    {{ONES, ONES, ONES}, ONES, {1, ONES, ONES}, 0xfffffffffffffffe, {1, 1, 1}, 0},
    {{0, 0, 0x8000000000000000}, 2, {0, 0, 0}, 1, {0, 0, 0x4000000000000000}, 0},
    {{0x94a67f00f335c357, 0x6977a41b730bed9c, 0x332726d0356a4152},
     1,
     {0x94a67f00f335c357, 0x6977a41b730bed9c, 0x332726d0356a4152},
     0,
     {0x94a67f00f335c357, 0x6977a41b730bed9c, 0x332726d0356a4152},
     0},
    {{0xa0187b4d51209e8f, 0xae6ac4a9e89c5bc7, 0x542861cd55e7d67e},
     0xa,
     {0x40f4d1052b463196, 0xd02baea3161b95cc, 0x4993d2055b0e60f2},
     3,
     {0x900272baee83430e, 0x44a446ddca76092d, 0x86a702e2230c8a6},
     3},
    {{0x17bcc74d6d683cf8, 0x8491cabea0afe356, 3},
     0xfdfb27e8d775f593,
     {0x50521fc2ba8c5a68, 0xceb9fe410155071b, 0x7d779cb57dad8f28},
     3,
     {0x8bba6cb92f2d9821, 3, 0},
     0xc1875f4e758d4d05},
    {{0, 0, 0x14daf46767a9b05c},
     3,
     {0, 0, 0x3e90dd3636fd1114},
     0,
     {0, 0, 0x6f3a6cd228de574},
     0},
};

START_TEST(factors_and_divisors_of_one_limb_return_what_leaves_the_number)
{
    for (size_t i = 0; i < UNIT_COUNT(SMALL); i++) {
        uint64_t number[COUNT + 1];
        copy(number, SMALL[i].a);
        ck_assert_uint_eq(pe_limbs_mul_small(number, COUNT, SMALL[i].factor), SMALL[i].above);
        is_number(number, SMALL[i].product, i);
        copy(number, SMALL[i].a);
        ck_assert_uint_eq(pe_limbs_div_small(number, COUNT, SMALL[i].factor),
                          SMALL[i].remainder);
        is_number(number, SMALL[i].quotient, i);
    }
}
END_TEST

START_TEST(a_bit_in_any_limb_makes_a_number_nonzero)
{
    for (size_t bit = 0; bit < COUNT * 64; bit++) {
        uint64_t number[COUNT] = {0};
        number[bit / 64] = 1ULL << (bit % 64);
        ck_assert(!pe_limbs_are_zero(number, COUNT));
        ck_assert(pe_limbs_are_zero(number, bit / 64)); /* the limbs below it */
    }
}
END_TEST

static const struct {
    uint64_t number[5];
    pe_leading leading;
} LEADING[] = {
    {{0, 0, 0, 0, 0}, {0, 0, 0, false}},
    {{1, 0, 0, 0, 0}, {0x8000000000000000, 0, 1, false}},
    {{ONES, 0, 0, 0, 0}, {ONES, 0, 64, false}},
    {{0, 1, 0, 0, 0}, {0x8000000000000000, 0, 65, false}},
    {{ONES, ONES, 0, 0, 0}, {ONES, ONES, 128, false}},
    {{0, 0, 1, 0, 0}, {0x8000000000000000, 0, 129, false}},
    {{1, 0, 2, 0, 0}, {0x8000000000000000, 0, 130, true}},
    {{2, 0, 2, 0, 0}, {0x8000000000000000, 0, 130, true}},
    {{0, 0, 0, 0, 0x8000000000000000}, {0x8000000000000000, 0, 320, false}},
    {{1, 0, 0, 0, 0x8000000000000000}, {0x8000000000000000, 0, 320, true}},
    {{0x92bde31c34d2ea16, 0x8fc20813e1dcfb5, 0x1832c9e233aa3918, 0x30b9f6091570bc62,
      0xb1840e05299},
     {0xb1840e0529930b9f, 0x6091570bc621832c, 300, true}},
    {{0x4891a61bc3b1b366, 1, 0, 0, 0}, {0xa448d30de1d8d9b3, 0, 65, false}},
    {{0, 0, 0x8000000000000000, 0x106f2163ac2d0d8b, 0x27eee98e0a745139},
     {0x9fbba63829d144e4, 0x41bc858eb0b4362e, 318, false}},
    {{0, 0xf6c9c347885885a0, 0x1f9811817e7ae1f9, 0x31, 0},
     {0xc47e604605f9eb87, 0xe7db270d1e216216, 198, true}},
};

START_TEST(leading_bits_begin_with_a_set_bit_and_tell_of_bits_cut_off)
{
    for (size_t i = 0; i < UNIT_COUNT(LEADING); i++) {
        pe_leading got = pe_limbs_leading(LEADING[i].number, UNIT_COUNT(LEADING[i].number));
        pe_leading expected = LEADING[i].leading;
        ck_assert_msg(got.high == expected.high && got.low == expected.low, "case %zu", i);
        ck_assert_msg(got.length == expected.length, "case %zu: length %d", i, got.length);
        ck_assert_msg(got.cut_off == expected.cut_off, "case %zu", i);
    }
}
END_TEST

static const struct {
    uint64_t high, low;
    unsigned bits;
    uint64_t left, right;
} FUNNELS[] = {
    {0xbbe4c78bb4ae3dd3, 0xd756a407dbeece43, 0, 0xbbe4c78bb4ae3dd3, 0xd756a407dbeece43},
    {0x92ed2607383c017b, 0xe56d5813cd158af, 1, 0x25da4c0e707802f6, 0x872b6ac09e68ac57},
    {0xcc8fc5260352a9bf, 0x9e1fcc46a5157171, 4, 0xc8fc5260352a9bf9, 0xf9e1fcc46a515717},
    {0xc786a2284cfdb1e7, 0xb1dd1b80230a102d, 31, 0x267ed8f3d8ee8dc0, 0x99fb63cf63ba3700},
    {0xd5fac783a5998165, 0xb8a6acd699882357, 32, 0xa5998165b8a6acd6, 0xa5998165b8a6acd6},
    {0xe810b08a72880e4a, 0xec246343272be0eb, 63, 0x761231a19395f075, 0xd0216114e5101c95},
};

START_TEST(funnel_shifts_take_the_bits_from_the_neighbour)
{
    for (size_t i = 0; i < UNIT_COUNT(FUNNELS); i++) {
        uint64_t high = FUNNELS[i].high, low = FUNNELS[i].low;
        ck_assert_uint_eq(pe_funnel_left(high, low, FUNNELS[i].bits), FUNNELS[i].left);
        ck_assert_uint_eq(pe_funnel_right(high, low, FUNNELS[i].bits), FUNNELS[i].right);
    }
}
END_TEST

Suite *limbs_suite(void)
{
    const TTest *const tests[] = {
        sums_carry_and_differences_borrow_through_all_limbs,
        the_highest_limb_that_differs_decides_a_comparison,
        factors_and_divisors_of_one_limb_return_what_leaves_the_number,
        a_bit_in_any_limb_makes_a_number_nonzero,
        leading_bits_begin_with_a_set_bit_and_tell_of_bits_cut_off,
        funnel_shifts_take_the_bits_from_the_neighbour,
        NULL,
    };
    return unit_suite("limbs", tests);
}
