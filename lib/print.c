/* Shortest decimals of binary floating-point numbers.
 *
 * The method is Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020):
 * scale the number and the bounds of its rounding interval by a power of ten so that the
 * shortest candidates are neighbouring integers, using 128 bits of the power, rounded up, and
 * products rounded to odd. One routine serves every format; only the significand and exponent
 * differ. */
#include "posenc.h"

#include <pthread.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

/* 10^k = power * 2^(floor(log2(10^k)) - 127), rounded up, for k in [POWER_MIN, POWER_MAX]. */
#define POWER_MIN (-292)
#define POWER_MAX 324
typedef struct power {
    uint64_t high, low;
} power;
static power powers[POWER_MAX - POWER_MIN + 1];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

#define BIG_LIMBS 15 /* 960 bits: 5^324 has 753, 2^959 / 5^292 keeps 280 */

/* The leading 128 bits of a big number (least significant limb first), rounded up if `inexact`
 * or anything is left below them. */
static power leading_bits(const uint64_t *big, bool inexact)
{
    int top = BIG_LIMBS - 1;
    while (big[top] == 0)
        top--;
    unsigned zeros = (unsigned)__builtin_clzll(big[top]);
    uint64_t limbs[3] = {big[top], top > 0 ? big[top - 1] : 0, top > 1 ? big[top - 2] : 0};
    power bits = {limbs[0], limbs[1]};
    if (zeros > 0) {
        bits.high = limbs[0] << zeros | limbs[1] >> (64 - zeros);
        bits.low = limbs[1] << zeros | limbs[2] >> (64 - zeros);
    }
    inexact = inexact || (limbs[2] << zeros) != 0;
    for (int i = 0; i < top - 2; i++)
        inexact = inexact || big[i] != 0;
    if (inexact && ++bits.low == 0)
        bits.high++;
    return bits;
}

static void make_powers(void)
{
    uint64_t big[BIG_LIMBS] = {1};
    for (int k = 0; k <= POWER_MAX; k++) { /* 5^k has the leading bits of 10^k */
        powers[k - POWER_MIN] = leading_bits(big, false);
        uint64_t carry = 0;
        for (int i = 0; i < BIG_LIMBS; i++) {
            uint128 product = (uint128)big[i] * 5 + carry;
            big[i] = (uint64_t)product;
            carry = (uint64_t)(product >> 64);
        }
    }
    memset(big, 0, sizeof big);
    big[BIG_LIMBS - 1] = 1ULL << 63;
    for (int k = -1; k >= POWER_MIN; k--) { /* 2^959 / 5^-k, floors of floors */
        uint64_t rest = 0;
        for (int i = BIG_LIMBS - 1; i >= 0; i--) {
            uint128 part = (uint128)rest << 64 | big[i];
            big[i] = (uint64_t)(part / 5);
            rest = (uint64_t)(part % 5);
        }
        powers[k - POWER_MIN] = leading_bits(big, true);
    }
}

