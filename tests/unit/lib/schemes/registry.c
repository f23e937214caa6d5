/* Tests that hold for every scheme of the registry. */
#include "requests/parameters.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pe_scheme_info *info_at(size_t index)
{
    return pe_scheme_describe(pe_scheme_at(index));
}

/* Whether a text is a name: lower-case letters, digits and underscores, a letter first. */
static bool is_name(const char *name)
{
    return name && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name) &&
           strlen(name) < 40;
}

/* Whether a text is some words on one line. */
static bool is_line(const char *text)
{
    return text && text[0] && text[0] != ' ' && text[strlen(text) - 1] != ' ' &&
           !strpbrk(text, "\n\r\t") && !strstr(text, "  ");
}

START_TEST(a_scheme_is_found_by_its_name_alone)
{
    ck_assert_uint_ge(pe_scheme_count(), 6);
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const char *name = info_at(i)->name;
        char other[64];
        ck_assert(is_name(name));
        ck_assert_ptr_eq(pe_scheme_find(name), pe_scheme_at(i));
        snprintf(other, sizeof other, "%s ", name);
        ck_assert_ptr_null(pe_scheme_find(other));
        snprintf(other, sizeof other, "%.*s", (int)strlen(name) - 1, name);
        ck_assert_ptr_null(pe_scheme_find(other));
        snprintf(other, sizeof other, "%s", name);
        other[0] = (char)(other[0] - 'a' + 'A');
        ck_assert_ptr_null(pe_scheme_find(other));
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(name, info_at(j)->name);
    }
    ck_assert_ptr_null(pe_scheme_find(""));
    ck_assert_ptr_nonnull(pe_scheme_find("sinusoidal"));
}
END_TEST

static bool is_family(const char *name)
{
    static const char *const FAMILIES[] = {"absolute", "rotary", "relative", "grid"};
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++)
        if (strcmp(name, FAMILIES[i]) == 0)
            return true;
    return false;
}

START_TEST(a_scheme_describes_itself)
{
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const pe_scheme_info *info = info_at(i);
        ck_assert_msg(is_line(info->title) && is_line(info->summary) &&
                          is_line(info->formula) && is_line(info->convention) &&
                          is_line(info->reference),
                      "%s lacks words", info->name);
        ck_assert_msg(info->summary[strlen(info->summary) - 1] == '.', "%s: a sentence",
                      info->name);
        ck_assert_msg(is_family(info->family), "%s: %s", info->name, info->family);
        ck_assert_uint_ge(info->revision, 1);
        ck_assert_uint_ge(info->tensor_count, 1);
        const pe_scheme *scheme = pe_scheme_at(i);
        ck_assert(scheme->read && scheme->fill && scheme->state_size > 0);
        for (size_t t = 0; t < info->tensor_count; t++) {
            ck_assert(is_name(info->tensors[t].name));
            ck_assert(is_line(info->tensors[t].help));
            ck_assert_int_eq(info->tensors[t].shape[0], '[');
        }
    }
}
END_TEST

START_TEST(parameters_have_names_of_their_own)
{
    static const char *const RESERVED[] = {"format", "dtype",    "tensor", "preset", "metric",
                                           "rows",   "colormap", "scale",  "slice"};
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = info_at(s);
        ck_assert_uint_le(info->parameter_count, PE_LIST_MAX_parameter);
        for (size_t i = 0; i < info->parameter_count; i++) {
            const char *name = info->parameters[i].name;
            ck_assert_msg(is_name(name), "%s: %s", info->name, name);
            for (size_t r = 0; r < UNIT_COUNT(RESERVED); r++)
                ck_assert_msg(strcmp(name, RESERVED[r]) != 0, "%s: %s is reserved", info->name,
                              name);
            ck_assert_uint_eq(pe_parameter_index(info, name),
                              i); /* no earlier one has the name */
            /* `set` and `seed` mean trained tensors in every scheme */
            ck_assert_int_eq(strcmp(name, "set") == 0, info->parameters[i].type == PE_STORED);
            ck_assert(info->parameters[i].type != PE_TEXT && /* of options alone */
                      info->parameters[i].type != PE_TEXT_LIST);
            ck_assert(strcmp(name, "seed") != 0 ||
                      strcmp(info->parameters[i].unless, "set") == 0);
        }
        ck_assert_uint_eq(pe_parameter_index(info, "dtype"), info->parameter_count);
        ck_assert_uint_eq(pe_parameter_index(info, "no_such_name"),
                          pe_all_parameter_count(info));
    }
}
END_TEST

