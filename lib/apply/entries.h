/* Rows of a tensor of an encoding, computed as they are needed and kept while they fit: as
 * doubles, which decide nearly every rounding to a shorter dtype, and as pairs. */
#ifndef PE_APPLY_ENTRIES_H
#define PE_APPLY_ENTRIES_H

#include "kernels/applying.h"

/* At most this much is kept of one tensor, of each kind. */
#define PE_ENTRIES_KEPT ((uint64_t)32 << 20)

#define PE_CHUNK_ENTRIES ((uint64_t)8192) /* of a chunk, unless what is asked for has more */

/* Chunks of rows, each of which has one slot where it may be kept. */
typedef struct pe_chunks {
    pe_stream *stream; /* of doubles or of pairs; NULL: there are none */
    uint64_t slots;
    uint64_t *kept;  /* [slots]: which chunk, plus 1; 0: none */
    double *hi, *lo; /* [slots * chunk * columns]; lo is NULL for doubles */
    double *pairs;   /* [piece * 2], as the stream gives them; NULL for doubles */
} pe_chunks;

/* The rows of one tensor: indices of all its axes but the last one. */
typedef struct pe_entries {
    size_t columns;
    uint64_t rows, chunk; /* of the tensor; of a chunk */
    size_t piece;         /* entries that are read from a stream of pairs at once */
    pe_chunks doubles, exact;
} pe_entries;

/* Whether all entries of a tensor are kept, as pairs or as doubles. */
bool pe_entries_are_kept(const pe_tensor *tensor, bool paired);

/* In which order rows are asked for. */
typedef struct pe_row_order {
    uint64_t at_once; /* the most consecutive rows that are asked for, which begin at a multiple
                       * of that */
    bool scattered;   /* neighbours are often far from each other */
} pe_row_order;

/* The rows that are computed together. */
uint64_t pe_entries_chunk_rows(uint64_t rows, uint64_t columns, pe_row_order order);

/* At most as many bytes do the rows of a tensor hold, of both kinds together; `held` is
 * pe_request_held of its request. */
uint64_t pe_entries_footprint(const pe_tensor *tensor, pe_row_order order, uint64_t held);

/* Open the rows of a tensor. `exact` is its request in PE_DD; `doubles` is that in PE_F64, or
 * NULL if all entries are needed as pairs. A tensor of one axis has rows of one entry. Fails as
 * pe_stream_new; pe_entries_done may be called in any case. */
pe_status pe_entries_init(pe_entries *ret_entries, pe_request *doubles, pe_request *exact,
                          size_t tensor, pe_row_order order, const pe_runner *runner,
                          pe_error *reterr);
void pe_entries_done(pe_entries *entries);

/* The entries of a row, and of those after it that are asked for at once: pairs, or doubles
 * without `lo`. Valid until the next call. */
pe_entry_row pe_entries_rows(pe_entries *entries, uint64_t row);

/* The same as pairs in any case; valid until the next call of this function. */
pe_entry_row pe_entries_exact(pe_entries *entries, uint64_t row);

#endif
