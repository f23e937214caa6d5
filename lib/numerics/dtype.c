/* Element types: names, sizes, and rounding from double and double-double. */
#include "numerics/dtype.h"

#include <assert.h>
#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "formats send a tensor's memory unchanged, so it must be little-endian");

static const struct {
    const char *name;
    size_t size;
    double overflow; /* the smallest magnitude that rounds to infinity */
} DTYPES[PE_DD + 1] = {
    [PE_F32] = {.name = "f32", .size = 4, .overflow = 0x1.ffffffp+127},
    [PE_F64] = {.name = "f64", .size = 8, .overflow = INFINITY},
    [PE_F16] = {.name = "f16", .size = 2, .overflow = 65520},
    [PE_BF16] = {.name = "bf16", .size = 2, .overflow = 0x1.ffp+127},
    [PE_I32] = {.name = "i32", .size = 4, .overflow = 2147483648},
    [PE_DD] = {.name = "dd", .size = sizeof(dd), .overflow = INFINITY},
};

const char *pe_dtype_name(pe_dtype dtype)
{
    return DTYPES[dtype].name;
}

size_t pe_dtype_size(pe_dtype dtype)
{
    return DTYPES[dtype].size;
}

double pe_dtype_overflow(pe_dtype dtype)
{
    return DTYPES[dtype].overflow;
}

/* Round a double to a 16-bit format with `fraction_bits` stored bits and exponent bias `bias`,
 * ties to even, in integers. Zeros become +0; infinities and NaN stay what they are. The caller
 * excludes finite numbers that overflow. */
static uint16_t round_to_16_bits(double value, int fraction_bits, int bias)
{
    uint64_t bits = pe_bits_of_double(value);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023 + bias; /* as a normal number stores it */
    uint64_t significand = (bits & 0xfffffffffffffULL) | 1ULL << 52;
    int drop = 52 - fraction_bits;
    if (bits << 1 >= 0xffeULL << 52) { /* infinite, or NaN */
        uint16_t infinity = (uint16_t)(0x7fff >> fraction_bits << fraction_bits);
        bool nan = (bits & 0xfffffffffffffULL) != 0;
        return (uint16_t)(sign | infinity | (nan ? 1 << (fraction_bits - 1) : 0));
    }
    if (exponent < 1) { /* subnormal: the last place is that of exponent 1 */
        drop += 1 - exponent;
        exponent = 1;
    }
    if (drop > 54) /* below half the smallest subnormal */
        return 0;
    uint64_t kept = significand >> drop, rest = significand & ((1ULL << drop) - 1);
    uint64_t half = 1ULL << (drop - 1);
    bool up = rest > half || (rest == half && (kept & 1));
    kept += up;
    /* the hidden bit adds one to the exponent, and so does a carry out of the fraction */
    uint64_t magnitude = kept + ((uint64_t)(exponent - 1) << fraction_bits);
    return magnitude == 0 ? 0 : (uint16_t)(sign | magnitude);
}

static uint16_t round_to_f16(double value)
{
    return round_to_16_bits(value, 10, 15);
}

static uint16_t round_to_bf16(double value)
{
    return round_to_16_bits(value, 7, 127);
}

void pe_round_row(pe_dtype dtype, const double *values, size_t count, void *dst)
{
    switch (dtype) {
    case PE_F32: {
        float *floats = dst;
        for (size_t i = 0; i < count; i++)
            floats[i] = (float)values[i] + 0.0F;
        return;
    }
    case PE_F64: {
        double *doubles = dst;
        for (size_t i = 0; i < count; i++)
            doubles[i] = values[i] + 0.0;
        return;
    }
    case PE_F16: {
        uint16_t *halves = dst;
        for (size_t i = 0; i < count; i++)
            halves[i] = round_to_f16(values[i]);
        return;
    }
    case PE_BF16: {
        uint16_t *halves = dst;
        for (size_t i = 0; i < count; i++)
            halves[i] = round_to_bf16(values[i]);
        return;
    }
    case PE_DD: {
        dd *pairs = dst;
        for (size_t i = 0; i < count; i++)
            pairs[i] = (dd){values[i] + 0.0, 0};
        return;
    }
    case PE_I32:
    case PE_DTYPE_COUNT:
        break;
    }
    assert(false && "a real dtype");
}

double pe_double_for(pe_dtype dtype, dd value)
{
    dd sum = dd_quick_two_sum(value.hi, value.lo);
    return dtype == PE_F64 || dtype == PE_DD ? sum.hi : dd_to_odd(sum);
}

