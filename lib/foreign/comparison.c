/* Comparing a table from elsewhere with exact elements, block by block. */
#include "foreign/comparison.h"

#include "foreign/repeats.h"
#include "foreign/tolerance.h"
#include "numerics/dtype.h"
#include "requests/parameters.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX  65536 /* of columns: wider tables have more than one column in each */
#define BLOCK_BYTES ((size_t)1 << 20) /* of the exact tensor, at least one row */

typedef struct tally {
    pe_comparison *result;
    pe_tolerance tolerance;
    pe_entry_bound bound; /* where the tolerance is bounded */
    pe_dtype dtype;
    bool has_signs;            /* the view has zeros of two signs */
    uint64_t rows, columns;    /* of the tensor as a matrix: the last axis has the columns */
    uint64_t rows_in_block;    /* of result->blocks */
    pe_compared_part *parts;   /* one for each group of columns */
    uint64_t group, groups;    /* columns of a group, and how many groups there are */
    pe_compared_row *open_row; /* of result->rows, while the row goes on */
    const pe_exact_side *side;
    uint64_t row, row_part_count; /* whose parts these are: all axes' but the last one's */
    pe_compared_part *row_parts[PE_VIEW_RANK_MAX + 1];
    pe_compared_part *last_axis; /* NULL: there is none */
} tally;

/* ---- one entry ---- */

static void note_row(tally *self, uint64_t row, uint64_t column, double found, double exact)
{
    pe_comparison *result = self->result;
    pe_compared_row *open = self->open_row;
    if (!open || open->row != row) {
        if (result->row_count == PE_COMPARE_ROWS)
            return;
        open = self->open_row = &result->rows[result->row_count++];
        *open = (pe_compared_row){.row = row};
    }
    open->differing++;
    if (open->samples == PE_COMPARE_SAMPLES)
        return;
    open->columns[open->samples] = column;
    open->found[open->samples] = found;
    open->exact[open->samples++] = exact;
}

static void keep_most(pe_deviation *most, double error, uint64_t place, double found,
                      double exact)
{
    if (error > most->error)
        *most = (pe_deviation){.error = error, .place = place, .found = found, .exact = exact};
}

/* The bin of an error in ulps: 1 for up to half an ulp, and twice as much for each further one.
 */
static size_t find_bin(double ulps)
{
    int exponent;
    if (ulps <= 0.5)
        return 1;
    if (ulps > ldexp(0.5, PE_COMPARE_BINS - 2))
        return PE_COMPARE_BINS - 1;
    return (size_t)(frexp(ulps, &exponent) == 0.5 ? exponent + 1 : exponent + 2);
}

static void note_part(pe_compared_part *part, double error, double ulps)
{
    part->differing++;
    part->max_abs = error > part->max_abs ? error : part->max_abs;
    part->max_ulps = ulps > part->max_ulps ? ulps : part->max_ulps;
}

/* Find the parts that a row belongs to: once, since dividing takes longer than noting. */
static void find_row_parts(tally *self, pe_comparison *result, uint64_t row)
{
    uint64_t index = self->row = row;
    self->row_parts[0] = &result->blocks[row / self->rows_in_block];
    self->row_part_count = 1;
    for (size_t axis = self->side->rank; axis-- > 1;) {
        const uint64_t extent = self->side->shape[axis - 1];
        pe_compared_part *parts = result->axes[axis - 1];
        self->row_parts[self->row_part_count++] = &parts[index % extent / parts[0].count];
        index /= extent;
    }
}

bool pe_comparison_is_vague(const pe_comparison *comparison)
{
    return 2 * comparison->differing > comparison->entries &&
           comparison->bound_squares > comparison->entry_squares / 16;
}

