#include "identify/misfits.h"

#include "scheme.h"

#include <stdlib.h>

#define NOTED_OF_A_COLUMN 4 /* entries, since the whole column may be wrong */

bool pe_misfits_init(pe_misfit_counts *counts, uint64_t columns)
{
    *counts = (pe_misfit_counts){.columns = columns};
    counts->by_column = calloc((size_t)columns, sizeof *counts->by_column);
    counts->row = malloc((size_t)columns * sizeof *counts->row);
    return counts->by_column && counts->row;
}

void pe_misfits_done(pe_misfit_counts *counts)
{
    free(counts->by_column);
    free(counts->row);
}

void pe_misfits_note(pe_misfit_counts *counts, uint64_t column, bool far)
{
    counts->found.far += far;
    counts->row[counts->in_row++] = column;
}

/* Note the entries of a row that are no whole row. */
static void note_entries(pe_misfit_counts *counts)
{
    pe_misfits *found = &counts->found;
    for (uint64_t i = 0; i < counts->in_row; i++) {
        uint64_t column = counts->row[i];
        if (++counts->by_column[column] <= NOTED_OF_A_COLUMN &&
            found->entry_count < PE_COUNT(found->entries))
            found->entries[found->entry_count++] = counts->rows * counts->columns + column;
    }
}

void pe_misfits_end_row(pe_misfit_counts *counts, uint64_t zeros)
{
    pe_misfits *found = &counts->found;
    found->count += counts->in_row;
    found->zeros += zeros;
    /* a row of zeros in place of sines and cosines of 0 has half of them; a vector has entries
     */
    if (2 * counts->in_row < counts->columns || counts->columns == 1 || counts->in_row == 0) {
        note_entries(counts);
    } else {
        found->zero_rows += zeros == counts->columns;
        if (found->row_count++ < PE_COUNT(found->rows))
            found->rows[found->row_count - 1] = counts->rows;
    }
    counts->in_row = 0;
    counts->rows++;
}

/* Whether most entries of a column do not fit, but for those of bad rows. */
static bool is_bad(const pe_misfit_counts *counts, uint64_t column)
{
    return 2 * counts->by_column[column] > counts->rows - counts->found.row_count;
}

pe_misfits pe_misfits_found(const pe_misfit_counts *counts)
{
    pe_misfits found = counts->found;
    found.entry_count = 0;
    for (uint64_t column = 0; column < counts->columns; column++)
        if (is_bad(counts, column) && found.column_count++ < PE_COUNT(found.columns))
            found.columns[found.column_count - 1] = column;
    for (size_t i = 0; i < counts->found.entry_count; i++) {
        uint64_t place = counts->found.entries[i];
        if (!is_bad(counts, place % counts->columns))
            found.entries[found.entry_count++] = place;
    }
    return found;
}
