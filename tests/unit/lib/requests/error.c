/* Errors: the gravest status, bounded lists, and texts cut between characters. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"

static bool is_utf8(const char *text)
{
    while (*text) {
        unsigned char lead = (unsigned char)*text++;
        int more = lead < 0x80    ? 0
                   : lead >= 0xf0 ? 3
                   : lead >= 0xe0 ? 2
                   : lead >= 0xc0 ? 1
                                  : -1;
        for (; more > 0; more--)
            if (((unsigned char)*text++ & 0xc0) != 0x80)
                return false;
        if (more < 0)
            return false;
    }
    return true;
}

static bool ends_in_ellipsis(const char *text)
{
    size_t length = strlen(text);
    return length >= 3 && strcmp(text + length - 3, ELLIPSIS) == 0;
}

START_TEST(a_fresh_error_has_no_problem)
{
    pe_error error;
    memset(&error, 0xff, sizeof error);
    pe_error_init(&error);
    ck_assert_int_eq(error.status, PE_OK);
    ck_assert_uint_eq(error.count + error.dropped, 0);
}
END_TEST

START_TEST(a_problem_keeps_what_it_was_told)
{
    pe_error error;
    memset(&error, 0xff, sizeof error);
    pe_error_init(&error);
    pe_problem *problem =
        pe_error_add(&error, PE_MALFORMED, "dim", "x%s", "from %d to %s", 1, "9");
    ck_assert_ptr_eq(problem, &error.problems[0]);
    ck_assert_str_eq(problem->parameter, "dim");
    ck_assert_str_eq(problem->given, "x%s");
    ck_assert_str_eq(problem->allowed, "from 1 to 9");
    ck_assert_str_eq(problem->did_you_mean, "");
    pe_problem_suggest(problem, NULL);
    ck_assert_str_eq(problem->did_you_mean, "");
    pe_problem_suggest(problem, "dimension");
    ck_assert_str_eq(problem->did_you_mean, "dimension");
    ck_assert_ptr_eq(pe_error_add(&error, PE_MALFORMED, "b", "", "c"), &error.problems[1]);
    ck_assert_uint_eq(error.count, 2);
    ck_assert_str_eq(error.problems[0].parameter, "dim");
}
END_TEST

START_TEST(a_problem_has_the_reason_of_its_status)
{
    static const struct {
        pe_status status;
        pe_reason reason;
    } CASES[] = {{PE_MALFORMED, PE_REASON_RULE},
                 {PE_OUT_OF_RANGE, PE_REASON_RULE},
                 {PE_TOO_LARGE, PE_REASON_TOO_LARGE},
                 {PE_CANCELLED, PE_REASON_CANCELLED},
                 {PE_NO_MEMORY, PE_REASON_NO_MEMORY}};
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_error error;
        memset(&error, 0xff, sizeof error);
        pe_error_init(&error);
        ck_assert_ptr_null(error.scheme);
        pe_problem *problem = pe_error_add(&error, CASES[i].status, "p", "", "rule");
        ck_assert_int_eq(problem->reason, CASES[i].reason);
        ck_assert_int_eq(problem->kind, PE_KIND_ANY);
        ck_assert_ptr_null(problem->row);
    }
}
END_TEST

START_TEST(appended_problems_come_last_and_keep_everything)
{
    pe_error error, other, full;
    pe_error_init(&error);
    pe_error_init(&other);
    pe_error_init(&full);
    pe_error_add(&error, PE_OUT_OF_RANGE, "first", "1", "rule");
    pe_problem *problem = pe_error_add(&other, PE_MALFORMED, "second", "2", "other rule");
    problem->reason = PE_REASON_REPEATED;
    pe_problem_suggest(problem, "third");
    pe_error_append(&error, &other);
    ck_assert_uint_eq(error.count, 2);
    ck_assert_int_eq(error.status, PE_MALFORMED);
    ck_assert_str_eq(error.problems[0].parameter, "first");
    ck_assert_str_eq(error.problems[1].parameter, "second");
    ck_assert_str_eq(error.problems[1].did_you_mean, "third");
    ck_assert_int_eq(error.problems[1].reason, PE_REASON_REPEATED);
    for (size_t i = 0; i < PE_PROBLEM_LIMIT + 1; i++)
        pe_error_add(&full, PE_TOO_LARGE, "p", "", "rule");
    pe_error_append(&error,
                    &full); /* 15 of the 16 find no more room than 14, and 1 is dropped */
    ck_assert_uint_eq(error.count, PE_PROBLEM_LIMIT);
    ck_assert_uint_eq(error.dropped, 3);
    ck_assert_int_eq(error.status, PE_MALFORMED);
}
END_TEST

