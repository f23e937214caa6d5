/* Rows of parameter tables: what they allow, and reading arguments by them. */
#include "requests/parameters.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pe_plain_number(double number, char *dst)
{
    pe_print_number(dst, number);
    return dst;
}

void pe_write_shape(const uint64_t *shape, size_t rank, char *dst, size_t size)
{
    size_t used = (size_t)snprintf(dst, size, "[");
    for (size_t i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(dst + used, size - used, "%s%llu", i > 0 ? ", " : "",
                                 (unsigned long long)shape[i]);
    if (used < size)
        snprintf(dst + used, size - used, "]");
}

const char *pe_value_text(const pe_parameter *parameter, const pe_value *value, char *dst)
{
    switch (parameter->type) {
    case PE_INTEGER:
    case PE_REAL:
        return pe_plain_number(value->real, dst);
    case PE_BOOLEAN:
        return value->integer ? "true" : "false";
    case PE_CHOICE:
        return parameter->choices[value->integer];
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        return "a list";
    case PE_STORED:
    case PE_TEXT:
    case PE_TEXT_LIST:
        return value->text;
    }
    return "";
}

const pe_case *pe_parameter_case(const pe_parameter *row, const char *choice)
{
    for (const pe_case *legal = row->cases; legal->choice; legal++)
        if (strcmp(legal->choice, choice) == 0)
            return legal;
    return NULL;
}

/* ---- what a parameter must be ---- */

static bool is_list(const pe_parameter *parameter)
{
    return parameter->type == PE_REAL_LIST || parameter->type == PE_INTEGER_LIST;
}

/* A bound as people write it: 1e18, not 1e+18. */
static const char *bound_text(double bound, char *dst)
{
    char *plus = strchr(pe_plain_number(bound, dst), '+');
    if (plus)
        memmove(plus, plus + 1, strlen(plus));
    return dst;
}

static size_t count_choices(const pe_parameter *parameter)
{
    size_t count = 0;
    while (parameter->choices[count])
        count++;
    return count;
}

static void describe_number(const pe_parameter *parameter, char *dst, size_t size)
{
    bool integral = parameter->type == PE_INTEGER || parameter->type == PE_INTEGER_LIST;
    const char *noun = integral ? "an integer" : "a number";
    char multiple[48], low[PE_PRINT_MAX], high[PE_PRINT_MAX];
    if (is_list(parameter))
        noun = integral ? "a list of integers" : "a list of numbers";
    if (parameter->multiple_of == 2)
        noun = "an even integer";
    if (parameter->multiple_of > 2) {
        snprintf(multiple, sizeof multiple, "a multiple of %lld",
                 (long long)parameter->multiple_of);
        noun = multiple;
    }
    bound_text(parameter->minimum, low);
    bound_text(parameter->maximum, high);
    if (parameter->choices) {
        size_t used = (size_t)snprintf(dst, size, "%s from %s to %s, or ", noun, low, high);
        pe_describe_choices(parameter->choices, count_choices(parameter), dst + used,
                            size - used);
    } else if (parameter->open_minimum || parameter->open_maximum)
        snprintf(dst, size, "%s %s %s and %s %s", noun,
                 parameter->open_minimum ? "above" : "of at least", low,
                 parameter->open_maximum ? "below" : "at most", high);
    else
        snprintf(dst, size, "%s from %s to %s", noun, low, high);
}

void pe_parameter_describe(const pe_parameter *parameter, char *dst, size_t size)
{
    switch (parameter->type) {
    case PE_INTEGER:
    case PE_REAL:
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        describe_number(parameter, dst, size);
        return;
    case PE_BOOLEAN:
        snprintf(dst, size, "true or false");
        return;
    case PE_CHOICE:
        pe_describe_choices(parameter->choices, count_choices(parameter), dst, size);
        return;
    case PE_STORED:
        snprintf(dst, size, "the name of a set");
        return;
    case PE_TEXT:
        snprintf(dst, size, "a name");
        return;
    case PE_TEXT_LIST:
        snprintf(dst, size, "names joined by commas");
        return;
    }
}

/* ---- refusing ---- */

pe_problem *pe_parameter_refuse(const pe_parameter *parameter, pe_status status,
                                pe_reason reason, pe_kind kind, const char *given,
                                const char *allowed, pe_error *reterr)
{
    pe_problem *problem = pe_error_add(reterr, status, parameter->name, given, "%s", allowed);
    problem->reason = reason;
    problem->row = parameter;
    problem->kind = kind;
    return problem;
}

/* Refuse a text by what the parameter's row asks for. */
static pe_problem *refuse_text(const pe_parameter *parameter, pe_status status,
                               pe_reason reason, pe_kind kind, const char *text,
                               pe_error *reterr)
{
    char allowed[512];
    pe_parameter_describe(parameter, allowed, sizeof allowed);
    return pe_parameter_refuse(parameter, status, reason, kind, text, allowed, reterr);
}

static void refuse_for_memory(const pe_parameter *parameter, const char *what, pe_error *reterr)
{
    pe_error_add(reterr, PE_NO_MEMORY, parameter->name, "", "%s", what);
}

/* ---- reading ---- */

static bool is_in_range(const pe_parameter *parameter, double number)
{
    if (number < parameter->minimum || number > parameter->maximum ||
        (parameter->open_minimum && number == parameter->minimum) ||
        (parameter->open_maximum && number == parameter->maximum))
        return false;
    return parameter->multiple_of <= 1 || (int64_t)number % parameter->multiple_of == 0;
}

/* Read one number within the parameter's range. */
static bool read_number(const pe_parameter *parameter, const char *text, size_t length,
                        pe_kind kind, double *ret_number, pe_error *reterr)
{
    char given[100];
    size_t kept = length < sizeof given - 1 ? length : sizeof given - 1;
    memcpy(given, text, kept);
    given[kept] = '\0';
    double number;
    bool integral = parameter->type == PE_INTEGER || parameter->type == PE_INTEGER_LIST;
    if (!pe_parse_number(text, length, &number) ||
        (integral && number != floor(number) && fabs(number) <= DBL_MAX)) {
        refuse_text(parameter, PE_MALFORMED, PE_REASON_VALUE, kind, given, reterr);
        return false;
    }
    if (!is_in_range(parameter, number)) {
        refuse_text(parameter, PE_OUT_OF_RANGE, PE_REASON_RANGE, kind, given, reterr);
        return false;
    }
    if (!pe_number_is_kept(text, length, number)) {
        char allowed[PE_PRINT_MAX + 48], nearest[PE_PRINT_MAX];
        snprintf(allowed, sizeof allowed, "a number that float64 keeps, such as %s",
                 pe_plain_number(number + 0.0, nearest));
        pe_parameter_refuse(parameter, PE_OUT_OF_RANGE, PE_REASON_RANGE, kind, given, allowed,
                            reterr);
        return false;
    }
    *ret_number = number + 0.0; /* no negative zero */
    return true;
}

static void read_list(const pe_parameter *parameter, const char *text, pe_kind kind,
                      const pe_limits *limits, pe_owned_value *ret_value, pe_error *reterr)
{
    size_t limit = parameter->list_length ? parameter->list_length : limits->list_length;
    size_t count = 1;
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ','))
        count++;
    if (count > limit) {
        char given[PE_PRINT_MAX], allowed[PE_PRINT_MAX + 24];
        snprintf(given, sizeof given, "%zu items", count);
        snprintf(allowed, sizeof allowed, "a list of at most %zu items", limit);
        pe_parameter_refuse(parameter, PE_TOO_LARGE, PE_REASON_TOO_LARGE, kind, given, allowed,
                            reterr);
        return;
    }
    double *items = malloc(count * sizeof *items);
    if (!items) {
        refuse_for_memory(parameter, "memory for the list", reterr);
        return;
    }
    const char *item = text;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(item, ",");
        if (!read_number(parameter, item, length, kind, &items[i], reterr)) {
            free(items);
            return;
        }
        item += length + 1;
    }
    ret_value->list = items;
    ret_value->value = (pe_value){.present = true, .items = items, .count = count};
}

