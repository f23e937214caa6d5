#include "recognise/table_positions.h"

#include "numerics/dtype.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOKED        20 /* rows by which even spacing is told */
#define LISTED_COARSE 12 /* columns at least by which entries of 16 bits tell any positions */
#define LISTED        6  /* the same of others */
#define WRONG_MAX     2  /* of these, which are of no position, or of another one */
#define DISTINCT      3  /* positions at least */
#define FEW_ROWS      16 /* columns at least by which fewer positions are no chance */
#define FEW_COARSE    24 /* the same of entries of 16 bits */
#define EXACT_RECIPE  1e-15
#define FLOAT_RECIPE  1e-6
#define APART         1.4 /* a frequency to the one before, at least */
#define STEPS         4   /* that are tried */
#define STILL_ROWS    16  /* of which one may be wrong in a column that is still */

/* ---- even spacing ---- */

/* Rows that have been fitted. */
typedef struct fitted_row {
    double row;
    pe_row_position at;
} fitted_row;

static double find_middle(pe_row_position at)
{
    return (at.low + at.high) / 2;
}

static double find_half_width(pe_row_position at)
{
    return (at.high - at.low) / 2;
}

static pe_row_position negate_position(pe_row_position at)
{
    return (pe_row_position){at.found, -at.high, -at.low};
}

/* Whether a row is zero in all columns of the law: padding, which says nothing. */
static bool is_padding(const pe_row_law *law, const double *row)
{
    for (size_t i = 0; i < law->count; i++)
        if (row[law->signals[i].column] != 0)
            return false;
    return true;
}

/* Fit rows: the first ones, and some that are ever further. Returns how many; 0 if more than a
 * few are not of the law. */
static size_t fit_sampled_rows(const pe_observation *seen, const pe_row_law *law,
                               fitted_row rows[LOOKED])
{
    size_t count = 0, padding = 0, wrong = 0;
    for (size_t row = 0; row < seen->sampled && count < LOOKED;) {
        const double *entries = seen->sample + row * seen->columns;
        rows[count] = (fitted_row){(double)row, pe_row_position_fit(law, entries)};
        if (!rows[count].at.found &&
            (is_padding(law, entries) ? padding++ == LOOKED : wrong++ == WRONG_MAX))
            return 0;
        count += rows[count].at.found;
        if (row + 1 == seen->sampled)
            break;
        row += count < LOOKED / 2 ? 1 : 1 + row / 2;
        row = row < seen->sampled ? row : seen->sampled - 1;
    }
    return count;
}

/* The offset that all rows leave open at a step: false if there is none. */
static bool find_offset(const fitted_row *rows, size_t count, double step,
                        pe_row_position *ret_offset)
{
    *ret_offset = (pe_row_position){true, -INFINITY, INFINITY};
    for (size_t i = 0; i < count; i++) {
        ret_offset->low = fmax(ret_offset->low, rows[i].at.low - step * rows[i].row);
        ret_offset->high = fmin(ret_offset->high, rows[i].at.high - step * rows[i].row);
    }
    const double slack = 1e-12 * fmax(fabs(rows[0].at.low), fabs(step) * rows[count - 1].row);
    ret_offset->low -= slack;
    ret_offset->high += slack;
    return ret_offset->low <= ret_offset->high;
}

/* The step that lies between: a multiple of π, as of angles that are counted in half turns, or
 * the number of the fewest digits. */
static double choose_step(pe_row_position steps)
{
    const double half_turn = PE_TURN / 2, multiple = rint(find_middle(steps) / half_turn);
    const double step = multiple * half_turn;
    if (multiple != 0 && fabs(step - find_middle(steps)) <= find_half_width(steps))
        return step;
    return pe_row_position_number(steps);
}

/* The digits of a step, or of what multiple of π it is. */
static int count_step_digits(double step)
{
    const double half_turns = step / (PE_TURN / 2), whole = rint(half_turns);
    return pe_count_digits(whole != 0 && fabs(half_turns - whole) < 1e-12 * fabs(whole) ? whole
                                                                                        : step);
}

/* Choose the step and the offset that have the fewest digits together, of steps of ever more
 * digits that lie between. False: rows are not evenly spaced by any. */
static bool choose_even(const fitted_row *rows, size_t count, pe_row_position steps,
                        double *ret_offset, double *ret_step)
{
    const double middle = find_middle(steps);
    double error = find_half_width(steps);
    int fewest = INT_MAX;
    for (int i = 0; i < STEPS; i++, error /= 10) {
        pe_row_position offset;
        const double step =
            choose_step((pe_row_position){true, middle - error, middle + error});
        if (!find_offset(rows, count, step, &offset))
            continue;
        const double number = pe_row_position_number(offset);
        const int digits = pe_count_digits(number) + count_step_digits(step);
        if (digits >= fewest)
            continue;
        fewest = digits;
        *ret_offset = number;
        *ret_step = step;
    }
    return fewest < INT_MAX;
}

