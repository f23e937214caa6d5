#include "identify/error_bound.h"

#include "identify/misfits.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <math.h>
#include <stdlib.h>

#define BLOCK_ENTRIES    ((uint64_t)1 << 16)
#define LINE_MAX_ENTRIES ((uint64_t)1 << 20) /* longer lines are not sampled */
#define F64_UNIT         0x1p-52             /* of float64's numbers at 1 */
#define FAR              8                   /* times what an entry may be off by */

/* What an entry is the sine or cosine of, in radians, and the amplitude. */
typedef struct turned {
    double angle, amplitude; /* amplitude 0: it is neither */
    double roundings;        /* of what is multiplied, beyond a few */
    double wide_roundings;   /* of these, those that float64 arithmetic has as well */
    double least; /* the least size of what is rounded, however small the entry. 0 of a wave: a
                   * sine near 0 has the error of its angle, and a relative one */
} turned;

/* The larger of two numbers, none of which is NaN: fmax, which is a call, bears that. */
static double find_larger(double one, double other)
{
    return one > other ? one : other;
}

static turned find_turned(const pe_error_bound *bound, uint64_t row, uint64_t column)
{
    const pe_observation *seen = bound->seen;
    if (bound->waves) {
        const bool is_row = seen->view.rank == 1; /* a vector is the one row of the waves */
        const double angle = bound->waves->items[is_row ? row : column].angle *
                             fabs(pe_exact_position(bound->waves, is_row ? 0 : row));
        /* float32 exponentials move frequencies as much again */
        return (turned){angle, fabs(bound->waves->amplitude), 4 * angle, 0, 0};
    }
    if (bound->amplitude > 0)
        return (turned){bound->angle, bound->amplitude, bound->roundings, bound->roundings,
                        bound->amplitude};
    const pe_observed_wave *wave =
        seen->waves && column < seen->columns ? &seen->waves[column] : NULL;
    if (wave && wave->found) /* which may turn by more than a turn from row to row */
        return (turned){
            find_larger(wave->frequency * ((double)row + bound->first_distance), bound->angle),
            wave->amplitude, 0, 0, 0};
    const double one = bound->angle > 0 ? 1 : 0;
    return (turned){bound->angle, one, bound->roundings, 0, one};
}

/* How far an entry may be off that was computed in arithmetic with this unit, and whose largest
 * neighbours have this size: the angle's relative error, and some roundings. */
static double compute_bound(turned at, double exact, double unit)
{
    return (4 * at.angle + 8 + at.roundings) * unit * find_larger(fabs(exact), at.amplitude);
}

/* How the numbers of a table were rounded: times a factor, and moved by a constant, beside
 * which the grain is no other one. */
typedef struct rounding {
    double unit, factor, constant, grain, angle_unit;
    int least; /* numbers below 2 to this power have fewer digits */
} rounding;

static rounding find_rounding(const pe_view *view)
{
    pe_dtype dtype;
    const bool half = pe_element_is_real(view->element, &dtype) && dtype == PE_F16;
    const double unit = pe_observation_unit(view);
    const double factor = view->factor != 0 ? view->factor : 1;
    return (rounding){unit,
                      factor,
                      view->constant,
                      find_larger(view->grain - 0.5 * unit * fabs(view->constant / factor), 0),
                      view->angle_unit,
                      pe_dtypes[half ? PE_F16 : PE_F32].least_exponent};
}

/* How far an entry may be off by the rounding of its angle. */
static double bound_angle(const rounding *own, turned at)
{
    return 0.5 * own->angle_unit * at.angle * at.amplitude;
}

/* How far an entry may be off by arithmetic with this unit, and by rounding it so often. */
static double bound_error(const rounding *own, double found, double exact, turned at,
                          double unit, double times)
{
    const double beside = own->constant / own->factor;
    return compute_bound(at, exact, unit) + bound_angle(own, at) + own->grain +
           0.5 * times * own->unit * find_larger(fabs(found + beside), ldexp(1, own->least));
}

/* How far an entry is off, in what it may be off by. */
static double measure_error(double found, double exact, double allowed)
{
    if (found == exact)
        return 0;
    return isfinite(found) && isfinite(exact) ? fabs(found - exact) / allowed : INFINITY;
}

/* ---- a sample ---- */

/* Reading some lines of a table and of what it may be. */
typedef struct line_reader {
    const pe_error_bound *bound;
    pe_stream *stream;
    pe_dtype dtype;
    double *found, *values; /* [columns] */
    unsigned char *exact;   /* [columns], elements */
} line_reader;

/* A line of the table, which may be among those that have been read already; NULL if it cannot
 * be read. */
static const double *read_found(const line_reader *lines, uint64_t line)
{
    const pe_observation *seen = lines->bound->seen;
    if (line < seen->sampled)
        return seen->sample + line * seen->columns;
    return pe_view_read(&seen->flat, line, 1, lines->found) ? lines->found : NULL;
}

