/* The binary encoding: the bits of the position. */
#include "kernels/store.h"
#include "numerics/dtype.h"
#include "positions/positions.h"

#include <stdalign.h>

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

typedef struct binary {
    pe_positions positions; /* natural numbers */
    size_t width;
    pe_dtype dtype;
    bool msb;
} binary;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    double low, high;
    size_t before = reterr->count;
    binary *state = ret_state;
    *state = (binary){.positions = pe_positions_read_natural(values, reterr),
                      .width = (size_t)pe_get_integer(values, "width"),
                      .dtype = pe_requested_dtype(values),
                      .msb = pe_get_choice(values, "order") == MSB};
    if (reterr->count > before)
        return;
    pe_positions_range(&state->positions, &low, &high);
    uint64_t needed = bits_needed(high);
    if (state->width < needed)
        pe_refuse_value(values, "width", reterr,
                        "at least %llu, since the largest position, %.0f, has so many bits",
                        (unsigned long long)needed, high);
    pe_plan_add(plan, "encoding", state->dtype, 2,
                (uint64_t[]){state->positions.count, state->width});
    pe_plan_price(plan, 1);
}

/* Natural positions: offset and step are whole, too, so this is exact. */
static uint64_t read_position(const pe_positions *positions, uint64_t row)
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
static void fill_pairs(const binary *state, pe_window window, dd *dst)
{
    const size_t width = state->width;
    for (uint64_t r = 0; r < window.rows; r++)
        for (size_t c = 0; c < width; c++) {
            uint64_t bits = read_position(&state->positions, window.first + r);
            *dst++ = (dd){(double)(bits >> (state->msb ? width - 1 - c : c) & 1), 0};
        }
}

static void fill(const void *context, pe_window window, void *dst)
{
    const binary *state = context;
    const double real_one = 1;
    const size_t width = state->width, size = pe_dtype_size(state->dtype);
    const size_t row_bytes = width * size;
    const pe_kernel *nontemporal = pe_streaming_kernel(window.rows * row_bytes);
    const size_t most =
        STAGE_ELEMENTS / width < STAGE_KEYS ? STAGE_ELEMENTS / width : STAGE_KEYS;
    uint64_t keys[STAGE_KEYS], one = 0;
    alignas(64) unsigned char stage[(STAGE_ELEMENTS + PE_BITS_SLACK) * sizeof(double)];
    if (state->dtype == PE_DD) {
        fill_pairs(state, window, dst);
        return;
    }
    pe_round_row(state->dtype, &real_one, 1, &one);
    for (uint64_t done = 0; done < window.rows; done += most) {
        size_t rows = window.rows - done < most ? (size_t)(window.rows - done) : most;
        for (size_t r = 0; r < rows; r++) {
            keys[r] = read_position(&state->positions, window.first + done + r);
            if (state->msb) /* its bytes from the top down, without columns not there */
                keys[r] = __builtin_bswap64(keys[r] << (64 - width));
        }
        pe_kernel_get()->spread_bits(keys, rows, width, state->msb, one, size, stage);
        pe_store(nontemporal, (unsigned char *)dst + done * row_bytes, stage, rows * row_bytes);
    }
    pe_store_end(nontemporal);
}

const pe_scheme pe_scheme_binary = {
    .info =
        {
            .name = "binary",
            .title = "Binary positions",
            .summary = "The bits of the position: bounded and unique, but not smooth.",
            .family = "absolute",
            .keywords = "bits, digits",
            .formula = "encoding[r, c] = bit (width - 1 - c) of k (order msb) or bit c (lsb)",
            .convention = "the most significant bit first, as in written numbers",
            .reference = "baseline; arXiv:1706.03762, section 3.5, has the smooth counterpart",
            .example = "length=8&width=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .state_size = sizeof(binary),
    .read = read,
    .fill = fill,
    PE_APPLIES(PE_ADDITION("length,width")),
};
