/* Transformer-XL and XLNet: sinusoids of the distances that a segment with its memory sees, and
 * the two learned vectors. */
#include "../distance_wave.h"
#include "../dtype.h"
#include "../gather.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const ATTENTIONS[] = {"bi", "uni", "txl", NULL};
enum attention { BI, UNI, TXL };

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    PE_DIM_PARAMETER(2, 2, "columns"),
    {PE_HEADS_PARAMETER, .default_text = "1", .stored = "u", .stored_axis = 0,
     .help = "number of heads; divides dim"},
    {.name = "attention",
     .type = PE_CHOICE,
     .default_text = "bi",
     .choices = ATTENTIONS,
     .help = "rows of encoding; bi (XLNet): distances klen down to -qlen+1; uni (XLNet): klen "
             "to 0; txl (Transformer-XL): klen-1 to 0"},
    {.name = "clamp_length",
     .type = PE_INTEGER,
     .minimum = 0,
     .maximum = PE_RELATIVE_MAX,
     .unit = "positions",
     .help = "distances beyond +-clamp_length are clipped to it; by default none is"},
    PE_BASE_PARAMETER,
    PE_TRAINED_PARAMETERS("u and v [heads, dim/heads]"),
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[distances, dim]", "all sines, then all cosines, of the clipped distance"},
    {"distance", "[distances]", "query minus key of each row, before clipping"},
    {"u", "[heads, dim/heads]", "what the query is replaced by against the content"},
    {"v", "[heads, dim/heads]", "what the query is replaced by against the position"},
    {"relative", "[queries, keys, dim]",
     "the sinusoid of the distance i - j itself; only with form=expanded"},
};
enum tensor { ENCODING, DISTANCE, U, V, RELATIVE };

/* The distance of row 0, and how many rows there are. */
static int64_t first_distance(const pe_relative *relative, int attention)
{
    return (int64_t)relative->keys - (attention == TXL);
}

static uint64_t rows_of(const pe_relative *relative, int attention)
{
    return relative->keys + (attention == BI ? relative->queries : attention == UNI ? 1 : 0);
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

static void release(void *of)
{
    transformer_xl *state = of;
    if (state) {
        pe_toeplitz_done(&state->relative);
        pe_distance_wave_done(&state->wave);
    }
    free(state);
}

static pe_trained vector(const pe_values *values, const char *name, const pe_tensor *tensor,
                         pe_error *reterr)
{
    pe_trained trained = pe_trained_of(values, name, tensor->shape[1], &PE_RELATIVE_RECIPE);
    pe_trained_check_magnitude(values, &trained, &PE_RELATIVE_RECIPE, tensor->shape[0], 1,
                               reterr);
    return trained;
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner;
    transformer_xl *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    pe_relative relative = pe_relative_read(values, reterr);
    int64_t clamp = (int64_t)PE_RELATIVE_MAX;
    if (pe_is_present(values, "clamp_length"))
        clamp = pe_integer(values, "clamp_length");
    state->first = first_distance(&relative, pe_choice(values, "attention"));
    state->dtype = pe_requested_dtype(values);
    state->u = vector(values, "u", &plan->tensors[U], reterr);
    state->v = vector(values, "v", &plan->tensors[V], reterr);
    if (reterr->status == PE_OK &&
        pe_distance_wave_init(&state->wave, state->dtype, (size_t)plan->tensors[0].shape[1],
                              pe_real(values, "base"), PE_WAVE_CONCAT, -clamp, clamp, -1) &&
        (relative.compact ||
         pe_toeplitz_init(&state->relative, &relative, &plan->tensors[RELATIVE], 1,
                          pe_distance_wave_write, &state->wave)))
        return state;
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *of, pe_window window,
                 void *dst)
{
    (void)values, (void)plan;
    const transformer_xl *state = of;
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

const pe_scheme pe_scheme_transformer_xl = {
    .info =
        {
            .name = "transformer_xl",
            .title = "Transformer-XL and XLNet relative encoding",
            .summary = "Sinusoids of the distances that a segment and its memory span, and the "
                       "learned vectors u and v.",
            .family = "relative",
            .formula = "encoding[r] = [sin(d * w), cos(d * w)], d = clip(first - r), w_c = "
                       "base^(-2c/dim); relative[i, j] is the row of d = i - j",
            .convention =
                "XLNet's and Transformer-XL's programs: distance is query minus key; u "
                "and v replace the projected query",
            .reference = "arXiv:1901.02860, section 3.3; arXiv:1906.08237",
            .example = "length=4&dim=8&heads=2",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .streamable = true,
};
