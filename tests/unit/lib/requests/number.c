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
        knows_what_rounding_has_kept,
        reads_alike_in_any_locale,
        NULL,
    };
    return unit_suite("number", tests);
}
