/* Applying encodings to tensors from elsewhere, some rows at a time. */
#include "apply/binding.h"
#include "apply/columns.h"
#include "apply/indexed.h"
#include "apply/rows.h"
#include "apply/sum.h"
#include "apply/tensors.h"
#include "apply/work.h"
#include "foreign/comparison.h"
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

struct pe_apply {
    const pe_application *application;
    pe_request *exact, *doubles; /* the entries; doubles only for results shorter than f64 */
    pe_view input, shape;        /* the shape of the result */
    pe_dtype dtype;              /* of the input */
    pe_binding binding;
    pe_turned turned;
    pe_row_rule rule;
    pe_row_room room;
    pe_entries entries[2];
    pe_indexed indexed;   /* of PE_APPLY_GATHER, whose table is entries[0] */
    unsigned char *found; /* [block_rows, columns]: of the input */
    double *numbers;      /* the same */
    unsigned char *block; /* results [first, first + filled) of all */
    uint64_t first, filled;
    pe_work work;
};

const pe_application *pe_scheme_applications(const pe_scheme *scheme, size_t *ret_count)
{
    *ret_count = scheme->application_count;
    return scheme->applications;
}

/* ---- opening ---- */

/* Check the input's element type, and set both dtypes. */
static bool set_dtypes(pe_apply *self, const pe_apply_options *options, pe_error *reterr)
{
    if (!pe_element_is_real(self->input.element, &self->dtype)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dtype", pe_element_name(self->input.element),
                     "f32, f64, f16 or bf16 of the tensor %s", self->application->input);
        return false;
    }
    self->rule.dtype = options->dtype == PE_DTYPE_COUNT ? self->dtype : options->dtype;
    return true;
}

/* Check that a rotation has as many columns as its request says, and find the pairs. */
static bool set_pairs(pe_apply *self, const pe_tensor *cosines, pe_error *reterr)
{
    uint64_t dim = (uint64_t)pe_integer(&self->exact->values, "dim");
    uint64_t columns = self->binding.columns;
    char given[32];
    if (columns != dim) {
        pe_print_number(given, (double)columns);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", given,
                     "%llu along the last axis of %s, as dim says", (unsigned long long)dim,
                     self->application->input);
        return false;
    }
    if (!pe_turned_init(&self->turned, self->exact, cosines)) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the rotation");
        return false;
    }
    self->rule.pairs = self->turned.pairs;
    self->rule.one = self->turned.columns;
    self->rule.other = self->turned.columns + self->turned.pairs;
    self->rule.full = self->turned.full;
    return true;
}

static void set_shape(pe_apply *self)
{
    self->shape =
        (pe_view){.element = pe_get_element(self->rule.dtype), .rank = self->binding.rank};
    memcpy(self->shape.shape, self->binding.shape, sizeof self->shape.shape);
    self->shape.rank -= !self->binding.has_result_axis;
    if (self->binding.has_result_axis)
        self->shape.shape[self->shape.rank - 1] = self->binding.results;
    pe_view_set_row_major(&self->shape);
}

static bool allocate(pe_apply *self)
{
    size_t results = (size_t)self->work.block_results;
    size_t most = self->rule.columns > results ? self->rule.columns : results;
    size_t entries = (size_t)self->work.block_rows * self->rule.columns;
    self->found = malloc(entries * pe_dtype_size(self->dtype));
    self->numbers = malloc(entries * sizeof *self->numbers);
    self->block =
        malloc((size_t)self->work.block_rows * results * pe_dtype_size(self->rule.dtype));
    return pe_row_room_init(&self->room, most) && self->found && self->numbers && self->block;
}

/* How many consecutive rows of the entries a row needs. */
static uint64_t rows_at_once(const pe_apply *self)
{
    return self->rule.kind == PE_APPLY_COMBINE ? self->binding.columns : 1;
}

