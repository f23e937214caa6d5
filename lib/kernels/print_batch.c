/* Print batches of numbers without a branch per number.
 *
 * A batch takes three steps:
 *
 *   1. Schubfach (numerics/decimal.h) finds the digits and the exponent of every number.
 *   2. The digits become bytes, one row per number, with zeros before and after them, and a
 *      layout says which digits of its row each text shows.
 *   3. Each text is written by four copies of fixed size: the digits before the point, the
 *      point, the digits after it, and the exponent with the comma. A copy may write too much;
 *      the next one overwrites the excess. */
#include "kernels/print_batch.h"

#include "kernels/instruction_set.h"
#include "kernels/lanes.h"
#include "numerics/decimal.h"

#define BATCH PE_PRINT_BATCH

extern const pe_print_batches PE_FOR_SET(pe_print_batches);

/* The decimals of a batch: up to 17 digits in words of 8 (the first word has one digit), the
 * last digit being worth 10^exponent. */
typedef struct decimals {
    _Alignas(64) uint64_t words[3][BATCH];
    _Alignas(64) uint64_t exponents[BATCH]; /* plus EXPONENT_BIAS, or NOT_FINITE */
    uint8_t signs[BATCH];
} decimals;

#define EXPONENT_BIAS 1024
#define NOT_FINITE    0

#define WORD 100000000 /* 10^8 */

/* For functions that are fast because some of their parameters are constants. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- shortest decimals ---- */

/* Read the elements' bits and signs; zeros fill the last vector. */
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

/* Numbers significand · 2^exponent that Schubfach scales by 10^-k. */
typedef struct scaling {
    lanes significand, lower_is_closer;
    lanes k;     /* plus EXPONENT_BIAS */
    lanes shift; /* exponent + floor(log2(10^-k)) + 1 */
} scaling;

/* The first part of pe_find_shortest_decimal, for vectors. Biases keep all terms positive. */
static ALWAYS_INLINE scaling find_scaling(lanes bits, pe_binary_format format)
{
    unsigned fraction_bits = (unsigned)format.fraction_bits;
    unsigned bias = (1U << (format.exponent_bits - 1)) - 1 + fraction_bits;
    lanes fraction = bits & (((uint64_t)1 << fraction_bits) - 1), field = bits >> fraction_bits;
    lanes normal = lanes_less(fill_lanes(0), field), binade = field + 1 - normal;
    scaling scaled;
    scaled.significand = fraction | normal << fraction_bits;
    scaled.lower_is_closer =
        lanes_less(fraction, fill_lanes(1)) & lanes_less(fill_lanes(1), field);
    scaled.k =
        (lanes_times(binade, PE_LOG10_2) - (-scaled.lower_is_closer & PE_LOG10_4_THIRDS) +
         (((uint64_t)EXPONENT_BIAS << 22) - (uint64_t)bias * PE_LOG10_2)) >>
        22;
    lanes log2 = fill_lanes(((uint64_t)EXPONENT_BIAS << 19) + EXPONENT_BIAS * PE_LOG2_10) -
                 lanes_times(scaled.k, PE_LOG2_10);
    scaled.shift = binade + (log2 >> 19) + 1 - bias - EXPONENT_BIAS;
    return scaled;
}

/* floor(g · n / 2^64) for n below 2^32, rounded to odd: the last bit is set if the quotient is
 * not exact. */
static inline lanes multiply_to_odd(lanes g, lanes n)
{
    lanes product = lanes_multiply_wide(g, n);
    return product >> 32 | lanes_less(fill_lanes(1), product & 0xffffffff);
}

/* The second part of pe_find_shortest_decimal: digits below 2 · 10^8, and whether the exponent
 * is k + 1. `g` is the power of ten to 64 bits, enough for significands of up to 24 bits. */
static inline lanes shortest_digits(const scaling *scaled, lanes g, lanes *ret_is_tens)
{
    lanes quarters = scaled->significand << 2, odd = scaled->significand & 1;
    lanes below = quarters - 2 + scaled->lower_is_closer, above = quarters + 2;
    lanes low = multiply_to_odd(g, below << scaled->shift) + odd;
    lanes value = multiply_to_odd(g, quarters << scaled->shift);
    lanes high = multiply_to_odd(g, above << scaled->shift) - odd;
    lanes whole = value >> 2, tens = lanes_times(whole, 429496730) >> 32; /* below 2^28 */
    lanes forty = (tens << 5) + (tens << 3), four = whole << 2;
    lanes down_outside = lanes_less(forty, low), up_outside = lanes_less(high, forty + 40);
    *ret_is_tens = (down_outside ^ up_outside) & lanes_less(fill_lanes(9), whole);
    lanes rounded_tens = tens + 1 - up_outside;
    down_outside = lanes_less(four, low);
    up_outside = lanes_less(high, four + 4);
    lanes closer_up = lanes_less(four + 2, value + (whole & 1));
    lanes up = lanes_choose(down_outside ^ up_outside, 1 - up_outside, closer_up);
    return lanes_choose(*ret_is_tens, rounded_tens, whole + up);
}

