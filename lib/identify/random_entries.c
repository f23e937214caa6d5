/* Whether entries of a table look random. */
#include "identify/first_rows.h"

#include <math.h>

#define LAGS      8 /* entries that are up to so many apart */
#define LINES_MAX 4096
#define FAR       4.5  /* standard deviations, of a sum of products */
#define LEAST     64   /* entries */
#define FAINT     1e-3 /* the square of a line's deviation, of that of all entries */
#define FAINT_OF  8    /* entries: shorter lines are so now and then */

/* Whether the products of entries some rows and columns apart add up to more than those of
 * independent numbers do. */
static bool are_tied(const pe_first_rows *self, uint64_t down, uint64_t right)
{
    double sum = 0, squares = 0;
    for (uint64_t row = down; row < self->rows; row++) {
        const double *here = self->entries + row * self->columns;
        const double *there = here - down * self->columns - right;
        for (uint64_t c = right; c < self->columns; c++) {
            const double product = (here[c] - self->mean) * (there[c] - self->mean);
            sum += product;
            squares += product * product;
        }
    }
    return fabs(sum) > FAR * sqrt(squares);
}

/* The square of the sum of a line's products, over the sum of their squares: about 1 of
 * independent numbers, in the mean. Infinite of a line whose squares add up to no more than
 * `least`, which is constant beside the others. */
static double correlate_line(const double *x, uint64_t stride, uint64_t length, uint64_t lag,
                             double least)
{
    double mean = 0, power = 0, squares = 0, sum = 0;
    for (uint64_t i = 0; i < length; i++)
        mean += x[i * stride] / (double)length;
    for (uint64_t i = 0; i < length; i++)
        power += (x[i * stride] - mean) * (x[i * stride] - mean);
    for (uint64_t i = lag; i < length; i++) {
        const double product = (x[i * stride] - mean) * (x[(i - lag) * stride] - mean);
        sum += product;
        squares += product * product;
    }
    return power > least && squares > 0 ? sum * sum / squares : INFINITY;
}

/* Whether several lines are tied within themselves, each in its own way, as waves are. */
static bool have_ties(const pe_first_rows *self, uint64_t count, uint64_t step, uint64_t length,
                      uint64_t stride)
{
    const uint64_t lines = count < LINES_MAX ? count : LINES_MAX;
    /* what the mean of so many squares of normal numbers exceeds once in e^10 times, and what
     * taking off the mean of a short line adds */
    const double most =
        1 + 2 * sqrt(10 / (double)lines) + 20 / (double)lines + 2 / (double)length;
    const double square = self->deviation * self->deviation;
    const double least = length < FAINT_OF ? 0 : FAINT * square * (double)length;
    for (uint64_t lag = 1; lag <= LAGS && lag + 1 < length && count > 1; lag++) {
        double sum = pe_search_may_continue(self->runner) ? 0 : INFINITY;
        for (uint64_t i = 0; i < lines; i++)
            sum += correlate_line(self->entries + i * step, stride, length, lag, least);
        if (sum > most * (double)lines)
            return true;
    }
    return false;
}

bool pe_looks_random(const pe_first_rows *self)
{
    const uint64_t rows = self->rows, columns = self->columns;
    if (rows * columns < LEAST || self->not_finite > 0 ||
        !isnormal(self->deviation * self->deviation)) /* products overflow, or are 0 */
        return false;
    for (uint64_t lag = 1; lag <= LAGS; lag++)
        if (!pe_search_may_continue(self->runner) || are_tied(self, lag, 0) ||
            are_tied(self, 0, lag) || are_tied(self, lag, lag))
            return false;
    return !have_ties(self, columns, 1, rows, columns) &&
           !have_ties(self, rows, columns, columns, 1);
}
