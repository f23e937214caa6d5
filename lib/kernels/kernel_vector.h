/* Rotations in gcc's vector types, for every instruction set but AVX-512. Only kernel_rotate.h
 * includes this file.
 *
 * The rows ahead and behind share their products. The first test takes an addition and a
 * comparison of all halves of doubles with zero for f32, and of all halves of floats for f16
 * and bf16.
 *
 * For f16 and bf16 an entry becomes a float by way of a 32-bit integer, its multiple of
 * 2^(exponent - FIXED_BITS): adding 1.5·2^52 of these units leaves that in the lower half of
 * the double. Halves of two vectors are joined by one shuffle, which conversions to float are
 * not. Both roundings are monotonic and keep what is half-way between two values of the dtype:
 * that has at most 12 bits, the last of them no less than 2^-12 of the least entry that is not
 * small. So the float is on the same side of it as the entry, or just there, and doubtful. */
#ifndef PE_KERNEL_VECTOR_H
#define PE_KERNEL_VECTOR_H

#include "kernels/kernel_nontemporal.h"
#include "kernels/kernel_round.h"
#include "kernels/kernel_vector_types.h"

/* Constants of the first test. The entry, plus `add`, is doubtful where all bits of one of its
 * halves that are set in `test` are clear. In the upper half that is a bit of the exponent,
 * which is clear if an entry is small. The lower half are the bits that the dtype drops,
 * without those within the margin: they are clear if a rounding boundary is near. All bits that
 * are set are in 16 bits of the half, and never the first of these, so the least of all signed
 * 16-bit integers shows whether one is 0. bf16 drops 16 bits; of 15 only its test also reports
 * entries that are representable. */
typedef struct first_test {
    words add, test; /* f32: of doubles; f16, bf16: of floats */
    doubles unit;    /* f16, bf16: 1.5·2^52 units */
    uint16_t bias;   /* f16, bf16: what a rounded entry has too much in its exponent */
} first_test;

/* Floats of integers below 2^(FIXED_BITS + 1) have exponents from 127 on, or 0. With LEAST less
 * the smallest one of an entry that is not small added, the second bit of the exponent shows
 * which these are. */
#define FIXED_BITS 30
#define LEAST      (128 + 64)

INLINED first_test choose_test_16(pe_dtype dtype, int exponent)
{
    const int dropped = dtype == PE_F16 ? F16_DROPPED : BF16_DROPPED;
    const int small_bits = dtype == PE_F16 ? F16_SMALL_BITS : BF16_SMALL_BITS;
    const int add = LEAST - (127 + FIXED_BITS - small_bits);
    const int bias = dtype == PE_F16 ? 15 : 127; /* of the dtype */
    const int excess = LEAST - (bias + exponent - small_bits);
    return (first_test){.add = (words){0} + (((uint32_t)add << 23) + (1U << (dropped - 1))),
                        .test = (words){0} + (1U << 29 | (((1U << dropped) - 1) & 0x7fff)),
                        .unit = (doubles){0} + 1.5 * power_of_two(52 + exponent - FIXED_BITS),
                        .bias = (uint16_t)((uint32_t)(dtype == PE_F16 ? excess - LEAST : excess)
                                           << (23 - dropped))};
}

INLINED first_test choose_test(pe_dtype dtype, int exponent)
{
    if (dtype != PE_F32)
        return choose_test_16(dtype, exponent);
    const uint64_t add = (uint64_t)(1 + SMALL_BITS - exponent) << 52 | TIE_ADD;
    const uint64_t test = 1ULL << 62 | TIE_TEST;
    return (first_test){.add = (words)((longs){0} + add), .test = (words)((longs){0} + test)};
}

/* A row that is being written: where it is stored, and the least 16-bit integers that its test
 * has seen. */
typedef struct row_state {
    unsigned char *sines, *cosines;
    signed_shorts least;
} row_state;

INLINED row_state begin_row(unsigned char *sines, unsigned char *cosines)
{
    return (row_state){
        .sines = sines, .cosines = cosines, .least = (signed_shorts){0} + 0x7fff};
}

INLINED signed_shorts take_least(signed_shorts a, signed_shorts b)
{
#if WIDTH == 4
    return (signed_shorts)_mm256_min_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (signed_shorts)_mm_min_epi16((__m128i)a, (__m128i)b);
#else
    signed_shorts less = a < b;
    return (a & less) | (b & ~less);
#endif
}

