/* The options of all formats by their tables: listing them, reading them before the format is
 * known, and refusing those that it does not take. */
#include "formats/options.h"
#include "formats/registry.h"

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
    *ret_options = (api_options){.count = 0};
    for (size_t f = 0; f < api_format_count(); f++) {
        const api_format *format = api_format_get(f);
        api_arguments_add_names(arguments, format->options, format->option_count);
        if (!is_named(format, arguments))
            continue;
        ret_options->tables[ret_options->count].format = format;
        ret_options->tables[ret_options->count++].values =
            api_options_take(format->options, format->option_count, arguments, error);
    }
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
    for (size_t t = 0; t < options->count; t++) {
        const pe_parameter *rows = options->tables[t].format->options;
        for (size_t i = 0; i < options->tables[t].format->option_count; i++) {
            if (!pe_options_text(options->tables[t].values, i) ||
                api_takes_option(format, rows[i].name))
                continue;
            name_takers(rows[i].name, takers, sizeof takers);
            pe_options_refuse(options->tables[t].values, i, error,
                              "left out with format=%s, since it is an option of %s",
                              format->name, takers)
                ->reason = PE_REASON_CONFLICT;
        }
    }
}
