/* Rotations as matrices: those that rotary embeddings multiply by, or those that move a
 * sinusoidal encoding to another position. */
#include "numerics/dtype.h"
#include "waves/fill.h"

#include <string.h>

static const char *const CONVENTIONS[] = {"rope", "shift", NULL};
enum convention { ROPE, SHIFT };

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    {.name = "dim",
     .type = PE_INTEGER,
     .required = true,
     .minimum = 2,
     .maximum = 1024,
     .multiple_of = 2,
     .unit = "columns",
     .help = "number of rows and columns of each matrix"},
    PE_BASE_PARAMETER,
    {.name = "convention",
     .type = PE_CHOICE,
     .default_text = "rope",
     .choices = CONVENTIONS,
     .help = "rope: [[cos, -sin], [sin, cos]] on the diagonal; shift: [[cos, sin], [-sin, "
             "cos]], which turns the sinusoidal encoding of m into that of m + k"},
};

static const pe_tensor_help TENSORS[] = {
    {"matrix", "[n, dim, dim]", "block diagonal matrices that rotate by k * w_i"}};

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    pe_positions positions = pe_positions_read(values, reterr);
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    pe_plan_add(ret_plan, "matrix", pe_requested_dtype(values), 3,
                (uint64_t[]){positions.count, dim, dim});
}

/* Prepare the interleaved sines and cosines that the matrices are made of. */
static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner, (void)reterr;
    size_t dim = (size_t)plan->tensors[0].shape[1];
    pe_wave *wave = pe_wave_new(values, dim, PE_WAVE_INTERLEAVED, dim);
    if (!wave)
        return NULL;
    wave->count = dim / 2;
    wave->frequencies = pe_wave_geometric(dim / 2, pe_real(values, "base"), 2, dim);
    return pe_wave_ready(wave);
}

/* Write -src to dst; the negative of 0 is +0. */
static void negate(const unsigned char *src, size_t size, unsigned char *dst)
{
    bool zero = true;
    for (size_t i = 0; i < size; i++) {
        zero = zero && src[i] == 0;
        dst[i] = src[i];
    }
    if (!zero)
        dst[size - 1] ^= 0x80; /* little-endian: the sign is the last byte's top bit */
}

/* Write the matrix of one position. Its sines and cosines may lie in its own first row, so the
 * last block is written first. */
static void write_matrix(const unsigned char *sincos, size_t dim, size_t size, bool shift,
                         unsigned char *matrix)
{
    size_t row_bytes = dim * size;
    for (size_t i = dim; i >= 2; i -= 2) {
        unsigned char pair[2 * sizeof(double)], minus[sizeof(double)];
        unsigned char *upper = matrix + (i - 2) * row_bytes, *lower = upper + row_bytes;
        size_t column = (i - 2) * size;
        memcpy(pair, sincos + column, 2 * size);
        negate(pair, size, minus);
        memset(upper, 0, 2 * row_bytes);
        memcpy(upper + column, pair + size, size);
        memcpy(upper + column + size, shift ? pair : minus, size);
        memcpy(lower + column, shift ? minus : pair, size);
        memcpy(lower + column + size, pair + size, size);
    }
}

/* First write the sines and cosines of all positions to the start of dst, dim of them for each.
 * Then write the matrices, the last one first, so that none overwrites the sines and cosines of
 * an earlier position. */
static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    const pe_wave *wave = state;
    size_t dim = (size_t)plan->tensors[0].shape[1], size = pe_dtype_size(wave->dtype);
    bool shift = pe_choice(values, "convention") == SHIFT;
    unsigned char *bytes = dst;
    pe_wave_fill(wave, window.first, window.rows, dst);
    for (uint64_t row = window.rows; row-- > 0;)
        write_matrix(bytes + row * dim * size, dim, size, shift,
                     bytes + row * dim * dim * size);
}

const pe_scheme pe_scheme_rotation_matrix = {
    .info =
        {
            .name = "rotation_matrix",
            .title = "Rotation matrices",
            .summary = "For each position, a block diagonal matrix that rotates every pair of "
                       "columns by position times frequency.",
            .family = "rotary",
            .formula = "blocks [[cos, -sin], [sin, cos]] of k * w_i, w_i = base^(-2i/dim): "
                       "R_i^T R_j = R_(j-i); shift: [[cos, sin], [-sin, cos]]: "
                       "PE_(m+k) = T_k PE_m",
            .convention =
                "rope: columns 2i and 2i + 1 form a pair, as in the paper; shift: for "
                "the interleaved sinusoidal encoding",
            .reference = "arXiv:2104.09864, equation 15; arXiv:1706.03762, section 3.5",
            .example = "length=3&dim=4",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = pe_wave_free,
    .price = pe_wave_price,
    .element_price = pe_wave_element_price,
    .streamable = true,
};
