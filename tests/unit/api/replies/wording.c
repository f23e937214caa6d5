/* What problem documents say: phrases, sentences, and the sentence about several problems. */
#include "replies/wording.h"

#include "http/arguments.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const pe_limits LIMITS = {1 << 20, 1 << 20, 4, NULL, NULL};

/* The problems of a request that is written as a query, or as JSON where it begins with a
 * brace. */
static void refuse(const char *scheme, const char *request, pe_error *ret_error)
{
    api_arguments arguments;
    pe_request *made = NULL;
    pe_error found;
    pe_error_init(&found);
    if (request[0] == '{')
        ck_assert(api_arguments_from_json(request, strlen(request), &arguments, &found));
    else
        api_arguments_from_query(request, &arguments, &found);
    pe_request_new(strncmp(scheme, "similarity/", 11) ? pe_scheme_find(scheme)
                                                      : pe_similarity_find(scheme + 11),
                   arguments.items, arguments.count, &LIMITS, &made, ret_error);
    pe_error_append(ret_error, &found);
    ck_assert_msg(ret_error->status != PE_OK, "%s: %s is legal", scheme, request);
    api_arguments_done(&arguments);
    pe_request_unref(made); /* of what was left of a query with a mistake */
}

static void detail_is(const char *scheme, const char *request, const char *expected)
{
    pe_error error;
    api_text text = {0};
    refuse(scheme, request, &error);
    api_word_detail(&error, &text);
    char *detail = api_text_take(&text);
    ck_assert_str_eq(detail, expected);
    free(detail);
}

static void allowed_is(const char *scheme, const char *request, const char *expected)
{
    pe_error error;
    api_text text = {0};
    refuse(scheme, request, &error);
    api_word_allowed(&error, &error.problems[0], &text);
    char *allowed = api_text_take(&text);
    ck_assert_str_eq(allowed, expected);
    free(allowed);
}

#define INTEGER_TAKES                                                                          \
    "takes length, offset, step, positions, dtype, format and tensor; GET "                    \
    "/v1/schemes/integer "                                                                     \
    "describes them"

START_TEST(an_unknown_parameter_is_told_what_the_scheme_takes)
{
    detail_is("integer", "length=4&stpe=1",
              "unknown parameter \"stpe\"; did you mean \"step\"? integer " INTEGER_TAKES);
    detail_is("integer", "length=4&colour=1",
              "unknown parameter \"colour\"; integer " INTEGER_TAKES);
    detail_is(
        "similarity/normalized", "length=4&metric=l2&colour=1",
        "unknown parameter \"colour\"; the similarity of normalized takes length, metric, "
        "rows, dtype, format and tensor; GET /v1/schemes/normalized describes them");
    allowed_is("integer", "length=4&colour=1",
               "one of length, offset, step, positions, dtype, format, tensor");
}
END_TEST

START_TEST(a_missing_parameter_is_described)
{
    detail_is("integer", "",
              "missing parameter \"length\": integer needs an integer from 1 to "
              "9007199254740992, unless positions is given (number of rows)");
    detail_is("binary", "length=2", /* as where a shell took the rest */
              "missing parameter \"width\": binary needs an integer from 1 to 64 "
              "(columns: at least as many as the largest position has bits, the same for all "
              "windows of a table); in a shell, quote the URL, since & ends a command");
    detail_is("rope", "length=4&dim=8&rope_type=linear",
              "missing parameter \"factor\": rope needs a number from 1 to 1000000000 with "
              "rope_type=linear (how many times longer the context becomes)");
}
END_TEST

START_TEST(a_value_is_asked_for_as_the_request_is_written)
{
    detail_is("integer", "length=x",
              "length must be an integer from 1 to 9007199254740992 (given: \"x\")");
    detail_is("integer", "length=1e+4",
              "length must be an integer from 1 to 9007199254740992, without blanks; + in a "
              "query string means a blank, so write 1e4 instead of 1e+4 (given: \"1e 4\")");
    detail_is("integer", "{\"length\":\"4\"}",
              "length must be an integer from 1 to 9007199254740992, written as a JSON number "
              "(given: \"4\", a string)");
    detail_is("integer", "{\"length\":4.5}",
              "length must be an integer from 1 to 9007199254740992 (given: 4.5)");
    detail_is("sinusoidal", "{\"length\":4,\"dim\":8,\"zero_first_row\":\"true\"}",
              "zero_first_row must be true or false, written without quotes (given: \"true\", "
              "a string)");
    detail_is("binary", "length=4&width=2&order=lbs",
              "order must be one of msb, lsb (given: \"lbs\"); did you mean \"lsb\"?");
    detail_is("binary", "{\"length\":4,\"width\":2,\"order\":1}",
              "order must be one of msb, lsb, written as a JSON string (given: 1)");
}
END_TEST

