/* Applying encodings to tensors from elsewhere, some rows at a time. */
#include "apply/binding.h"
#include "apply/columns.h"
#include "apply/indexed.h"
#include "apply/rows.h"
#include "apply/sum.h"
#include "foreign/comparison.h"
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ELEMENTS ((uint64_t)16384) /* of the input or the result, but at least a row */
#define READ_BLOCKS    4                 /* the most that one read computes */

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
    unsigned char *block; /* the results of rows [first, first + filled) */
    uint64_t block_rows, first, filled;
};

const pe_application *pe_scheme_applications(const pe_scheme *scheme, size_t *ret_count)
{
    *ret_count = scheme->application_count;
    return scheme->applications;
}

/* ---- opening ---- */

/* The place of a tensor among those of a request; -1 if there is none. */
static int find_tensor(const pe_request *request, const char *name)
{
    for (size_t i = 0; i < pe_request_tensor_count(request); i++)
        if (strcmp(pe_request_tensor(request, i)->name, name) == 0)
            return (int)i;
    return -1;
}

/* Find the tensors of the application; false, and a problem, if the request has another form of
 * them. */
static bool find_tensors(const pe_apply *self, size_t *ret_tensors, pe_error *reterr)
{
    for (size_t i = 0; i < 2 && self->application->tensors[i]; i++) {
        int found = find_tensor(self->exact, self->application->tensors[i]);
        if (found < 0 && self->application->kind == PE_APPLY_ROTATE)
            pe_error_add(reterr, PE_OUT_OF_RANGE, "cos_sin", "true",
                         "left out: cosines and sines are applied");
        else if (found < 0)
            pe_error_add(reterr, PE_OUT_OF_RANGE, "form", "",
                         "such that there is the tensor %s: expanded",
                         self->application->tensors[i]);
        if (found < 0)
            return false;
        ret_tensors[i] = (size_t)found;
    }
    return true;
}

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

/* The element of a dtype. */
static pe_element element_of(pe_dtype dtype)
{
    static const pe_element ELEMENTS[] = {[PE_F32] = PE_ELEMENT_F32,
                                          [PE_F64] = PE_ELEMENT_F64,
                                          [PE_F16] = PE_ELEMENT_F16,
                                          [PE_BF16] = PE_ELEMENT_BF16};
    return ELEMENTS[dtype];
}

static void set_shape(pe_apply *self)
{
    self->shape =
        (pe_view){.element = element_of(self->rule.dtype), .rank = self->binding.rank};
    memcpy(self->shape.shape, self->binding.shape, sizeof self->shape.shape);
    self->shape.rank -= !self->binding.has_result_axis;
    if (self->binding.has_result_axis)
        self->shape.shape[self->shape.rank - 1] = self->binding.results;
    pe_view_set_row_major(&self->shape);
}

static bool allocate(pe_apply *self)
{
    size_t most =
        self->rule.columns > self->rule.results ? self->rule.columns : self->rule.results;
    self->block_rows = BLOCK_ELEMENTS / most > 0 ? BLOCK_ELEMENTS / most : 1;
    if (self->block_rows > self->binding.rows)
        self->block_rows = self->binding.rows;
    size_t entries = (size_t)self->block_rows * self->rule.columns;
    self->found = malloc(entries * pe_dtype_size(self->dtype));
    self->numbers = malloc(entries * sizeof *self->numbers);
    self->block =
        malloc((size_t)self->block_rows * self->rule.results * pe_dtype_size(self->rule.dtype));
    return pe_row_room_init(&self->room, most) && self->found && self->numbers && self->block;
}

/* How many consecutive rows of the entries a row needs. */
static uint64_t rows_at_once(const pe_apply *self)
{
    return self->rule.kind == PE_APPLY_COMBINE ? self->binding.columns : 1;
}

/* Whether the input's rows are keys. */
static bool is_by_key(const pe_apply *self)
{
    return strncmp(self->application->axes, "keys", 4) == 0;
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
               pe_indexed_init(&self->indexed, self->exact, tensors[1], is_by_key(self), runner,
                               reterr) == PE_OK;
    for (size_t i = 0; i < 2 && self->application->tensors[i]; i++)
        if (pe_entries_init(&self->entries[i], self->doubles, self->exact, tensors[i], at_once,
                            runner, reterr) != PE_OK)
            return false;
    return true;
}

/* The tensor that says which rows of the entries belong to a row of the input; of indices for
 * keys with its axes exchanged. */
