/* Reading a prompt of text, pictures and videos, and the rules between their parameters. */
#include "positions/prompt_request.h"

#include <stdio.h>

const char *const pe_prompt_frame_positions[] = {"index", "seconds", "whole_seconds", "apart",
                                                 NULL};

const pe_case pe_prompt_cases_seconds[] = {
    {.choice = "seconds"}, {.choice = "whole_seconds"}, {.choice = NULL}};

const pe_case pe_prompt_cases_tokens[] = {{.choice = "seconds", .default_text = "2"},
                                          {.choice = "whole_seconds", .default_text = "2"},
                                          {.choice = NULL}};

pe_prompt pe_prompt_read(const pe_values *values)
{
    pe_prompt prompt = {.spatial_merge = 1, .temporal_merge = 1};
    if (pe_is_present(values, "position_ids")) {
        const pe_value *ids = pe_value_find(values, "position_ids");
        prompt.position_ids = ids->items;
        prompt.rows = ids->count / PE_PROMPT_AXES;
        return prompt;
    }
    const int frames = pe_get_choice(values, "frame_positions");
    prompt.text = pe_value_find(values, "text")->items;
    prompt.first = pe_get_integer(values, "first_position");
    prompt.spatial_merge = pe_get_integer(values, "spatial_merge_size");
    prompt.temporal_merge = pe_get_integer(values, "temporal_merge_size");
    prompt.frames = frames == PE_FRAMES_APART ? PE_FRAMES_BY_INDEX : (pe_frame_positions)frames;
    if (pe_is_present(values, "grids")) {
        prompt.sizes = pe_value_find(values, "grids")->items;
        prompt.grids = pe_value_find(values, "grids")->count / PE_PROMPT_AXES;
    }
    const pe_value *seconds = pe_value_find(values, "seconds_per_grid");
    if (seconds->present)
        prompt.seconds = seconds->items;
    prompt.same_seconds = seconds->count == 1;
    if (pe_is_present(values, "tokens_per_second"))
        prompt.tokens_per_second = pe_get_integer(values, "tokens_per_second");
    return prompt;
}

static void refuse_grid(size_t grid, const char *rule, pe_error *reterr)
{
    char given[40];
    snprintf(given, sizeof given, "grid %zu", grid);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "grids", given, "%s", rule);
}

static void check_grids(const pe_values *values, const pe_prompt *prompt, pe_error *reterr)
{
    const bool apart = pe_get_choice(values, "frame_positions") == PE_FRAMES_APART;
    for (size_t i = 0; i < prompt->grids; i++) {
        const double *size = &prompt->sizes[PE_PROMPT_AXES * i];
        if ((int64_t)size[1] % prompt->spatial_merge != 0 ||
            (int64_t)size[2] % prompt->spatial_merge != 0) {
            refuse_grid(i, "of heights and widths that are multiples of spatial_merge_size",
                        reterr);
            return;
        }
        if (size[0] > 1 && (int64_t)size[0] % prompt->temporal_merge != 0) {
            refuse_grid(i, "of one frame, or of a multiple of temporal_merge_size", reterr);
            return;
        }
        if (size[0] > 1 && apart) {
            refuse_grid(i,
                        "of one frame with frame_positions=apart, where a text, as a time "
                        "stamp, comes before each frame",
                        reterr);
            return;
        }
    }
}

void pe_prompt_check(const pe_values *values, pe_prompt *prompt, pe_error *reterr)
{
    const size_t before = reterr->count;
    const pe_value *ids = pe_value_find(values, "position_ids");
    const pe_value *grids = pe_value_find(values, "grids");
    if (ids->present) {
        pe_check_count(values, "position_ids", (ids->count + 2) / 3 * 3, "three for each row",
                       reterr);
        return;
    }
    if (!pe_check_count(values, "grids", (grids->present ? grids->count + 2 : 0) / 3 * 3,
                        "three for each grid", reterr))
        return; /* how many grids there are is unknown */
    pe_check_count(values, "text", prompt->grids + 1,
                   "one before each grid and one after the last", reterr);
    if (!prompt->same_seconds)
        pe_check_count(values, "seconds_per_grid", prompt->grids,
                       "one for each grid, or one number", reterr);
    check_grids(values, prompt, reterr);
    if (reterr->count > before)
        return;
    const pe_prompt_start end = pe_prompt_end(prompt);
    char given[40];
    prompt->rows = end.row;
    snprintf(given, sizeof given, "next position %lld", (long long)end.position);
    if (end.row == 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "text", "no token", "such that there is a token");
    else if (end.position > PE_PROMPT_POSITION_MAX || end.row > PE_PROMPT_POSITION_MAX)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "text", given,
                     "such that there are at most 2^31-1 tokens, and positions below 2^31-1");
}
