/* The [0, 1] encoding: the position divided by the last one. */
#include "numerics/dtype.h"
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

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    (void)reterr;
    uint64_t length = (uint64_t)pe_integer(values, "length");
    pe_plan_add(ret_plan, "encoding", pe_requested_dtype(values), 2, (uint64_t[]){length, 1});
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)plan, (void)state;
    int64_t length = pe_integer(values, "length");
    double last = length > 1 ? (double)(length - 1) : 1; /* a single row is 0 */
    pe_dtype dtype = pe_requested_dtype(values);
    unsigned char *element = dst;
    for (uint64_t row = window.first; row < window.first + window.rows;
         row++, element += pe_dtype_size(dtype))
        pe_round_dd(dtype, dd_div((double)row, last), element);
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    (void)values, (void)plan, (void)tensor;
    return 20;
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
            .formula = "encoding[k, 0] = k / (n - 1), or 0 if n = 1",
            .convention = "the first row is 0, the last row is 1",
            .reference =
                "baseline; arXiv:1706.03762, section 3.5, has the encoding that replaced it",
            .example = "length=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .fill = fill,
    .element_price = element_price,
    .streamable = true,
};
