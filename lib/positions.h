/* The positions of a table's rows, and the parameters that state them. */
#ifndef PE_POSITIONS_H
#define PE_POSITIONS_H

#include "dd.h"
#include "scheme.h"
#include "wide.h"

/* Row r stands at list[r], or at offset + r·step without intermediate rounding. */
typedef struct pe_positions {
    uint64_t count;
    double offset, step;
    const double *list; /* NULL: offset and step; borrowed */
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
        .maximum = PE_POSITION_MAX, .unit = "positions",                                       \
        .help = "explicit positions, in any order, instead of length, offset and step"         \
    }

/* Read the four parameters and check that every position is within ±2^53. Problems go to
 * reterr; the result is usable only if none was added. */
pe_positions pe_positions_read(const pe_values *values, pe_error *reterr);

/* As pe_positions_read, and every position must be a non-negative integer. */
pe_positions pe_positions_read_natural(const pe_values *values, pe_error *reterr);

/* Position of a row, to 106 bits. */
dd pe_position_at(const pe_positions *positions, uint64_t row);

/* Phase of a row at a frequency, modulo one turn and without intermediate rounding. */
pe_wide pe_position_phase(const pe_positions *positions, uint64_t row, pe_wide frequency);

/* The smallest and the largest position, rounded to double. */
void pe_positions_range(const pe_positions *positions, double *ret_low, double *ret_high);

#endif
