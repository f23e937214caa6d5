/* Applying encodings to tensors from elsewhere, some rows at a time. */
#include "apply/entry_tensors.h"
#include "apply/position_ids.h"
#include "apply/result.h"
#include "apply/sum.h"
#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

const pe_application *pe_scheme_applications(const pe_scheme *scheme, size_t *ret_count)
{
    *ret_count = scheme->application_count;
    return scheme->applications;
}

/* ---- opening ---- */

/* Check the input's element type, and set both dtypes. */
static bool set_dtypes(pe_apply *self, const pe_apply_options *options, pe_error *reterr)
{
    if (!pe_element_is_real(self->input.view.element, &self->dtype)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dtype",
                     pe_element_name(self->input.view.element),
                     "f32, f64, f16 or bf16 of the tensor %s", self->application->input);
        return false;
    }
    self->rule.dtype = options->dtype == PE_DTYPE_COUNT ? self->dtype : options->dtype;
    if (self->input.view.is_complex && self->rule.dtype != PE_F32 &&
        self->rule.dtype != PE_F64) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dtype", pe_dtype_name(self->rule.dtype),
                     "f32 or f64 of complex numbers");
        return false;
    }
    return true;
}

/* Check that a rotation has as many columns as its request says, and find the first one. */
static bool set_columns(pe_apply *self, const pe_apply_options *options, pe_error *reterr)
{
    const int64_t dim = pe_get_integer(&self->exact->values, "dim");
    const int64_t columns = (int64_t)self->binding.columns, offset = options->rotary_offset;
    const int64_t first = !options->partial ? 0 : offset < 0 ? columns + offset : offset;
    char given[32];
    self->rule.first = (size_t)first;
    if (first >= 0 && (options->partial ? columns >= first + dim : columns == dim))
        return true;
    pe_print_number(given, (double)columns);
    if (options->partial)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", given,
                     "such that the last axis of %s has the dim=%lld columns from "
                     "rotary_offset=%lld on",
                     self->application->input, (long long)dim, (long long)offset);
    else
        pe_error_add(
            reterr, PE_OUT_OF_RANGE, "shape", given,
            "%lld along the last axis of %s, as dim says; or more, with rotary_offset, "
            "the first column that is turned",
            (long long)dim, self->application->input);
    return false;
}

/* Check that complex numbers are pairs of the rotation. */
static bool fits_complex(const pe_apply *self, const pe_apply_options *options,
                         pe_error *reterr)
{
    const pe_scheme_info *info = &self->exact->values.scheme->info;
    if (!self->input.view.is_complex)
        return true;
    const pe_parameter *row = pe_parameter_find(info, "layout");
    const char *layout = row->choices[pe_get_choice(&self->exact->values, "layout")];
    if (self->rule.first % 2 > 0) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "rotary_offset", "",
                     "even for complex numbers, whose parts are columns");
        return false;
    }
    if (strcmp(layout, "interleaved") == 0 && options->output_layout != PE_OUTPUT_HALF)
        return true;
    pe_error_add(reterr, PE_OUT_OF_RANGE, "layout", layout,
                 "interleaved, and output_layout as well, for complex numbers: their parts are "
                 "neighbours");
    return false;
}

/* Find the pairs of a rotation. */
static bool set_pairs(pe_apply *self, const pe_apply_options *options, const pe_tensor *cosines,
                      pe_error *reterr)
{
    pe_row_rule *rule = &self->rule;
    if (!set_columns(self, options, reterr) || !fits_complex(self, options, reterr))
        return false;
    if (!pe_turned_init(&self->turned, self->exact, cosines, options, rule->first)) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the rotation");
        return false;
    }
    rule->pairs = self->turned.pairs;
    rule->one = self->turned.columns;
    rule->other = rule->one + rule->pairs;
    rule->to_one = rule->other + rule->pairs;
    rule->to_other = rule->to_one + rule->pairs;
    rule->full = self->turned.full;
    return true;
}

static void set_shapes(pe_apply *self)
{
    const pe_binding *binding = &self->binding;
    const pe_element element = pe_get_element(self->rule.dtype);
    self->compared = (pe_view){.element = element, .rank = binding->axes};
    memcpy(self->compared.shape, binding->extents, sizeof self->compared.shape);
    pe_view_set_row_major(&self->compared);
    self->shape = (pe_view){.element = element, .rank = binding->answer_rank};
    memcpy(self->shape.shape, binding->answer_shape, sizeof self->shape.shape);
    if (self->input.view.is_complex) {
        self->shape.is_complex = true;
        self->shape.shape[self->shape.rank - 1] /= 2;
        self->shape.shape[self->shape.rank++] = 2;
    }
    pe_view_set_row_major(&self->shape);
}

