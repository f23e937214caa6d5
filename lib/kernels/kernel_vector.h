/* Rotations in gcc's vector types, for every instruction set but AVX-512. Only kernel_rotate.h
 * includes this file.
 *
 * The rows ahead and behind share their products. The first test takes an addition and a
 * comparison of all halves of doubles with zero for f32, and of all halves of floats for f16
 * and bf16. */
#ifndef PE_KERNEL_VECTOR_H
#define PE_KERNEL_VECTOR_H

#include "kernels/kernel_nontemporal.h"
#include "kernels/kernel_round.h"

#define INLINED static inline __attribute__((always_inline))

#if defined(__AVX2__)
#define WIDTH 4
#else
#define WIDTH 2 /* SSE2, NEON */
#endif

/* Vectors of WIDTH doubles, and of as many bytes. */
typedef double doubles __attribute__((vector_size(8 * WIDTH)));
typedef float floats __attribute__((vector_size(8 * WIDTH)));
#if defined(__SSE2__)
typedef __m128 few_floats; /* WIDTH of them, and zeros */
#else
typedef float few_floats __attribute__((vector_size(4 * WIDTH)));
#endif
typedef uint64_t longs __attribute__((vector_size(8 * WIDTH)));
typedef uint32_t words __attribute__((vector_size(8 * WIDTH)));
typedef uint16_t shorts __attribute__((vector_size(8 * WIDTH)));
typedef int16_t signed_shorts __attribute__((vector_size(8 * WIDTH)));

/* Constants of the first test. The entry, plus `add`, is doubtful where all bits of one of its
 * halves that are set in `test` are clear. In the upper half that is the top bit of the
 * exponent, which is clear if an entry is small. The lower half are the bits that the dtype
 * drops, without those within the margin: they are clear if a rounding boundary is near. All
 * bits that are set are in 16 bits of the half, and never the first of these, so the least of
 * all signed 16-bit integers shows whether one is 0. bf16 drops 16 bits; of 15 only its test
 * also reports entries that are representable. */
typedef struct first_test {
    words add, test; /* f32: of doubles; f16, bf16: of floats */
    uint16_t bias;   /* f16, bf16: what `add` adds to a rounded entry */
} first_test;

