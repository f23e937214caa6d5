/* Rotations in AVX-512 intrinsics, sixteen pairs at a time. Only kernel.c includes this file.
 *
 * The rows ahead and behind share their products. For f32, f16 and bf16 the sums are fused
 * multiply-adds: other bits of the double do not show, because an entry is rounded correctly or
 * reported as doubtful (kernel_round.h). The first test takes one addition and one masked test
 * for eight entries of f32, and collects its results in mask registers. Whole cache lines are
 * stored from registers, with non-temporal stores where the caller asks for them. */
#ifndef PE_KERNEL_AVX512_H
#define PE_KERNEL_AVX512_H

#include "kernels/kernel_round.h"
#include "kernels/kernel_stream.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__)

#define INLINED static inline __attribute__((always_inline))

/* Constants of the first test. After `add`, the top bit of the exponent is clear if an entry is
 * small. For f32 the other half of the double is tested by the same instructions: of the bits
 * that f32 drops, those above the margin are clear after `add` if a rounding boundary is near.
 * For f16 and bf16 all dropped bits of the float are clear after `half` if it is half-way. */
typedef struct wide_test {
    __m512i add, test;  /* f32: for halves of doubles; f16, bf16: for floats */
    __m512i half, drop; /* f16, bf16 */
} wide_test;

INLINED wide_test test_for(pe_dtype dtype, int exponent)
{
    unsigned add = (unsigned)(1 + SMALL_BITS - exponent);
    unsigned dropped = dtype == PE_F16 ? F16_DROPPED : BF16_DROPPED;
    uint64_t tie_add = (uint32_t)(F32_MARGIN - F32_HALF);
    uint64_t tie_test = (2 * F32_HALF - 1) & ~(2 * F32_MARGIN - 1);
    wide_test test = {
        .add = _mm512_set1_epi32((int)(add << 23)),
        .test = _mm512_set1_epi32(1 << 30),
        .half = _mm512_set1_epi32(1 << (dropped - 1)),
        .drop = _mm512_set1_epi32((1 << dropped) - 1),
    };
    if (dtype == PE_F32) {
        test.add = _mm512_set1_epi64((long long)((uint64_t)add << 52 | tie_add));
        test.test = _mm512_set1_epi64((long long)(1ULL << 62 | tie_test));
    }
    return test;
}

/* How a call stores its rows: constants after inlining. */
typedef struct wide_mode {
    pe_dtype dtype;
    bool apart;    /* sines and cosines are stored apart, not interleaved */
    bool streamed; /* non-temporal stores */
} wide_mode;

/* A row that is being written: where it is stored, and the lanes that have passed all tests so
 * far. */
typedef struct wide_row {
    unsigned char *sines, *cosines;
    __mmask16 passed[2];
} wide_row;

/* The loops handle sixteen pairs at a time, which fill whole cache lines of f32. */
#define UNIT 16
typedef struct wide_unit {
    __m512d sin[2], cos[2];
} wide_unit;

/* A mask of the first `count` of `width` lanes. */
INLINED unsigned first_lanes(size_t count, size_t width)
{
    return count >= width ? (1U << width) - 1 : (1U << count) - 1;
}

/* How many of `count` pairs are in vector v (0 or 1) of the two vectors of eight. */
INLINED size_t pairs_in(size_t v, size_t count)
{
    if (v == 0)
        return count < 8 ? count : 8;
    return count > 8 ? count - 8 : 0;
}

/* The lanes of `before` that pass: those where value & test is not 0. Lanes from `count` on
 * pass always. */
INLINED __mmask16 passes(__mmask16 before, __m512i value, __m512i test, size_t count)
{
    if (count < 16)
        value = _mm512_mask_mov_epi32(test, (__mmask16)first_lanes(count, 16), value);
    return _mm512_mask_test_epi32_mask(before, value, test);
}

/* Store the first `size` bytes of a vector: 32 or 64, or fewer at the end of the columns. */
INLINED void store(unsigned char *to, __m512i value, size_t size, bool streamed)
{
    __m256i low = _mm512_castsi512_si256(value);
    if (size == 64 && streamed)
        _mm512_stream_si512((__m512i *)(void *)to, value);
    else if (size == 64)
        _mm512_storeu_si512(to, value);
    else if (size == 32 && streamed)
        _mm256_stream_si256((__m256i *)(void *)to, low);
    else if (size == 32)
        _mm256_storeu_si256((__m256i *)(void *)to, low);
    else if (size > 0)
        _mm512_mask_storeu_epi8(to, ~0ULL >> (64 - size), value);
}

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* Test two vectors of 16 floats and round them to 16 bits each. Only the first counts[v] lanes
 * of vector v are used. */