/* Find the decimals of f32, f16 or bf16 elements, a vector at a time. */
static ALWAYS_INLINE void find_narrow(decimals *ret_decimals, const uint64_t *bits,
                                      size_t count, pe_binary_format format)
{
    uint64_t largest = ((1ULL << format.exponent_bits) - 1) << format.fraction_bits;
    for (size_t i = 0; i < count; i += LANES) {
        lanes elements = lanes_load(bits + i), is_tens;
        scaling scaled = find_scaling(elements, format);
        uint64_t k[LANES], powers[LANES];
        lanes_store(k, scaled.k);
        for (size_t lane = 0; lane < LANES; lane++)
            powers[lane] = pe_print_shared.narrow[EXPONENT_BIAS - PE_POWER_MIN - k[lane]];
        lanes digits = shortest_digits(&scaled, lanes_load(powers), &is_tens);
        lanes exponents = scaled.k + is_tens;
        lanes nonzero = lanes_less(fill_lanes(0), elements);
        lanes finite = lanes_less(elements, fill_lanes(largest));
        digits &= -nonzero;
        exponents = lanes_choose(nonzero, exponents, fill_lanes(EXPONENT_BIAS)) & -finite;
        lanes first_word = lanes_less(fill_lanes(WORD - 1), digits);
        lanes_store(ret_decimals->words[0] + i, first_word);
        lanes_store(ret_decimals->words[1] + i, digits - (-first_word & WORD));
        lanes_store(ret_decimals->exponents + i, exponents);
    }
}

/* Find the decimals of f64 elements, one at a time: processors multiply 64 by 64 bits faster in
 * scalar registers than in vectors. */
static void find_wide(decimals *ret_decimals, const uint64_t *bits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pe_decimal number = pe_find_shortest_decimal(bits[i], (pe_binary_format){52, 11});
        uint64_t rest = number.digits / WORD;
        bool finite = bits[i] < 0x7ff0000000000000;
        ret_decimals->words[0][i] = rest / WORD;
        ret_decimals->words[1][i] = rest % WORD;
        ret_decimals->words[2][i] = number.digits % WORD;
        ret_decimals->exponents[i] =
            finite ? (uint64_t)(number.exponent + EXPONENT_BIAS) : NOT_FINITE;
    }
    for (size_t i = count; i % LANES > 0; i++) /* fill the last vector */
        for (size_t w = 0; w < 3; w++)
            ret_decimals->words[w][i] = 0;
}

/* ---- digits ---- */

/* The digits of a batch as characters. Zeros follow the digits of a row, and the copies of
 * write_text may read past its end. */
#define ZEROS     0x3030303030303030 /* "00000000" */
#define ROW_WORDS 5
typedef struct digits {
    uint64_t rows[BATCH + 1][ROW_WORDS];
    _Alignas(
        64) uint8_t nonzero[3][BATCH]; /* which digits of a word are not 0, a bit for each */
} digits;

/* Turn a number below 10^8 into 8 bytes with a digit each, the most significant one first:
 * divide into halves of 4 digits, quarters of 2, then single digits, all halves at once. */
static inline lanes split_digits(lanes number)
{
    lanes high = lanes_times(number, 109951163) >> 40; /* / 10^4 */
    lanes fours = high | (number - lanes_times(high, 10000)) << 32;
    lanes hundreds = lanes_times_32(fours, 10486) >> 20 & 0x7f0000007f;
    lanes twos = hundreds | (fours - lanes_times_32(hundreds, 100)) << 16;
    lanes tens = lanes_times_16(twos, 103) >> 10 & 0xf000f000f000f;
    return tens | (twos - lanes_times_16(tens, 10)) << 8;
}

/* Write all digits as characters. Elements of up to 8 digits have 2 words, f64 has 3. */
static ALWAYS_INLINE void spread_digits(digits *ret_digits, const decimals *from, size_t count,
                                        size_t words)
{
    _Alignas(64) uint64_t texts[3][BATCH];
    for (size_t w = 0; w < words; w++)
        for (size_t i = 0; i < count; i += LANES) {
            lanes word = lanes_load(from->words[w] + i);
            /* the first word has one digit */
            lanes bytes = w > 0 ? split_digits(word) : word << 56;
            lanes_store_nonzero(ret_digits->nonzero[w] + i, bytes);
            lanes_store(texts[w] + i, bytes + ZEROS);
        }
    for (size_t i = 0; i < count; i++)
        for (size_t w = 0; w < words + 2; w++)
            ret_digits->rows[i][w] = w < words ? texts[w][i] : ZEROS;
}

/* ---- texts ---- */

/* Which digits of its row each text shows, and the suffix that follows them. The suffix is the
 * exponent, if there is one, and the comma. */
