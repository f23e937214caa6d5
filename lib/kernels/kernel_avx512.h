/* Rotations in AVX-512 intrinsics, 32 entries at a time. Only kernel_rotate.h includes this
 * file.
 *
 * The rows ahead and behind share their products. The sums are fused multiply-adds: other bits
 * of the double do not show, because an entry is rounded correctly or reported as doubtful
 * (kernel_round.h). The first test takes one addition and one masked test for eight entries of
 * f32, sixteen of f16 or bf16, and collects its results in mask registers. Whole cache lines
 * are stored from registers, with non-temporal stores where the caller asks for them. */
#ifndef PE_KERNEL_AVX512_H
#define PE_KERNEL_AVX512_H

#include "kernels/kernel_nontemporal.h"
#include "kernels/kernel_round.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__)

#define INLINED static inline __attribute__((always_inline))

/* Whether rows that begin at cache lines are stored past the caches without staging. */
INLINED bool streams_directly(pe_dtype dtype, arrangement arranged)
{
    (void)dtype, (void)arranged;
    return true;
}

/* Constants of the first test. A half of an entry, plus `add`, fails it where all of its bits
 * that are set in `test` are clear. In the upper half that is the top bit of the exponent,
 * which is clear if an entry is small. The lower half has the bits that the dtype drops,
 * without those within the margin: they are clear if a rounding boundary is near. */
typedef struct first_test {
    __m512i add, test; /* f32: of doubles; f16, bf16: of floats */
    __m512i bias;      /* bf16: what `add` adds to a rounded entry */
} first_test;

INLINED first_test choose_test(pe_dtype dtype, int exponent)
{
    const unsigned add = (unsigned)(1 + SMALL_BITS - exponent);
    const unsigned dropped = dtype == PE_F16 ? F16_DROPPED : BF16_DROPPED;
    if (dtype == PE_F32)
        return (first_test){.add =
                                _mm512_set1_epi64((long long)((uint64_t)add << 52 | TIE_ADD)),
                            .test = _mm512_set1_epi64((long long)(1ULL << 62 | TIE_TEST))};
    return (first_test){.add = _mm512_set1_epi32((int)((add << 23) + (1U << (dropped - 1)))),
                        .test = _mm512_set1_epi32((int)(1U << 30 | ((1U << dropped) - 1))),
                        .bias = _mm512_set1_epi16((short)(add << (23 - dropped)))};
}

/* A row that is being written: where it is stored, and the lanes that have passed all tests so
 * far. */
typedef struct row_state {
    unsigned char *sines, *cosines;
    __mmask16 words[2];  /* f32: halves of doubles */
    __mmask32 shorts[2]; /* f16, bf16: halves of floats */
} row_state;

INLINED row_state begin_row(unsigned char *sines, unsigned char *cosines)
{
    return (row_state){
        .sines = sines, .cosines = cosines, .words = {0xffff, 0xffff}, .shorts = {~0U, ~0U}};
}

INLINED uint64_t has_failed(const row_state *row, pe_dtype dtype)
{
    (void)dtype;
    return (row->words[0] & row->words[1]) != 0xffff ||
           (row->shorts[0] & row->shorts[1]) != ~0U;
}

/* 32 entries, which fill whole cache lines of f32: the sines and cosines of 16 pairs, or the
 * sines alone of 32. */
typedef struct unit {
    __m512d parts[4];
} unit;

/* How many of them count: those of the first two vectors, and of the last two. */
typedef struct unit_counts {
    size_t first, last;
} unit_counts;

INLINED unit_counts count_entries(size_t pairs, arrangement arranged)
{
    if (arranged != ALONE)
        return (unit_counts){pairs, pairs};
    return pairs < 16 ? (unit_counts){pairs, 0} : (unit_counts){16, pairs - 16};
}

/* A mask of the first `count` of `width` lanes. */
INLINED unsigned first_lanes(size_t count, size_t width)
{
    return count >= width ? (1U << width) - 1 : (1U << count) - 1;
}

