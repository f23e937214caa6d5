/* The binary encoding: the bits of the position. */
#include "../dtype.h"
#include "../positions.h"

#include <stdio.h>

static const char *const ORDERS[] = {"msb", "lsb", NULL};
enum order { MSB, LSB };

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    {.name = "width",
     .type = PE_INTEGER,
     .minimum = 1,
     .maximum = 64,
     .unit = "bits",
     .help = "columns; the bits of the largest position unless given"},
    {.name = "order",
     .type = PE_CHOICE,
     .default_text = "msb",
     .choices = ORDERS,
     .help = "msb: the most significant bit is column 0; lsb: the least significant"},
};

static const pe_tensor_help TENSORS[] = {{"encoding", "[n, width]", "bits, 0 or 1"}};

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
    uint64_t needed = bits_needed(high), width = needed;
    if (pe_is_present(values, "width"))
        width = (uint64_t)pe_integer(values, "width");
    if (width < needed) {
        char given[32];
        snprintf(given, sizeof given, "%llu", (unsigned long long)width);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "width", given,
                     "at least %llu bits for the largest position, %.0f",
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

const pe_scheme pe_scheme_binary = {
    .info =
        {
            .name = "binary",
            .title = "Binary positions",
            .summary = "The bits of the position: bounded, unique, not smooth.",
            .family = "absolute",
            .formula = "encoding[r, c] = bit (width - 1 - c) of k (order msb) or bit c (lsb)",
            .convention = "most significant bit first, as numbers are written",
            .reference = "baseline; see arXiv:1706.03762, section 3.5, for its smooth relative",
            .example = "length=8",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .fill = fill,
    .streamable = true,
};