/* Whether a line is near; most of its entries suffice. */
static bool is_close_line(line_reader *lines, uint64_t line, bool *ret_read)
{
    const pe_observation *seen = lines->bound->seen;
    uint64_t columns = seen->flat.shape[1], far = 0;
    const rounding own = find_rounding(&seen->view);
    size_t size = (size_t)(columns * pe_dtype_size(lines->dtype));
    const double *found = read_found(lines, line);
    *ret_read = *ret_read && found;
    if (!*ret_read || !pe_stream_read_fully(lines->stream, line * size, lines->exact, size))
        return false;
    pe_read_row(lines->values, lines->dtype, lines->exact, (size_t)columns);
    for (uint64_t column = 0; column < columns && far <= columns / 8; column++) {
        const double allowed = bound_error(
            &own, found[column], lines->values[column], find_turned(lines->bound, line, column),
            lines->bound->low_precision ? 0x1p-7 : 0x1p-23, 2); /* both are */
        far += !(measure_error(found[column], lines->values[column], allowed) <= 1);
    }
    return far <= columns / 8;
}

/* The lines that are sampled: of a matrix among the first rows, whose waves have been seen, of
 * others among all. */
static uint64_t sampled_lines(const pe_observation *seen)
{
    return seen->sampled > 0 ? seen->sampled : seen->flat.shape[0];
}

bool pe_check_sampled_lines(pe_request *request, size_t tensor, const pe_error_bound *bound,
                            uint64_t count, bool *ret_read)
{
    const pe_observation *seen = bound->seen;
    line_reader lines = {.bound = bound, .dtype = pe_request_tensor(request, tensor)->dtype};
    pe_error error;
    *ret_read = true;
    if (seen->flat.rank == 0 || seen->flat.shape[1] > LINE_MAX_ENTRIES)
        return true;
    size_t columns = (size_t)seen->flat.shape[1];
    uint64_t far = 0;
    lines.found = malloc(columns * sizeof *lines.found);
    lines.values = malloc(columns * sizeof *lines.values);
    lines.exact = malloc(columns * sizeof(double));
    *ret_read = lines.found && lines.values && lines.exact &&
                pe_stream_new(request, tensor, columns * pe_dtype_size(lines.dtype),
                              seen->runner, &lines.stream, &error) == PE_OK;
    for (uint64_t i = 0; *ret_read && 4 * far <= count && i < count; i++) {
        uint64_t line = count > 1 ? i * (sampled_lines(seen) - 1) / (count - 1) : 0;
        far += !is_close_line(&lines, line, ret_read);
    }
    pe_stream_free(lines.stream);
    free(lines.found);
    free(lines.values);
    free(lines.exact);
    return *ret_read && 4 * far <= count;
}

/* ---- all entries ---- */

typedef struct counts {
    pe_misfit_counts f32, f64; /* the latter of tables in float64 */
    bool is_f64;               /* all entries are what float64 arithmetic gives, rounded once */
} counts;

/* The most that rounding has moved a number, which was at most `most` off the exact one, and
 * became `found`. */
static double bound_rounding(const rounding *own, double found, double exact, double most)
{
    int exponent;
    const double number = fabs(found * own->factor + own->constant);
    const double size = fabs(exact * own->factor + own->constant);
    const double fraction = frexp(number, &exponent);
    if (number == 0 || exponent - 1 <= own->least)
        exponent = own->least + 1;
    else if (fraction == 0.5 && size + most * fabs(own->factor) < number)
        exponent--; /* it came from below, where floats are denser */
    return ldexp(0.5 * own->unit, exponent - 1) / fabs(own->factor);
}

/* How far off float64 arithmetic leaves an entry of this size: the angle's relative error,
 * which is that of an exponent where frequencies are exponentials, and some roundings. */
static double bound_computed(turned at, double size)
{
    return F64_UNIT * (16 * at.angle * find_larger(size, at.amplitude) +
                       (8 + at.wide_roundings) * find_larger(size, at.least));
}

/* How far an entry may be off by float64 arithmetic and one rounding to the table's dtype. */
static double bound_error_f64(const rounding *own, double found, double exact, turned at)
{
    const double computed = bound_computed(at, fabs(exact));
    const double once = own->unit == F64_UNIT ? 0 : bound_rounding(own, found, exact, computed);
    return once + computed + bound_angle(own, at) + own->grain;
}

/* Count an entry that is not the exact one. False: it does not fit. */
static bool count_entry(pe_misfit_counts *self, uint64_t column, double found, double exact,
                        double allowed)
{
    const double off = measure_error(found, exact, allowed);
    self->found.vain += found != 0 && fabs(found) <= allowed;
    if (off > 1)
        pe_misfits_note(self, column, off > FAR);
    return off <= 1;
}