/* How many of `count` entries are in vector v (0 or 1) of two vectors of eight. */
INLINED size_t count_lanes(size_t v, size_t count)
{
    if (v == 0)
        return count < 8 ? count : 8;
    return count > 8 ? count - 8 : 0;
}

/* Store the first `size` bytes of a vector: 32 or 64, or fewer at the end of the columns. */
INLINED void store_vector(unsigned char *to, __m512i value, size_t size, bool nontemporal)
{
    __m256i low = _mm512_castsi512_si256(value);
    if (size == 64 && nontemporal)
        _mm512_stream_si512((__m512i *)(void *)to, value);
    else if (size == 64)
        _mm512_storeu_si512(to, value);
    else if (size == 32 && nontemporal)
        _mm256_stream_si256((__m256i *)(void *)to, low);
    else if (size == 32)
        _mm256_storeu_si256((__m256i *)(void *)to, low);
    else if (size > 0)
        _mm512_mask_storeu_epi8(to, ~0ULL >> (64 - size), value);
}

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* Test two vectors of 16 floats and round them to 16 bits each. Only the first counts[v] lanes
 * of vector v are used; the others pass. */
INLINED __m512i to_16(const __m512i floats[2], const size_t counts[2], const first_test *test,
                      pe_dtype dtype, row_state *row)
{
    __m512i lifted[2];
    for (size_t v = 0; v < 2; v++) {
        lifted[v] = _mm512_add_epi32(floats[v], test->add);
        if (counts[v] < 16)
            lifted[v] = _mm512_mask_mov_epi32(test->test, (__mmask16)first_lanes(counts[v], 16),
                                              lifted[v]);
        row->shorts[v] = _mm512_mask_test_epi16_mask(row->shorts[v], lifted[v], test->test);
    }
    if (dtype == PE_BF16) { /* keep the upper half of each float */
        const __m512i odd =
            _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31,
                             29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
        __m512i rounded = _mm512_permutex2var_epi16(lifted[0], odd, lifted[1]);
        return _mm512_sub_epi16(rounded, test->bias);
    }
    __m256i low = _mm512_cvtps_ph(_mm512_castsi512_ps(floats[0]), NEAREST);
    __m256i high = _mm512_cvtps_ph(_mm512_castsi512_ps(floats[1]), NEAREST);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* Round a unit to floats in the order of the columns, interleaved if they are pairs. */
INLINED void to_floats(const unit *entries, arrangement arranged, __m512i ret[2])
{
    const __m512i interleave =
        _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    __m512 parts[4];
    for (size_t v = 0; v < 4; v++)
        parts[v] = _mm512_castps256_ps512(_mm512_cvtpd_ps(entries->parts[v]));
    for (size_t v = 0; v < 2; v++) {
        if (arranged == PAIRS)
            ret[v] =
                _mm512_castps_si512(_mm512_permutex2var_ps(parts[v], interleave, parts[2 + v]));
        else
            ret[v] = _mm512_castps_si512(
                _mm512_insertf32x8(parts[2 * v], _mm512_castps512_ps256(parts[2 * v + 1]), 1));
    }
}

/* Test a unit for f32. Lanes that do not count pass. */
INLINED void test_f32(row_state *row, unit_counts counts, const unit *entries,
                      const first_test *test)
{
    for (size_t v = 0; v < 4; v++) {
        size_t lanes = 2 * count_lanes(v % 2, v < 2 ? counts.first : counts.last);
        __m512i sum = _mm512_add_epi32(_mm512_castpd_si512(entries->parts[v]), test->add);
        if (lanes < 16)
            sum = _mm512_mask_mov_epi32(test->test, (__mmask16)first_lanes(lanes, 16), sum);
        row->words[v / 2] = _mm512_mask_test_epi32_mask(row->words[v / 2], sum, test->test);
    }
}

/* Test, round and store the entries that count of the pairs from i on. */
INLINED void finish_unit(row_state *row, size_t i, unit_counts counts, const unit *entries,
                         const first_test *test, rotation_mode mode)
{
    const bool apart = mode.arranged == APART, nontemporal = mode.nontemporal;
    const size_t size = mode.dtype == PE_F32 ? 4 : 2;
    const size_t all = counts.first + counts.last;
    size_t first = mode.arranged == PAIRS ? 2 * count_lanes(0, counts.first) : counts.first;
    const size_t lanes[2] = {first, all - first};
    unsigned char *to = row->sines + (mode.arranged == PAIRS ? 2 : 1) * size * i;
    __m512i vectors[2];
    to_floats(entries, mode.arranged, vectors);
    if (mode.dtype == PE_F32) {
        test_f32(row, counts, entries, test);
        store_vector(to, vectors[0], 4 * lanes[0], nontemporal);
        store_vector(apart ? row->cosines + size * i : to + 64, vectors[1], 4 * lanes[1],
                     nontemporal);
        return;
    }
    __m512i halves = to_16(vectors, lanes, test, mode.dtype, row);
    if (apart) {
        __m256i last = _mm512_extracti64x4_epi64(halves, 1);
        store_vector(to, halves, 2 * lanes[0], nontemporal);
        store_vector(row->cosines + size * i, _mm512_castsi256_si512(last), 2 * lanes[1],
                     nontemporal);
        return;
    }
    store_vector(to, halves, 2 * all, nontemporal);
}

/* Load the first `count` <= 8 doubles; the other lanes are 0. */
INLINED __m512d load_doubles(const double *from, size_t count)
{
    return count == 8 ? _mm512_loadu_pd(from)
                      : _mm512_maskz_loadu_pd((__mmask8)first_lanes(count, 8), from);
}

/* Write pairs [i, i + count), no more than a unit has, of the row ahead and, unless NULL, the
 * row behind. */
INLINED void rotate_unit(pe_sincos a, pe_sincos b, size_t i, size_t count, row_state *ahead,
                         row_state *behind, const first_test *test, rotation_mode mode)
{
    const unit_counts counts = count_entries(count, mode.arranged);
    unit forth, back;
    for (size_t v = 0; v < (mode.arranged == ALONE ? 4 : 2); v++) {
        size_t lanes = count_lanes(v % 2, v < 2 ? counts.first : counts.last), at = i + 8 * v;
        __m512d sin_a = load_doubles(a.sin + at, lanes),
                cos_a = load_doubles(a.cos + at, lanes);
        __m512d sin_b = load_doubles(b.sin + at, lanes),
                cos_b = load_doubles(b.cos + at, lanes);
        __m512d sin_cos = _mm512_mul_pd(sin_a, cos_b);
        forth.parts[v] = _mm512_fmadd_pd(cos_a, sin_b, sin_cos);
        back.parts[v] = _mm512_fnmadd_pd(cos_a, sin_b, sin_cos);
        if (mode.arranged == ALONE)
            continue;
        __m512d cos_cos = _mm512_mul_pd(cos_a, cos_b);
        forth.parts[2 + v] = _mm512_fnmadd_pd(sin_a, sin_b, cos_cos);
        back.parts[2 + v] = _mm512_fmadd_pd(sin_a, sin_b, cos_cos);
    }
    finish_unit(ahead, i, counts, &forth, test, mode);
    if (behind)
        finish_unit(behind, i, counts, &back, test, mode);
}

/* Write `count` pairs of the row ahead and, unless NULL, the row behind. */
INLINED void rotate_row(pe_sincos a, pe_sincos b, size_t count, row_state *ahead,
                        row_state *behind, const first_test *test, rotation_mode mode)
{
    const size_t step = mode.arranged == ALONE ? 32 : 16;
    size_t i = 0;
    for (; i + step <= count; i += step)
        rotate_unit(a, b, i, step, ahead, behind, test, mode);
    if (i < count)
        rotate_unit(a, b, i, count - i, ahead, behind, test, mode);
}

#undef INLINED

#endif
#endif
