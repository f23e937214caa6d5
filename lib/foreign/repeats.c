#include "foreign/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((uint64_t)1 << 16)
#define FIRST_BYTES ((uint64_t)1 << 12) /* that are looked at first */

/* Two blocks of elements that are compared. */
typedef struct blocks {
    unsigned char *one, *other; /* [BLOCK_BYTES] each, or a row */
    bool same, read;
    bool strict;        /* all bits are compared */
    uint64_t differing; /* elements so far */
    uint64_t allowed;   /* of these */
} blocks;

#define AT_ONCE 512 /* elements */

/* Whether so few of the elements of a block differ by more than the grain of both. */
static bool are_alike(blocks *self, const pe_view *view, uint64_t count)
{
    const size_t size = pe_element_size(view->element);
    double one[AT_ONCE], other[AT_ONCE];
    pe_dtype dtype;
    const bool real = pe_element_is_real(view->element, &dtype);
    for (uint64_t at = 0, now; at < count && self->differing <= self->allowed; at += now) {
        const unsigned char *a = self->one + at * size, *b = self->other + at * size;
        now = real && count - at > AT_ONCE ? AT_ONCE : real ? count - at : 1;
        if (!real) {
            self->differing += memcmp(a, b, size) != 0;
            continue;
        }
        pe_read_row(one, dtype, a, (size_t)now);
        pe_read_row(other, dtype, b, (size_t)now);
        for (uint64_t i = 0; i < now; i++)
            self->differing += one[i] != other[i] &&
                               !(fabs(one[i] - other[i]) <= 2 * view->grain) &&
                               !(isnan(one[i]) && isnan(other[i]));
    }
    return self->differing <= self->allowed;
}

/* How many rows of a view take so many bytes, at least one of them. */
static uint64_t count_rows(const pe_view *view, uint64_t bytes)
{
    const uint64_t rows = view->shape[0];
    const uint64_t row = pe_view_elements(view) / rows * pe_element_size(view->element);
    const uint64_t count = bytes / row;
    return count == 0 ? 1 : count < rows ? count : rows;
}

/* Compare rows [first, first + rows) of two views of the same shape, whose planes along the
 * first axes are small. */
static void compare_rows(blocks *self, const pe_view *one, const pe_view *other, uint64_t first,
                         uint64_t rows)
{
    const pe_view part = pe_view_part(one, 0, first, rows);
    const uint64_t bytes = pe_view_elements(&part) * pe_element_size(one->element);
    if (bytes > BLOCK_BYTES && one->rank > 1) {
        for (uint64_t i = first; self->same && self->read && i < first + rows; i++) {
            const pe_view a = pe_view_at(one, 0, i), b = pe_view_at(other, 0, i);
            const uint64_t at_once = count_rows(&a, BLOCK_BYTES);
            for (uint64_t at = 0, now; self->same && self->read && at < a.shape[0]; at += now) {
                now = a.shape[0] - at < at_once ? a.shape[0] - at : at_once;
                compare_rows(self, &a, &b, at, now);
            }
        }
        return;
    }
    self->read = pe_view_read_elements(one, first, rows, self->one) &&
                 pe_view_read_elements(other, first, rows, self->other);
    self->same =
        self->read && (memcmp(self->one, self->other, (size_t)bytes) == 0 ||
                       (!self->strict && are_alike(self, one, pe_view_elements(&part))));
}

/* How many of some elements are few. */
static uint64_t count_few(uint64_t elements)
{
    return elements / 16 < 8 + elements / 256 ? elements / 16 : 8 + elements / 256;
}

/* Whether two views of one shape have the same elements; their beginnings are compared first.
 */
static bool are_same(blocks *self, const pe_view *one, const pe_view *other)
{
    if (one->rank == 0) {
        pe_view a = *one, b = *other;
        a.rank = b.rank = 1;
        a.shape[0] = b.shape[0] = a.strides[0] = b.strides[0] = 1;
        return are_same(self, &a, &b);
    }
    const uint64_t first = count_rows(one, FIRST_BYTES), at_once = count_rows(one, BLOCK_BYTES);
    self->same = true;
    self->differing = 0;
    self->allowed = count_few(pe_view_elements(one));
    compare_rows(self, one, other, 0, first);
    for (uint64_t row = first, now; self->same && row < one->shape[0]; row += now) {
        now = one->shape[0] - row < at_once ? one->shape[0] - row : at_once;
        compare_rows(self, one, other, row, now);
    }
    return self->same;
}

static bool allocate_blocks(blocks *self)
{
    self->one = malloc(BLOCK_BYTES);
    self->other = malloc(BLOCK_BYTES);
    self->read = self->one && self->other;
    return self->read;
}

static void free_blocks(blocks *self)
{
    free(self->one);
    free(self->other);
}

/* Whether an index has the elements of the first one. */
static bool is_as_first(blocks *self, const pe_view *view, size_t axis, uint64_t index)
{
    const pe_view a = pe_view_at(view, axis, 0), b = pe_view_at(view, axis, index);
    return are_same(self, &a, &b);
}

/* Whether the axis begins again after a period. */
static bool has_period(blocks *self, const pe_view *view, size_t axis, uint64_t period)
{
    const uint64_t count = view->shape[axis] - period;
    const pe_view one = pe_view_part(view, axis, 0, count),
                  other = pe_view_part(view, axis, period, count);
    return is_as_first(self, view, axis, period) && self->read && are_same(self, &one, &other);
}

