/* Where the entries of a wave go in a row. */
#ifndef PE_COLUMNS_H
#define PE_COLUMNS_H

#include "kernels/by_size.h"
#include "kernels/kernel.h"
#include "waves/wave.h"

#include <string.h>

/* Whether two elements of `size` bytes have different bits. */
static inline bool pe_elements_differ(const void *a, const void *b, size_t size)
{
    PE_BY_SIZE(size, return memcmp(a, b, SIZE) != 0)
}

/* ---- sines and cosines ---- */

/* If the layout lets the kernel store frequencies from `first` on straight into a row, set
 * *ret_rows to that place: row 0 begins at `row`, the others follow. False if the entries must
 * be copied by pe_columns_place instead. */
bool pe_columns_direct(const pe_wave *wave, size_t first, unsigned char *row,
                       pe_rows *ret_rows);

/* Copy the rounded sines and cosines of frequencies [first, first + count) to their columns. */
void pe_columns_place(const pe_wave *wave, size_t first, size_t count,
                      const unsigned char *sines, const unsigned char *cosines,
                      unsigned char *row);

/* Whether the sine or the cosine of a frequency has a column. */
bool pe_has_column(const pe_wave *wave, size_t frequency, bool cosine);

/* ---- one function alone: waves of sines or of cosines ---- */

/* The entries of frequencies [first, first + count), at most PE_KERNEL_PAIRS, of a wave that
 * has `all` frequencies. */
typedef struct pe_run {
    size_t first, count, all;
    size_t size; /* bytes of an element */
    pe_wave_copies copies;
    size_t row_bytes;             /* from row to row of the destination */
    const pe_kernel *nontemporal; /* for non-temporal stores; or NULL */
} pe_run;

pe_run pe_run_init(const pe_wave *wave, size_t first, size_t count,
                   const pe_kernel *nontemporal);

/* Copy the run's elements of `rows` rows to their columns, once or twice as `copies` says. In
 * `elements` a row's elements follow those of the row before. */
void pe_run_write(const pe_run *run, const unsigned char *elements, size_t rows,
                  unsigned char *dst);

/* Write the entries of frequencies [begin, end) in `rows` rows where all of them are sines or
 * cosines of 0: of frequencies that are 0, and of sines that round to 0. */
void pe_constant_write(const pe_wave *wave, size_t begin, size_t end, uint64_t rows,
                       const pe_kernel *nontemporal, unsigned char *dst);

#endif
