/* Tests of rotary frequencies and attention factors against mpmath. */
#include "waves/rotary.h"
#include "near.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

static const double DIVISORS[] = {1.5, 64.25};

#define KNOWN 7

/* Values of the formulas by mpmath with 1200 bits; frequencies are cut to 256 bits. */
static const struct {
    pe_rotary rotary;
    dd attention;
    size_t indices[KNOWN];
    pe_wide frequencies[KNOWN];
} CASES[] = {
    {{.type = PE_ROTARY_LINEAR, .width = 64, .theta = 10000.0, .factor = 2.7},
     {0x1.0000000000000p+0, 0x0.0p+0},
     {0, 1, 31},
     {{{0xaa26669d3045dfb7, 0xc328137d4d332aed, 0x20571e78cf8fe486, 0xf171a64499e01ae}},
      {{0x4cb341ef410d85e8, 0xc6a6de977bc1deab, 0x2cba69fccfdebf21, 0xb50eb2bf24cdcf3}},
      {{0x75e6f72a27c82297, 0x3902e1a4552f95de, 0xa2d5227411ef7055, 0x83e11271a8d9}}}},
    {{.type = PE_ROTARY_NTK, .width = 128, .theta = 10000.0, .factor = 4.0},
     {0x1.0000000000000p+0, 0x0.0p+0},
     {1, 63},
     {{{0x355ca4bc54802954, 0xe75fc53d3420f8c6, 0x9fa29e13bb893c57, 0x2283c0b41d08cfd3}},
      {{0x58598177ca5ecd7f, 0x8e4d083cb630df35, 0xa4db0002e1beeae, 0x4d1638bd6409}}}},
    {{.type = PE_ROTARY_DYNAMIC,
      .width = 128,
      .theta = 10000.0,
      .factor = 2.0,
      .original = 2048,
      .seq_len = 2049},
     {0x1.0000000000000p+0, 0x0.0p+0},
     {1, 63},
     {{{0x852d9a5113ab36b9, 0xd1e2790e3ce34f60, 0xc355836681748e9, 0x234832122df3db94}},
      {{0x7887e3e62fef3a30, 0x88d1ec77bad4c7a3, 0xf93871e43f5fe2c1, 0x1340bdffd90bf}}}},
    {{.type = PE_ROTARY_DYNAMIC,
      .width = 4,
      .theta = 10000.0,
      .factor = 1.5,
      .original = 3,
      .seq_len = 9007199254740991},
     {0x1.0000000000000p+0, 0x0.0p+0},
     {1},
     {{{0x3509f63c4ee120d5, 0xe026db04960ebca, 0x84dc4c179c532c8b, 0x6}}}},
    {{.type = PE_ROTARY_YARN,
      .width = 128,
      .theta = 10000.0,
      .factor = 40.0,
      .original = 4096,
      .beta_fast = 32,
      .beta_slow = 1,
      .truncate = true,
      .mscale = 0.707,
      .mscale_all_dim = 0.5},
     {0x1.108108ba09617p+0, -0x1.ba4781fc0fe21p-55},
     {9, 10, 11, 23, 24, 40},
     {{{0xbabf1922d14d24ef, 0xad962c96dd15f916, 0xca116438f9704fd, 0xb28467931a8dd3d}},
      {{0xb3b1a82e941056f, 0x5363eb7978fdc5fa, 0xbdf98c4e316a0292, 0x9a96eb80f7efaf2}},
      {{0x82e906a203921dc7, 0x1383e64469057eca, 0x4d5285f287429ce6, 0x85de7800fb32dcb}},
      {{0x1e8f690089eaebd2, 0x8c4f51f1df56682c, 0x3039764c554edb8e, 0x1520a4e5293c5a7}},
      {{0xdb810c54eeeee313, 0xd6f03abc25c5c3c, 0xbe52e9348efca463, 0x1185ca533aef91d}},
      {{0xf765ad8a070706ad, 0xcbb0710c94c67b2e, 0x1c2f9d727cad13e4, 0x83ef5ccd070bd}}}},
    {{.type = PE_ROTARY_YARN,
      .width = 64,
      .theta = 150000.0,
      .factor = 8.0,
      .original = 32768,
      .beta_fast = 32,
      .beta_slow = 1,
      .truncate = false},
     {0x1.353bd3fd8bbe4p+0, -0x1.e6103bb085987p-56},
     {12, 13, 20, 31},
     {{{0xfe9201635e2eb16a, 0x15f9f59647b739db, 0xc39c72ad3ac0efe0, 0x7778cfb1ac9684}},
      {{0xffd478044217ddfd, 0x10e132994026229f, 0x7adeda9c7724dddc, 0x52524a42702aed}},
      {{0xc94b0cdea00a498a, 0x1a750f2e8f4af7aa, 0x715da04a02cc60e3, 0x275ed44d6e350}},
      {{0x8905fdda25848390, 0xc22b456cbf9b016b, 0xebc84f74be461bf3, 0x33ab4fbec17}}}},
    {{.type = PE_ROTARY_LONGROPE,
      .width = 4,
      .theta = 10000.0,
      .original = 4096,
      .longest = 131072,
      .seq_len = 4097,
      .long_factor = DIVISORS},
     {0x1.30b3713738289p+0, 0x1.86dbf5693b5d7p-59},
     {0, 1},
     {{{0x550d909ca51f4b90, 0x24906e4434b5ed60, 0xff5be3f85388cfa0, 0x1b2995e7b7b60386}},
      {{0x92ce74eaccadde3f, 0x5c5e256656137c8c, 0xf9163c1428d1f3b2, 0x19f977b8a5cb7}}}},
    {{.type = PE_ROTARY_LLAMA3,
      .width = 128,
      .theta = 500000.0,
      .factor = 8.0,
      .original = 8192,
      .low_freq_factor = 1,
      .high_freq_factor = 4},
     {0x1.0000000000000p+0, 0x0.0p+0},
     {28, 29, 30, 34, 35, 36, 63},
     {{{0xaa932d2f6df169ec, 0xa2ed38ed90449f46, 0x83ecc5abbcca33b8, 0x217f20f7661d1f}},
      {{0x373a83c689361efb, 0x79977ad512b2da3b, 0x2990f46304835ea0, 0x1699208a7fa1d9}},
      {{0xa55cee8701e9eca1, 0x8ea2f24b3bb8d9d2, 0x2a93e75a39577c74, 0xe4f32ce015ae4}},
      {{0x539e849ddd97bcce, 0x479da0076c7b7c2a, 0x3fe73042620dbcec, 0x1dca5be029bc2}},
      {{0xff3e9f039a35e79e, 0x4582635adea4eb4e, 0x8240a900ad233f52, 0xff2af3061d46}},
      {{0xefdf920c784bf009, 0x51114f41dbf94bbe, 0x40022ce07adf694b, 0xcfdd33454890}},
      {{0xb559784ef10d801a, 0x2c9ce36998cb4ee8, 0xf19825604daf3b0b, 0xd1c7f7bcf4}}}},
};

