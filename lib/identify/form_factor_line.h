/* A factor and a constant of a table, as a line through points: entries of what was multiplied,
 * and the table's. */
#ifndef PE_FORM_FACTOR_LINE_H
#define PE_FORM_FACTOR_LINE_H

#include "identify/form.h"

#define PE_FACTOR_ENTRIES ((size_t)1 << 15) /* that are looked at */
#define PE_FACTOR_UNIT    0x1p-18 /* of numbers by which a table tells a constant badly */
#define PE_FACTOR_SIDE    0.25 /* of a unit: how far off a factor may be by that of rounding */
#define PE_WHOLE_TRIED    512  /* entries, before all of them, for which points have room */
#define PE_FAR_OFF        0.02 /* relative: what lies so far from a trend is none of it */
#define PE_FEWEST_POINTS  8    /* of a trend */

/* A factor and a constant, and what they may be off by. */
typedef struct pe_factor_line {
    double factor, constant, factor_error, constant_error;
    double centre; /* the number whose entry is told best, as the constant is of the factor */
    bool sure;     /* the factor has a name, or few digits, and no error */
    bool settled;  /* both are the numbers to tell: all entries are they rounded */
} pe_factor_line;

/* A point of a trend, and what it is known to. */
typedef struct pe_factor_point {
    double x, y, size;
} pe_factor_point;

/* Rows that are spread evenly over a table; of two tensors a row of each, one after the other.
 */
typedef struct pe_factor_sample {
    size_t rows, columns;
    uint64_t distance;       /* between two rows */
    double unit, grain;      /* that entries are known to */
    double noise;            /* mean square, of entries */
    double *entries;         /* [rows, columns] */
    double *sorted;          /* room for as many */
    pe_factor_point *points; /* room for as many */
} pe_factor_sample;

/* A straight line through points, but for those that are far from it. */
typedef struct pe_factor_trend {
    double x, y, slope; /* through x and y */
    double error, tilt; /* of y, and of the slope */
    double spread;      /* the mean of what the points are off by, in their sizes */
    double most;        /* beyond which they are far */
    double least;       /* of that */
    size_t used;
} pe_factor_trend;

/* How far a point is from a trend, in its size. */
double pe_measure_distance(const pe_factor_trend *own, pe_factor_point at);

/* Fit a trend to points, of which a share must be near it, and are if they are off by `least`.
 */
bool pe_fit_trend(const pe_factor_point *points, size_t count, double share, double least,
                  pe_factor_trend *ret_trend);

/* How far a number may be off that became this one when it was rounded, and a few times before
 * that in float32. */
double pe_bound_rounded(double number, double unit);

/* The factor near a measured one, and the constant, of the fewest digits that make all points,
 * as near as their sizes. False: there are none, and *ret_line is as it was. */
bool pe_settle_numbers(const pe_factor_point *points, size_t count, double measured,
                       pe_factor_line *ret_line);

/* The numbers to tell of a line that fits a view with this unit: a constant that is within its
 * error of 0 is none. */
pe_factor_line pe_choose_line(const pe_factor_line *own, double unit, const pe_view *view);

/* The factor that a measured one is taken for: the root of the width of a table, as what is
 * multiplied by that has, or the cheapest within its error. */
pe_factor_line pe_choose_factor(double number, double error, const pe_view *view);

/* Read the rows of a layer that are looked at. False: they cannot be read, or memory ran out.
 * pe_free_factor_sample frees what is held either way. */
bool pe_read_factor_sample(const pe_layer *layer, pe_factor_sample *seen);
void pe_free_factor_sample(pe_factor_sample *seen);

#endif