START_TEST(a_list_is_asked_for_as_the_request_is_written)
{
#define NUMBERS "a list of numbers from -9007199254740992 to 9007199254740992"
    allowed_is("integer", "positions=a", NUMBERS ", separated by commas");
    allowed_is("integer", "positions=1,,2",
               NUMBERS ", separated by commas, with no empty item");
    allowed_is("integer", "positions=1,%202",
               NUMBERS ", separated by commas and without blanks; + in a query string means a "
                       "blank, so write 1e4 instead of 1e+4");
    allowed_is("integer", "{\"positions\":\"1,2\"}", NUMBERS ", written as a JSON array");
    allowed_is("integer", "{\"positions\":[]}", NUMBERS ", with at least one item");
    detail_is("integer", "{\"length\":[1,2]}",
              "length must be an integer from 1 to 9007199254740992, written as a JSON number "
              "(given: [1,2])");
    detail_is("integer", "positions=1,2,3,4,5",
              "positions must be a list of at most 4 items (given: 5 items)");
}
END_TEST

START_TEST(a_stored_set_that_is_not_there_points_to_the_list)
{
    detail_is("learned", "length=4&set=bert",
              "set must be the name of a set; GET /v1/sets lists them "
              "(given: \"bert\")");
}
END_TEST

START_TEST(what_excludes_another_is_to_be_left_out)
{
    detail_is("integer", "positions=1&step=2",
              "step must be left out with positions, which replaces it (given: 2)");
    detail_is(
        "rope", "length=4&dim=8&factor=2",
        "factor must be left out with rope_type=default, which does not use it (given: 2)");
    detail_is("integer", "length=4&preset=x",
              "preset must be left out: integer has no presets (given: x)");
    detail_is("integer", "length=4&length=4", "length is given more than once; give it once");
}
END_TEST

START_TEST(what_is_no_parameter_has_a_name_of_its_own)
{
    detail_is("integer", "length=4&&",
              "the query string must be name=value pairs joined by single &");
    detail_is("integer", "length", "length must be followed by a value: length=…");
}
END_TEST

START_TEST(several_problems_are_named)
{
    detail_is("sinusoidal", "length=0&dim=x&colour=1",
              "length, dim and colour are wrong; errors has a message for each");
    detail_is("sinusoidal", "", "length and dim are missing; errors has a message for each");
    detail_is("sinusoidal", "dim=8&layout=concat", /* one again */
              "missing parameter \"length\": sinusoidal needs an integer from 1 to "
              "9007199254740992, unless positions is given (number of rows)");
    detail_is(
        "integer",
        "length=4&a=1&b=1&c=1&d=1&e=1&f=1&g=1&h=1&i=1&j=1&k=1&l=1&m=1&n=1&o=1"
        "&p=1&q=1&r=1",
        "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, r and 2 more are wrong; errors has a "
        "message for each");
}
END_TEST

START_TEST(want_of_memory_and_time_is_not_the_requests_fault)
{
    static const struct {
        pe_status status;
        const char *allowed, *detail;
    } CASES[] = {
        {PE_NO_MEMORY, "memory for the table",
         "the server is out of memory for the table; try again later"},
        {PE_CANCELLED, "completed before its caller ends it",
         "the computation takes longer than the server's compute-seconds; ask for less, since "
         "another try would take as long"},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_error error;
        api_text text = {0};
        pe_error_init(&error);
        pe_error_add(&error, CASES[i].status, "", "", "%s", CASES[i].allowed);
        api_word_detail(&error, &text);
        char *detail = api_text_take(&text);
        ck_assert_str_eq(detail, CASES[i].detail);
        free(detail);
    }
}
END_TEST

Suite *wording_suite(void)
{
    const TTest *const tests[] = {an_unknown_parameter_is_told_what_the_scheme_takes,
                                  a_missing_parameter_is_described,
                                  a_value_is_asked_for_as_the_request_is_written,
                                  a_list_is_asked_for_as_the_request_is_written,
                                  a_stored_set_that_is_not_there_points_to_the_list,
                                  what_excludes_another_is_to_be_left_out,
                                  what_is_no_parameter_has_a_name_of_its_own,
                                  several_problems_are_named,
                                  want_of_memory_and_time_is_not_the_requests_fault,
                                  NULL};
    return unit_suite("wording", tests);
}
