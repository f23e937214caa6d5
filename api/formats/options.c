/* Options of formats: the value of each, and their canonical text. */
#include "formats/options.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool api_takes_option(const api_format *format, const char *name)
{
    for (size_t i = 0; i < format->option_count; i++)
        if (strcmp(format->options[i].name, name) == 0)
            return true;
    return false;
}

void api_options_done(api_options *options)
{
    for (size_t t = 0; t < options->count; t++)
        pe_options_free(options->tables[t].values);
}

/* The value of an option that is given; NULL if it is not. */
static const pe_value *find_option_value(const api_options *options, const char *name)
{
    for (size_t t = 0; t < options->count; t++) {
        const api_format *format = options->tables[t].format;
        for (size_t i = 0; i < format->option_count; i++)
            if (pe_options_text(options->tables[t].values, i) &&
                strcmp(format->options[i].name, name) == 0)
                return pe_options_value(options->tables[t].values, i);
    }
    return NULL;
}

pe_value api_option_value(const api_selection *selection, const pe_parameter *row)
{
    const pe_value *given =
        selection->options ? find_option_value(selection->options, row->name) : NULL;
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
        const pe_value *value = find_option_value(options, row->name);
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
