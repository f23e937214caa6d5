/* Reading one argument by its row of the parameter table. */
#include "params.h"

#include "number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *pe_plain_number(double number, char *dst)
{
    pe_print_number(dst, number);
    return dst;
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
        return value->text;
    }
    return "";
}

const pe_case *pe_parameter_case(const pe_parameter *parameter, const char *choice)
{
    for (const pe_case *at = parameter->cases; at->choice; at++)
        if (strcmp(at->choice, choice) == 0)
            return at;
    return NULL;
}

static const char *noun(const pe_parameter *parameter)
{
    switch (parameter->type) {
    case PE_INTEGER:
        return "an integer";
    case PE_REAL:
        return "a number";
    case PE_BOOLEAN:
        return "true or false";
    case PE_CHOICE:
        return "a name";
    case PE_REAL_LIST:
        return "numbers separated by commas";
    case PE_INTEGER_LIST:
        return "integers separated by commas";
    case PE_STORED:
        return "the name of a stored set";
    }
    return "";
}

static void refuse_number(const pe_parameter *parameter, pe_status status, const char *text,
                          pe_error *reterr)
{
    char low[PE_PRINT_MAX], high[PE_PRINT_MAX];
    pe_plain_number(parameter->minimum, low);
    pe_plain_number(parameter->maximum, high);
    if (strchr(text, ' '))
        pe_error_add(reterr, status, parameter->name, text,
                     "%s without blanks; a raw + in a query means a blank: write 1e4, not 1e+4",
                     noun(parameter));
    else if (parameter->multiple_of > 1)
        pe_error_add(reterr, status, parameter->name, text,
                     "%s from %s to %s, a multiple of %lld", noun(parameter), low, high,
                     (long long)parameter->multiple_of);
    else
        pe_error_add(reterr, status, parameter->name, text, "%s from %s to %s", noun(parameter),
                     low, high);
}

/* Read one number within the parameter's range. */
static bool read_number(const pe_parameter *parameter, const char *text, size_t length,
                        double *ret_number, pe_error *reterr)
{
    char given[100];
    size_t kept = length < sizeof given - 1 ? length : sizeof given - 1;
    memcpy(given, text, kept);
    given[kept] = '\0';
    double number;
    bool integral = parameter->type == PE_INTEGER || parameter->type == PE_INTEGER_LIST;
    if (!pe_parse_number(text, length, &number) ||
        (integral && number != floor(number) && fabs(number) <= DBL_MAX)) {
        refuse_number(parameter, PE_MALFORMED, given, reterr);
        return false;
    }
    bool legal = number >= parameter->minimum && number <= parameter->maximum;
    if (legal && parameter->multiple_of > 1)
        legal = (int64_t)number % parameter->multiple_of == 0;
    if (!legal) {
        refuse_number(parameter, PE_OUT_OF_RANGE, given, reterr);
        return false;
    }
    *ret_number = number + 0.0; /* no negative zero */
    return true;
}

static void read_list(const pe_parameter *parameter, const char *text, size_t limit,
                      pe_owned_value *ret_value, pe_error *reterr)
{
    size_t count = 1;
    for (const char *at = text; (at = strchr(at, ',')); at++)
        count++;
    if (count > limit) {
        char given[PE_PRINT_MAX + 8];
        pe_plain_number((double)count, given);
        strncat(given, " items", sizeof given - strlen(given) - 1);
        pe_error_add(reterr, PE_TOO_LARGE, parameter->name, given, "at most %zu items", limit);
        return;
    }
    double *items = malloc(count * sizeof *items);
    if (!items) {
        pe_error_add(reterr, PE_NO_MEMORY, parameter->name, "", "memory for the list");
        return;
    }
    const char *at = text;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(at, ",");
        if (!read_number(parameter, at, length, &items[i], reterr)) {
            free(items);
            return;
        }
        at += length + 1;
    }
    ret_value->list = items;
    ret_value->value = (pe_value){.present = true, .items = items, .count = count};
}

