/* The frequencies of rotary embeddings, and how models scale them for longer contexts. */
#ifndef PE_ROTARY_H
#define PE_ROTARY_H

#include "numerics/dd.h"
#include "numerics/wide.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum pe_rotary_type {
    PE_ROTARY_DEFAULT,
    PE_ROTARY_LINEAR,       /* position interpolation, arXiv:2306.15595 */
    PE_ROTARY_NTK,          /* a larger theta */
    PE_ROTARY_DYNAMIC,      /* a theta that grows with the length of the sequence */
    PE_ROTARY_YARN,         /* arXiv:2309.00071 */
    PE_ROTARY_LONGROPE,     /* arXiv:2402.13753 */
    PE_ROTARY_LLAMA3,       /* Llama 3.1 */
    PE_ROTARY_PROPORTIONAL, /* rotates only the first pairs */
} pe_rotary_type;

/* The rope parameters of Hugging Face's transformers. A type reads those that it has; the
 * caller has checked them. */
typedef struct pe_rotary {
    pe_rotary_type type;
    size_t width;     /* d: columns that are rotated, 2 for each frequency */
    size_t still;     /* proportional: how many of the last frequencies are 0 */
    double theta;     /* at least 1; for yarn above 1 */
    double factor;    /* longrope: 0 if `longest` determines it */
    double alpha;     /* dynamic: theta grows by alpha^(d/(d-2)) whatever seq_len is; or 0 */
    int64_t original; /* L: positions the model was trained on */
    int64_t longest;  /* longrope: max_position_embeddings, factor = longest / original, or 0 */
    int64_t seq_len;
    double beta_fast, beta_slow;
    bool truncate;
    double mscale, mscale_all_dim; /* count only if both are above 0 */
    double low_freq_factor, high_freq_factor;
    const double *divisors; /* longrope: width/2 */
} pe_rotary;

/* Compute the width/2 frequencies as turns per position, with an error of about 2^-190. NULL if
 * memory ran out. */
pe_wide *pe_rotary_frequencies(const pe_rotary *rotary);

/* The same into an array. */
void pe_rotary_write_frequencies(const pe_rotary *rotary, pe_wide *ret_frequencies);

/* The type's default factor of cosines and sines: 1 except for yarn and longrope. Its relative
 * error is below 2^-98. */
dd pe_rotary_attention(const pe_rotary *rotary);

/* yarn: what DeepSeek's code multiplies the scale of the scores by, the square of
 * 0.1·mscale_all_dim·ln(factor) + 1. */
dd pe_rotary_softmax_factor(const pe_rotary *rotary);

#endif