static bool open_entries(pe_apply *self, const size_t *tensors, const pe_runner *runner,
                         pe_error *reterr)
{
    uint64_t at_once = rows_at_once(self);
    if (self->rule.dtype != PE_F64 &&
        pe_request_with_dtype(self->exact, PE_F64, &self->doubles, reterr) != PE_OK)
        return false;
    if (self->rule.kind == PE_APPLY_GATHER)
        return pe_entries_init(&self->entries[0], self->doubles, self->exact, tensors[0], 1,
                               runner, reterr) == PE_OK &&
               pe_indexed_init(&self->indexed, self->exact, tensors[1],
                               pe_tensors_are_by_key(self->application), runner,
                               reterr) == PE_OK;
    for (size_t i = 0; i < 2 && self->application->tensors[i]; i++)
        if (pe_entries_init(&self->entries[i], self->doubles, self->exact, tensors[i], at_once,
                            runner, reterr) != PE_OK)
            return false;
    return true;
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

/* Open the result of an exact request; false after a problem was added. */
static bool open(pe_apply *self, const pe_apply_options *options, const pe_runner *runner,
                 pe_error *reterr)
{
    size_t tensors[2];
    if (!pe_tensors_find(self->exact, self->application, tensors, reterr) ||
        !set_dtypes(self, options, reterr))
        return false;
    const pe_tensor entries = pe_tensors_bound(self->exact, self->application, tensors);
    if (!pe_binding_make(self->exact, self->application, &entries, &self->input, options->axes,
                         &self->binding, reterr))
        return false;
    if (self->application->kind == PE_APPLY_GATHER && !fits_table(self, tensors[0], reterr))
        return false;
    if (!pe_work_fits(self->application, &self->binding, reterr))
        return false;
    self->work =
        pe_work_divide(self->application, &self->binding,
                       pe_request_tensor(self->exact, tensors[0]), self->rule.dtype == PE_F64);
    self->rule.kind = self->application->kind;
    self->rule.unsure = self->application->is_rational ? PE_ENTRY_ERROR : 0;
    self->rule.scale = options->scale;
    self->rule.turn = options->inverse ? -1 : 1;
    self->rule.columns = (size_t)self->binding.columns;
    self->rule.results = (size_t)self->binding.results;
    if (self->rule.kind == PE_APPLY_ROTATE && !set_pairs(self, &entries, reterr))
        return false;
    set_shape(self);
    if (!allocate(self)) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for rows");
        return false;
    }
    return open_entries(self, tensors, runner, reterr);
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
    self->input = *input;
    if (is_applied(request, reterr) &&
        pe_request_with_dtype(request, PE_DD, &self->exact, reterr) == PE_OK &&
        open(self, options, runner, reterr)) {
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
    pe_indexed_done(&apply->indexed);
    pe_row_room_done(&apply->room);
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

/* ---- reading ---- */

/* Keep the bytes of columns that are in no pair, where the dtype stays. */
static void keep_rest(const pe_apply *self, const unsigned char *found, unsigned char *to)
{
    size_t size = pe_dtype_size(self->dtype), turned = 2 * self->rule.pairs;
    if (self->rule.kind == PE_APPLY_ROTATE && self->dtype == self->rule.dtype)
        memcpy(to + turned * size, found + turned * size, (self->rule.columns - turned) * size);
}

/* Compute `count` results of a row, from `first` on, into the room. */
static void fill_row(pe_apply *self, uint64_t row, uint64_t first, size_t count,
                     const double *numbers)
{
    uint64_t entries = pe_binding_row(&self->binding, row);
    if (self->rule.kind == PE_APPLY_GATHER || self->rule.kind == PE_APPLY_CONTRACT) {
        pe_row_indexed(&self->rule, &self->room, numbers, &self->indexed, entries, first, count,
                       &self->entries[0], self->room.rounded);
        return;
    }
    pe_row_apply(&self->rule, &self->room, numbers, self->entries, entries, self->room.rounded);
}

/* Compute the block that has a result; false if the input cannot be read. */
static bool fill_block(pe_apply *self, uint64_t result)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    size_t columns = self->rule.columns, results = self->rule.results;
    size_t width = columns * pe_dtype_size(self->dtype);
    uint64_t row = result / results, left = self->binding.rows - row;
    uint64_t first = result % results / self->work.block_results * self->work.block_results;
    uint64_t rest = results - first;
    size_t count = (size_t)(rest < self->work.block_results ? rest : self->work.block_results);
    size_t rows = (size_t)(left < self->work.block_rows ? left : self->work.block_rows);
    size_t size = count * pe_dtype_size(self->rule.dtype);
    self->first = row * results + first;
    self->filled = 0;
    if (!self->input.read(self->input.context, self->input.offset + row * width, self->found,
                          rows * width))
        return false;
    kernel->read(self->dtype, self->found, rows * columns, self->numbers);
    for (size_t r = 0; r < rows; r++) {
        fill_row(self, row + r, first, count, self->numbers + r * columns);
        kernel->store(self->rule.dtype, self->room.rounded, count, self->block + r * size);
        keep_rest(self, self->found + r * width, self->block + r * size);
    }
    self->filled = rows * count;
    return true;
}

size_t pe_apply_read(pe_apply *apply, uint64_t offset, void *dst, size_t size)
{
    uint64_t bytes = pe_dtype_size(apply->rule.dtype), end = pe_apply_size(apply);
    bool computed = false;
    size_t done = 0;
    while (done < size && offset + done < end) {
        uint64_t at = offset + done, result = at / bytes;
        if (result < apply->first || result >= apply->first + apply->filled) {
            if (computed || !fill_block(apply, result))
                break;
            computed = true;
        }
        uint64_t from = at - apply->first * bytes, rest = apply->filled * bytes - from;
        size_t part = rest < size - done ? (size_t)rest : size - done;
        memcpy((char *)dst + done, apply->block + from, part);
        done += part;
    }
    return done;
}

/* ---- comparing ---- */

/* A result that is compared, and whom to ask whether to go on. */
typedef struct compared {
    pe_apply *apply;
    const pe_runner *runner;
    pe_error stopped;
} compared;

/* A pe_exact_side's `read`: a read takes about a millisecond, so each is asked for. */
static size_t read_apply(void *context, uint64_t offset, void *dst, size_t size)
{
    compared *self = context;
    double done = (double)offset / (double)pe_apply_size(self->apply);
    if (!pe_may_continue(self->runner, self->apply->exact->values.scheme, done, &self->stopped))
        return 0;
    return pe_apply_read(self->apply, offset, dst, size);
}

pe_status pe_apply_compare(pe_apply *apply, const pe_view *view, pe_tolerance tolerance,
                           const pe_runner *runner, pe_comparison *ret_comparison,
                           pe_error *reterr)
{
    compared self = {.apply = apply, .runner = runner};
    pe_exact_side side = {.context = &self,
                          .read = read_apply,
                          .name = apply->application->result,
                          .dtype = apply->rule.dtype,
                          .rank = apply->shape.rank,
                          .request = apply->exact};
    memcpy(side.shape, apply->shape.shape, sizeof side.shape);
    pe_error_init(&self.stopped);
    pe_compare_sides(&side, view, tolerance, runner, ret_comparison, reterr);
    if (self.stopped.status != PE_OK)
        *reterr = self.stopped;
    return reterr->status;
}

const char *pe_apply_axis(const pe_apply *apply, size_t axis)
{
    return apply->binding.names[axis];
}
