/* Computing the result of an application, block by block. */
#include "apply/result.h"

#include "kernels/kernel.h"

#include <string.h>

/* Keep the bytes of columns that are in no pair, where the dtype stays. */
static void copy_unrotated(const pe_apply *self, const unsigned char *found, unsigned char *to,
                           pe_row_role role)
{
    size_t size = pe_dtype_size(self->dtype), columns = self->rule.columns;
    size_t first = self->rule.first, turned = 2 * self->rule.pairs;
    if (self->rule.kind != PE_APPLY_ROTATE || self->dtype != self->rule.dtype ||
        self->rule.scaled)
        return;
    if (role == PE_ROW_VALUE || turned == 0) {
        memcpy(to, found, columns * size);
        return;
    }
    memcpy(to, found, first * size);
    memcpy(to + (first + turned) * size, found + (first + turned) * size,
           (columns - first - turned) * size);
}

void pe_apply_set_factor(pe_apply *apply, uint64_t entries, pe_row_role role)
{
    apply->rule.scaled = apply->scales && role == PE_ROW_QUERY;
    if (!apply->rule.scaled)
        return;
    apply->rule.factor = apply->factor;
    if (apply->by_row) {
        const pe_entry_row row = pe_entries_exact(&apply->temperature, entries);
        apply->rule.factor = dd_mul(apply->factor, (dd){row.hi[0], row.lo[0]});
    }
}

/* Compute `count` results of a row, from `first` on, into the room. */
static void fill_row(pe_apply *self, uint64_t row, pe_row_role role, uint64_t first,
                     size_t count, const double *numbers)
{
    uint64_t entries[PE_POSITION_AXES_MAX];
    for (size_t axis = 0; axis < self->rule.axes; axis++)
        entries[axis] = pe_binding_row(&self->binding, row, axis);
    pe_apply_set_factor(self, entries[0], role);
    if (role == PE_ROW_VALUE)
        pe_row_keep(&self->rule, &self->room, numbers, self->room.rounded);
    else if (self->rule.kind == PE_APPLY_GATHER || self->rule.kind == PE_APPLY_CONTRACT)
        pe_row_indexed(&self->rule, &self->room, numbers, &self->indexed, entries[0], first,
                       count, &self->entries[0], self->room.rounded);
    else
        pe_row_apply(&self->rule, &self->room, numbers, self->entries, entries,
                     self->room.rounded);
}

/* Read elements of the input as numbers; false if they cannot be read. */
static bool read_numbers(pe_apply *self, uint64_t first, size_t count)
{
    if (!pe_source_read(&self->input, first, count, self->found))
        return false;
    pe_kernel_get()->applying->read(self->dtype, self->found, count, self->numbers);
    return true;
}

/* Compute the block of rows that has a result; false if the input cannot be read. */
static bool fill_rows(pe_apply *self, uint64_t result)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    size_t columns = self->rule.columns, results = self->rule.results;
    size_t width = columns * pe_dtype_size(self->dtype);
    uint64_t row = result / results, left = self->binding.rows - row;
    uint64_t first = result % results / self->blocks.block_results * self->blocks.block_results;
    uint64_t rest = results - first;
    size_t count =
        (size_t)(rest < self->blocks.block_results ? rest : self->blocks.block_results);
    size_t rows = (size_t)(left < self->blocks.block_rows ? left : self->blocks.block_rows);
    size_t size = count * pe_dtype_size(self->rule.dtype);
    self->first = row * results + first;
    if (!read_numbers(self, row * columns, rows * columns))
        return false;
    for (size_t r = 0; r < rows; r++) {
        const pe_row_role role = pe_binding_role(&self->binding, row + r);
        fill_row(self, row + r, role, first, count, self->numbers + r * columns);
        kernel->store(self->rule.dtype, self->room.rounded, count, self->block + r * size);
        copy_unrotated(self, self->found + r * width, self->block + r * size, role);
    }
    self->filled = rows * count;
    return true;
}

/* The same of rows whose elements alternate: some columns of all that lie together. */
static bool fill_alternating(pe_apply *self, uint64_t result)
{
    const size_t together = (size_t)self->binding.together;
    const uint64_t columns = self->rule.columns, part = self->blocks.block_results;
    const uint64_t rows = result / (columns * together) * together;
    const uint64_t first = result % (columns * together) / together / part * part;
    const size_t count = (size_t)(columns - first < part ? columns - first : part);
    double *row = self->alternating + part * together;
    self->first = rows * columns + first * together;
    if (!read_numbers(self, self->first, count * together))
        return false;
    for (size_t r = 0; r < together; r++) {
        for (size_t i = 0; i < count; i++)
            row[i] = self->numbers[i * together + r];
        pe_row_apply_part(&self->rule, &self->room, row, &self->entries[0],
                          pe_binding_row(&self->binding, rows + r, 0), (size_t)first, count,
                          self->room.rounded);
        for (size_t i = 0; i < count; i++)
            self->alternating[i * together + r] = self->room.rounded[i];
    }
    pe_kernel_get()->applying->store(self->rule.dtype, self->alternating, count * together,
                                     self->block);
    self->filled = count * together;
    return true;
}

static bool fill_block(pe_apply *self, uint64_t result)
{
    self->filled = 0;
    return self->binding.together > 1 ? fill_alternating(self, result)
                                      : fill_rows(self, result);
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
