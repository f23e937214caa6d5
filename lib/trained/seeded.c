/* Finding the rows of a drawn table that entries are from. */
#include "trained/seeded.h"

#include "numerics/dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A drawn table [rows, lines], rounded as the entries are. */
typedef struct drawn {
    size_t rows, lines;
    double tolerance;
    double *elements;
} drawn;

static void draw_row(const pe_trained *trained, uint64_t row, pe_dtype dtype, size_t lines,
                     double *elements)
{
    unsigned char rounded[PE_DISTANCE_LINES * sizeof(double)];
    pe_trained_row(trained, row, 0, lines, elements);
    pe_round_row(dtype, elements, lines, rounded);
    pe_read_row(elements, dtype, rounded, lines);
}

static bool is_row(const drawn *table, const pe_distances *distances, size_t at, size_t row)
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
static size_t row_at(const drawn *table, const pe_distances *distances, size_t at,
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

static bool find_rows(const drawn *table, const pe_distances *distances, double *ret_rows)
{
    size_t row = 0;
    for (size_t at = 0; at < distances->count; at++) {
        row = row_at(table, distances, at, row);
        if (row == table->rows)
            return false;
        ret_rows[at] = (double)row;
    }
    return true;
}

bool pe_seeded_rows(const pe_distances *distances, pe_dtype dtype, const pe_seeded *tensor,
                    uint64_t *ret_seed, double *ret_rows)
{
    drawn table = {(size_t)tensor->rows, distances->lines, tensor->tolerance, NULL};
    bool found = false;
    table.elements = malloc(table.rows * table.lines * sizeof *table.elements);
    for (uint64_t seed = 0; table.elements && !found && seed < PE_SEEDS_TRIED; seed++) {
        pe_trained trained =
            pe_trained_drawn(seed, tensor->name, tensor->columns, tensor->recipe);
        for (size_t row = 0; row < table.rows; row++)
            draw_row(&trained, row, dtype, table.lines, table.elements + row * table.lines);
        found = find_rows(&table, distances, ret_rows);
        *ret_seed = seed;
    }
    free(table.elements);
    return found;
}

bool pe_seeded_is_row(const pe_distances *distances, size_t at, pe_dtype dtype,
                      const pe_seeded *tensor, uint64_t seed, uint64_t row)
{
    double elements[PE_DISTANCE_LINES];
    const drawn table = {1, distances->lines, tensor->tolerance, elements};
    pe_trained trained = pe_trained_drawn(seed, tensor->name, tensor->columns, tensor->recipe);
    draw_row(&trained, row, dtype, table.lines, elements);
    return is_row(&table, distances, at, 0);
}

void pe_seed_write(uint64_t seed, char dst[PE_SEED_TEXT])
{
    dst[0] = '\0';
    if (seed > 0)
        snprintf(dst, PE_SEED_TEXT, "&seed=%llu", (unsigned long long)seed);
}