/* The index of a choice; how many there are if it is none of them. */
static size_t find_choice(const pe_parameter *parameter, const char *text)
{
    size_t index = 0;
    while (parameter->choices[index] && strcmp(parameter->choices[index], text) != 0)
        index++;
    return index;
}

static void read_choice(const pe_parameter *parameter, const char *text, pe_kind kind,
                        pe_value *ret_value, pe_error *reterr)
{
    const size_t index = find_choice(parameter, text), count = count_choices(parameter);
    if (index < count) {
        *ret_value = (pe_value){.present = true, .integer = (int64_t)index};
        return;
    }
    pe_problem *problem =
        pe_error_add_choice(reterr, parameter->name, text, parameter->choices, count);
    problem->row = parameter;
    problem->kind = kind;
}

static void read_boolean(const pe_parameter *parameter, const char *text, pe_kind kind,
                         pe_value *ret_value, pe_error *reterr)
{
    static const char *const WORDS[] = {"false", "true"}; /* not Python's True */
    bool is_true = strcmp(text, WORDS[1]) == 0;
    if (is_true || strcmp(text, WORDS[0]) == 0)
        *ret_value = (pe_value){.present = true, .integer = is_true};
    else
        pe_problem_suggest(
            refuse_text(parameter, PE_MALFORMED, PE_REASON_VALUE, kind, text, reterr),
            pe_find_nearest_name(text, WORDS, 2));
}

