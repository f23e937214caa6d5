/* Multimodal rotary position embedding: pairs of columns that turn by time, height or width. */
#include "positions/prompt_request.h"
#include "waves/axial.h"
#include "waves/fill.h"
#include "waves/presets.h"
#include "waves/rotary_request.h"

#include <stdio.h>
#include <string.h>

static const char *const SECTION_ORDERS[] = {"chunked", "interleaved", "alternating", NULL};
enum section_order { CHUNKED, INTERLEAVED, ALTERNATING };
static const pe_parameter PARAMETERS[] = {
    PE_PROMPT_PARAMETERS,
    PE_DIM_PARAMETER(2, 2, "number of columns of a head"),
    {.name = "mrope_section",
     .type = PE_INTEGER_LIST,
     .default_text = "16,24,24",
     .minimum = 0,
     .maximum = PE_DIM_MAX,
     .unit = "pairs",
     .help = "pairs that turn by time, height and width; with section_order=alternating by "
             "height, width and time"},
    {.name = "section_order",
     .type = PE_CHOICE,
     .default_text = "chunked",
     .choices = SECTION_ORDERS,
     .help =
         "which pairs; chunked: one section after the other; interleaved: of every three "
         "pairs one each, and time has the last ones; alternating: height and width in turn, "
         "and time has the last ones"},
    PE_ROTARY_PARAMETERS,
};

static const pe_tensor_help TENSORS[] = {
    {"cos", "[n, dim/2] or [n, dim]", "attention factor times the cosines of the angles"},
    {"sin", "[n, dim/2] or [n, dim]", "attention factor times the sines of the angles"},
    {"inv_freq", "[dim/2]", "w_p, in radians per position"},
    {"position_ids", "[3, n]", "the positions in time, height and width"},
    {"axis", "[dim/2]", "by what each pair turns; 0: time, 1: height, 2: width"},
    {"rope_delta", "[1]", "the position of the next token of text, less n"},
};
enum tensor { COS, SIN, INV_FREQ, POSITION_IDS, AXIS, ROPE_DELTA };

/* ---- the request ---- */

typedef struct mrope_state {
    pe_rotary rotary;
    enum section_order order;
    uint64_t section[PE_PROMPT_AXES];
    pe_prompt prompt;
    pe_axes axes;     /* its arrays are prepared */
    pe_wave waves[2]; /* cosines and sines of text; their frequencies are those of the axes */
    size_t kept;      /* grids, the first ones, whose axes have tables */
    pe_axial *grids;  /* [kept]; prepared */
} mrope_state;

/* The axis of pair p, which lies beyond all sections if they are too small. */
static int32_t choose_axis(enum section_order order, const uint64_t section[PE_PROMPT_AXES],
                           uint64_t pair)
{
    switch (order) {
    case CHUNKED:
        return pair < section[0] ? 0 : pair < section[0] + section[1] ? 1 : 2;
    case INTERLEAVED:
        return pair % 3 != 0 && pair < 3 * section[pair % 3] ? (int32_t)(pair % 3) : 0;
    default:
        return pair < section[0] + section[1] ? (int32_t)(pair % 2) + 1 : 0;
    }
}

static void check_section(const pe_values *values, const mrope_state *state, pe_error *reterr)
{
    const uint64_t *section = state->section, pairs = state->rotary.width / 2;
    const size_t count = pe_value_find(values, "mrope_section")->count;
    char given[80];
    snprintf(given, sizeof given, "%zu items, %llu pairs together", count,
             (unsigned long long)(section[0] + section[1] + section[2]));
    if (count != PE_PROMPT_AXES || section[0] + section[1] + section[2] != pairs)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "mrope_section", given,
                     "3 numbers that are %llu together, the pairs that turn",
                     (unsigned long long)pairs);
    else if (state->order == ALTERNATING && section[0] != section[1])
        pe_error_add(reterr, PE_OUT_OF_RANGE, "mrope_section", given,
                     "such that height and width have equally many pairs with "
                     "section_order=alternating");
    else if (state->order == INTERLEAVED &&
             (3 * section[1] > pairs + 1 || 3 * section[2] > pairs))
        pe_error_add(reterr, PE_OUT_OF_RANGE, "mrope_section", given,
                     "such that pairs 1, 4, 7 … are enough for height and 2, 5, 8 … for width "
                     "with section_order=interleaved");
}