static pe_tensor bound_tensor(const pe_apply *self, const size_t *tensors)
{
    bool gather = self->application->kind == PE_APPLY_GATHER;
    pe_tensor tensor = *pe_request_tensor(self->exact, tensors[gather]);
    if (gather && tensor.rank == 2 && is_by_key(self)) {
        uint64_t queries = tensor.shape[0];
        tensor.shape[0] = tensor.shape[1];
        tensor.shape[1] = queries;
    }
    return tensor;
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
    if (!find_tensors(self, tensors, reterr) || !set_dtypes(self, options, reterr))
        return false;
    const pe_tensor entries = bound_tensor(self, tensors);
    if (!pe_binding_make(self->exact, self->application, &entries, &self->input, options->axes,
                         &self->binding, reterr))
        return false;
    if (self->application->kind == PE_APPLY_GATHER && !fits_table(self, tensors[0], reterr))
        return false;
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
    if (pe_request_with_dtype(request, PE_DD, &self->exact, reterr) == PE_OK &&
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

/* Bytes of the results of one row. */
static uint64_t row_bytes(const pe_apply *self)
{
    return self->rule.results * pe_dtype_size(self->rule.dtype);
}

uint64_t pe_apply_size(const pe_apply *apply)
{
    return apply->binding.rows * row_bytes(apply);
}

/* ---- reading ---- */

/* Keep the bytes of columns that are in no pair, where the dtype stays. */
static void keep_rest(const pe_apply *self, const unsigned char *found, unsigned char *to)
{
    size_t size = pe_dtype_size(self->dtype), turned = 2 * self->rule.pairs;
    if (self->rule.kind == PE_APPLY_ROTATE && self->dtype == self->rule.dtype)
        memcpy(to + turned * size, found + turned * size, (self->rule.columns - turned) * size);
}

/* Compute the results of a row into the room. */
static void fill_row(pe_apply *self, uint64_t row, const double *numbers)
{
    uint64_t entries = pe_binding_row(&self->binding, row);
    if (self->rule.kind == PE_APPLY_GATHER || self->rule.kind == PE_APPLY_CONTRACT) {
        pe_row_indexed(&self->rule, &self->room, numbers, &self->indexed, entries,
                       &self->entries[0], self->room.rounded);
        return;
    }
    pe_row_apply(&self->rule, &self->room, numbers, self->entries, entries, self->room.rounded);
}

/* Compute the rows of a block; false if the input cannot be read. */
static bool fill_block(pe_apply *self, uint64_t first)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    uint64_t left = self->binding.rows - first;
    uint64_t rows = left < self->block_rows ? left : self->block_rows;
    size_t columns = self->rule.columns, entries = (size_t)rows * columns;
    size_t width = columns * pe_dtype_size(self->dtype), size = (size_t)row_bytes(self);
    self->first = first;
    self->filled = 0;
    if (!self->input.read(self->input.context, self->input.offset + first * width, self->found,
                          (size_t)rows * width))
        return false;
    kernel->read(self->dtype, self->found, entries, self->numbers);
    for (uint64_t r = 0; r < rows; r++) {
        fill_row(self, first + r, self->numbers + r * columns);
        kernel->store(self->rule.dtype, self->room.rounded, self->rule.results,
                      self->block + r * size);
        keep_rest(self, self->found + r * width, self->block + r * size);
    }
    self->filled = rows;
    return true;
}

size_t pe_apply_read(pe_apply *apply, uint64_t offset, void *dst, size_t size)
{
    uint64_t bytes = row_bytes(apply), end = pe_apply_size(apply);
    size_t done = 0, blocks = 0;
    while (done < size && offset + done < end) {
        uint64_t at = offset + done, row = at / bytes;
        if (row < apply->first || row >= apply->first + apply->filled) {
            if (blocks++ == READ_BLOCKS || !fill_block(apply, row))
                break;
        }
        uint64_t from = at - apply->first * bytes, rest = apply->filled * bytes - from;
        size_t part = rest < size - done ? (size_t)rest : size - done;
        memcpy((char *)dst + done, apply->block + from, part);
        done += part;
    }
    return done;
}

/* ---- comparing ---- */

/* A pe_exact_side's `read`. */
static size_t read_apply(void *context, uint64_t offset, void *dst, size_t size)
{
    return pe_apply_read(context, offset, dst, size);
}

pe_status pe_apply_compare(pe_apply *apply, const pe_view *view, pe_tolerance tolerance,
                           const pe_runner *runner, pe_comparison *ret_comparison,
                           pe_error *reterr)
{
    pe_exact_side side = {.context = apply,
                          .read = read_apply,
                          .name = apply->application->result,
                          .dtype = apply->rule.dtype,
                          .rank = apply->shape.rank,
                          .request = apply->exact};
    memcpy(side.shape, apply->shape.shape, sizeof side.shape);
    return pe_compare_with(&side, view, tolerance, runner, ret_comparison, reterr);
}

const char *pe_apply_axis(const pe_apply *apply, size_t axis)
{
    return apply->binding.names[axis];
}
