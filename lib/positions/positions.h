/* The positions of a table's rows, and the parameters that give them. */
#ifndef PE_POSITIONS_H
#define PE_POSITIONS_H

#include "numerics/dd.h"
#include "numerics/wide.h"
#include "scheme.h"

/* The position of row r is list[r], or offset + r·step without intermediate rounding if there
 * is no list. */
typedef struct pe_positions {
    uint64_t count;
    double offset, step;
    const double *list; /* borrowed; NULL if offset and step apply */
} pe_positions;

#define PE_POSITION_MAX 9007199254740992.0 /* 2^53 */

/* The rows of a parameter table that position-indexed schemes begin with. */
#define PE_POSITION_PARAMETERS                                                                 \
    {.name = "length",                                                                         \
     .type = PE_INTEGER,                                                                       \
     .required = true,                                                                         \
     .unless = "positions",                                                                    \
     .minimum = 1,                                                                             \
     .maximum = PE_POSITION_MAX,                                                               \
     .unit = "rows",                                                                           \
     .counts_rows = true,                                                                      \
     .help = "number of rows"},                                                                \
        {.name = "offset",                                                                     \
         .unless = "positions",                                                                \
         .default_text = "0",                                                                  \
         .type = PE_REAL,                                                                      \
         .minimum = -PE_POSITION_MAX,                                                          \
         .maximum = PE_POSITION_MAX,                                                           \
         .unit = "positions",                                                                  \
         .help = "position of row 0"},                                                         \
        {.name = "step",                                                                       \
         .unless = "positions",                                                                \
         .default_text = "1",                                                                  \
         .type = PE_REAL,                                                                      \
         .minimum = -PE_POSITION_MAX,                                                          \
         .maximum = PE_POSITION_MAX,                                                           \
         .unit = "positions",                                                                  \
         .help = "distance from row to row"},                                                  \
    {                                                                                          \
        .name = "positions", .type = PE_REAL_LIST, .minimum = -PE_POSITION_MAX,                \
        .maximum = PE_POSITION_MAX, .unit = "positions", .counts_rows = true,                  \
        .help = "explicit positions, in any order, instead of length, offset and step"         \
    }

/* Read the four parameters and check that every position is within ±2^53. The result is valid
 * only if no problem was added to reterr. */
pe_positions pe_positions_read(const pe_values *values, pe_error *reterr);

/* The same, and check that every position is a non-negative integer. */
pe_positions pe_positions_read_natural(const pe_values *values, pe_error *reterr);

/* The position of a row, to 106 bits. */
dd pe_position_get(const pe_positions *positions, uint64_t row);

/* The same times a power of two: where the position is so small that its last bits would
 * underflow. */
dd pe_position_times(const pe_positions *positions, uint64_t row, double factor);

/* The phase of a row at a frequency, position times frequency modulo one turn, without
 * intermediate rounding. */
pe_wide pe_position_phase(const pe_positions *positions, uint64_t row, pe_wide frequency);

/* Find the smallest and the largest position, rounded to double. */
void pe_positions_range(const pe_positions *positions, double *ret_low, double *ret_high);

#endif
