/* Filling the rows of a wave's table. */
#ifndef PE_FILL_H
#define PE_FILL_H

#include "waves/wave.h"

/* Write rows [first, first + rows), row_columns elements each, one after the other. */
void pe_wave_fill(const pe_wave *wave, uint64_t first, uint64_t rows, void *dst);

/* The same as the fill hook of a scheme whose state is a pe_wave. */
void pe_wave_fill_tensor(const void *state, pe_window window, void *dst);

#endif