static void read_choice(const pe_parameter *parameter, const char *text, pe_value *ret_value,
                        pe_error *reterr)
{
    size_t count = 0;
    for (; parameter->choices[count]; count++) {
        if (strcmp(parameter->choices[count], text) == 0) {
            *ret_value = (pe_value){.present = true, .integer = (int64_t)count};
            return;
        }
    }
    pe_error_add_choice(reterr, parameter->name, text, parameter->choices, count);
}

/* Whether an argument that was written as `kind` may be read as this parameter. */
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
        return kind == PE_KIND_ANY || kind == PE_KIND_STRING;
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        return kind == PE_KIND_ANY || kind == PE_KIND_LIST;
    }
    return false;
}

/* What a JSON body should have held, where it held something else. */
static const char *json_noun(const pe_parameter *parameter)
{
    switch (parameter->type) {
    case PE_INTEGER:
        return "a JSON number without a fraction";
    case PE_REAL:
        return "a JSON number";
    case PE_BOOLEAN:
        return "true or false, without quotes";
    case PE_CHOICE:
    case PE_STORED:
        return "a JSON string";
    case PE_REAL_LIST:
        return "a JSON array of numbers, with at least one item";
    case PE_INTEGER_LIST:
        return "a JSON array of integers, with at least one item";
    }
    return "";
}

/* Look up a stored set by name. */
static void read_stored(const pe_parameter *parameter, const char *text, const pe_sets *sets,
                        pe_owned_value *ret_value, pe_error *reterr)
{
    pe_set *set = NULL;
    pe_status status = sets ? sets->find(sets->context, text, &set) : PE_OK;
    if (status != PE_OK) {
        pe_error_add(reterr, status, parameter->name, text, "memory for the stored set");
        return;
    }
    if (!set) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, parameter->name, text,
                     "a stored set; GET /v1/parameters lists them");
        return;
    }
    ret_value->set = set;
    ret_value->text = strdup(text);
    if (!ret_value->text) {
        pe_error_add(reterr, PE_NO_MEMORY, parameter->name, "", "memory for the name");
        return;
    }
    ret_value->value = (pe_value){.present = true, .text = ret_value->text, .set = set};
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
    if (!kind_fits(parameter, kind)) {
        pe_error_add(reterr, PE_MALFORMED, parameter->name, text, "%s", json_noun(parameter));
        return;
    }
    switch (parameter->type) {
    case PE_INTEGER:
    case PE_REAL:
        if (read_number(parameter, text, strlen(text), &number, reterr))
            ret_value->value = (pe_value){
                .present = true,
                .real = number,
                .integer = parameter->type == PE_INTEGER ? (int64_t)number : 0,
            };
        return;
    case PE_BOOLEAN:
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
            ret_value->value = (pe_value){.present = true, .integer = text[0] == 't'};
        else
            pe_error_add(reterr, PE_MALFORMED, parameter->name, text, "true or false");
        return;
    case PE_CHOICE:
        read_choice(parameter, text, &ret_value->value, reterr);
        return;
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        read_list(parameter, text, limits->list_length, ret_value, reterr);
        return;
    case PE_STORED:
        read_stored(parameter, text, limits->sets, ret_value, reterr);
        return;
    }
}

bool pe_argument_read(const pe_parameter *row, const pe_argument *argument, double *items,
                      size_t room, pe_value *ret_value, pe_error *error)
{
    const pe_limits limits = {.list_length = room};
    pe_owned_value owned = {.list = NULL};
    pe_parameter_read(row, argument->text, argument->kind, &limits, &owned, error);
    *ret_value = owned.value;
    if (owned.list) {
        memcpy(items, owned.list, owned.value.count * sizeof *items);
        ret_value->items = items;
    }
    pe_owned_value_done(&owned);
    return ret_value->present;
}