/* Test a vector. */
INLINED void test_vector(row_state *row, words sum, const first_test *test)
{
    row->least = take_least(row->least, (signed_shorts)(sum & test->test));
}

INLINED uint64_t has_failed(const row_state *row, pe_dtype dtype)
{
    const uint32_t tested = dtype == PE_F32 ? 0xcccccccc : 0xffffffff; /* f32: the odd parts */
#if WIDTH == 4
    const __m256i zeros = _mm256_cmpeq_epi16((__m256i)row->least, _mm256_setzero_si256());
    return ((uint32_t)_mm256_movemask_epi8(zeros) & tested) != 0;
#elif defined(__SSE2__)
    const __m128i zeros = _mm_cmpeq_epi16((__m128i)row->least, _mm_setzero_si128());
    return ((uint32_t)_mm_movemask_epi8(zeros) & tested) != 0;
#else
    int16_t parts[4 * WIDTH];
    bool failed = false;
    memcpy(parts, &row->least, sizeof parts);
    for (size_t i = 0; i < 4 * WIDTH; i++)
        failed |= parts[i] == 0 && (tested >> 2 * i & 1);
    return failed;
#endif
}

/* Whether rows that begin at cache lines are stored past the caches without staging: there are
 * such stores of whole vectors alone. */
INLINED bool streams_directly(pe_dtype dtype, arrangement arranged)
{
    return dtype == PE_F32 || arranged != APART;
}

/* Store a vector. */
INLINED void store_vector(unsigned char *to, const void *vector, bool nontemporal)
{
#if defined(PART_BYTES) && PART_BYTES == 8 * WIDTH
    if (nontemporal) {
        STORE_PART(to, vector);
        return;
    }
#endif
    (void)nontemporal;
    memcpy(to, vector, 8 * WIDTH);
}

/* Four vectors of entries: sines, then as many cosines; or sines alone. */
typedef struct unit {
    doubles parts[4];
} unit;

/* Pairs of a unit. */
INLINED size_t unit_pairs(arrangement arranged)
{
    return arranged == ALONE ? 4 * WIDTH : 2 * WIDTH;
}

/* ---- 16 bits ---- */

/* Test the entries of a unit and round them. */
INLINED shorts to_16(const unit *entries, const first_test *test, rotation_mode mode,
                     row_state *row)
{
    words lifted[2];
    for (size_t v = 0; v < 2; v++) {
        const doubles *two = &entries->parts[2 * v];
        lifted[v] = to_fixed_floats(two[0], two[1], test->unit) + test->add;
        test_vector(row, lifted[v], test);
    }
    shorts rounded = merge_halves(lifted[0] >> 16, lifted[1]);
    if (mode.dtype == PE_BF16)
        return put_in_order(rounded - test->bias, mode.arranged);
    /* ten bits of mantissa, and those of the exponent: below the sixth one LEAST has no bits */
    shorts rest = merge_halves(lifted[0] >> F16_DROPPED, lifted[1] << (16 - F16_DROPPED));
    return put_in_order((rest - test->bias) | (rounded & 0x8000), mode.arranged);
}

/* Test, round and store the unit of pairs [i, …) of a row for f16 or bf16. */
INLINED void finish_16(row_state *row, size_t i, const unit *entries, const first_test *test,
                       rotation_mode mode)
{
    unsigned char *to = row->sines + (mode.arranged == PAIRS ? 4 : 2) * i;
    shorts halves = to_16(entries, test, mode, row);
    if (mode.arranged == APART) {
        memcpy(to, &halves, sizeof halves / 2);
        memcpy(row->cosines + 2 * i, (unsigned char *)&halves + sizeof halves / 2,
               sizeof halves / 2);
    } else {
        store_vector(to, &halves, mode.nontemporal);
    }
}

/* ---- a unit ---- */