INLINED __m512i to_16(const __m512i floats[2], const size_t counts[2], const wide_test *test,
                      pe_dtype dtype, wide_row *row)
{
    __m512i lifted[2];
    for (size_t v = 0; v < 2; v++) {
        __m512i magnified = _mm512_add_epi32(floats[v], test->add);
        lifted[v] = _mm512_add_epi32(floats[v], test->half);
        row->passed[0] = passes(row->passed[0], lifted[v], test->drop, counts[v]);
        row->passed[1] = passes(row->passed[1], magnified, test->test, counts[v]);
    }
    if (dtype == PE_BF16) { /* keep the upper half of each float */
        const __m512i odd =
            _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31,
                             29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
        return _mm512_permutex2var_epi16(lifted[0], odd, lifted[1]);
    }
    __m256i low = _mm512_cvtps_ph(_mm512_castsi512_ps(floats[0]), NEAREST);
    __m256i high = _mm512_cvtps_ph(_mm512_castsi512_ps(floats[1]), NEAREST);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* Round a unit to floats in the order of the columns: all sines, then all cosines if `apart`,
 * otherwise interleaved. */
INLINED void to_floats(const wide_unit *unit, bool apart, __m512i ret[2])
{
    const __m512i interleave =
        _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i join =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    __m512 sin[2], cos[2];
    for (size_t v = 0; v < 2; v++) {
        sin[v] = _mm512_castps256_ps512(_mm512_cvtpd_ps(unit->sin[v]));
        cos[v] = _mm512_castps256_ps512(_mm512_cvtpd_ps(unit->cos[v]));
    }
    if (apart) {
        ret[0] = _mm512_castps_si512(_mm512_permutex2var_ps(sin[0], join, sin[1]));
        ret[1] = _mm512_castps_si512(_mm512_permutex2var_ps(cos[0], join, cos[1]));
        return;
    }
    for (size_t v = 0; v < 2; v++)
        ret[v] = _mm512_castps_si512(_mm512_permutex2var_ps(sin[v], interleave, cos[v]));
}

/* The same for f64, in four vectors. Adding zero removes negative zeros. */
INLINED void to_doubles(const wide_unit *unit, bool apart, __m512i ret[4])
{
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    const __m512d zero = _mm512_setzero_pd();
    for (size_t v = 0; v < 2; v++) {
        __m512d sin = _mm512_add_pd(unit->sin[v], zero);
        __m512d cos = _mm512_add_pd(unit->cos[v], zero);
        if (apart) {
            ret[v] = _mm512_castpd_si512(sin);
            ret[2 + v] = _mm512_castpd_si512(cos);
        } else {
            ret[2 * v] = _mm512_castpd_si512(_mm512_permutex2var_pd(sin, low, cos));
            ret[2 * v + 1] = _mm512_castpd_si512(_mm512_permutex2var_pd(sin, high, cos));
        }
    }
}

/* Store the first `bytes` bytes of some consecutive vectors. */
INLINED void store_all(unsigned char *to, const __m512i *vectors, size_t count, size_t bytes,
                       bool streamed)
{
    for (size_t v = 0; v < count; v++) {
        size_t left = bytes > 64 * v ? bytes - 64 * v : 0;
        store(to + 64 * v, vectors[v], left < 64 ? left : 64, streamed);
    }
}

/* Test `count` pairs for f32. */
INLINED void test_f32(wide_row *row, size_t count, const wide_unit *unit, const wide_test *test)
{
    for (size_t v = 0; v < 2; v++) {
        size_t lanes = 2 * pairs_in(v, count);
        __m512i sin = _mm512_add_epi32(_mm512_castpd_si512(unit->sin[v]), test->add);
        __m512i cos = _mm512_add_epi32(_mm512_castpd_si512(unit->cos[v]), test->add);
        row->passed[0] = passes(row->passed[0], sin, test->test, lanes);
        row->passed[1] = passes(row->passed[1], cos, test->test, lanes);
    }
}

/* Test, round and store pairs [i, i + count) of a row, count <= 16. */
INLINED void finish(wide_row *row, size_t i, size_t count, const wide_unit *unit,
                    const wide_test *test, wide_mode mode)
{
    const size_t size = mode.dtype == PE_F64 ? 8 : mode.dtype == PE_F32 ? 4 : 2;
    const size_t elements = mode.apart ? 1 : 2; /* per pair, at each place */
    const size_t bytes = elements * size * count;
    unsigned char *sines = row->sines + elements * size * i;
    unsigned char *cosines = mode.apart ? row->cosines + size * i : NULL;
    __m512i vectors[4];
    if (mode.dtype == PE_F64) {
        to_doubles(unit, mode.apart, vectors);
        store_all(sines, vectors, mode.apart ? 2 : 4, bytes, mode.streamed);
        if (mode.apart)
            store_all(cosines, vectors + 2, 2, bytes, mode.streamed);
        return;
    }
    size_t first = mode.apart ? count : 2 * pairs_in(0, count);
    const size_t counts[2] = {first, 2 * count - first};
    to_floats(unit, mode.apart, vectors);
    if (mode.dtype == PE_F32) {
        test_f32(row, count, unit, test);
        store(sines, vectors[0], 4 * counts[0], mode.streamed);
        store(mode.apart ? cosines : sines + 64, vectors[1], 4 * counts[1], mode.streamed);
        return;
    }
    __m512i halves = to_16(vectors, counts, test, mode.dtype, row);
    store(sines, halves, bytes, mode.streamed);
    if (mode.apart)
        store(cosines, _mm512_castsi256_si512(_mm512_extracti64x4_epi64(halves, 1)), bytes,
              mode.streamed);
}

/* Load the first `count` <= 8 doubles; the other lanes are 0. */
INLINED __m512d load(const double *from, size_t count)
{
    return count == 8 ? _mm512_loadu_pd(from)
                      : _mm512_maskz_loadu_pd((__mmask8)first_lanes(count, 8), from);
}

/* Write pairs [i, i + count), count <= 16, of the row ahead and, unless NULL, the row behind.
 * f64 must not use fused multiply-adds. */
INLINED void rotate_unit(pe_sincos a, pe_sincos b, size_t i, size_t count, wide_row *ahead,
                         wide_row *behind, const wide_test *test, wide_mode mode)
{
    wide_unit forth, back;
    for (size_t v = 0; v < 2; v++) {
        size_t lanes = pairs_in(v, count), at = i + 8 * v;
        __m512d sin_a = load(a.sin + at, lanes), cos_a = load(a.cos + at, lanes);
        __m512d sin_b = load(b.sin + at, lanes), cos_b = load(b.cos + at, lanes);
        __m512d sin_cos = _mm512_mul_pd(sin_a, cos_b), cos_cos = _mm512_mul_pd(cos_a, cos_b);
        if (mode.dtype == PE_F64) {
            __m512d cos_sin = _mm512_mul_pd(cos_a, sin_b);
            __m512d sin_sin = _mm512_mul_pd(sin_a, sin_b);
            forth.sin[v] = _mm512_add_pd(sin_cos, cos_sin);
            forth.cos[v] = _mm512_sub_pd(cos_cos, sin_sin);
            back.sin[v] = _mm512_sub_pd(sin_cos, cos_sin);
            back.cos[v] = _mm512_add_pd(cos_cos, sin_sin);
        } else {
            forth.sin[v] = _mm512_fmadd_pd(cos_a, sin_b, sin_cos);
            forth.cos[v] = _mm512_fnmadd_pd(sin_a, sin_b, cos_cos);
            back.sin[v] = _mm512_fnmadd_pd(cos_a, sin_b, sin_cos);
            back.cos[v] = _mm512_fmadd_pd(sin_a, sin_b, cos_cos);
        }
    }
    finish(ahead, i, count, &forth, test, mode);
    if (behind)
        finish(behind, i, count, &back, test, mode);
}

INLINED wide_row row_at(const pe_rows *rows, size_t r)
{
    ptrdiff_t offset = (ptrdiff_t)r * rows->stride;
    return (wide_row){.sines = rows->sines + offset,
                      .cosines = rows->cosines ? rows->cosines + offset : NULL,
                      .passed = {0xffff, 0xffff}};
}

INLINED uint64_t has_failed(const wide_row *row)
{
    return (row->passed[0] & row->passed[1]) != 0xffff;
}

/* Write all rows. Returns the rows that the first test reports. */
INLINED pe_doubts rotate_wide(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                              const pe_rows *ahead, const pe_rows *behind, int exponent,
                              wide_mode mode)
{
    const wide_test test = test_for(mode.dtype, exponent);
    const pe_rows to_ahead = *ahead, to_behind = behind ? *behind : *ahead; /* in registers */
    pe_doubts doubts = {0, 0};
    for (size_t r = 0; r < rows; r++) {
        const pe_sincos angle = b[r];
        wide_row forth = row_at(&to_ahead, r), back = row_at(&to_behind, r);
        size_t i = 0;
        for (; i + UNIT <= count; i += UNIT)
            rotate_unit(a, angle, i, UNIT, &forth, behind ? &back : NULL, &test, mode);
        if (i < count)
            rotate_unit(a, angle, i, count - i, &forth, behind ? &back : NULL, &test, mode);
        doubts.ahead |= has_failed(&forth) << r;
        if (behind)
            doubts.behind |= has_failed(&back) << r;
    }
    return doubts;
}

/* Rotate the doubtful rows of one side again and apply the second test. Returns the rows that
 * have uncertain entries. */
static uint64_t test_again(pe_sincos a, const pe_sincos *b, size_t count, bool back,
                           const pe_rows *rows, uint64_t doubtful, int exponent,
                           round_row *second)
{
    _Alignas(64) double sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    uint64_t uncertain = 0;
    for (; doubtful; doubtful &= doubtful - 1) {
        size_t r = (size_t)__builtin_ctzll(doubtful);
        wide_row row = row_at(rows, r);
        if (back)
            turn(a, b[r], true, count, sines, cosines);
        else
            turn(a, b[r], false, count, sines, cosines);
        uncertain |= (uint64_t)second(sines, cosines, count, exponent, row.sines, row.cosines)
                     << r;
    }
    return uncertain;
}

/* Whether every row begins at a cache line. */
static inline bool are_aligned(const pe_rows *rows)
{
    uintptr_t all = (uintptr_t)rows->sines | (uintptr_t)rows->cosines;
    return (all | (uintptr_t)rows->stride) % 64 == 0;
}

/* Write each row into a buffer that stays in the L1 cache, then copy it with non-temporal
 * stores: these need whole cache lines. Returns the rows that the first test reports. */
INLINED pe_doubts rotate_staged(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                                const pe_rows *ahead, const pe_rows *behind, int exponent,
                                pe_dtype dtype, bool apart)
{
    _Alignas(64) unsigned char staged[2][2 * PE_KERNEL_PAIRS * sizeof(double)];
    const size_t size = dtype == PE_F64 ? 8 : dtype == PE_F32 ? 4 : 2;
    const pe_rows *sides[2] = {ahead, behind};
    pe_rows to[2];
    pe_doubts doubts = {0, 0};
    for (size_t s = 0; s < 2; s++)
        to[s] = (pe_rows){staged[s], apart ? staged[s] + PE_KERNEL_PAIRS * size : NULL, 0};
    for (size_t r = 0; r < rows; r++) {
        pe_doubts one = rotate_wide(a, &b[r], 1, count, &to[0], behind ? &to[1] : NULL,
                                    exponent, (wide_mode){dtype, apart, false});
        doubts.ahead |= one.ahead << r;
        doubts.behind |= one.behind << r;
        for (size_t s = 0; s < 2 && sides[s]; s++) {
            wide_row row = row_at(sides[s], r);
            stream(row.sines, to[s].sines, (apart ? 1 : 2) * size * count);
            if (apart)
                stream(row.cosines, to[s].cosines, size * count);
        }
    }
    return doubts;
}

/* Choose the loop. Each call of rotate_wide is inlined with constants of its own. */
INLINED pe_doubts rotate_and_test(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                                  const pe_rows *ahead, const pe_rows *behind,
                                  pe_rounding rounding, pe_dtype dtype, bool apart)
{
    const int exponent = rounding.exponent;
    const wide_mode cached = {dtype, apart, .streamed = false};
    const wide_mode streamed = {dtype, apart, .streamed = true};
    if (rounding.streamed && !(are_aligned(ahead) && (!behind || are_aligned(behind))))
        return rotate_staged(a, b, rows, count, ahead, behind, exponent, dtype, apart);
    if (rounding.streamed && behind)
        return rotate_wide(a, b, rows, count, ahead, behind, exponent, streamed);
    if (rounding.streamed)
        return rotate_wide(a, b, rows, count, ahead, NULL, exponent, streamed);
    if (behind)
        return rotate_wide(a, b, rows, count, ahead, behind, exponent, cached);
    return rotate_wide(a, b, rows, count, ahead, NULL, exponent, cached);
}

#define ROTATE_WIDE(name, dtype, second)                                                       \
    static pe_doubts name(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,          \
                          const pe_rows *ahead, const pe_rows *behind, pe_rounding rounding)   \
    {                                                                                          \
        int exponent = rounding.exponent;                                                      \
        pe_doubts doubts;                                                                      \
        if (ahead->cosines)                                                                    \
            doubts = rotate_and_test(a, b, rows, count, ahead, behind, rounding, dtype, true); \
        else                                                                                   \
            doubts =                                                                           \
                rotate_and_test(a, b, rows, count, ahead, behind, rounding, dtype, false);     \
        if (dtype == PE_F64)                                                                   \
            return (pe_doubts){0, 0};                                                          \
        doubts.ahead = test_again(a, b, count, false, ahead, doubts.ahead, exponent, second);  \
        doubts.behind =                                                                        \
            test_again(a, b, count, true, behind, doubts.behind, exponent, second);            \
        return doubts;                                                                         \
    }
ROTATE_WIDE(rotate_f32, PE_F32, second_f32)
ROTATE_WIDE(rotate_f64, PE_F64, round_f64)
ROTATE_WIDE(rotate_f16, PE_F16, second_f16)
ROTATE_WIDE(rotate_bf16, PE_BF16, second_bf16)

#undef INLINED

#endif
#endif
