/* Points with several coordinates: those of a grid, or any. */
#ifndef PE_POINTS_H
#define PE_POINTS_H

#include "numerics/dd.h"
#include "scheme.h"

#define PE_POINT_AXES 4

/* The coordinates of the n points of a grid's axis. */
extern const char *const pe_point_grids[]; /* names of pe_point_grid; NULL-terminated */
typedef enum pe_point_grid {
    PE_POINT_CORNERS, /* from -1 to 1; a single one is -1, as torch.linspace has it */
    PE_POINT_CENTERS, /* (2k+1)/n - 1 */
    PE_POINT_UNIT,    /* from 0 to 1; a single one is 0 */
    PE_POINT_INDEX,   /* k */
} pe_point_grid;

/* The rows of a parameter table for points; `grid_text` is the default of `grid`. */
#define PE_POINT_PARAMETERS(grid_text)                                                         \
    {.name = "sizes",                                                                          \
     .type = PE_INTEGER_LIST,                                                                  \
     .required = true,                                                                         \
     .unless = "coordinates",                                                                  \
     .minimum = 1,                                                                             \
     .maximum = 32768,                                                                         \
     .unit = "points",                                                                         \
     .counts_rows = true,                                                                      \
     .help = "points on each axis of a grid, 1 to 4 numbers; the last axis varies fastest"},   \
        {.name = "coordinates",                                                                \
         .type = PE_REAL_LIST,                                                                 \
         .minimum = -PE_COORDINATE_MAX,                                                        \
         .maximum = PE_COORDINATE_MAX,                                                         \
         .counts_rows = true,                                                                  \
         .help = "coordinates of points, those of one point after the other, instead of "      \
                 "sizes"},                                                                     \
        {.name = "axes",                                                                       \
         .type = PE_INTEGER,                                                                   \
         .unless = "sizes",                                                                    \
         .minimum = 1,                                                                         \
         .maximum = PE_POINT_AXES,                                                             \
         .unit = "coordinates",                                                                \
         .help = "coordinates of each point of coordinates, 1 if it is not given"},            \
    {                                                                                          \
        .name = "grid", .type = PE_CHOICE, .default_text = (grid_text),                        \
        .choices = pe_point_grids,                                                             \
        .help = "coordinates of the n points of an axis of sizes; corners: from -1 to 1; "     \
                "centers: (2k+1)/n - 1; unit: from 0 to 1; index: 0, 1, 2 …"                 \
    }

#define PE_COORDINATE_MAX 2147483648.0 /* 2^31 */

typedef struct pe_points {
    uint64_t count;
    size_t axes;
    uint64_t places[PE_POINT_AXES]; /* of each axis of a grid; else `count` */
    const double *coordinates;      /* borrowed, [count, axes]; NULL: a grid */
    pe_point_grid grid;
} pe_points;

/* Read the four parameters. The result is valid only if no problem was added to reterr. */
pe_points pe_points_read(const pe_values *values, pe_error *reterr);

/* Settle how many coordinates each listed point has. */
void pe_points_settle(const pe_points *points, pe_plan *plan);

/* The coordinate of place k of an axis of a grid is (offset + k·step)/divisor, of whole numbers
 * below 2^18. */
typedef struct pe_point_scale {
    double offset, step, divisor;
} pe_point_scale;

pe_point_scale pe_points_scale(const pe_points *points, size_t axis);

/* The place of a point on an axis. */
uint64_t pe_points_place(const pe_points *points, uint64_t point, size_t axis);

/* The coordinate of a place of a grid's axis, to 100 bits. */
dd pe_points_place_coordinate(const pe_points *points, uint64_t place, size_t axis);

/* A coordinate of a point, to 100 bits. */
dd pe_points_coordinate(const pe_points *points, uint64_t point, size_t axis);

/* A bound of the magnitude of all coordinates, at least 1, which one reaches if it is above 1.
 */
double pe_points_magnitude(const pe_points *points);

#endif