/* Test, round and store the unit of pairs [i, …) of a row. */
INLINED void finish_unit(row_state *row, size_t i, const unit *entries, const first_test *test,
                         rotation_mode mode)
{
    if (mode.dtype != PE_F32) {
        finish_16(row, i, entries, test, mode);
        return;
    }
    const arrangement arranged = mode.arranged;
    unsigned char *to = row->sines + (arranged == PAIRS ? 8 : 4) * i;
    few_floats parts[4];
    floats rounded[2];
    for (size_t v = 0; v < 4; v++) {
        parts[v] = to_few_floats(entries->parts[v]);
        test_vector(row, (words)entries->parts[v] + test->add, test);
    }
    for (size_t v = 0; v < 2; v++)
        rounded[v] = arranged == PAIRS ? interleave_floats(parts[v], parts[2 + v])
                                       : join_floats(parts[2 * v], parts[2 * v + 1]);
    store_vector(to, &rounded[0], mode.nontemporal);
    store_vector(arranged == APART ? row->cosines + 4 * i : to + sizeof rounded[0], &rounded[1],
                 mode.nontemporal);
}

/* Write the unit of pairs [i, …) of the row ahead and, unless NULL, the row behind. */
INLINED void rotate_unit(pe_sincos a, pe_sincos b, size_t i, row_state *ahead,
                         row_state *behind, const first_test *test, rotation_mode mode)
{
    unit forth, back;
    for (size_t v = 0; v < (mode.arranged == ALONE ? 4 : 2); v++) {
        size_t at = i + WIDTH * v;
        doubles sin_a = load_doubles(a.sin + at), cos_a = load_doubles(a.cos + at);
        doubles sin_b = load_doubles(b.sin + at), cos_b = load_doubles(b.cos + at);
        doubles sin_cos = sin_a * cos_b;
        forth.parts[v] = add_product(sin_cos, cos_a, sin_b);
        back.parts[v] = subtract_product(sin_cos, cos_a, sin_b);
        if (mode.arranged == ALONE)
            continue;
        doubles cos_cos = cos_a * cos_b;
        forth.parts[2 + v] = subtract_product(cos_cos, sin_a, sin_b);
        back.parts[2 + v] = add_product(cos_cos, sin_a, sin_b);
    }
    finish_unit(ahead, i, &forth, test, mode);
    if (behind)
        finish_unit(behind, i, &back, test, mode);
}

/* Copy the first `count` pairs of a unit to a row. */
INLINED void copy_pairs(const row_state *row, size_t i, const row_state *from, size_t count,
                        rotation_mode mode)
{
    const size_t size = mode.dtype == PE_F32 ? 4 : 2;
    const size_t bytes = (mode.arranged == PAIRS ? 2 : 1) * size;
    memcpy(row->sines + bytes * i, from->sines, bytes * count);
    if (mode.arranged == APART)
        memcpy(row->cosines + bytes * i, from->cosines, bytes * count);
}

/* The same for fewer pairs than a unit has, at the end of the columns. The last pair fills the
 * unit, so no other entries are tested. */
INLINED void rotate_last_pairs(pe_sincos a, pe_sincos b, size_t i, size_t count,
                               row_state *ahead, row_state *behind, const first_test *test,
                               rotation_mode mode)
{
    double filled[4][4 * WIDTH];
    _Alignas(32) unsigned char staged[4][4 * WIDTH * sizeof(float)];
    row_state forth = begin_row(staged[0], staged[1]), back = begin_row(staged[2], staged[3]);
    mode.nontemporal = false;
    for (size_t p = 0; p < unit_pairs(mode.arranged); p++) {
        size_t at = i + (p < count ? p : count - 1);
        filled[0][p] = a.sin[at];
        filled[1][p] = a.cos[at];
        filled[2][p] = b.sin[at];
        filled[3][p] = b.cos[at];
    }
    rotate_unit((pe_sincos){filled[0], filled[1]}, (pe_sincos){filled[2], filled[3]}, 0, &forth,
                behind ? &back : NULL, test, mode);
    copy_pairs(ahead, i, &forth, count, mode);
    ahead->least = take_least(ahead->least, forth.least);
    if (behind) {
        copy_pairs(behind, i, &back, count, mode);
        behind->least = take_least(behind->least, back.least);
    }
}

/* Write `count` pairs of the row ahead and, unless NULL, the row behind. */
INLINED void rotate_row(pe_sincos a, pe_sincos b, size_t count, row_state *ahead,
                        row_state *behind, const first_test *test, rotation_mode mode)
{
    const size_t step = unit_pairs(mode.arranged);
    size_t i = 0;
    for (; i + step <= count; i += step)
        rotate_unit(a, b, i, ahead, behind, test, mode);
    if (i < count)
        rotate_last_pairs(a, b, i, count - i, ahead, behind, test, mode);
}

#undef INLINED

#endif
