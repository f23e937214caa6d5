/* Angles of any size in turns; mpmath computed the expected values with 2400 bits. */
#include "numerics/angle.h"

#include "near.h"
#include "unit.h"

#include <math.h>

START_TEST(angles_of_any_size_keep_their_turns)
{
    static const struct {
        double radians;
        pe_wide turns;
    } ANGLES[] = {
        {1, {{0x7f9458eaf7aef158, 0x36d8a5664f10e410, 0x7f09d5f47d4d3770, 0x28be60db9391054a}}},
        {-1,
         {{0x806ba71508510ea7, 0xc9275a99b0ef1bef, 0x80f62a0b82b2c88f, 0xd7419f246c6efab5}}},
        {0.5,
         {{0x3fca2c757bd778ac, 0x1b6c52b327887208, 0x3f84eafa3ea69bb8, 0x145f306dc9c882a5}}},
        {0x1.0000000000001p+52,
         {{0x951b357cb097fa8f, 0x77e09eabddc05eff, 0xf60d437ed3b2287e, 0x7d665178f2d8da1d}}},
        {0x1p+53,
         {{0x2b0db92371d2126e, 0x820ff28b1d5ef5de, 0xee06db14acc9e21c, 0xa94fe13abe8fa9a6}}},
        {1e20,
         {{0xe964f6c141951f60, 0xacba8911b2af9e7f, 0x5e0d0eaaedf1d34b, 0xe36ca1b30901e2ba}}},
        {-1e20,
         {{0x169b093ebe6ae09f, 0x534576ee4d506180, 0xa1f2f155120e2cb4, 0x1c935e4cf6fe1d45}}},
        {1e100,
         {{0x7aa9a9f7f32a5852, 0x0b8414df05492774, 0x4c38594bf59349da, 0xf01715bcfd5ba141}}},
        {0x1.fffffffffffffp+1023,
         {{0xf5d3610f2fe5b5a5, 0x1ec169d2a464ca3e, 0x8c8ae8d7a2bd826a, 0x7fcc3ea616b1ae40}}},
        {0x1.6ac5b262ca1ffp+849, /* the double nearest to a multiple of a quarter turn */
         {{0x5f578b50128783a8, 0xd3b686feac7ff2c2, 0x604820e0811aa802, 0x4000000000000001}}},
        {1e-30, {{0x3c5f0b9805b8dffa, 0xbe12fff128b5c299, 0x00000000033a6134, 0}}},
        {0x1.921fb54442d18p+2,
         {{0xcebad131a03c6e1f, 0xb5396e20ea086cc4, 0xea0a394645e27a99, 0xfffffffffffffd30}}},
    };
    for (size_t i = 0; i < UNIT_COUNT(ANGLES); i++) {
        pe_wide got = pe_angle_turns(ANGLES[i].radians);
        unit_wide_is_near(got, ANGLES[i].turns, (1ULL << 56) - 1, "%a", ANGLES[i].radians);
    }
}
END_TEST

START_TEST(products_are_not_rounded_before_they_are_reduced)
{
    uint64_t state = 11;
    for (int i = 0; i < 2000; i++) {
        /* b is an integer, so the product is also a multiple of a's turns */
        double a = ldexp((double)(int64_t)unit_random(&state), i % 900 - 60);
        double b = (double)((int64_t)unit_random(&state) >> (11 + i % 40));
        pe_wide expected = pe_wide_mul_integer(pe_angle_turns(a), (int64_t)b);
        pe_wide got = pe_angle_turns_of_product(a, b);
        pe_wide error = pe_wide_sub(got, expected);
        unit_assert(error.limb[3] == 0 || error.limb[3] == UINT64_MAX);
        unit_assert(error.limb[3] == error.limb[2]);
    }
    pe_wide half = pe_angle_turns_of_product(-0.375, -2.5);
    pe_wide double_half = pe_wide_sub(pe_wide_mul_integer(half, 2), pe_angle_turns(1.875));
    ck_assert(double_half.limb[3] + 1 <= 1);
}
END_TEST

START_TEST(small_angles_keep_what_lies_beside_them)
{
    dd sine, cosine;
    pe_angle_small_sincos((dd){0x1p-30, 0}, &sine, &cosine);
    ck_assert(sine.hi == 0x1p-30 && sine.lo < 0 && sine.lo > -0x1p-92);
    ck_assert(cosine.hi == 1 && fabs(cosine.lo + 0x1p-61) < 0x1p-120);
    pe_angle_small_sincos((dd){-0x1p-300, 0}, &sine, &cosine);
    ck_assert(sine.hi == -0x1p-300 && cosine.hi == 1 && cosine.lo < 0);
    pe_angle_small_sincos((dd){0x1p-21, 0x1p-80}, &sine, &cosine);
    dd exact_sine, exact_cosine;
    pe_phase_sincos(pe_angle_turns(0x1p-21), &exact_sine, &exact_cosine);
    double sine_error = (sine.hi - exact_sine.hi) + (sine.lo - exact_sine.lo);
    double cosine_error = (cosine.hi - exact_cosine.hi) + (cosine.lo - exact_cosine.lo);
    ck_assert(fabs(sine_error - 0x1p-80) < 0x1p-120 && fabs(cosine_error) < 0x1p-98);
}
END_TEST

Suite *angle_suite(void)
{
    const TTest *const tests[] = {angles_of_any_size_keep_their_turns,
                                  products_are_not_rounded_before_they_are_reduced,
                                  small_angles_keep_what_lies_beside_them, NULL};
    return unit_suite("angle", tests);
}