/* ---- memory and entries ---- */

static bool allocate_blocks(pe_apply *self)
{
    size_t results = (size_t)self->blocks.block_results;
    size_t most = self->rule.columns > results ? self->rule.columns : results;
    size_t together = (size_t)self->binding.together, rows = (size_t)self->blocks.block_rows;
    size_t numbers = together > 1 ? results * together : rows * self->rule.columns;
    size_t block = (together > 1 ? together : rows) * results;
    self->found = malloc(numbers * pe_dtype_size(self->dtype));
    self->numbers = malloc(numbers * sizeof *self->numbers);
    self->block = malloc(block * pe_dtype_size(self->rule.dtype));
    if (together > 1)
        self->alternating = malloc((block + results) * sizeof *self->alternating);
    return pe_row_room_init(&self->room, most) && self->found && self->numbers && self->block &&
           (together == 1 || self->alternating);
}

/* Open the factors of queries. */
static bool open_factors(pe_apply *self, const int *factors, pe_row_order order,
                         const pe_runner *runner, pe_error *reterr)
{
    pe_entries all = {.columns = 0};
    self->by_row = factors[0] >= 0;
    self->scales = self->by_row || factors[1] >= 0;
    self->factor = (dd){1, 0};
    if (self->by_row && pe_entries_init(&self->temperature, NULL, self->exact,
                                        (size_t)factors[0], order, runner, reterr) != PE_OK)
        return false;
    if (factors[1] >= 0 &&
        pe_entries_init(&all, NULL, self->exact, (size_t)factors[1],
                        (pe_row_order){.at_once = 1}, runner, reterr) == PE_OK) {
        const pe_entry_row row = pe_entries_exact(&all, 0);
        self->factor = (dd){row.hi[0], row.lo[0]};
    }
    pe_entries_done(&all);
    return reterr->status == PE_OK;
}

static bool open_entries(pe_apply *self, const pe_apply_options *options,
                         const pe_runner *runner, pe_error *reterr)
{
    const pe_row_order order = self->order =
        pe_choose_row_order(self->application, &self->binding, options);
    const size_t *tensors = self->tensors;
    int factors[2];
    if (!pe_tensors_find_factors(self->exact, self->application, options, factors, reterr) ||
        !open_factors(self, factors, order, runner, reterr))
        return false;
    if (self->rule.dtype != PE_F64 && !self->scales &&
        pe_request_with_dtype(self->exact, PE_F64, &self->doubles, reterr) != PE_OK)
        return false;
    bool gathers = self->rule.kind == PE_APPLY_GATHER;
    for (size_t i = 0; i < (gathers ? 1 : 2) && self->application->tensors[i]; i++)
        if (pe_entries_init(&self->entries[i], self->doubles, self->exact, tensors[i], order,
                            runner, reterr) != PE_OK)
            return false;
    return !gathers ||
           pe_indexed_init(&self->indexed, self->exact, tensors[1],
                           pe_tensors_are_by_key(self->application), runner, reterr) == PE_OK;
}

/* Read by which axis of positions each pair turns. */
static bool read_axis(pe_apply *self, const pe_runner *runner, pe_error *reterr)
{
    const int tensor = pe_tensors_find_one(self->exact, "axis");
    const size_t bytes = self->rule.pairs * sizeof *self->axis;
    pe_stream *stream = NULL;
    self->rule.axis = self->axis = malloc(bytes + sizeof *self->axis);
    if (!self->axis)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for axes");
    bool good = self->axis && tensor >= 0 && self->rule.axes <= PE_POSITION_AXES_MAX;
    if (good && pe_stream_new(self->exact, (size_t)tensor, bytes + sizeof *self->axis, runner,
                              &stream, reterr) == PE_OK)
        good = pe_stream_read_fully(stream, 0, self->axis, bytes);
    pe_stream_free(stream);
    for (size_t p = 0; good && p < self->rule.pairs; p++)
        good = self->axis[p] < (int32_t)self->rule.axes;
    if (!good && reterr->status == PE_OK)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "position_ids", "",
                     "one position of each row for each axis that turns columns");
    return reterr->status == PE_OK;
}

/* Read the positions of rows. */
static bool open_positions(pe_apply *self, const pe_apply_options *options,
                           const pe_runner *runner, pe_error *reterr)
{
    const pe_view *ids = options->position_ids;
    if (!ids)
        return true;
    bool good = pe_ids_read(ids, options->first_position, self->binding.positions, self->exact,
                            runner, &self->offsets, reterr) == PE_OK;
    self->binding.offsets = self->offsets;
    return good && (options->position_axes == 0 || read_axis(self, runner, reterr));
}

