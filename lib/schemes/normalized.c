/* The [0, 1] encoding: the position as a share of the length. */
#include "../dtype.h"
#include "../positions.h"

static const pe_parameter PARAMETERS[] = {
    {.name = "length",
     .type = PE_INTEGER,
     .required = true,
     .minimum = 1,
     .maximum = PE_POSITION_MAX,
     .unit = "rows",
     .help = "number of rows; the last one is 1"},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[n, 1]", "0 for row 0 to 1 for row n-1"}};

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

const pe_scheme pe_scheme_normalized = {
    .info =
        {
            .name = "normalized",
            .title = "Positions in [0, 1]",
            .summary = "The position divided by the last one: bounded, but its step depends on "
                       "the length.",
            .family = "absolute",
            .formula = "encoding[k, 0] = k / (n - 1); 0 where n = 1",
            .convention = "first row 0, last row 1",
            .reference =
                "baseline; see arXiv:1706.03762, section 3.5, for why it is not enough",
            .example = "length=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .fill = fill,
    .streamable = true,
};
