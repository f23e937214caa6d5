/* Reading one argument by its row of the parameter table: kinds, ranges, choices and lists. */
#include "requests/parameters.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const CHOICES[] = {"interleaved", "concat", NULL};

static const pe_parameter INTEGER = {
    .name = "count", .type = PE_INTEGER, .minimum = -9, .maximum = 20000};
static const pe_parameter MULTIPLE = {
    .name = "dim", .type = PE_INTEGER, .minimum = -8, .maximum = 64, .multiple_of = 4};
static const pe_parameter ANY_INTEGER = {
    .name = "seed", .type = PE_INTEGER, .minimum = -0x1p53, .maximum = 0x1p53};
static const pe_parameter REAL = {
    .name = "base", .type = PE_REAL, .minimum = -1.5, .maximum = 1e18};
static const pe_parameter OPEN = {.name = "alpha",
                                  .type = PE_REAL,
                                  .minimum = 0,
                                  .open_minimum = true,
                                  .maximum = 1,
                                  .open_maximum = true};
static const pe_parameter BOOLEAN = {.name = "flag", .type = PE_BOOLEAN};
static const pe_parameter CHOICE = {.name = "layout", .type = PE_CHOICE, .choices = CHOICES};
static const pe_parameter LIST = {
    .name = "positions", .type = PE_REAL_LIST, .minimum = -100, .maximum = 100};

static const pe_limits LIMITS = {.list_length = 5};

/* Read one text; the error describes exactly one problem with the parameter, or none. */
static pe_owned_value read_as(const pe_parameter *parameter, const char *text, pe_kind kind,
                              pe_error *reterr)
{
    pe_owned_value value = {.list = NULL};
    pe_error_init(reterr);
    pe_parameter_read(parameter, text, kind, &LIMITS, &value, reterr);
    ck_assert_uint_eq(reterr->count, value.value.present ? 0 : 1);
    if (reterr->count)
        ck_assert_str_eq(reterr->problems[0].parameter, parameter->name);
    return value;
}

static pe_value legal(const pe_parameter *parameter, const char *text)
{
    pe_error error;
    pe_owned_value value = read_as(parameter, text, PE_KIND_ANY, &error);
    ck_assert_msg(value.value.present, "%s=%s: %s", parameter->name, text,
                  error.problems[0].allowed);
    return value.value;
}

static void refused(const pe_parameter *parameter, const char *text, pe_status status)
{
    pe_error error;
    pe_owned_value value = read_as(parameter, text, PE_KIND_ANY, &error);
    ck_assert_msg(!value.value.present && error.status == status, "%s=%s: status %d",
                  parameter->name, text, error.status);
    ck_assert_ptr_null(value.list);
    ck_assert_str_ne(error.problems[0].allowed, "");
}

START_TEST(integers_may_be_written_in_any_way_that_is_integral)
{
    static const struct {
        const char *text;
        int64_t integer;
    } CASES[] = {{"0", 0},        {"-9", -9},      {"20000", 20000}, {"1e4", 10000},
                 {"1E+4", 10000}, {"1.5e3", 1500}, {"4.0", 4},       {"0.5e1", 5},
                 {"200e-1", 20},  {"-0", 0},       {"0.0000", 0},    {"20000.000", 20000}};
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_value value = legal(&INTEGER, CASES[i].text);
        ck_assert_int_eq(value.integer, CASES[i].integer);
        ck_assert_double_eq(value.real, (double)CASES[i].integer);
        ck_assert(!signbit(value.real) || value.real < 0);
    }
}
END_TEST

START_TEST(what_is_no_integer_is_malformed_and_what_is_outside_is_out_of_range)
{
    static const char *const MALFORMED[] = {"",   "1.5", "1e-1",     "x",    "0x10", "+4",
                                            " 4", "4 ",  "1,2",      "nan",  "inf",  "true",
                                            "4.", "1e",  "\xd9\xa4", "1e3.0"};
    static const char *const OUTSIDE[] = {"-10", "20001", "1e5", "1e400", "-1e400", "1e18"};
    for (size_t i = 0; i < UNIT_COUNT(MALFORMED); i++)
        refused(&INTEGER, MALFORMED[i], PE_MALFORMED);
    for (size_t i = 0; i < UNIT_COUNT(OUTSIDE); i++)
        refused(&INTEGER, OUTSIDE[i], PE_OUT_OF_RANGE);
    refused(&REAL, "-1.50001", PE_OUT_OF_RANGE);
    refused(&REAL, "1.0001e18", PE_OUT_OF_RANGE);
    refused(&REAL, "1e400", PE_OUT_OF_RANGE);
    refused(&REAL, "one", PE_MALFORMED);
    refused(&REAL, "", PE_MALFORMED);
}
END_TEST

