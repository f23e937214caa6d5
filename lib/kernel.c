/* The kernel's loops. Compiled several times, each with another -march and its own names. */
#include "kernel.h"

#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef PE_KERNEL_SYMBOL
#define PE_KERNEL_SYMBOL pe_kernel_generic
#define PE_KERNEL_NAME   "generic"
#define PE_PRINT_SYMBOL  pe_print_batches_generic
#define PE_MATRIX_SYMBOL pe_matrix_multiply_generic
#define PE_PAIRS_SYMBOL  pe_pairs_generic
#endif

extern const pe_kernel PE_KERNEL_SYMBOL;
extern const pe_print_batches PE_PRINT_SYMBOL;
extern pe_matrix_multiply PE_MATRIX_SYMBOL;
extern pe_pairs PE_PAIRS_SYMBOL;

static inline uint64_t bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint32_t bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- seeds ---- */

#define TURN 0x1.921fb54442d18p+2 /* 2π */

/* From the nearest 64th of a turn, by Taylor series of the rest x, |x| <= π/64, whose terms are
 * so small against the table's entry that plain doubles serve. */
static void seed(const uint64_t *restrict phases, size_t count, double *restrict ret_sin,
                 double *restrict ret_cos)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t step = (phases[i] + (1ULL << 57)) >> 58;
        int64_t rest = (int64_t)(phases[i] - (step << 58));
        /* in two halves of 32 bits, which every instruction set can turn into doubles */
        int32_t low = (int32_t)(uint32_t)(uint64_t)rest;
        int32_t high = (int32_t)((rest - low) >> 32);
        double x = (double)high * (TURN * 0x1p-32) + (double)low * (TURN * 0x1p-64);
        double square = x * x;
        double sine =
            x +
            x * square *
                (-0x1.5555555555555p-3 +
                 square * (0x1.1111111111111p-7 +
                           square * (-0x1.a01a01a01a01ap-13 + square * 0x1.71de3a556c734p-19)));
        double versine = square * (-0.5 + square * (0x1.5555555555555p-5 +
                                                    square * (-0x1.6c16c16c16c17p-10 +
                                                              square * 0x1.a01a01a01a01ap-16)));
        const pe_kernel_row *row = &pe_kernel_table[step & 63];
        ret_sin[i] = row->sin + (row->sin_rest + (row->sin * versine + row->cos * sine));
        ret_cos[i] = row->cos + (row->cos_rest + (row->cos * versine - row->sin * sine));
    }
}

static void advance(uint64_t *restrict high, uint64_t *restrict low,
                    const uint64_t *restrict step_high, const uint64_t *restrict step_low,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = low[i] + step_low[i];
        high[i] += step_high[i] + (sum < low[i]);
        low[i] = sum;
    }
}

/* ---- copies past the caches ---- */

#if defined(__AVX512F__)
#define LINE 64
#define STREAM_LINE(dst, src)                                                                  \
    _mm512_stream_si512((__m512i *)(void *)(dst), _mm512_loadu_si512((const void *)(src)))
#elif defined(__AVX__)
#define LINE 32
#define STREAM_LINE(dst, src)                                                                  \
    _mm256_stream_si256((__m256i *)(void *)(dst),                                              \
                        _mm256_loadu_si256((const __m256i *)(const void *)(src)))
#elif defined(__SSE2__)
#define LINE 16
#define STREAM_LINE(dst, src)                                                                  \
    _mm_stream_si128((__m128i *)(void *)(dst),                                                 \
                     _mm_loadu_si128((const __m128i *)(const void *)(src)))
#endif

static void stream(void *dst, const void *src, size_t size)
{
#if defined(LINE)
    unsigned char *to = dst;
    const unsigned char *from = src;
    size_t lead = (LINE - (uintptr_t)to % LINE) % LINE;
    lead = lead < size ? lead : size;
    memcpy(to, from, lead);
    for (to += lead, from += lead, size -= lead; size >= LINE;
         to += LINE, from += LINE, size -= LINE)
        STREAM_LINE(to, from);
    memcpy(to, from, size);
#else
    memcpy(dst, src, size);
#endif
}

