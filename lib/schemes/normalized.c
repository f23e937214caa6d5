/* The [0, 1] encoding: the position divided by the last one. */
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "positions/column.h"
#include "positions/positions.h"

static const pe_parameter PARAMETERS[] = {
    {.name = "length",
     .type = PE_INTEGER,
     .required = true,
     .minimum = 1,
     .maximum = PE_POSITION_MAX,
     .unit = "rows",
     .counts_rows = true,
     .help = "number of rows"},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[n, 1]", "from 0 in row 0 to 1 in row n-1"}};

typedef struct normalized {
    double last; /* position; 1 for a single row, which is 0 */
    pe_dtype dtype;
} normalized;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    (void)reterr;
    normalized *state = ret_state;
    uint64_t length = (uint64_t)pe_get_integer(values, "length");
    state->last = length > 1 ? (double)(length - 1) : 1;
    state->dtype = pe_requested_dtype(values);
    pe_plan_add(plan, "encoding", state->dtype, 2, (uint64_t[]){length, 1});
    pe_plan_price(plan, 1);
}

/* The middle between two numbers of a short dtype is an integer below 2^25 times a power of
 * two. A quotient by at most 2^28 that is not such a middle differs from it by more than 2^-53
 * of itself, so that its nearest double is not one, either, and may be rounded again. */
#define TWICE_MAX 0x1p28

static void divide(const pe_column *column, uint64_t row, size_t count, double *ret_numbers)
{
    const double last = *(const double *)column->source;
    const bool odd = column->dtype != PE_F64 && last > TWICE_MAX;
    if (last < PE_DIVISOR_MAX) {
        pe_kernel_get()->lines->quotients((double)row, last, count, odd, ret_numbers);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ret_numbers[i] = pe_narrow_to_double(column->dtype, dd_div((double)(row + i), last));
}

static void fill(const void *context, pe_window window, void *dst)
{
    const normalized *state = context;
    const pe_column column = {
        .dtype = state->dtype, .monotone = true, .source = &state->last, .numbers = divide};
    pe_column_fill(&column, window.first, window.rows, dst);
}

const pe_scheme pe_scheme_normalized = {
    .info =
        {
            .name = "normalized",
            .title = "Positions in [0, 1]",
            .summary =
                "The position divided by the last one: bounded, but the step between rows "
                "depends on the length.",
            .family = "absolute",
            .keywords = "linear, unit interval, float",
            .formula = "encoding[k, 0] = k / (n - 1), or 0 if n = 1",
            .convention = "the first row is 0, the last row is 1",
            .reference =
                "baseline; arXiv:1706.03762, section 3.5, has the encoding that replaced it",
            .example = "length=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .state_size = sizeof(normalized),
    .read = read,
    .fill = fill,
};
