/* Entries from anchors with an error bound; those that it leaves uncertain from exact phases.
 */
#include "trained/projection.h"

#include "kernels/intervals.h"
#include "kernels/kernel.h"
#include "kernels/store.h"
#include "numerics/dtype.h"
#include "numerics/fixed.h"
#include "numerics/limbs.h"
#include "numerics/phase.h"

#include <math.h>
#include <string.h>

bool pe_projection_prepare(pe_projection *projection, pe_pace *pace)
{
    const pe_points *points = &projection->points;
    size_t count = projection->count;
    projection->turns = NULL;
    if (points->coordinates)
        return true;
    projection->turns = pe_keep(pace, points->axes * count, sizeof *projection->turns);
    for (size_t a = 0; projection->turns && a < points->axes; a++) {
        const pe_fixed divisor = pe_fixed_from_double(pe_points_scale(points, a).divisor);
        for (size_t i = a * count; i < (a + 1) * count; i++)
            projection->turns[i] =
                pe_fixed_div(pe_fixed_from_double(projection->matrix[i]), divisor).part;
    }
    return projection->turns != NULL;
}

/* ---- phases ---- */

/* x · b · 2^shift modulo 1, in turns; bits below 2^-256 are cut off. */
static pe_wide product_turns(double x, double b, int shift)
{
    int x_exponent, b_exponent;
    dd product = dd_two_prod(frexp(x, &x_exponent), frexp(b, &b_exponent)); /* exactly */
    shift += x_exponent + b_exponent;
    return pe_wide_add(pe_fixed_from_double(ldexp(product.hi, shift)).part,
                       pe_fixed_from_double(ldexp(product.lo, shift)).part);
}

/* The phase of a column at a point of a grid, whose places are `wholes` as in pe_point_scale.
 */
static pe_wide grid_phase(const pe_projection *projection, const int64_t *wholes, size_t column)
{
    pe_wide phase = {{0, 0, 0, 0}};
    for (size_t a = 0; a < projection->points.axes; a++) {
        pe_wide turns = projection->turns[a * projection->count + column];
        phase = pe_wide_add(phase, pe_wide_mul_integer(turns, wholes[a]));
    }
    return phase;
}

/* The same to 128 bits, within 2^-108: for bounds of entries, which leave room for that. */
static pe_wide leading_phase(const pe_projection *projection, const int64_t *wholes,
                             size_t column)
{
    pe_uint128 phase = 0;
    for (size_t a = 0; a < projection->points.axes; a++) {
        const uint64_t *turns = projection->turns[a * projection->count + column].limb;
        phase += ((pe_uint128)turns[3] << 64 | turns[2]) * (pe_uint128)wholes[a];
    }
    return (pe_wide){{0, 0, (uint64_t)phase, (uint64_t)(phase >> 64)}};
}

static void find_wholes(const pe_projection *projection, uint64_t point, int64_t *ret_wholes)
{
    const pe_points *points = &projection->points;
    for (size_t a = 0; projection->turns && a < points->axes; a++) {
        pe_point_scale scale = pe_points_scale(points, a);
        double place = (double)pe_points_place(points, point, a);
        ret_wholes[a] = (int64_t)(scale.offset + scale.step * place);
    }
}

/* The phase of a column at a point that is not of a grid times 2^shift, modulo one turn. */
static pe_wide point_phase(const pe_projection *projection, uint64_t point, size_t column,
                           int shift)
{
    const pe_points *points = &projection->points;
    pe_wide phase = {{0, 0, 0, 0}};
    for (size_t a = 0; a < points->axes; a++) {
        double x = points->coordinates[point * points->axes + a];
        double b = projection->matrix[a * projection->count + column];
        phase = pe_wide_add(phase, product_turns(x, b, shift + projection->from_unit));
        if (projection->from_unit)
            phase = pe_wide_sub(phase, product_turns(1, b, shift));
    }
    return phase;
}

/* ---- one entry, exactly ---- */

/* A phase of a grid that is within 2^-230 of a multiple of a quarter turn is one: quotients
 * have been cut off. Elements are such that no other phase is that near. */
#define MARGIN ((pe_wide){{1ULL << 26, 0, 0, 0}})

#define NONE        (-10000)
#define SCALED_FROM (-100) /* binary exponents: phases below have too few bits left */

/* The largest binary exponent of a coordinate times its element; NONE if all are 0. */
static int find_exponent(const pe_projection *projection, uint64_t point, size_t column)
{
    const pe_points *points = &projection->points;
    int largest = NONE, x_exponent, b_exponent;
    for (size_t a = 0; a < points->axes; a++) {
        double x = points->coordinates[point * points->axes + a];
        double b = projection->matrix[a * projection->count + column];
        (void)frexp(x, &x_exponent);
        (void)frexp(b, &b_exponent);
        if (x != 0 && b != 0 && x_exponent + b_exponent > largest)
            largest = x_exponent + b_exponent;
    }
    return largest;
}

