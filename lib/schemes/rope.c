/* Rotary position embedding: the cosines and sines that rotate queries and keys. */
#include "waves/fill.h"
#include "waves/rotary_presets.h"
#include "waves/rotary_request.h"

#include <stdlib.h>

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    PE_DIM_PARAMETER(2, 2, "number of columns of a head"),
    PE_ROTARY_PARAMETERS,
};

static const pe_tensor_help TENSORS[] = {
    {"cos", "[n, dim/2] or [n, dim]", "attention factor times cos(k * w_i)"},
    {"sin", "[n, dim/2] or [n, dim]", "attention factor times sin(k * w_i)"},
    {"inv_freq", "[dim/2]", "w_i, in radians per position"},
};
enum tensor { COS, SIN, INV_FREQ };

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    pe_positions positions = pe_positions_read(values, reterr);
    pe_rotary rotary = pe_rotary_read(values);
    uint64_t columns = pe_rotary_columns(values, &rotary);
    pe_dtype dtype = pe_requested_dtype(values);
    pe_rotary_check(values, &rotary, reterr);
    pe_plan_add(ret_plan, "cos", dtype, 2, (uint64_t[]){positions.count, columns});
    pe_plan_add(ret_plan, "sin", dtype, 2, (uint64_t[]){positions.count, columns});
    pe_plan_add(ret_plan, "inv_freq", dtype, 1, (uint64_t[]){rotary.width / 2});
}

/* ---- tables ---- */

/* The waves of the tables cos and sin, by tensor. They share their frequencies. */
typedef struct rope_waves {
    pe_wave tables[2];
} rope_waves;

static void release(void *state)
{
    if (state)
        free(((rope_waves *)state)->tables[COS].frequencies);
    free(state);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner, (void)reterr;
    size_t columns = (size_t)plan->tensors[COS].shape[1];
    pe_rotary rotary = pe_rotary_read(values);
    rope_waves *waves = malloc(sizeof *waves);
    pe_wave *wave = waves ? pe_wave_new(values, columns, PE_WAVE_COSINES, columns) : NULL;
    if (wave) {
        dd attention = pe_rotary_factor(values, &rotary);
        wave->count = rotary.width / 2;
        wave->still = rotary.still;
        wave->amplitude = attention.hi;
        wave->amplitude_rest = attention.lo;
        wave->copies = pe_rotary_copies(values);
        wave->frequencies = pe_rotary_frequencies(&rotary);
        wave = pe_wave_ready(wave);
    }
    if (!wave) {
        free(waves);
        return NULL;
    }
    waves->tables[COS] = waves->tables[SIN] = *wave;
    waves->tables[SIN].layout = PE_WAVE_SINES;
    free(wave);
    return waves;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const rope_waves *waves = state;
    if (window.tensor != INV_FREQ) {
        pe_wave_fill(&waves->tables[window.tensor], window.first, window.rows, dst);
        return;
    }
    const pe_wave *wave = &waves->tables[COS];
    pe_wave_write_radians(wave->dtype, wave->frequencies + window.first, window.rows, dst);
}

const pe_scheme pe_scheme_rope = {
    .info =
        {
            .name = "rope",
            .title = "Rotary position embedding (RoPE)",
            .summary = "Cosines and sines that rotate queries and keys in attention, with the "
                       "scalings of long-context models.",
            .family = "rotary",
            .formula = "cos[r, i] = a * cos(k * w_i), sin[r, i] = a * sin(k * w_i), "
                       "w_i = rope_theta^(-2i/dim) scaled by rope_type, a = attention factor "
                       "(1 except for yarn and longrope); a pair is rotated as "
                       "(x, y) -> (x cos - y sin, x sin + y cos)",
            .convention =
                "Hugging Face's keys and half-split columns; applied to projected "
                "queries and keys; mscale and mscale_all_dim are ignored unless both are "
                "above 0",
            .reference = "arXiv:2104.09864, section 3.4; scalings: arXiv:2306.15595, "
                         "arXiv:2309.00071, arXiv:2402.13753",
            .example = "length=4&dim=8",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, pe_rotary_presets),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = pe_wave_price,
    .element_price = pe_wave_element_price,
    .streamable = true,
};
