/* The integer encoding: the position itself. */
#include "numerics/dtype.h"
#include "positions/positions.h"

#include <math.h>

static const pe_parameter PARAMETERS[] = {PE_POSITION_PARAMETERS};

static const pe_tensor_help TENSORS[] = {{"encoding", "[n, 1]", "the position of each row"}};

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    double low, high;
    pe_positions positions = pe_positions_read(values, reterr);
    pe_positions_range(&positions, &low, &high);
    pe_check_magnitude(values, "the positions", fmax(fabs(low), fabs(high)), reterr);
    pe_plan_add(ret_plan, "encoding", pe_requested_dtype(values), 2,
                (uint64_t[]){positions.count, 1});
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)plan, (void)state;
    pe_error none;
    pe_error_init(&none);
    pe_positions positions = pe_positions_read(values, &none);
    pe_dtype dtype = pe_requested_dtype(values);
    unsigned char *element = dst;
    for (uint64_t row = window.first; row < window.first + window.rows;
         row++, element += pe_dtype_size(dtype))
        pe_round_dd(dtype, pe_position_at(&positions, row), element);
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    (void)values, (void)plan, (void)tensor;
    return 25;
}

const pe_scheme pe_scheme_integer = {
    .info =
        {
            .name = "integer",
            .title = "Integer positions",
            .summary = "The position as a number: the simplest encoding, but unbounded.",
            .family = "absolute",
            .formula = "encoding[r, 0] = k, where k = offset + r * step or positions[r]",
            .convention = "the position itself; positions may be negative or fractional",
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
