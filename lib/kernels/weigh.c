/* Weighted sums of rows, up to four rows in one pass over the columns. */
#include "kernels/weigh.h"

#include "kernels/instruction_set.h"

extern pe_weigh PE_FOR_SET(pe_weigh);

#define INLINED static inline __attribute__((always_inline))

INLINED void sum_four(const double *const *rows, const double *weights, size_t count, bool add,
                      double *restrict sums)
{
    const double *restrict a = rows[0], *restrict b = rows[1];
    const double *restrict c = rows[2], *restrict d = rows[3];
    const double w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    for (size_t i = 0; i < count; i++) {
        double sum = (w0 * a[i] + w1 * b[i]) + (w2 * c[i] + w3 * d[i]);
        sums[i] = add ? sums[i] + sum : sum;
    }
}

INLINED void sum_two(const double *const *rows, const double *weights, size_t count, bool add,
                     double *restrict sums)
{
    const double *restrict a = rows[0], *restrict b = rows[1];
    const double w0 = weights[0], w1 = weights[1];
    for (size_t i = 0; i < count; i++) {
        double sum = w0 * a[i] + w1 * b[i];
        sums[i] = add ? sums[i] + sum : sum;
    }
}

INLINED void sum_one(const double *restrict row, double weight, size_t count, bool add,
                     double *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = add ? sums[i] + weight * row[i] : weight * row[i];
}

/* Set or add as many rows as one pass takes. Returns how many. */
INLINED size_t sum_some(const double *const *rows, const double *weights, size_t taps,
                        size_t count, bool add, double *sums)
{
    if (taps >= 4) {
        sum_four(rows, weights, count, add, sums);
        return 4;
    }
    if (taps >= 2) {
        sum_two(rows, weights, count, add, sums);
        return 2;
    }
    sum_one(rows[0], weights[0], count, add, sums);
    return 1;
}

void PE_FOR_SET(pe_weigh)(const double *const *rows, const double *weights, size_t taps,
                          size_t count, bool add, double *sums)
{
    size_t done = add || taps == 0 ? 0 : sum_some(rows, weights, taps, count, false, sums);
    while (done < taps)
        done += sum_some(rows + done, weights + done, taps - done, count, true, sums);
}
