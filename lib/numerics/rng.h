/* Random numbers that depend on a seed, a tensor's name and an element's index alone:
 * Philox4x32-10 (Salmon et al. 2011), one block for each element. kernels/draw.h makes the
 * draws, and normal variables of many draws at a time.
 *
 * lib/README.md, "Seeded tensors", is the specification. */
#ifndef PE_RNG_H
#define PE_RNG_H

#include <stdint.h>

/* The elements of one tensor under one seed. */
typedef struct pe_generator {
    uint64_t seed, tag;
} pe_generator;

pe_generator pe_generator_init(uint64_t seed, const char *tensor);

/* One element's draw, as integers: (2·u + 1) · 2^-54 is uniform in (0, 1), and v · 2^-53 in
 * [0, 1). */
typedef struct pe_draw {
    uint64_t u, v;
} pe_draw;

/* A standard normal variable by the Box-Muller transform, below 8.66 in magnitude. */
double pe_draw_normal(pe_draw draw);

/* A variable uniform in (-1, 1), exactly (2·u + 1) · 2^-53 - 1. */
double pe_draw_uniform(pe_draw draw);

/* A standard normal variable truncated at ±2: its quantile at the uniform variable of u. */
double pe_draw_truncated_normal(pe_draw draw);

#endif