/* `loss`: of the entry, or its bound, where the tolerance is bounded. */
static void note_difference(tally *self, uint64_t place, double found, double exact,
                            double loss)
{
    pe_comparison *result = self->result;
    const uint64_t row = place / self->columns, column = place - row * self->columns;
    bool finite = isfinite(found) && isfinite(exact);
    double error = finite ? fabs(found - exact) : INFINITY;
    double ulps = finite ? error / pe_dtype_ulp(self->dtype, exact) : INFINITY;
    const double bound = self->side->bounds ? loss : pe_bound_entry(&self->bound, exact, loss);
    result->differing++;
    result->outside +=
        pe_is_outside(&self->tolerance, self->dtype, error, ulps, found, exact, bound);
    if (row != self->row)
        find_row_parts(self, result, row);
    for (size_t i = 0; i < self->row_part_count; i++)
        note_part(self->row_parts[i], error, ulps);
    note_part(&self->parts[column / self->group], error, ulps);
    if (self->last_axis)
        note_part(&self->last_axis[column / self->last_axis[0].count], error, ulps);
    note_row(self, row, column, found, exact);
    if (!finite) {
        if (result->not_finite++ == 0)
            result->first_not_finite = place;
        result->bins[PE_COMPARE_BINS - 1]++;
        return;
    }
    result->bins[find_bin(ulps)]++;
    result->squares += error * error;
    result->entry_squares += exact * exact;
    result->bound_squares += self->tolerance.bounded ? bound * bound : 0;
    keep_most(&result->absolute, error, place, found, exact);
    keep_most(&result->ulps, ulps, place, found, exact);
}

/* Compare some entries from `place` on. `losses`: NULL if they have none. */
static void compare_entries(tally *self, uint64_t place, double *found, const double *exact,
                            const double *losses, size_t count)
{
    if (self->tolerance.any_mask)
        self->result->masked += pe_mask_entries(found, exact, count, self->columns);
    for (size_t i = 0; i < count; i++)
        if (!(found[i] == exact[i]) && !(isnan(found[i]) && isnan(exact[i])))
            note_difference(self, place + i, found[i], exact[i], losses ? losses[i] : 0);
        else if (found[i] == 0 && self->has_signs)
            self->result->signs += !signbit(found[i]) != !signbit(exact[i]);
}

/* ---- the parts of the result ---- */

static int worse_first(const void *a, const void *b)
{
    const pe_compared_part *one = a, *other = b;
    if (one->max_abs != other->max_abs)
        return one->max_abs > other->max_abs ? -1 : 1;
    if (one->differing != other->differing)
        return one->differing > other->differing ? -1 : 1;
    return one->first < other->first ? -1 : one->first > other->first;
}

/* Divide `extent` indices into at most PE_COMPARE_PLACES parts; returns how many. */
static size_t divide_extent(uint64_t extent, pe_compared_part *ret_parts)
{
    uint64_t each = (extent + PE_COMPARE_PLACES - 1) / PE_COMPARE_PLACES;
    size_t count = (size_t)((extent + each - 1) / each);
    for (size_t i = 0; i < count; i++) {
        uint64_t first = i * each, left = extent - first;
        ret_parts[i] = (pe_compared_part){.first = first, .count = left < each ? left : each};
    }
    return count;
}

static void begin_parts(tally *self)
{
    pe_comparison *result = self->result;
    result->block_count = divide_extent(self->rows, result->blocks);
    self->rows_in_block = result->blocks[0].count;
    for (size_t axis = 0; axis < self->side->rank; axis++)
        result->axis_parts[axis] = divide_extent(self->side->shape[axis], result->axes[axis]);
    self->last_axis = self->side->rank > 0 ? result->axes[self->side->rank - 1] : NULL;
    for (uint64_t i = 0; i < self->groups; i++) {
        uint64_t first = i * self->group, left = self->columns - first;
        self->parts[i] = (pe_compared_part){.first = first,
                                            .count = left < self->group ? left : self->group};
    }
}

static void end_parts(tally *self)
{
    pe_comparison *result = self->result;
    qsort(self->parts, (size_t)self->groups, sizeof *self->parts, worse_first);
    while (result->column_count < PE_COMPARE_PLACES && result->column_count < self->groups &&
           self->parts[result->column_count].differing > 0) {
        result->columns[result->column_count] = self->parts[result->column_count];
        result->column_count++;
    }
    result->bins[0] = result->entries - result->differing;
    result->one = result->absolute.error * ldexp(1, pe_dtypes[self->dtype].digits);
}

/* ---- the pass over the tensor ---- */

/* Rows are indices of one axis: the first one whose rows are small. Each index of the axes
 * before it is a plane of such rows. */