/* Plan the tables of the first grids, as many as may be kept. */
static void plan_grids(mrope_state *state, pe_plan *plan)
{
    const size_t row_bytes = pe_axes_row_bytes(&state->axes);
    double bytes = 0;
    for (state->kept = 0; state->kept < state->prompt.grids; state->kept++) {
        const pe_prompt_grid grid = pe_prompt_get_grid(&state->prompt, state->kept);
        double more = pe_axial_bytes(row_bytes, grid.sizes, PE_PROMPT_AXES) + sizeof(pe_axial);
        if (bytes + more > PE_AXIAL_TABLE_BYTES)
            break;
        bytes += more;
    }
    plan->state += (uint64_t)bytes;
    plan->price += PE_AXIAL_BYTE_PRICE * bytes;
}

static void plan_tensors(const mrope_state *state, pe_plan *plan)
{
    const pe_dtype dtype = state->axes.dtype;
    const double price = state->kept < state->prompt.grids ? 6 : 3;
    const uint64_t rows = state->prompt.rows, pairs = state->rotary.width / 2;
    const uint64_t table[2] = {rows, state->waves[COS].columns};
    pe_plan_add(plan, "cos", dtype, 2, table);
    pe_plan_price(plan, price);
    pe_plan_add(plan, "sin", dtype, 2, table);
    pe_plan_price(plan, price);
    pe_plan_add(plan, "inv_freq", dtype, 1, &pairs);
    pe_plan_add(plan, "position_ids", PE_I32, 2, (uint64_t[]){PE_PROMPT_AXES, rows});
    pe_plan_rows(plan, 2);
    pe_plan_price(plan, 3);
    pe_plan_add(plan, "axis", PE_I32, 1, &pairs);
    pe_plan_add(plan, "rope_delta", PE_I32, 1, (uint64_t[]){1});
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    static const pe_pair_layout LAYOUTS[] = {[PE_WAVE_ONCE] = PE_PAIRS_ONCE,
                                             [PE_WAVE_IN_HALVES] = PE_PAIRS_IN_HALVES,
                                             [PE_WAVE_IN_PAIRS] = PE_PAIRS_ADJACENT};
    const size_t before = reterr->count;
    const pe_value *section = pe_value_find(values, "mrope_section");
    mrope_state *state = ret_state;
    state->rotary = pe_rotary_read(values);
    state->order = (enum section_order)pe_get_choice(values, "section_order");
    state->prompt = pe_prompt_read(values);
    for (size_t i = 0; i < PE_PROMPT_AXES && i < section->count; i++)
        state->section[i] = (uint64_t)section->items[i];
    pe_prompt_check(values, &state->prompt, reterr);
    check_section(values, state, reterr);
    pe_rotary_check(values, &state->rotary, reterr);
    if (reterr->count > before)
        return;
    const dd attention = pe_rotary_attention(&state->rotary);
    const size_t columns = pe_rotary_columns(values, &state->rotary);
    const pe_wave_copies copies = pe_rotary_copies(values);
    state->axes = (pe_axes){.count = PE_PROMPT_AXES,
                            .pairs = state->rotary.width / 2,
                            .layout = LAYOUTS[copies],
                            .amplitude = attention,
                            .dtype = pe_requested_dtype(values)};
    state->waves[COS] = (pe_wave){.positions = {.step = 1},
                                  .count = state->axes.pairs,
                                  .layout = PE_WAVE_COSINES,
                                  .copies = copies,
                                  .still = state->rotary.still,
                                  .columns = columns,
                                  .row_columns = columns,
                                  .amplitude = attention.hi,
                                  .amplitude_rest = attention.lo,
                                  .dtype = state->axes.dtype};
    plan_grids(state, plan);
    plan_tensors(state, plan);
    plan->price +=
        PE_WAVE_FREQUENCY_PRICE * pe_get_real(values, "dim") + 20 * (double)state->prompt.grids;
}

