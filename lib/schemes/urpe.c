/* URPE: a Toeplitz matrix that multiplies the attention weights. */
#include "numerics/dtype.h"
#include "trained/gather.h"

#include <stdlib.h>

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
     .help =
         "without a stored set; ones: all ones, as training begins; normal: normal(0, 0.02)"},
    PE_TRAINED_PARAMETERS(
        "g [heads, 2*length-1], with the distance i - j in column i - j + length - 1"),
};

static const pe_tensor_help TENSORS[] = {
    {"toeplitz", "[heads, queries, keys] or [heads, queries+keys-1]",
     "multiplies the attention weights after the softmax"},
    {"distance", "[queries+keys-1]", "key minus query; only with form=compact"},
};

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    pe_relative relative = pe_relative_read(values, reterr);
    const uint64_t shape[2] = {0, 2 * relative.keys - 1};
    if (!pe_trained_check(values, "g", 2, shape, reterr))
        return;
    pe_relative_check_queries(&relative, ", since g has no elements for other distances",
                              reterr);
    pe_relative_add(ret_plan, &relative, "toeplitz", pe_requested_dtype(values),
                    (uint64_t)pe_integer(values, "heads"), 0);
    pe_relative_add_distance(ret_plan, &relative);
}

typedef struct urpe {
    pe_trained g;
    pe_toeplitz toeplitz;
    pe_dtype dtype;
    bool ones;
} urpe;

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

static double write_price(const pe_values *values)
{
    bool ones = !pe_values_set(values) && pe_choice(values, "init") == ONES;
    return ones ? 5 : pe_trained_price(values, &pe_relative_recipe);
}

static double price(const pe_values *values, const pe_plan *plan)
{
    uint64_t heads = (uint64_t)pe_integer(values, "heads");
    uint64_t keys = (uint64_t)pe_integer(values, "length");
    return pe_trained_check_price(values, heads * (2 * keys - 1)) +
           pe_toeplitz_price(values, &plan->tensors[0], heads, write_price(values));
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    if (tensor > 0)
        return 2;
    return pe_toeplitz_element_price(values, &plan->tensors[0],
                                     (size_t)pe_integer(values, "heads"), write_price(values));
}

static void release(void *context)
{
    urpe *state = context;
    if (state)
        pe_toeplitz_done(&state->toeplitz);
    free(state);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    urpe *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    size_t heads = (size_t)pe_integer(values, "heads");
    pe_relative relative = pe_relative_read(values, reterr);
    state->dtype = pe_requested_dtype(values);
    state->ones = !pe_values_set(values) && pe_choice(values, "init") == ONES;
    state->g = pe_trained_of(values, "g", 2 * relative.keys - 1, &pe_relative_recipe);
    pe_trained_check_magnitude(&pace, &state->g, &pe_relative_recipe, heads, 1);
    state->toeplitz.relative = relative;
    if (reterr->status == PE_OK &&
        pe_toeplitz_init(&state->toeplitz, &relative, &plan->tensors[0], heads, write_distances,
                         state, write_price(values), &pace))
        return state;
    free(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const urpe *state = context;
    if (window.tensor == 0)
        pe_toeplitz_fill(&state->toeplitz, window, dst);
    else
        pe_relative_fill_distance(&state->toeplitz.relative, window, dst);
}

const pe_scheme pe_scheme_urpe = {
    .info =
        {
            .name = "urpe",
            .title = "URPE: universal relative position encoding",
            .summary = "A Toeplitz matrix for each head that multiplies the attention weights "
                       "after the softmax. The factors are random, drawn from seed, until "
                       "parameters names an uploaded set.",
            .family = "relative",
            .formula = "toeplitz[h, i, j] = g[h, (i - j) + length - 1]",
            .convention = "the matrix C of the paper; g is indexed by query minus key, the "
                          "tensor distance is key minus query",
            .reference = "arXiv:2205.13401, section 4",
            .example = "length=4&heads=2",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = price,
    .element_price = element_price,
    PE_APPLIES(PE_FACTOR("weights", "toeplitz")),
    .streamable = true,
};
