/* Printing elements: the shortest decimal that reads back as the element, of several the
 * closest, in one notation. Those of f32 and f64 are compared in tests/digits. */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing what was printed ---- */

typedef struct decimal {
    int64_t digits; /* without trailing zeros */
    int exponent;   /* |number| = digits · 10^exponent */
    int count;      /* how many digits */
} decimal;

static decimal decimal_of(int64_t digits, int exponent)
{
    while (digits != 0 && digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    decimal number = {digits, exponent, 0};
    for (; digits > 0; digits /= 10)
        number.count++;
    return number;
}

/* Parse a printed magnitude. Fail the test if its notation is wrong: it must be positional from
 * 1e-4 to below 1e16, else scientific with one digit before the point. */
static decimal parse_printed(const char *text)
{
    int64_t digits = 0;
    int exponent = 0, before = 0, after = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++, before++)
        digits = digits * 10 + (*at - '0');
    bool leading_zero = text[0] == '0', point = *at == '.';
    for (at += point; *at >= '0' && *at <= '9'; at++, after++)
        digits = digits * 10 + (*at - '0');
    bool last_is_zero = at > text && at[-1] == '0', well_formed;
    if (*at == 'e') {
        char *end;
        exponent = (int)strtol(at + 1, &end, 10);
        bool two_digits = end - at == 4 || (end - at > 4 && at[2] != '0');
        well_formed = before == 1 && !leading_zero && point == (after > 0) &&
                      !(point && last_is_zero) && (at[1] == '-' || at[1] == '+') &&
                      two_digits && *end == '\0' && (exponent < -4 || exponent >= 16);
    } else {
        well_formed = before > 0 && before <= 16 && point && after > 0 && *at == '\0' &&
                      (before == 1 || !leading_zero) && !(after > 1 && last_is_zero);
    }
    if (!well_formed)
        ck_abort_msg("%s has the wrong notation", text);
    return decimal_of(digits, exponent - after);
}

/* ---- finding what should be printed by search ---- */

static bool reads_back(pe_dtype dtype, int64_t digits, int exponent, double magnitude)
{
    char text[40];
    snprintf(text, sizeof text, "%llde%d", (long long)digits, exponent);
    /* rounding to double first is harmless: so short a decimal becomes no tie by it */
    return unit_nearest(dtype, strtod(text, NULL)) == magnitude;
}

/* The decimal of `count` digits that reads back as the magnitude and is closest to it; of two
 * equally close ones the even one, as in printf. If none reads back, digits is 0. It suffices
 * to try the three decimals around the exact value. */
static decimal closest(pe_dtype dtype, double magnitude, int count)
{
    char text[40], *exponent_at;
    snprintf(text, sizeof text, "%.*e", count - 1, magnitude); /* correctly rounded */
    exponent_at = strchr(text, 'e');
    int exponent = (int)strtol(exponent_at + 1, NULL, 10) - (count - 1);
    if (count > 1)
        memmove(text + 1, text + 2, (size_t)(exponent_at - text) - 1);
    int64_t digits = strtoll(text, NULL, 10);
    static const int64_t NEAR[] = {0, 1, -1};
    for (size_t i = 0; i < UNIT_COUNT(NEAR); i++)
        if (reads_back(dtype, digits + NEAR[i], exponent, magnitude))
            return decimal_of(digits + NEAR[i], exponent);
    return (decimal){0, 0, 0};
}

/* Fail unless an element prints as the search says. It suffices to look for a decimal that is
 * one digit shorter: with a zero appended, an even shorter one has that length too. */
static void check(pe_dtype dtype, const void *element)
{
    char text[PE_PRINT_MAX];
    memset(text, 'x', sizeof text);
    size_t length = pe_print_element(text, dtype, element);
    double value = unit_element(dtype, element), magnitude = fabs(value);
    if (length != strnlen(text, sizeof text))
        ck_abort_msg("%a: the length %zu is wrong", value, length);
    if (!isfinite(value) || value == 0) {
        const char *expected = !isfinite(value) ? "null" : signbit(value) ? "-0.0" : "0.0";
        ck_assert_str_eq(text, expected);
        return;
    }
    if ((text[0] == '-') != (value < 0))
        ck_abort_msg("%a prints as %s", value, text);
    decimal got = parse_printed(text + (value < 0));
    decimal best = closest(dtype, magnitude, got.count);
    if (got.digits != best.digits || got.exponent != best.exponent)
        ck_abort_msg("%a prints as %s, not as %llde%d", value, text, (long long)best.digits,
                     best.exponent);
    if (got.count > 1 && closest(dtype, magnitude, got.count - 1).digits != 0)
        ck_abort_msg("%a prints as %s, which has too many digits", value, text);
}

