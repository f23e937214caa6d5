/* Random tensors that depend on a seed, the tensor's name and the element's index, and on
 * nothing else: Philox4x32-10 (Salmon et al. 2011), one block for each element.
 *
 * README.md, "Seeded parameters", is the specification. */
#ifndef PE_RNG_H
#define PE_RNG_H

#include <stdint.h>

/* Philox4x32-10: the four words of a counter under a key of two. */
void pe_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret_words[4]);

/* The elements of one tensor under one seed. */
typedef struct pe_generator {
    uint64_t seed, tag;
} pe_generator;

pe_generator pe_generator_of(uint64_t seed, const char *tensor);

/* One element's draw: u = (2·u + 1) · 2^-54 in (0, 1) and v = v · 2^-53 in [0, 1). */
typedef struct pe_draw {
    uint64_t u, v;
} pe_draw;

pe_draw pe_draw_at(const pe_generator *generator, uint64_t element);

/* A normal variable by Box and Muller's method, |z| < 8.66. */
double pe_draw_normal(pe_draw draw);

/* 2u - 1, uniform in (-1, 1); exact. */
double pe_draw_uniform(pe_draw draw);

/* A normal variable within two standard deviations: the inverse of its distribution at u. */
double pe_draw_truncated_normal(pe_draw draw);

#endif
