/* Pairs of columns, by the parameters of rotary schemes. */
#include "apply/columns.h"

#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

/* The choice of a parameter, as a text. */
static const char *choice_of(const pe_request *request, const char *name)
{
    const pe_scheme_info *info = &request->values.scheme->info;
    const pe_parameter *row = pe_parameter_at(info, pe_parameter_index(info, name));
    return row->choices[pe_choice(&request->values, name)];
}

bool pe_turned_init(pe_turned *ret_turned, const pe_request *request, const pe_tensor *cosines)
{
    const char *layout = choice_of(request, "layout");
    size_t columns = (size_t)cosines->shape[cosines->rank - 1];
    bool full = strcmp(choice_of(request, "table"), "full") == 0;
    size_t pairs = full ? columns / 2 : columns;
    uint32_t *at = malloc(2 * pairs * sizeof *at);
    if (!at)
        return false;
    for (uint32_t p = 0; p < pairs; p++) {
        bool interleaved = strcmp(layout, "interleaved") == 0;
        at[p] = interleaved ? 2 * p : p;
        at[pairs + p] = interleaved ? 2 * p + 1 : p + (uint32_t)pairs;
    }
    *ret_turned = (pe_turned){.pairs = pairs, .columns = at, .full = full};
    return true;
}
