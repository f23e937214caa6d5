/* The binary encoding: the bits of the position. */
#include "kernels/store.h"
#include "numerics/dtype.h"
#include "positions/positions.h"

#include <stdalign.h>
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

/* Natural positions: offset and step are whole, too, so this is exact. */
static uint64_t position_of(const pe_positions *positions, uint64_t row)
{
    if (positions->list)
        return (uint64_t)positions->list[row];
    return (uint64_t)(int64_t)positions->offset + row * (uint64_t)(int64_t)positions->step;
}

/* Rows are made in a buffer that stays in the L1 cache, and copied from there: 32 rows of the
 * most columns, or more of others. */
#define STAGE_KEYS     256
#define STAGE_ELEMENTS (32 * 64)

/* Write the bits of positions as double-doubles. */
static void fill_pairs(const pe_positions *positions, size_t width, bool msb, pe_window window,
                       dd *dst)
{
    for (uint64_t r = 0; r < window.rows; r++)
        for (size_t c = 0; c < width; c++) {
            uint64_t bits = position_of(positions, window.first + r);
            *dst++ = (dd){(double)(bits >> (msb ? width - 1 - c : c) & 1), 0};
        }
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)state;
    pe_error none;
    pe_error_init(&none);
    const double real_one = 1;
    const size_t width = (size_t)plan->tensors[0].shape[1];
    const pe_positions positions = pe_positions_read(values, &none);
    const pe_dtype dtype = pe_requested_dtype(values);
    const size_t size = pe_dtype_size(dtype), row_bytes = width * size;
    const bool msb = pe_choice(values, "order") == MSB;
    const pe_kernel *streaming = pe_streaming_for(window.rows * row_bytes);
    const size_t most =
        STAGE_ELEMENTS / width < STAGE_KEYS ? STAGE_ELEMENTS / width : STAGE_KEYS;
    uint64_t keys[STAGE_KEYS], one = 0;
    alignas(64) unsigned char stage[(STAGE_ELEMENTS + PE_BITS_SLACK) * sizeof(double)];
    if (dtype == PE_DD) {
        fill_pairs(&positions, width, msb, window, dst);
        return;
    }
    pe_round_row(dtype, &real_one, 1, &one);
    for (uint64_t done = 0; done < window.rows; done += most) {
        size_t rows = window.rows - done < most ? (size_t)(window.rows - done) : most;
        for (size_t r = 0; r < rows; r++) {
            keys[r] = position_of(&positions, window.first + done + r);
            if (msb) /* its bytes from the top down, without the columns that are not there */
                keys[r] = __builtin_bswap64(keys[r] << (64 - width));
        }
        pe_kernel_get()->spread_bits(keys, rows, width, msb, one, size, stage);
        pe_store(streaming, (unsigned char *)dst + done * row_bytes, stage, rows * row_bytes);
    }
    pe_store_end(streaming);
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    (void)values, (void)plan, (void)tensor;
    return 1;
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
    PE_APPLIES(PE_ADDITION("length,width")),
    .streamable = true,
};
