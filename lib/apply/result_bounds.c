/* Bounds of results, a part of a row at a time. */
#include "apply/result_bounds.h"

#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDINGS     4 /* of a term: its entry, a factor, the product, the result */
#define OF_FACTORS    2 /* the factor of a query, and the product with it */
#define ADDED_AT_ONCE ((size_t)1 << 14) /* results of one entry that are bounded together */

/* ---- opening ---- */

/* The terms of a result. */
static double count_terms(const pe_apply *apply)
{
    return apply->rule.kind >= PE_APPLY_CONTRACT ? (double)apply->rule.columns : 2;
}

/* Set what all terms share. */
static void set_terms(pe_result_bounds *self, pe_dtype arithmetic)
{
    const pe_apply *apply = self->apply;
    const pe_dtype fine = arithmetic == PE_F64 ? PE_F64 : PE_F32;
    const double unit = pe_dtypes[arithmetic].unit;
    const double narrowed = pe_dtypes[apply->dtype].unit < unit;
    const double roundings = ROUNDINGS + narrowed + (apply->scales ? OF_FACTORS : 0);
    self->entry = pe_bound_entries(fine);
    self->entry.by_entry +=
        roundings * unit / 2 + count_terms(apply) * pe_dtypes[fine].unit / 2;
    self->entry.least = fmax(self->entry.least, pe_dtype_ulp(arithmetic, 0));
    self->input = (1 + narrowed) * unit / 2;
}

static bool open_losses(pe_result_bounds *self, pe_error *reterr)
{
    const pe_apply *apply = self->apply;
    const bool gathers = apply->rule.kind == PE_APPLY_GATHER;
    if (apply->exact->values.scheme->errors != PE_ERRORS_OF_ANGLES)
        return true;
    if (pe_request_with_dtype(apply->exact, PE_LOSS, &self->lossy, reterr) != PE_OK)
        return false;
    for (size_t i = 0; i < (gathers ? 1 : 2) && apply->application->tensors[i]; i++)
        if (pe_entries_init(&self->losses[i], NULL, self->lossy, apply->tensors[i],
                            apply->order, self->runner, reterr) != PE_OK)
            return false;
    return true;
}

pe_status pe_result_bounds_init(pe_result_bounds *ret_bounds, pe_apply *apply,
                                pe_dtype arithmetic, const pe_runner *runner, pe_error *stopped,
                                pe_error *reterr)
{
    pe_result_bounds *self = ret_bounds;
    const bool added = apply->rule.kind < PE_APPLY_ROTATE;
    const size_t numbers = added ? ADDED_AT_ONCE : apply->rule.columns;
    const size_t results = added ? ADDED_AT_ONCE : (size_t)apply->blocks.block_results;
    *self = (pe_result_bounds){.apply = apply, .runner = runner, .stopped = stopped};
    set_terms(self, arithmetic);
    self->numbers = malloc((2 * numbers + results) * sizeof *self->numbers);
    if (!self->numbers)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for bounds");
    else
        open_losses(self, reterr);
    self->bounds = self->numbers + 2 * numbers; /* elements lie behind the numbers */
    self->count = numbers;
    return reterr->status;
}

void pe_result_bounds_done(pe_result_bounds *bounds)
{
    pe_entries_done(&bounds->losses[0]);
    pe_entries_done(&bounds->losses[1]);
    pe_request_unref(bounds->lossy);
    free(bounds->numbers);
}

/* ---- terms ---- */

/* Entries of a tensor, and what they lose. */
typedef struct weighed_row {
    const double *entries, *losses; /* NULL: nothing */
} weighed_row;

static weighed_row find_row(pe_result_bounds *self, size_t tensor, uint64_t row)
{
    pe_entries *losses = &self->losses[tensor];
    return (weighed_row){pe_entries_rows(&self->apply->entries[tensor], row).hi,
                         losses->columns > 0 ? pe_entries_rows(losses, row).hi : NULL};
}

static double weigh(const pe_result_bounds *self, weighed_row row, size_t i)
{
    return pe_bound_entry(&self->entry, row.entries[i], row.losses ? row.losses[i] : 0);
}

/* Read magnitudes of the input. */
static bool read_magnitudes(pe_result_bounds *self, uint64_t first, size_t count)
{
    const pe_apply *apply = self->apply;
    double *elements = self->numbers + self->count;
    if (!pe_source_read(&apply->input, first, count, elements))
        return false;
    pe_kernel_get()->applying->read(apply->dtype, elements, count, self->numbers);
    for (size_t i = 0; i < count; i++)
        self->numbers[i] = fabs(self->numbers[i]);
    return true;
}

/* ---- rows ---- */

