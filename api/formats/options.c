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
        const api_format *format = api_format_at(f);
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

void api_options_read(api_options *ret_options, api_arguments *arguments, pe_error *error)
{
    const pe_parameter *rows[API_OPTIONS_MAX];
    size_t count = api_option_rows(rows), given = 0;
    pe_argument argument;
    memset(ret_options, 0, sizeof *ret_options);
    for (size_t i = 0; i < count; i++) {
        if (!api_arguments_take_any(arguments, rows[i]->name, &argument, error))
            continue;
        ret_options->given[given].row = rows[i];
        pe_argument_read(rows[i], &argument, ret_options->given[given].items, API_OPTION_ITEMS,
                         &ret_options->given[given].value, error);
        given++;
    }
}

/* "format=csv or format=png": the formats that take an option. */
static void name_takers(const char *option, char *dst, size_t size)
{
    size_t used = 0;
    dst[0] = '\0';
    for (size_t f = 0; f < api_format_count(); f++)
        if (api_takes_option(api_format_at(f), option) && used < size)
            used += (size_t)snprintf(dst + used, size - used, "%sformat=%s", used ? " or " : "",
                                     api_format_at(f)->name);
}

void api_options_check(const api_options *options, const api_format *format, pe_error *error)
{
    char takers[128];
    for (size_t i = 0; i < API_OPTIONS_MAX && options->given[i].row; i++) {
        const char *name = options->given[i].row->name;
        if (api_takes_option(format, name))
            continue;
        name_takers(name, takers, sizeof takers);
        pe_problem *problem = pe_error_add(
            error, PE_MALFORMED, name, "",
            "left out with format=%s, since it is an option of %s", format->name, takers);
        problem->reason = PE_REASON_CONFLICT;
    }
}

pe_value api_option(const api_selection *selection, const pe_parameter *row)
{
    const api_options *options = selection->options;
    for (size_t i = 0; options && i < API_OPTIONS_MAX && options->given[i].row; i++)
        if (strcmp(options->given[i].row->name, row->name) == 0)
            return options->given[i].value;
    pe_value value = {.present = false};
    pe_error none;
    pe_error_init(&none); /* stays empty: the default of an option is legal */
    if (row->default_text)
        pe_argument_read(row, &(pe_argument){row->name, row->default_text, PE_KIND_ANY}, NULL,
                         0, &value, &none);
    return value;
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
        for (size_t i = 0; i < API_OPTIONS_MAX && options->given[i].row; i++) {
            char text[API_VARIANT_BYTES] = "";
            size_t length = 0;
            if (strcmp(options->given[i].row->name, row->name) != 0)
                continue;
            append_value(text, &length, row, &options->given[i].value);
            if (row->default_text && strcmp(text, row->default_text) == 0)
                continue;
            used += (size_t)snprintf(dst + used, API_VARIANT_BYTES - used, "%s%s=%s",
                                     used ? "&" : "", row->name, text);
            assert(used < API_VARIANT_BYTES);
        }
    }
}
