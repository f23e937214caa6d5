/* Looking up positions in a prompt of text, pictures and videos. */
#include "positions/prompt.h"

#include "numerics/dd.h"

#include <math.h>

#define MOST 0x1p53

pe_prompt_grid pe_prompt_get_grid(const pe_prompt *prompt, size_t grid)
{
    const double *size = &prompt->sizes[PE_PROMPT_AXES * grid];
    const uint64_t frames = (uint64_t)size[0];
    return (pe_prompt_grid){{frames > 1 ? frames / (uint64_t)prompt->temporal_merge : frames,
                             (uint64_t)size[1] / (uint64_t)prompt->spatial_merge,
                             (uint64_t)size[2] / (uint64_t)prompt->spatial_merge}};
}

static uint64_t count_cells(const pe_prompt_grid *grid)
{
    const uint64_t *sizes = grid->sizes;
    double cells = (double)sizes[0] * (double)sizes[1] * (double)sizes[2];
    return (uint64_t)fmin(cells, MOST);
}

/* The position of a frame, counted from that of the first one. */
static int64_t compute_time(const pe_prompt *prompt, size_t grid, uint64_t frame)
{
    if (prompt->frames == PE_FRAMES_BY_INDEX)
        return (int64_t)frame;
    double seconds = prompt->seconds ? prompt->seconds[prompt->same_seconds ? 0 : grid] : 1;
    if (prompt->frames == PE_FRAMES_BY_WHOLE_SECONDS)
        seconds = floor(seconds);
    dd tokens = dd_two_prod((double)frame * (double)prompt->tokens_per_second, seconds);
    double whole = floor(tokens.hi);
    if (whole == tokens.hi && tokens.lo < 0)
        whole -= 1;
    return (int64_t)fmin(whole, MOST);
}

static uint64_t find_maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The start of the run after the `index`-th one, which starts at `at`. */
static pe_prompt_start next_start(const pe_prompt *prompt, size_t index, pe_prompt_start at)
{
    uint64_t rows = (uint64_t)prompt->text[index / 2], positions = rows;
    if (index % 2 == 1) {
        const pe_prompt_grid grid = pe_prompt_get_grid(prompt, index / 2);
        rows = count_cells(&grid);
        positions = (uint64_t)compute_time(prompt, index / 2, grid.sizes[0] - 1) + 1;
        positions = find_maximum(positions, find_maximum(grid.sizes[1], grid.sizes[2]));
    }
    return (pe_prompt_start){
        .row = (uint64_t)fmin((double)at.row + (double)rows, MOST),
        .position = (int64_t)fmin((double)at.position + (double)positions, MOST),
    };
}

pe_prompt_start pe_prompt_end(const pe_prompt *prompt)
{
    pe_prompt_start at = {0, prompt->first};
    for (size_t i = 0; i < 2 * prompt->grids + 1; i++)
        at = next_start(prompt, i, at);
    return at;
}

bool pe_prompt_prepare(pe_prompt *prompt, pe_pace *pace)
{
    prompt->starts = NULL;
    if (!prompt->text)
        return true;
    prompt->starts = pe_keep(pace, 2 * prompt->grids + 2, sizeof *prompt->starts);
    if (!prompt->starts)
        return false;
    prompt->starts[0] = (pe_prompt_start){0, prompt->first};
    for (size_t i = 0; i < 2 * prompt->grids + 1; i++)
        prompt->starts[i + 1] = next_start(prompt, i, prompt->starts[i]);
    prompt->rows = prompt->starts[2 * prompt->grids + 1].row;
    return true;
}

int64_t pe_prompt_next(const pe_prompt *prompt)
{
    double most = 0;
    if (prompt->text)
        return prompt->starts[2 * prompt->grids + 1].position;
    for (uint64_t i = 0; i < PE_PROMPT_AXES * prompt->rows; i++)
        most = fmax(most, prompt->position_ids[i]);
    return (int64_t)most + 1;
}

/* The run that has a row. */
static size_t find_run(const pe_prompt *prompt, uint64_t row)
{
    size_t low = 0,
           high = 2 * prompt->grids + 1; /* starts[low].row <= row < starts[high].row */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (prompt->starts[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

pe_prompt_start pe_prompt_grid_start(const pe_prompt *prompt, size_t grid)
{
    return prompt->starts[2 * grid + 1];
}

size_t pe_prompt_find_grid(const pe_prompt *prompt, uint64_t row)
{
    return find_run(prompt, row) / 2;
}

bool pe_runs_find_text(const pe_prompt *prompt, uint64_t row, uint64_t *ret_count,
                       int64_t *ret_position)
{
    if (!prompt->text) {
        *ret_count = prompt->rows - row;
        return false;
    }
    const size_t run = find_run(prompt, row);
    const pe_prompt_start start = prompt->starts[run];
    *ret_count = prompt->starts[run + 1].row - row;
    *ret_position = start.position + (int64_t)(row - start.row);
    return run % 2 == 0;
}

/* The positions of `count` cells of a grid. */
static void write_cells(const pe_prompt *prompt, size_t run, size_t axis, uint64_t row,
                        size_t count, double *ret_positions)
{
    const pe_prompt_grid grid = pe_prompt_get_grid(prompt, run / 2);
    const uint64_t height = grid.sizes[1], width = grid.sizes[2];
    const pe_prompt_start start = prompt->starts[run];
    const uint64_t cell = row - start.row;
    uint64_t column = cell % width, line = cell / width % height;
    uint64_t frame = cell / (height * width);
    for (size_t i = 0; i < count; i++) {
        const int64_t offsets[] = {axis == 0 ? compute_time(prompt, run / 2, frame) : 0,
                                   (int64_t)line, (int64_t)column};
        ret_positions[i] = (double)(start.position + offsets[axis]);
        if (++column < width)
            continue;
        column = 0;
        if (++line < height)
            continue;
        line = 0;
        frame++;
    }
}

void pe_prompt_positions(const pe_prompt *prompt, size_t axis, uint64_t row, size_t count,
                         double *ret_positions)
{
    for (size_t done = 0, some; done < count; done += some) {
        uint64_t rest;
        int64_t position;
        bool text = pe_runs_find_text(prompt, row + done, &rest, &position);
        some = rest < count - done ? (size_t)rest : count - done;
        if (!prompt->text)
            for (size_t i = 0; i < some; i++)
                ret_positions[done + i] =
                    prompt->position_ids[axis * prompt->rows + row + done + i];
        else if (text)
            for (size_t i = 0; i < some; i++)
                ret_positions[done + i] = (double)(position + (int64_t)i);
        else
            write_cells(prompt, find_run(prompt, row + done), axis, row + done, some,
                        ret_positions + done);
    }
}
