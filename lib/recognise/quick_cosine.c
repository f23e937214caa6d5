/* Cosines by Taylor's series, after the quarter turns have been taken off. */
#include "recognise/quick_cosine.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* π/2 as a sum: the first two parts have 33 bits, so that their products with whole numbers up
 * to 2^20 are exact. */
#define QUARTER_1 0x1.921fb544p0
#define QUARTER_2 0x1.0b4611a6p-34
#define QUARTER_3 0x1.3198a2e037073p-69

double pe_quick_cosine(double angle, int quarters)
{
    double turns = rint(angle * 0x1.45f306dc9c883p-1);
    double rest = ((angle - turns * QUARTER_1) - turns * QUARTER_2) - turns * QUARTER_3;
    double square = rest * rest, sum = 0, term = 1;
    int which = (int)((int64_t)turns & 3) + quarters;
    bool odd = which & 1;
    term = odd ? rest : 1;
    for (int n = odd ? 1 : 0; n < 22; n += 2) {
        sum += term;
        term *= -square / ((n + 1) * (n + 2));
    }
    return ((which + 1) & 2) ? -sum : sum;
}