/* `rounded`: the exact entries have been rounded to the table's dtype. */
static void count_in_rows(const pe_error_bound *bound, uint64_t first, uint64_t rows,
                          bool rounded, const double *found, const double *exact, counts *ret)
{
    const uint64_t columns = bound->seen->flat.shape[1];
    const rounding own = find_rounding(&bound->seen->view);
    const double times = rounded && bound->seen->view.factor == 0 ? 2 : 1;
    for (uint64_t row = 0, i = 0; row < rows; row++) {
        uint64_t zeros = 0;
        for (uint64_t column = 0; column < columns; column++, i++) {
            zeros += found[i] == 0;
            if (found[i] == exact[i])
                continue;
            turned at = find_turned(bound, first + row, column);
            count_entry(&ret->f32, column, found[i], exact[i],
                        bound_error(&own, found[i], exact[i], at, 0x1p-23, times));
            if (!ret->is_f64 && own.unit != F64_UNIT)
                continue; /* how many there are is not asked */
            const double allowed = bound_error_f64(&own, found[i], exact[i], at);
            if (!count_entry(&ret->f64, column, found[i], exact[i], allowed))
                ret->is_f64 = false;
        }
        pe_misfits_end_row(&ret->f32, zeros);
        pe_misfits_end_row(&ret->f64, zeros);
    }
}

/* The side of exact entries. */
typedef struct exact_side {
    pe_request *request;
    pe_dtype dtype;
    pe_stream *stream;
    unsigned char *elements; /* of a block */
} exact_side;

/* Read exact rows. False: they cannot be read. */
static bool read_exact(exact_side *side, uint64_t row, uint64_t rows, uint64_t columns,
                       double *ret_entries)
{
    const size_t size = pe_dtype_size(side->dtype), count = (size_t)(rows * columns);
    if (!pe_stream_read_fully(side->stream, row * columns * size, side->elements, count * size))
        return false;
    pe_read_row(ret_entries, side->dtype, side->elements, count);
    return true;
}

/* Open a request's tensor instead of what the side has. Both are computations of their own for
 * the runner. */
static bool open_side(exact_side *side, pe_request *request, size_t tensor,
                      const pe_runner *runner, pe_error *reterr)
{
    if (side->request)
        pe_request_end(side->request, runner);
    pe_stream_free(side->stream);
    side->stream = NULL;
    side->request = request;
    side->dtype = pe_request_tensor(request, tensor)->dtype;
    bool good =
        pe_stream_new(request, tensor, PE_STREAM_FAST, runner, &side->stream, reterr) == PE_OK;
    return pe_request_begin(request, runner, reterr) && good;
}

static void close_side(exact_side *side, const pe_runner *runner)
{
    if (side->request)
        pe_request_end(side->request, runner);
    pe_stream_free(side->stream);
    free(side->elements);
}

/* Whether the rest need not be compared in f64. */
static bool is_f64_decided(const pe_error_bound *bound, const exact_side *side,
                           const pe_request *narrow, const counts *counted)
{
    return bound->amplitude > 0 && !counted->is_f64 && side->request != narrow;
}

bool pe_count_misfits(pe_request *wide, pe_request *narrow, size_t tensor,
                      const pe_error_bound *bound, const pe_runner *runner, pe_misfits *ret_f32,
                      pe_misfits *ret_f64, bool *ret_is_f64, pe_error *reterr)
{
    const pe_view *view = &bound->seen->flat;
    uint64_t rows = view->shape[0], columns = view->shape[1];
    uint64_t at_once = columns < BLOCK_ENTRIES ? BLOCK_ENTRIES / columns : 1;
    double *found = malloc((size_t)(at_once * columns) * sizeof *found);
    double *exact = malloc((size_t)(at_once * columns) * sizeof *exact);
    exact_side side = {.elements = malloc((size_t)(at_once * columns) * sizeof *exact)};
    counts counted = {.is_f64 = true};
    const bool narrow_counts = pe_misfits_init(&counted.f32, columns);
    const bool wide_counts = pe_misfits_init(&counted.f64, columns);
    bool good = narrow_counts && wide_counts && found && exact && side.elements;
    if (!good)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the comparison");
    good = good && open_side(&side, wide, tensor, runner, reterr);
    for (uint64_t row = 0, now; good && row < rows; row += now) {
        now = rows - row < at_once ? rows - row : at_once;
        good = row == 0 ||
               pe_may_continue(runner, wide->values.scheme, (double)row / (double)rows, reterr);
        if (good && is_f64_decided(bound, &side, narrow, &counted))
            good = open_side(&side, narrow, tensor, runner, reterr);
        if (!good)
            break;
        good =
            pe_view_read(view, row, now, found) && read_exact(&side, row, now, columns, exact);
        if (good)
            count_in_rows(bound, row, now, side.request == narrow, found, exact, &counted);
        else
            pe_error_add(reterr, PE_MALFORMED, "body", "", "a table that can be read");
    }
    close_side(&side, runner);
    free(found);
    free(exact);
    if (good) {
        *ret_f32 = pe_misfits_found(&counted.f32);
        *ret_f64 = pe_misfits_found(&counted.f64);
        *ret_is_f64 = counted.is_f64;
    }
    pe_misfits_done(&counted.f32);
    pe_misfits_done(&counted.f64);
    return good;
}
