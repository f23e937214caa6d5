/* Numbers. The input is taken as a text, and then as elements of every dtype. A text must be
 * read if and only if it matches JSON's grammar, and as the nearest double. An element that is
 * printed must read back as the same element, and must have no more digits than that needs. A
 * row must print as its elements do. */
#include "support/fuzz.h"

#include "posenc.h"

#include <math.h>
#include <string.h>

static const char JSON_NUMBER[] = "-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?";

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* The number of digits from the first one that is not 0 to the last one that is not 0. */
static int significant_digits(const char *text)
{
    int count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text == '0')
            zeros += count > 0;
        else if (*text >= '1' && *text <= '9') {
            count += zeros + 1;
            zeros = 0;
        }
    }
    return count;
}

/* The fewest digits for which the number that printf rounds to reads back. */
static int needed_digits(double number)
{
    char text[40];
    int digits = 1;
    for (;; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, number);
        if (digits == 17 || same_double(strtod(text, NULL), number))
            return number == 0 ? 0 : digits;
    }
}

static void check_printed(double number)
{
    char printed[PE_PRINT_MAX];
    double back;
    size_t length = pe_print_number(printed, number);
    fuzz_check(length == strlen(printed) && length < sizeof printed, "the length of %s",
               printed);
    fuzz_check(pe_parse_number(printed, length, &back) && same_double(back, number),
               "%s reads back as %a", printed, number);
    fuzz_check(significant_digits(printed) <= needed_digits(number), "%s is not shortest",
               printed);
}

static void check_text(const uint8_t *data, size_t size)
{
    double number = 0, beside = 0;
    char *text = fuzz_copy(data, size), *item = malloc(size + 3);
    bool is_number = fuzz_fits(JSON_NUMBER, text, size);
    fuzz_check(pe_parse_number(text, size, &number) == is_number, "the grammar of %s", text);
    memcpy(item, data, size);
    memcpy(item + size, ",9", 3);
    fuzz_check(pe_parse_number(item, size, &beside) == is_number, "the grammar of %s", item);
    if (is_number) {
        fuzz_check(same_double(number, strtod(text, NULL)), "the value of %s", text);
        fuzz_check(same_double(number, beside), "the value of %s", item);
        if (isfinite(number))
            check_printed(number);
    }
    free(item);
    free(text);
}

/* ---- elements ---- */

/* The value of an f16 or bf16 with these bits. */
static double half_value(pe_dtype dtype, unsigned bits)
{
    int fraction = dtype == PE_F16 ? 10 : 7, bias = dtype == PE_F16 ? 15 : 127;
    int field = (int)(bits & 0x7fff) >> fraction;
    unsigned significand = (bits & ((1U << fraction) - 1)) | (field ? 1U << fraction : 0);
    double value = ldexp(significand, (field ? field : 1) - bias - fraction);
    return bits >> 15 ? -value : value;
}

/* Whether a number rounds to an element of 16 bits: no neighbour is nearer, and a tie goes to
 * the even one. */
static bool rounds_to_half(pe_dtype dtype, unsigned bits, double number)
{
    double own = fabs(number - half_value(dtype, bits));
    /* for the largest element, `above` is where infinity would be if it were finite */
    /* for the largest element, `above` is where infinity would be if it were finite */
    double above = fabs(number - half_value(dtype, bits + 1));
    double below = bits & 0x7fff ? fabs(number - half_value(dtype, bits - 1)) : INFINITY;
    bool sign = signbit(number) == (int)(bits >> 15) || (bits >> 15 && signbit(number));
    return sign && (bits & 1 ? own < above && own < below : own <= above && own <= below);
}

static bool reads_back(pe_dtype dtype, const void *element, const char *printed)
{
    double number = strtod(printed, NULL);
    float single = strtof(printed, NULL);
    int32_t integer = (int32_t)strtol(printed, NULL, 10);
    uint16_t half;
    memcpy(&half, element, sizeof half);
    switch (dtype) {
    case PE_F64:
        return memcmp(element, &number, sizeof number) == 0;
    case PE_F32:
        return memcmp(element, &single, sizeof single) == 0;
    case PE_I32:
        return memcmp(element, &integer, sizeof integer) == 0;
    case PE_F16:
    case PE_BF16:
        return rounds_to_half(dtype, half, number);
    case PE_DTYPE_COUNT:
    case PE_DD:
    case PE_LOSS:
        break;
    }
    return false;
}

static bool is_finite(pe_dtype dtype, const void *element)
{
    double number;
    float single;
    uint16_t half;
    memcpy(&half, element, sizeof half);
    if (dtype == PE_F16 || dtype == PE_BF16)
        return (half & (dtype == PE_F16 ? 0x7c00 : 0x7f80)) !=
               (dtype == PE_F16 ? 0x7c00 : 0x7f80);
    if (dtype == PE_I32)
        return true;
    memcpy(&single, element, sizeof single);
    if (dtype == PE_F32)
        return isfinite(single);
    memcpy(&number, element, sizeof number);
    return isfinite(number);
}

static void check_elements(pe_dtype dtype, const uint8_t *data, size_t size)
{
    size_t width = pe_dtype_size(dtype), count = size / width;
    char *elements = fuzz_exact(data, count * width), *row = malloc(count * PE_PRINT_MAX + 1);
    size_t length = pe_print_row(row, dtype, elements, count), at = 0;
    for (size_t i = 0; i < count; i++) {
        char printed[PE_PRINT_MAX];
        const char *element = elements + i * width;
        size_t own = pe_print_element(printed, dtype, element);
        fuzz_check(own == strlen(printed) && own < sizeof printed, "the length of %s", printed);
        if (is_finite(dtype, element))
            fuzz_check(reads_back(dtype, element, printed), "%s (%s, element %zu) reads back",
                       printed, pe_dtype_name(dtype), i);
        else
            fuzz_check(strcmp(printed, "null") == 0, "%s is not null", printed);
        fuzz_check(at + own <= length && memcmp(row + at, printed, own) == 0,
                   "element %zu in a row of %s: %s, not %.20s", i, pe_dtype_name(dtype),
                   printed, row + at);
        at += own;
        fuzz_check(i + 1 == count || row[at] == ',', "no comma after element %zu", i);
        at += i + 1 < count;
    }
    fuzz_check(at == length, "a row of %zu bytes has length %zu", at, length);
    free(row);
    free(elements);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1200)
        return 0;
    check_text(data, size);
    for (pe_dtype dtype = 0; dtype < PE_DTYPE_COUNT; dtype++)
        check_elements(dtype, data, size);
    return 0;
}