START_TEST(bounds_belong_to_the_range)
{
    ck_assert_int_eq(legal(&INTEGER, "-9").integer, -9);
    ck_assert_int_eq(legal(&INTEGER, "20000").integer, 20000);
    ck_assert_double_eq(legal(&REAL, "-1.5").real, -1.5);
    ck_assert_double_eq(legal(&REAL, "1e18").real, 1e18);
    ck_assert_int_eq(legal(&ANY_INTEGER, "9007199254740992").integer, 9007199254740992);
    ck_assert_int_eq(legal(&ANY_INTEGER, "-9007199254740992").integer, -9007199254740992);
    refused(&ANY_INTEGER, "9007199254740994", PE_OUT_OF_RANGE);
    refused(&ANY_INTEGER, "-9007199254740994", PE_OUT_OF_RANGE);
    ck_assert_int_eq(legal(&MULTIPLE, "64").integer, 64);
    ck_assert_int_eq(legal(&MULTIPLE, "-8").integer, -8);
}
END_TEST

START_TEST(open_bounds_are_outside_the_range)
{
    pe_parameter half_open = OPEN;
    half_open.open_maximum = false;
    ck_assert_double_eq(legal(&OPEN, "1e-300").real, 1e-300);
    ck_assert_double_eq(legal(&OPEN, "0.9999999999999999").real, 0x1.fffffffffffffp-1);
    ck_assert_double_eq(legal(&half_open, "1").real, 1);
    static const char *const OUTSIDE[] = {"0", "-0.0", "1", "1.5", "-1", "1e-400"};
    for (size_t i = 0; i < UNIT_COUNT(OUTSIDE); i++)
        refused(&OPEN, OUTSIDE[i], PE_OUT_OF_RANGE);
    pe_error error;
    read_as(&OPEN, "1", PE_KIND_ANY, &error);
    ck_assert_str_eq(error.problems[0].allowed, "a number above 0 and below 1");
    read_as(&half_open, "0", PE_KIND_ANY, &error);
    ck_assert_str_eq(error.problems[0].allowed, "a number above 0 and at most 1");
}
END_TEST

START_TEST(a_problem_says_why_and_with_which_row)
{
    static const struct {
        const pe_parameter *parameter;
        const char *text;
        pe_kind kind;
        pe_reason reason;
    } CASES[] = {
        {&INTEGER, "x", PE_KIND_ANY, PE_REASON_VALUE},
        {&INTEGER, "1.5", PE_KIND_NUMBER, PE_REASON_VALUE},
        {&INTEGER, "-10", PE_KIND_ANY, PE_REASON_RANGE},
        {&MULTIPLE, "2", PE_KIND_NUMBER, PE_REASON_RANGE},
        {&INTEGER, "4", PE_KIND_STRING, PE_REASON_KIND},
        {&BOOLEAN, "yes", PE_KIND_ANY, PE_REASON_VALUE},
        {&CHOICE, "spiral", PE_KIND_STRING, PE_REASON_CHOICE},
        {&LIST, "1,x", PE_KIND_ANY, PE_REASON_VALUE},
        {&LIST, "1,101", PE_KIND_LIST, PE_REASON_RANGE},
        {&LIST, "1,1,1,1,1,1", PE_KIND_LIST, PE_REASON_TOO_LARGE},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_error error;
        read_as(CASES[i].parameter, CASES[i].text, CASES[i].kind, &error);
        ck_assert_int_eq(error.problems[0].reason, CASES[i].reason);
        ck_assert_int_eq(error.problems[0].kind, CASES[i].kind);
        ck_assert_ptr_eq(error.problems[0].row, CASES[i].parameter);
    }
}
END_TEST