typedef struct pass {
    const pe_exact_side *side;
    pe_view view;
    pe_dtype dtype;
    size_t axis;
    uint64_t planes, rows, row_entries;
    unsigned char *exact, *found;
    double *exact_values, *found_values;
    double *losses; /* NULL: none are asked for */
} pass;

static bool allocate_blocks(pass *self, uint64_t block_rows)
{
    size_t entries = (size_t)(block_rows * self->row_entries);
    self->exact = malloc(entries * pe_dtype_size(self->dtype));
    self->found = malloc(entries * pe_element_size(self->view.element));
    self->exact_values = malloc(entries * sizeof(double));
    self->found_values = malloc(entries * sizeof(double));
    self->losses = self->side->losses ? malloc(entries * sizeof(double)) : NULL;
    return self->exact && self->found && self->exact_values && self->found_values &&
           (self->losses || !self->side->losses);
}

static void release(pass *self)
{
    free(self->exact);
    free(self->found);
    free(self->exact_values);
    free(self->found_values);
    free(self->losses);
}

/* Read bytes of the exact side, or of its losses. */
static bool read_side(const pass *self, void *context, uint64_t offset, void *dst, size_t bytes)
{
    size_t done = 0;
    for (size_t part = 1; done < bytes && part > 0; done += part)
        part = self->side->read(context, offset + done, (char *)dst + done, bytes - done);
    return done == bytes;
}

/* The view of a plane. */
static pe_view select_plane(const pass *self, uint64_t plane)
{
    pe_view view = self->view;
    for (size_t axis = self->axis; axis-- > 0;) {
        uint64_t size = view.shape[axis];
        view = pe_view_at(&view, axis, plane % size);
        plane /= size;
    }
    return view;
}

/* Compare rows [first, first + rows) of a plane, whose first entry is `place`. False: the view
 * cannot be read. */
static bool compare_rows(pass *self, tally *counts, const pe_view *plane, uint64_t place,
                         uint64_t first, uint64_t rows)
{
    uint64_t entries = rows * self->row_entries;
    size_t size = pe_dtype_size(self->dtype), bytes = (size_t)entries * size;
    pe_dtype same;
    place += first * self->row_entries;
    if (!read_side(self, self->side->context, place * size, self->exact, bytes))
        return false;
    if (pe_element_is_real(plane->element, &same) && same == self->dtype) {
        if (!pe_view_read_elements(plane, first, rows, self->found))
            return false;
        if (memcmp(self->found, self->exact, bytes) == 0)
            return true;
        pe_read_row(self->found_values, self->dtype, self->found, (size_t)entries);
    } else if (!pe_view_read(plane, first, rows, self->found_values)) {
        return false;
    }
    if (self->losses && !read_side(self, self->side->losses, place * sizeof(double),
                                   self->losses, (size_t)entries * sizeof(double)))
        return false;
    pe_read_row(self->exact_values, self->dtype, self->exact, (size_t)entries);
    compare_entries(counts, place, self->found_values, self->exact_values, self->losses,
                    (size_t)entries);
    return true;
}

/* Compare the rows of a plane; false after a problem was added. */
static bool compare_plane(pass *self, tally *counts, uint64_t plane, uint64_t at_once,
                          const pe_scheme *scheme, const pe_runner *runner, pe_error *reterr)
{
    const pe_view view = select_plane(self, plane);
    uint64_t place = plane * self->rows * self->row_entries;
    for (uint64_t row = 0, rows; row < self->rows; row += rows) {
        double done = (double)(place + row * self->row_entries);
        rows = self->rows - row < at_once ? self->rows - row : at_once;
        if (done > 0 &&
            !pe_may_continue(runner, scheme, done / (double)counts->result->entries, reterr))
            return false;
        if (!compare_rows(self, counts, &view, place, row, rows)) {
            pe_error_add(reterr, PE_MALFORMED, "body", "", "a table that can be read");
            return false;
        }
    }
    return true;
}

