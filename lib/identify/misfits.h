/* Collecting which entries of a table do not fit: whole rows, whole columns, and others. */
#ifndef PE_MISFITS_H
#define PE_MISFITS_H

#include "posenc.h"

/* Entries that do not fit, on their way through a table row by row. */
typedef struct pe_misfit_counts {
    uint64_t columns, rows;
    uint64_t *by_column; /* [columns], but for rows of which most entries do not fit */
    uint64_t *row;       /* [columns]: columns of the present row */
    uint64_t in_row;
    pe_misfits found;
} pe_misfit_counts;

/* False: memory ran out. pe_misfits_done frees what is held, also then. */
bool pe_misfits_init(pe_misfit_counts *counts, uint64_t columns);
void pe_misfits_done(pe_misfit_counts *counts);

/* Note an entry of the present row, which is far off; note that the row has ended, of which so
 * many entries of the table are 0. */
void pe_misfits_note(pe_misfit_counts *counts, uint64_t column, bool far);
void pe_misfits_end_row(pe_misfit_counts *counts, uint64_t zeros);

/* What was found, once all rows have ended. */
pe_misfits pe_misfits_found(const pe_misfit_counts *counts);

#endif
