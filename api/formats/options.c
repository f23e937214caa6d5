/* Options of formats: reading them by the rows of their tables, and their canonical text. */
#include "formats/options.h"
#include "formats/registry.h"

#include "bytes/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

size_t api_option_rows(const pe_parameter *ret_rows[API_OPTIONS_MAX])
{
    size_t count = 0;
    for (size_t f = 0; f < api_format_count(); f++) {
        const api_format *format = api_format_get(f);
        for (size_t i = 0; i < format->option_count; i++) {
            size_t seen = 0;
            while (seen < count && strcmp(ret_rows[seen]->name, format->options[i].name) != 0)
                seen++;
            assert(seen < API_OPTIONS_MAX);
            if (seen == count)
                ret_rows[count++] = &format->options[i];
        }
    }
    return count;
}

bool api_takes_option(const api_format *format, const char *name)
{
    for (size_t i = 0; i < format->option_count; i++)
        if (strcmp(format->options[i].name, name) == 0)
            return true;
    return false;
}

/* Whether an argument is an option of a format. */
static bool is_named(const api_format *format, const api_arguments *arguments)
{
    bool named = false;
    for (size_t i = 0; i < arguments->count; i++)
        named = named || api_takes_option(format, arguments->items[i].name);
    return named;
}

void api_options_read(api_options *ret_options, api_arguments *arguments, pe_error *error)
{
    assert(api_format_count() <= API_FORMATS_MAX);
    *ret_options = (api_options){0};
    for (size_t f = 0; f < api_format_count(); f++) {
        const api_format *format = api_format_get(f);
        if (is_named(format, arguments))
            ret_options->tables[f] =
                pe_options_take(format->options, format->option_count, arguments->items,
                                &arguments->count, error);
    }
}

void api_options_done(api_options *options)
{
    for (size_t f = 0; f < API_FORMATS_MAX; f++)
        pe_options_free(options->tables[f]);
}

/* The value of an option that is given; NULL if it is not. */
static const pe_value *find_given(const api_options *options, const char *name)
{
    for (size_t f = 0; f < api_format_count(); f++)
        for (size_t i = 0; i < api_format_get(f)->option_count; i++)
            if (pe_options_text(options->tables[f], i) &&
                strcmp(api_format_get(f)->options[i].name, name) == 0)
                return pe_options_value(options->tables[f], i);
    return NULL;
}

/* "format=csv or format=png": the formats that take an option. */
static void name_takers(const char *option, char *dst, size_t size)
{
    size_t used = 0;
    dst[0] = '\0';
    for (size_t f = 0; f < api_format_count(); f++)
        if (api_takes_option(api_format_get(f), option) && used < size)
            used += (size_t)snprintf(dst + used, size - used, "%sformat=%s", used ? " or " : "",
                                     api_format_get(f)->name);
}

void api_options_check(const api_options *options, const api_format *format, pe_error *error)
{
    char takers[128];
    for (size_t f = 0; f < api_format_count(); f++) {
        const pe_parameter *rows = api_format_get(f)->options;
        for (size_t i = 0; i < api_format_get(f)->option_count; i++) {
            if (!pe_options_text(options->tables[f], i) ||
                api_takes_option(format, rows[i].name))
                continue;
            name_takers(rows[i].name, takers, sizeof takers);
            pe_problem *problem = pe_error_add(
                error, PE_MALFORMED, rows[i].name, "",
                "left out with format=%s, since it is an option of %s", format->name, takers);
            problem->reason = PE_REASON_CONFLICT;
        }
    }
}

pe_value api_option(const api_selection *selection, const pe_parameter *row)
{
    const pe_value *given =
        selection->options ? find_given(selection->options, row->name) : NULL;
    return given ? *given : pe_default_value(row);
}

/* ---- the canonical text ---- */

/* Append a value as a query writes it. */
static void append_value(char *dst, size_t *used, const pe_parameter *row,
                         const pe_value *value)
{
    char number[PE_PRINT_MAX];
    size_t count = row->type == PE_INTEGER_LIST || row->type == PE_REAL_LIST ? value->count : 1;
    for (size_t i = 0; i < count; i++) {
        const char *text = number;
        if (row->type == PE_CHOICE)
            text = row->choices[value->integer];
        else if (row->type == PE_BOOLEAN)
            text = value->integer ? "true" : "false";
        else
            pe_print_number(number, value->items ? value->items[i] : value->real);
        *used += (size_t)snprintf(dst + *used, API_VARIANT_BYTES - *used, "%s%s", i ? "," : "",
                                  text);
        assert(*used < API_VARIANT_BYTES);
    }
}

void api_options_variant(const api_options *options, const api_format *format,
                         char dst[API_VARIANT_BYTES])
{
    size_t used = 0;
    dst[0] = '\0';
    for (size_t r = 0; r < format->option_count; r++) {
        const pe_parameter *row = &format->options[r];
        const pe_value *value = find_given(options, row->name);
        char text[API_VARIANT_BYTES] = "";
        size_t length = 0;
        if (!value)
            continue;
        append_value(text, &length, row, value);
        if (row->default_text && strcmp(text, row->default_text) == 0)
            continue;
        used += (size_t)snprintf(dst + used, API_VARIANT_BYTES - used, "%s%s=%s",
                                 used ? "&" : "", row->name, text);
        assert(used < API_VARIANT_BYTES);
    }
}