START_TEST(frequencies_are_good_to_190_bits)
{
    for (size_t c = 0; c < UNIT_COUNT(CASES); c++) {
        pe_wide *frequencies = pe_rotary_frequencies(&CASES[c].rotary);
        for (size_t k = 0; k < KNOWN; k++) {
            pe_wide expected = CASES[c].frequencies[k];
            if (expected.limb[3] == 0 && expected.limb[2] == 0)
                continue; /* no more of this case */
            unit_wide_is_near(frequencies[CASES[c].indices[k]], expected, UINT64_MAX,
                              "case %zu, frequency %zu", c, CASES[c].indices[k]);
        }
        free(frequencies);
    }
}
END_TEST

START_TEST(attention_factors_are_good_to_98_bits)
{
    for (size_t c = 0; c < UNIT_COUNT(CASES); c++) {
        dd got = pe_rotary_attention(&CASES[c].rotary), expected = CASES[c].attention;
        double error = (got.hi - expected.hi) + (got.lo - expected.lo);
        ck_assert_msg(fabs(error) <= fabs(expected.hi) * 0x1p-98, "case %zu is off by %a", c,
                      error);
    }
}
END_TEST

START_TEST(attention_factors_that_are_1_are_exact)
{
    const pe_rotary plain = {.type = PE_ROTARY_YARN, .factor = 1, .original = 4096};
    const pe_rotary equal = {
        .type = PE_ROTARY_YARN, .factor = 40, .mscale = 0.707, .mscale_all_dim = 0.707};
    const pe_rotary shorter = {.type = PE_ROTARY_LONGROPE, .original = 4096, .longest = 4000};
    const pe_rotary *const CERTAIN[] = {&plain, &equal, &shorter};
    for (size_t i = 0; i < UNIT_COUNT(CERTAIN); i++) {
        dd attention = pe_rotary_attention(CERTAIN[i]);
        unit_assert(attention.hi == 1 && attention.lo == 0);
    }
}
END_TEST

Suite *rotary_suite(void)
{
    const TTest *const tests[] = {
        frequencies_are_good_to_190_bits,
        attention_factors_are_good_to_98_bits,
        attention_factors_that_are_1_are_exact,
        NULL,
    };
    return unit_suite("rotary", tests);
}
