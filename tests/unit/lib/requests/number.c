/* Reading numbers: JSON's grammar alone, the nearest double, the same in any locale. */
#include "posenc.h"
#include "unit.h"

#include <locale.h>
#include <math.h>
#include <string.h>

typedef struct reading {
    const char *text;
    double number;
} reading;

static void reads(const char *text, double expected)
{
    double number = NAN;
    ck_assert_msg(pe_parse_number(text, strlen(text), &number), "%s is refused", text);
    ck_assert_msg(memcmp(&number, &expected, sizeof number) == 0, "%s reads as %a, not %a",
                  text, number, expected);
}

static void refuses(const char *text, size_t length)
{
    double number = 77;
    ck_assert_msg(!pe_parse_number(text, length, &number), "'%s' (%zu) reads as %g", text,
                  length, number);
    ck_assert_double_eq(number, 77);
}

START_TEST(reads_what_json_calls_a_number)
{
    static const reading READINGS[] = {
        {"0", 0},
        {"-0", -0.0},
        {"7", 7},
        {"-12", -12},
        {"0.5", 0.5},
        {"-0.25", -0.25},
        {"0.0", 0},
        {"10.50", 10.5},
        {"1e4", 10000},
        {"1E4", 10000},
        {"1e+4", 10000},
        {"1e-2", 0.01},
        {"25e-2", 0.25},
        {"1.5e3", 1500},
        {"0e0", 0},
        {"0e5", 0},
        {"1e0000000000000000000002", 100},
        {"1e-0", 1},
        {"123456789012345", 123456789012345},
        {"-123456789012345", -123456789012345},
        {"-999999999999999", -999999999999999},
    };
    for (size_t i = 0; i < UNIT_COUNT(READINGS); i++)
        reads(READINGS[i].text, READINGS[i].number);
}
END_TEST

START_TEST(refuses_everything_else)
{
    static const char *const TEXTS[] = {
        "",      " ",     " 1",           "1 ",       "\t1",       "1\n",  "+1",   "+0",
        "--1",   "-",     "-+1",          "- 1",      "1.",        ".5",   "-.5",  ".",
        "1..2",  "1.2.3", "1e",           "1e+",      "1e-",       "1E",   "e5",   "-e5",
        "1e5.0", "1e 5",  "1ee5",         "1e+-5",    "00",        "01",   "-01",  "007",
        "00.5",  "1_000", "1,5",          "1'000",    "0x10",      "0X1p", "0b1",  "1f",
        "1.0f",  "10L",   "nan",          "NaN",      "-nan",      "inf",  "-inf", "Inf",
        "1e5x",  "x",     "infinity",     "\xd9\xa1", "1\xc2\xa0", "true", "null", "\"1\"",
        "1;2",   "1/2",   "\xef\xbc\x91", "0.",       "-0.",       "1.e5",
    };
    for (size_t i = 0; i < UNIT_COUNT(TEXTS); i++)
        refuses(TEXTS[i], strlen(TEXTS[i]));
    refuses("1\0", 2);
    refuses("\0", 1);
    refuses("1\0"
            "2",
            3);
}
END_TEST

/* A number ends where the caller says, whatever follows the separator. */
START_TEST(reads_an_item_of_a_list_up_to_its_comma)
{
    double number;
    ck_assert(pe_parse_number("1.5,2.5", 3, &number));
    ck_assert_double_eq(number, 1.5);
    ck_assert(pe_parse_number("12345678901234567890,1", 20, &number));
    ck_assert_double_eq(number, 12345678901234567890.0);
    ck_assert(pe_parse_number("17,0x5", 2, &number));
    ck_assert_double_eq(number, 17);
    refuses("1,2", 3);
    refuses(",2", 0);
}
END_TEST

/* Expected: Python fractions, rounded to nearest with integers. */
START_TEST(reads_the_nearest_double_of_hard_cases)
{
    static const reading READINGS[] = {
        {"9007199254740993", 0x1p+53}, /* a tie goes to even */
        {"9007199254740995", 0x1.0000000000002p+53},
        {"-9007199254740993", -0x1p+53},
        {"9007199254740993.0000000000000000000000000000000000001", 0x1.0000000000001p+53},
        {"1.00000000000000011102230246251565404236316680908203125", 1},
        {"1.00000000000000011102230246251565404236316680908203126", 0x1.0000000000001p+0},
        {"1.00000000000000011102230246251565404236316680908203124", 1},
        {"0.500000000000000166533453693773481063544750213623046875", 0x1.0000000000002p-1},
        {"0.1", 0x1.999999999999ap-4},
        {"0.3", 0x1.3333333333333p-2},
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
        {"2.2250738585072012e-308", 0x1p-1022},
        {"4.9406564584124654e-324", 0x1p-1074},
        {"2.4703282292062327e-324", 0},
        {"2.4703282292062328e-324", 0x1p-1074},
        {"7.4109846876186981e-324", 0x1p-1074},
        {"7.4109846876186982e-324", 0x1p-1073},
        {"1.7976931348623157e308", 0x1.fffffffffffffp+1023},
        {"1.7976931348623158e308", 0x1.fffffffffffffp+1023},
        {"1.797693134862315807e308", 0x1.fffffffffffffp+1023},
        {"1.797693134862315808e308", HUGE_VAL},
        {"-1.7976931348623159e308", -HUGE_VAL},
        {"6929495644600919.5", 0x1.89e56ee5e7a58p+52},
        {"3.518437208883201171875e13", 0x1.0000000000002p+45},
        {"62.5364939768271845828", 0x1.f44abd5aa7ca4p+5},
        {"8.10109172351e-10", 0x1.bd5cbaef0fd0cp-31},
        {"1.50000000000000011102230246251565", 0x1.8p+0},
        {"30078505129381147446200", 0x1.97a3c7271b021p+74},
        {"1777820000000000000001", 0x1.8180d5bad2e3ep+70},
        {"123456789012345678901234567890e-20", 0x1.26580b487e6b7p+30},
        {"1448997445238699", 0x1.4976c0803feacp+50},
        {"1000000000000000", 0x1.c6bf52634p+49},
        {"9999999999999999", 0x1.1c37937e08p+53},
    };
    for (size_t i = 0; i < UNIT_COUNT(READINGS); i++)
        reads(READINGS[i].text, READINGS[i].number);
}
END_TEST

