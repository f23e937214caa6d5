/* Applying encodings to rows of numbers: sums of products with a bound of their error, and
 * rounding what the bound decides. In loops that compilers vectorise.
 *
 * An entry of an encoding is a pair: `hi` is the double nearest to it, hi + lo is within 2^-94
 * of it relatively. The narrow functions compute with hi alone, for dtypes shorter than f64;
 * then lo may be NULL.
 * The wide ones give the sum of `value` and `rest`. Sums that overflow, underflow or are no
 * numbers get bounds with which nothing is decided. Arrays of results must not overlap others.
 */
#ifndef PE_APPLYING_H
#define PE_APPLYING_H

#include "posenc.h"

/* Entries of an encoding. */
typedef struct pe_entry_row {
    const double *hi, *lo;
} pe_entry_row;

/* Sums, each known to within its bound; `rest` is NULL for narrow ones. It may be
 * given only with entries that have a `lo`. */
typedef struct pe_sums {
    double *value, *rest, *bound;
} pe_sums;

typedef struct pe_applying {
    /* Convert elements of a real dtype, which are aligned, to double. */
    void (*read)(pe_dtype dtype, const void *elements, size_t count, double *ret_numbers);

    /* x + scale · entry */
    void (*add)(const double *x, double scale, pe_entry_row entries, size_t count,
                pe_sums sums);

    /* x · entry */
    void (*multiply)(const double *x, pe_entry_row entries, size_t count, pe_sums sums);

    /* x · cosine - y · sine · turn, for a turn of 1 or -1 */
    void (*rotate)(const double *x, const double *y, double turn, pe_entry_row cosines,
                   pe_entry_row sines, size_t count, pe_sums sums);

    /* sums[j] = sum of x[i] · entries[j · count + i] over i < count, for j < rows */
    void (*contract)(const double *x, pe_entry_row entries, size_t count, size_t rows,
                     pe_sums sums);

    /* sums[j] = sum of x[i] · entries[i · results + j] over i < count, for j < results */
    void (*combine)(const double *x, pe_entry_row entries, size_t count, size_t results,
                    pe_sums sums);

    /* Round each sum to the dtype, if all that is within its bound rounds alike: NaN marks the
     * others. */
    void (*decide)(pe_dtype dtype, pe_sums sums, size_t count, double *ret_rounded);

    /* Store numbers that the dtype has, infinities and NaN; zeros become +0. */
    void (*store)(pe_dtype dtype, const double *rounded, size_t count, void *dst);
} pe_applying;

#endif
