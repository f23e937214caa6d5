/* Options: what arguments say by a table of the caller's own. */
#include "requests/argument_reader.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pe_options {
    const pe_parameter *rows;
    size_t count;
    pe_owned_value values[PE_OPTIONS_MAX];
    bool given[PE_OPTIONS_MAX];
    char *texts[PE_OPTIONS_MAX]; /* as they were given, of rows whose values are no texts */
};

/* Keep the texts of the rows that are given and are no texts themselves. */
static void keep_texts(pe_options *options, const pe_reading *reading,
                       const pe_argument *arguments, size_t count, pe_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        size_t row = pe_reading_index(reading, arguments[i].name);
        if (row == options->count || options->texts[row] || !arguments[i].text ||
            options->values[row].text || arguments[i].kind == PE_KIND_NULL)
            continue;
        options->texts[row] = strdup(arguments[i].text);
        if (!options->texts[row])
            pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the options");
    }
}

static pe_options *read_rows(const pe_parameter *rows, size_t row_count,
                             const pe_argument *arguments, size_t count, bool keeps_others,
                             pe_error *reterr)
{
    assert(row_count <= PE_OPTIONS_MAX);
    pe_options *options = calloc(1, sizeof *options);
    if (!options) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the options");
        return NULL;
    }
    options->rows = rows;
    options->count = row_count;
    pe_reading reading = {.options = rows,
                          .count = row_count,
                          .keeps_others = keeps_others,
                          .values = options->values,
                          .given = options->given};
    pe_read_arguments(&reading, arguments, count, reterr);
    keep_texts(options, &reading, arguments, count, reterr);
    return options;
}

pe_options *pe_options_read(const pe_parameter *rows, size_t row_count,
                            const pe_argument *arguments, size_t count, pe_error *reterr)
{
    return read_rows(rows, row_count, arguments, count, false, reterr);
}

pe_options *pe_options_take(const pe_parameter *rows, size_t row_count, pe_argument *arguments,
                            size_t *count, pe_error *reterr)
{
    pe_options *options = read_rows(rows, row_count, arguments, *count, true, reterr);
    const pe_reading reading = {.options = rows, .count = row_count};
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (pe_reading_index(&reading, arguments[i].name) == row_count)
            arguments[kept++] = arguments[i];
    *count = kept;
    return options;
}

void pe_options_free(pe_options *options)
{
    for (size_t i = 0; options && i < options->count; i++) {
        pe_owned_value_done(&options->values[i]);
        free(options->texts[i]);
    }
    free(options);
}

const pe_value *pe_options_value(const pe_options *options, size_t row)
{
    static const pe_value ABSENT = {.present = false};
    return options ? &options->values[row].value : &ABSENT;
}

const char *pe_options_text(const pe_options *options, size_t row)
{
    if (!options || !options->given[row])
        return NULL;
    return options->texts[row] ? options->texts[row] : options->values[row].text;
}

pe_problem *pe_options_refuse(const pe_options *options, size_t row, pe_error *reterr,
                              const char *allowed, ...)
{
    char text[512]; /* longer than a problem holds, which says where it is cut */
    va_list list;
    const char *given = pe_options_text(options, row);
    if (!given)
        return NULL;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    return pe_error_add(reterr, PE_MALFORMED, options->rows[row].name, given, "%s", text);
}
