/* Printing elements: the shortest decimal that reads back, the closest such, spelt one way. */
#include "../unit.h"
#include "kernel.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is printed, taken apart ---- */

typedef struct decimal {
    int64_t digits; /* without trailing zeros */
    int exponent;   /* |number| = digits · 10^exponent */
    int count;      /* of digits */
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

/* Take a printed magnitude apart; fail the test if it is not spelt as it should be: positional
 * from 1e-4 to below 1e16, else with one digit before the point. */
static decimal take_apart(const char *text)
{
    int64_t digits = 0;
    int exponent = 0, before = 0, after = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++, before++)
        digits = digits * 10 + (*at - '0');
    bool leading_zero = text[0] == '0', point = *at == '.';
    for (at += point; *at >= '0' && *at <= '9'; at++, after++)
        digits = digits * 10 + (*at - '0');
    bool last_is_zero = at > text && at[-1] == '0', well_spelt;
    if (*at == 'e') {
        char *end;
        exponent = (int)strtol(at + 1, &end, 10);
        bool two_digits = end - at == 4 || (end - at > 4 && at[2] != '0');
        well_spelt = before == 1 && !leading_zero && point == (after > 0) &&
                     !(point && last_is_zero) && (at[1] == '-' || at[1] == '+') && two_digits &&
                     *end == '\0' && (exponent < -4 || exponent >= 16);
    } else {
        well_spelt = before > 0 && before <= 16 && point && after > 0 && *at == '\0' &&
                     (before == 1 || !leading_zero) && !(after > 1 && last_is_zero);
    }
    if (!well_spelt)
        ck_abort_msg("%s is misspelt", text);
    return decimal_of(digits, exponent - after);
}

/* ---- what should be printed, by search ---- */

static bool reads_back(pe_dtype dtype, int64_t digits, int exponent, double magnitude)
{
    char text[40];
    snprintf(text, sizeof text, "%llde%d", (long long)digits, exponent);
    if (dtype == PE_F64)
        return strtod(text, NULL) == magnitude;
    if (dtype == PE_F32)
        return (double)strtof(text, NULL) == magnitude;
    /* a decimal this short is no tie of halves after strtod unless it was one before */
    return unit_nearest(dtype, strtod(text, NULL)) == magnitude;
}

/* The decimal of `count` digits that is closest to the magnitude (of two alike the even one, as
 * in printf) and reads back; none: no digits.
 * If any reads back, then one of the three around the exact value does. */