START_TEST(the_gravest_status_wins_in_any_order)
{
    static const pe_status RISING[] = {PE_TOO_LARGE, PE_OUT_OF_RANGE, PE_MALFORMED,
                                       PE_NO_MEMORY};
    for (size_t a = 0; a < UNIT_COUNT(RISING); a++) {
        for (size_t b = 0; b < UNIT_COUNT(RISING); b++) {
            pe_error error;
            pe_error_init(&error);
            pe_error_add(&error, RISING[a], "p", "", "rule");
            ck_assert_int_eq(error.status, RISING[a]);
            pe_error_add(&error, RISING[b], "p", "", "rule");
            ck_assert_int_eq(error.status, RISING[a > b ? a : b]);
        }
    }
}
END_TEST

START_TEST(problems_past_the_limit_are_counted_and_their_status_too)
{
    pe_error error;
    pe_error_init(&error);
    for (size_t i = 0; i < PE_PROBLEM_LIMIT + 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%zu", i);
        pe_problem *problem = pe_error_add(&error, PE_TOO_LARGE, name, "", "rule");
        ck_assert(problem >= error.problems && problem < error.problems + PE_PROBLEM_LIMIT);
    }
    ck_assert_uint_eq(error.count, PE_PROBLEM_LIMIT);
    ck_assert_uint_eq(error.dropped, 5);
    for (size_t i = 0; i + 1 < PE_PROBLEM_LIMIT; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%zu", i);
        ck_assert_str_eq(error.problems[i].parameter, name);
    }
    pe_error_add(&error, PE_NO_MEMORY, "last", "", "rule");
    ck_assert_int_eq(error.status, PE_NO_MEMORY);
    ck_assert_uint_eq(error.dropped, 6);
}
END_TEST

/* A text of `shift` ASCII characters and then characters of `width` bytes, far too long. */
static void make_long(char *dst, size_t size, size_t shift, size_t width)
{
    static const char *const CHARACTERS[] = {"", "a", "\xc3\xa9", ELLIPSIS, "\xf0\x9f\x98\x80"};
    memset(dst, 'x', shift);
    size_t length = shift;
    for (; length + width < size; length += width)
        memcpy(dst + length, CHARACTERS[width], width);
    dst[length] = '\0';
}

/* A field holds as much of the text as fits beside an ellipsis, in whole characters. */
static void check_cut(const char *field, size_t size, const char *text, size_t width)
{
    size_t length = strlen(field);
    ck_assert_uint_lt(length, size);
    ck_assert_uint_ge(length, size - width);
    ck_assert(is_utf8(field) && ends_in_ellipsis(field));
    ck_assert_int_eq(memcmp(field, text, length - 3), 0);
}

START_TEST(names_and_values_too_long_are_cut_between_characters)
{
    for (size_t width = 1; width <= 4; width++) {
        for (size_t shift = 0; shift < 4; shift++) {
            char text[600];
            pe_error error;
            pe_error_init(&error);
            make_long(text, sizeof text, shift, width);
            pe_problem *problem = pe_error_add(&error, PE_MALFORMED, text, text, "rule");
            pe_problem_suggest(problem, text);
            check_cut(problem->parameter, sizeof problem->parameter, text, width);
            check_cut(problem->given, sizeof problem->given, text, width);
            check_cut(problem->did_you_mean, sizeof problem->did_you_mean, text, width);
        }
    }
}
END_TEST

START_TEST(rules_too_long_are_cut_between_characters)
{
    for (size_t width = 1; width <= 4; width++) {
        for (size_t shift = 0; shift < 4; shift++) {
            char text[600];
            pe_error error;
            pe_error_init(&error);
            make_long(text, sizeof text, shift, width);
            pe_problem *problem = pe_error_add(&error, PE_MALFORMED, "p", "", "%s", text);
            check_cut(problem->allowed, sizeof problem->allowed, text, width);
        }
    }
}
END_TEST

