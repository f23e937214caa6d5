/* The parameters that describe a prompt of text, pictures and videos; reading them, and the
 * rules between them. */
#ifndef PE_PROMPT_REQUEST_H
#define PE_PROMPT_REQUEST_H

#include "positions/prompt.h"
#include "scheme.h"

#define PE_PROMPT_POSITION_MAX 2147483647 /* so that positions fit i32 */

/* The choices of frame_positions: those of pe_frame_positions, and PE_FRAMES_APART. */
extern const char *const pe_prompt_frame_positions[];
enum { PE_FRAMES_APART = PE_FRAMES_BY_WHOLE_SECONDS + 1 };

extern const pe_case pe_prompt_cases_seconds[], pe_prompt_cases_tokens[];

/* Rows of a parameter table. */
#define PE_PROMPT_PARAMETERS                                                                   \
    {.name = "text",                                                                           \
     .type = PE_INTEGER_LIST,                                                                  \
     .required = true,                                                                         \
     .unless = "position_ids",                                                                 \
     .minimum = 0,                                                                             \
     .maximum = PE_PROMPT_POSITION_MAX,                                                        \
     .unit = "tokens",                                                                         \
     .counts_rows = true,                                                                      \
     .help = "lengths of the texts: one before each of the grids and one after the last, any " \
             "of them may be 0"},                                                              \
        {.name = "grids",                                                                      \
         .type = PE_INTEGER_LIST,                                                              \
         .unless = "position_ids",                                                             \
         .minimum = 1,                                                                         \
         .maximum = 16777216,                                                                  \
         .unit = "patches",                                                                    \
         .help = "frames, height and width of each picture or video, one after the other, in " \
                 "patches before merging, as image_grid_thw and video_grid_thw"},              \
        {.name = "position_ids",                                                               \
         .type = PE_INTEGER_LIST,                                                              \
         .minimum = 0,                                                                         \
         .maximum = PE_PROMPT_POSITION_MAX,                                                    \
         .unit = "positions",                                                                  \
         .counts_rows = true,                                                                  \
         .help = "explicit positions instead of text and grids: all of time, then all of "     \
                 "height, then all of width"},                                                 \
        {.name = "first_position",                                                             \
         .type = PE_INTEGER,                                                                   \
         .unless = "position_ids",                                                             \
         .default_text = "0",                                                                  \
         .minimum = 0,                                                                         \
         .maximum = PE_PROMPT_POSITION_MAX,                                                    \
         .unit = "positions",                                                                  \
         .help = "position of the first token"},                                               \
        {.name = "spatial_merge_size",                                                         \
         .type = PE_INTEGER,                                                                   \
         .unless = "position_ids",                                                             \
         .default_text = "2",                                                                  \
         .minimum = 1,                                                                         \
         .maximum = 1024,                                                                      \
         .unit = "patches",                                                                    \
         .help = "side of the squares of patches that become one token"},                      \
        {.name = "temporal_merge_size",                                                        \
         .type = PE_INTEGER,                                                                   \
         .unless = "position_ids",                                                             \
         .default_text = "1",                                                                  \
         .minimum = 1,                                                                         \
         .maximum = 1024,                                                                      \
         .unit = "frames",                                                                     \
         .help = "how many frames become one; not of grids of a single frame, which are "      \
                 "pictures"},                                                                  \
        {.name = "frame_positions",                                                            \
         .type = PE_CHOICE,                                                                    \
         .default_text = "index",                                                              \
         .choices = pe_prompt_frame_positions,                                                 \
         .help =                                                                               \
             "how frame f of a grid advances in time; index: by f; seconds: by floor(f * "     \
             "seconds * tokens_per_second); whole_seconds: the same with the seconds cut to "  \
             "an integer; apart: each frame is a grid of its own, with a text before it"},     \
        {.name = "seconds_per_grid",                                                           \
         .type = PE_REAL_LIST,                                                                 \
         .one_for_all = true,                                                                  \
         .when = "frame_positions",                                                            \
         .cases = pe_prompt_cases_seconds,                                                     \
         .minimum = 0,                                                                         \
         .maximum = 1e6,                                                                       \
         .unit = "seconds",                                                                    \
         .help = "seconds from frame to frame, one for all grids or one for each, also of "    \
                 "pictures, where they do not count; 1 if not given"},                         \
    {                                                                                          \
        .name = "tokens_per_second", .type = PE_INTEGER, .when = "frame_positions",            \
        .cases = pe_prompt_cases_tokens, .minimum = 1, .maximum = 1000000,                     \
        .help = "positions for each second"                                                    \
    }

/* Read the parameters. The result is valid only if the rules hold; `rows` is set for
 * position_ids alone. */
pe_prompt pe_prompt_read(const pe_values *values);

/* Check the rules between the parameters, and set prompt->rows. */
void pe_prompt_check(const pe_values *values, pe_prompt *prompt, pe_error *reterr);

#endif
