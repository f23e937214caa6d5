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
    {{{0x850fd843f72950a9, 0x419ade33c1dbcb1c, 0x9880934233dd50a7, 0xe622a02b62bc515a}},
     {-0x1.2fa19430cae67p-1, -0x1.a495704aa363ep-56},
     {0x1.9c40a31384a12p-1, 0x1.ac00c0f9fb309p-57}},
    {{{0x5dfbd3d12c4a3698, 0xe1fab9d78c7e134f, 0xc69d4bd8b3fa7aa7, 0xf1f02ee3dfde4d9b}},
     {-0x1.5a6fd5c5a8e6ep-2, -0x1.6a61fa8fade81p-56},
     {0x1.e1cef627cdbd6p-1, -0x1.c43c561acb4p-56}},
    {{{0xe9dd4286a0137671, 0x5613f7f98fa035e9, 0xe45e9dea7dd7c2ea, 0xf6a2e4ab0584c8ec}},
     {-0x1.d289dad5b3663p-3, -0x1.d72d31236e4cbp-58},
     {0x1.f289c94b117eep-1, 0x1.ab5ca5c09f724p-58}},
    {{{0xd707107e855c3844, 0x5eda92d864ac5db9, 0xbb968a437d5c8dfc, 0x1ab58903ac56cb6}},
     {0x1.4f8af6ebe1ccap-5, 0x1.2cb1ebecdaa5ep-59},
     {0x1.ff9200efc8648p-1, -0x1.9763bf7e98557p-55}},
    {{{0xb1043729f4de0454, 0x26d5b55d4bef26c3, 0x629bc3da044dcf44, 0x638c97634f1e942}},
     {0x1.378766ea98f35p-3, 0x1.af59c400f4fdbp-57},
     {0x1.fa0ab6f98a3b6p-1, -0x1.af4fd87ec78ecp-56}},
    {{{0xa5ac06d864c2f2e3, 0x2b28fef02b9c014e, 0x3a1890c78092b4d4, 0x113659662e9c932b}},
     {0x1.a3d6e4293ab41p-2, 0x1.67d1cfdb0fb12p-57},
     {0x1.d2fce831eb89cp-1, 0x1.87236167ce005p-60}},
    {{{0xccec7ece3abefec3, 0x1475373175dba194, 0x73a0170723c40c9b, 0x16654272915ce7c8}},
     {0x1.0b78b64daaa8ap-1, 0x1.0dba227249997p-56},
     {0x1.b494bd2d97278p-1, 0x1.11414df695aep-55}},
    {{{0x573db2bdbb108015, 0x641c313473b68397, 0x454607800afa6d7a, 0x1e6a9351cb56a58e}},
     {0x1.5bb24b5fd421fp-1, -0x1.952cf60e99f37p-55},
     {0x1.77d57ec91324p-1, -0x1.ff9d73a02a092p-55}},
    {{{0x249efb7837625ee5, 0xb9c4cc82df4a2a6, 0xfc123581d2355c8, 0x2249999a0f3b2b18}},
     {0x1.7dc8a34123078p-1, 0x1.48404c4ab21e6p-55},
     {0x1.5527185728e7fp-1, 0x1.4219b765b17ffp-55}},
    {{{0x69d495dd81355c53, 0xd037cdff7c240d49, 0x6a17b9af5b569643, 0x2d339b0e8bcbc338}},
     {0x1.ca76d52c720e8p-1, -0x1.495aa37ea351p-58},
     {0x1.c7def8274c37p-2, 0x1.de0d66a760595p-56}},
    {{{0x75bb6141762640fe, 0x36ab94bc6062fed6, 0xab3a9365633650b1, 0x32333cb05783b10c}},
     {0x1.e2e97c2f44897p-1, -0x1.cfbd23a49932p-55},
     {0x1.543c23f7b6b97p-2, 0x1.3a66214f72d78p-56}},
    {{{0xcdf8440407295e42, 0xa2a7ae1f3ac7652c, 0x8cfe5cd12d5db79b, 0x3d617b0fc8d26d81}},
     {0x1.fef142806443fp-1, -0x1.ff1dad107f0dep-55},
     {0x1.072188588c37cp-4, 0x1.63893c72be368p-61}},
    {{{0x8c084571fbba29aa, 0x3ef055bffc45cc24, 0xb8037e953e91dd7b, 0x428807188ce9afcc}},
     {0x1.ff031cd06725bp-1, 0x1.27948fbcde737p-55},
     {-0x1.fca1e5c7e08aap-5, -0x1.137f7305a02cbp-60}},
    {{{0xcc1b0c3e1c07724e, 0x2f429ce59ff3078f, 0x4a5012dc582c18c9, 0x4d5e128844fef5b8}},
     {0x1.e4b0aeb558249p-1, 0x1.a6e75c2885a17p-55},
     {-0x1.49f760c511c3cp-2, 0x1.9b2916a4537dfp-56}},
    {{{0xbeaa2810d722c815, 0xc4c80cd78fd993b, 0x57e55bf5d4f473ed, 0x5226dc2e86ef1452}},
     {0x1.ce06131f55fdbp-1, 0x1.9d4b1d041595dp-55},
     {-0x1.b9431cf3c1521p-2, -0x1.8c033f3d14e67p-56}},
    {{{0x4b63e0efb62ac1fe, 0xb3df44a47467537a, 0x7f1a355e526eb523, 0x5d506eccac7c41db}},
     {0x1.8119bd74964ffp-1, 0x1.3d27a63420411p-59},
     {-0x1.5167772b2c52dp-1, 0x1.9912d0e6f7e08p-57}},
    {{{0x4fdf8e1a060cea63, 0x57e54acc62f5680c, 0xcbd3f5e06bc15385, 0x69755b1163568b3c}},
     {0x1.0d08dc333a1f3p-1, 0x1.2af5c5340959p-56},
     {-0x1.b39e99cc1abfep-1, -0x1.9031389c302f6p-57}},
    {{{0x917f05b764f435ea, 0x642215a2ed67d1b, 0xc64de36afaabaa17, 0x6e671657c83a07da}},
     {0x1.aca57395a4dd6p-2, 0x1.e37d70a9e8281p-57},
     {-0x1.d0fbc1f29c56fp-1, 0x1.53be241713dcfp-55}},
    {{{0x90b20bb257e8454, 0xf5bb9188b80599e9, 0x721754ef2904acec, 0x79b4d0afe7943bfc}},
     {0x1.3b194afeef908p-3, -0x1.1cb925f060837p-60},
     {-0x1.f9e7586d1478ep-1, 0x1.dc5a025696c6ap-56}},
    {{{0x92c614bc52631222, 0x2af1ff68748e6632, 0x5e4e40ec786c664, 0x7e2b5288d30c3ce0}},
     {0x1.6ff983f8f9e6fp-5, -0x1.2eef33c3b71fcp-59},
     {-0x1.ff7bb391604fap-1, -0x1.087424c1929p-55}},
    {{{0xb1eedaffcc3d5506, 0x736a947a843fdda7, 0x861e02ec39235bc0, 0x893b0f2cd937b787}},
     {-0x1.cc06ce339c9a9p-3, 0x1.33dbaaf1da007p-57},
     {-0x1.f2ea92702feb4p-1, -0x1.c789c52fa8687p-55}},
    {{{0x533995a89ae7f6c3, 0x325553bc6c955bf3, 0x5715c808adc2d5ab, 0x8e5faad82b470041}},
     {-0x1.61cdbd68137dfp-2, -0x1.815070f3c4022p-57},
     {-0x1.e077df51a35f7p-1, -0x1.7289cf1afb492p-56}},
    {{{0xbcc99ae80f0c8a89, 0x202cc8284c717095, 0x364e433ff7c882f4, 0x993f583e1356366d}},
     {-0x1.2959be59bf234p-1, 0x1.7ef98512d667p-57},
     {-0x1.a0ce27084fc3bp-1, -0x1.d348528537dedp-55}},
    {{{0x121b28004e6f5a94, 0x1391f9b9dbc799b0, 0xeacc110e4f73fd94, 0xa57f750d23a8682e}},
     {-0x1.9773cdfdd8a4dp-1, 0x1.d307ac87c9d14p-55},
     {-0x1.360af8a1c2907p-1, -0x1.2cdc0ee273e55p-55}},
    {{{0xd77fb86f41939017, 0x6f600b689575bc10, 0xde9eafddbf657587, 0xaa3d41a1caa109af}},
     {-0x1.b8b2011bf7128p-1, -0x1.64dede2e57f43p-57},
     {-0x1.04a310065be94p-1, 0x1.bdeb402fa6762p-55}},
    {{{0x75fa6dd891fde85c, 0xd3f21dcc2be88b46, 0xdeb0e066de26e655, 0xb5fae26a2c7c8898}},
     {-0x1.f0984d260976ep-1, -0x1.f138712d3bd25p-55},
     {-0x1.f29901f475476p-3, 0x1.e5e51061f183dp-57}},
    {{{0x608582504bc523b1, 0xf66b6bf17dba7337, 0xccb218c29f3d6f2f, 0xbab3731373fc565b}},
     {-0x1.fbad05520466ap-1, 0x1.2c49e3e27fd2ep-56},
     {-0x1.099b984447b5p-3, 0x1.f0dba25034a39p-57}},
    {{{0x92c9357d34accd78, 0xe585552fac954ab5, 0x976699cc6ed5d1bf, 0xc5b13de564e4f5ae}},
     {-0x1.fb02ddacb0e1p-1, -0x1.9b07ed5968cc3p-55},
     {0x1.1d32e6488c4efp-3, -0x1.b83d7f39a0fcfp-57}},
    {{{0xfe240d6e544745d, 0x9c24fe035583ceb4, 0x7ef2d1cfb43494dd, 0xcac865914cd9e98e}},
     {-0x1.ee2c9f031697cp-1, 0x1.c0406230f4013p-56},
     {0x1.0bd9524a8f5d2p-2, 0x1.5aa624407e682p-58}},
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

START_TEST(twice_the_angle_obeys_the_addition_theorem)
{
    uint64_t state = 5;
    for (size_t i = 0; i < 20000; i++) {
        pe_wide phase = random_phase(&state);
        dd sine, cosine, twice_sine, twice_cosine;
        pe_phase_sincos(phase, &sine, &cosine);
        pe_phase_sincos(pe_wide_add(phase, phase), &twice_sine, &twice_cosine);
        dd product = dd_mul_double(dd_mul(sine, cosine), 2);
        dd difference = dd_add(twice_sine, dd_neg(product));
        unit_assert(fabs(difference.hi) <= 0x1p-98);
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
    {{{0xa0b26c1ccfbb3e22, 0xade47dde5ef2e04c, 0x58608fef65c8e71b, 0x6bb6a19878a235f5}},
     {0x1.52644247af8c9p1, 0x1.d22c34a6dddc1p-53}},
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
        twice_the_angle_obeys_the_addition_theorem,
        tiny_phases_keep_their_relative_precision,
        frequencies_in_radians_keep_their_relative_precision,
        NULL,
    };
    return unit_suite("phase", tests);
}
