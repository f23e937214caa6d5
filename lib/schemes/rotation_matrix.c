/* Rotations as matrices: those that rotary embeddings multiply by, or those that move a
 * sinusoidal encoding to another position. */
#include "kernels/store.h"
#include "waves/fill.h"

#include <stdalign.h>
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

typedef struct rotation {
    pe_wave wave; /* of the interleaved sines and cosines that the matrices are made of */
    double base;
    bool shift;
} rotation;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    rotation *state = ret_state;
    uint64_t dim = (uint64_t)pe_get_integer(values, "dim");
    pe_wave *wave = &state->wave;
    *wave = pe_wave_read(values, (size_t)dim, PE_WAVE_INTERLEAVED, reterr);
    wave->count = (size_t)dim / 2;
    state->base = pe_get_real(values, "base");
    state->shift = pe_get_choice(values, "convention") == SHIFT;
    pe_plan_add(plan, "matrix", wave->dtype, 3, (uint64_t[]){wave->positions.count, dim, dim});
    pe_plan_price(plan, pe_wave_entry_price(wave));
    plan->price = PE_WAVE_FREQUENCY_PRICE * (double)dim;
}

static bool prepare(void *context, pe_pace *pace)
{
    rotation *state = context;
    pe_wave *wave = &state->wave;
    wave->frequencies = pe_wave_geometric(pace, wave->count, state->base, 2, wave->columns);
    return wave->frequencies != NULL;
}

/* Rows are made in a buffer that stays in the L1 cache, and copied from there: two rows of the
 * widest matrix, or more of others. */
#define STAGE_ELEMENTS ((size_t)(2 * 1024))

/* Write a block of a matrix: its two rows, in which everything else is 0 already. It is inlined
 * with a constant size, which makes the copies single instructions. */
static inline __attribute__((always_inline)) void place(const unsigned char *sine,
                                                        const unsigned char *cosine, bool shift,
                                                        unsigned char *upper,
                                                        unsigned char *lower, size_t size)
{
    uint64_t bits = 0, minus;
    memcpy(&bits, sine, size); /* little-endian */
    minus = bits == 0 ? 0 : bits ^ 1ULL << (8 * size - 1);
    memcpy(upper, cosine, size);
    memcpy(upper + size, shift ? &bits : &minus, size);
    memcpy(lower, shift ? &minus : &bits, size);
    memcpy(lower + size, cosine, size);
}

/* The same for double-doubles. */
static void place_pairs(const unsigned char *pair, bool shift, unsigned char *upper,
                        unsigned char *lower)
{
    dd sine, minus;
    memcpy(&sine, pair, sizeof sine);
    minus = (dd){0 - sine.hi, 0 - sine.lo};
    memcpy(upper, pair + sizeof sine, sizeof sine);
    memcpy(upper + sizeof sine, shift ? &sine : &minus, sizeof sine);
    memcpy(lower, shift ? &minus : &sine, sizeof sine);
    memcpy(lower + sizeof sine, pair + sizeof sine, sizeof sine);
}

/* The blocks of all matrices, in order: block b is block b % (dim / 2) of its matrix, takes two
 * rows, and is made of elements 2b and 2b + 1 of the sines and cosines. */
typedef struct blocks {
    const unsigned char *sincos;
    size_t dim, size;
    bool shift;
} blocks;

/* Write `count` blocks from `first` on, or remove them, to a stage that is 0 elsewhere. */
static void stage_blocks(const blocks *all, uint64_t first, size_t count, bool remove,
                         unsigned char *stage)
{
    static const unsigned char zeros[2 * sizeof(dd)];
    size_t size = all->size, row_bytes = all->dim * size, last = (all->dim - 2) * size;
    size_t column = 2 * (size_t)(first % (all->dim / 2)) * size;
    for (size_t i = 0; i < count; i++, stage += 2 * row_bytes) {
        const unsigned char *pair = remove ? zeros : all->sincos + 2 * (first + i) * size;
        unsigned char *upper = stage + column, *lower = upper + row_bytes;
        if (size == 2)
            place(pair, pair + 2, all->shift, upper, lower, 2);
        else if (size == 4)
            place(pair, pair + 4, all->shift, upper, lower, 4);
        else if (size == 8)
            place(pair, pair + 8, all->shift, upper, lower, 8);
        else
            place_pairs(pair, all->shift, upper, lower);
        column = column == last ? 0 : column + 2 * size;
    }
}

/* First write the sines and cosines of all positions to the start of dst, two for each block.
 * Then write the blocks, the last ones first, so that none overwrites the sines and cosines of
 * an earlier block. */
static void fill(const void *state, pe_window window, void *dst)
{
    const rotation *own = state;
    const pe_wave *wave = &own->wave;
    size_t dim = wave->columns, size = pe_dtype_size(wave->dtype);
    size_t block_bytes = 2 * dim * size;
    size_t most =
        STAGE_ELEMENTS * (size < sizeof(double) ? sizeof(double) : size) / block_bytes;
    uint64_t count = window.rows * (dim / 2);
    const pe_kernel *nontemporal = pe_streaming_kernel(count * block_bytes);
    const blocks all = {dst, dim, size, own->shift};
    alignas(64) unsigned char stage[STAGE_ELEMENTS * sizeof(dd)];
    if (most > dim / 2)
        most -= most % (dim / 2); /* every stage has its blocks in the same places */
    memset(stage, 0, (count < most ? (size_t)count : most) * block_bytes);
    pe_wave_fill(wave, window.first, window.rows, dst);
    for (uint64_t end = count; end > 0;) {
        size_t part = end % most ? (size_t)(end % most) : most;
        end -= part;
        stage_blocks(&all, end, part, false, stage);
        pe_store(nontemporal, (unsigned char *)dst + end * block_bytes, stage,
                 part * block_bytes);
        if (most < dim / 2)
            stage_blocks(&all, end, part, true, stage);
    }
    pe_store_end(nontemporal);
}

static const pe_application APPLICATIONS[] = {
    {.kind = PE_APPLY_CONTRACT,
     .input = "x",
     .axes = "length,dim",
     .result = "x",
     .result_axes = "length,dim",
     .tensors = {"matrix"},
     .entry_axes = "length,row,dim",
     .formula = "x[r] becomes matrix[r] times x[r] as a column"},
};

const pe_scheme pe_scheme_rotation_matrix = {
    .info =
        {
            .name = "rotation_matrix",
            .title = "Rotation matrices",
            .summary = "For each position, a block diagonal matrix that rotates every pair of "
                       "columns by position times frequency.",
            .family = "rotary",
            .keywords =
                "shift, T_k, linear relation, why sine and cosine, proof, rope as matrices",
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
    PE_HOOKS(rotation),
    .errors = PE_ERRORS_OF_ANGLES,
    PE_LIST(application, APPLICATIONS),
};
