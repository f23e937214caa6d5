#include "recognise/row_position.h"

#include "numerics/dd.h"
#include "recognise/observation.h"
#include "recognise/proposal.h"
#include "recognise/quick_cosine.h"

#include <math.h>

#define INTERVALS_MAX 192
#define POSITION_MAX  0x1p21 /* positions beyond are not looked for */
#define PERIODS_MAX   40     /* of the slowest column: as many positions look alike to it */
#define PRODUCT_ERROR 1.2e-7 /* relative: of an angle whose frequency is 1 */
#define ARC_ERROR     3e-8
#define BESIDE        1e-13 /* relative: float64 moves frequencies, and positions seem moved */
#define FEWER_DIGITS  5     /* that tell a number beside an interval from one within it */

typedef struct interval {
    double low, high;
} interval;

typedef struct intervals {
    interval items[INTERVALS_MAX];
    size_t count;
    bool full; /* there were more */
} intervals;

void pe_row_law_add(pe_row_law *law, uint64_t column, double frequency, bool sine)
{
    if (law->count < PE_ROW_SIGNALS_MAX)
        law->signals[law->count++] = (pe_row_signal){column, frequency, sine};
}

/* The arc cosine to ARC_ERROR (Abramowitz and Stegun 4.4.46); improved once if it is to be
 * `fine`. */
static double arc_cosine(double x, bool fine)
{
    static const double TERMS[] = {-0.0012624911, 0.0066700901, -0.0170881256, 0.0308918810,
                                   -0.0501743046, 0.0889789874, -0.2145988016, 1.5707963050};
    const double size = fmin(fabs(x), 1);
    double sum = 0;
    for (size_t i = 0; i < PE_COUNT(TERMS); i++)
        sum = sum * size + TERMS[i];
    double angle = sum * sqrt(1 - size);
    angle = x < 0 ? PE_TURN / 2 - angle : angle;
    if (fine && size < 0.999999)
        angle += (pe_quick_cosine(angle, 0) - x) / sqrt(1 - size * size);
    return angle;
}

/* Add what two intervals have in common; they come in rising order. */
static void add_common(intervals *list, interval one, interval other)
{
    /* by comparisons: fmin and fmax are calls, and were a tenth of all searches */
    const interval both = {one.low > other.low ? one.low : other.low,
                           one.high < other.high ? one.high : other.high};
    interval *last = list->count > 0 ? &list->items[list->count - 1] : NULL;
    if (both.low > both.high)
        return;
    if (last && both.low <= last->high)
        last->high = both.high > last->high ? both.high : last->high;
    else if (list->count < INTERVALS_MAX)
        list->items[list->count++] = both;
    else
        list->full = true;
}

/* Where within `from` a column has an entry whose arc cosine is from `least` to `most`. */
static void narrow_interval(const pe_row_signal *signal, interval from, double relative,
                            interval arc, intervals *ret)
{
    const double w = signal->frequency, far = fmax(fabs(from.low), fabs(from.high));
    const double error = relative * w * far + ARC_ERROR * (relative > 1e-12);
    const double shift = signal->sine ? PE_TURN / 4 : 0;
    if (error >= arc.low && arc.high + error >= PE_TURN / 2) { /* anywhere, whatever the turn */
        add_common(ret, from, from);
        return;
    }
    double turn = ceil((w * from.low - error - shift - arc.high) / PE_TURN);
    const double last = floor((w * from.high + error - shift + arc.high) / PE_TURN);
    while (turn <= last && !ret->full) {
        const double middle = shift + turn * PE_TURN;
        turn++;
        add_common(ret, from,
                   (interval){(middle - arc.high - error) / w, (middle - arc.low + error) / w});
        add_common(ret, from,
                   (interval){(middle + arc.low - error) / w, (middle + arc.high + error) / w});
    }
}

/* The arc cosines of what an entry may have been before it was rounded. False: of none. */
static bool find_arc(const pe_row_law *law, double entry, interval *ret_arc)
{
    const bool fine = law->recipe<1e-12, coarse = law->unit> 0x1p-20;
    const double value = entry / law->amplitude;
    const double units = fine || coarse ? 0.51 : 1.1; /* a library's function is off by one */
    const double error = units * law->unit * fmax(fabs(value), 0x1p-14) + 0x1p-50 + law->grain +
                         (coarse && !fine ? 0x1p-22 : 0);
    if (!(fabs(value) <= 1 + error))
        return false;
    *ret_arc = (interval){value + error >= 1 ? 0 : arc_cosine(value + error, fine),
                          value - error <= -1 ? PE_TURN / 2 : arc_cosine(value - error, fine)};
    return true;
}

/* The interval that is most likely the right one. */
static pe_row_position choose_interval(const intervals *left, bool any)
{
    pe_row_position best = {.found = false};
    double least = INFINITY;
    for (size_t i = 0; i < left->count; i++) {
        const interval *own = &left->items[i];
        const double middle = (own->low + own->high) / 2;
        const bool whole = any || floor(own->high) >= ceil(own->low);
        const double cost = fabs(middle) + (whole ? 0 : POSITION_MAX);
        if (cost < least) {
            least = cost;
            best = (pe_row_position){true, own->low, own->high};
        }
    }
    return best;
}

pe_row_position pe_row_position_fit(const pe_row_law *law, const double *row)
{
    intervals lists[2], *now = &lists[0], *next = &lists[1];
    const double period = PE_TURN / law->signals[0].frequency;
    const double most = fmin(POSITION_MAX, PERIODS_MAX * period);
    now->items[0] = (interval){law->even ? 0 : -most, most};
    now->count = 1;
    for (size_t i = 0; i < law->count && now->count > 0; i++) {
        const pe_row_signal *signal = &law->signals[i];
        interval arc;
        if (!find_arc(law, row[signal->column], &arc))
            return (pe_row_position){.found = false};
        next->count = 0;
        next->full = false;
        const double relative =
            signal->frequency == 1 ? fmin(law->recipe, PRODUCT_ERROR) : law->recipe;
        for (size_t k = 0; k < now->count; k++)
            narrow_interval(signal, now->items[k], relative, arc, next);
        if (next->full)
            return (pe_row_position){.found = false};
        intervals *kept = now;
        now = next;
        next = kept;
    }
    return choose_interval(now, law->any);
}

double pe_row_position_number(pe_row_position position)
{
    const double middle = (position.low + position.high) / 2, whole = rint(middle);
    const double half = (position.high - position.low) / 2;
    if (whole >= position.low && whole <= position.high)
        return whole + 0.0; /* no negative zero */
    const double within = pe_find_decimal(middle, fmax(half / fabs(middle), 1e-16));
    const double beside = pe_find_decimal(middle, BESIDE);
    return pe_count_digits(beside) + FEWER_DIGITS <= pe_count_digits(within) ? beside : within;
}
