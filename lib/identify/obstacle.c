#include "identify/obstacle.h"

#include "numerics/dd.h"

#include <math.h>
#include <stdlib.h>

#define ENTRIES_MAX ((uint64_t)1 << 18) /* that are looked at, at least one row */
#define ALIKE       0.7                 /* the correlation of neighbouring rows */
#define UNLIKE      0.3

void pe_note_waves(pe_observation *seen, pe_identity *identity)
{
    const pe_observed_wave *waves = seen->columns > 0 ? pe_observation_waves(seen) : NULL;
    for (uint64_t i = 0; waves && i < seen->columns; i++)
        if (waves[i].found) {
            if (identity->waves++ == 0)
                identity->frequency = waves[i].frequency;
            if (identity->amplitude == 0 && waves[i].turns > PE_TURN)
                identity->amplitude = waves[i].amplitude;
        }
}

/* The beginning of a table, as a matrix. */
typedef struct beginning {
    uint64_t rows, columns;
    bool whole;      /* it is the table */
    double *entries; /* [rows, columns] */
} beginning;

static bool read_beginning(const pe_view *view, beginning *ret)
{
    pe_view matrix = pe_view_squeezed(view);
    while (matrix.rank > 2)
        matrix = pe_view_at(&matrix, 0, 0);
    ret->columns = matrix.rank == 2 ? matrix.shape[1] : 1;
    ret->rows = matrix.rank > 0 ? matrix.shape[0] : 1;
    if (ret->columns > ENTRIES_MAX)
        return false;
    ret->rows = ret->rows < ENTRIES_MAX / ret->columns ? ret->rows : ENTRIES_MAX / ret->columns;
    ret->whole = ret->rows * ret->columns == pe_view_elements(view);
    ret->entries = malloc((size_t)(ret->rows * ret->columns) * sizeof *ret->entries);
    return ret->entries && pe_view_read(&matrix, 0, ret->rows, ret->entries);
}

/* The share of entries that are equal to the one before on their diagonal. */
static double measure_diagonals(const beginning *table)
{
    uint64_t same = 0, count = 0;
    for (uint64_t row = 1; row < table->rows; row++)
        for (uint64_t c = 1; c < table->columns; c++, count++)
            same += table->entries[row * table->columns + c] ==
                    table->entries[(row - 1) * table->columns + c - 1];
    return count > 0 ? (double)same / (double)count : 0;
}

/* The correlation of neighbouring rows, without the mean of each column. */
static double measure_neighbours(const beginning *table)
{
    double squares = 0, products = 0;
    for (uint64_t c = 0; c < table->columns; c++) {
        double mean = 0;
        for (uint64_t row = 0; row < table->rows; row++)
            mean += table->entries[row * table->columns + c] / (double)table->rows;
        for (uint64_t row = 1; row < table->rows; row++) {
            double one = table->entries[row * table->columns + c] - mean;
            double before = table->entries[(row - 1) * table->columns + c] - mean;
            squares += one * one;
            products += one * before;
        }
    }
    return squares > 0 ? products / squares : 0;
}

static pe_obstacle classify_obstacle(const beginning *table, pe_identity *identity)
{
    const uint64_t count = table->rows * table->columns;
    bool constant = true;
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(table->entries[i])) {
            identity->place = i;
            identity->value = table->entries[i];
            return PE_OBSTACLE_NOT_FINITE;
        }
        constant = constant && table->entries[i] == table->entries[0];
    }
    identity->value = table->entries[0];
    if (constant && table->whole)
        return PE_OBSTACLE_CONSTANT;
    if (table->rows < 4)
        return PE_OBSTACLE_FEW_ROWS;
    const double diagonals = measure_diagonals(table), alike = measure_neighbours(table);
    if (diagonals > 0.9)
        return PE_OBSTACLE_DIAGONAL;
    if (2 * identity->waves > table->columns)
        return PE_OBSTACLE_WAVES;
    if (alike > ALIKE)
        return PE_OBSTACLE_SMOOTH;
    const bool random = identity->waves == 0 && diagonals < 0.1 && fabs(alike) < UNLIKE;
    return random ? PE_OBSTACLE_RANDOM : PE_OBSTACLE_NONE;
}

void pe_obstacle_find(const pe_view *view, pe_identity *identity)
{
    beginning table = {.rows = 0};
    if (read_beginning(view, &table))
        identity->obstacle = classify_obstacle(&table, identity);
    free(table.entries);
}