static void check_parameter(const pe_scheme_info *info, const pe_parameter *parameter)
{
    bool numeric = parameter->type == PE_INTEGER || parameter->type == PE_REAL ||
                   parameter->type == PE_REAL_LIST;
    ck_assert_msg(is_line(parameter->help), "%s: %s: one line of help", info->name,
                  parameter->name);
    ck_assert(!parameter->unit || is_line(parameter->unit));
    ck_assert(!numeric || parameter->minimum < parameter->maximum);
    ck_assert(parameter->multiple_of == 0 || parameter->type == PE_INTEGER);
    ck_assert(!(parameter->required && parameter->default_text));
    ck_assert_int_eq(parameter->choices != NULL, parameter->type == PE_CHOICE);
    for (size_t c = 0; parameter->choices && parameter->choices[c]; c++) {
        ck_assert(is_name(parameter->choices[c]));
        for (size_t d = 0; d < c; d++)
            ck_assert_str_ne(parameter->choices[c], parameter->choices[d]);
    }
    ck_assert(!parameter->choices || parameter->choices[0]);
    if (parameter->unless) {
        size_t other = pe_parameter_index(info, parameter->unless);
        ck_assert_msg(other < info->parameter_count, "%s: there is no %s", info->name,
                      parameter->unless);
        ck_assert_str_ne(parameter->unless, parameter->name);
        ck_assert(!info->parameters[other].required || info->parameters[other].unless);
    }
}

/* Check a parameter that depends on the choice of another one: its cases, not its row, say what
 * is required or defaulted. */
static void check_cases(const pe_scheme_info *info, size_t index)
{
    const pe_parameter *parameter = &info->parameters[index], *other;
    size_t other_index = pe_parameter_index(info, parameter->when);
    ck_assert_msg(other_index < index, "%s: %s must come after %s", info->name, parameter->name,
                  parameter->when);
    other = &info->parameters[other_index];
    ck_assert(other->type == PE_CHOICE && !other->when);
    ck_assert(!parameter->required && !parameter->default_text);
    ck_assert_ptr_nonnull(parameter->cases[0].choice);
    for (const pe_case *at = parameter->cases; at->choice; at++) {
        size_t choice = 0;
        while (other->choices[choice] && strcmp(other->choices[choice], at->choice) != 0)
            choice++;
        ck_assert_msg(other->choices[choice] != NULL, "%s: %s is no choice", parameter->name,
                      at->choice);
        ck_assert_ptr_eq(pe_parameter_case(parameter, at->choice), at); /* no earlier case */
        ck_assert(!(at->required && at->default_text));
    }
}

START_TEST(parameter_rows_are_complete)
{
    for (size_t s = 0; s < pe_scheme_count(); s++)
        for (size_t i = 0; i < pe_all_parameter_count(info_at(s)); i++)
            check_parameter(info_at(s), pe_parameter_at(info_at(s), i));
    for (size_t s = 0; s < pe_scheme_count(); s++)
        for (size_t i = 0; i < info_at(s)->parameter_count; i++) {
            ck_assert_int_eq(info_at(s)->parameters[i].when != NULL,
                             info_at(s)->parameters[i].cases != NULL);
            if (info_at(s)->parameters[i].when)
                check_cases(info_at(s), i);
        }
}
END_TEST

