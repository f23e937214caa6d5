/* Finding rows of stored tables by their entries. */
#include "recognise/stored_rows.h"

#include "numerics/dtype.h"

#include <math.h>
#include <stdlib.h>

#define COLUMNS 64 /* that are read at a time */

bool pe_stored_find(const pe_observation *seen, const char *name, uint64_t columns,
                    pe_trained *ret_table)
{
    static const pe_distribution none = {.initialiser = PE_ZEROS};
    const pe_weights weights = {.set = seen->set};
    const pe_set_tensor *stored = seen->set ? pe_set_tensor_find(seen->set, name) : NULL;
    if (!stored || stored->tensor.rank != 2 || stored->tensor.dtype == PE_I32 ||
        stored->tensor.shape[0] == 0 || stored->tensor.shape[1] != columns)
        return false;
    *ret_table = pe_trained_find(&weights, name, columns, &none);
    return true;
}

/* ---- the entries of distances ---- */

/* A table [rows, lines], rounded as the entries are. */
typedef struct rounded {
    size_t rows, lines;
    double tolerance;
    double *elements;
} rounded;

static void round_row(const pe_trained *table, double factor, uint64_t row, pe_dtype dtype,
                      size_t lines, double *elements)
{
    unsigned char bytes[PE_DISTANCE_LINES * sizeof(double)];
    pe_trained_row(table, row, 0, lines, elements);
    for (size_t i = 0; factor != 1 && i < lines; i++)
        elements[i] *= factor;
    pe_round_row(dtype, elements, lines, bytes);
    pe_read_row(elements, dtype, bytes, lines);
}

static bool is_row(const rounded *table, const pe_distances *distances, size_t at, size_t row)
{
    const double *elements = table->elements + row * table->lines;
    for (size_t h = 0; h < table->lines; h++) {
        double entry = distances->entries[h * distances->count + at];
        if (!(fabs(entry - elements[h]) <= table->tolerance * fabs(elements[h])))
            return false;
    }
    return true;
}

/* The row of the entries at a distance: that of the distance before or one beside it, if it may
 * be, since entries of few bits are in more than one. The number of rows if there is none. */
static size_t find_row(const rounded *table, const pe_distances *distances, size_t at,
                       size_t before)
{
    for (size_t i = 0; i < 3; i++) {
        size_t row = i == 0 ? before : i == 1 ? before - 1 : before + 1;
        if (row < table->rows && is_row(table, distances, at, row))
            return row;
    }
    size_t row = 0;
    while (row < table->rows && !is_row(table, distances, at, row))
        row++;
    return row;
}

static bool find_rows(const rounded *table, const pe_distances *distances, double *ret_rows)
{
    size_t row = 0;
    for (size_t at = 0; at < distances->count; at++) {
        row = find_row(table, distances, at, row);
        if (row == table->rows)
            return false;
        ret_rows[at] = (double)row;
    }
    return true;
}

bool pe_stored_find_rows(const pe_trained *table, uint64_t rows, double factor,
                         double tolerance, const pe_distances *distances, pe_dtype dtype,
                         double *ret_rows)
{
    rounded own = {.lines = distances->lines, .tolerance = tolerance};
    own.rows = (size_t)(table->stored_rows < rows ? table->stored_rows : rows);
    own.elements = malloc(own.rows * own.lines * sizeof *own.elements);
    for (size_t row = 0; own.elements && row < own.rows; row++)
        round_row(table, factor, row, dtype, own.lines, own.elements + row * own.lines);
    bool found = own.elements && find_rows(&own, distances, ret_rows);
    free(own.elements);
    return found;
}

bool pe_stored_has_row(const pe_trained *table, uint64_t row, const pe_distances *distances,
                       size_t at, pe_dtype dtype)
{
    double elements[PE_DISTANCE_LINES];
    const rounded own = {1, distances->lines, 0, elements};
    if (row >= table->stored_rows)
        return false;
    round_row(table, 1, row, dtype, own.lines, elements);
    return is_row(&own, distances, at, 0);
}

/* ---- whole rows ---- */

bool pe_stored_is_row(const pe_trained *table, uint64_t row, const double *entries, double unit)
{
    double stored[COLUMNS];
    uint64_t far = 0;
    for (uint64_t first = 0, count; first < table->columns; first += count) {
        count = table->columns - first < COLUMNS ? table->columns - first : COLUMNS;
        pe_trained_row(table, row, first, (size_t)count, stored);
        for (uint64_t i = 0; i < count; i++)
            far += !(fabs(entries[first + i] - stored[i]) <=
                     unit * fmax(fabs(stored[i]), 0x1p-14));
        if (far > table->columns / 8)
            return false;
    }
    return true;
}

/* ---- sums of rows ---- */

double pe_stored_largest(const pe_trained *table)
{
    double largest = 0;
    for (uint64_t row = 0; row < table->stored_rows; row++)
        largest = fmax(largest, pe_trained_row_magnitude(table, row));
    return largest;
}

void pe_stored_sums(pe_proposals *proposals, double largest, double cells)
{
    /* a coordinate is off by a unit and a half of itself, in either axis; the magnitudes of
     * cubic weights add up to 1.375, and those of their slopes to 3 */
    proposals->amplitude = 4 * largest;
    proposals->angle = cells;
    proposals->roundings = 8;
}