/* Whether an argument that was written as `kind` may be read by this row. */
static bool kind_fits(const pe_parameter *parameter, pe_kind kind)
{
    switch (parameter->type) {
    case PE_INTEGER:
    case PE_REAL:
        return kind == PE_KIND_ANY || kind == PE_KIND_NUMBER;
    case PE_BOOLEAN:
        return kind == PE_KIND_ANY || kind == PE_KIND_BOOLEAN;
    case PE_CHOICE:
    case PE_STORED:
    case PE_TEXT:
    case PE_TEXT_LIST:
        return kind == PE_KIND_ANY || kind == PE_KIND_STRING;
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        return kind == PE_KIND_ANY || kind == PE_KIND_LIST ||
               (kind == PE_KIND_NUMBER && parameter->one_for_all);
    }
    return false;
}

static void read_text(const pe_parameter *parameter, const char *text,
                      pe_owned_value *ret_value, pe_error *reterr)
{
    ret_value->text = strdup(text);
    if (!ret_value->text)
        refuse_for_memory(parameter, "memory for the name", reterr);
    else
        ret_value->value = (pe_value){.present = true, .text = ret_value->text};
}

/* Look up a set by name. */
static void read_stored(const pe_parameter *parameter, const char *text, pe_kind kind,
                        const pe_sets *sets, pe_owned_value *ret_value, pe_error *reterr)
{
    pe_set *set = NULL;
    pe_status status = sets ? sets->find(sets->context, text, &set) : PE_OK;
    if (status != PE_OK) {
        pe_error_add(reterr, status, parameter->name, text, "memory for the set");
        return;
    }
    if (!set) {
        refuse_text(parameter, PE_OUT_OF_RANGE, PE_REASON_NO_SET, kind, text, reterr);
        return;
    }
    ret_value->set = set;
    read_text(parameter, text, ret_value, reterr);
    ret_value->value.set = set;
}

pe_value pe_default_value(const pe_parameter *row)
{
    pe_owned_value value = {.list = NULL};
    pe_error none; /* stays empty: a default is legal */
    pe_error_init(&none);
    if (row->default_text)
        pe_parameter_read(row, row->default_text, PE_KIND_ANY, NULL, &value, &none);
    return value.value;
}

void pe_owned_value_done(pe_owned_value *value)
{
    free(value->list);
    free(value->text);
    pe_set_unref(value->set);
}

void pe_parameter_read(const pe_parameter *parameter, const char *text, pe_kind kind,
                       const pe_limits *limits, pe_owned_value *ret_value, pe_error *reterr)
{
    double number;
    size_t named = 0; /* 1 + the index of a choice in place of a real */
    if (parameter->type == PE_REAL && parameter->choices)
        named = (find_choice(parameter, text) + 1) % (count_choices(parameter) + 1);
    if (!kind_fits(parameter, kind)) {
        refuse_text(parameter, PE_MALFORMED, PE_REASON_KIND, kind, text, reterr);
        return;
    }
    switch (parameter->type) {
    case PE_INTEGER:
    case PE_REAL:
        if (named > 0)
            ret_value->value = (pe_value){.present = true, .integer = (int64_t)named};
        else if (read_number(parameter, text, strlen(text), kind, &number, reterr))
            ret_value->value = (pe_value){
                .present = true,
                .real = number,
                .integer = parameter->type == PE_INTEGER ? (int64_t)number : 0,
            };
        return;
    case PE_BOOLEAN:
        read_boolean(parameter, text, kind, &ret_value->value, reterr);
        return;
    case PE_CHOICE:
        read_choice(parameter, text, kind, &ret_value->value, reterr);
        return;
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        read_list(parameter, text, kind, limits, ret_value, reterr);
        return;
    case PE_STORED:
        if (limits) {
            read_stored(parameter, text, kind, limits->sets, ret_value, reterr);
            return;
        }
        read_text(parameter, text, ret_value, reterr);
        return;
    case PE_TEXT:
    case PE_TEXT_LIST:
        read_text(parameter, text, ret_value, reterr);
        return;
    }
}
