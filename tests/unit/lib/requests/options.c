/* Options: arguments read by a table of the caller's own. */
#include "posenc.h"
#include "unit.h"

#include <string.h>

static const char *const PAIRINGS[] = {"half", "interleaved", NULL};
static const pe_case WITH_HALF[] = {{.choice = "half", .default_text = "4"}, {.choice = NULL}};

enum { FROM, HEADS, NAMES, EXTENTS, SET, WIDTH, ROW_COUNT };
static const pe_parameter ROWS[ROW_COUNT] = {
    [FROM] = {.name = "from", .type = PE_CHOICE, .required = true, .choices = PAIRINGS},
    [HEADS] =
        {.name = "heads", .type = PE_INTEGER, .minimum = 1, .maximum = 64, .default_text = "8"},
    [NAMES] = {.name = "names", .type = PE_TEXT, .default_text = "*q"},
    [EXTENTS] = {.name = "extents",
                 .type = PE_INTEGER_LIST,
                 .minimum = 1,
                 .maximum = 99,
                 .list_length = 2},
    [SET] = {.name = "set", .type = PE_STORED},
    [WIDTH] = {.name = "width",
               .type = PE_INTEGER,
               .minimum = 0,
               .maximum = 9,
               .when = "from",
               .cases = WITH_HALF},
};

static pe_options *read_all(const pe_argument *arguments, size_t count, pe_error *ret_error)
{
    pe_error_init(ret_error);
    return pe_options_read(ROWS, ROW_COUNT, arguments, count, ret_error);
}

START_TEST(values_are_what_is_given_or_the_default)
{
    const pe_argument arguments[] = {
        {.name = "extents", .text = "3,4"},
        {.name = "from", .text = "half"},
        {.name = "set", .text = "no-store-is-asked"},
    };
    pe_error error;
    pe_options *options = read_all(arguments, UNIT_COUNT(arguments), &error);
    ck_assert_uint_eq(error.count, 0);
    ck_assert_int_eq(pe_options_value(options, FROM)->integer, 0);
    ck_assert_int_eq(pe_options_value(options, HEADS)->integer, 8);
    ck_assert_str_eq(pe_options_value(options, NAMES)->text, "*q");
    ck_assert_uint_eq(pe_options_value(options, EXTENTS)->count, 2);
    ck_assert(pe_options_value(options, EXTENTS)->items[1] == 4);
    ck_assert_str_eq(pe_options_value(options, SET)->text, "no-store-is-asked");
    ck_assert_int_eq(pe_options_value(options, WIDTH)->integer, 4);
    ck_assert_str_eq(pe_options_text(options, EXTENTS), "3,4");
    ck_assert_ptr_null(pe_options_text(options, HEADS));
    pe_options_free(options);
}
END_TEST

START_TEST(wrong_arguments_are_problems_of_their_rows)
{
    static const struct {
        pe_argument arguments[2];
        const char *parameter, *rule;
        pe_reason reason;
    } CASES[] = {
        {{{.name = "heads", .text = "65"}}, "heads", "from 1 to 64", PE_REASON_RANGE},
        {{{.name = "heads", .text = "2"}, {.name = "heads", .text = "2"}},
         "heads",
         "given once",
         PE_REASON_REPEATED},
        {{{.name = "extents", .text = "1,2,3"}},
         "extents",
         "a list of at most 2 items",
         PE_REASON_TOO_LARGE},
        {{{.name = "names", .text = "7", .kind = PE_KIND_NUMBER}},
         "names",
         "a name",
         PE_REASON_KIND},
        {{{.name = "from", .text = "interleaved"}, {.name = "width", .text = "3"}},
         "width",
         "left out with from=interleaved",
         PE_REASON_CONFLICT},
        {{{.name = "head", .text = "2"}},
         "head",
         "one of from, heads, names, extents, set, width",
         PE_REASON_UNKNOWN},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        const bool names_from = strcmp(CASES[i].arguments[0].name, "from") == 0;
        pe_argument arguments[3] = {{.name = "from", .text = "half"}};
        size_t count = names_from ? 0 : 1;
        pe_error error;
        for (size_t a = 0; a < 2 && CASES[i].arguments[a].name; a++)
            arguments[count++] = CASES[i].arguments[a];
        pe_options *options = read_all(arguments, count, &error);
        ck_assert_uint_eq(error.count, 1);
        ck_assert_str_eq(error.problems[0].parameter, CASES[i].parameter);
        ck_assert_int_eq(error.problems[0].reason, CASES[i].reason);
        ck_assert_msg(strstr(error.problems[0].allowed, CASES[i].rule), "%s",
                      error.problems[0].allowed);
        pe_options_free(options);
    }
}
END_TEST