INLINED first_test choose_test(pe_dtype dtype, int exponent)
{
    const uint32_t add = (uint32_t)(1 + SMALL_BITS - exponent);
    const unsigned dropped = dtype == PE_F16 ? F16_DROPPED : BF16_DROPPED;
    const words zero = {0};
    if (dtype == PE_F32) {
        const longs all_add = (longs)zero + ((uint64_t)add << 52 | TIE_ADD);
        const longs all_test = (longs)zero + ((uint64_t)1 << 62 | TIE_TEST);
        return (first_test){.add = (words)all_add, .test = (words)all_test};
    }
    return (first_test){.add = zero + ((add << 23) + (1U << (dropped - 1))),
                        .test = zero + (1U << 30 | (((1U << dropped) - 1) & 0x7fff)),
                        .bias = (uint16_t)(add << (23 - dropped))};
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

/* f32 tests no bits in the even parts. */
INLINED uint64_t has_failed(const row_state *row, pe_dtype dtype)
{
    const shorts zeros = (shorts)(row->least == 0);
#if WIDTH == 4
    const unsigned bytes = (unsigned)_mm256_movemask_epi8((__m256i)zeros);
#elif defined(__SSE2__)
    const unsigned bytes = (unsigned)_mm_movemask_epi8((__m128i)zeros);
#else
    uint16_t parts[4 * WIDTH];
    unsigned bytes = 0;
    memcpy(parts, &zeros, sizeof parts);
    for (size_t i = 0; i < 4 * WIDTH; i++)
        bytes |= parts[i] & 3U << 2 * (i % 2);
#endif
    return (bytes & (dtype == PE_F32 ? 0xcccccccc : 0xffffffff)) != 0;
}

/* Whether rows that begin at cache lines are stored past the caches without staging: there are
 * such stores of whole vectors alone. */
INLINED bool streams_directly(pe_dtype dtype, arrangement arranged)
{
    return dtype == PE_F32 || arranged != APART;
}

/* Store a vector. */
INLINED void store(unsigned char *to, const void *vector, bool nontemporal)
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

INLINED doubles load(const double *from)
{
    doubles loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

/* c + a·b and c - a·b, rounded once where there is such an instruction: other bits of the
 * double do not show, because an entry is rounded correctly or reported as doubtful. */
INLINED doubles add_product(doubles a, doubles b, doubles c)
{
#if defined(__FMA__)
    return (doubles)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return c + a * b;
#endif
}

INLINED doubles subtract_product(doubles a, doubles b, doubles c)
{
#if defined(__FMA__)
    return (doubles)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return c - a * b;
#endif
}

/* Conversion; the lanes of a, then those of b; the lanes of a and b by turns. */
#if WIDTH == 4
INLINED few_floats to_few_floats(doubles a)
{
    return _mm256_cvtpd_ps((__m256d)a);
}

INLINED floats join(few_floats a, few_floats b)
{
    return (floats)_mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
}

INLINED floats interleave(few_floats a, few_floats b)
{
    return join(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
}
#elif defined(__SSE2__)
INLINED few_floats to_few_floats(doubles a)
{
    return _mm_cvtpd_ps((__m128d)a);
}

INLINED floats join(few_floats a, few_floats b)
{
    return (floats)_mm_movelh_ps(a, b);
}

INLINED floats interleave(few_floats a, few_floats b)
{
    return (floats)_mm_unpacklo_ps(a, b);
}
#else
INLINED few_floats to_few_floats(doubles a)
{
    return __builtin_convertvector(a, few_floats);
}

INLINED floats join(few_floats a, few_floats b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3);
}

INLINED floats interleave(few_floats a, few_floats b)
{
    return __builtin_shufflevector(a, b, 0, 2, 1, 3);
}
#endif

/* The upper halves of the words of a, then of b. */
INLINED shorts upper_halves(words a, words b)
{
#if WIDTH == 4
    return __builtin_shufflevector((shorts)a, (shorts)b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21,
                                   23, 25, 27, 29, 31);
#else
    return __builtin_shufflevector((shorts)a, (shorts)b, 1, 3, 5, 7, 9, 11, 13, 15);
#endif
}

/* Test two vectors of floats and round them to 16 bits each. */
INLINED shorts to_16(const floats from[2], const first_test *test, pe_dtype dtype,
                     row_state *row)
{
    words lifted[2];
    for (size_t v = 0; v < 2; v++) {
        lifted[v] = (words)from[v] + test->add;
        test_vector(row, lifted[v], test);
        if (dtype == PE_F16) /* five bits of exponent and ten of mantissa below the sign */
            lifted[v] = (lifted[v] << (BF16_DROPPED - F16_DROPPED) & 0x7fffffff) |
                        (lifted[v] & 0x80000000);
    }
    shorts rounded = upper_halves(lifted[0], lifted[1]);
    if (dtype == PE_BF16)
        return rounded - test->bias;
    uint16_t bias = (uint16_t)(test->bias + (112 << 10));
    return ((rounded - bias) & 0x7fff) | (rounded & 0x8000);
}

/* Test, round and store the unit of pairs [i, …) of a row. */
INLINED void finish(row_state *row, size_t i, const unit *entries, const first_test *test,
                    rotation_mode mode)
{
    const size_t size = mode.dtype == PE_F32 ? 4 : 2;
    const arrangement arranged = mode.arranged;
    unsigned char *to = row->sines + (arranged == PAIRS ? 2 : 1) * size * i;
    few_floats parts[4];
    floats rounded[2];
    for (size_t v = 0; v < 4; v++)
        parts[v] = to_few_floats(entries->parts[v]);
    for (size_t v = 0; v < 2; v++)
        rounded[v] = arranged == PAIRS ? interleave(parts[v], parts[2 + v])
                                       : join(parts[2 * v], parts[2 * v + 1]);
    if (mode.dtype == PE_F32) {
        for (size_t v = 0; v < 4; v++)
            test_vector(row, (words)entries->parts[v] + test->add, test);
        store(to, &rounded[0], mode.nontemporal);
        store(arranged == APART ? row->cosines + size * i : to + sizeof rounded[0], &rounded[1],
              mode.nontemporal);
        return;
    }
    shorts halves = to_16(rounded, test, mode.dtype, row);
    if (arranged == APART) {
        memcpy(to, &halves, sizeof halves / 2);
        memcpy(row->cosines + size * i, (unsigned char *)&halves + sizeof halves / 2,
               sizeof halves / 2);
    } else {
        store(to, &halves, mode.nontemporal);
    }
}

/* Write the unit of pairs [i, …) of the row ahead and, unless NULL, the row behind. */
INLINED void rotate_unit(pe_sincos a, pe_sincos b, size_t i, row_state *ahead,
                         row_state *behind, const first_test *test, rotation_mode mode)
{
    unit forth, back;
    for (size_t v = 0; v < (mode.arranged == ALONE ? 4 : 2); v++) {
        size_t at = i + WIDTH * v;
        doubles sin_a = load(a.sin + at), cos_a = load(a.cos + at);
        doubles sin_b = load(b.sin + at), cos_b = load(b.cos + at);
        doubles sin_cos = sin_a * cos_b;
        forth.parts[v] = add_product(cos_a, sin_b, sin_cos);
        back.parts[v] = subtract_product(cos_a, sin_b, sin_cos);
        if (mode.arranged == ALONE)
            continue;
        doubles cos_cos = cos_a * cos_b;
        forth.parts[2 + v] = subtract_product(sin_a, sin_b, cos_cos);
        back.parts[2 + v] = add_product(sin_a, sin_b, cos_cos);
    }
    finish(ahead, i, &forth, test, mode);
    if (behind)
        finish(behind, i, &back, test, mode);
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
INLINED void rotate_rest(pe_sincos a, pe_sincos b, size_t i, size_t count, row_state *ahead,
                         row_state *behind, const first_test *test, rotation_mode mode)
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
        rotate_rest(a, b, i, count - i, ahead, behind, test, mode);
}

#undef INLINED

#endif
