/* Sines and cosines of phases: exact at quarter turns, else compared with mpmath. */
#include "numerics/phase.h"
#include "unit.h"

#include <math.h>

#define ONES 0xffffffffffffffff

static pe_wide random_phase(uint64_t *state)
{
    pe_wide phase;
    for (int i = 0; i < 4; i++)
        phase.limb[i] = unit_random(state);
    return phase;
}

static void equals(dd got, double hi, double lo)
{
    if (got.hi != hi || got.lo != lo)
        ck_abort_msg("%a + %a is not %a + %a", got.hi, got.lo, hi, lo);
}

static void is_near(dd got, dd expected, size_t which)
{
    double error = (got.hi - expected.hi) + (got.lo - expected.lo);
    ck_assert_msg(fabs(error) <= 0x1p-100 * fabs(expected.hi),
                  "case %zu: %a + %a is off by %a of itself", which, got.hi, got.lo,
                  error / expected.hi);
    ck_assert_msg(got.hi + got.lo == got.hi, "case %zu: the high part is not the nearest",
                  which);
}

START_TEST(quarter_turns_are_exact)
{
    static const double SINES[4] = {0, 1, 0, -1}, COSINES[4] = {1, 0, -1, 0};
    for (uint64_t quarter = 0; quarter < 4; quarter++) {
        dd sine, cosine;
        pe_phase_sincos((pe_wide){{0, 0, 0, quarter << 62}}, &sine, &cosine);
        equals(sine, SINES[quarter], 0);
        equals(cosine, COSINES[quarter], 0);
    }
}
END_TEST

/* Expected: mpmath's sine and cosine, as the nearest double and the double nearest to the rest.
 */
static const struct {
    pe_wide phase;
    dd sine, cosine;
} CASES[] = {
    {{{0xf9270f4eb8b333a8, 0x803468b6b610a9f7, 0xf79b17aeefba91fc, 0xe1b52cf49f426789}},
     {-0x1.5a8cffd528473p-1, 0x1.bb70c576b861p-57},
     {0x1.78e4014455fccp-1, -0x1.51d8e0e6365d9p-56}},
    {{{0xd707107e855c3844, 0x5eda92d864ac5db9, 0xbb968a437d5c8dfc, 0x1ab58903ac56cb6}},
     {0x1.4f8af6ebe1ccap-5, 0x1.2cb1ebecdaa5ep-59},
     {0x1.ff9200efc8648p-1, -0x1.9763bf7e98557p-55}},
    {{{0x249efb7837625ee5, 0xb9c4cc82df4a2a6, 0xfc123581d2355c8, 0x2249999a0f3b2b18}},
     {0x1.7dc8a34123078p-1, 0x1.48404c4ab21e6p-55},
     {0x1.5527185728e7fp-1, 0x1.4219b765b17ffp-55}},
    {{{0x8c084571fbba29aa, 0x3ef055bffc45cc24, 0xb8037e953e91dd7b, 0x428807188ce9afcc}},
     {0x1.ff031cd06725bp-1, 0x1.27948fbcde737p-55},
     {-0x1.fca1e5c7e08aap-5, -0x1.137f7305a02cbp-60}},
    {{{0x90b20bb257e8454, 0xf5bb9188b80599e9, 0x721754ef2904acec, 0x79b4d0afe7943bfc}},
     {0x1.3b194afeef908p-3, -0x1.1cb925f060837p-60},
     {-0x1.f9e7586d1478ep-1, 0x1.dc5a025696c6ap-56}},
    {{{0x75fa6dd891fde85c, 0xd3f21dcc2be88b46, 0xdeb0e066de26e655, 0xb5fae26a2c7c8898}},
     {-0x1.f0984d260976ep-1, -0x1.f138712d3bd25p-55},
     {-0x1.f29901f475476p-3, 0x1.e5e51061f183dp-57}},
    {{{0x9cb471a55349da48, 0x66fec086df229650, 0x4806aa81e65150b5, 0xd55b621337d4f114}},
     {-0x1.bb41a69a51708p-1, -0x1.806e959fd9322p-56},
     {0x1.0041d3d151e64p-1, -0x1.c797707a61e28p-55}},
    {{{0x247878d2cc94e5bb, 0x305930c1ac192f6c, 0x6fc8ea370350b5a5, 0xdaaa340f046dbf89}},
     {-0x1.9635f40643ac9p-1, 0x1.8f615ab1d95a5p-56},
     {0x1.37aaf57b9122bp-1, -0x1.7f92e08e5b919p-55}},
    {{{1, 0, 0, 0x2000000000000000}},
     {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55},
     {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55}},
    {{{ONES, ONES, ONES, 0x1fffffffffffffff}},
     {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55},
     {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55}},
    {{{0, 0x1000000000, 0, 0x4000000000000000}},
     {1, -0x1.3bd3cc9be45dep-308},
     {-0x1.921fb54442d18p-154, -0x1.1a62633145c07p-208}},
    {{{ONES, ONES, ONES, 0x7fffffffffffffff}},
     {0x1.921fb54442d18p-254, 0x1.1a62633145c07p-308},
     {-1, 0x1.3bd3cc9be45dep-508}},
    {{{0xfffffffffffffff8, ONES, ONES, 0xbfffffffffffffff}},
     {-1, 0x1.3bd3cc9be45dep-502},
     {-0x1.921fb54442d18p-251, -0x1.1a62633145c07p-305}},
    {{{1, 0, 0, 0}},
     {0x1.921fb54442d18p-254, 0x1.1a62633145c07p-308},
     {1, -0x1.3bd3cc9be45dep-508}},
    {{{ONES, ONES, ONES, ONES}},
     {-0x1.921fb54442d18p-254, -0x1.1a62633145c07p-308},
     {1, -0x1.3bd3cc9be45dep-508}},
    {{{0, 0, 0, 0x100}},
     {0x1.921fb54442d18p-54, 0x1.1a62633145c07p-108},
     {1, -0x1.3bd3cc9be45dep-108}},
    {{{0x607aa0167dd94ca, 0xa23d2ec729af3d61, 0x2f394219248446ba, 0}},
     {0x1.28b70caa3e9f8p-64, 0x1.cb4c64108eb77p-118},
     {1, -0x1.57e7d02cccd6dp-129}},
    {{{0x3529a051a31be599, 0xebc29f863424b06f, 0x14484bfe, 0x4000000000000000}},
     {1, -0x1.fb83d508ef91dp-196},
     {-0x1.fdc0a740850d5p-98, 0x1.ad3afad0178b2p-152}},
    {{{0x5555555555555555, 0x5555555555555555, 0x5555555555555555, 0x1555555555555555}},
     {0.5, -0x1.d05527b6e43d2p-256},
     {0x1.bb67ae8584caap-1, 0x1.cec95d0b5c1e3p-55}},
};