/* ---- tests ---- */

static void check_all_halves(pe_dtype dtype)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits;
        check(dtype, &half);
    }
}

START_TEST(every_f16_is_printed_shortest_and_closest)
{
    check_all_halves(PE_F16);
}
END_TEST

START_TEST(every_bf16_is_printed_shortest_and_closest)
{
    check_all_halves(PE_BF16);
}
END_TEST

START_TEST(short_decimals_print_as_they_are)
{
    uint64_t state = 3;
    for (size_t i = 0; i < 20000; i++) {
        uint64_t bits = unit_random(&state);
        int64_t digits = (int64_t)(bits % 1000000) + 1;
        int exponent = (int)((bits >> 32) % 40) - 20;
        char text[40];
        snprintf(text, sizeof text, "%llde%d", (long long)digits, exponent);
        double number = strtod(text, NULL);
        float single = strtof(text, NULL);
        decimal expected = decimal_of(digits, exponent);
        pe_print_element(text, PE_F64, &number);
        decimal got = parse_printed(text);
        unit_assert(got.digits == expected.digits && got.exponent == expected.exponent);
        pe_print_element(text, PE_F32, &single);
        got = parse_printed(text);
        unit_assert(got.digits == expected.digits && got.exponent == expected.exponent);
    }
}
END_TEST

static void prints_f64(double value, const char *expected)
{
    char text[PE_PRINT_MAX];
    size_t length = pe_print_element(text, PE_F64, &value);
    ck_assert_str_eq(text, expected);
    ck_assert_uint_eq(length, strlen(expected));
}

START_TEST(numbers_print_as_in_python)
{
    static const struct {
        double value;
        const char *text;
    } CASES[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {9.999e-5, "9.999e-05"},
        {1e16, "1e+16"},
        {1e15, "1000000000000000.0"},
        {9007199254740993e3, "9.007199254740993e+18"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {-2.2250738585072014e-308, "-2.2250738585072014e-308"},
        {1e23, "1e+23"},
        {2098765432109876.5, "2098765432109876.5"},
        {(double)NAN, "null"},
        {(double)INFINITY, "null"},
        {-(double)INFINITY, "null"},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++)
        prints_f64(CASES[i].value, CASES[i].text);
}
END_TEST

START_TEST(each_dtype_has_its_own_shortest_text)
{
    const float third = 1.0F / 3, largest = FLT_MAX, least = 1e-45F;
    const uint16_t f16_third = 0x3555, f16_largest = 0x7bff, f16_least = 1, bf16_third = 0x3eab,
                   bf16_largest = 0x7f7f, bf16_least = 1, f16_nan = 0x7e00,
                   bf16_infinite = 0xff80;
    const struct {
        pe_dtype dtype;
        const void *element;
        const char *text;
    } cases[] = {
        {PE_F32, &third, "0.33333334"},    {PE_F32, &largest, "3.4028235e+38"},
        {PE_F32, &least, "1e-45"},         {PE_F16, &f16_third, "0.3333"},
        {PE_F16, &f16_largest, "65500.0"}, {PE_F16, &f16_least, "6e-08"},
        {PE_BF16, &bf16_third, "0.334"},   {PE_BF16, &bf16_largest, "3.39e+38"},
        {PE_BF16, &bf16_least, "9e-41"},   {PE_F16, &f16_nan, "null"},
        {PE_BF16, &bf16_infinite, "null"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char text[PE_PRINT_MAX];
        pe_print_element(text, cases[i].dtype, cases[i].element);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(integers_are_plain)
{
    static const int32_t VALUES[] = {0, 7, -7, 10, 100, -1000000000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < UNIT_COUNT(VALUES); i++) {
        char text[PE_PRINT_MAX], expected[PE_PRINT_MAX];
        snprintf(expected, sizeof expected, "%d", VALUES[i]);
        ck_assert_uint_eq(pe_print_element(text, PE_I32, &VALUES[i]), strlen(expected));
        ck_assert_str_eq(text, expected);
    }
}
END_TEST

Suite *print_suite(void)
{
    const TTest *const tests[] = {
        every_f16_is_printed_shortest_and_closest,
        every_bf16_is_printed_shortest_and_closest,
        short_decimals_print_as_they_are,
        numbers_print_as_in_python,
        each_dtype_has_its_own_shortest_text,
        integers_are_plain,
        NULL,
    };
    return unit_suite("print", tests);
}