/* ---- tables ---- */

/* Make the tables of a grid. False if memory ran out or the runner cancelled it. */
static bool prepare_grid(const mrope_state *state, size_t number, pe_axial *axial,
                         pe_pace *pace)
{
    const pe_prompt *prompt = &state->prompt;
    const pe_prompt_grid grid = pe_prompt_get_grid(prompt, number);
    const pe_prompt_start start = pe_prompt_grid_start(prompt, number);
    const uint64_t frames = grid.sizes[0], plane = grid.sizes[1] * grid.sizes[2];
    *axial = (pe_axial){
        .axes = &state->axes, .cells = frames * plane, .repeats = 1, .merge = 1, .kept = true};
    memcpy(axial->sizes, grid.sizes, sizeof grid.sizes);
    for (size_t a = 0; a < PE_PROMPT_AXES; a++)
        axial->coordinates[a].turned =
            (pe_positions){.count = grid.sizes[a], .offset = (double)start.position, .step = 1};
    if (prompt->frames == PE_FRAMES_BY_INDEX)
        return pe_axial_prepare(axial, pace);
    double *times = pe_keep(pace, frames, sizeof *times);
    for (uint64_t f = 0; times && f < frames; f++)
        pe_prompt_positions(prompt, 0, start.row + f * plane, 1, &times[f]);
    axial->coordinates[0].turned.list = times;
    return times && pe_axial_prepare(axial, pace);
}

/* The same of all grids that have tables. */
static bool prepare_grids(mrope_state *state, pe_pace *pace)
{
    if (state->kept == 0)
        return true;
    state->grids = pe_keep_zeros(pace, state->kept, sizeof *state->grids);
    bool good = state->grids != NULL;
    for (size_t i = 0; good && i < state->kept; i++)
        good = prepare_grid(state, i, &state->grids[i], pace);
    return good;
}

static bool prepare(void *context, pe_pace *pace)
{
    mrope_state *state = context;
    pe_axes *axes = &state->axes;
    if (!pe_axes_init(axes, pace) || !pe_prompt_prepare(&state->prompt, pace))
        return false;
    pe_rotary_write_frequencies(&state->rotary, axes->frequencies);
    for (size_t p = 0; p < axes->pairs; p++)
        axes->axis_of_pair[p] = choose_axis(state->order, state->section, p);
    pe_axes_ready(axes);
    state->waves[COS].frequencies = axes->frequencies;
    state->waves[SIN] = state->waves[COS];
    state->waves[SIN].layout = PE_WAVE_SINES;
    return prepare_grids(state, pace);
}

#define ROWS 512 /* of which positions are listed at a time */

/* Write up to ROWS rows at positions that are listed. */
static void fill_listed(const mrope_state *state, bool cosine, uint64_t row, size_t rows,
                        unsigned char *dst)
{
    double list[ROWS];
    const pe_positions positions = {.count = rows, .list = list};
    for (size_t a = 0; a < PE_PROMPT_AXES; a++) {
        pe_prompt_positions(&state->prompt, a, row, rows, list);
        pe_axes_write(&state->axes, a, cosine, &positions, 0, rows, dst,
                      pe_axes_row_bytes(&state->axes));
    }
}

/* Write some of `rows` rows of cosines or sines, those of a text or a grid; returns how many.
 * Those of a text are rows of a plain wave. */