/* Compare all rows; false after a problem was added. */
static bool compare_planes(pass *self, tally *counts, const pe_request *request,
                           const pe_runner *runner, pe_error *reterr)
{
    uint64_t at_once = BLOCK_BYTES / (self->row_entries * sizeof(double));
    at_once = at_once == 0 ? 1 : at_once < self->rows ? at_once : self->rows;
    bool good = allocate_blocks(self, at_once);
    if (!good)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the comparison");
    good = pe_request_begin(request, runner, reterr) && good;
    for (uint64_t plane = 0; good && plane < self->planes; plane++)
        good =
            compare_plane(self, counts, plane, at_once, request->values.scheme, runner, reterr);
    pe_request_end(request, runner);
    return good;
}

/* ---- the whole ---- */

/* Take the exact shape without axes of size 1; an empty shape becomes [1]. */
static pe_view find_shape(const pe_exact_side *side)
{
    pe_view shape = {.rank = side->rank};
    memcpy(shape.shape, side->shape, side->rank * sizeof *side->shape);
    return pe_view_squeezed(&shape);
}

/* Find the part of a view that has the exact shape: all of it, or one index of each axis along
 * which it is constant. */
static bool find_table(const pe_view *view, const pe_exact_side *side, pe_view *ret_table)
{
    const pe_view wanted = find_shape(side);
    bool fits = true;
    *ret_table = pe_view_squeezed(view);
    if (ret_table->rank > wanted.rank && !pe_repeats_fit(view, &wanted, &fits, ret_table))
        return false;
    return fits && ret_table->rank == wanted.rank &&
           memcmp(ret_table->shape, wanted.shape, wanted.rank * sizeof *wanted.shape) == 0;
}

bool pe_compare_fits(const pe_view *view, const pe_exact_side *side, pe_error *reterr)
{
    pe_view table;
    if (find_table(view, side, &table))
        return true;
    char given[96], allowed[96];
    pe_write_shape(view->shape, view->rank, given, sizeof given);
    pe_write_shape(side->shape, side->rank, allowed, sizeof allowed);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", given,
                 "%s, as the tensor %s of this request", allowed, side->name);
    return false;
}

/* Choose the axis whose indices are rows. */
static void choose_rows(pass *self, uint64_t elements)
{
    const pe_view *view = &self->view;
    self->planes = 1;
    self->rows = view->rank > 0 ? view->shape[0] : 1;
    self->row_entries = elements / self->rows;
    while (self->axis + 1 < view->rank &&
           self->row_entries * sizeof(double) > BLOCK_BYTES / 4) {
        self->planes *= self->rows;
        self->rows = view->shape[++self->axis];
        self->row_entries /= self->rows;
    }
}

pe_status pe_compare_sides(const pe_exact_side *side, const pe_view *view,
                           pe_tolerance tolerance, const pe_runner *runner,
                           pe_comparison *ret_comparison, pe_error *reterr)
{
    pass reading = {.side = side, .dtype = side->dtype};
    pe_comparison *result = ret_comparison;
    pe_error_init(reterr);
    if (!find_table(view, side, &reading.view) && !pe_compare_fits(view, side, reterr))
        return reterr->status;
    memset(result, 0, sizeof *result);
    result->entries = pe_view_elements(&reading.view);
    result->repeated = pe_view_elements(view) / result->entries;
    tally counts = {.result = result,
                    .tolerance = tolerance,
                    .bound = pe_bound_entries(tolerance.arithmetic),
                    .dtype = side->dtype,
                    .side = side,
                    .row = UINT64_MAX};
    pe_dtype real;
    counts.has_signs = pe_element_is_real(view->element, &real);
    counts.columns = side->rank > 0 ? side->shape[side->rank - 1] : 1;
    counts.rows = result->entries / counts.columns;
    counts.group = (counts.columns + GROUPS_MAX - 1) / GROUPS_MAX;
    counts.groups = (counts.columns + counts.group - 1) / counts.group;
    counts.parts = malloc((size_t)counts.groups * sizeof *counts.parts);
    if (!counts.parts) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the comparison");
    } else {
        choose_rows(&reading, result->entries);
        begin_parts(&counts);
        if (compare_planes(&reading, &counts, side->request, runner, reterr))
            end_parts(&counts);
    }
    release(&reading);
    free(counts.parts);
    return reterr->status;
}