START_TEST(a_multiple_is_asked_for_by_name)
{
    static const char *const WRONG[] = {"1", "2", "3", "6", "63", "-7", "68"};
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++) {
        pe_error error;
        read_as(&MULTIPLE, WRONG[i], PE_KIND_ANY, &error);
        ck_assert_int_eq(error.status, PE_OUT_OF_RANGE);
        ck_assert_ptr_nonnull(strstr(error.problems[0].allowed, "multiple of 4"));
        ck_assert_str_eq(error.problems[0].given, WRONG[i]);
    }
}
END_TEST

START_TEST(the_rule_states_the_range_in_plain_numbers)
{
    pe_error error;
    read_as(&INTEGER, "-10", PE_KIND_ANY, &error);
    ck_assert_str_eq(error.problems[0].allowed, "an integer from -9 to 20000");
    read_as(&REAL, "2e18", PE_KIND_ANY, &error);
    ck_assert_str_eq(error.problems[0].allowed, "a number from -1.5 to 1e18");
    read_as(&MULTIPLE, "2", PE_KIND_ANY, &error);
    ck_assert_str_eq(error.problems[0].allowed, "a multiple of 4 from -8 to 64");
    read_as(&LIST, "101", PE_KIND_ANY, &error);
    ck_assert_str_eq(error.problems[0].allowed, "a list of numbers from -100 to 100");
}
END_TEST

START_TEST(zero_has_no_sign)
{
    static const char *const ZEROS[] = {"-0", "-0.0", "-0e5"};
    for (size_t i = 0; i < UNIT_COUNT(ZEROS); i++) {
        ck_assert(!signbit(legal(&REAL, ZEROS[i]).real));
        ck_assert(!signbit(legal(&INTEGER, ZEROS[i]).real));
        pe_error error;
        pe_owned_value list = read_as(&LIST, ZEROS[i], PE_KIND_ANY, &error);
        ck_assert(!signbit(list.value.items[0]));
        free(list.list);
    }
}
END_TEST

START_TEST(booleans_are_true_or_false)
{
    static const char *const WRONG[] = {"", "1", "0", "True", "FALSE", "yes", "tru", "true "};
    ck_assert_int_eq(legal(&BOOLEAN, "true").integer, 1);
    ck_assert_int_eq(legal(&BOOLEAN, "false").integer, 0);
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++)
        refused(&BOOLEAN, WRONG[i], PE_MALFORMED);
}
END_TEST

START_TEST(choices_are_names_with_their_index)
{
    ck_assert_int_eq(legal(&CHOICE, "interleaved").integer, 0);
    ck_assert_int_eq(legal(&CHOICE, "concat").integer, 1);
    pe_error error;
    read_as(&CHOICE, "Concat", PE_KIND_ANY, &error);
    ck_assert_int_eq(error.status, PE_MALFORMED);
    ck_assert_str_eq(error.problems[0].did_you_mean, "concat");
    ck_assert_ptr_nonnull(strstr(error.problems[0].allowed, "interleaved"));
    read_as(&CHOICE, "0", PE_KIND_ANY, &error);
    ck_assert_str_eq(error.problems[0].did_you_mean, "");
    refused(&CHOICE, "", PE_MALFORMED);
}
END_TEST

START_TEST(lists_are_numbers_between_commas)
{
    static const double EXPECTED[] = {1, -2.5, 100, 0.1, 30};
    pe_error error;
    pe_owned_value list = read_as(&LIST, "1,-2.5,1e2,0.1,30.0", PE_KIND_ANY, &error);
    ck_assert_uint_eq(list.value.count, 5);
    ck_assert_int_eq(memcmp(list.value.items, EXPECTED, sizeof EXPECTED), 0);
    free(list.list);
    list = read_as(&LIST, "7", PE_KIND_LIST, &error);
    ck_assert_uint_eq(list.value.count, 1);
    ck_assert_double_eq(list.value.items[0], 7);
    free(list.list);
}
END_TEST

START_TEST(lists_have_no_holes_blanks_or_strangers)
{
    static const char *const WRONG[] = {"",     ",",   "1,",  ",1",  "1,,2", "1, 2",
                                        "1 ,2", "1;2", "[1]", "1,x", "1,+2", "1,.5"};
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++)
        refused(&LIST, WRONG[i], PE_MALFORMED);
    refused(&LIST, "1,101", PE_OUT_OF_RANGE);
    refused(&LIST, "-1e400", PE_OUT_OF_RANGE);
    pe_error error;
    read_as(&LIST, "1,2,zwei", PE_KIND_ANY, &error);
    ck_assert_str_eq(error.problems[0].given, "zwei");
}
END_TEST

