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

/* With which rope_type a parameter is legal. */
extern const pe_case pe_rotary_cases_factor[], pe_rotary_cases_original[],
    pe_rotary_cases_longest[], pe_rotary_cases_seq_len[], pe_rotary_cases_alpha[],
    pe_rotary_cases_attention[], pe_rotary_cases_mscale[], pe_rotary_cases_beta_fast[],
    pe_rotary_cases_beta_slow[], pe_rotary_cases_truncate[], pe_rotary_cases_low[],
    pe_rotary_cases_high[], pe_rotary_cases_lists[];

#define PE_ROTARY_KEY(key, kind, least, most, its_cases, text)                                 \
    .name = (key), .type = (kind), .minimum = (least), .maximum = (most), .when = "rope_type", \
    .cases = (its_cases), .help = (text)

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
         .help = "how the frequencies are scaled for longer contexts"},                        \
        {PE_ROTARY_KEY("factor", PE_REAL, 1, 1e9, pe_rotary_cases_factor,                      \
                       "how many times longer the context becomes")},                          \
        {PE_ROTARY_KEY("original_max_position_embeddings", PE_INTEGER, 1, PE_POSITION_MAX,     \
                       pe_rotary_cases_original,                                               \
                       "context length that the model was trained with"),                      \
         .unit = "positions"},                                                                 \
        {PE_ROTARY_KEY("max_position_embeddings", PE_INTEGER, 1, PE_POSITION_MAX,              \
                       pe_rotary_cases_longest,                                                \
                       "dynamic: as original_max_position_embeddings; longrope: factor is "    \
                       "this by the original one, unless factor is given"),                    \
         .unit = "positions"},                                                                 \
        {PE_ROTARY_KEY("seq_len", PE_INTEGER, 1, PE_POSITION_MAX, pe_rotary_cases_seq_len,     \
                       "length of the current sequence"),                                      \
         .unit = "positions"},                                                                 \
        {PE_ROTARY_KEY("alpha", PE_REAL, 1, 1e9, pe_rotary_cases_alpha,                        \
                       "as in Hunyuan: theta grows by alpha^(d/(d-2)) for every sequence, "    \
                       "and the other keys of rope_type=dynamic are ignored")},                \
        {PE_ROTARY_KEY("attention_factor", PE_REAL, 1e-30, 1e30, pe_rotary_cases_attention,    \
                       "factor of cosines and sines; follows from the other keys where it is " \
                       "not given")},                                                          \
        {PE_ROTARY_KEY("mscale", PE_REAL, 0, 1000, pe_rotary_cases_mscale,                     \
                       "numerator of the attention factor; as in Hugging Face's code ignored " \
                       "unless both it and mscale_all_dim are above 0"),                       \
         .unless = "attention_factor"},                                                        \
        {PE_ROTARY_KEY("mscale_all_dim", PE_REAL, 0, 1000, pe_rotary_cases_mscale,             \
                       "denominator of the attention factor; ignored unless both it and "      \
                       "mscale are above 0"),                                                  \
         .unless = "attention_factor"},                                                        \
        {PE_ROTARY_KEY(                                                                        \
            "beta_fast", PE_REAL, 0.001, 1e9, pe_rotary_cases_beta_fast,                       \
            "frequencies with more rotations than this over the original length are kept")},   \
        {PE_ROTARY_KEY("beta_slow", PE_REAL, 0.001, 1e9, pe_rotary_cases_beta_slow,            \
                       "frequencies with fewer rotations than this over the original length "  \
                       "are divided by factor")},                                              \
        {PE_ROTARY_KEY("truncate", PE_BOOLEAN, 0, 0, pe_rotary_cases_truncate,                 \
                       "round the bounds between these to whole indices; where the lower "     \
                       "bound exceeds the last column (a small rope_theta), all frequencies "  \
                       "are divided, as in Hugging Face's code")},                             \
        {PE_ROTARY_KEY("low_freq_factor", PE_REAL, 0.001, 1e6, pe_rotary_cases_low,            \
                       "frequencies with fewer rotations than this over the original length "  \
                       "are divided by factor")},                                              \
        {PE_ROTARY_KEY(                                                                        \
            "high_freq_factor", PE_REAL, 0.001, 1e6, pe_rotary_cases_high,                     \
            "frequencies with more rotations than this over the original length are kept")},   \
        {PE_ROTARY_KEY(                                                                        \
            "short_factor", PE_REAL_LIST, 0.5, 1e9, pe_rotary_cases_lists,                     \
            "dim/2 divisors of the frequencies, for a seq_len up to the original length")},    \
    {                                                                                          \
        PE_ROTARY_KEY(                                                                         \
            "long_factor", PE_REAL_LIST, 0.5, 1e9, pe_rotary_cases_lists,                      \
            "dim/2 divisors of the frequencies, for a seq_len beyond the original length")     \
    }

/* Read the parameters. The result is valid only if the rules hold. */
pe_rotary pe_rotary_read(const pe_values *values);

/* Check the rules between the parameters. */
void pe_rotary_check(const pe_values *values, const pe_rotary *rotary, pe_error *reterr);

/* The factor of cosines and sines: as given, else that of the type. */
dd pe_rotary_factor(const pe_values *values, const pe_rotary *rotary);

/* The columns of the tables, and where a wave of sines or cosines alone has its entries. */
size_t pe_rotary_columns(const pe_values *values, const pe_rotary *rotary);
pe_wave_copies pe_rotary_copies(const pe_values *values);

#endif
