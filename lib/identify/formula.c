#include "identify/formula.h"

#include "numerics/elementary.h"
#include "numerics/phase.h"
#include "requests/request.h"
#include "waves/rotary_request.h"
#include "waves/wave.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading a request ---- */

static const pe_parameter *find_parameter(const pe_values *values, const char *name)
{
    return pe_parameter_find(pe_scheme_describe(values->scheme), name);
}

/* Whether a request has a choice of a parameter. */
static bool has_choice(const pe_values *values, const char *name, const char *choice)
{
    const pe_parameter *row = find_parameter(values, name);
    return row && pe_is_present(values, row->name) &&
           strcmp(row->choices[pe_get_choice(values, row->name)], choice) == 0;
}

/* The number of a parameter; `otherwise` if it has none. */
static double read_real(const pe_values *values, const char *name, double otherwise)
{
    return find_parameter(values, name) && pe_is_present(values, name)
               ? pe_get_real(values, name)
               : otherwise;
}

/* Read a step that is a part of 1: frequencies are taken for as much lower if rows are counted
 * from a whole number on. */
static void read_step(const pe_values *values, pe_formula_law *law)
{
    const double step = read_real(values, "step", 1);
    const double first = read_real(values, "offset", 0) / step;
    law->counts_rows =
        law->rotary.type == PE_ROTARY_DEFAULT && step > 0 && step < 1 && first == rint(first);
    if (law->counts_rows) {
        law->rotary.type = PE_ROTARY_LINEAR;
        law->rotary.factor = 1 / step;
    }
}

bool pe_formula_read(const pe_request *request, pe_formula_law *ret_law)
{
    const pe_values *values = &request->values;
    *ret_law = (pe_formula_law){.to_last = false};
    pe_rotary *rotary = &ret_law->rotary;
    if (find_parameter(values, "rope_type")) {
        *rotary = pe_rotary_read(values);
    } else if (find_parameter(values, "base") && pe_is_present(values, "base") &&
               find_parameter(values, "dim")) {
        ret_law->to_last = has_choice(values, "frequencies", "tensor2tensor");
        *rotary = (pe_rotary){.width = (size_t)pe_get_integer(values, "dim"),
                              .theta = pe_get_real(values, "base")};
        if (!ret_law->to_last && find_parameter(values, "frequencies") &&
            !has_choice(values, "frequencies", "vaswani"))
            return false;
    }
    read_step(values, ret_law);
    return rotary->width >= 4 && rotary->width % 2 == 0 && rotary->theta > 0 &&
           rotary->theta != 1 && rotary->type != PE_ROTARY_PROPORTIONAL;
}

/* ---- positions and columns ---- */

void pe_formula_positions(const pe_request *request, const pe_formula_law *law,
                          pe_formula_rows *ret_rows)
{
    const pe_values *values = &request->values;
    *ret_rows = (pe_formula_rows){.offset = read_real(values, "offset", 0),
                                  .step = read_real(values, "step", 1)};
    const pe_value *list =
        find_parameter(values, "positions") ? pe_value_find(values, "positions") : NULL;
    if (list && list->present)
        ret_rows->list = list->items;
    if (law->counts_rows)
        *ret_rows =
            (pe_formula_rows){.offset = rint(ret_rows->offset / ret_rows->step), .step = 1};
}

/* What is known of the columns of a sinusoidal table. */
static bool find_sinusoidal(const pe_values *values, const pe_formula_law *law, uint64_t column,
                            pe_formula_column *ret)
{
    const size_t half = pe_formula_pairs(law), half_of_column = (size_t)column / half;
    const bool cosines_first = has_choice(values, "layout", "concat_cos_first");
    if (has_choice(values, "layout", "interleaved"))
        *ret = (pe_formula_column){(size_t)column / 2, column % 2 == 0};
    else
        *ret =
            (pe_formula_column){(size_t)column % half, (half_of_column == 0) != cosines_first};
    return read_real(values, "position_scale", 1) == 1 && column < 2 * half;
}

/* The same of a rotary table of sines or of cosines. */
static bool find_rotary(const pe_values *values, const pe_formula_law *law, const char *tensor,
                        uint64_t column, pe_formula_column *ret)
{
    const size_t half = pe_formula_pairs(law);
    const bool full = has_choice(values, "table", "full");
    ret->sine = strcmp(tensor, "sin") == 0;
    ret->pair = full && has_choice(values, "layout", "interleaved") ? (size_t)column / 2
                : full                                              ? (size_t)column % half
                                                                    : (size_t)column;
    return (ret->sine || strcmp(tensor, "cos") == 0) && column < (full ? 2 * half : half) &&
           read_real(values, "partial_rotary_factor", 1) == 1;
}

bool pe_formula_find_column(const pe_request *request, const pe_formula_law *law,
                            const char *tensor, uint64_t column, pe_formula_column *ret_column)
{
    const pe_values *values = &request->values;
    const char *name = pe_scheme_describe(values->scheme)->name;
    if (strcmp(name, "sinusoidal") == 0)
        return find_sinusoidal(values, law, column, ret_column);
    return strcmp(name, "rope") == 0 && find_rotary(values, law, tensor, column, ret_column);
}

double pe_formula_amplitude(const pe_request *request, const pe_formula_law *law)
{
    return find_parameter(&request->values, "rope_type")
               ? pe_rotary_attention(&law->rotary).hi
               : read_real(&request->values, "amplitude", 1);
}

bool pe_formula_has_zero(const pe_request *request)
{
    const pe_values *values = &request->values;
    return find_parameter(values, "zero_first_row") && pe_get_flag(values, "zero_first_row");
}

/* ---- exact frequencies ---- */

size_t pe_formula_pairs(const pe_formula_law *law)
{
    return law->rotary.width / 2;
}

/* Write frequencies that rise, which pe_wide cannot hold. */
static double *write_rising(const pe_formula_law *law, size_t count, double *exact)
{
    if (!exact)
        return NULL;
    for (size_t i = 0; i < count; i++)
        exact[i] = pe_power_double(law->rotary.theta,
                                   -(double)i / (double)(law->to_last ? count - 1 : count));
    return exact;
}

double *pe_formula_exact(const pe_formula_law *law)
{
    const size_t count = pe_formula_pairs(law);
    double *exact = malloc(count * sizeof *exact);
    if (law->rotary.theta < 1)
        return write_rising(law, count, exact);
    pe_wide *turns = exact ? pe_rotary_frequencies(&law->rotary) : NULL;
    if (turns && law->to_last)
        pe_wave_geometric_ladder(pe_wide_radian, count, law->rotary.theta, 1, count - 1, turns);
    for (size_t i = 0; turns && i < count; i++) {
        exact[i] = pe_phase_radians(turns[i]).hi;
        if (law->to_last && law->rotary.type == PE_ROTARY_LINEAR)
            exact[i] /= law->rotary.factor;
    }
    if (!turns) {
        free(exact);
        exact = NULL;
    }
    free(turns);
    return exact;
}

double pe_formula_linear_factor(const pe_request *request)
{
    pe_formula_law law;
    const bool linear = pe_formula_read(request, &law) && law.rotary.type == PE_ROTARY_LINEAR;
    return linear ? law.rotary.factor : 1;
}
