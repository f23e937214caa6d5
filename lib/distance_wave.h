/* Sinusoids of clipped distances: the vectors of several relative schemes. */
#ifndef PE_DISTANCE_WAVE_H
#define PE_DISTANCE_WAVE_H

#include "relative.h"
#include "wave.h"

typedef struct pe_distance_wave {
    pe_wave wave;      /* row r stands at distance low + r */
    int64_t low, high; /* distances beyond are clipped to these */
} pe_distance_wave;

/* Sinusoids of dim columns at sign * distance, sign 1 or -1. False: out of memory, nothing to
 * free. */
bool pe_distance_wave_init(pe_distance_wave *ret_wave, pe_dtype dtype, size_t dim, double base,
                           pe_wave_layout layout, int64_t low, int64_t high, int sign);
void pe_distance_wave_done(pe_distance_wave *wave);

/* A pe_write_distances: `of` is a pe_distance_wave; the head does not matter. */
void pe_distance_wave_write(const void *of, size_t head, int64_t first, uint64_t count,
                            void *dst);

#endif
