#include "identify/judge.h"

#include "numerics/dtype.h"
#include "requests/request.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define SAMPLED_ROWS  9
#define BLOCK_ENTRIES ((uint64_t)1 << 16)

/* The unit in the last place of the table's dtype at 1; of integers 0. */
static double unit_of(const pe_view *view)
{
    static const double UNITS[] = {
        [PE_F32] = 0x1p-23, [PE_F64] = 0x1p-52, [PE_F16] = 0x1p-10, [PE_BF16] = 0x1p-7};
    pe_dtype dtype;
    return pe_element_is_real(view->element, &dtype) ? UNITS[dtype] : 0;
}

/* The angle of an entry, in radians: of what is no wave 0. */
static double angle_at(const pe_bound *bound, uint64_t row, uint64_t column)
{
    const pe_seen *seen = bound->seen;
    const pe_seen_wave *wave =
        seen->waves && column < seen->columns ? &seen->waves[column] : NULL;
    return wave && wave->found ? wave->frequency * ((double)row + bound->reach) : 0;
}

/* How far an entry may be off that was computed in arithmetic with this unit, and whose largest
 * neighbours have this size: the angle's relative error, and some roundings. */
static double bound_at(double angle, double exact, double unit)
{
    return (4 * angle + 8) * unit * fmax(fabs(exact), angle > 0 ? 1 : 0);
}

/* Whether an entry is as near as arithmetic with this unit, and rounding to the table's dtype,
 * would bring it. */
static bool is_near(double found, double exact, double angle, double unit, double rounding)
{
    if (found == exact)
        return true;
    double error = fabs(found - exact);
    return error <= bound_at(angle, exact, unit) + 0.5 * rounding * fmax(fabs(found), 0x1p-14);
}

/* ---- a sample ---- */

bool pe_judge_read(pe_stream *stream, uint64_t offset, void *dst, size_t size)
{
    size_t done = 0, got = 1;
    while (done < size && got > 0)
        done += got = pe_stream_read(stream, offset + done, (char *)dst + done, size - done);
    return done == size;
}

/* Whether a row of the sample is near; most of its entries suffice. */
static bool row_is_near(pe_stream *stream, const pe_tensor *tensor, const pe_bound *bound,
                        uint64_t row, double *values, unsigned char *exact)
{
    const pe_seen *seen = bound->seen;
    uint64_t columns = seen->columns, far = 0;
    double unit = fmax(0x1p-23, unit_of(&seen->view));
    size_t size = (size_t)(columns * pe_dtype_size(tensor->dtype));
    if (!pe_judge_read(stream, row * size, exact, size))
        return false;
    pe_read_row(values, tensor->dtype, exact, (size_t)columns);
    for (uint64_t column = 0; column < columns; column++)
        far += !is_near(pe_seen_entry(seen, row, column), values[column],
                        angle_at(bound, row, column), unit, unit_of(&seen->view));
    return far <= columns / 16;
}

bool pe_judge_sample(pe_request *request, size_t tensor, const pe_bound *bound, bool *ret_read)
{
    const pe_tensor *shape = pe_request_tensor(request, tensor);
    const pe_seen *seen = bound->seen;
    pe_stream *stream = NULL;
    pe_error error;
    *ret_read = true;
    if (seen->sampled == 0)
        return true;
    double *values = malloc((size_t)seen->columns * sizeof *values);
    unsigned char *exact = malloc((size_t)seen->columns * sizeof(double));
    size_t near = 0;
    *ret_read = values && exact &&
                pe_stream_new(request, tensor, (size_t)1 << 16, NULL, &stream, &error) == PE_OK;
    for (size_t i = 0; *ret_read && i < SAMPLED_ROWS; i++)
        near += row_is_near(stream, shape, bound, i * (seen->sampled - 1) / (SAMPLED_ROWS - 1),
                            values, exact);
    pe_stream_free(stream);
    free(values);
    free(exact);
    return *ret_read && near >= SAMPLED_ROWS - 2;
}

/* ---- all entries ---- */

typedef struct counts {
    uint64_t f32, f64;
} counts;

static void judge_rows(const pe_bound *bound, uint64_t first, uint64_t rows, uint64_t columns,
                       const double *found, const double *exact, counts *ret)
{
    const double rounding = unit_of(&bound->seen->view);
    const bool wide = rounding == 0x1p-52;
    for (uint64_t row = 0, i = 0; row < rows; row++)
        for (uint64_t column = 0; column < columns; column++, i++) {
            if (found[i] == exact[i])
                continue;
            double angle = angle_at(bound, first + row, column);
            ret->f32 += !is_near(found[i], exact[i], angle, 0x1p-23, rounding);
            double error = fabs(found[i] - exact[i]);
            double once = wide ? 0 : 0.5 * rounding * fmax(fabs(found[i]), DBL_MIN);
            ret->f64 +=
                !(error <= once + (3 * angle + 3) * 0x1p-52 * fmax(fabs(exact[i]), angle > 0));
        }
}

bool pe_judge_all(pe_request *wide, size_t tensor, const pe_bound *bound,
                  const pe_runner *runner, uint64_t *ret_f32, uint64_t *ret_f64,
                  pe_error *reterr)
{
    static const pe_runner none = {.context = NULL};
    const pe_view *view = &bound->seen->view;
    uint64_t rows = bound->seen->rows, columns = bound->seen->columns;
    uint64_t at_once = columns < BLOCK_ENTRIES ? BLOCK_ENTRIES / columns : 1;
    double *found = malloc((size_t)(at_once * columns) * sizeof *found);
    double *exact = malloc((size_t)(at_once * columns) * sizeof *exact);
    pe_stream *stream = NULL;
    counts counted = {0, 0};
    bool good = found && exact;
    if (!good)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the comparison");
    good =
        good && pe_stream_new(wide, tensor, PE_STREAM_FAST, runner, &stream, reterr) == PE_OK;
    good = pe_request_begin(wide, runner, reterr) && good;
    for (uint64_t row = 0, now; good && row < rows; row += now) {
        now = rows - row < at_once ? rows - row : at_once;
        good = row == 0 || pe_may_go_on(runner ? runner : &none, &wide->values,
                                        (double)row / (double)rows, reterr);
        if (!good)
            break;
        good = pe_view_read(view, row, now, found) &&
               pe_judge_read(stream, row * columns * sizeof *exact, exact,
                             (size_t)(now * columns) * sizeof *exact);
        if (good)
            judge_rows(bound, row, now, columns, found, exact, &counted);
        else
            pe_error_add(reterr, PE_MALFORMED, "body", "", "a table that can be read");
    }
    pe_request_end(wide, runner);
    pe_stream_free(stream);
    free(found);
    free(exact);
    *ret_f32 = counted.f32;
    *ret_f64 = counted.f64;
    return good;
}