static uint64_t fill_run(const mrope_state *state, size_t tensor, uint64_t row, uint64_t rows,
                         unsigned char *dst)
{
    const pe_prompt *prompt = &state->prompt;
    uint64_t some;
    int64_t position;
    const bool text = pe_runs_find_text(prompt, row, &some, &position);
    const size_t grid = text || !prompt->text ? 0 : pe_prompt_find_grid(prompt, row);
    some = some < rows ? some : rows;
    if (text) {
        pe_wave wave = state->waves[tensor];
        wave.positions.offset = (double)position;
        wave.positions.count = some;
        pe_wave_fill(&wave, 0, some, dst);
    } else if (grid < state->kept) {
        pe_axial_fill(&state->grids[grid], tensor == COS,
                      row - pe_prompt_grid_start(prompt, grid).row, some, dst);
    } else {
        some = some < ROWS ? some : ROWS;
        fill_listed(state, tensor == COS, row, (size_t)some, dst);
    }
    return some;
}

/* Write elements of position_ids, counted over all axes. */
static void fill_positions(const mrope_state *state, pe_window window, int32_t *dst)
{
    const uint64_t rows = state->prompt.rows;
    double list[ROWS];
    for (uint64_t done = 0, some; done < window.rows; done += some) {
        const uint64_t axis = (window.first + done) / rows, row = (window.first + done) % rows;
        some = window.rows - done < ROWS ? window.rows - done : ROWS;
        some = some < rows - row ? some : rows - row;
        pe_prompt_positions(&state->prompt, (size_t)axis, row, (size_t)some, list);
        for (uint64_t i = 0; i < some; i++)
            dst[done + i] = (int32_t)list[i];
    }
}

static void fill(const void *context, pe_window window, void *dst)
{
    const mrope_state *state = context;
    int32_t delta;
    switch ((enum tensor)window.tensor) {
    case COS:
    case SIN:
        for (uint64_t done = 0; done < window.rows;)
            done += fill_run(state, window.tensor, window.first + done, window.rows - done,
                             (unsigned char *)dst + done * pe_axes_row_bytes(&state->axes));
        return;
    case INV_FREQ:
        pe_wave_write_radians(state->axes.dtype, state->axes.frequencies + window.first,
                              window.rows, dst);
        return;
    case POSITION_IDS:
        fill_positions(state, window, dst);
        return;
    case AXIS:
        memcpy(dst, state->axes.axis_of_pair + window.first, window.rows * sizeof(int32_t));
        return;
    case ROPE_DELTA:
        delta = (int32_t)(pe_prompt_next(&state->prompt) - (int64_t)state->prompt.rows);
        memcpy(dst, &delta, sizeof delta);
        return;
    }
}

const pe_scheme pe_scheme_mrope = {
    .info =
        {
            .name = "mrope",
            .title = "Multimodal rotary position embedding (M-RoPE)",
            .summary = "Cosines and sines that rotate queries and keys by positions in time, "
                       "height and width: each pair of columns turns by one of them.",
            .family = "rotary",
            .keywords =
                "Qwen2-VL, Qwen2.5-VL, Qwen3-VL, Qwen-VL, GLM-4V, video, image, multimodal, 3d",
            .formula =
                "cos[r, p] = a * cos(k * w_p), sin[r, p] = a * sin(k * w_p), k = position "
                "of row r on the axis of pair p; w_p and a as of rope. A text's k is one "
                "more with each token; a grid's begins after the largest k before it and "
                "advances by frame, row and column",
            .convention = "Hugging Face's keys and get_rope_index; half-split columns, chunked "
                          "sections as of Qwen2-VL",
            .reference = "arXiv:2409.12191, section 2.1; arXiv:2502.13923 (Qwen2.5-VL)",
            .example = "text=2,1&grids=1,2,4&dim=128",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, pe_mrope_presets),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(mrope_state),
    PE_APPLIES(PE_ROTATION("query", "cos", "sin"), PE_ROTATION("key", "cos", "sin")),
    .errors = PE_ERRORS_OF_ANGLES,
};
