/* Transformer-XL and XLNet: sines and cosines of the distances within a segment and its memory,
 * and two learned vectors. */
#include "trained/trained.h"
#include "waves/distance_wave.h"

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

static uint64_t count_rows(const pe_relative *relative, int attention)
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

typedef struct transformer_xl {
    pe_toeplitz relative; /* where expanded */
    pe_trained u, v;      /* [heads, dim / heads] */
    pe_dtype dtype;
    bool compact;
    size_t dim;
    double base;
    int64_t clamp; /* distances beyond are clipped */
    int64_t first; /* query minus key of row 0 of `encoding` */
    pe_wave_layout layout;

    /* prepared */
    pe_distance_wave wave; /* by key minus query */
} transformer_xl;

static void plan_tensors(transformer_xl *state, const pe_weights *weights,
                         const pe_relative *relative, uint64_t rows, pe_plan *plan)
{
    const pe_dtype dtype = state->dtype;
    const uint64_t dim = state->dim, columns = state->u.columns;
    const uint64_t vector[2] = {dim / columns, columns};
    pe_plan_add(plan, "encoding", dtype, 2, (uint64_t[]){rows, dim});
    pe_plan_price(plan, PE_DISTANCE_WAVE_PRICE);
    pe_plan_add(plan, "distance", PE_I32, 1, &rows);
    for (size_t t = U; t <= V; t++) {
        pe_plan_add(plan, TENSORS[t].name, dtype, 2, vector);
        pe_plan_price(plan, pe_trained_price(weights, &pe_relative_distribution));
    }
    if (!relative->compact)
        state->relative =
            pe_relative_add(plan, relative, "relative", dtype, 0, dim, PE_DISTANCE_WAVE_PRICE);
    plan->price +=
        PE_DISTANCE_COLUMN_PRICE * (double)dim + 2 * pe_trained_check_price(weights, dim);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    transformer_xl *state = ret_state;
    uint64_t dim = (uint64_t)pe_get_integer(values, "dim");
    uint64_t heads = (uint64_t)pe_get_integer(values, "heads");
    int attention = pe_get_choice(values, "attention");
    if (dim % heads != 0) {
        pe_refuse_value(values, "heads", reterr, "a divisor of dim, which is %llu",
                        (unsigned long long)dim);
        return;
    }
    const uint64_t shape[2] = {heads, dim / heads};
    const pe_weights weights = pe_weights_read(values);
    pe_relative relative = pe_relative_read(values, reterr);
    if (!pe_trained_check(&weights, "u", 2, shape, reterr) ||
        !pe_trained_check(&weights, "v", 2, shape, reterr))
        return;
    *state = (transformer_xl){
        .u = pe_trained_find(&weights, "u", shape[1], &pe_relative_distribution),
        .v = pe_trained_find(&weights, "v", shape[1], &pe_relative_distribution),
        .dtype = weights.dtype,
        .compact = relative.compact,
        .dim = (size_t)dim,
        .base = pe_get_real(values, "base"),
        .clamp = (int64_t)PE_RELATIVE_MAX,
        .first = first_distance(&relative, attention),
        .layout = PE_WAVE_CONCAT,
    };
    if (pe_is_present(values, "clamp_length"))
        state->clamp = pe_get_integer(values, "clamp_length");
    if (pe_is_present(values, "layout"))
        state->layout = WAVE_LAYOUTS[pe_get_choice(values, "layout")];
    plan_tensors(state, &weights, &relative, count_rows(&relative, attention), plan);
}

static bool prepare(void *context, pe_pace *pace)
{
    transformer_xl *state = context;
    const uint64_t heads = state->dim / state->u.columns;
    pe_trained_check_magnitude(pace, &state->u, heads, 1, state->dtype);
    pe_trained_check_magnitude(pace, &state->v, heads, 1, state->dtype);
    return pace->reterr->status == PE_OK &&
           pe_distance_wave_init(&state->wave, state->dtype, state->dim, state->base,
                                 state->layout, -state->clamp, state->clamp, -1, pace) &&
           (state->compact ||
            pe_toeplitz_init(&state->relative, pe_distance_wave_write, &state->wave, pace));
}

static void fill(const void *context, pe_window window, void *dst)
{
    const transformer_xl *state = context;
    const int64_t first = state->first;
    switch ((enum tensor)window.tensor) {
    case ENCODING:
        pe_distance_wave_write(&state->wave, 0, (int64_t)window.first - first, window.rows,
                               dst);
        return;
    case DISTANCE:
        for (uint64_t r = 0; r < window.rows; r++)
            ((int32_t *)dst)[r] = (int32_t)(first - (int64_t)(window.first + r));
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
            .summary = "Sines and cosines of the distances that a segment and its memory "
                       "span, and the learned vectors u and v. Without a set, u and v are "
                       "random, drawn from seed.",
            .family = "relative",
            .keywords = "XLNet, relative, memory, r_w_bias, Compressive Transformer",
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
    PE_HOOKS(transformer_xl),
    PE_LIST(application, APPLICATIONS),
    .errors = PE_ERRORS_OF_ANGLES,
};
