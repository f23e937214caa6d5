/* Sinusoids of clipped key-query distances: the vectors of several relative schemes. */
#ifndef PE_DISTANCE_WAVE_H
#define PE_DISTANCE_WAVE_H

#include "relative/relative.h"
#include "waves/wave.h"

typedef struct pe_distance_wave {
    pe_wave wave;      /* row r belongs to distance low + r */
    int64_t low, high; /* distances outside are clipped to this range */
} pe_distance_wave;

#define PE_DISTANCE_COLUMN_PRICE 100 /* of preparing a column */
#define PE_DISTANCE_WAVE_PRICE   2   /* of writing an element */

/* Prepare sinusoids of `dim` columns at the positions sign * distance, sign 1 or -1. False if
 * memory ran out. */
bool pe_distance_wave_init(pe_distance_wave *ret_wave, pe_dtype dtype, size_t dim, double base,
                           pe_wave_layout layout, int64_t low, int64_t high, int sign,
                           pe_pace *pace);

/* A pe_write_distances whose source is a pe_distance_wave. All heads are alike. */
void pe_distance_wave_write(const void *source, size_t head, int64_t first, uint64_t count,
                            void *dst);

#endif
