/* Rows of a tensor of an encoding as pairs, computed as they are needed and kept while they
 * fit. */
#ifndef PE_APPLY_ENTRIES_H
#define PE_APPLY_ENTRIES_H

#include "kernels/applying.h"

/* At most this much is kept of one tensor. */
#define PE_ENTRIES_KEPT ((uint64_t)32 << 20)

/* The rows of one tensor: indices of all its axes but the last one. Rows lie in chunks, each of
 * which has one slot where it may be kept. */
typedef struct pe_entries {
    pe_stream *stream;
    size_t columns;
    uint64_t rows, chunk; /* of the tensor; of a chunk */
    uint64_t slots;
    uint64_t *kept;  /* [slots]: which chunk, plus 1; 0: none */
    double *hi, *lo; /* [slots * chunk * columns] */
    double *pairs;   /* [chunk * columns * 2], as the stream gives them */
} pe_entries;

/* Open the rows of a tensor of an exact request. `rows_at_once`: the most consecutive rows that
 * pe_entries_rows is asked for, which begin at a multiple of that. Fails as pe_stream_new. */
pe_status pe_entries_init(pe_entries *ret_entries, pe_request *exact, size_t tensor,
                          uint64_t rows_at_once, const pe_runner *runner, pe_error *reterr);
void pe_entries_done(pe_entries *entries);

/* The entries of a row, and of those after it that are asked for at once; valid until the next
 * call. */
pe_entry_row pe_entries_rows(pe_entries *entries, uint64_t row);

#endif