/* Write an entry whose phase is tiny: it is computed times a power of two. */
static void write_tiny(const pe_projection *projection, uint64_t point, size_t column,
                       bool cosine, int exponent, void *dst)
{
    const int shift = -20 - exponent;
    pe_wide phase = point_phase(projection, point, column, shift);
    bool negative = phase.limb[3] >> 63;
    dd angle = pe_phase_radians(negative ? pe_wide_negate(phase) : phase), sine, cosine_value;
    if (negative)
        angle = dd_neg(angle);
    double square = ldexp(angle.hi * angle.hi, -shift > -500 ? -2 * shift : -1000);
    cosine_value = (dd){1, -fmax(square / 2, 0x1p-200)};
    sine = angle.hi == 0 ? angle : dd_less(angle, square / 6);
    if (cosine)
        pe_round_dd(projection->dtype, angle.hi == 0 ? (dd){1, 0} : cosine_value, dst);
    else
        pe_round_scaled(projection->dtype, sine, -shift, dst);
}

static void write_exactly(const pe_projection *projection, uint64_t point, size_t column,
                          bool cosine, void *dst)
{
    dd parts[2]; /* sin, cos */
    if (!projection->turns && !projection->from_unit) {
        int exponent = find_exponent(projection, point, column);
        if (exponent != NONE && exponent < SCALED_FROM) {
            write_tiny(projection, point, column, cosine, exponent, dst);
            return;
        }
    }
    int64_t wholes[PE_POINT_AXES] = {0};
    find_wholes(projection, point, wholes);
    pe_wide phase = projection->turns ? grid_phase(projection, wholes, column)
                                      : point_phase(projection, point, column, 0);
    pe_phase_sincos(pe_phase_snap(phase, MARGIN), &parts[0], &parts[1]);
    pe_round_dd(projection->dtype, parts[cosine], dst);
}

/* ---- rows ---- */

/* Sines and cosines of up to PE_KERNEL_PAIRS columns of a point, each with bounds of it. */
typedef struct bounds {
    double low[2][PE_KERNEL_PAIRS], high[2][PE_KERNEL_PAIRS];
} bounds;

static void compute_bounds(const pe_projection *projection, uint64_t point, size_t first,
                           size_t count, bounds *ret_bounds)
{
    const pe_kernel *kernel = pe_kernel_get();
    uint64_t high[PE_KERNEL_PAIRS], low[PE_KERNEL_PAIRS];
    double parts[2][PE_KERNEL_PAIRS];
    pe_anchors_f64 anchors;
    int64_t wholes[PE_POINT_AXES] = {0};
    find_wholes(projection, point, wholes);
    for (size_t i = 0; i < count; i++) {
        pe_wide phase = projection->turns ? leading_phase(projection, wholes, first + i)
                                          : point_phase(projection, point, first + i, 0);
        high[i] = phase.limb[3];
        low[i] = phase.limb[2];
    }
    if (projection->dtype == PE_F64)
        kernel->anchor_f64(high, low, count, &anchors); /* within 2^-101 */
    else
        kernel->anchor(high, count, parts[0], parts[1]); /* within 0.62·2^-53 */
    for (size_t part = 0; part < 2; part++)
        for (size_t i = 0; i < count; i++)
            if (projection->dtype == PE_F64) {
                double value = part ? anchors.cos[i] : anchors.sin[i];
                double rest = part ? anchors.cos_rest[i] : anchors.sin_rest[i];
                ret_bounds->low[part][i] = value + (rest - 0x1p-100);
                ret_bounds->high[part][i] = value + (rest + 0x1p-100);
            } else {
                ret_bounds->low[part][i] = parts[part][i] - 0x1p-51;
                ret_bounds->high[part][i] = parts[part][i] + 0x1p-51;
            }
}

/* The sines, or the cosines, of a point from a column on. */
typedef struct point_columns {
    const pe_projection *projection;
    uint64_t point;
    size_t first;
    bool cosine;
} point_columns;

/* A pe_settle for the entries of point_columns. */
static void settle_entry(const void *context, size_t i, void *dst)
{
    const point_columns *own = context;
    write_exactly(own->projection, own->point, own->first + i, own->cosine, dst);
}

/* Write the sines, or the cosines, of some columns. */
static void write_part(point_columns own, size_t count, const bounds *entries, void *dst)
{
    pe_round_intervals(own.projection->dtype, entries->low[own.cosine],
                       entries->high[own.cosine], count, settle_entry, &own, dst);
}

/* Write columns [first, first + count) of a point, at most PE_KERNEL_PAIRS, to its row. */
static void write_columns(const pe_projection *projection, uint64_t point, size_t first,
                          size_t count, unsigned char *row)
{
    const size_t size = pe_dtype_size(projection->dtype);
    bounds entries;
    compute_bounds(projection, point, first, count, &entries);
    write_part((point_columns){projection, point, first, false}, count, &entries,
               row + first * size);
    write_part((point_columns){projection, point, first, true}, count, &entries,
               row + (projection->count + first) * size);
}

/* ---- lines of a grid ----
 *
 * The phase of a point is that of the first point of its line plus that of its place on the
 * last axis. All lines share the places, so their entries are rotated from the anchors of both:
 * an entry is within √2·(0.63 + 0.63) + 1 < 8 units of 2^-53, as the kernel wants it. */

