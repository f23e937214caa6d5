/* Looking up positions in runs of text, pictures and videos. */
#include "positions/runs.h"

#include "numerics/dd.h"

#include <math.h>
#include <stdlib.h>

#define MOST 0x1p53

/* The size of a grid, after merging. */
typedef struct grid_size {
    uint64_t frames, height, width;
} grid_size;

static grid_size read_grid_size(const pe_runs *runs, size_t grid)
{
    const double *size = &runs->sizes[PE_RUN_AXES * grid];
    const uint64_t frames = (uint64_t)size[0];
    return (grid_size){
        .frames = frames > 1 ? frames / (uint64_t)runs->temporal_merge : frames,
        .height = (uint64_t)size[1] / (uint64_t)runs->spatial_merge,
        .width = (uint64_t)size[2] / (uint64_t)runs->spatial_merge,
    };
}

static uint64_t cells_of(grid_size size)
{
    double cells = (double)size.frames * (double)size.height * (double)size.width;
    return (uint64_t)fmin(cells, MOST);
}

/* The position of a frame, counted from that of the first one. */
static int64_t time_of(const pe_runs *runs, size_t grid, uint64_t frame)
{
    if (runs->frames == PE_FRAMES_BY_INDEX)
        return (int64_t)frame;
    double seconds = runs->seconds ? runs->seconds[grid] : 1;
    if (runs->frames == PE_FRAMES_BY_WHOLE_SECONDS)
        seconds = floor(seconds);
    dd tokens = dd_two_prod((double)frame * (double)runs->tokens_per_second, seconds);
    double whole = floor(tokens.hi);
    if (whole == tokens.hi && tokens.lo < 0)
        whole -= 1;
    return (int64_t)fmin(whole, MOST);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The start of the run after the `index`-th one, which starts at `at`. */
static pe_run_start next_start(const pe_runs *runs, size_t index, pe_run_start at)
{
    uint64_t rows = (uint64_t)runs->text[index / 2], positions = rows;
    if (index % 2 == 1) {
        grid_size size = read_grid_size(runs, index / 2);
        rows = cells_of(size);
        positions = (uint64_t)time_of(runs, index / 2, size.frames - 1) + 1;
        positions = larger(positions, larger(size.height, size.width));
    }
    return (pe_run_start){
        .row = (uint64_t)fmin((double)at.row + (double)rows, MOST),
        .position = (int64_t)fmin((double)at.position + (double)positions, MOST),
    };
}

pe_run_start pe_runs_end(const pe_runs *runs)
{
    pe_run_start at = {0, runs->first};
    for (size_t i = 0; i < 2 * runs->grids + 1; i++)
        at = next_start(runs, i, at);
    return at;
}

bool pe_runs_prepare(pe_runs *runs)
{
    runs->starts = NULL;
    if (!runs->text)
        return true;
    runs->starts = malloc((2 * runs->grids + 2) * sizeof *runs->starts);
    if (!runs->starts)
        return false;
    runs->starts[0] = (pe_run_start){0, runs->first};
    for (size_t i = 0; i < 2 * runs->grids + 1; i++)
        runs->starts[i + 1] = next_start(runs, i, runs->starts[i]);
    runs->rows = runs->starts[2 * runs->grids + 1].row;
    return true;
}

void pe_runs_done(pe_runs *runs)
{
    free(runs->starts);
    runs->starts = NULL;
}

int64_t pe_runs_next(const pe_runs *runs)
{
    double most = 0;
    if (runs->text)
        return runs->starts[2 * runs->grids + 1].position;
    for (uint64_t i = 0; i < PE_RUN_AXES * runs->rows; i++)
        most = fmax(most, runs->position_ids[i]);
    return (int64_t)most + 1;
}

/* The run that has a row. */
static size_t run_of(const pe_runs *runs, uint64_t row)
{
    size_t low = 0, high = 2 * runs->grids + 1; /* starts[low].row <= row < starts[high].row */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (runs->starts[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool pe_runs_text_at(const pe_runs *runs, uint64_t row, uint64_t *ret_count,
                     int64_t *ret_position)
{
    if (!runs->text) {
        *ret_count = runs->rows - row;
        return false;
    }
    const size_t run = run_of(runs, row);
    const pe_run_start start = runs->starts[run];
    *ret_count = runs->starts[run + 1].row - row;
    *ret_position = start.position + (int64_t)(row - start.row);
    return run % 2 == 0;
}

/* The positions of `count` cells of a grid. */
static void write_cells(const pe_runs *runs, size_t run, size_t axis, uint64_t row,
                        size_t count, double *ret_positions)
{
    const grid_size size = read_grid_size(runs, run / 2);
    const pe_run_start start = runs->starts[run];
    const uint64_t cell = row - start.row, plane = size.height * size.width;
    uint64_t column = cell % size.width, line = cell / size.width % size.height;
    uint64_t frame = cell / plane;
    for (size_t i = 0; i < count; i++) {
        const int64_t offsets[] = {axis == 0 ? time_of(runs, run / 2, frame) : 0, (int64_t)line,
                                   (int64_t)column};
        ret_positions[i] = (double)(start.position + offsets[axis]);
        if (++column < size.width)
            continue;
        column = 0;
        if (++line < size.height)
            continue;
        line = 0;
        frame++;
    }
}

void pe_runs_positions(const pe_runs *runs, size_t axis, uint64_t row, size_t count,
                       double *ret_positions)
{
    for (size_t done = 0, some; done < count; done += some) {
        uint64_t rest;
        int64_t position;
        bool text = pe_runs_text_at(runs, row + done, &rest, &position);
        some = rest < count - done ? (size_t)rest : count - done;
        if (!runs->text)
            for (size_t i = 0; i < some; i++)
                ret_positions[done + i] =
                    runs->position_ids[axis * runs->rows + row + done + i];
        else if (text)
            for (size_t i = 0; i < some; i++)
                ret_positions[done + i] = (double)(position + (int64_t)i);
        else
            write_cells(runs, run_of(runs, row + done), axis, row + done, some,
                        ret_positions + done);
    }
}
