/* The form of a table whose entries were rounded to a number of decimal places, or to multiples
 * of a step. */
#include "identify/form.h"

#include "foreign/narrow_view.h"
#include "identify/compared_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether all entries are multiples of 1/steps, but for float32. *ret_part: some of them are no
 * whole numbers. */
static bool are_multiples(const double *entries, uint64_t count, double steps, bool *ret_part)
{
    for (uint64_t i = 0; i < count; i++) {
        const double multiple = entries[i] * steps;
        if (!(fabs(multiple - rint(multiple)) <= 0x1p-23 * fabs(multiple) + 1e-9))
            return false;
        *ret_part = *ret_part || entries[i] != rint(entries[i]);
    }
    return true;
}

/* Find the step of which all entries are multiples, as eight bits have them; 0: there is none.
 * False: they cannot be read. */
static bool find_step(const pe_view *view, double *ret_step)
{
    static const double STEPS[] = {127, 0x1p7, 0x1p8, 0x1p10, 0x1p12};
    double entries[PE_LOOKED_ROWS * PE_LOOKED_COLUMNS];
    size_t count = 0;
    *ret_step = 0;
    if (!pe_view_read_sample(view, entries, &count))
        return false;
    for (size_t i = 0; *ret_step == 0 && i < PE_COUNT(STEPS); i++) {
        bool part = false;
        if (are_multiples(entries, count, STEPS[i], &part) && part)
            *ret_step = 1 / STEPS[i];
    }
    return true;
}

/* Whether that is so of all lines. */
static bool has_step(const pe_view *view, double step)
{
    const uint64_t columns = pe_view_columns(view), lines = pe_view_lines(view);
    double *entries = malloc((size_t)columns * sizeof *entries);
    bool good = entries != NULL, part = false;
    for (uint64_t line = 0; good && line < lines; line++)
        good = pe_view_read_line(view, line, entries) &&
               are_multiples(entries, columns, 1 / step, &part);
    free(entries);
    return good;
}

/* Find what both views of a layer were rounded to: decimals, or a step. *ret_step: 0: neither.
 * False: they cannot be read. */
static bool find_rounding(const pe_layer *layer, int *ret_decimals, bool *ret_found,
                          double *ret_step)
{
    const pe_view *views[] = {&layer->view, &layer->other};
    const size_t count = layer->is == PE_OTHER_NONE ? 1 : 2;
    *ret_found = true;
    *ret_decimals = 0;
    for (size_t i = 0; *ret_found && i < count; i++) {
        int decimals = 0;
        if (!pe_view_find_decimals(views[i], &decimals, ret_found))
            return false;
        *ret_decimals = decimals > *ret_decimals ? decimals : *ret_decimals;
    }
    if (!*ret_found && !find_step(&layer->view, ret_step))
        return false;
    *ret_step = *ret_found ? pe_power_double(10, -*ret_decimals) : *ret_step;
    for (size_t i = 0; !*ret_found && *ret_step > 0 && i < count; i++)
        *ret_step = has_step(views[i], *ret_step) ? *ret_step : 0;
    return true;
}

bool pe_undo_decimals(pe_layers *layers, const pe_layer *layer)
{
    pe_layer beneath = pe_layer_beneath(layer);
    int decimals = 0;
    bool found = false;
    double step = 0;
    if (layer->view.grain > 0 || layer->is == PE_OTHER_TABLE ||
        pe_layer_has(layer, PE_TRANSFORM_FACTOR))
        return true;
    if (!find_rounding(layer, &decimals, &found, &step))
        return false;
    if (step == 0 ||
        !pe_layer_note(&beneath, (pe_transform){.kind = PE_TRANSFORM_DECIMALS,
                                                .count = found ? (uint64_t)decimals : 0,
                                                .value = step}))
        return true;
    beneath.view.grain = beneath.other.grain = 0.5000001 * step;
    pe_layers_add(layers, &beneath);
    return true;
}

void pe_write_decimals(const pe_identity *identity, const pe_transform *form,
                       char dst[PE_FORM_TEXT])
{
    (void)identity;
    if (form->count > 0)
        snprintf(dst, PE_FORM_TEXT, "rounded to %llu decimals",
                 (unsigned long long)form->count);
    else
        snprintf(dst, PE_FORM_TEXT, "rounded to multiples of %.9g", form->value);
}