/* Bound pairs that turn by the positions of one axis. */
static void bound_pairs(pe_result_bounds *self, size_t axis, uint64_t row)
{
    const pe_row_rule *rule = &self->apply->rule;
    const weighed_row cosines = find_row(self, 0, row), sines = find_row(self, 1, row);
    for (size_t p = 0; p < rule->pairs; p++) {
        if (pe_row_axis(rule, p) != axis)
            continue;
        const size_t column = rule->full ? rule->one[p] - rule->first : p;
        const double c = weigh(self, cosines, column), s = weigh(self, sines, column);
        const double x = self->numbers[rule->one[p]], y = self->numbers[rule->other[p]];
        self->bounds[rule->to_one[p]] = x * c + y * s;
        self->bounds[rule->to_other[p]] = y * c + x * s;
    }
}

static void bound_turns(pe_result_bounds *self, uint64_t row)
{
    const pe_apply *apply = self->apply;
    const pe_row_rule *rule = &apply->rule;
    const pe_row_role role = pe_binding_role(&apply->binding, row);
    pe_apply_set_factor(self->apply, pe_binding_row(&apply->binding, row, 0), role);
    const double factor = rule->scaled ? fabs(rule->factor.hi) : 1;
    for (size_t i = 0; i < rule->columns; i++) {
        self->numbers[i] *= factor;
        self->bounds[i] =
            self->numbers[i] * (rule->scaled ? self->entry.by_entry : self->input);
    }
    for (size_t axis = 0; role != PE_ROW_VALUE && axis < rule->axes; axis++)
        bound_pairs(self, axis, pe_binding_row(&apply->binding, row, axis));
}

/* Bound sums [first, first + count) of a row. */
static void bound_sums(pe_result_bounds *self, uint64_t row, uint64_t first, size_t count)
{
    const pe_apply *apply = self->apply;
    const size_t columns = apply->rule.columns;
    const bool combines = apply->rule.kind == PE_APPLY_COMBINE;
    weighed_row entries = {.entries = NULL};
    if (combines)
        entries = find_row(self, 0, row);
    for (size_t k = 0; k < count; k++) {
        if (!combines)
            entries = find_row(self, 0, pe_indexed_row(&apply->indexed, row, first + k));
        self->bounds[k] = 0;
        for (size_t i = 0; i < columns; i++)
            self->bounds[k] += self->numbers[i] *
                               weigh(self, entries, combines ? i * apply->rule.results + k : i);
    }
}

/* Bound the results of a row that one is among. */
static bool bound_row(pe_result_bounds *self, uint64_t result)
{
    const pe_apply *apply = self->apply;
    const uint64_t results = apply->rule.results, part = apply->blocks.block_results;
    const uint64_t row = result / results, first = result % results / part * part;
    const uint64_t rest = results - first;
    self->first = row * results + first;
    self->filled = rest < part ? rest : part;
    if (!read_magnitudes(self, row * apply->rule.columns, apply->rule.columns))
        return false;
    if (apply->rule.kind == PE_APPLY_ROTATE)
        bound_turns(self, row);
    else
        bound_sums(self, pe_binding_row(&apply->binding, row, 0), first, (size_t)self->filled);
    return true;
}

/* Bound results of one entry, from one on; those of a row are `together` apart. */
static bool bound_additions(pe_result_bounds *self, uint64_t result)
{
    const pe_apply *apply = self->apply;
    const uint64_t together = apply->binding.together, columns = apply->rule.columns;
    const uint64_t left = apply->binding.rows * columns - result;
    const bool adds = apply->rule.kind == PE_APPLY_ADD;
    self->first = result;
    self->filled = left < ADDED_AT_ONCE ? left : ADDED_AT_ONCE;
    if (!read_magnitudes(self, result, (size_t)self->filled))
        return false;
    for (uint64_t apart = 0; apart < together; apart++) {
        weighed_row entries = {.entries = NULL};
        for (uint64_t i = apart; i < self->filled; i += together) {
            const uint64_t place = result + i;
            const uint64_t column = place / together % columns;
            if (!entries.entries || column == 0)
                entries = find_row(
                    self, 0,
                    pe_binding_row(&apply->binding,
                                   place / (columns * together) * together + place % together,
                                   0));
            const double term = weigh(self, entries, (size_t)column), x = self->numbers[i];
            self->bounds[i] =
                adds ? fabs(apply->rule.scale) * term + self->input * x : x * term;
        }
    }
    return true;
}

size_t pe_result_bounds_read(pe_result_bounds *bounds, uint64_t offset, void *dst, size_t size)
{
    const uint64_t result = offset / sizeof(double);
    const bool added = bounds->apply->rule.kind < PE_APPLY_ROTATE;
    if (result < bounds->first || result >= bounds->first + bounds->filled) {
        bounds->filled = 0;
        if (!pe_may_continue(bounds->runner, bounds->apply->exact->values.scheme,
                             (double)result / (double)pe_apply_size(bounds->apply),
                             bounds->stopped) ||
            !(added ? bound_additions(bounds, result) : bound_row(bounds, result)))
            return 0;
    }
    const uint64_t from = result - bounds->first;
    const size_t rest = (size_t)(bounds->filled - from) * sizeof(double);
    const size_t part = rest < size ? rest : size;
    memcpy(dst, bounds->bounds + from, part);
    return part;
}
