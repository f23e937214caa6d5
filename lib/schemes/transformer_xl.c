/* Transformer-XL and XLNet: sines and cosines of the distances within a segment and its memory,
 * and two learned vectors. */
#include "numerics/dtype.h"
#include "trained/gather.h"
#include "waves/distance_wave.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const ATTENTIONS[] = {"bi", "uni", "txl", "two_sided", NULL};
enum attention { BI, UNI, TXL, TWO_SIDED };

static const char *const LAYOUTS[] = {"interleaved", "concat", NULL};
static const pe_wave_layout WAVE_LAYOUTS[] = {PE_WAVE_INTERLEAVED, PE_WAVE_CONCAT};
static const pe_case LAYOUT_CASES[] = {
    {.choice = "two_sided", .default_text = "interleaved"},
    {.choice = NULL},
};

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    PE_DIM_PARAMETER(2, 2, "number of columns"),
    {PE_HEADS_PARAMETER, .default_text = "1", .stored = "u", .stored_axis = 0,
     .help = "number of heads, a divisor of dim"},
    {.name = "attention",
     .type = PE_CHOICE,
     .default_text = "bi",
     .choices = ATTENTIONS,
     .help =
         "distances of the rows of encoding, for K keys and Q queries; bi (XLNet): K down to "
         "-Q+1; uni (XLNet): K down to 0; txl (Transformer-XL): K-1 down to 0; two_sided "
         "(conformers): K-1 down to -Q+1"},
    {.name = "layout",
     .type = PE_CHOICE,
     .choices = LAYOUTS,
     .when = "attention",
     .cases = LAYOUT_CASES,
     .help =
         "interleaved: sin, cos, sin, cos ...; concat: all sines, then all cosines, as with "
         "every other attention"},
    {.name = "clamp_length",
     .type = PE_INTEGER,
     .minimum = 0,
     .maximum = PE_RELATIVE_MAX,
     .unit = "positions",
     .help = "distances beyond ±clamp_length are clipped to it; by default none are"},
    PE_BASE_PARAMETER,
    PE_TRAINED_PARAMETERS("u and v [heads, dim/heads]"),
};

static const pe_preset PRESETS[] = {
    {"conformer",
     "conformers: Wav2Vec2-Conformer, FastSpeech2-Conformer, SeamlessM4T, Parakeet",
     {"attention", "two_sided", NULL}},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[distances, dim]",
     "sines and cosines of the clipped distance: first all sines, or with "
     "attention=two_sided as layout says"},
    {"distance", "[distances]", "query minus key of each row, before clipping"},
    {"u", "[heads, dim/heads]", "replaces the query in the global content bias"},
    {"v", "[heads, dim/heads]", "replaces the query in the global positional bias"},
    {"relative", "[queries, keys, dim]",
     "sines and cosines of the clipped distance i - j; only with form=expanded"},
};
enum tensor { ENCODING, DISTANCE, U, V, RELATIVE };

/* The rows of `encoding` have falling distances, query minus key, from first_distance on. */
static int64_t first_distance(const pe_relative *relative, int attention)
{
    return (int64_t)relative->keys - (attention == TXL || attention == TWO_SIDED);
}

static uint64_t rows_of(const pe_relative *relative, int attention)
{
    switch ((enum attention)attention) {
    case BI:
        return relative->keys + relative->queries;
    case UNI:
        return relative->keys + 1;
    case TXL:
        return relative->keys;
    case TWO_SIDED:
        break;
    }
    return relative->keys + relative->queries - 1;
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    uint64_t heads = (uint64_t)pe_integer(values, "heads");
    if (dim % heads != 0) {
        char given[32];
        snprintf(given, sizeof given, "%llu", (unsigned long long)heads);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "heads", given, "a divisor of dim, which is %llu",
                     (unsigned long long)dim);
        return;
    }
    pe_relative relative = pe_relative_read(values, reterr), matrix = relative;
    const uint64_t shape[2] = {heads, dim / heads};
    if (!pe_trained_check(values, "u", 2, shape, reterr) ||
        !pe_trained_check(values, "v", 2, shape, reterr))
        return;
    uint64_t rows = rows_of(&relative, pe_choice(values, "attention"));
    pe_dtype dtype = pe_requested_dtype(values);
    pe_plan_add(ret_plan, "encoding", dtype, 2, (uint64_t[]){rows, dim});
    pe_plan_add(ret_plan, "distance", PE_I32, 1, &rows);
    pe_plan_add(ret_plan, "u", dtype, 2, shape);
    pe_plan_add(ret_plan, "v", dtype, 2, shape);
    if (!relative.compact)
        pe_relative_add(ret_plan, &matrix, "relative", dtype, 0, dim);
}

typedef struct transformer_xl {
    int64_t first; /* query minus key of row 0 */
    pe_dtype dtype;
    pe_distance_wave wave; /* by key minus query */
    pe_trained u, v;
    pe_toeplitz relative;
} transformer_xl;

static void release(void *context)
{
    transformer_xl *state = context;
    if (state) {
        pe_toeplitz_done(&state->relative);
        pe_distance_wave_done(&state->wave);
    }
    free(state);
}