START_TEST(names_inside_rules_are_cut_between_characters)
{
    for (size_t width = 1; width <= 4; width++) {
        for (int room = 5; room < 60; room++) {
            char text[600];
            pe_error error;
            pe_error_init(&error);
            make_long(text, sizeof text, 1, width);
            pe_problem *problem = pe_error_add(&error, PE_MALFORMED, "p", "", "%.*s is %.*s",
                                               room, text, 4, text);
            const size_t whole = 1 + ((size_t)room - 1) / width * width;
            ck_assert(is_utf8(problem->allowed));
            ck_assert_int_eq(memcmp(problem->allowed, text, whole), 0);
            ck_assert_int_eq(memcmp(problem->allowed + whole, " is ", 4), 0);
        }
    }
}
END_TEST

START_TEST(texts_that_just_fit_are_kept_whole)
{
    char name[64], value[96], rule[256];
    pe_error error;
    pe_error_init(&error);
    memset(name, 'n', sizeof name - 1);
    memset(value, 'v', sizeof value - 1);
    memset(rule, 'r', sizeof rule - 1);
    name[63] = value[95] = rule[255] = '\0';
    pe_problem *problem = pe_error_add(&error, PE_MALFORMED, name, value, "%s", rule);
    ck_assert_str_eq(problem->parameter, name);
    ck_assert_str_eq(problem->given, value);
    ck_assert_str_eq(problem->allowed, rule);
}
END_TEST

START_TEST(a_wrong_choice_lists_the_choices_and_suggests_one)
{
    static const char *const CHOICES[] = {"interleaved", "concat", "concat_cos_first"};
    pe_error error;
    pe_error_init(&error);
    pe_error_add_choice(&error, "layout", "concta", CHOICES, 3);
    const pe_problem *problem = &error.problems[0];
    ck_assert_int_eq(error.status, PE_MALFORMED);
    ck_assert_str_eq(problem->parameter, "layout");
    ck_assert_str_eq(problem->given, "concta");
    ck_assert_str_eq(problem->did_you_mean, "concat");
    for (size_t i = 0; i < 3; i++)
        ck_assert_ptr_nonnull(strstr(problem->allowed, CHOICES[i]));
    pe_error_add_choice(&error, "layout", "q", CHOICES, 3);
    ck_assert_str_eq(error.problems[1].did_you_mean, "");
}
END_TEST

START_TEST(a_repeated_argument_is_refused_as_it_was_written)
{
    const pe_argument argument = {"dim", "8", .kind = PE_KIND_STRING};
    pe_error error;
    pe_error_init(&error);
    pe_error_add_repetition(&error, &argument);
    const pe_problem *problem = &error.problems[0];
    ck_assert_int_eq(error.status, PE_MALFORMED);
    ck_assert_int_eq(problem->reason, PE_REASON_REPEATED);
    ck_assert_int_eq(problem->kind, PE_KIND_STRING);
    ck_assert_str_eq(problem->parameter, "dim");
    ck_assert_str_eq(problem->given, "8");
    ck_assert_str_eq(problem->allowed, "given once");
}
END_TEST

START_TEST(more_choices_than_fit_are_cut)
{
    char names[50][20];
    const char *choices[50];
    pe_error error;
    pe_error_init(&error);
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        snprintf(names[i], sizeof names[i], "choice_number_%zu", i);
        choices[i] = names[i];
    }
    pe_error_add_choice(&error, "p", "choice_nubmer_49", choices, UNIT_COUNT(names));
    ck_assert_uint_lt(strnlen(error.problems[0].allowed, 256), 256);
    ck_assert_ptr_nonnull(strstr(error.problems[0].allowed, "choice_number_3"));
    ck_assert_str_eq(error.problems[0].did_you_mean, "choice_number_49");
}
END_TEST

Suite *error_suite(void)
{
    const TTest *const tests[] = {
        a_fresh_error_has_no_problem,
        a_problem_keeps_what_it_was_told,
        a_problem_has_the_reason_of_its_status,
        appended_problems_come_last_and_keep_everything,
        the_gravest_status_wins_in_any_order,
        problems_past_the_limit_are_counted_and_their_status_too,
        names_and_values_too_long_are_cut_between_characters,
        rules_too_long_are_cut_between_characters,
        names_inside_rules_are_cut_between_characters,
        texts_that_just_fit_are_kept_whole,
        a_wrong_choice_lists_the_choices_and_suggests_one,
        a_repeated_argument_is_refused_as_it_was_written,
        more_choices_than_fit_are_cut,
        NULL,
    };
    return unit_suite("error", tests);
}