void pe_round_dd(pe_dtype dtype, dd value, void *dst)
{
    if (dtype == PE_DD) {
        value =
            isfinite(value.hi) ? dd_quick_two_sum(value.hi + 0.0, value.lo) : (dd){value.hi, 0};
        memcpy(dst, &value, sizeof value);
        return;
    }
    double rounded = pe_double_for(dtype, value);
    pe_round_row(dtype, &rounded, 1, dst);
}

#define LEAST_EXPONENT (-1074) /* of the smallest subnormal double */

/* The integer nearest to value, |value| <= 2^53; ties go to even. */
static double nearest_integer(dd value)
{
    double nearest = rint(value.hi);
    dd rest = dd_two_sum(value.hi - nearest, value.lo);
    if (rest.hi > 0.5 || (rest.hi == 0.5 && rest.lo > 0))
        return nearest + 1;
    if (rest.hi < -0.5 || (rest.hi == -0.5 && rest.lo < 0))
        return nearest - 1;
    if (fabs(rest.hi) == 0.5 &&
        rest.lo != 0) /* short of half way: where value.hi was rounded from */
        return nearest;
    return fabs(rest.hi) == 0.5 ? 2 * rint((nearest + rest.hi) / 2) : nearest;
}

double pe_double_for_scaled(pe_dtype dtype, dd value, int exponent)
{
    dd sum = dd_quick_two_sum(value.hi, value.lo);
    bool is_f64 = dtype == PE_F64 || dtype == PE_DD;
    double rounded = ldexp(is_f64 ? sum.hi : dd_to_odd(sum), exponent);
    if (is_f64 && fabs(rounded) < 0x1p-1021) { /* fewer bits than sum.hi has */
        dd units = {ldexp(sum.hi, exponent - LEAST_EXPONENT),
                    ldexp(sum.lo, exponent - LEAST_EXPONENT)};
        rounded = ldexp(nearest_integer(units), LEAST_EXPONENT);
    }
    return rounded;
}

void pe_round_scaled(pe_dtype dtype, dd value, int exponent, void *dst)
{
    if (dtype == PE_DD) {
        pe_round_dd(dtype, (dd){ldexp(value.hi, exponent), ldexp(value.lo, exponent)}, dst);
        return;
    }
    double rounded = pe_double_for_scaled(dtype, value, exponent);
    pe_round_row(dtype, &rounded, 1, dst);
}

/* The value of a number in a 16-bit format, exact in double. */
static double value_of_16_bits(uint16_t bits, int fraction_bits, int bias)
{
    int stored = bits >> fraction_bits & ((1 << (15 - fraction_bits)) - 1);
    int fraction = bits & ((1 << fraction_bits) - 1);
    double value;
    if (stored == 0)
        value = ldexp(fraction, 1 - bias - fraction_bits);
    else if (stored == (1 << (15 - fraction_bits)) - 1)
        value = fraction ? NAN : INFINITY;
    else
        value = ldexp(fraction + (1 << fraction_bits), stored - bias - fraction_bits);
    return bits >> 15 ? -value : value;
}

double pe_element_value(pe_dtype dtype, const void *element)
{
    double double_precision;
    float single_precision;
    uint16_t half;
    switch (dtype) {
    case PE_F64:
        memcpy(&double_precision, element, sizeof double_precision);
        return double_precision;
    case PE_F32:
        memcpy(&single_precision, element, sizeof single_precision);
        return (double)single_precision;
    case PE_F16:
        memcpy(&half, element, sizeof half);
        return value_of_16_bits(half, 10, 15);
    case PE_BF16:
        memcpy(&half, element, sizeof half);
        return value_of_16_bits(half, 7, 127);
    case PE_DD:
        memcpy(&double_precision, element, sizeof double_precision);
        return double_precision;
    case PE_I32:
    case PE_DTYPE_COUNT:
        break;
    }
    assert(false && "a real dtype");
    return 0;
}

void pe_read_row(double *dst, pe_dtype dtype, const void *elements, size_t count)
{
    const unsigned char *element = elements;
    size_t size = pe_dtype_size(dtype);
    int32_t integer;
    for (size_t i = 0; i < count; i++, element += size)
        if (dtype == PE_I32) {
            memcpy(&integer, element, sizeof integer);
            dst[i] = integer;
        } else {
            dst[i] = pe_element_value(dtype, element);
        }
}

double pe_rounded_to(double number, pe_dtype dtype)
{
    unsigned char element[8];
    if (dtype == PE_F64)
        return number;
    if (dtype == PE_F32)
        return (double)(float)number;
    pe_round_row(dtype, &number, 1, element);
    return pe_element_value(dtype, element);
}
