/* The parameters of rotary tables that do not depend on positions, by the names of Hugging
 * Face's transformers; reading them, and the rules between them. */
#ifndef PE_ROTARY_REQUEST_H
#define PE_ROTARY_REQUEST_H

#include "scheme.h"
#include "waves/rotary.h"
#include "waves/wave.h"

/* The choices of the parameters; those of rope_type are in the order of pe_rotary_type. */
extern const char *const pe_rotary_layouts[];
extern const char *const pe_rotary_tables[];
extern const char *const pe_rotary_types[];
enum { PE_ROTARY_HALF, PE_ROTARY_INTERLEAVED };
enum { PE_ROTARY_HALF_WIDTH, PE_ROTARY_FULL };

#define PE_ROTARY_ROW_REAL      .type = PE_REAL
#define PE_ROTARY_ROW_POSITIONS .type = PE_INTEGER, .unit = "positions"
#define PE_ROTARY_ROW_FLAG      .type = PE_BOOLEAN
#define PE_ROTARY_ROW_LIST      .type = PE_REAL_LIST
#define PE_ROTARY_ROW(kind, member, its_name, least, most, its_rival, text, ...)               \
    ,                                                                                          \
    {                                                                                          \
        PE_ROTARY_ROW_##kind, .name = (its_name), .minimum = (least), .maximum = (most),       \
                              .unless = (its_rival), .help = (text), .when = "rope_type",      \
                              .cases = (const pe_case[])                                       \
        {                                                                                      \
            __VA_ARGS__,                                                                       \
            {                                                                                  \
                .choice = NULL                                                                 \
            }                                                                                  \
        }                                                                                      \
    }

/* Rows of a parameter table, which has dim, the columns of a head, above them. */
#define PE_ROTARY_PARAMETERS                                                                   \
    {.name = "rope_theta",                                                                     \
     .type = PE_REAL,                                                                          \
     .default_text = "10000",                                                                  \
     .minimum = 1,                                                                             \
     .maximum = 1e18,                                                                          \
     .help = "base of the geometric frequencies"},                                             \
        {.name = "layout",                                                                     \
         .type = PE_CHOICE,                                                                    \
         .default_text = "half",                                                               \
         .choices = pe_rotary_layouts,                                                         \
         .help = "which columns of a full table form a pair; half: i and dim/2 + i; "          \
                 "interleaved: 2i and 2i + 1"},                                                \
        {.name = "table",                                                                      \
         .type = PE_CHOICE,                                                                    \
         .default_text = "half_width",                                                         \
         .choices = pe_rotary_tables,                                                          \
         .help = "half_width: one column for each frequency; full: dim columns, so that each " \
                 "value occurs twice"},                                                        \
        {.name = "partial_rotary_factor",                                                      \
         .type = PE_REAL,                                                                      \
         .default_text = "1",                                                                  \
         .maximum = 1,                                                                         \
         .help = "part of dim that is rotated: the tables have dim times this many columns, "  \
                 "rounded down to an integer, which must be even; with "                       \
                 "rope_type=proportional the first frequencies rotate and the others are 0"},  \
        {.name = "rope_type",                                                                  \
         .type = PE_CHOICE,                                                                    \
         .default_text = "default",                                                            \
         .choices = pe_rotary_types,                                                           \
         .help =                                                                               \
             "how the frequencies are scaled for longer contexts; of those that libraries "    \
             "call ntk, ntk: theta times factor^(d/(d-2)); ntk_fixed, of vLLM and GTE: theta " \
             "times factor, and all divided by factor^(2/d)"} PE_ROTARY_KEYS(PE_ROTARY_ROW)

/* Read the parameters. The result is valid only if the rules hold. */
pe_rotary pe_rotary_read(const pe_values *values);

/* Check the rules between the parameters. */
void pe_rotary_check(const pe_values *values, const pe_rotary *rotary, pe_error *reterr);

/* The columns of the tables, and where a wave of sines or cosines alone has its entries. */
size_t pe_rotary_columns(const pe_values *values, const pe_rotary *rotary);
pe_wave_copies pe_rotary_copies(const pe_values *values);

#endif
