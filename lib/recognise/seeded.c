/* Finding rows of a table by their entries. */
#include "recognise/seeded.h"

#include "numerics/dtype.h"

#include <math.h>
#include <stdlib.h>

/* A table [rows, lines], rounded as the entries are. */
typedef struct drawn {
    size_t rows, lines;
    double tolerance;
    double *elements;
} drawn;

static void draw_row(const pe_trained *trained, double factor, uint64_t row, pe_dtype dtype,
                     size_t lines, double *elements)
{
    unsigned char rounded[PE_DISTANCE_LINES * sizeof(double)];
    pe_trained_row(trained, row, 0, lines, elements);
    for (size_t i = 0; factor != 1 && i < lines; i++)
        elements[i] *= factor;
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
static size_t find_row(const drawn *table, const pe_distances *distances, size_t at,
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
        row = find_row(table, distances, at, row);
        if (row == table->rows)
            return false;
        ret_rows[at] = (double)row;
    }
    return true;
}

bool pe_seeded_rows(const pe_observation *seen, const pe_distances *distances, pe_dtype dtype,
                    const pe_seeded *tensor, pe_origin *ret_origin, double *ret_rows)
{
    drawn table = {0, distances->lines, tensor->tolerance, NULL};
    bool found = false;
    table.elements = malloc((size_t)tensor->rows * table.lines * sizeof *table.elements);
    for (size_t i = 0; table.elements && !found && i < pe_origin_count(seen); i++) {
        pe_trained trained;
        uint64_t rows;
        *ret_origin = pe_origin_get(seen, i);
        if (!pe_origin_tensor(ret_origin, tensor->name, tensor->columns, tensor->distribution,
                              &trained, &rows))
            break;
        table.rows = (size_t)(rows < tensor->rows ? rows : tensor->rows);
        for (size_t row = 0; row < table.rows; row++)
            draw_row(&trained, tensor->factor, row, dtype, table.lines,
                     table.elements + row * table.lines);
        found = find_rows(&table, distances, ret_rows);
    }
    free(table.elements);
    return found;
}

bool pe_seeded_is_row(const pe_distances *distances, size_t at, pe_dtype dtype,
                      const pe_seeded *tensor, const pe_origin *origin, uint64_t row)
{
    double elements[PE_DISTANCE_LINES];
    const drawn table = {1, distances->lines, tensor->tolerance, elements};
    pe_trained trained;
    uint64_t rows;
    if (!pe_origin_tensor(origin, tensor->name, tensor->columns, tensor->distribution, &trained,
                          &rows) ||
        row >= rows)
        return false;
    draw_row(&trained, tensor->factor, row, dtype, table.lines, elements);
    return is_row(&table, distances, at, 0);
}
