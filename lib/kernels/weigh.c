/* Weighted sums of rows, sixteen columns in registers at a time. */
#include "kernels/weigh.h"

#include "kernels/instruction_set.h"

extern pe_weigh PE_FOR_SET(pe_weigh);

#define WIDTH 16

typedef double wide __attribute__((vector_size(WIDTH / 2 * sizeof(double)), aligned(8)));

void PE_FOR_SET(pe_weigh)(const double *const *rows, const double *weights, size_t taps,
                          size_t count, double *sums)
{
    size_t c = 0;
    for (; c + WIDTH <= count; c += WIDTH) {
        wide *to = (wide *)(sums + c), first = to[0], second = to[1];
        for (size_t t = 0; t < taps; t++) {
            const wide *row = (const wide *)(rows[t] + c);
            first += weights[t] * row[0];
            second += weights[t] * row[1];
        }
        to[0] = first;
        to[1] = second;
    }
    for (; c < count; c++)
        for (size_t t = 0; t < taps; t++)
            sums[c] += weights[t] * rows[t][c];
}