START_TEST(a_misspelt_name_is_suggested_and_not_missing)
{
    const pe_argument wrong[] = {{.name = "form", .text = "half"}};
    pe_error error;
    pe_options_free(read_all(wrong, 1, &error));
    ck_assert_uint_eq(error.count, 1);
    ck_assert_str_eq(error.problems[0].did_you_mean, "from");
    pe_options_free(read_all(NULL, 0, &error));
    ck_assert_uint_eq(error.count, 1);
    ck_assert_int_eq(error.problems[0].reason, PE_REASON_MISSING);
    ck_assert_str_eq(error.problems[0].parameter, "from");
}
END_TEST

START_TEST(taken_arguments_leave_the_others)
{
    pe_argument arguments[] = {
        {.name = "length", .text = "4"},  {.name = "heads", .text = "2"},
        {.name = "from", .text = "half"}, {.name = "names", .text = "", .kind = PE_KIND_NULL},
        {.name = "dim", .text = "8"},
    };
    size_t count = UNIT_COUNT(arguments);
    pe_error error;
    pe_error_init(&error);
    pe_options *options = pe_options_take(ROWS, ROW_COUNT, arguments, &count, &error);
    ck_assert_uint_eq(error.count, 0);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(arguments[0].name, "length");
    ck_assert_str_eq(arguments[1].name, "dim");
    ck_assert_int_eq(pe_options_value(options, HEADS)->integer, 2);
    ck_assert_str_eq(pe_options_value(options, NAMES)->text, "*q"); /* null: not given */
    pe_options_free(options);
}
END_TEST

START_TEST(only_what_is_given_is_refused)
{
    const pe_argument arguments[] = {{.name = "from", .text = "half"},
                                     {.name = "extents", .text = "5"}};
    pe_error error;
    pe_options *options = read_all(arguments, 2, &error);
    ck_assert_ptr_null(pe_options_refuse(options, HEADS, &error, "left out"));
    ck_assert_uint_eq(error.count, 0);
    ck_assert_ptr_nonnull(pe_options_refuse(options, EXTENTS, &error, "%s out", "left"));
    ck_assert_str_eq(error.problems[0].given, "5");
    ck_assert_str_eq(error.problems[0].allowed, "left out");
    pe_options_free(options);
}
END_TEST

START_TEST(options_without_memory_are_a_problem)
{
    const pe_argument arguments[] = {
        {.name = "names", .text = "a,b"},
        {.name = "from", .text = "half"},
        {.name = "extents", .text = "3,4"},
    };
    pe_error error;
    bool failed = true;
    for (size_t first = 0; failed; first++) {
        unit_fail_allocations(first, 1);
        pe_options *options = read_all(arguments, UNIT_COUNT(arguments), &error);
        failed = unit_allow_allocations().failed > 0;
        ck_assert((error.status == PE_NO_MEMORY) == failed);
        ck_assert(failed || pe_options_value(options, FROM)->present);
        ck_assert(options || !pe_options_value(options, FROM)->present);
        pe_options_free(options);
    }
}
END_TEST

Suite *caller_options_suite(void)
{
    const TTest *const tests[] = {
        values_are_what_is_given_or_the_default,
        wrong_arguments_are_problems_of_their_rows,
        a_misspelt_name_is_suggested_and_not_missing,
        taken_arguments_leave_the_others,
        only_what_is_given_is_refused,
        options_without_memory_are_a_problem,
        NULL,
    };
    return unit_suite("caller_options", tests);
}
