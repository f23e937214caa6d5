/* Rotations in AVX-512 intrinsics, sixteen pairs at a time: included by kernel.c alone.
 *
 * The rows ahead and behind share products. Except for f64 these may be fused multiply-adds:
 * what they give is rounded correctly or found doubtful (kernel_round.h). Doubts are gathered
 * in mask registers, an addition and a test for eight entries of f32. Whole cache lines leave
 * the registers for memory, past the caches where that is asked for. */
#ifndef PE_KERNEL_AVX512_H
#define PE_KERNEL_AVX512_H

#include "kernel_round.h"
#include "kernel_stream.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__)

#define INLINED static inline __attribute__((always_inline))

/* What the first look adds and tests. After adding, the bit of 2 in the exponent is clear if an
 * entry is small; and the bits of a double that f32 drops are all clear, above the margin, if a
 * boundary is near, or those that f16 and bf16 drop of a float if it is a boundary. */
typedef struct wide_look {
    __m512i add, test;  /* f32: both, in the halves of doubles; else, of floats, the exponent */
    __m512i half, drop; /* f16, bf16: of floats */
} wide_look;

INLINED wide_look look_for(pe_dtype dtype, int exponent)
{
    unsigned add = (unsigned)(1 + SMALL_BITS - exponent);
    unsigned dropped = dtype == PE_F16 ? F16_DROPPED : BF16_DROPPED;
    uint64_t tie_add = (uint32_t)(F32_MARGIN - F32_HALF);
    uint64_t tie_test = (2 * F32_HALF - 1) & ~(2 * F32_MARGIN - 1);
    wide_look look = {
        .add = _mm512_set1_epi32((int)(add << 23)),
        .test = _mm512_set1_epi32(1 << 30),
        .half = _mm512_set1_epi32(1 << (dropped - 1)),
        .drop = _mm512_set1_epi32((1 << dropped) - 1),
    };
    if (dtype == PE_F32) {
        look.add = _mm512_set1_epi64((long long)((uint64_t)add << 52 | tie_add));
        look.test = _mm512_set1_epi64((long long)(1ULL << 62 | tie_test));
    }
    return look;
}

/* How a call stores: all constant where it is inlined. */
typedef struct wide_manner {
    pe_dtype dtype;
    bool apart, streamed;
} wide_manner;

/* A row on its way: where it goes, and the mask lanes that have passed every test so far. */
typedef struct wide_row {
    unsigned char *sines, *cosines;
    __mmask16 passed[2];
} wide_row;

/* Sixteen pairs: the unit of the loops, as it fills whole cache lines with f32. */
#define UNIT 16
typedef struct wide_unit {
    __m512d sin[2], cos[2];
} wide_unit;

INLINED unsigned first_lanes(size_t count, size_t width)
{
    return count >= width ? (1U << width) - 1 : (1U << count) - 1;
}

/* How many of `count` are in the second of two vectors of eight. */
INLINED size_t past_eight(size_t count)
{
    return count > 8 ? count - 8 : 0;
}

/* Test all lanes, or the first `count` alone. */
INLINED __mmask16 passes(__mmask16 before, __m512i value, __m512i test, size_t count)
{
    if (count < 16)
        value = _mm512_mask_mov_epi32(test, (__mmask16)first_lanes(count, 16), value);
    return _mm512_mask_test_epi32_mask(before, value, test);
}

/* Store the first `size` bytes of a vector: 32 or 64, or any other number where the table's
 * columns end. */
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

