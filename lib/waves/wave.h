/* Waves: tables of sines and cosines of position times frequency, rounded once. All
 * trigonometric schemes use them.
 *
 * The files of this folder, each of which uses only those above it:
 *
 *   wave                  the description of a wave, and geometric frequencies
 *   axis                  the angles of the cells of an axis
 *   bands                 frequencies between two
 *   columns               where entries are stored in a row
 *   chunk                 64 frequencies: rotating and rounding their entries
 *   anchors                 exact sines and cosines, from which rotations start
 *   rows_by_position,
 *   rows_by_distance,
 *   rows_small, rows_f64  ways to compute all rows of a chunk
 *   fill                  computing a table, chunk by chunk
 *   rotary,
 *   rotary_extras,
 *   rotary_request        frequencies of rotary schemes, and of a request
 *   distance_wave         waves of relative schemes
 *   grid_mask             grids of which only some cells are valid
 *   composed              rows composed of those of each axis
 *   lattice, planes       tables of points that have several axes, point by point or column by
 *                         column
 *   axes, axis_columns    rows whose frequencies belong to several axes, and which columns do
 *   axial, axial_request  rotary tables of grids, from such rows
 *   growth                waves whose amplitude grows or falls with the position
 *   pairing               which two columns of a rotary table form a pair
 *   ..._presets           what models use */
#ifndef PE_WAVE_H
#define PE_WAVE_H

#include "numerics/fixed.h"
#include "positions/positions.h"

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

/* Where the sine and the cosine of frequency i are stored. */
typedef enum pe_wave_layout {
    PE_WAVE_INTERLEAVED,      /* sin in column 2i, cos in 2i + 1 */
    PE_WAVE_CONCAT,           /* sin in column i, cos in count + i */
    PE_WAVE_CONCAT_COS_FIRST, /* cos in column i, sin in count + i */
    PE_WAVE_ALTERNATING,      /* in column i sin if i is even, cos if it is odd */
    PE_WAVE_SINES,            /* sines alone; pe_wave_copies says where */
    PE_WAVE_COSINES,          /* cosines alone; pe_wave_copies says where */
} pe_wave_layout;

/* The columns of the entry of frequency i in a wave of sines or cosines alone. */
typedef enum pe_wave_copies {
    PE_WAVE_ONCE,      /* i */
    PE_WAVE_IN_HALVES, /* i and count + i */
    PE_WAVE_IN_PAIRS,  /* 2i and 2i + 1 */
} pe_wave_copies;

typedef struct pe_wave {
    pe_positions positions;
    pe_wide *frequencies; /* turns per position */
    size_t count;         /* frequencies */
    pe_wave_layout layout;
    pe_wave_copies copies; /* only for sines or cosines alone */
    size_t still;          /* only for sines or cosines alone: how many frequencies, the last
                            * ones, are 0 */
    size_t columns;        /* columns with entries; with both sines and cosines it may be less
                            * than 2·count, and entries past the last column are dropped */
    size_t first_column;   /* in the destination: someone else writes those before it */
    size_t row_columns;    /* columns of the destination; those after `columns` are zero */
    double amplitude;      /* every entry is multiplied by amplitude + amplitude_rest */
    double amplitude_rest;
    bool rational;       /* frequencies may be quotients of whole numbers, of which
                          * multiples may be quarter turns: see PE_WAVE_RATIONAL */
    bool zero_at_origin; /* the row of position 0 is all zero */
    pe_dtype dtype;
    double *scaled_list; /* positions.list where that is scaled, else NULL */
} pe_wave;

/* The angle in turns below which a rational number is 0. A wave is rational if no phase of it
 * is nearer to a multiple of a quarter turn than this, unless it is one. A frequency is cut off
 * after 256 bits; so a phase that should be such a multiple is that near to it. */
#define PE_WAVE_RATIONAL ((pe_wide){{0, 1 << 12, 0, 0}}) /* 2^-180 */

/* Whether the wave has only sines or only cosines. */
static inline bool pe_is_alone(const pe_wave *wave)
{
    return wave->layout == PE_WAVE_SINES || wave->layout == PE_WAVE_COSINES;
}

/* Whether the amplitude is exactly 1. */
static inline bool pe_is_plain(const pe_wave *wave)
{
    return wave->amplitude == 1 && wave->amplitude_rest == 0;
}

/* Bytes of one row of the destination. */
static inline size_t pe_wave_row_bytes(const pe_wave *wave)
{
    return wave->row_columns * pe_dtype_size(wave->dtype);
}

/* The wave of a request, with its positions and dtype, as many columns and frequencies, and
 * amplitude 1. The caller sets whatever differs, and in the end the frequencies. */
pe_wave pe_wave_read(const pe_values *values, size_t columns, pe_wave_layout layout,
                     pe_error *reterr);

/* Plan the tensor `encoding` [positions, columns] of a wave, and what it costs. */
void pe_wave_add(pe_plan *plan, const pe_wave *wave);

/* What a frequency of a wave, with the anchors of a block of rows, and an entry cost. A row
 * costs something beside its entries, which shows where it has few. */
#define PE_WAVE_FREQUENCY_PRICE 150
#define PE_WAVE_ROW_PRICE       20
double pe_wave_entry_price(const pe_wave *wave);

/* Multiply every position by `scale`, 2^-20 … 2^20, exactly: the positions by a power of two of
 * at most 2·scale, which must leave them within ±2^53, and the frequencies by the rest. False:
 * memory ran out. */
bool pe_wave_scale_positions(pe_wave *wave, double scale, pe_pace *pace);

/* Compute the frequencies base^(-i·numerator/denominator), i = 0 … count-1, base >= 1, as turns
 * per position. NULL if memory ran out. */
pe_wide *pe_wave_geometric(pe_pace *pace, size_t count, double base, uint64_t numerator,
                           uint64_t denominator);

/* Set the frequencies base^(-i·numerator/denominator), i = 0 … count-1, of any base: one below
 * 1 makes them rise. As they would be above one turn, all are divided by a power of two of at
 * most twice the highest, and the positions are multiplied by it, exactly: they must stay
 * within ±2^53. False: memory ran out. */
bool pe_wave_set_geometric(pe_wave *wave, double base, uint64_t numerator, uint64_t denominator,
                           pe_pace *pace);

/* Compute the frequencies first·base^(-i·numerator/denominator), i = 0 … count-1, base >= 1, as
 * turns per position modulo one turn, for a first >= 0 and positions that are whole numbers. */
void pe_wave_ladder(size_t count, pe_fixed first, double base, uint64_t numerator,
                    uint64_t denominator, pe_wide *ret_frequencies);

/* A frequency of a rational wave: 0 where it is within 2^-180 of 0, modulo one turn. */
pe_wide pe_wave_snap(pe_wide frequency);

/* As pe_wave_geometric, into an array, and times any first frequency instead of one radian per
 * position. */
void pe_wave_geometric_ladder(pe_wide first, size_t count, double base, uint64_t numerator,
                              uint64_t denominator, pe_wide *ret_frequencies);

/* Write frequencies in radians per position, each rounded to the dtype once. */
void pe_wave_write_radians(pe_dtype dtype, const pe_wide *frequencies, uint64_t count,
                           void *dst);

/* What the sines and cosines of a frequency, in turns per position, lose where they are
 * computed in some arithmetic, in units of its roundoff: amplitude * |angle| * (8 + 3 * |ln
 * w|). The least w is that below which it has fewer bits in float16. */
double pe_wave_loss(double amplitude, double position, pe_wide frequency);

#endif
