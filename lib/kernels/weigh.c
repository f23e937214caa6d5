/* Weighted sums of rows, up to four rows in one pass over the columns. */
#include "kernels/weigh.h"

#include "kernels/instruction_set.h"

extern pe_weigh PE_FOR_SET(pe_weigh);

static void add_four(const double *const *rows, const double *weights, size_t count,
                     double *restrict sums)
{
    const double *restrict a = rows[0], *restrict b = rows[1];
    const double *restrict c = rows[2], *restrict d = rows[3];
    const double w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    for (size_t i = 0; i < count; i++)
        sums[i] += (w0 * a[i] + w1 * b[i]) + (w2 * c[i] + w3 * d[i]);
}

static void add_two(const double *const *rows, const double *weights, size_t count,
                    double *restrict sums)
{
    const double *restrict a = rows[0], *restrict b = rows[1];
    const double w0 = weights[0], w1 = weights[1];
    for (size_t i = 0; i < count; i++)
        sums[i] += w0 * a[i] + w1 * b[i];
}

static void add_one(const double *restrict row, double weight, size_t count,
                    double *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += weight * row[i];
}

void PE_FOR_SET(pe_weigh)(const double *const *rows, const double *weights, size_t taps,
                          size_t count, double *sums)
{
    for (; taps >= 4; taps -= 4, rows += 4, weights += 4)
        add_four(rows, weights, count, sums);
    for (; taps >= 2; taps -= 2, rows += 2, weights += 2)
        add_two(rows, weights, count, sums);
    if (taps > 0)
        add_one(rows[0], weights[0], count, sums);
}