/* Look at 2·16 floats and round them to halves, of which `first` and `second` count. */
INLINED __m512i to_16(const __m512i floats[2], size_t first, size_t second,
                      const wide_look *look, pe_dtype dtype, wide_row *row)
{
    const size_t counts[2] = {first, second};
    __m512i lifted[2];
    for (size_t v = 0; v < 2; v++) {
        __m512i magnified = _mm512_add_epi32(floats[v], look->add);
        lifted[v] = _mm512_add_epi32(floats[v], look->half);
        row->passed[0] = passes(row->passed[0], lifted[v], look->drop, counts[v]);
        row->passed[1] = passes(row->passed[1], magnified, look->test, counts[v]);
    }
    if (dtype == PE_BF16) { /* the upper half of each */
        const __m512i odd =
            _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31,
                             29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
        return _mm512_permutex2var_epi16(lifted[0], odd, lifted[1]);
    }
    __m256i low = _mm512_cvtps_ph(_mm512_castsi512_ps(floats[0]), NEAREST);
    __m256i high = _mm512_cvtps_ph(_mm512_castsi512_ps(floats[1]), NEAREST);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* The floats of a unit in the order of the columns: sines and cosines by turns, or all sines
 * and then all cosines. */
INLINED void to_floats(const wide_unit *unit, bool apart, __m512i ret[2])
{
    const __m512i turns =
        _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i after =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    __m512 sin[2], cos[2];
    for (size_t v = 0; v < 2; v++) {
        sin[v] = _mm512_castps256_ps512(_mm512_cvtpd_ps(unit->sin[v]));
        cos[v] = _mm512_castps256_ps512(_mm512_cvtpd_ps(unit->cos[v]));
    }
    for (size_t v = 0; v < 2; v++)
        ret[v] =
            _mm512_castps_si512(apart ? v == 0 ? _mm512_permutex2var_ps(sin[0], after, sin[1])
                                               : _mm512_permutex2var_ps(cos[0], after, cos[1])
                                      : _mm512_permutex2var_ps(sin[v], turns, cos[v]));
}

/* The same of doubles, four vectors of them, without negative zeros. */
INLINED void to_doubles(const wide_unit *unit, bool apart, __m512i ret[4])
{
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    const __m512d zero = _mm512_setzero_pd();
    for (size_t v = 0; v < 2; v++) {
        __m512d sin = _mm512_add_pd(unit->sin[v], zero);
        __m512d cos = _mm512_add_pd(unit->cos[v], zero);
        ret[apart ? v : 2 * v] =
            _mm512_castpd_si512(apart ? sin : _mm512_permutex2var_pd(sin, low, cos));
        ret[apart ? v + 2 : 2 * v + 1] =
            _mm512_castpd_si512(apart ? cos : _mm512_permutex2var_pd(sin, high, cos));
    }
}

/* Look at, round and store the pairs from i on, `count` <= 16 of them. */
INLINED void finish(wide_row *row, size_t i, size_t count, const wide_unit *unit,
                    const wide_look *look, wide_manner manner)
{
    const bool streamed = manner.streamed;
    const size_t size = manner.dtype == PE_F64 ? 8 : manner.dtype == PE_F32 ? 4 : 2;
    const size_t bytes = (manner.apart ? 1 : 2) * size * count; /* at each place */
    unsigned char *sines = row->sines + (manner.apart ? 1 : 2) * size * i;
    unsigned char *cosines = manner.apart ? row->cosines + size * i : NULL;
    __m512i vectors[4];
    if (manner.dtype == PE_F64) {
        to_doubles(unit, manner.apart, vectors);
        for (size_t v = 0; v < 4; v++) {
            size_t at = 64 * (manner.apart ? v % 2 : v), left = bytes > at ? bytes - at : 0;
            store((manner.apart && v >= 2 ? cosines : sines) + at, vectors[v],
                  left < 64 ? left : 64, streamed);
        }
        return;
    }
    size_t first = manner.apart ? count : count < 8 ? 2 * count : 16;
    size_t second = 2 * count - first;
    to_floats(unit, manner.apart, vectors);
    if (manner.dtype == PE_F32) {
        for (size_t v = 0; v < 2; v++) {
            size_t lanes = 2 * (v == 0 ? count < 8 ? count : 8 : past_eight(count));
            __m512i of_sin = _mm512_castpd_si512(unit->sin[v]);
            __m512i of_cos = _mm512_castpd_si512(unit->cos[v]);
            row->passed[0] =
                passes(row->passed[0], _mm512_add_epi32(of_sin, look->add), look->test, lanes);
            row->passed[1] =
                passes(row->passed[1], _mm512_add_epi32(of_cos, look->add), look->test, lanes);
        }
        store(sines, vectors[0], 4 * first, streamed);
        store(manner.apart ? cosines : sines + 64, vectors[1], 4 * second, streamed);
        return;
    }
    __m512i halves = to_16(vectors, first, second, look, manner.dtype, row);
    store(sines, halves, bytes, streamed);
    if (manner.apart)
        store(cosines, _mm512_castsi256_si512(_mm512_extracti64x4_epi64(halves, 1)), bytes,
              streamed);
}

INLINED __m512d load(const double *from, size_t count)
{
    return count == 8 ? _mm512_loadu_pd(from)
                      : _mm512_maskz_loadu_pd((__mmask8)first_lanes(count, 8), from);
}

/* The pairs from i on, `count` <= 16 of them, of the row ahead and, unless NULL, that behind.
 * f64 goes without fusing. */
INLINED void rotate_unit(pe_sincos a, pe_sincos b, size_t i, size_t count, wide_row *ahead,
                         wide_row *behind, const wide_look *look, wide_manner manner)
{
    wide_unit forth, back;
    for (size_t v = 0; v < 2; v++) {
        size_t lanes = v == 0 ? count < 8 ? count : 8 : past_eight(count), at = i + 8 * v;
        __m512d sin_a = load(a.sin + at, lanes), cos_a = load(a.cos + at, lanes);
        __m512d sin_b = load(b.sin + at, lanes), cos_b = load(b.cos + at, lanes);
        __m512d across = _mm512_mul_pd(sin_a, cos_b), along = _mm512_mul_pd(cos_a, cos_b);
        if (manner.dtype == PE_F64) {
            __m512d swap = _mm512_mul_pd(cos_a, sin_b), down = _mm512_mul_pd(sin_a, sin_b);
            forth.sin[v] = _mm512_add_pd(across, swap);
            forth.cos[v] = _mm512_sub_pd(along, down);
            back.sin[v] = _mm512_sub_pd(across, swap);
            back.cos[v] = _mm512_add_pd(along, down);
        } else {
            forth.sin[v] = _mm512_fmadd_pd(cos_a, sin_b, across);
            forth.cos[v] = _mm512_fnmadd_pd(sin_a, sin_b, along);
            back.sin[v] = _mm512_fnmadd_pd(cos_a, sin_b, across);
            back.cos[v] = _mm512_fmadd_pd(sin_a, sin_b, along);
        }
    }
    finish(ahead, i, count, &forth, look, manner);
    if (behind)
        finish(behind, i, count, &back, look, manner);
}

INLINED wide_row row_at(const pe_rows *rows, size_t r)
{
    ptrdiff_t way = (ptrdiff_t)r * rows->stride;
    return (wide_row){
        rows->sines + way, rows->cosines ? rows->cosines + way : NULL, {0xffff, 0xffff}};
}

INLINED uint64_t has_failed(const wide_row *row)
{
    return (row->passed[0] & row->passed[1]) != 0xffff;
}

/* The rows that the first look doubts. */
INLINED pe_doubts first_wide(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                             const pe_rows *ahead, const pe_rows *behind, int exponent,
                             wide_manner manner)
{
    const wide_look look = look_for(manner.dtype, exponent);
    const pe_rows to_ahead = *ahead, to_behind = behind ? *behind : *ahead; /* in registers */
    pe_doubts doubts = {0, 0};
    for (size_t r = 0; r < rows; r++) {
        const pe_sincos by = b[r];
        wide_row forth = row_at(&to_ahead, r), back = row_at(&to_behind, r);
        size_t i = 0;
        for (; i + UNIT <= count; i += UNIT)
            rotate_unit(a, by, i, UNIT, &forth, behind ? &back : NULL, &look, manner);
        if (i < count)
            rotate_unit(a, by, i, count - i, &forth, behind ? &back : NULL, &look, manner);
        doubts.ahead |= has_failed(&forth) << r;
        if (behind)
            doubts.behind |= has_failed(&back) << r;
    }
    return doubts;
}

/* The second look at those of the rows on one side; which of them have uncertain entries. */
static uint64_t second_wide(pe_sincos a, const pe_sincos *b, size_t count, bool back,
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

/* Whether all rows begin at cache lines. */
static inline bool are_lines(const pe_rows *rows)
{
    uintptr_t all = (uintptr_t)rows->sines | (uintptr_t)rows->cosines;
    return (all | (uintptr_t)rows->stride) % 64 == 0;
}

/* One row pair or row at a time into the cache, and from there past it. */
INLINED pe_doubts first_staged(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
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
        pe_doubts one = first_wide(a, &b[r], 1, count, &to[0], behind ? &to[1] : NULL, exponent,
                                   (wide_manner){dtype, apart, false});
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

INLINED pe_doubts first_look(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                             const pe_rows *ahead, const pe_rows *behind, pe_rounding rounding,
                             pe_dtype dtype, bool apart)
{
    const int exponent = rounding.exponent;
    const wide_manner cached = {dtype, apart, false}, streamed = {dtype, apart, true};
    if (rounding.streamed && !(are_lines(ahead) && (!behind || are_lines(behind))))
        return first_staged(a, b, rows, count, ahead, behind, exponent, dtype, apart);
    if (rounding.streamed && behind)
        return first_wide(a, b, rows, count, ahead, behind, exponent, streamed);
    if (rounding.streamed)
        return first_wide(a, b, rows, count, ahead, NULL, exponent, streamed);
    if (behind)
        return first_wide(a, b, rows, count, ahead, behind, exponent, cached);
    return first_wide(a, b, rows, count, ahead, NULL, exponent, cached);
}

#define ROTATE_WIDE(name, dtype, second)                                                       \
    static pe_doubts name(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,          \
                          const pe_rows *ahead, const pe_rows *behind, pe_rounding rounding)   \
    {                                                                                          \
        int exponent = rounding.exponent;                                                      \
        pe_doubts doubts =                                                                     \
            ahead->cosines                                                                     \
                ? first_look(a, b, rows, count, ahead, behind, rounding, dtype, true)          \
                : first_look(a, b, rows, count, ahead, behind, rounding, dtype, false);        \
        if (dtype == PE_F64)                                                                   \
            return (pe_doubts){0, 0};                                                          \
        doubts.ahead = second_wide(a, b, count, false, ahead, doubts.ahead, exponent, second); \
        doubts.behind =                                                                        \
            second_wide(a, b, count, true, behind, doubts.behind, exponent, second);           \
        return doubts;                                                                         \
    }
ROTATE_WIDE(rotate_f32, PE_F32, second_f32)
ROTATE_WIDE(rotate_f64, PE_F64, round_f64)
ROTATE_WIDE(rotate_f16, PE_F16, second_f16)
ROTATE_WIDE(rotate_bf16, PE_BF16, second_bf16)

#undef INLINED

#endif
#endif
