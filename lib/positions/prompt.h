/* The positions of a sequence of text, pictures and videos on three axes: time, height, width.
 *
 * A text has the same position on all axes, one more with each token. The cells of a grid of
 * frames, rows and columns begin at the position after the one before the grid, on every axis,
 * and what follows begins after the largest position of the grid (arXiv:2409.12191,
 * section 2.1). */
#ifndef PE_PROMPT_H
#define PE_PROMPT_H

#include "scheme.h"

#define PE_PROMPT_AXES 3

/* How the frames of a grid advance in time. */
typedef enum pe_frame_positions {
    PE_FRAMES_BY_INDEX,
    PE_FRAMES_BY_SECONDS,       /* floor(frame * seconds * tokens per second) */
    PE_FRAMES_BY_WHOLE_SECONDS, /* the same with the seconds cut to an integer */
} pe_frame_positions;

/* Texts and grids by turns: text 0, grid 0, text 1 … grid n-1, text n. */
typedef struct pe_prompt {
    const double *text;  /* tokens of each; borrowed. NULL: position_ids apply */
    const double *sizes; /* frames, rows and columns of each grid, before merging; borrowed */
    size_t grids;
    int64_t first;          /* position of the first row */
    int64_t spatial_merge;  /* rows, and columns, that become one */
    int64_t temporal_merge; /* frames that become one, where there are several */
    pe_frame_positions frames;
    const double *seconds; /* of one frame of each grid; borrowed; NULL: 1 */
    bool same_seconds;     /* the first number is that of all grids */
    int64_t tokens_per_second;

    const double *position_ids; /* [PE_PROMPT_AXES, rows]; borrowed */

    uint64_t rows;
    struct pe_prompt_start *starts; /* of each text and grid, and the end */
} pe_prompt;

/* Where a run starts. At most 2^53, where the true number is above. */
typedef struct pe_prompt_start {
    uint64_t row;
    int64_t position;
} pe_prompt_start;

/* The start of the run after the last one: the number of rows, and the position that comes
 * next. Not for position_ids. */
pe_prompt_start pe_prompt_end(const pe_prompt *prompt);

/* The frames, rows and columns of a grid, after merging. */
typedef struct pe_prompt_grid {
    uint64_t sizes[PE_PROMPT_AXES];
} pe_prompt_grid;

pe_prompt_grid pe_prompt_get_grid(const pe_prompt *prompt, size_t grid);

/* Where a grid starts. Once prepared. */
pe_prompt_start pe_prompt_grid_start(const pe_prompt *prompt, size_t grid);

/* The grid that has a row, which is in no text. Once prepared. */
size_t pe_prompt_find_grid(const pe_prompt *prompt, uint64_t row);

/* The position that comes next, above all others. Once prepared. */
int64_t pe_prompt_next(const pe_prompt *prompt);

/* Set what looking up rows needs, and the number of rows. False if memory ran out. */
bool pe_prompt_prepare(pe_prompt *prompt, pe_pace *pace);

/* Whether a row is part of a text. If so, *ret_count rows from it on are, *ret_position and the
 * positions after it; else they are not. */
bool pe_runs_find_text(const pe_prompt *prompt, uint64_t row, uint64_t *ret_count,
                       int64_t *ret_position);

/* The positions of rows [row, row + count) of one axis. */
void pe_prompt_positions(const pe_prompt *prompt, size_t axis, uint64_t row, size_t count,
                         double *ret_positions);

#endif
