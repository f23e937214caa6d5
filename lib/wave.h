/* The kernel of every trigonometric scheme: sines and cosines of position times frequency,
 * rounded once. */
#ifndef PE_WAVE_H
#define PE_WAVE_H

#include "positions.h"

#define PE_DIM_MAX 1048576

/* The rows of a parameter table that trigonometric schemes share. */
#define PE_DIM_PARAMETER(least, multiple, text)                                                \
    {                                                                                          \
        .name = "dim", .type = PE_INTEGER, .required = true, .minimum = (least),               \
        .maximum = PE_DIM_MAX, .multiple_of = (multiple), .unit = "columns", .help = (text)    \
    }
#define PE_BASE_PARAMETER                                                                      \
    {                                                                                          \
        .name = "base", .type = PE_REAL, .default_text = "10000", .minimum = 1,                \
        .maximum = 1e18, .help = "base of the geometric frequencies"                           \
    }

/* Where the sine and the cosine of frequency i go. */
typedef enum pe_wave_layout {
    PE_WAVE_INTERLEAVED,      /* sin in column 2i, cos in 2i + 1 */
    PE_WAVE_CONCAT,           /* sin in column i, cos in count + i */
    PE_WAVE_CONCAT_COS_FIRST, /* cos in column i, sin in count + i */
    PE_WAVE_ALTERNATING,      /* column i only: sin where i is even, cos where odd */
    PE_WAVE_SINES,            /* column i only: sin */
    PE_WAVE_COSINES,          /* column i only: cos */
} pe_wave_layout;

/* Where the entry of frequency i stands when sines or cosines are alone. */
typedef enum pe_wave_copies {
    PE_WAVE_ONCE,      /* in column i */
    PE_WAVE_IN_HALVES, /* in columns i and count + i */
    PE_WAVE_IN_PAIRS,  /* in columns 2i and 2i + 1 */
} pe_wave_copies;

typedef struct pe_wave {
    pe_positions positions;
    pe_wide *frequencies; /* turns per position; owned */
    size_t count;         /* of frequencies */
    pe_wave_layout layout;
    pe_wave_copies copies; /* of sines or cosines alone */
    size_t still;          /* of sines or cosines alone: the last frequencies, which are 0 */
    size_t columns;        /* columns at or past this one are dropped; none of those alone */
    size_t row_columns;    /* of the destination; those past `columns` are zero */
    double amplitude;      /* every entry's factor, and what a double cannot hold of it */
    double amplitude_rest;
    bool zero_at_origin; /* the row of position 0 is all zero */
    pe_dtype dtype;
} pe_wave;

/* Whether the wave is of sines or cosines alone. */
static inline bool pe_is_alone(const pe_wave *wave)
{
    return wave->layout == PE_WAVE_SINES || wave->layout == PE_WAVE_COSINES;
}

/* Whether entries have no factor. */
static inline bool pe_is_plain(const pe_wave *wave)
{
    return wave->amplitude == 1 && wave->amplitude_rest == 0;
}

/* A wave at the positions and in the dtype of a request, with `count` = columns and amplitude
 * 1; the caller sets what differs, and the frequencies. NULL if memory ran out. */
pe_wave *pe_wave_new(const pe_values *values, size_t columns, pe_wave_layout layout,
                     size_t row_columns);

/* The wave itself, or NULL, and the wave freed, if its frequencies are NULL. */
pe_wave *pe_wave_ready(pe_wave *wave);

/* The frequencies base^(-i·numerator/denominator), i = 0 … count-1, as turns per position; NULL
 * if memory ran out. base >= 1. */
pe_wide *pe_wave_geometric(size_t count, double base, uint64_t numerator, uint64_t denominator);

/* Write rows [first, first + rows), each row_columns elements, one after the other. */
void pe_wave_fill(const pe_wave *wave, uint64_t first, uint64_t rows, void *dst);

/* The same as a scheme's fill: `state` is a wave. */
void pe_wave_fill_tensor(const pe_values *values, const pe_plan *plan, const void *state,
                         pe_window window, void *dst);

/* Free the frequencies and the wave itself, which came from malloc. */
void pe_wave_free(void *wave);

#endif
