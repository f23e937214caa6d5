/* Splits of positions in exact integers, and anchors against exact phases, with every kernel.
 */
#include "waves/anchors.h"

#include "numerics/phase.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the kernels promise, and the phase's bits from the 65th on, which anchors leave out. */
#define SEED_ERROR (0.62 * 0x1p-53 + 0x1p-61)

/* ---- splits ---- */

__extension__ typedef __int128 int128;

/* A double as a multiple of 2^-60, exactly. */
static int128 fixed(double number)
{
    double scaled = number * 0x1p60;
    unit_assert(fabs(scaled) < 0x1p126 && (double)(int128)scaled == scaled);
    return (int128)scaled;
}

static void check_split(dd position, pe_split split)
{
    int128 whole = fixed(position.hi) + fixed(position.lo);
    int128 rest = fixed(split.lo) + fixed(split.tail);
    unit_assert(split.hi == floor(split.hi));
    unit_assert(64 * fixed(split.hi) + rest == whole);
    unit_assert(rest >= 0 && rest < fixed(64));
    unit_assert(split.lo + split.tail == split.lo);
}

START_TEST(positions_are_split_as_expected)
{
    static const struct {
        dd position;
        pe_split split;
    } CASES[] = {
        {{0, 0}, {0, 0, 0}},
        {{63.5, 0}, {0, 63.5, 0}},
        {{64, 0}, {1, 0, 0}},
        {{130.25, 0}, {2, 2.25, 0}},
        {{-1, 0}, {-1, 63, 0}},
        {{-64, 0}, {-1, 0, 0}},
        {{-64.5, 0}, {-2, 63.5, 0}},
        {{0x1p53, 0}, {0x1p47, 0, 0}},
        {{100, 0x1p-49}, {1, 36, 0x1p-49}},
        {{128, -0x1p-50}, {1, 64, -0x1p-50}}, /* just below a multiple of 64 */
        {{-0x1p-60, 0}, {-1, 64, -0x1p-60}},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_split split = pe_split_position(CASES[i].position), expected = CASES[i].split;
        ck_assert_msg(split.hi == expected.hi && split.lo == expected.lo &&
                          split.tail == expected.tail,
                      "case %zu: %g %a %a", i, split.hi, split.lo, split.tail);
        check_split(CASES[i].position, split);
    }
}
END_TEST

START_TEST(the_parts_of_a_position_are_exact)
{
    uint64_t state = 1;
    for (size_t i = 0; i < 200000; i++) {
        int places = (int)(unit_random(&state) % 50); /* after the binary point */
        double hi = ldexp((double)((int64_t)unit_random(&state) >> 11), -places);
        double last_place = nextafter(fabs(hi), INFINITY) - fabs(hi);
        double lo = last_place * (double)((int64_t)unit_random(&state) >> 55) * 0x1p-10;
        if (last_place < 0x1p-50 || i % 3 == 0)
            lo = 0;
        check_split((dd){hi, lo}, pe_split_position((dd){hi, lo}));
    }
}
END_TEST

START_TEST(the_next_split_is_that_of_the_next_position)
{
    static const double LIST[] = {5, 6, 7, -1, 63, 64, 0.5, 1.5, 1e15};
    static const pe_positions SPANS[] = {
        {300, -150, 1, NULL},   {300, 0.25, 1, NULL}, {300, 63.25, 0x1p-49, NULL},
        {300, 1e12, 0.1, NULL}, {300, 100, -1, NULL}, {300, 5, 64, NULL},
        {300, -0.001, 1, NULL}, {300, 0, 0.25, NULL}, {UNIT_COUNT(LIST), 0, 1, LIST},
        {300, 0x1p52, 1, NULL}, {300, 60.1, 1, NULL},
    };
    for (size_t i = 0; i < UNIT_COUNT(SPANS); i++) {
        pe_split split = pe_split_position(pe_position_get(&SPANS[i], 0));
        for (uint64_t row = 1; row < SPANS[i].count; row++) {
            pe_split expected = pe_split_position(pe_position_get(&SPANS[i], row));
            split = pe_next_split(&SPANS[i], row, split);
            ck_assert_msg(split.hi == expected.hi && split.lo == expected.lo &&
                              split.tail == expected.tail,
                          "span %zu, row %d", i, (int)row);
        }
    }
}
END_TEST