/* floor(log10(2^e)) and floor(log10(3/4 · 2^e)); floor(log2(10^e)): exact in the range used. */
static int floor_log10_pow2(int e, bool three_quarters)
{
    return (e * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

static int floor_log2_pow10(int e)
{
    return (e * 1741647) >> 19;
}

/* floor(g · n / 2^128), with the last bit set if anything was cut off. */
static uint64_t multiply_to_odd(power g, uint64_t n)
{
    uint64_t below = (uint64_t)((uint128)g.low * n >> 64);
    uint128 product = (uint128)g.high * n + below;
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

/* The same with 64 bits of the power, rounded up: enough for significands of up to 24 bits. */
static uint64_t multiply_to_odd_narrow(power g, uint64_t n)
{
    uint64_t high = g.high + (g.low != 0);
    uint128 product = (uint128)high * n;
    return (uint64_t)(product >> 64) | (((uint64_t)product >> 32) > 1);
}

typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* The shortest decimal in the rounding interval of significand · 2^exponent; `lower_is_closer`
 * where the number below is in a smaller binade. Inlined, with `multiply` for the significand's
 * size. */
static inline __attribute__((always_inline)) decimal
shortest(uint64_t significand, int exponent, bool lower_is_closer,
         uint64_t multiply(power g, uint64_t n))
{
    bool odd = significand & 1;
    int k = floor_log10_pow2(exponent, lower_is_closer);
    int shift = exponent + floor_log2_pow10(-k) + 1;
    power g = powers[-k - POWER_MIN];
    uint64_t quarters = 4 * significand;
    uint64_t low = multiply(g, (quarters - 2 + lower_is_closer) << shift) + odd;
    uint64_t value = multiply(g, quarters << shift);
    uint64_t high = multiply(g, (quarters + 2) << shift) - odd;
    uint64_t whole = value / 4;
    if (whole >= 10) { /* one digit less, if exactly one of its neighbours is inside */
        uint64_t tens = whole / 10;
        bool down_inside = low <= 40 * tens, up_inside = 40 * tens + 40 <= high;
        if (down_inside != up_inside)
            return (decimal){tens + up_inside, k + 1};
    }
    bool down_inside = low <= 4 * whole, up_inside = 4 * whole + 4 <= high;
    if (down_inside != up_inside)
        return (decimal){whole + up_inside, k};
    uint64_t middle = 4 * whole + 2;
    bool up = value > middle || (value == middle && (whole & 1));
    return (decimal){whole + up, k};
}

/* Decimal digits of a number below 10^17. */
static unsigned count_digits(uint64_t number)
{
    unsigned count = 1;
    for (; number >= 10000; number /= 10000)
        count += 4;
    return count + (number >= 10) + (number >= 100) + (number >= 1000);
}

/* Write `count` digits so that they end before `end`. */
static void write_digits(char *end, uint64_t number, unsigned count)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    for (; count > 1; count -= 2, number /= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (number % 100), 2);
    }
    if (count)
        end[-1] = (char)('0' + number % 10);
}

/* Write d.ddde±xx. */
static size_t write_scientific(char *dst, uint64_t digits, unsigned count, int exponent)
{
    char *at = dst;
    write_digits(at + 1 + count, digits, count); /* one place to the right, for the point */
    at[0] = at[1];
    if (count > 1)
        at[1] = '.';
    at += count > 1 ? count + 1 : 1;
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    unsigned places = magnitude >= 100 ? 3 : 2;
    write_digits(at + places, magnitude, places);
    return (size_t)(at - dst) + places;
}

/* Write digits · 10^exponent: positional from 1e-4 to below 1e16, else scientific. */
static size_t write_decimal(char *dst, decimal number)
{
    while (number.digits % 10 == 0 && number.digits != 0) {
        number.digits /= 10;
        number.exponent++;
    }
    unsigned count = count_digits(number.digits);
    int point = (int)count + number.exponent; /* digits before the point */
    if (point > 16 || point < -3)
        return write_scientific(dst, number.digits, count, point - 1);
    if (point <= 0) {
        memcpy(dst, "0.000", 5);
        dst += 2 - point;
        write_digits(dst + count, number.digits, count);
        return (size_t)(2 - point) + count;
    }
    unsigned before = (unsigned)point;
    if (count <= before) {
        memset(dst, '0', before);
        write_digits(dst + count, number.digits, count);
        memcpy(dst + before, ".0", 2);
        return before + 2;
    }
    write_digits(dst + 1 + count, number.digits, count); /* one to the right, for the point */
    memmove(dst, dst + 1, before);
    dst[before] = '.';
    return count + 1;
}

typedef struct binary_format {
    int fraction_bits, exponent_bits;
} binary_format;

static const binary_format FORMATS[PE_DTYPE_COUNT] = {
    [PE_F32] = {23, 8}, [PE_F64] = {52, 11}, [PE_F16] = {10, 5}, [PE_BF16] = {7, 8}};

static size_t print_real(char *dst, binary_format format, uint64_t bits)
{
    uint64_t fraction = bits & ((1ULL << format.fraction_bits) - 1);
    int exponent_mask = (1 << format.exponent_bits) - 1;
    int exponent = (int)(bits >> format.fraction_bits) & exponent_mask;
    char *at = dst;
    if (exponent == exponent_mask) {
        memcpy(dst, "null", 4);
        return 4;
    }
    if (bits >> (format.fraction_bits + format.exponent_bits))
        *at++ = '-';
    if (fraction == 0 && exponent == 0) {
        memcpy(at, "0.0", 3);
        return (size_t)(at - dst) + 3;
    }
    bool normal = exponent > 0;
    int bias = (exponent_mask >> 1) + format.fraction_bits;
    uint64_t significand = normal ? fraction | 1ULL << format.fraction_bits : fraction;
    int power_of_two = (normal ? exponent : 1) - bias;
    bool lower_is_closer = fraction == 0 && exponent > 1;
    decimal number =
        format.fraction_bits > 23
            ? shortest(significand, power_of_two, lower_is_closer, multiply_to_odd)
            : shortest(significand, power_of_two, lower_is_closer, multiply_to_odd_narrow);
    return (size_t)(at - dst) + write_decimal(at, number);
}

static size_t print_integer(char *dst, int32_t value)
{
    char digits[12];
    size_t count = 0;
    uint32_t rest = value < 0 ? 0 - (uint32_t)value : (uint32_t)value;
    do
        digits[sizeof digits - ++count] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        digits[sizeof digits - ++count] = '-';
    memcpy(dst, digits + sizeof digits - count, count);
    return count;
}

/* Print one element without a NUL; the powers have been made. */
static size_t print_one(char *dst, pe_dtype dtype, const void *element)
{
    uint64_t bits = 0;
    if (dtype == PE_I32) {
        int32_t value;
        memcpy(&value, element, sizeof value);
        return print_integer(dst, value);
    }
    if (pe_dtype_size(dtype) == 2) {
        uint16_t half;
        memcpy(&half, element, sizeof half);
        bits = half;
    } else if (dtype == PE_F32) {
        uint32_t word;
        memcpy(&word, element, sizeof word);
        bits = word;
    } else {
        memcpy(&bits, element, sizeof bits);
    }
    return print_real(dst, FORMATS[dtype], bits);
}

size_t pe_print_element(char *dst, pe_dtype dtype, const void *element)
{
    pthread_once(&powers_once, make_powers);
    size_t length = print_one(dst, dtype, element);
    dst[length] = '\0';
    return length;
}

size_t pe_print_number(char *dst, double number)
{
    size_t length = pe_print_element(dst, PE_F64, &number);
    if (length > 2 && memcmp(dst + length - 2, ".0", 2) == 0)
        dst[length -= 2] = '\0';
    return length;
}

size_t pe_print_row(char *dst, pe_dtype dtype, const void *elements, size_t count)
{
    const unsigned char *element = elements;
    char *at = dst;
    pthread_once(&powers_once, make_powers);
    for (size_t i = 0; i < count; i++, element += pe_dtype_size(dtype)) {
        if (i > 0)
            *at++ = ',';
        at += print_one(at, dtype, element);
    }
    return (size_t)(at - dst);
}
