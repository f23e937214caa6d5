/* Print batches of numbers: one function for each dtype. */
#ifndef PE_PRINT_BATCH_H
#define PE_PRINT_BATCH_H

#include "posenc.h"

#define PE_PRINT_BATCH 64 /* the most elements of one call */

/* Print 1 … PE_PRINT_BATCH elements, each followed by a comma. `dst` has PE_PRINT_MAX bytes for
 * each element; all of them may be written to. Returns the length of the text. The caller must
 * have called pe_print_prepare before. */
typedef size_t pe_print_batch(char *dst, const void *elements, size_t count);

/* One for each dtype; NULL for i32. */
typedef pe_print_batch *pe_print_batches[PE_DTYPE_COUNT];

#endif