/* ---- anchors ---- */

#define FREQUENCIES 97 /* a whole chunk and a part of one */

static pe_anchor_cache cache, other; /* too large for a stack */

/* Call `check` for both chunks of a wave at some positions, with each kernel in turn. */
static void with_chunks(pe_positions positions, void (*check)(const pe_chunk *chunk))
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    pe_wave wave = {.positions = positions,
                    .frequencies = pe_wave_geometric(FREQUENCIES, 10000, 1, FREQUENCIES),
                    .count = FREQUENCIES,
                    .layout = PE_WAVE_INTERLEAVED,
                    .columns = 2 * FREQUENCIES,
                    .row_columns = 2 * FREQUENCIES,
                    .amplitude = 1};
    for (size_t k = 0; k < count; k++) {
        pe_kernel_use(kernels[k]);
        for (size_t first = 0; first < FREQUENCIES; first += PE_KERNEL_PAIRS) {
            pe_chunk chunk = pe_chunk_init(&wave, first, wave.count, false);
            pe_anchor_cache_init(&cache, &chunk);
            check(&chunk);
        }
    }
    pe_kernel_use(NULL);
    free(wave.frequencies);
}

static bool is_near(double got, dd expected, double error)
{
    return fabs((got - expected.hi) - expected.lo) <= error;
}

/* Anchors of all frequencies against the sines and cosines of their exact phases. */
static void check_anchors(const pe_chunk *chunk, pe_sincos anchors, const pe_wide *phases)
{
    for (size_t i = 0; i < chunk->count; i++) {
        dd sine, cosine;
        pe_phase_sincos(phases[i], &sine, &cosine);
        if (!is_near(anchors.sin[i], sine, SEED_ERROR) ||
            !is_near(anchors.cos[i], cosine, SEED_ERROR))
            ck_abort_msg("%s, frequency %zu: %a %a are not %a %a", chunk->kernel->name,
                         chunk->first + i, anchors.sin[i], anchors.cos[i], sine.hi, cosine.hi);
    }
}

static void check_block(const pe_chunk *chunk, int64_t hi)
{
    pe_wide phases[PE_KERNEL_PAIRS];
    for (size_t i = 0; i < chunk->count; i++)
        phases[i] = pe_wide_mul_integer(chunk->wave->frequencies[chunk->first + i], 64 * hi);
    check_anchors(chunk, pe_hi_anchors(&cache, (double)hi), phases);
}

static void check_blocks(const pe_chunk *chunk)
{
    static const int64_t JUMPS[] = {
        0, 1000, 1000, 1001, 1003, -1, -1000, 123456, 1LL << 40, (1LL << 47) - 1, -(1LL << 47)};
    uint64_t state = 2;
    for (size_t i = 0; i < UNIT_COUNT(JUMPS); i++)
        check_block(chunk, JUMPS[i]);
    for (int64_t hi = -100; hi < 100; hi++) /* by one addition each */
        check_block(chunk, hi);
    for (size_t i = 0; i < 100; i++)
        check_block(chunk, (int64_t)unit_random(&state) >> 16);
}

START_TEST(hi_seeds_are_those_of_exact_phases)
{
    with_chunks((pe_positions){1, 0, 1, NULL}, check_blocks);
}
END_TEST

static void check_part(const pe_chunk *chunk, double lo)
{
    pe_wide phases[PE_KERNEL_PAIRS];
    pe_split split = {.hi = 3, .lo = lo, .tail = 0};
    for (size_t i = 0; i < chunk->count; i++)
        phases[i] = pe_wide_mul_double(chunk->wave->frequencies[chunk->first + i], lo);
    check_anchors(chunk, pe_lo_anchors(&cache, split, 0), phases);
    check_anchors(chunk, pe_lo_anchors(&cache, split, 0), phases); /* as they were kept */
}

static void check_parts(const pe_chunk *chunk)
{
    uint64_t state = 3;
    for (double lo = 0; lo < 64; lo++)
        check_part(chunk, lo);
    for (double lo = 63.75; lo >= 0; lo -= 0.25)
        check_part(chunk, lo);
    for (size_t i = 0; i < 500; i++) /* which share slots */
        check_part(chunk, (double)(unit_random(&state) >> 11) * 0x1p-47);
}

