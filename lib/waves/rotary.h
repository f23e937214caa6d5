/* The frequencies of rotary embeddings, and how models scale them for longer contexts. */
#ifndef PE_ROTARY_H
#define PE_ROTARY_H

#include "numerics/dd.h"
#include "numerics/wide.h"
#include "scheme.h"
#include "waves/rotary_types.h"

#define PE_ROTARY_CONSTANT(type, ...) PE_ROTARY_##type,
typedef enum pe_rotary_type {
    PE_ROTARY_TYPES(PE_ROTARY_CONSTANT) PE_ROTARY_COUNT
} pe_rotary_type;

#define PE_ROTARY_MEMBER(kind, member, ...) PE_ROTARY_##kind member;
#define PE_ROTARY_REAL                      double
#define PE_ROTARY_POSITIONS                 int64_t
#define PE_ROTARY_FLAG                      bool
#define PE_ROTARY_LIST                      const double *

/* The rope parameters of Hugging Face's transformers. A type reads those that it has; the
 * caller has checked them. */
typedef struct pe_rotary {
    pe_rotary_type type;
    size_t width; /* d: columns that are rotated, 2 for each frequency */
    size_t still; /* proportional: how many of the last frequencies are 0 */
    double theta; /* at least 1; for yarn above 1 */
    PE_ROTARY_KEYS(PE_ROTARY_MEMBER)
} pe_rotary;

/* What a type does; NULL: nothing of that kind. */
typedef struct pe_rotary_part {
    void (*complete)(const pe_values *values, pe_rotary *rotary); /* what has been read */
    void (*scale)(const pe_rotary *rotary, pe_wide *frequencies);
    dd (*attention)(const pe_rotary *rotary);
    void (*check)(const pe_values *values, const pe_rotary *rotary, pe_error *reterr);
} pe_rotary_part;

extern const pe_rotary_part pe_rotary_parts[PE_ROTARY_COUNT];

/* Compute the width/2 frequencies as turns per position, with an error of about 2^-190. NULL if
 * memory ran out. */
pe_wide *pe_rotary_frequencies(const pe_rotary *rotary);

/* The same into an array. */
void pe_rotary_write_frequencies(const pe_rotary *rotary, pe_wide *ret_frequencies);

/* The factor of cosines and sines: as given, else the type's default, with a relative error
 * below 2^-98. */
dd pe_rotary_attention(const pe_rotary *rotary);

/* yarn: what DeepSeek's code multiplies the scale of the scores by, the square of
 * 0.1·mscale_all_dim·ln(factor) + 1. */
dd pe_rotary_softmax_factor(const pe_rotary *rotary);

#endif