START_TEST(sines_and_cosines_are_within_2_to_the_minus_100_of_themselves)
{
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        dd sine, cosine;
        pe_phase_sincos(CASES[i].phase, &sine, &cosine);
        is_near(sine, CASES[i].sine, i);
        is_near(cosine, CASES[i].cosine, i);
    }
}
END_TEST

START_TEST(the_squares_add_up_to_one)
{
    uint64_t state = 4;
    for (size_t i = 0; i < 20000; i++) {
        dd sine, cosine;
        pe_phase_sincos(random_phase(&state), &sine, &cosine);
        dd sum = dd_add(dd_mul(sine, sine), dd_mul(cosine, cosine));
        unit_assert(fabs((sum.hi - 1) + sum.lo) <= 0x1p-99);
    }
}
END_TEST

START_TEST(tiny_phases_keep_their_relative_precision)
{
    const dd two_pi = {0x1.921fb54442d18p2, 0x1.1a62633145c07p-52};
    for (unsigned shift = 60; shift < 256; shift++) {
        pe_wide phase = pe_wide_shift_right((pe_wide){{0, 0, 0, 1ULL << 63}}, shift - 1);
        dd sine, cosine,
            expected = {ldexp(two_pi.hi, -(int)shift), ldexp(two_pi.lo, -(int)shift)};
        pe_phase_sincos(phase, &sine, &cosine);
        is_near(sine, expected, shift);
        ck_assert_double_eq(cosine.hi, 1);
    }
}
END_TEST

/* Expected: mpmath's 2π times the frequency, as the nearest double and the double nearest to
 * the rest. */
static const struct {
    pe_wide frequency;
    dd radians;
} RADIANS[] = {
    {{{0x14dd7193d7ad3fc5, 0xf0f61624bd83afb4, 0x7ae421bfe0ed9c5d, 0x18d4a70eeee6617b}},
     {0x1.38080d55384e4p-1, -0x1.3fa6ef24b47c0p-55}},
    {{{0x38a62332553fc1ea, 0x8de6a16a3b0d4641, 0x7f1cfb10f6282768, 0x5f2dd9}},
     {0x1.2b0392f77b664p-39, 0x1.c17893799e7b6p-100}},
    {{{0x78b33e968617959c, 0x992edcf451a1afe8, 0x3fd4235, 0}},
     {0x1.910c1d93ca4b8p-100, 0x1.456d9e09eddb0p-154}},
};

START_TEST(frequencies_in_radians_keep_their_relative_precision)
{
    for (size_t i = 0; i < UNIT_COUNT(RADIANS); i++)
        is_near(pe_phase_radians(RADIANS[i].frequency), RADIANS[i].radians, i);
    is_near(pe_phase_radians(pe_wide_radian), (dd){1, 0}, 100);
}
END_TEST

Suite *phase_suite(void)
{
    const TTest *const tests[] = {
        quarter_turns_are_exact,
        sines_and_cosines_are_within_2_to_the_minus_100_of_themselves,
        the_squares_add_up_to_one,
        tiny_phases_keep_their_relative_precision,
        frequencies_in_radians_keep_their_relative_precision,
        NULL,
    };
    return unit_suite("phase", tests);
}
