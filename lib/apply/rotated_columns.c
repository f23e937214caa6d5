/* Pairs of columns, by the parameters of rotary schemes. */
#include "apply/rotated_columns.h"

#include "requests/request.h"
#include "waves/axial_request.h"

#include <stdlib.h>
#include <string.h>

/* The choice of a parameter, as a text. */
static const char *find_choice(const pe_request *request, const char *name)
{
    const pe_scheme_info *info = &request->values.scheme->info;
    const pe_parameter *row = pe_parameter_find(info, name);
    return row->choices[pe_get_choice(&request->values, name)];
}

/* Pair the halves of each axis's columns, which come one axis after the other. */
static void pair_by_axis(const pe_request *request, pe_turned *turned)
{
    const pe_axial_request axial = pe_axial_request_read(&request->values);
    bool reversed = strcmp(find_choice(request, "axis_order"), "reversed") == 0;
    size_t pair = 0;
    for (size_t n = 0; n < axial.axes; n++) {
        uint64_t width = axial.widths[reversed ? axial.axes - 1 - n : n];
        uint32_t first = 2 * (uint32_t)pair;
        for (uint32_t i = 0; i < width / 2; i++, pair++) {
            turned->columns[pair] = first + i;
            turned->columns[turned->pairs + pair] = first + (uint32_t)(width / 2) + i;
        }
    }
    for (; pair < turned->pairs; pair++) { /* columns of no axis, whose angles are 0 */
        turned->columns[pair] = 2 * (uint32_t)pair;
        turned->columns[turned->pairs + pair] = 2 * (uint32_t)pair + 1;
    }
}

/* Pair columns as a layout does. */
static void pair_columns(uint32_t *columns, size_t pairs, bool interleaved)
{
    for (uint32_t p = 0; p < pairs; p++) {
        columns[p] = interleaved ? 2 * p : p;
        columns[pairs + p] = interleaved ? 2 * p + 1 : p + (uint32_t)pairs;
    }
}

bool pe_turned_init(pe_turned *ret_turned, const pe_request *request, const pe_tensor *cosines,
                    const pe_apply_options *options, size_t first)
{
    const char *layout = find_choice(request, "layout");
    size_t columns = (size_t)cosines->shape[cosines->rank - 1];
    bool full = strcmp(find_choice(request, "table"), "full") == 0;
    size_t pairs = options->without_rotation ? 0 : full ? columns / 2 : columns;
    uint32_t *at = malloc((4 * pairs + 1) * sizeof *at);
    if (!at)
        return false;
    *ret_turned = (pe_turned){.pairs = pairs, .columns = at, .full = full};
    pair_columns(at, pairs, strcmp(layout, "interleaved") == 0);
    if (pairs > 0 && strcmp(layout, "half_by_axis") == 0)
        pair_by_axis(request, ret_turned);
    memcpy(at + 2 * pairs, at, 2 * pairs * sizeof *at);
    if (options->output_layout != PE_OUTPUT_AS_INPUT)
        pair_columns(at + 2 * pairs, pairs, options->output_layout == PE_OUTPUT_INTERLEAVED);
    for (size_t i = 0; i < 4 * pairs; i++)
        at[i] += (uint32_t)first;
    return true;
}
