/* Placing the elements of one function alone: once, twice, or each one twice. */
#ifndef PE_COLUMNS_H
#define PE_COLUMNS_H

#include "kernel.h"
#include "wave.h"

/* A run of `count` entries that begins at frequency `first` of `all`. */
typedef struct pe_run {
    size_t first, count, all;
    size_t size; /* bytes of an element */
    pe_wave_copies copies;
    size_t row_bytes;           /* from row to row of the destination */
    const pe_kernel *streaming; /* writes past the caches; or NULL */
} pe_run;

#define PE_RUN_MAX PE_KERNEL_PAIRS

/* The run of a wave from frequency `first` on. */
pe_run pe_run_of(const pe_wave *wave, size_t first, size_t count, const pe_kernel *streaming);

/* Write the run's elements to their columns of `rows` rows; a row's elements follow those of
 * the row before. */
void pe_run_write(const pe_run *run, const unsigned char *elements, size_t rows,
                  unsigned char *dst);

/* Write the constant entries of a wave's frequencies that are 0, in `rows` rows from dst on. */
void pe_still_write(const pe_wave *wave, uint64_t rows, unsigned char *dst);

#endif