START_TEST(lists_too_long_are_refused_before_memory_is_asked_for)
{
    pe_owned_value value = {.list = NULL};
    pe_error error;
    pe_error_init(&error);
    unit_fail_allocations(0, 0);
    pe_parameter_read(&LIST, "1,2,3,4,5,6", PE_KIND_ANY, &LIMITS, &value, &error);
    unit_allocations seen = unit_allow_allocations();
    ck_assert_uint_eq(seen.asked, 0);
    ck_assert_int_eq(error.status, PE_TOO_LARGE);
    ck_assert_str_eq(error.problems[0].given, "6 items");
    ck_assert_ptr_nonnull(strstr(error.problems[0].allowed, "5"));
    refused(&LIST, ",,,,,,,,,,", PE_TOO_LARGE);
}
END_TEST

START_TEST(a_kind_that_does_not_fit_is_malformed)
{
    static const struct {
        const pe_parameter *parameter;
        const char *text;
        bool fits[5]; /* any, number, string, boolean, list */
    } CASES[] = {
        {&INTEGER, "4", {true, true, false, false, false}},
        {&REAL, "4", {true, true, false, false, false}},
        {&BOOLEAN, "true", {true, false, false, true, false}},
        {&CHOICE, "concat", {true, false, true, false, false}},
        {&LIST, "4", {true, false, false, false, true}},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        for (int kind = PE_KIND_ANY; kind <= PE_KIND_LIST; kind++) {
            pe_error error;
            pe_owned_value value =
                read_as(CASES[i].parameter, CASES[i].text, (pe_kind)kind, &error);
            ck_assert_msg(value.value.present == CASES[i].fits[kind], "%s as kind %d",
                          CASES[i].parameter->name, kind);
            ck_assert_int_eq(error.status, CASES[i].fits[kind] ? PE_OK : PE_MALFORMED);
            free(value.list);
        }
    }
}
END_TEST

START_TEST(endless_texts_are_refused_like_short_ones)
{
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refused(&INTEGER, text, PE_MALFORMED);
    refused(&BOOLEAN, text, PE_MALFORMED);
    refused(&CHOICE, text, PE_MALFORMED);
    refused(&LIST, text, PE_MALFORMED);
    memset(text, '9', sizeof text - 1);
    refused(&REAL, text, PE_OUT_OF_RANGE);
    refused(&LIST, text, PE_OUT_OF_RANGE);
}
END_TEST

START_TEST(plain_numbers_have_no_needless_point)
{
    static const struct {
        double number;
        const char *text;
    } CASES[] = {{0, "0"},
                 {-3, "-3"},
                 {10000, "10000"},
                 {0.5, "0.5"},
                 {1e16, "1e+16"},
                 {-1e-7, "-1e-07"},
                 {0x1p53, "9007199254740992"},
                 {10.5, "10.5"}};
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        char text[PE_PRINT_MAX];
        ck_assert_str_eq(pe_plain_number(CASES[i].number, text), CASES[i].text);
    }
}
END_TEST

Suite *parameters_suite(void)
{
    const TTest *const tests[] = {
        integers_may_be_written_in_any_way_that_is_integral,
        what_is_no_integer_is_malformed_and_what_is_outside_is_out_of_range,
        bounds_belong_to_the_range,
        open_bounds_are_outside_the_range,
        a_problem_says_why_and_with_which_row,
        a_multiple_is_asked_for_by_name,
        the_rule_states_the_range_in_plain_numbers,
        zero_has_no_sign,
        booleans_are_true_or_false,
        choices_are_names_with_their_index,
        lists_are_numbers_between_commas,
        lists_have_no_holes_blanks_or_strangers,
        lists_too_long_are_refused_before_memory_is_asked_for,
        a_kind_that_does_not_fit_is_malformed,
        endless_texts_are_refused_like_short_ones,
        plain_numbers_have_no_needless_point,
        NULL,
    };
    return unit_suite("parameters", tests);
}