static void fence(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* ---- rotation and rounding ----
 *
 * An entry y is doubtful if a rounding boundary lies within 2^-50. Boundaries of a format that
 * drops n bits of a double's significand lie where these n bits are 100…0. For |y| >= 2^-15 the
 * distance 2^-50 is at most MARGIN units of the last place, so "dropped bits within MARGIN of
 * 100…0" covers it; smaller entries all count as doubtful. */
#define MARGIN    (1ULL << 17)
#define SMALLEST  0x3f00000000000000 /* bits of 2^-15 */
#define MAGNITUDE 0x7fffffffffffffff

/* The dropped bits of f32, moved to the top of a word so that the boundary is at 0. */
static inline uint32_t f32_doubt(double value)
{
    return ((uint32_t)bits64(value) << 3) + (0x80000000U + (uint32_t)(MARGIN << 3));
}
#define F32_DOUBTFUL (MARGIN << 4)
/* All exponents from that of 2^-15 to that of 1 share these bits, and none below has them all.
 */
#define F32_EXPONENT 0x38000000U

#define SINE(i)   (a.sin[i] * b.cos[i] + a.cos[i] * b.sin[i])
#define COSINE(i) (a.cos[i] * b.cos[i] - a.sin[i] * b.sin[i])

static inline bool rotate_f32_by_turns(pe_sincos a, pe_sincos b, size_t count,
                                       float *restrict dst)
{
    uint32_t nearest = ~0U, common = ~0U;
    for (size_t i = 0; i < count; i++) {
        double sine = SINE(i), cosine = COSINE(i);
        float sine32 = (float)sine, cosine32 = (float)cosine;
        uint32_t of_sine = f32_doubt(sine), of_cosine = f32_doubt(cosine);
        nearest = nearest < of_sine ? nearest : of_sine;
        nearest = nearest < of_cosine ? nearest : of_cosine;
        common &= bits32(sine32) & bits32(cosine32);
        dst[2 * i] = sine32;
        dst[2 * i + 1] = cosine32;
    }
    return nearest < F32_DOUBTFUL || (common & F32_EXPONENT) != F32_EXPONENT;
}

static inline bool rotate_f32_apart(pe_sincos a, pe_sincos b, size_t count,
                                    float *restrict sines, float *restrict cosines)
{
    uint32_t nearest = ~0U, common = ~0U;
    for (size_t i = 0; i < count; i++) {
        double sine = SINE(i), cosine = COSINE(i);
        float sine32 = (float)sine, cosine32 = (float)cosine;
        uint32_t of_sine = f32_doubt(sine), of_cosine = f32_doubt(cosine);
        nearest = nearest < of_sine ? nearest : of_sine;
        nearest = nearest < of_cosine ? nearest : of_cosine;
        common &= bits32(sine32) & bits32(cosine32);
        sines[i] = sine32;
        cosines[i] = cosine32;
    }
    return nearest < F32_DOUBTFUL || (common & F32_EXPONENT) != F32_EXPONENT;
}

/* The second look, where the quick test raised a doubt, mostly for nothing: whether some entry
 * does round differently at both ends of its interval. */
static bool is_uncertain_f32(pe_sincos a, pe_sincos b, size_t count)
{
    uint32_t differences = 0;
    for (size_t i = 0; i < count; i++) {
        double sine = SINE(i), cosine = COSINE(i);
        differences |= bits32((float)(sine - 0x1p-50)) ^ bits32((float)(sine + 0x1p-50));
        differences |= bits32((float)(cosine - 0x1p-50)) ^ bits32((float)(cosine + 0x1p-50));
    }
    return differences != 0;
}

static inline bool round_f32(pe_sincos a, pe_sincos b, size_t count, void *sines, void *cosines)
{
    bool doubtful = cosines ? rotate_f32_apart(a, b, count, sines, cosines)
                            : rotate_f32_by_turns(a, b, count, sines);
    return doubtful && is_uncertain_f32(a, b, count);
}

static inline bool round_f64(pe_sincos a, pe_sincos b, size_t count, void *sines, void *cosines)
{
    double *restrict sine = sines, *restrict cosine = cosines;
    if (cosines)
        for (size_t i = 0; i < count; i++) {
            sine[i] = SINE(i) + 0.0; /* no negative zero */
            cosine[i] = COSINE(i) + 0.0;
        }
    else
        for (size_t i = 0; i < count; i++) {
            sine[2 * i] = SINE(i) + 0.0;
            sine[2 * i + 1] = COSINE(i) + 0.0;
        }
    return false;
}

/* Round to a 16-bit format that drops `drop` bits and whose exponents are `bias` less, ties to
 * even. Right for entries that are not doubtful and not subnormal in the format. */
static inline uint16_t round_16(uint64_t bits, unsigned drop, uint64_t bias)
{
    uint64_t magnitude = bits & MAGNITUDE;
    uint64_t rounded =
        (magnitude + (1ULL << (drop - 1)) - 1 + ((magnitude >> drop) & 1)) >> drop;
    return (uint16_t)((bits >> 48 & 0x8000) | (rounded - (bias << (52 - drop))));
}

static inline uint64_t doubt_16(uint64_t bits, unsigned drop)
{
    return (bits + (1ULL << (drop - 1)) + MARGIN) & ((1ULL << drop) - 1);
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline bool rotate_16(pe_sincos a, pe_sincos b, size_t count, uint16_t *restrict sines,
                             uint16_t *restrict cosines, unsigned drop, uint64_t bias,
                             uint64_t smallest)
{
    uint64_t nearest = ~0ULL, lowest = ~0ULL;
    for (size_t i = 0; i < count; i++) {
        uint64_t sine = bits64(SINE(i)), cosine = bits64(COSINE(i));
        nearest = least(nearest, least(doubt_16(sine, drop), doubt_16(cosine, drop)));
        lowest = least(lowest, least(sine & MAGNITUDE, cosine & MAGNITUDE));
        sines[cosines ? i : 2 * i] = round_16(sine, drop, bias);
        (cosines ? cosines : sines + 1)[cosines ? i : 2 * i] = round_16(cosine, drop, bias);
    }
    return nearest < 2 * MARGIN || lowest < smallest;
}

static inline bool round_f16(pe_sincos a, pe_sincos b, size_t count, void *sines, void *cosines)
{
    const uint64_t smallest_normal = 0x3f10000000000000; /* 2^-14 */
    if (cosines)
        return rotate_16(a, b, count, sines, cosines, 42, 1008, smallest_normal);
    return rotate_16(a, b, count, sines, NULL, 42, 1008, smallest_normal);
}

static inline bool round_bf16(pe_sincos a, pe_sincos b, size_t count, void *sines,
                              void *cosines)
{
    if (cosines)
        return rotate_16(a, b, count, sines, cosines, 45, 896, SMALLEST);
    return rotate_16(a, b, count, sines, NULL, 45, 896, SMALLEST);
}

/* ---- rows ---- */

typedef bool round_pairs(pe_sincos a, pe_sincos b, size_t count, void *sines, void *cosines);

/* All rows, for one rounding of elements of `size` bytes; inlined with both constant. */
static inline __attribute__((always_inline)) uint64_t
rotate_rows(pe_sincos a, const pe_sincos *b, size_t rows, size_t count, const pe_rows *to,
            round_pairs *round, size_t size)
{
    _Alignas(64) unsigned char sines[2 * PE_KERNEL_PAIRS * sizeof(double)];
    _Alignas(64) unsigned char cosines[PE_KERNEL_PAIRS * sizeof(double)];
    uint64_t doubtful = 0;
    for (size_t r = 0; r < rows; r++) {
        unsigned char *sine_row = to->sines + r * to->stride;
        unsigned char *cosine_row = to->cosines ? to->cosines + r * to->stride : NULL;
        bool doubt;
        if (!to->streamed) {
            doubt = round(a, b[r], count, sine_row, cosine_row);
        } else if (cosine_row) {
            doubt = round(a, b[r], count, sines, cosines);
            stream(sine_row, sines, count * size);
            stream(cosine_row, cosines, count * size);
        } else {
            doubt = round(a, b[r], count, sines, NULL);
            stream(sine_row, sines, 2 * count * size);
        }
        doubtful |= (uint64_t)doubt << r;
    }
    return doubtful;
}

#define ROTATE(name, round, type)                                                              \
    static uint64_t name(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,           \
                         const pe_rows *to)                                                    \
    {                                                                                          \
        return rotate_rows(a, b, rows, count, to, round, sizeof(type));                        \
    }
ROTATE(rotate_f32, round_f32, float)
ROTATE(rotate_f64, round_f64, double)
ROTATE(rotate_f16, round_f16, uint16_t)
ROTATE(rotate_bf16, round_bf16, uint16_t)

const pe_kernel PE_KERNEL_SYMBOL = {
    .name = PE_KERNEL_NAME,
    .seed = seed,
    .advance = advance,
    .rotate =
        {
            [PE_F32] = rotate_f32,
            [PE_F64] = rotate_f64,
            [PE_F16] = rotate_f16,
            [PE_BF16] = rotate_bf16,
        },
    .stream = stream,
    .fence = fence,
    .print = &PE_PRINT_SYMBOL,
    .multiply = PE_MATRIX_SYMBOL,
    .pairs = PE_PAIRS_SYMBOL,
};
