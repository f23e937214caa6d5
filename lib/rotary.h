/* The frequencies of rotary embeddings, and how models scale them to longer contexts. */
#ifndef PE_ROTARY_H
#define PE_ROTARY_H

#include "dd.h"
#include "wide.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum pe_rotary_type {
    PE_ROTARY_DEFAULT,
    PE_ROTARY_LINEAR,       /* position interpolation, arXiv:2306.15595 */
    PE_ROTARY_NTK,          /* a larger theta */
    PE_ROTARY_DYNAMIC,      /* the same by the length of the sequence */
    PE_ROTARY_YARN,         /* arXiv:2309.00071 */
    PE_ROTARY_LONGROPE,     /* arXiv:2402.13753 */
    PE_ROTARY_LLAMA3,       /* Llama 3.1 */
    PE_ROTARY_PROPORTIONAL, /* turns only the first pairs */
} pe_rotary_type;

/* Hugging Face's rope parameters; a type reads those that it has, and they are legal. */
typedef struct pe_rotary {
    pe_rotary_type type;
    size_t width; /* d: columns that turn, 2 for each frequency */
    size_t still; /* proportional: the last frequencies, which are 0 */
    double theta; /* from 1 on, yarn: above 1 */
    double factor;
    int64_t original; /* L, positions the model was trained on */
    int64_t longest;  /* longrope: max_position_embeddings, which makes factor; else 0 */
    int64_t seq_len;
    double beta_fast, beta_slow;
    bool truncate;
    double mscale, mscale_all_dim; /* both or neither (0) */
    double low_freq_factor, high_freq_factor;
    const double *divisors; /* longrope: width/2 */
} pe_rotary;

/* The width/2 frequencies as turns per position, good to about 2^-190; NULL if memory ran out.
 */
pe_wide *pe_rotary_frequencies(const pe_rotary *rotary);

/* The factor of cosines and sines that the type has unless one is given: 1 but for yarn and
 * longrope. Within 2^-98 of its magnitude. */
dd pe_rotary_attention(const pe_rotary *rotary);

#endif
