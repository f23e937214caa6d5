/* Printing batches of numbers, without a branch for each. Compiled several times, like
 * kernel.c.
 *
 * A batch takes three steps. Schubfach (print.h) finds the digits and the exponent of every
 * number. The digits are spread over rows of memory, a byte each, zeros before and behind them,
 * and it is laid out which of them a text shows. Then each text is four stores of fixed size:
 * what stands before the point, the point, what stands behind it, and the suffix; each
 * overwrites what was too much of the one before. */
#include "print.h"

#include "lanes.h"

#define BATCH PE_PRINT_BATCH

#ifndef PE_PRINT_SYMBOL
#define PE_PRINT_SYMBOL pe_print_batches_generic
#endif

extern const pe_print_batches PE_PRINT_SYMBOL;

/* A batch of numbers: digits in words of 8, one in the first, the last worth 10^exponent. */
typedef struct decimals {
    _Alignas(64) uint64_t words[3][BATCH];
    _Alignas(64) uint64_t exponents[BATCH]; /* EXPONENT_BIAS more, or NOT_FINITE */
    uint8_t signs[BATCH];
} decimals;

#define EXPONENT_BIAS 1024
#define NOT_FINITE    0

#define WORD 100000000 /* 10^8 */

#define ALWAYS_INLINE                                                                          \
    inline __attribute__((always_inline)) /* where parameters are constants                    \
                                           */

/* ---- shortest decimals ---- */

/* Read the elements' bits, and zeros up to whole vectors. */
static ALWAYS_INLINE void read_bits(uint64_t *bits, uint8_t *signs, const void *elements,
                                    size_t count, size_t size)
{
    const unsigned char *from = elements;
    for (size_t i = 0; i < count; i++) {
        uint64_t element = 0;
        memcpy(&element, from + i * size, size);
        bits[i] = element & ((1ULL << (8 * size - 1)) - 1);
        signs[i] = (uint8_t)(element >> (8 * size - 1));
    }
    for (size_t i = count; i % LANES > 0; i++)
        bits[i] = 0;
}

/* Numbers significand · 2^exponent, to be scaled by 10^-k. */
typedef struct scaling {
    lanes significand, lower_is_closer;
    lanes k;     /* plus EXPONENT_BIAS */
    lanes shift; /* exponent + floor(log2(10^-k)) + 1 */
} scaling;

/* As the first part of pe_shortest, with all terms kept positive. */
static ALWAYS_INLINE scaling scale(lanes bits, pe_binary_format format)
{
    unsigned fraction_bits = (unsigned)format.fraction_bits;
    unsigned bias = (1U << (format.exponent_bits - 1)) - 1 + fraction_bits;
    lanes fraction = bits & (((uint64_t)1 << fraction_bits) - 1), field = bits >> fraction_bits;
    lanes normal = lanes_less(lanes_of(0), field), binade = field + 1 - normal;
    scaling of;
    of.significand = fraction | normal << fraction_bits;
    of.lower_is_closer = lanes_less(fraction, lanes_of(1)) & lanes_less(lanes_of(1), field);
    of.k = (lanes_times(binade, PE_LOG10_2) - (-of.lower_is_closer & PE_LOG10_4_THIRDS) +
            (((uint64_t)EXPONENT_BIAS << 22) - (uint64_t)bias * PE_LOG10_2)) >>
           22;
    lanes log2 = lanes_of(((uint64_t)EXPONENT_BIAS << 19) + EXPONENT_BIAS * PE_LOG2_10) -
                 lanes_times(of.k, PE_LOG2_10);
    of.shift = binade + (log2 >> 19) + 1 - bias - EXPONENT_BIAS;
    return of;
}

/* floor(g · n / 2^64) for n below 2^32, with the last bit set if anything was cut off. */
static inline lanes multiply_to_odd(lanes g, lanes n)
{
    lanes product = lanes_multiply_wide(g, n);
    return product >> 32 | lanes_less(lanes_of(1), product & 0xffffffff);
}

/* The second part of pe_shortest: digits below 2 · 10^8, and whether the exponent is k + 1. For
 * significands of up to 24 bits, which 64 bits of the power suffice for. */
static inline lanes shortest_digits(const scaling *of, lanes g, lanes *ret_is_tens)
{
    lanes quarters = of->significand << 2, odd = of->significand & 1;
    lanes low = multiply_to_odd(g, (quarters - 2 + of->lower_is_closer) << of->shift) + odd;
    lanes value = multiply_to_odd(g, quarters << of->shift);
    lanes high = multiply_to_odd(g, (quarters + 2) << of->shift) - odd;
    lanes whole = value >> 2, tens = lanes_times(whole, 429496730) >> 32; /* below 2^28 */
    lanes forty = (tens << 5) + (tens << 3), four = whole << 2;
    lanes down_outside = lanes_less(forty, low), up_outside = lanes_less(high, forty + 40);
    *ret_is_tens = (down_outside ^ up_outside) & lanes_less(lanes_of(9), whole);
    lanes of_tens = tens + 1 - up_outside;
    down_outside = lanes_less(four, low);
    up_outside = lanes_less(high, four + 4);
    lanes closer_up = lanes_less(four + 2, value + (whole & 1));
    lanes up = lanes_choose(down_outside ^ up_outside, 1 - up_outside, closer_up);
    return lanes_choose(*ret_is_tens, of_tens, whole + up);
}