/* Spread rows over a line through the first two, whose signs are given; of a table of cosines
 * alone the others' signs are chosen. A few rows may lie elsewhere, and say nothing then.
 * False: they are not evenly spaced. */
static bool is_even(fitted_row *rows, size_t count, bool signs, double *ret_offset,
                    double *ret_step)
{
    const pe_row_position first = rows[0].at;
    double step = 0, error = INFINITY;
    size_t wrong = 0;
    for (size_t i = 1; i < count; i++) {
        const double row = rows[i].row - rows[0].row;
        const double expected = find_middle(first) + step * row;
        if (signs && i > 1 && (expected < 0) != (find_middle(rows[i].at) < 0))
            rows[i].at = negate_position(rows[i].at);
        const double found = find_middle(rows[i].at);
        const double own = find_half_width(rows[i].at) + find_half_width(first);
        if (!(fabs(found - expected) <= error * row + own + 1e-9)) {
            if (i <= DISTINCT || wrong++ == WRONG_MAX)
                return false;
            rows[i].at = (pe_row_position){true, -INFINITY, INFINITY};
            continue;
        }
        step = (found - find_middle(first)) / row;
        error = own / row;
    }
    return choose_even(rows, count, (pe_row_position){true, step - error, step + error},
                       ret_offset, ret_step);
}

/* Find offset and step of a table that has even spacing. */
static bool find_even(const fitted_row *found, size_t count, bool signs, double *ret_offset,
                      double *ret_step)
{
    for (int way = 0; way < (signs ? 3 : 1); way++) {
        fitted_row rows[LOOKED];
        for (size_t i = 0; i < count; i++)
            rows[i] = found[i];
        if (way > 0)
            rows[way - 1].at = negate_position(rows[way - 1].at);
        if (is_even(rows, count, signs, ret_offset, ret_step))
            return *ret_step != 0;
    }
    return false;
}

static void write_even(const pe_observation *seen, double offset, double step,
                       pe_table_positions *ret)
{
    pe_propose_positions(ret->spacing, sizeof ret->spacing, offset, step, 0);
    snprintf(ret->rows, sizeof ret->rows, "length=%llu", (unsigned long long)seen->rows);
    ret->farthest = fmax(fabs(offset), fabs(offset + step * (double)(seen->rows - 1)));
    ret->offset = offset;
    ret->step = step;
}

/* ---- any positions ---- */

/* How many positions rows have, up to DISTINCT; 0: no other one than 0, which a table of ones
 * has by any law. */
static size_t count_distinct(const fitted_row *rows, size_t count)
{
    double kept[DISTINCT];
    size_t distinct = 0;
    for (size_t i = 0; i < count && distinct < DISTINCT; i++) {
        bool is_new = true;
        for (size_t k = 0; k < distinct; k++)
            is_new = is_new && fabs(kept[k] - find_middle(rows[i].at)) > 1e-6;
        if (is_new)
            kept[distinct++] = find_middle(rows[i].at);
    }
    return distinct == 1 && pe_row_position_number(rows[0].at) == 0 ? 0 : distinct;
}

static bool write_list(const double *numbers, size_t count, pe_table_positions *ret)
{
    size_t used = (size_t)snprintf(ret->rows, sizeof ret->rows, "positions=");
    ret->farthest = ret->offset = ret->step = 0;
    ret->spacing[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char text[PE_PRINT_MAX];
        pe_print_number(text, numbers[i]);
        ret->farthest = fmax(ret->farthest, fabs(numbers[i]));
        used += (size_t)snprintf(ret->rows + used, sizeof ret->rows - used, "%s%s",
                                 i > 0 ? "," : "", text);
        if (used >= sizeof ret->rows)
            return false;
    }
    return true;
}

/* Whether positions are 0, 1, 2 … rounded to a format: that is how a table is computed, and no
 * list of positions. */
static bool are_rounded(const double *numbers, size_t count, pe_dtype dtype)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != pe_round_number((double)i, dtype))
            return false;
    return true;
}

/* Fit a row by all columns, or, if a few are of no position, by one half of them or the other.
 */
static pe_row_position fit_row(const pe_row_law *law, const double *row)
{
    pe_row_position at = pe_row_position_fit(law, row);
    for (size_t half = 0; !at.found && half < 2; half++) {
        pe_row_law part = *law;
        part.count = 0;
        for (size_t i = 0; i < law->count; i++)
            if (i / 2 % 2 == half)
                part.signals[part.count++] = law->signals[i];
        if (part.count >= LISTED)
            at = pe_row_position_fit(&part, row);
    }
    return at;
}

