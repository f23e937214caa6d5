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
} pe_run;

#define PE_RUN_MAX PE_KERNEL_PAIRS

/* Write the run's elements to their columns of a row; with a kernel, past the caches. */
void pe_run_write(const pe_run *run, const unsigned char *elements, const pe_kernel *streaming,
                  unsigned char *row);

/* Write the constant entries of a wave's frequencies that are 0, in `rows` rows from dst on. */
void pe_still_write(const pe_wave *wave, uint64_t rows, unsigned char *dst);

#endif