START_TEST(presets_have_names_of_their_own_and_only_replace_defaults)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = info_at(s);
        for (size_t p = 0; p < info->preset_count; p++) {
            const pe_preset *preset = &info->presets[p];
            ck_assert(is_line(preset->help));
            for (size_t other = 0; other < p; other++)
                ck_assert_str_ne(preset->name, info->presets[other].name);
            for (size_t v = 0; preset->values[v]; v += 2) {
                size_t index = pe_parameter_index(info, preset->values[v]);
                ck_assert_uint_lt(index, pe_all_parameter_count(info));
                ck_assert(!pe_parameter_at(info, index)->required);
            }
        }
    }
}
END_TEST

/* Whether a query is computed. If it is refused, its problems must name parameters and rules.
 */
static bool works_or_says_why(const pe_scheme_info *info, const char *query)
{
    pe_request *request = NULL;
    pe_error error;
    if (unit_request(info->name, query, &UNIT_LIMITS, &request, &error) == PE_OK) {
        pe_table *table;
        ck_assert_int_eq(pe_table_compute(request, NULL, &table, &error), PE_OK);
        pe_table_unref(table);
        pe_request_unref(request);
        return true;
    }
    ck_assert_int_eq(error.status, PE_OUT_OF_RANGE);
    for (size_t i = 0; i < error.count; i++) {
        const pe_problem *problem = &error.problems[i];
        ck_assert_msg(pe_parameter_index(info, problem->parameter) <
                          pe_all_parameter_count(info),
                      "%s?%s: %s", info->name, query, problem->parameter);
        ck_assert_msg(is_line(problem->allowed), "%s?%s: %s", info->name, query,
                      problem->allowed);
    }
    return false;
}

START_TEST(every_choice_works_or_says_why_not)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = info_at(s);
        size_t works = 0;
        for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
            const pe_parameter *parameter = pe_parameter_at(info, i);
            if (!parameter->choices || unit_query_gives(info->example, parameter->name))
                continue;
            for (size_t c = 0; parameter->choices[c]; c++) {
                char query[200];
                snprintf(query, sizeof query, "%s&%s=%s", info->example, parameter->name,
                         parameter->choices[c]);
                works += works_or_says_why(info, query);
            }
        }
        ck_assert_uint_ge(works, 4); /* the dtypes at least */
    }
}
END_TEST

/* Check every pair of values of two choices. */
static void check_pairs(const pe_scheme_info *info, const pe_parameter *first,
                        const pe_parameter *second)
{
    for (size_t c = 0; first->choices[c]; c++) {
        for (size_t d = 0; second->choices[d]; d++) {
            char query[200];
            snprintf(query, sizeof query, "%s&%s=%s&%s=%s", info->example, first->name,
                     first->choices[c], second->name, second->choices[d]);
            works_or_says_why(info, query);
        }
    }
}

START_TEST(every_pair_of_choices_works_or_says_why_not)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = info_at(s);
        for (size_t i = 0; i < info->parameter_count; i++) {
            const pe_parameter *first = &info->parameters[i];
            if (!first->choices || unit_query_gives(info->example, first->name))
                continue;
            for (size_t j = 0; j < i; j++) {
                const pe_parameter *second = &info->parameters[j];
                if (second->choices && !unit_query_gives(info->example, second->name))
                    check_pairs(info, first, second);
            }
        }
    }
}
END_TEST

Suite *registry_suite(void)
{
    const TTest *const tests[] = {
        a_scheme_is_found_by_its_name_alone,
        a_scheme_describes_itself,
        parameters_have_names_of_their_own,
        parameter_rows_are_complete,
        presets_have_names_of_their_own_and_only_replace_defaults,
        every_choice_works_or_says_why_not,
        every_pair_of_choices_works_or_says_why_not,
        NULL,
    };
    return unit_suite("registry", tests);
}