#define FREQUENCY_PRICE 30
#define WAVE_PRICE      2

static double price(const pe_values *values, const pe_plan *plan)
{
    uint64_t dim = plan->tensors[0].shape[1];
    double sum = FREQUENCY_PRICE * (double)dim + 2 * pe_trained_check_price(values, dim);
    if (plan->count > RELATIVE)
        sum += pe_toeplitz_price(values, &plan->tensors[RELATIVE], 1, WAVE_PRICE);
    return sum;
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    if (tensor == U || tensor == V)
        return pe_trained_price(values, &pe_relative_recipe);
    if (tensor != RELATIVE)
        return WAVE_PRICE;
    return pe_toeplitz_element_price(values, &plan->tensors[RELATIVE], 1, WAVE_PRICE);
}

/* Prepare the learned vector u or v, and check that it fits the dtype. */
static pe_trained vector(pe_pace *pace, const char *name, const pe_tensor *tensor)
{
    pe_trained trained =
        pe_trained_of(pace->values, name, tensor->shape[1], &pe_relative_recipe);
    pe_trained_check_magnitude(pace, &trained, &pe_relative_recipe, tensor->shape[0], 1);
    return trained;
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    transformer_xl *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    pe_relative relative = pe_relative_read(values, reterr);
    int64_t clamp = (int64_t)PE_RELATIVE_MAX;
    if (pe_is_present(values, "clamp_length"))
        clamp = pe_integer(values, "clamp_length");
    state->first = first_distance(&relative, pe_choice(values, "attention"));
    state->dtype = pe_requested_dtype(values);
    pe_wave_layout layout = PE_WAVE_CONCAT;
    if (pe_is_present(values, "layout"))
        layout = WAVE_LAYOUTS[pe_choice(values, "layout")];
    state->u = vector(&pace, "u", &plan->tensors[U]);
    state->v = vector(&pace, "v", &plan->tensors[V]);
    if (reterr->status == PE_OK &&
        pe_distance_wave_init(&state->wave, state->dtype, (size_t)plan->tensors[0].shape[1],
                              pe_real(values, "base"), layout, -clamp, clamp, -1) &&
        (relative.compact ||
         pe_toeplitz_init(&state->relative, &relative, &plan->tensors[RELATIVE], 1,
                          pe_distance_wave_write, &state->wave, WAVE_PRICE, &pace)))
        return state;
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const transformer_xl *state = context;
    switch ((enum tensor)window.tensor) {
    case ENCODING:
        pe_distance_wave_write(&state->wave, 0, (int64_t)window.first - state->first,
                               window.rows, dst);
        return;
    case DISTANCE:
        for (uint64_t r = 0; r < window.rows; r++)
            ((int32_t *)dst)[r] = (int32_t)(state->first - (int64_t)(window.first + r));
        return;
    case U:
    case V:
        pe_trained_fill(window.tensor == U ? &state->u : &state->v, state->dtype, window.first,
                        window.rows, dst);
        return;
    case RELATIVE:
        pe_toeplitz_fill(&state->relative, window, dst);
        return;
    }
}

static const pe_application APPLICATIONS[] = {
    {.kind = PE_APPLY_CONTRACT,
     .input = "query",
     .axes = "queries,dim",
     .result = "position_scores",
     .result_axes = "queries,keys",
     .tensors = {"relative"},
     .entry_axes = "queries,keys,dim",
     .formula = "position_scores[i, j] = query[i] . relative[i, j], for queries times the "
                "transposed projection of positions"},
    {.kind = PE_APPLY_CONTRACT,
     .input = "key",
     .axes = "heads,keys,dim",
     .result = "content_bias",
     .result_axes = "heads,keys",
     .tensors = {"u"},
     .entry_axes = "heads,dim",
     .formula = "content_bias[h, j] = u[h] . key[h, j]"},
    {.kind = PE_APPLY_CONTRACT,
     .input = "projected",
     .axes = "heads,distances,dim",
     .result = "position_bias",
     .result_axes = "heads,distances",
     .tensors = {"v"},
     .entry_axes = "heads,dim",
     .formula = "position_bias[h, r] = v[h] . projected[h, r], for projected rows of encoding"},
};

const pe_scheme pe_scheme_transformer_xl = {
    .info =
        {
            .name = "transformer_xl",
            .title = "Transformer-XL and XLNet relative encoding",
            .summary = "Sines and cosines of the distances that a segment and its memory span, "
                       "and the learned vectors u and v. u and v are random, drawn from seed, "
                       "until parameters names an uploaded set.",
            .family = "relative",
            .formula = "encoding[r] = [sin(d * w), cos(d * w)], d = clip(first - r), w_c = "
                       "base^(-2c/dim); relative[i, j] is the row of d = i - j",
            .convention = "as in the code of XLNet and Transformer-XL: distance is query minus "
                          "key; u and v replace the projected query. two_sided is the order of "
                          "conformers",
            .reference = "arXiv:1901.02860, section 3.3; arXiv:1906.08237",
            .example = "length=4&dim=8&heads=2",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = price,
    .element_price = element_price,
    .applications = APPLICATIONS,
    .application_count = PE_COUNT(APPLICATIONS),
    .streamable = true,
};
