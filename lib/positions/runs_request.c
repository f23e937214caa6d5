/* Reading runs of text, pictures and videos, and the rules between their parameters. */
#include "positions/runs_request.h"

#include <stdio.h>

const char *const pe_runs_frame_positions[] = {"index", "seconds", "whole_seconds", "apart",
                                               NULL};

const pe_case pe_runs_cases_seconds[] = {
    {.choice = "seconds"}, {.choice = "whole_seconds"}, {.choice = NULL}};

const pe_case pe_runs_cases_tokens[] = {{.choice = "seconds", .default_text = "2"},
                                        {.choice = "whole_seconds", .default_text = "2"},
                                        {.choice = NULL}};

pe_runs pe_runs_read(const pe_values *values)
{
    pe_runs runs = {.spatial_merge = 1, .temporal_merge = 1};
    if (pe_is_present(values, "position_ids")) {
        const pe_value *ids = pe_value_of(values, "position_ids");
        runs.position_ids = ids->items;
        runs.rows = ids->count / PE_RUN_AXES;
        return runs;
    }
    const int frames = pe_choice(values, "frame_positions");
    runs.text = pe_value_of(values, "text")->items;
    runs.first = pe_integer(values, "first_position");
    runs.spatial_merge = pe_integer(values, "spatial_merge_size");
    runs.temporal_merge = pe_integer(values, "temporal_merge_size");
    runs.frames = frames == PE_FRAMES_APART ? PE_FRAMES_BY_INDEX : (pe_frame_positions)frames;
    if (pe_is_present(values, "grids")) {
        runs.sizes = pe_value_of(values, "grids")->items;
        runs.grids = pe_value_of(values, "grids")->count / PE_RUN_AXES;
    }
    if (pe_is_present(values, "seconds_per_grid"))
        runs.seconds = pe_value_of(values, "seconds_per_grid")->items;
    if (pe_is_present(values, "tokens_per_second"))
        runs.tokens_per_second = pe_integer(values, "tokens_per_second");
    return runs;
}

static void refuse_grid(size_t grid, const char *rule, pe_error *reterr)
{
    char given[40];
    snprintf(given, sizeof given, "grid %zu", grid);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "grids", given, "%s", rule);
}

static void check_grids(const pe_values *values, const pe_runs *runs, pe_error *reterr)
{
    const bool apart = pe_choice(values, "frame_positions") == PE_FRAMES_APART;
    for (size_t i = 0; i < runs->grids; i++) {
        const double *size = &runs->sizes[PE_RUN_AXES * i];
        if ((int64_t)size[1] % runs->spatial_merge != 0 ||
            (int64_t)size[2] % runs->spatial_merge != 0) {
            refuse_grid(i, "of heights and widths that are multiples of spatial_merge_size",
                        reterr);
            return;
        }
        if (size[0] > 1 && (int64_t)size[0] % runs->temporal_merge != 0) {
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

void pe_runs_check(const pe_values *values, pe_runs *runs, pe_error *reterr)
{
    const size_t before = reterr->count;
    const pe_value *ids = pe_value_of(values, "position_ids");
    const pe_value *grids = pe_value_of(values, "grids");
    if (ids->present) {
        pe_check_count(values, "position_ids", (ids->count + 2) / 3 * 3, "three for each row",
                       reterr);
        return;
    }
    pe_check_count(values, "grids", (grids->present ? grids->count + 2 : 0) / 3 * 3,
                   "three for each grid", reterr);
    pe_check_count(values, "text", runs->grids + 1,
                   "one before each grid and one after the last", reterr);
    pe_check_count(values, "seconds_per_grid", runs->grids, "one for each grid", reterr);
    check_grids(values, runs, reterr);
    if (reterr->count > before)
        return;
    const pe_run_start end = pe_runs_end(runs);
    char given[40];
    runs->rows = end.row;
    snprintf(given, sizeof given, "next position %lld", (long long)end.position);
    if (end.row == 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "text", "no token", "such that there is a token");
    else if (end.position > PE_RUN_POSITION_MAX || end.row > PE_RUN_POSITION_MAX)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "text", given,
                     "such that there are at most 2^31-1 tokens, and positions below 2^31-1");
}
