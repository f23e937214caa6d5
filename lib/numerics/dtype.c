/* Element types: names, sizes, and rounding from double and double-double. */
#include "numerics/dtype.h"

#include "numerics/half.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "formats send a tensor's memory unchanged, so it must be little-endian");

#define REAL(name_, bytes, bits, exponent, limit, its_element)                                 \
    {                                                                                          \
        .name = (name_), .size = (bytes), .digits = (bits),                                    \
        .unit = 0x1p1 / (double)(1ULL << (bits)), .least_exponent = (exponent),                \
        .overflow = (limit), .element = (its_element)                                          \
    }

const pe_dtype_facts pe_dtypes[PE_LOSS + 1] = {
    [PE_F32] = REAL("f32", 4, 24, -126, 0x1.ffffffp+127, PE_ELEMENT_F32),
    [PE_F64] = REAL("f64", 8, 53, -1022, INFINITY, PE_ELEMENT_F64),
    [PE_F16] = REAL("f16", 2, 11, -14, 65520, PE_ELEMENT_F16),
    [PE_BF16] = REAL("bf16", 2, 8, -126, 0x1.ffp+127, PE_ELEMENT_BF16),
    [PE_I32] = {.name = "i32", .size = 4, .overflow = 2147483648, .element = PE_ELEMENT_I32},
    [PE_DD] = {.name = "dd", .size = sizeof(dd), .overflow = INFINITY},
    [PE_LOSS] = {.name = "loss", .size = sizeof(double), .overflow = INFINITY},
};

/* Other words for element types: numpy's, torch's, C's and those of papers. */
static const char *const WORDS[][2] = {
    {"float32", "f32"}, {"float", "f32"},  {"single", "f32"},    {"fp32", "f32"},
    {"float64", "f64"}, {"double", "f64"}, {"fp64", "f64"},      {"float16", "f16"},
    {"half", "f16"},    {"fp16", "f16"},   {"bfloat16", "bf16"}, {"bfloat", "bf16"},
    {"int8", "i8"},     {"int16", "i16"},  {"short", "i16"},     {"int32", "i32"},
    {"int", "i32"},     {"int64", "i64"},  {"long", "i64"},      {"uint8", "u8"},
    {"byte", "u8"},     {"uint16", "u16"}, {"uint32", "u32"},    {"uint64", "u64"},
};

const char *pe_dtype_from_word(const char *word)
{
    const char *dot = strrchr(word, '.'); /* "torch.float32" */
    const char *last = dot ? dot + 1 : word;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcasecmp(WORDS[i][0], last) == 0 || strcasecmp(WORDS[i][1], last) == 0)
            return WORDS[i][1];
    return NULL;
}

const char *pe_dtype_name(pe_dtype dtype)
{
    return pe_dtypes[dtype].name;
}

size_t pe_dtype_size(pe_dtype dtype)
{
    return pe_dtypes[dtype].size;
}

pe_element pe_get_element(pe_dtype dtype)
{
    return pe_dtypes[dtype].element;
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
            halves[i] = pe_round_to_half(values[i], PE_F16_DROPPED, PE_F16_BIAS);
        return;
    }
    case PE_BF16: {
        uint16_t *halves = dst;
        for (size_t i = 0; i < count; i++)
            halves[i] = pe_round_to_half(values[i], PE_BF16_DROPPED, PE_BF16_BIAS);
        return;
    }
    case PE_DD: {
        dd *pairs = dst;
        for (size_t i = 0; i < count; i++)
            pairs[i] = (dd){values[i] + 0.0, 0};
        return;
    }
    case PE_LOSS: /* only the angles of waves are lossy */
        memset(dst, 0, count * sizeof(double));
        return;
    case PE_I32:
    case PE_DTYPE_COUNT:
        break;
    }
    assert(false && "a real dtype");
}

double pe_narrow_to_double(pe_dtype dtype, dd value)
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
    double rounded = pe_narrow_to_double(dtype, value);
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

double pe_element_value(pe_dtype dtype, const void *element)
{
    double double_precision;
    float single_precision;
    uint16_t half;
    switch (dtype) {
    case PE_F64:
    case PE_DD:
    case PE_LOSS:
        memcpy(&double_precision, element, sizeof double_precision);
        return double_precision;
    case PE_F32:
        memcpy(&single_precision, element, sizeof single_precision);
        return (double)single_precision;
    case PE_F16:
        memcpy(&half, element, sizeof half);
        return (double)pe_float_of_f16(half);
    case PE_BF16:
        memcpy(&half, element, sizeof half);
        return (double)pe_float_of_bf16(half);
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

void pe_write_row(void *dst, pe_dtype dtype, const double *numbers, size_t count)
{
    unsigned char *elements = dst;
    const size_t size = pe_dtype_size(dtype);
    if (dtype == PE_I32) {
        for (size_t i = 0; i < count; i++)
            ((int32_t *)dst)[i] = (int32_t)numbers[i];
        return;
    }
    pe_round_row(dtype, numbers, count, dst);
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == 0 && signbit(numbers[i])) {
            elements[i * size + size - 1] |= 0x80;
        } else if (fabs(numbers[i]) >= pe_dtypes[dtype].overflow) {
            const double infinity = copysign(INFINITY, numbers[i]);
            pe_round_row(dtype, &infinity, 1, elements + i * size);
        }
}

double pe_round_number(double number, pe_dtype dtype)
{
    unsigned char element[8];
    if (dtype == PE_F64)
        return number;
    if (dtype == PE_F32)
        return (double)(float)number;
    pe_round_row(dtype, &number, 1, element);
    return pe_element_value(dtype, element);
}
