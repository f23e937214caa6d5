/* Reading arguments: each by the row of its name, and the others refused. */
#include "requests/argument_reader.h"

#include "requests/defaults.h"

#include <stdio.h>
#include <string.h>

#define NAMES_MAX 128

/* List the names that arguments may have, those of the caller and of the preset among them.
 * Returns their number. */
static size_t list_names(const pe_reading *reading, const char *ret_names[NAMES_MAX])
{
    const char *const *others = reading->limits ? reading->limits->names : NULL;
    size_t count = 0;
    if (reading->info)
        ret_names[count++] = "preset";
    for (size_t i = 0; others && others[i] && count < NAMES_MAX; i++)
        ret_names[count++] = others[i];
    for (size_t i = 0; i < reading->count && count < NAMES_MAX; i++)
        ret_names[count++] = pe_reading_row(reading, i)->name;
    return count;
}

/* Refuse an argument that is no row and suggest the row with the nearest name. That one counts
 * as given, so that a misspelt name is not reported as missing as well. */
static void refuse_name(const pe_reading *reading, const pe_argument *argument,
                        pe_error *reterr)
{
    const char *names[NAMES_MAX];
    char allowed[512];
    size_t count = list_names(reading, names);
    if (reading->info)
        snprintf(allowed, sizeof allowed, "one of the parameters of %s",
                 reading->info->similarity_of ? reading->info->similarity_of
                                              : reading->info->name);
    else
        pe_describe_choices(names, count, allowed, sizeof allowed);
    pe_problem *problem =
        pe_error_add(reterr, PE_MALFORMED, argument->name, argument->text, "%s", allowed);
    problem->reason = PE_REASON_UNKNOWN;
    problem->kind = argument->kind;
    const char *nearest = pe_find_nearest_name(argument->name, names, count);
    if (nearest && strcmp(nearest, argument->name) != 0)
        pe_problem_suggest(problem, nearest);
    if (nearest && pe_reading_index(reading, nearest) < reading->count)
        reading->given[pe_reading_index(reading, nearest)] = true;
}

/* Find an earlier argument of the same name, or of the other name of the row, which is NULL if
 * the argument has none. NULL: there is none. */
static const pe_argument *find_earlier(const pe_parameter *row, const pe_argument *arguments,
                                       size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(arguments[i].name, arguments[index].name) == 0 ||
            (row && row->old_name && arguments[i].kind != PE_KIND_NULL &&
             pe_parameter_has_name(row, arguments[i].name)))
            return &arguments[i];
    return NULL;
}

/* Refuse an argument that was given before: by its name, or by another one that it has. */
static void refuse_repetition(const pe_argument *argument, const pe_argument *earlier,
                              pe_error *reterr)
{
    if (!earlier || strcmp(earlier->name, argument->name) == 0)
        pe_error_add_repetition(reterr, argument);
    else
        pe_error_add(reterr, PE_MALFORMED, argument->name, argument->text,
                     "left out with %s, which is the same parameter", earlier->name);
}

/* Whether a row is a list, which may be given item by item. */
static bool takes_list(const pe_reading *reading, size_t index)
{
    if (index >= reading->count)
        return false;
    pe_type type = pe_reading_row(reading, index)->type;
    return type == PE_REAL_LIST || type == PE_INTEGER_LIST || type == PE_TEXT_LIST;
}

static const pe_preset *find_preset(const pe_scheme_info *info, const pe_argument *argument,
                                    pe_error *reterr)
{
    const char *names[NAMES_MAX], *name = argument->text;
    size_t count = 0;
    pe_problem *problem;
    for (; count < info->preset_count && count < NAMES_MAX; count++)
        names[count] = info->presets[count].name;
    if (count == 0) {
        problem = pe_error_add(reterr, PE_MALFORMED, "preset", name,
                               "left out: %s has no presets", info->name);
        problem->reason = PE_REASON_CONFLICT;
        return NULL;
    }
    if (argument->kind != PE_KIND_ANY && argument->kind != PE_KIND_STRING) {
        problem = pe_error_add_choice(reterr, "preset", name, names, count);
        problem->reason = PE_REASON_KIND;
        problem->kind = argument->kind;
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return &info->presets[i];
    pe_error_add_choice(reterr, "preset", name, names, count);
    return NULL;
}

/* Read an argument that has a text, and was not given before. */
static void read_argument(pe_reading *reading, const pe_argument *argument, size_t index,
                          pe_error *reterr)
{
    if (index < reading->count)
        pe_parameter_read(pe_reading_row(reading, index), argument->text, argument->kind,
                          reading->limits, &reading->values[index], reterr);
    else if (reading->info && strcmp(argument->name, "preset") == 0)
        reading->preset = find_preset(reading->info, argument, reterr);
    else
        refuse_name(reading, argument, reterr);
}

void pe_read_arguments(pe_reading *reading, const pe_argument *arguments, size_t count,
                       pe_error *reterr)
{
    const bool has_presets = reading->info && reading->info->preset_count > 0;
    for (size_t i = 0; i < count; i++) {
        const pe_argument *argument = &arguments[i];
        size_t index = pe_reading_index(reading, argument->name);
        bool is_known =
            index < reading->count || (has_presets && strcmp(argument->name, "preset") == 0);
        if (!is_known && reading->keeps_others)
            continue;
        if (argument->kind == PE_KIND_NULL && is_known)
            continue;
        if (index < reading->count)
            reading->given[index] = true;
        const pe_parameter *row =
            index < reading->count ? pe_reading_row(reading, index) : NULL;
        const pe_argument *earlier = find_earlier(row, arguments, i);
        if (!argument->text) {
            if (reterr->status != PE_NO_MEMORY)
                reterr->status = PE_MALFORMED;
        } else if (earlier || (argument->repeated && is_known && !takes_list(reading, index))) {
            refuse_repetition(argument, earlier, reterr);
        } else {
            read_argument(reading, argument, index, reterr);
        }
    }
    pe_apply_defaults(reading, reterr);
    if (count == 1 && arguments[0].kind == PE_KIND_ANY)
        for (size_t i = 0; i < reterr->count; i++)
            reterr->problems[i].alone = reterr->problems[i].reason == PE_REASON_MISSING;
}
