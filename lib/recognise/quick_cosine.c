/* Cosines by Taylor's series, after the quarter turns have been taken off. */
#include "recognise/quick_cosine.h"

#include <math.h>
#include <stdint.h>

/* π/2 as a sum: the first two parts have 33 bits, so that their products with whole numbers up
 * to 2^20 are exact. */
#define QUARTER_1 0x1.921fb544p0
#define QUARTER_2 0x1.0b4611a6p-34
#define QUARTER_3 0x1.3198a2e037073p-69

/* The terms of both series, the last one first: up to an eighth of a turn the next one is below
 * 2^-58 of the sum. */
#define TERM_COUNT 10
#define TERM(n)    (1.0 / (n))
static const double TERMS[2][TERM_COUNT] = {
    {-TERM(6402373705728000), TERM(20922789888000), -TERM(87178291200), TERM(479001600),
     -TERM(3628800), TERM(40320), -TERM(720), TERM(24), -TERM(2), 1},
    {-TERM(121645100408832000), TERM(355687428096000), -TERM(1307674368000), TERM(6227020800),
     -TERM(39916800), TERM(362880), -TERM(5040), TERM(120), -TERM(6), 1},
};

double pe_quick_cosine(double angle, int quarters)
{
    if (!(fabs(angle) < 0x1p52)) /* also no number */
        return (double)NAN;
    double turns = rint(angle * 0x1.45f306dc9c883p-1);
    double rest = ((angle - turns * QUARTER_1) - turns * QUARTER_2) - turns * QUARTER_3;
    const double square = rest * rest;
    const int which = (int)((int64_t)turns & 3) + quarters;
    const double *terms = TERMS[which & 1];
    double sum = terms[0];
    for (int i = 1; i < TERM_COUNT; i++)
        sum = sum * square + terms[i];
    sum *= which & 1 ? rest : 1;
    return ((which + 1) & 2) ? -sum : sum;
}