/* Find the position of each row; a few rows may be of no position, and are said to be at 0. */
static bool find_list(const pe_observation *seen, const pe_row_law *law,
                      pe_table_positions *ret)
{
    const double lost_max = law->recipe == EXACT_RECIPE ? 0 : (double)seen->sampled / 16;
    const size_t count = seen->sampled;
    const size_t least = law->unit > 0x1p-20 ? LISTED_COARSE : LISTED;
    size_t lost = 0;
    if (count != seen->rows || law->count < least || 2 * count > sizeof ret->rows)
        return false;
    double *numbers = malloc(count * sizeof *numbers);
    for (size_t row = 0; numbers && row < count && (double)lost <= lost_max; row++) {
        pe_row_position at = fit_row(law, seen->sample + row * seen->columns);
        numbers[row] = at.found ? pe_row_position_number(at) : 0;
        lost += !at.found;
    }
    bool found = numbers && (double)lost <= lost_max && !are_rounded(numbers, count, PE_BF16) &&
                 !are_rounded(numbers, count, PE_F16) && write_list(numbers, count, ret);
    free(numbers);
    return found;
}

/* Whether most rows have whole positions. */
static bool are_whole(const fitted_row *rows, size_t count)
{
    size_t whole = 0;
    for (size_t i = 0; i < count; i++)
        whole += floor(rows[i].at.high) >= ceil(rows[i].at.low);
    return 2 * whole >= count;
}

/* Find positions that are evenly spaced, or else a list of them. Rows of which most have whole
 * positions have these; of others they are looked for anew, as if whole ones were no likelier.
 */
static bool find_positions(const pe_observation *seen, pe_row_law *law, pe_table_positions *ret)
{
    const size_t least = law->unit > 0x1p-20 ? FEW_COARSE : FEW_ROWS;
    fitted_row rows[LOOKED];
    double offset, step;
    for (law->any = false;; law->any = true) {
        const size_t count = fit_sampled_rows(seen, law, rows);
        const size_t distinct = count_distinct(rows, count);
        if (distinct == DISTINCT && find_even(rows, count, law->even, &offset, &step)) {
            write_even(seen, offset, step, ret);
            return true;
        }
        if (law->any || are_whole(rows, count))
            return (distinct == DISTINCT || (distinct > 0 && law->count >= least)) &&
                   find_list(seen, law, ret);
    }
}

/* ---- the whole ---- */

/* Whether an entry of a column is that of another row. */
static bool is_same_row(const pe_observation *seen, uint64_t column, size_t row, size_t other)
{
    return row < seen->sampled &&
           pe_observation_is_same(seen, pe_observation_entry(seen, row, column),
                                  pe_observation_entry(seen, other, column));
}

bool pe_column_is_still(const pe_observation *seen, uint64_t column)
{
    /* the first entry or the second one may be wrong */
    const size_t still = seen->sampled > 2 && !is_same_row(seen, column, 1, 0) ? 2 : 0;
    size_t wrong = 0;
    for (size_t row = 0; row < seen->sampled; row++)
        if (!is_same_row(seen, column, row, still) &&
            (!is_same_row(seen, column, row + 1, still) ||
             wrong++ == seen->sampled / STILL_ROWS))
            return false;
    return true;
}

void pe_row_law_init(pe_row_law *law, const double *frequencies, pe_columns sines,
                     pe_columns cosines, double amplitude, double unit)
{
    const size_t count = (size_t)(sines.count > 0 ? sines.count : cosines.count);
    double last = 0;
    law->count = 0;
    law->amplitude = amplitude;
    law->unit = unit;
    law->even = sines.count == 0;
    const bool rising = count > 0 && frequencies[count - 1] > frequencies[0];
    for (size_t k = count; k-- > 0;) { /* from the slowest on */
        const size_t i = rising ? count - 1 - k : k;
        if (!(frequencies[i] > 0) || (k > 0 && frequencies[i] < APART * last))
            continue;
        last = frequencies[i];
        if (sines.count > 0)
            pe_row_law_add(law, sines.first + i * sines.stride, last, true);
        if (cosines.count > 0)
            pe_row_law_add(law, cosines.first + i * cosines.stride, last, false);
    }
}

bool pe_table_positions_find(const pe_observation *seen, pe_row_law *law,
                             pe_table_positions *ret_positions)
{
    const pe_runner *runner = seen->runner;
    if (law->count < 2 ||
        seen->view.grain >= law->amplitude || /* which any position is within */
        (runner && runner->go_on && !runner->go_on(runner->context, NULL, 0)))
        return false;
    law->grain = seen->view.grain;
    law->recipe = EXACT_RECIPE;
    if (law->unit <= 0x1p-20 && find_positions(seen, law, ret_positions))
        return true;
    law->recipe = FLOAT_RECIPE;
    return find_positions(seen, law, ret_positions);
}
