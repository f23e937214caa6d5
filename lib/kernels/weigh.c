/* Weighted sums of rows, four rows in one pass over the columns. */
#include "kernels/weigh.h"

#include "kernels/instruction_set.h"

extern pe_weigh PE_FOR_SET(pe_weigh);

#define TAPS 4

/* As pe_weigh for TAPS rows. */
static void weigh_rows(const double *const *rows, const double *weights, size_t count, bool add,
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

/* Rows that are missing in the last pass are its first one, with no weight. */
void PE_FOR_SET(pe_weigh)(const double *const *rows, const double *weights, size_t taps,
                          size_t count, bool add, double *sums)
{
    for (size_t t = 0; t < taps; t += TAPS) {
        const double *some[TAPS];
        double own[TAPS] = {0};
        for (size_t i = 0; i < TAPS; i++) {
            some[i] = rows[t + i < taps ? t + i : t];
            own[i] = t + i < taps ? weights[t + i] : 0;
        }
        weigh_rows(some, own, count, add || t > 0, sums);
    }
}
