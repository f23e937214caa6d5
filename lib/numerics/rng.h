/* Random numbers that depend on a seed, a tensor's name and an element's index alone:
 * Philox4x32-10 (Salmon et al. 2011), one block for each element.
 *
 * lib/README.md, "Seeded parameters", is the specification. */
#ifndef PE_RNG_H
#define PE_RNG_H

#include <stdint.h>

/* Philox4x32-10: the four random words for a counter and a key. */
void pe_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret_words[4]);

/* The elements of one tensor under one seed. */
typedef struct pe_generator {
    uint64_t seed, tag;
} pe_generator;

pe_generator pe_generator_of(uint64_t seed, const char *tensor);

/* One element's draw, as integers: (2·u + 1) · 2^-54 is uniform in (0, 1), and v · 2^-53 in
 * [0, 1). */
typedef struct pe_draw {
    uint64_t u, v;
} pe_draw;

pe_draw pe_draw_at(const pe_generator *generator, uint64_t element);

/* A standard normal variable by the Box-Muller transform, below 8.66 in magnitude. */
double pe_draw_normal(pe_draw draw);

/* A variable uniform in (-1, 1), exactly (2·u + 1) · 2^-53 - 1. */
double pe_draw_uniform(pe_draw draw);

/* A standard normal variable truncated at ±2: its quantile at the uniform variable of u. */
double pe_draw_truncated_normal(pe_draw draw);

#endif