/* Some columns of the rows of points [first, end). */
typedef struct grid_columns {
    const pe_projection *projection;
    uint64_t first, end;
    size_t column, count;
    bool nontemporal;
    unsigned char *dst; /* the row of the first point */
} grid_columns;

static pe_sincos find_anchors(const grid_columns *own, const int64_t *wholes,
                              pe_anchors *ret_anchors)
{
    uint64_t phases[PE_KERNEL_PAIRS];
    for (size_t i = 0; i < own->count; i++)
        phases[i] = leading_phase(own->projection, wholes, own->column + i).limb[3];
    pe_kernel_get()->anchor(phases, own->count, ret_anchors->sin, ret_anchors->cos);
    return pe_sincos_init(ret_anchors);
}

/* Write the rows of points [begin, end) of one line, whose places have the anchors `places`. */
static void write_run(const grid_columns *own, uint64_t begin, uint64_t end, pe_sincos line,
                      const pe_sincos *places)
{
    const pe_projection *projection = own->projection;
    const size_t size = pe_dtype_size(projection->dtype);
    const size_t row_bytes = 2 * projection->count * size;
    unsigned char *row = own->dst + (begin - own->first) * row_bytes;
    unsigned char *sines = row + own->column * size;
    const pe_rows rows = {sines, sines + projection->count * size, (ptrdiff_t)row_bytes, false};
    uint64_t unsettled =
        pe_kernel_get()
            ->rotate[projection->dtype](line, places, (size_t)(end - begin), own->count, &rows,
                                        NULL, (pe_rounding){0, own->nontemporal})
            .ahead;
    for (; unsettled; unsettled &= unsettled - 1) {
        unsigned r = (unsigned)__builtin_ctzll(unsettled);
        write_columns(projection, begin + r, own->column, own->count, row + r * row_bytes);
    }
}

/* Write what lies at places [place, place_end), at most PE_KERNEL_ROWS, of the last axis. */
static void write_places(const grid_columns *own, uint64_t place, uint64_t place_end)
{
    const pe_points *points = &own->projection->points;
    const size_t last = points->axes - 1;
    const uint64_t width = points->places[last];
    pe_anchors anchors[PE_KERNEL_ROWS], first;
    pe_sincos places[PE_KERNEL_ROWS];
    for (uint64_t k = place; k < place_end; k++) {
        int64_t wholes[PE_POINT_AXES] = {0};
        wholes[last] = (int64_t)(pe_points_scale(points, last).step * (double)k);
        places[k - place] = find_anchors(own, wholes, &anchors[k - place]);
    }
    for (uint64_t line = own->first / width * width; line < own->end; line += width) {
        uint64_t begin = line + place, end = line + place_end;
        int64_t wholes[PE_POINT_AXES] = {0};
        begin = begin > own->first ? begin : own->first;
        end = end < own->end ? end : own->end;
        if (begin >= end)
            continue;
        find_wholes(own->projection, line, wholes);
        write_run(own, begin, end, find_anchors(own, wholes, &first),
                  places + (begin - line - place));
    }
}

/* Whether rows of points have fewer lines and places than half of their number. */
static bool share_places(const pe_projection *projection, uint64_t first, uint64_t rows)
{
    if (!projection->turns || projection->dtype == PE_F64)
        return false;
    uint64_t width = projection->points.places[projection->points.axes - 1];
    return 2 * (width + (first + rows - 1) / width - first / width + 1) <= rows;
}

static void write_lines(const pe_projection *projection, uint64_t first, uint64_t rows,
                        unsigned char *dst)
{
    const size_t columns = projection->count, size = pe_dtype_size(projection->dtype);
    const uint64_t width = projection->points.places[projection->points.axes - 1];
    const pe_kernel *nontemporal = pe_streaming_kernel(rows * 2 * columns * size);
    for (size_t f = 0; f < columns; f += PE_KERNEL_PAIRS) {
        const size_t count = columns - f < PE_KERNEL_PAIRS ? columns - f : PE_KERNEL_PAIRS;
        const grid_columns own = {projection,          first, first + rows, f, count,
                                  nontemporal != NULL, dst};
        for (uint64_t x = 0; x < width; x += PE_KERNEL_ROWS)
            write_places(&own, x, width - x < PE_KERNEL_ROWS ? width : x + PE_KERNEL_ROWS);
    }
    pe_store_end(nontemporal);
}

void pe_projection_write(const pe_projection *projection, uint64_t first, uint64_t rows,
                         void *dst)
{
    const size_t columns = projection->count;
    const size_t row_bytes = 2 * columns * pe_dtype_size(projection->dtype);
    unsigned char *row = dst;
    if (share_places(projection, first, rows)) {
        write_lines(projection, first, rows, dst);
        return;
    }
    for (uint64_t p = first; p < first + rows; p++, row += row_bytes)
        for (size_t f = 0; f < columns; f += PE_KERNEL_PAIRS)
            write_columns(projection, p, f,
                          columns - f < PE_KERNEL_PAIRS ? columns - f : PE_KERNEL_PAIRS, row);
}