static decimal closest(pe_dtype dtype, double magnitude, int count)
{
    char text[40], *exponent_at;
    snprintf(text, sizeof text, "%.*e", count - 1, magnitude); /* exact, then rounded once */
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

/* Check an element against a search. A decimal shorter by more than one digit would, with
 * a zero, also be shorter by one. */
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
    decimal got = take_apart(text + (value < 0));
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

static void check_f32(uint32_t bits)
{
    check(PE_F32, &bits);
}

static void check_f64(uint64_t bits)
{
    check(PE_F64, &bits);
}

START_TEST(random_f32_are_printed_shortest_and_closest)
{
    uint64_t state = 1;
    for (size_t i = 0; i < 60000; i++) {
        uint64_t bits = unit_random(&state);
        uint32_t word = (uint32_t)bits, exponent = 100 + (uint32_t)(bits >> 32) % 56;
        check_f32(word);
        check_f32(word & 0x807fffff);                    /* subnormal */
        check_f32((word & 0x807fffff) | exponent << 23); /* near 1 */
    }
}
END_TEST

START_TEST(random_f64_are_printed_shortest_and_closest)
{
    uint64_t state = 2;
    for (size_t i = 0; i < 60000; i++) {
        uint64_t bits = unit_random(&state);
        check_f64(bits);
        check_f64(bits >> (12 + bits % 52)); /* subnormal, few and many bits */
        check_f64(bits >> 12 | (1023 - 64 + bits % 128) << 52); /* near 1 */
    }
}
END_TEST

START_TEST(powers_of_two_and_their_neighbours_are_printed_shortest_and_closest)
{
    for (uint32_t exponent = 0; exponent < 255; exponent++)
        for (uint32_t near = 0; near < 5; near++)
            check_f32((exponent << 23) + near - (exponent > 0 ? 2 : 0));
    for (uint64_t exponent = 0; exponent < 2047; exponent++)
        for (uint64_t near = 0; near < 5; near++)
            check_f64((exponent << 52) + near - (exponent > 0 ? 2 : 0));
    for (unsigned bit = 0; bit < 52; bit++)
        check_f64(1ULL << bit);
    for (unsigned bit = 0; bit < 23; bit++)
        check_f32(1U << bit);
    check_f32(0x7f7fffff);
    check_f32(0x7f800000);
    check_f64(0x7fefffffffffffff);
    check_f64(0xfff0000000000000);
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
        decimal got = take_apart(text);
        unit_assert(got.digits == expected.digits && got.exponent == expected.exponent);
        pe_print_element(text, PE_F32, &single);
        got = take_apart(text);
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

/* As Python's repr writes them. */
START_TEST(known_numbers_have_their_known_texts)
{
    static const struct {
        double value;
        const char *text;
    } CASES[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {-1, "-1.0"},
        {0.1, "0.1"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {9.999e-5, "9.999e-05"},
        {1e16, "1e+16"},
        {1e15, "1000000000000000.0"},
        {1234567890123456, "1234567890123456.0"},
        {9007199254740992, "9007199254740992.0"},
        {9007199254740993e3, "9.007199254740993e+18"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {-2.2250738585072014e-308, "-2.2250738585072014e-308"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {9.5367431640625e-7, "9.5367431640625e-07"},
        {2e-44, "2e-44"},
        {123456.789, "123456.789"},
        {0.30000000000000004, "0.30000000000000004"},
        {1e100, "1e+100"},
        {2.0e-3, "0.002"},
        {4.35, "4.35"},
        {2098765432109876.5, "2098765432109876.5"},
        {9.109383632e-31, "9.109383632e-31"},
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

/* ---- rows ---- */

#define ROW_MAX 200

/* A row by the kernel in use, against single elements; nothing is written past its room. */
static void check_row(pe_dtype dtype, const void *elements, size_t count)
{
    static char text[ROW_MAX * PE_PRINT_MAX + 1], expected[ROW_MAX * PE_PRINT_MAX + 1];
    const unsigned char *element = elements;
    size_t length = 0;
    for (size_t i = 0; i < count; i++, element += pe_dtype_size(dtype)) {
        length += pe_print_element(expected + length, dtype, element);
        expected[length++] = ',';
    }
    length -= count > 0;
    expected[length] = '\0';
    text[count * PE_PRINT_MAX] = '#';
    size_t got = pe_print_row(text, dtype, elements, count);
    unit_assert(text[count * PE_PRINT_MAX] == '#');
    text[got] = '\0';
    if (got != length || memcmp(text, expected, length) != 0)
        ck_abort_msg("%s: %s\nnot %s", pe_kernel_get()->name, text, expected);
}

/* Elements of every class side by side. */
static void fill_mixed(uint64_t *elements, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = unit_random(state), kind = bits >> 32 & 7;
        uint32_t sign = (uint32_t)bits & 0x80000000, fraction = (uint32_t)bits & 0x7fffff;
        uint32_t near_one = sign | fraction | (110 + (uint32_t)(bits >> 40) % 20) << 23;
        const uint32_t words[8] = {sign,       0x7f800000 | sign, fraction | sign,
                                   0x7fc00000, near_one,          near_one,
                                   near_one,   (uint32_t)bits};
        elements[i] = (uint64_t)words[kind] << 32 | words[bits >> 48 & 7];
    }
}

START_TEST(rows_of_every_length_and_class_are_as_single_elements)
{
    const pe_kernel *kernels[8];
    size_t kernel_count = pe_kernel_list(kernels);
    uint64_t elements[ROW_MAX], state = 4;
    for (size_t count = 0; count <= ROW_MAX; count++)
        for (int repeat = 0; repeat < 20; repeat++) {
            fill_mixed(elements, count, &state);
            for (size_t k = 0; k < kernel_count; k++) {
                pe_kernel_use(kernels[k]);
                for (int dtype = 0; dtype < PE_DTYPE_COUNT; dtype++)
                    check_row((pe_dtype)dtype, elements, count);
            }
        }
    pe_kernel_use(NULL);
}
END_TEST

START_TEST(rows_of_all_halves_are_as_single_elements)
{
    const pe_kernel *kernels[8];
    size_t kernel_count = pe_kernel_list(kernels);
    for (uint32_t first = 0; first < 65536; first += 128) {
        uint16_t halves[128];
        for (uint32_t i = 0; i < 128; i++)
            halves[i] = (uint16_t)(first + i);
        for (size_t k = 0; k < kernel_count; k++) {
            pe_kernel_use(kernels[k]);
            check_row(PE_F16, halves, 128);
            check_row(PE_BF16, halves, 128);
        }
    }
    pe_kernel_use(NULL);
}
END_TEST

static void prints_row(pe_dtype dtype, const void *elements, size_t count, const char *expected)
{
    char text[4 * PE_PRINT_MAX];
    ck_assert_uint_eq(pe_print_row(text, dtype, elements, count), strlen(expected));
    ck_assert_int_eq(memcmp(text, expected, strlen(expected)), 0);
}

START_TEST(a_row_has_commas_between)
{
    static const int32_t INTEGERS[] = {1, -2, INT32_MIN};
    static const float FLOATS[] = {0.5F, -1, 1e10F};
    static const double DOUBLES[] = {(double)NAN, -0.0, 1e-300};
    prints_row(PE_I32, INTEGERS, 3, "1,-2,-2147483648");
    prints_row(PE_F32, FLOATS, 3, "0.5,-1.0,10000000000.0");
    prints_row(PE_F32, FLOATS, 1, "0.5");
    prints_row(PE_F32, FLOATS, 0, "");
    prints_row(PE_F64, DOUBLES, 3, "null,-0.0,1e-300");
}
END_TEST

START_TEST(a_row_of_the_longest_texts_fits_its_room)
{
    enum { COUNT = 100 };
    double values[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        values[i] = -2.2250738585072014e-308;
    char *text = malloc(COUNT * PE_PRINT_MAX);
    ck_assert_uint_eq(pe_print_row(text, PE_F64, values, COUNT), COUNT * 25 - 1);
    free(text);
}
END_TEST

START_TEST(elements_may_lie_anywhere)
{
    unsigned char bytes[4 + 2 * sizeof(double)];
    const double values[2] = {-1.25, 3e-7};
    for (size_t shift = 0; shift < 4; shift++) {
        char text[2 * PE_PRINT_MAX];
        memcpy(bytes + shift, values, sizeof values);
        size_t length = pe_print_row(text, PE_F64, bytes + shift, 2);
        ck_assert_uint_eq(length, 11);
        ck_assert_int_eq(memcmp(text, "-1.25,3e-07", 11), 0);
    }
}
END_TEST

Suite *print_suite(void)
{
    const TTest *const tests[] = {
        every_f16_is_printed_shortest_and_closest,
        every_bf16_is_printed_shortest_and_closest,
        random_f32_are_printed_shortest_and_closest,
        random_f64_are_printed_shortest_and_closest,
        powers_of_two_and_their_neighbours_are_printed_shortest_and_closest,
        short_decimals_print_as_they_are,
        known_numbers_have_their_known_texts,
        each_dtype_has_its_own_shortest_text,
        integers_are_plain,
        rows_of_every_length_and_class_are_as_single_elements,
        rows_of_all_halves_are_as_single_elements,
        a_row_has_commas_between,
        a_row_of_the_longest_texts_fits_its_room,
        elements_may_lie_anywhere,
        NULL,
    };
    return unit_suite("print", tests);
}