/* A double keeps the digits before the point, and that there are some behind it. */
START_TEST(knows_what_rounding_has_kept)
{
    static const struct {
        const char *text;
        bool kept;
    } CASES[] = {
        {"9007199254740992", true},
        {"-9007199254740991", true},
        {"9007199254740993", false},
        {"-9007199254740993", false},
        {"9007199254740993.0", false},
        {"9007199254740993e0", false},
        {"9.007199254740993e15", false},
        {"90071992547409930e-1", false},
        {"9007199254740992.0", true},
        {"9.007199254740992e15", true},
        {"9007199254740992.4", false},
        {"8999999999999991.2", false},
        {"8999999999999991.5", false},
        {"4503599627370496.5", false},
        {"4503599627370495.5", true},
        {"4.0000000000000001", false},
        {"4.0000000000000000", true},
        {"0.99999999999999999999", false},
        {"0.3333333333333333333", true},
        {"1e-400", false},
        {"0.0000000000000000e9", true},
        {"0e400", true},
        {"1e23", true},
        {"100000000000000000000000", true},
        {"12345678901234567890", true},
        {"36893488147419103232", true},
        {"1e400", true},
        {"00000", true},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        const char *text = CASES[i].text;
        double number = 0;
        (void)pe_parse_number(text, strlen(text), &number);
        ck_assert_msg(pe_number_is_kept(text, strlen(text), number) == CASES[i].kept, "%s",
                      text);
    }
    ck_assert(pe_number_is_kept("7,9007199254740993", 1, 7));
}
END_TEST

START_TEST(huge_exponents_become_zero_or_infinite)
{
    static const reading READINGS[] = {
        {"1e309", HUGE_VAL},
        {"-1e400", -HUGE_VAL},
        {"1e999999999999999999999999999999", HUGE_VAL},
        {"1e-400", 0},
        {"-1e-400", -0.0},
        {"1e-999999999999999999999999999999", 0},
        {"0e999999999999999999999999999999", 0},
        {"-0e999999999999999999999999999999", -0.0},
        {"0.00000000001e319", 1e308},
    };
    for (size_t i = 0; i < UNIT_COUNT(READINGS); i++)
        reads(READINGS[i].text, READINGS[i].number);
}
END_TEST

START_TEST(reads_hundreds_of_digits)
{
    char text[1200];
    memset(text, '0', sizeof text);
    memcpy(text, "0.", 2);
    memcpy(text + 900, "1e898", 6); /* 898 zeros and a 1: 10^-899 · 10^898 */
    reads(text, 0.1);
    memset(text, '9', 400);
    memcpy(text + 400, "e-400", 6);
    reads(text, 1);
}
END_TEST

/* Read numbers in a locale, and check that it is still the thread's locale afterwards. */
static void read_in_locale(locale_t locale)
{
    locale_t before = uselocale(locale);
    reads("1.5", 1.5);
    reads("-2.25e-1", -0.225);
    refuses("1,5", 3);
    double number;
    ck_assert(pe_parse_number("0.5,7", 3, &number));
    ck_assert_double_eq(number, 0.5);
    ck_assert_ptr_eq(uselocale((locale_t)0), locale);
    uselocale(before);
}

/* Skips locales that are not installed; most of these have a decimal comma. */
START_TEST(reads_alike_in_any_locale)
{
    static const char *const NAMES[] = {"C",           "C.UTF-8",     "POSIX",
                                        "de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8",
                                        "pt_BR.UTF-8", "ru_RU.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < UNIT_COUNT(NAMES); i++) {
        locale_t locale = newlocale(LC_ALL_MASK, NAMES[i], (locale_t)0);
        if (!locale)
            continue;
        read_in_locale(locale);
        freelocale(locale);
        if (setlocale(LC_ALL, NAMES[i])) {
            read_in_locale(LC_GLOBAL_LOCALE);
            setlocale(LC_ALL, "C");
        }
    }
}
END_TEST

Suite *number_suite(void)
{
    const TTest *const tests[] = {
        reads_what_json_calls_a_number,
        refuses_everything_else,
        reads_an_item_of_a_list_up_to_its_comma,
        reads_the_nearest_double_of_hard_cases,
        knows_what_rounding_has_kept,
        huge_exponents_become_zero_or_infinite,
        reads_hundreds_of_digits,
        reads_alike_in_any_locale,
        NULL,
    };
    return unit_suite("number", tests);
}