typedef struct layout {
    int32_t start[BATCH];  /* index of the first digit shown */
    int32_t place[BATCH];  /* index of the first digit after the point */
    int32_t middle[BATCH]; /* characters before the suffix */
    int32_t length[BATCH]; /* characters of the whole text */
    int32_t suffix[BATCH]; /* index of the suffix in pe_print_shared.suffixes */
    uint8_t signs[BATCH];
} layout;

/* The index of the highest bit set of a number from 1 to 2^24 - 1. */
static inline int32_t highest_bit(int32_t number)
{
    float value = (float)number;
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits >> 23) - 127;
}

/* Lay out all texts, with masks instead of branches: exponents from -4 to 15 are printed
 * without an `e`. Returns false if a number is not finite: its layout is then meaningless. */
static ALWAYS_INLINE bool format_numbers(layout *restrict to, const decimals *restrict from,
                                         const digits *restrict rows, size_t count, int words)
{
    int32_t finite = -1;
    for (size_t i = 0; i < count; i++) {
        int32_t nonzero = rows->nonzero[0][i] | rows->nonzero[1][i] << 8;
        if (words > 2)
            nonzero |= rows->nonzero[2][i] << 16;
        int32_t last = highest_bit(nonzero | 1);
        nonzero |= 1 << (8 * words - 1); /* zero shows its last digit */
        int32_t first = highest_bit(nonzero & -nonzero);
        int32_t point = (int32_t)from->exponents[i] - EXPONENT_BIAS + 8 * words;
        int32_t exponent = point - 1 - first;
        int32_t scientific = -(exponent < -4) | -(exponent > 15);
        int32_t place = (scientific & (first + 1)) | (~scientific & point);
        int32_t start = first < place - 1 ? first : place - 1;
        int32_t end = (last > place ? last : place) + 1;
        int32_t lone =
            scientific & -(first == last); /* one digit: no point, nothing after it */
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

/* Lay out infinities and NaNs as "null": four characters before a point that the comma
 * overwrites. */
static void lay_out_nulls(layout *to, digits *rows, const decimals *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (from->exponents[i] != NOT_FINITE)
            continue;
        memcpy(rows->rows[i], "null", 4);
        to->start[i] = 0;
        to->place[i] = 4;
        to->middle[i] = 4;
        to->length[i] = 5;
        to->suffix[i] = -PE_SUFFIX_MIN;
        to->signs[i] = 0;
    }
}

#define TEXT_ROOM 56 /* bytes that write_text may write to */

/* Write one text; copies have fixed sizes and write up to TEXT_ROOM bytes. `after_point`: bytes
 * to copy after the point. */
static ALWAYS_INLINE void write_text(char *dst, const layout *texts, const digits *from,
                                     size_t i, size_t after_point)
{
    const char *row = (const char *)from->rows[i];
    char *point = dst + texts->signs[i] + (texts->place[i] - texts->start[i]);
    *dst = '-';
    memcpy(dst + texts->signs[i], row + texts->start[i], 16);
    *point = '.';
    memcpy(point + 1, row + texts->place[i], after_point);
    memcpy(dst + texts->middle[i], pe_print_shared.suffixes[texts->suffix[i]], 8);
}

/* Write all texts, the last one by way of a buffer so that nothing past it is overwritten. */
static ALWAYS_INLINE size_t write_texts(char *dst, const decimals *from, size_t count,
                                        size_t words)
{
    digits rows;
    layout texts;
    char last[TEXT_ROOM], *at = dst;
    size_t after_point = words > 2 ? 32 : 16;
    spread_digits(&rows, from, count, words);
    if (!format_numbers(&texts, from, &rows, count, (int)words))
        lay_out_nulls(&texts, &rows, from, count);
    for (size_t i = 0; i + 1 < count; i++) {
        write_text(at, &texts, &rows, i, after_point);
        at += texts.length[i];
    }
    write_text(last, &texts, &rows, count - 1, after_point);
    memcpy(at, last, (size_t)texts.length[count - 1]);
    return (size_t)(at - dst) + (size_t)texts.length[count - 1];
}

static ALWAYS_INLINE size_t print_narrow(char *dst, const void *elements, size_t count,
                                         size_t size, pe_binary_format format)
{
    uint64_t bits[BATCH];
    decimals numbers;
    read_bits(bits, numbers.signs, elements, count, size);
    find_narrow(&numbers, bits, count, format);
    return write_texts(dst, &numbers, count, 2);
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
    decimals numbers;
    read_bits(bits, numbers.signs, elements, count, 8);
    find_wide(&numbers, bits, count);
    return write_texts(dst, &numbers, count, 3);
}

const pe_print_batches PE_FOR_SET(pe_print_batches) = {
    [PE_F32] = print_f32,
    [PE_F64] = print_f64,
    [PE_F16] = print_f16,
    [PE_BF16] = print_bf16,
};