START_TEST(lo_seeds_are_those_of_exact_phases)
{
    with_chunks((pe_positions){1, 0, 1, NULL}, check_parts);
}
END_TEST

/* The addition theorem puts the two parts together; its products and sum round, too. */
static void check_sums(const pe_chunk *chunk)
{
    const pe_positions *positions = &chunk->wave->positions;
    for (uint64_t row = 0; row < positions->count; row++) {
        pe_split split = pe_split_position(pe_position_get(positions, row));
        pe_sincos hi = pe_hi_anchors(&cache, split.hi);
        pe_sincos lo = pe_lo_anchors(&cache, split, row);
        for (size_t i = 0; i < chunk->count; i++) {
            dd sine, cosine;
            pe_wide turns = chunk->wave->frequencies[chunk->first + i];
            pe_phase_sincos(pe_position_phase(positions, row, turns), &sine, &cosine);
            unit_assert(is_near(hi.sin[i] * lo.cos[i] + hi.cos[i] * lo.sin[i], sine, 0x1p-51));
            unit_assert(
                is_near(hi.cos[i] * lo.cos[i] - hi.sin[i] * lo.sin[i], cosine, 0x1p-51));
        }
    }
}

START_TEST(seeds_of_both_parts_belong_to_the_position)
{
    static const double LIST[] = {-1e15, 0.1, 63.9999, -0.3, 0x1p53, -0x1p-40, 1e6 + 1.0 / 3};
    with_chunks((pe_positions){150, -20, 0.1, NULL}, check_sums);
    with_chunks((pe_positions){150, 1000.75, 0x1p-48, NULL}, check_sums); /* with tails */
    with_chunks((pe_positions){150, -1e12, 0.7, NULL}, check_sums);
    with_chunks((pe_positions){UNIT_COUNT(LIST), 0, 1, LIST}, check_sums);
}
END_TEST

static void same_bits(const pe_chunk *chunk, pe_sincos a, pe_sincos b)
{
    size_t size = chunk->count * sizeof(double);
    ck_assert_int_eq(memcmp(a.sin, b.sin, size), 0);
    ck_assert_int_eq(memcmp(a.cos, b.cos, size), 0);
}

static void check_ways(const pe_chunk *chunk)
{
    pe_split split = {.hi = 0, .lo = 0, .tail = 0};
    for (double hi = 990; hi <= 1010; hi++)
        pe_hi_anchors(&cache, hi);
    for (split.lo = 0; split.lo < 40; split.lo++)
        pe_lo_anchors(&cache, split, 0);
    split.lo = 39;
    pe_anchor_cache_init(&other, chunk);
    same_bits(chunk, pe_hi_anchors(&cache, 1010), pe_hi_anchors(&other, 1010));
    same_bits(chunk, pe_lo_anchors(&cache, split, 0), pe_lo_anchors(&other, split, 0));
}

START_TEST(seeds_depend_on_the_position_and_not_on_those_before)
{
    with_chunks((pe_positions){1, 0, 1, NULL}, check_ways);
}
END_TEST

START_TEST(every_multiple_of_a_quarter_has_a_slot_of_its_own)
{
    bool taken[PE_ANCHOR_SLOTS] = {false};
    for (double lo = 0; lo < 64; lo += 0.25) {
        size_t slot = pe_anchor_slot((pe_split){.hi = 5, .lo = lo, .tail = 0});
        ck_assert(slot < PE_ANCHOR_SLOTS && !taken[slot]);
        taken[slot] = true;
    }
    ck_assert_uint_lt(pe_anchor_slot((pe_split){-1, 64, -0x1p-60}), PE_ANCHOR_SLOTS);
}
END_TEST

Suite *anchors_suite(void)
{
    const TTest *const tests[] = {
        positions_are_split_as_expected,
        the_parts_of_a_position_are_exact,
        the_next_split_is_that_of_the_next_position,
        hi_seeds_are_those_of_exact_phases,
        lo_seeds_are_those_of_exact_phases,
        seeds_of_both_parts_belong_to_the_position,
        seeds_depend_on_the_position_and_not_on_those_before,
        every_multiple_of_a_quarter_has_a_slot_of_its_own,
        NULL,
    };
    return unit_suite("anchors", tests);
}