/* Check that the input's rows are as long as those of the table. */
static bool fits_table(const pe_apply *self, size_t table, pe_error *reterr)
{
    uint64_t wanted = pe_request_tensor(self->exact, table)->shape[1];
    char given[32];
    if (self->binding.columns == wanted)
        return true;
    pe_print_number(given, (double)self->binding.columns);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", given,
                 "%llu along the last axis of %s, as the table has columns",
                 (unsigned long long)wanted, self->application->input);
    return false;
}

/* Set what all rows share. */
static void set_rule(pe_apply *self, const pe_apply_options *options)
{
    self->rule.kind = self->application->kind;
    self->rule.unsure = self->application->is_rational ? PE_ENTRY_ERROR : 0;
    self->rule.scale = options->scale;
    self->rule.turn = options->inverse ? -1 : 1;
    self->rule.axes = options->position_axes > 0 ? options->position_axes : 1;
    self->rule.columns = (size_t)self->binding.columns;
    self->rule.results = (size_t)self->binding.results;
}

/* Open the result of an exact request; false after a problem was added. */
static bool open_result(pe_apply *self, const pe_view *input, const pe_apply_options *options,
                        const pe_runner *runner, pe_error *reterr)
{
    size_t *tensors = self->tensors;
    const pe_view shape = pe_source_shape(input);
    self->given = *input;
    self->options = *options;
    self->input.view = shape;
    if (!pe_tensors_find(self->exact, self->application, tensors, reterr) ||
        !set_dtypes(self, options, reterr))
        return false;
    const pe_tensor entries = pe_tensors_bound(self->exact, self->application, tensors);
    if (!pe_binding_make(self->exact, self->application, &entries, &shape, options,
                         &self->binding, reterr))
        return false;
    if (self->application->kind == PE_APPLY_GATHER && !fits_table(self, tensors[0], reterr))
        return false;
    if (!pe_check_block_limits(self->application, &self->binding, reterr))
        return false;
    self->blocks = pe_divide_blocks(self->application, &self->binding,
                                    pe_request_tensor(self->exact, tensors[0]), options,
                                    self->rule.dtype == PE_F64);
    set_rule(self, options);
    if (self->rule.kind == PE_APPLY_ROTATE && !set_pairs(self, options, &entries, reterr))
        return false;
    set_shapes(self);
    if (!allocate_blocks(self)) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for rows");
        return false;
    }
    return open_positions(self, options, runner, reterr) &&
           pe_source_open(&self->input, input, self->exact, runner, reterr) == PE_OK &&
           open_entries(self, options, runner, reterr);
}

/* Refuse a preset whose model does something else. */
static bool is_applied(const pe_request *request, pe_error *reterr)
{
    const char *const *other = pe_request_scheme(request)->applied_otherwise;
    const char *preset = request->preset ? request->preset->name : "";
    for (; other && *other; other += 2)
        if (strcmp(*other, preset) == 0) {
            pe_error_add(reterr, PE_OUT_OF_RANGE, "preset", preset, "another one: %s",
                         other[1]);
            return false;
        }
    return true;
}

pe_status pe_apply_new(pe_request *request, size_t application, const pe_view *input,
                       const pe_apply_options *options, const pe_runner *runner,
                       pe_apply **ret_apply, pe_error *reterr)
{
    pe_apply *self = calloc(1, sizeof *self);
    pe_error_init(reterr);
    if (!self) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the result");
        return PE_NO_MEMORY;
    }
    self->application = &pe_request_scheme(request)->applications[application];
    if (is_applied(request, reterr) &&
        pe_request_with_dtype(request, PE_DD, &self->exact, reterr) == PE_OK &&
        open_result(self, input, options, runner, reterr)) {
        *ret_apply = self;
        return PE_OK;
    }
    pe_apply_free(self);
    return reterr->status;
}

void pe_apply_free(pe_apply *apply)
{
    if (!apply)
        return;
    pe_entries_done(&apply->entries[0]);
    pe_entries_done(&apply->entries[1]);
    pe_entries_done(&apply->temperature);
    pe_indexed_done(&apply->indexed);
    pe_row_room_done(&apply->room);
    pe_source_done(&apply->input);
    free(apply->offsets);
    free(apply->axis);
    free(apply->alternating);
    free(apply->turned.columns);
    free(apply->found);
    free(apply->numbers);
    free(apply->block);
    pe_request_unref(apply->exact);
    pe_request_unref(apply->doubles);
    free(apply);
}

const pe_view *pe_apply_shape(const pe_apply *apply)
{
    return &apply->shape;
}

uint64_t pe_apply_size(const pe_apply *apply)
{
    return apply->binding.rows * apply->rule.results * pe_dtype_size(apply->rule.dtype);
}
