/* The integer encoding: the position itself. */
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "positions/column.h"
#include "positions/positions.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const pe_parameter PARAMETERS[] = {PE_POSITION_PARAMETERS};

static const pe_tensor_help TENSORS[] = {{"encoding", "[n, 1]", "the position of each row"}};

typedef struct integer {
    pe_positions positions;
    pe_dtype dtype;
} integer;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    double low, high;
    integer *state = ret_state;
    state->positions = pe_positions_read(values, reterr);
    state->dtype = pe_requested_dtype(values);
    pe_positions_range(&state->positions, &low, &high);
    pe_check_magnitude(state->dtype, "the positions", fmax(fabs(low), fabs(high)), reterr);
    pe_plan_add(plan, "encoding", state->dtype, 2, (uint64_t[]){state->positions.count, 1});
    pe_plan_price(plan, 1);
}

static void copy_listed(const pe_column *column, uint64_t row, size_t count,
                        double *ret_numbers)
{
    const pe_positions *positions = column->source;
    memcpy(ret_numbers, positions->list + row, count * sizeof *ret_numbers);
}

static void add_exactly(const pe_column *column, uint64_t row, size_t count,
                        double *ret_numbers)
{
    const pe_positions *positions = column->source;
    double first = positions->offset + (double)row * positions->step;
    pe_kernel_get()->lines->exact(first, positions->step, count, ret_numbers);
}

static void add_floats(const pe_column *column, uint64_t row, size_t count, void *dst)
{
    const pe_positions *positions = column->source;
    double first = positions->offset + (double)row * positions->step;
    pe_kernel_get()->lines->exact_16(column->dtype, (float)first, (float)positions->step, count,
                                     dst);
}

static void add_in_double_double(const pe_column *column, uint64_t row, size_t count,
                                 double *ret_numbers)
{
    const pe_positions *positions = column->source;
    pe_kernel_get()->lines->sums(positions->offset, positions->step, (double)row, count,
                                 column->dtype != PE_F64, ret_numbers);
}

static void add_one_by_one(const pe_column *column, uint64_t row, size_t count,
                           double *ret_numbers)
{
    for (size_t i = 0; i < count; i++)
        ret_numbers[i] =
            pe_narrow_to_double(column->dtype, pe_position_get(column->source, row + i));
}

/* Whether the offset, all multiples of the step and all positions are whole multiples of one
 * power of two, none above 2^bits times that: then floating-point numbers of so many bits hold
 * them. */
static bool have_bits(const pe_positions *positions, int bits)
{
    double extent = (double)positions->count * fabs(positions->step);
    double unit = ldexp(1, ilogb(fabs(positions->offset) + extent + 0x1p-100) + 2 - bits);
    return fmod(positions->offset, unit) == 0 && fmod(positions->step, unit) == 0;
}

#define LEAST_STEP 0x1p-900 /* the last bits of smaller ones may underflow */

static void fill(const void *context, pe_window window, void *dst)
{
    const integer *state = context;
    const pe_positions *positions = &state->positions;
    pe_column column = {.dtype = state->dtype,
                        .monotone = !positions->list,
                        .source = positions,
                        .numbers = add_in_double_double};
    if (positions->list)
        column.numbers = copy_listed;
    else if (have_bits(positions, DBL_MANT_DIG))
        column.numbers = add_exactly;
    else if (fabs(positions->step) < LEAST_STEP)
        column.numbers = add_one_by_one;
    if (!positions->list && pe_dtype_size(state->dtype) == sizeof(uint16_t) &&
        have_bits(positions, FLT_MANT_DIG))
        column.elements = add_floats;
    pe_column_fill(&column, window.first, window.rows, dst);
}

const pe_scheme pe_scheme_integer = {
    .info =
        {
            .name = "integer",
            .title = "Integer positions",
            .summary = "The position as a number: the simplest encoding, but unbounded.",
            .family = "absolute",
            .keywords = "index, position ids, counter",
            .formula = "encoding[r, 0] = k, where k = offset + r * step or positions[r]",
            .convention = "the position itself; positions may be negative or fractional",
            .reference =
                "baseline; arXiv:1706.03762, section 3.5, has the encoding that replaced it",
            .example = "length=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .state_size = sizeof(integer),
    .read = read,
    .fill = fill,
};