static ALWAYS_INLINE void find_narrow(decimals *to, const uint64_t *bits, size_t count,
                                      pe_binary_format format)
{
    uint64_t largest = ((1ULL << format.exponent_bits) - 1) << format.fraction_bits;
    for (size_t i = 0; i < count; i += LANES) {
        lanes in = lanes_load(bits + i), is_tens;
        scaling of = scale(in, format);
        uint64_t k[LANES], powers[LANES];
        lanes_store(k, of.k);
        for (size_t lane = 0; lane < LANES; lane++)
            powers[lane] = pe_print_shared.narrow[EXPONENT_BIAS - PE_POWER_MIN - k[lane]];
        lanes digits = shortest_digits(&of, lanes_load(powers), &is_tens);
        lanes exponents = of.k + is_tens;
        lanes nonzero = lanes_less(lanes_of(0), in), finite = lanes_less(in, lanes_of(largest));
        digits &= -nonzero;
        exponents = lanes_choose(nonzero, exponents, lanes_of(EXPONENT_BIAS)) & -finite;
        lanes first_word = lanes_less(lanes_of(WORD - 1), digits);
        lanes_store(to->words[0] + i, first_word);
        lanes_store(to->words[1] + i, digits - (-first_word & WORD));
        lanes_store(to->exponents + i, exponents);
    }
}

/* One by one: processors multiply 64 bits by 64 faster so than side by side. */
static void find_wide(decimals *to, const uint64_t *bits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pe_decimal number = pe_shortest(bits[i], (pe_binary_format){52, 11});
        uint64_t rest = number.digits / WORD;
        bool finite = bits[i] < 0x7ff0000000000000;
        to->words[0][i] = rest / WORD;
        to->words[1][i] = rest % WORD;
        to->words[2][i] = number.digits % WORD;
        to->exponents[i] = finite ? (uint64_t)(number.exponent + EXPONENT_BIAS) : NOT_FINITE;
    }
    for (size_t i = count; i % LANES > 0; i++)
        to->words[0][i] = to->words[1][i] = to->words[2][i] = 0;
}

/* ---- digits ---- */

/* A batch's digits as text, each row with zeros behind it and room for reading past it. */
#define ZEROS     0x3030303030303030 /* "00000000" */
#define ROW_WORDS 5
typedef struct digits {
    uint64_t rows[BATCH + 1][ROW_WORDS];
    _Alignas(64) uint8_t nonzero[3][BATCH]; /* a bit for each digit of a word */
} digits;

/* A number below 10^8 as 8 bytes, the most significant digit in the first. */
static inline lanes spread(lanes number)
{
    lanes high = lanes_times(number, 109951163) >> 40; /* / 10^4 */
    lanes fours = high | (number - lanes_times(high, 10000)) << 32;
    lanes hundreds = lanes_times_32(fours, 10486) >> 20 & 0x7f0000007f;
    lanes twos = hundreds | (fours - lanes_times_32(hundreds, 100)) << 16;
    lanes tens = lanes_times_16(twos, 103) >> 10 & 0xf000f000f000f;
    return tens | (twos - lanes_times_16(tens, 10)) << 8;
}

static ALWAYS_INLINE void spread_digits(digits *to, const decimals *from, size_t count,
                                        size_t words)
{
    _Alignas(64) uint64_t texts[3][BATCH];
    for (size_t w = 0; w < words; w++)
        for (size_t i = 0; i < count; i += LANES) {
            lanes word = lanes_load(from->words[w] + i);
            lanes bytes = w > 0 ? spread(word) : word << 56; /* at most 17 digits */
            lanes_store_nonzero(to->nonzero[w] + i, bytes);
            lanes_store(texts[w] + i, bytes + ZEROS);
        }
    for (size_t i = 0; i < count; i++)
        for (size_t w = 0; w < words + 2; w++)
            to->rows[i][w] = w < words ? texts[w][i] : ZEROS;
}

/* ---- texts ---- */

/* Which digits of their rows the texts show, and what follows them. */
typedef struct layout {
    int32_t start[BATCH];  /* the first digit shown */
    int32_t place[BATCH];  /* the first digit behind the point */
    int32_t middle[BATCH]; /* the length before the suffix */
    int32_t length[BATCH]; /* of all */
    int32_t suffix[BATCH]; /* its index in the table */
    uint8_t signs[BATCH];
} layout;

/* The highest bit of a number below 2^24, which is not 0. */
static inline int32_t highest_bit(int32_t number)
{
    float value = (float)number;
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits >> 23) - 127;
}

