/* The factor and the constant of a table, by the tensors of the request that was found. */
#include "identify/form_factor_line.h"

#include "identify/compared_lines.h"
#include "identify/query.h"

#include <math.h>
#include <stdlib.h>

#define NOISY_FIT 1.75    /* errors of a trend that noise moves it by */
#define SLACK     0x1p-20 /* of sines and cosines of float32 */

/* Read the rows of a request's tensor that are those of the sample. */
static bool read_exact(const pe_factor_fit *fit, const pe_scheme *scheme, const char *query,
                       const char *tensor, const pe_view *view, const pe_factor_sample *seen,
                       double *exact)
{
    pe_request *request = pe_parse_query(scheme, query, "f64", fit->limits);
    const int index = request ? pe_find_query_tensor(request, tensor, view) : -1;
    const size_t size = (size_t)pe_view_columns(view) * sizeof *exact;
    pe_stream *stream = NULL;
    pe_error error;
    bool good =
        index >= 0 && pe_request_tensor(request, (size_t)index)->dtype == PE_F64 &&
        pe_stream_new(request, (size_t)index, size, fit->runner, &stream, &error) == PE_OK;
    for (size_t r = 0; good && r < seen->rows; r++)
        good = pe_stream_read_fully(stream, r * seen->distance * size,
                                    exact + r * seen->columns, size);
    pe_stream_free(stream);
    pe_request_unref(request);
    return good;
}

/* Read the points of a sample of a layer: entries of the tensors that were found, and the
 * layer's, which are known the better the smaller they were, `beside` the constant. */
static bool read_points(const pe_factor_fit *fit, const pe_layer *layer, double beside,
                        const pe_factor_sample *seen)
{
    const pe_identity *found = fit->found;
    const size_t half = (size_t)pe_view_columns(&layer->view);
    if (!read_exact(fit, found->scheme, found->query, found->tensor, &layer->view, seen,
                    seen->sorted) ||
        (layer->is != PE_OTHER_NONE &&
         !read_exact(fit, found->second.scheme, found->second.query, found->second.tensor,
                     &layer->other, seen, seen->sorted + half)))
        return false;
    for (size_t i = 0; i < seen->rows * seen->columns; i++) {
        const bool negative = i % seen->columns >= half && found->second.negative;
        seen->points[i] =
            (pe_factor_point){negative ? -seen->sorted[i] : seen->sorted[i], seen->entries[i],
                              seen->noise > 0 ? 1 : hypot(seen->entries[i] + beside, 1e-6)};
    }
    return true;
}

/* Choose the numbers of a form by the points of a sample, if most are near a trend. */
static bool choose_by_trend(const pe_layer *layer, pe_transform form,
                            const pe_factor_sample *seen, pe_factor_line *ret_chosen)
{
    pe_factor_trend exact;
    if (!pe_fit_trend(seen->points, seen->rows * seen->columns, 0.5, 0, &exact))
        return false;
    const double size = fabs(form.value) * (seen->noise > 0 ? NOISY_FIT : 1);
    const pe_factor_line fit = {.factor = form.value * exact.slope,
                                .constant = form.value * (exact.y - exact.slope * exact.x) +
                                            form.constant,
                                .factor_error = size * exact.tilt,
                                .constant_error = size * exact.error,
                                .centre = exact.x};
    *ret_chosen = pe_choose_line(&fit, 0, &layer->view);
    return true;
}

/* Choose those that make all points of a sample without noise, of which the sizes are lost. */
static bool choose_by_roundings(const pe_layer *layer, pe_transform form,
                                const pe_factor_sample *seen, pe_factor_line *ret_chosen)
{
    const double unit = pe_observation_unit(&layer->view);
    const size_t count = seen->rows * seen->columns;
    if (seen->noise > 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        pe_factor_point *own = &seen->points[i];
        own->y = form.value * own->y + form.constant;
        own->size = pe_bound_rounded(own->y, unit) + SLACK * fabs(form.value);
    }
    return pe_settle_numbers(seen->points, count, form.value, ret_chosen);
}

/* Add a layer with the numbers that were chosen for a form of this one. */
static bool add_better(pe_layers *layers, const pe_layer *layer, size_t form,
                       const pe_factor_line *chosen)
{
    const pe_transform own = layer->transforms[form];
    const pe_view *views[] = {&layer->view, &layer->other};
    pe_layer better = *layer;
    pe_view *scaled[] = {&better.view, &better.other};
    pe_mapped_view *mapped = pe_layers_hold(layers, 2 * sizeof *mapped);
    better.examined = false;
    better.waves = NULL;
    better.transforms[form].value = chosen->factor;
    better.transforms[form].constant = chosen->constant;
    for (size_t i = 0; i < (layer->is == PE_OTHER_NONE ? 1 : 2); i++) {
        if (!mapped)
            return false;
        pe_mapped_view_init(&mapped[i], views[i], PE_MAP_SCALE, chosen->factor / own.value,
                            (chosen->constant - own.constant) / own.value, scaled[i]);
        if (pe_layer_has(layer, PE_TRANSFORM_NOISE))
            continue;
        scaled[i]->unit *= chosen->sure ? 1 : 1 + 2 * PE_FACTOR_SIDE;
        scaled[i]->grain =
            (chosen->constant_error + 0.5 * scaled[i]->unit * fabs(chosen->constant)) /
            fabs(chosen->factor);
    }
    pe_layers_add(layers, &better);
    return true;
}

bool pe_refit_factor(pe_layers *layers, const pe_layer *layer, const pe_factor_fit *fit)
{
    pe_factor_sample seen = {.rows = 0};
    pe_factor_line chosen = {0};
    size_t form = 0;
    while (form < layer->count && layer->transforms[form].kind != PE_TRANSFORM_FACTOR)
        form++;
    if (form == layer->count ||
        (layer->transforms[form].constant == 0 && !pe_layer_has(layer, PE_TRANSFORM_NOISE)) ||
        pe_layer_has(layer, PE_TRANSFORM_ANGLES) || layer->is == PE_OTHER_TABLE ||
        fmax(pe_observation_unit(&layer->view), layer->view.grain) < PE_FACTOR_UNIT)
        return true;
    const pe_transform own = layer->transforms[form];
    bool good = pe_read_factor_sample(layer, &seen);
    if (good && read_points(fit, layer, own.constant / own.value, &seen)) {
        const bool near = choose_by_trend(layer, own, &seen, &chosen);
        if (choose_by_roundings(layer, own, &seen, &chosen) || near)
            good = add_better(layers, layer, form, &chosen);
    }
    pe_free_factor_sample(&seen);
    return good;
}
