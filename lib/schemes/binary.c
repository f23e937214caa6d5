/* The binary encoding: the bits of the position. */
#include "numerics/dtype.h"
#include "positions/positions.h"

#include <stdio.h>

static const char *const ORDERS[] = {"msb", "lsb", NULL};
enum order { MSB, LSB };

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    {.name = "width",
     .type = PE_INTEGER,
     .required = true,
     .minimum = 1,
     .maximum = 64,
     .unit = "bits",
     .help = "columns: at least as many as the largest position has bits, the same for all "
             "windows of a table"},
    {.name = "order",
     .type = PE_CHOICE,
     .default_text = "msb",
     .choices = ORDERS,
     .help = "msb: the most significant bit is in column 0; lsb: the least significant bit"},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[n, width]", "bits of the position, 0 or 1"}};

static uint64_t bits_needed(double largest)
{
    return largest < 1 ? 1 : 64 - (uint64_t)__builtin_clzll((unsigned long long)largest);
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    double low, high;
    size_t before = reterr->count;
    pe_positions positions = pe_positions_read_natural(values, reterr);
    if (reterr->count > before)
        return;
    pe_positions_range(&positions, &low, &high);
    uint64_t needed = bits_needed(high), width = (uint64_t)pe_integer(values, "width");
    if (width < needed) {
        char given[32];
        snprintf(given, sizeof given, "%llu", (unsigned long long)width);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "width", given,
                     "at least %llu, since the largest position, %.0f, has so many bits",
                     (unsigned long long)needed, high);
    }
    pe_plan_add(ret_plan, "encoding", pe_requested_dtype(values), 2,
                (uint64_t[]){positions.count, width});
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)state;
    pe_error none;
    pe_error_init(&none);
    uint64_t width = plan->tensors[0].shape[1];
    pe_positions positions = pe_positions_read(values, &none);
    pe_dtype dtype = pe_requested_dtype(values);
    bool lsb_first = pe_choice(values, "order") == LSB;
    unsigned char *row_start = dst;
    for (uint64_t row = window.first; row < window.first + window.rows; row++) {
        uint64_t position = (uint64_t)pe_position_at(&positions, row).hi;
        double bits[64];
        for (uint64_t column = 0; column < width; column++)
            bits[column] = (double)(position >> (lsb_first ? column : width - 1 - column) & 1);
        pe_round_row(dtype, bits, width, row_start);
        row_start += width * pe_dtype_size(dtype);
    }
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    (void)values, (void)plan, (void)tensor;
    return 5;
}

const pe_scheme pe_scheme_binary = {
    .info =
        {
            .name = "binary",
            .title = "Binary positions",
            .summary = "The bits of the position: bounded and unique, but not smooth.",
            .family = "absolute",
            .formula = "encoding[r, c] = bit (width - 1 - c) of k (order msb) or bit c (lsb)",
            .convention = "the most significant bit first, as in written numbers",
            .reference = "baseline; arXiv:1706.03762, section 3.5, has the smooth counterpart",
            .example = "length=8&width=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .fill = fill,
    .element_price = element_price,
    .streamable = true,
};