/* Exponents from -4 to 15 are printed without an `e`; the same choices as write_decimal in
 * print.c, as masks and sums. False if some number is not finite and its layout void. */
static ALWAYS_INLINE bool lay_out(layout *restrict to, const decimals *restrict from,
                                  const digits *restrict of, size_t count, int words)
{
    int32_t finite = -1;
    for (size_t i = 0; i < count; i++) {
        int32_t nonzero = of->nonzero[0][i] | of->nonzero[1][i] << 8;
        if (words > 2)
            nonzero |= of->nonzero[2][i] << 16;
        int32_t last = highest_bit(nonzero | 1);
        nonzero |= 1 << (8 * words - 1); /* a zero is shown as one digit */
        int32_t first = highest_bit(nonzero & -nonzero);
        int32_t point = (int32_t)from->exponents[i] - EXPONENT_BIAS + 8 * words;
        int32_t exponent = point - 1 - first;
        int32_t scientific = -(exponent < -4) | -(exponent > 15);
        int32_t place = (scientific & (first + 1)) | (~scientific & point);
        int32_t start = first < place - 1 ? first : place - 1;
        int32_t end = (last > place ? last : place) + 1;
        int32_t lone = scientific & -(first == last); /* neither point nor what is behind it */
        int32_t hundreds = -(words > 2) & (-(exponent > 99) | -(exponent < -99));
        to->start[i] = start;
        to->place[i] = place;
        to->middle[i] = from->signs[i] + end - start + 1 - (lone & 2);
        to->length[i] = to->middle[i] + 1 + (scientific & 4) + (hundreds & 1);
        to->suffix[i] = (scientific & exponent) - PE_SUFFIX_MIN;
        to->signs[i] = from->signs[i];
        finite &= -(from->exponents[i] != NOT_FINITE);
    }
    return finite != 0;
}

/* Infinities and NaNs are four letters as if before a point that the comma overwrites. */
static void lay_out_nulls(layout *to, digits *of, const decimals *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (from->exponents[i] != NOT_FINITE)
            continue;
        memcpy(of->rows[i], "null", 4);
        to->start[i] = 0;
        to->place[i] = to->middle[i] = 4;
        to->length[i] = 5;
        to->suffix[i] = -PE_SUFFIX_MIN;
        to->signs[i] = 0;
    }
}

#define OVERSHOOT 56 /* the most that write_text writes */

static ALWAYS_INLINE void write_text(char *dst, const layout *of, const digits *from, size_t i,
                                     size_t behind)
{
    const char *row = (const char *)from->rows[i];
    char *point = dst + of->signs[i] + (of->place[i] - of->start[i]);
    *dst = '-';
    memcpy(dst + of->signs[i], row + of->start[i], 16);
    *point = '.';
    memcpy(point + 1, row + of->place[i], behind);
    memcpy(dst + of->middle[i], pe_print_shared.suffixes[of->suffix[i]], 8);
}

static ALWAYS_INLINE size_t write_texts(char *dst, const decimals *from, size_t count,
                                        size_t words)
{
    digits rows;
    layout texts;
    char last[OVERSHOOT], *at = dst;
    size_t behind = words > 2 ? 32 : 16;
    spread_digits(&rows, from, count, words);
    if (!lay_out(&texts, from, &rows, count, (int)words))
        lay_out_nulls(&texts, &rows, from, count);
    for (size_t i = 0; i + 1 < count; i++) {
        write_text(at, &texts, &rows, i, behind);
        at += texts.length[i];
    }
    write_text(last, &texts, &rows, count - 1, behind);
    memcpy(at, last, (size_t)texts.length[count - 1]);
    return (size_t)(at - dst) + (size_t)texts.length[count - 1];
}

static ALWAYS_INLINE size_t print_narrow(char *dst, const void *elements, size_t count,
                                         size_t size, pe_binary_format format)
{
    uint64_t bits[BATCH];
    decimals found;
    read_bits(bits, found.signs, elements, count, size);
    find_narrow(&found, bits, count, format);
    return write_texts(dst, &found, count, 2);
}

static size_t print_f32(char *dst, const void *elements, size_t count)
{
    return print_narrow(dst, elements, count, 4, (pe_binary_format){23, 8});
}

static size_t print_f16(char *dst, const void *elements, size_t count)
{
    return print_narrow(dst, elements, count, 2, (pe_binary_format){10, 5});
}

static size_t print_bf16(char *dst, const void *elements, size_t count)
{
    return print_narrow(dst, elements, count, 2, (pe_binary_format){7, 8});
}

static size_t print_f64(char *dst, const void *elements, size_t count)
{
    uint64_t bits[BATCH];
    decimals found;
    read_bits(bits, found.signs, elements, count, 8);
    find_wide(&found, bits, count);
    return write_texts(dst, &found, count, 3);
}

const pe_print_batches PE_PRINT_SYMBOL = {
    [PE_F32] = print_f32,
    [PE_F64] = print_f64,
    [PE_F16] = print_f16,
    [PE_BF16] = print_bf16,
};
