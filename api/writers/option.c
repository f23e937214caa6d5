/* Options of formats: given values and defaults. */
#include "writers/option.h"

#include <string.h>

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