/* Whether each index comes `run` times in a row. */
static bool has_run(blocks *self, const pe_view *view, size_t axis, uint64_t run)
{
    pe_view one = *view, other = *view;
    one.strides[axis] = other.strides[axis] = run * view->strides[axis];
    one.shape[axis] = other.shape[axis] = view->shape[axis] / run;
    bool same = true;
    uint64_t differing = 0;
    for (uint64_t i = 1; same && i < run; i++) {
        other.offset = view->offset + i * view->strides[axis] * pe_element_size(view->element);
        same = are_same(self, &one, &other);
        differing += self->differing;
    }
    self->differing = differing;
    return same;
}

/* How many entries of an axis with a period are not those of the first time. */
static uint64_t count_differing(blocks *self, const pe_view *view, size_t axis, uint64_t period)
{
    const pe_view first = pe_view_part(view, axis, 0, period);
    uint64_t differing = 0;
    for (uint64_t at = period; self->read && at < view->shape[axis]; at += period) {
        const pe_view again = pe_view_part(view, axis, at, period);
        are_same(self, &first, &again);
        differing += self->differing;
    }
    return differing;
}

/* The least period of an axis that divides its extent. Periods have common divisors that are
 * periods, so each prime is taken out as long as what is left is one: as many readings as the
 * extent has prime factors, and one more for each prime. */
static uint64_t find_period(blocks *self, const pe_view *view, size_t axis)
{
    uint64_t period = view->shape[axis], left = period;
    for (uint64_t prime = 2; self->read && left > 1; prime++) {
        if (prime > left / prime)
            prime = left;
        if (left % prime != 0)
            continue;
        while (left % prime == 0)
            left /= prime;
        while (period % prime == 0 && has_period(self, view, axis, period / prime))
            period /= prime;
    }
    return period;
}

/* Find the period of an axis but for few entries: many steps of a few each may lead far. */
static void find_loose_period(blocks *self, const pe_view *view, size_t axis,
                              pe_repeats *ret_repeats)
{
    *ret_repeats = (pe_repeats){find_period(self, view, axis), 1, 0};
    if (ret_repeats->period == view->shape[axis])
        return;
    ret_repeats->differing = count_differing(self, view, axis, ret_repeats->period);
    if (ret_repeats->differing <= count_few(pe_view_elements(view)))
        return;
    self->strict = true;
    *ret_repeats = (pe_repeats){find_period(self, view, axis), 1, 0};
    self->strict = false;
}

/* Find how often the first index comes in a row, if each does, but for few entries. `strict`:
 * the first one has no others. */
static void find_run(blocks *self, const pe_view *view, size_t axis, bool strict,
                     pe_repeats *ret_repeats)
{
    const uint64_t extent = view->shape[axis];
    uint64_t run = 1;
    self->strict = strict;
    while (run < extent && is_as_first(self, view, axis, run))
        run++;
    self->strict = false;
    if (run == 1 || extent % run != 0 || !has_run(self, view, axis, run))
        return;
    ret_repeats->run = run;
    ret_repeats->differing = self->differing;
}

bool pe_repeats_find(const pe_view *view, size_t axis, pe_repeats *ret_repeats)
{
    const uint64_t extent = view->shape[axis];
    blocks self = {.one = NULL};
    bool good = allocate_blocks(&self);
    *ret_repeats = (pe_repeats){extent, 1, 0};
    if (good)
        find_loose_period(&self, view, axis, ret_repeats);
    good = good && self.read;
    /* indices that are not the same may differ by few entries, too */
    for (int strict = 1;
         good && ret_repeats->period == extent && ret_repeats->run == 1 && strict >= 0;
         strict--)
        find_run(&self, view, axis, strict == 1, ret_repeats);
    good = good && self.read;
    free_blocks(&self);
    return good;
}

bool pe_repeats_are_constant(const pe_view *view, size_t axis, bool *ret_constant)
{
    blocks self = {.strict = true};
    *ret_constant =
        allocate_blocks(&self) && (view->shape[axis] == 1 || has_period(&self, view, axis, 1));
    free_blocks(&self);
    return self.read;
}

bool pe_views_compare(const pe_view *one, const pe_view *other, bool *ret_same,
                      uint64_t *differing)
{
    blocks self = {.one = NULL};
    *ret_same = allocate_blocks(&self) && are_same(&self, one, other);
    *differing += self.differing;
    free_blocks(&self);
    return self.read;
}

pe_view pe_repeats_once(const pe_view *view, size_t axis, const pe_repeats *repeats)
{
    pe_view once = pe_view_part(view, axis, 0, repeats->period);
    once.shape[axis] /= repeats->run;
    once.strides[axis] *= repeats->run;
    return once;
}

bool pe_repeats_fit(const pe_view *view, const pe_view *shape, bool *ret_fits,
                    pe_view *ret_view)
{
    pe_view left = pe_view_squeezed(view);
    size_t axis = 0;
    *ret_fits = left.rank > shape->rank;
    while (*ret_fits && axis < left.rank) {
        if (axis < shape->rank && left.shape[axis] == shape->shape[axis]) {
            axis++;
            continue;
        }
        if (!pe_repeats_are_constant(&left, axis, ret_fits))
            return false;
        left = pe_view_at(&left, axis, 0);
    }
    *ret_fits = *ret_fits && left.rank == shape->rank;
    *ret_view = left;
    return true;
}
