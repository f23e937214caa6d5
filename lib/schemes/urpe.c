/* URPE: a Toeplitz matrix that multiplies the attention weights. */
#include "numerics/dtype.h"
#include "relative/relative.h"
#include "trained/trained.h"

static const char *const INITIALISERS[] = {"ones", "normal", NULL};
enum initialiser { ONES, NORMAL };

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {PE_HEADS_PARAMETER, .default_text = "1", .stored = "g", .stored_axis = 0,
     .help = "number of heads"},
    {.name = "init",
     .type = PE_CHOICE,
     .default_text = "ones",
     .choices = INITIALISERS,
     .help = "without a set; ones: all ones, as training begins; normal: normal(0, 0.02)"},
    PE_TRAINED_PARAMETERS(
        "g [heads, 2*length-1], with the distance i - j in column i - j + length - 1"),
};

static const pe_tensor_help TENSORS[] = {
    {"toeplitz", "[heads, queries, keys] or [heads, queries+keys-1]",
     "multiplies the attention weights after the softmax"},
    PE_DISTANCE_TENSOR,
};

typedef struct urpe {
    pe_toeplitz toeplitz;
    pe_trained g;
    pe_dtype dtype;
    bool ones;
} urpe;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    urpe *state = ret_state;
    pe_relative relative = pe_relative_read(values, reterr);
    const pe_weights weights = pe_weights_read(values);
    const uint64_t heads = (uint64_t)pe_get_integer(values, "heads");
    const uint64_t columns = 2 * relative.keys - 1;
    if (!pe_trained_check(&weights, "g", 2, (const uint64_t[]){0, columns}, reterr))
        return;
    pe_relative_check_queries(&relative, ", since g has no elements for other distances",
                              reterr);
    state->g = pe_trained_find(&weights, "g", columns, &pe_relative_distribution);
    state->dtype = weights.dtype;
    state->ones = !weights.set && pe_get_choice(values, "init") == ONES;
    double price = state->ones ? 5 : pe_trained_price(&weights, &pe_relative_distribution);
    state->toeplitz =
        pe_relative_add(plan, &relative, "toeplitz", weights.dtype, heads, 0, price);
    pe_relative_add_distance(plan, &relative);
    plan->price += pe_trained_check_price(&weights, heads * columns);
}

/* Write the factors of one head at consecutive distances. */
static void write_distances(const void *context, size_t head, int64_t first, uint64_t count,
                            void *dst)
{
    enum { PART = 256 };
    const urpe *state = context;
    size_t size = pe_dtype_size(state->dtype);
    double elements[PART], forward[PART];
    unsigned char *to = dst;
    while (count > 0) {
        size_t part = count < PART ? (size_t)count : PART;
        int64_t last = first + (int64_t)part - 1; /* its column is the first: g has i - j */
        uint64_t column = (uint64_t)((int64_t)state->toeplitz.relative.keys - 1 - last);
        if (!state->ones)
            pe_trained_row(&state->g, head, column, part, forward);
        for (size_t t = 0; t < part; t++)
            elements[t] = state->ones ? 1 : forward[part - 1 - t];
        pe_round_row(state->dtype, elements, part, to);
        to += part * size;
        first += (int64_t)part;
        count -= part;
    }
}

static bool prepare(void *context, pe_pace *pace)
{
    urpe *state = context;
    pe_trained_check_magnitude(pace, &state->g, state->toeplitz.heads, 1, state->dtype);
    return pace->reterr->status == PE_OK &&
           pe_toeplitz_init(&state->toeplitz, write_distances, state, pace);
}

const pe_scheme pe_scheme_urpe = {
    .info =
        {
            .name = "urpe",
            .title = "URPE: universal relative position encoding",
            .summary = "A Toeplitz matrix for each head that multiplies the attention "
                       "weights after the softmax. Without a set, the factors are random, "
                       "drawn from seed.",
            .family = "relative",
            .keywords = "Toeplitz, universal, RPE",
            .formula = "toeplitz[h, i, j] = g[h, (i - j) + length - 1]",
            .convention = "the matrix C of the paper; g is indexed by query minus key, the "
                          "tensor distance is key minus query",
            .reference = "arXiv:2205.13401, section 4",
            .example = "length=4&heads=2",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .state_size = sizeof(urpe),
    .read = read,
    .prepare = prepare,
    .fill = pe_relative_fill,
    PE_APPLIES(PE_FACTOR("weights", "toeplitz")),
};
