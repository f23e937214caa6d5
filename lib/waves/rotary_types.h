/* The values of rope_type and the keys that they read, one row each. Whatever there is for each
 * of them is made of these rows: a part that is left out does not compile. A part that a type
 * does not need is NULL. */
#ifndef PE_ROTARY_TYPES_H
#define PE_ROTARY_TYPES_H

/* TYPE(constant, name, then functions of rotary.c and of recognise/rotary_types.c):
 *
 *     completes   what reading leaves open (pe_rotary_part)
 *     scales      the exact frequencies
 *     attention   the default factor of cosines and sines; NULL: 1
 *     rules       between the parameters
 *     search      tries its laws on a table: {.scaled = a function}, or {.grown = one} if the
 *                 type lets theta grow; {NULL}: none is tried */
#define PE_ROTARY_TYPES(TYPE)                                                                  \
    TYPE(DEFAULT, "default", NULL, NULL, NULL, NULL, {.scaled = try_plain})                    \
    /* position interpolation, arXiv:2306.15595 */                                             \
    TYPE(LINEAR, "linear", NULL, divide_by_factor, NULL, NULL, {.scaled = try_linear})         \
    /* a larger theta, that the last frequency is divided by factor */                         \
    TYPE(NTK, "ntk", NULL, scale_theta, NULL, check_growth, {.grown = try_ntk})                \
    /* NTK-RoPE-fixed, https://kexue.fm/archives/9706 */                                       \
    TYPE(NTK_FIXED, "ntk_fixed", NULL, divide_by_powers, NULL, NULL, {.grown = try_ntk_fixed}) \
    /* a theta that grows with the length of the sequence */                                   \
    TYPE(DYNAMIC, "dynamic", take_longest, scale_theta, NULL, check_dynamic,                   \
         {.grown = try_dynamic})                                                               \
    /* arXiv:2309.00071 */                                                                     \
    TYPE(YARN, "yarn", NULL, blend_by_index, yarn_attention, check_yarn, {.scaled = try_yarn}) \
    /* arXiv:2402.13753 */                                                                     \
    TYPE(LONGROPE, "longrope", NULL, divide_each, longrope_attention, check_longrope,          \
         {.scaled = NULL})                                                                     \
    /* Llama 3.1 */                                                                            \
    TYPE(LLAMA3, "llama3", NULL, blend_by_wavelength, NULL, check_llama3,                      \
         {.scaled = try_llama3})                                                               \
    /* rotates only the first pairs */                                                         \
    TYPE(PROPORTIONAL, "proportional", keep_the_last, zero_the_last, NULL, NULL,               \
         {.scaled = try_proportional})

/* KEY(kind, member of pe_rotary, name, least, most, the parameter that replaces it, help, then
 * with which types it is legal: {type, whether it is required, its default}). Of a key that was
 * not given the member is 0. */
#define PE_ROTARY_KEYS(KEY)                                                                    \
    KEY(REAL, factor, "factor", 1, 1e9, NULL, "how many times longer the context becomes",     \
        {"linear", true, NULL}, {"ntk", true, NULL}, {"ntk_fixed", true, NULL},                \
        {"dynamic", false, NULL}, {"yarn", true, NULL}, {"longrope", false, NULL},             \
        {"llama3", false, "8"}, {"proportional", false, "1"})                                  \
    KEY(POSITIONS, original, "original_max_position_embeddings", 1, PE_POSITION_MAX, NULL,     \
        "context length that the model was trained with", {"dynamic", false, NULL},            \
        {"yarn", true, NULL}, {"longrope", true, NULL}, {"llama3", false, "8192"})             \
    KEY(POSITIONS, longest, "max_position_embeddings", 1, PE_POSITION_MAX, NULL,               \
        "dynamic: as original_max_position_embeddings; longrope: factor is this by the "       \
        "original one, unless factor is given",                                                \
        {"dynamic", false, NULL}, {"longrope", false, NULL})                                   \
    KEY(POSITIONS, seq_len, "seq_len", 1, PE_POSITION_MAX, NULL,                               \
        "length of the current sequence", {"dynamic", false, NULL}, {"longrope", true, NULL})  \
    KEY(REAL, alpha, "alpha", 1, 1e9, NULL,                                                    \
        "as in Hunyuan: theta grows by alpha^(d/(d-2)) for every sequence, and the other "     \
        "keys of rope_type=dynamic are ignored",                                               \
        {"dynamic", false, NULL})                                                              \
    KEY(REAL, attention, "attention_factor", 1e-30, 1e30, NULL,                                \
        "factor of cosines and sines; follows from the other keys where it is not given",      \
        {"yarn", false, NULL}, {"longrope", false, NULL})                                      \
    KEY(REAL, mscale, "mscale", 0, 1000, "attention_factor",                                   \
        "numerator of the attention factor; as in Hugging Face's code ignored unless both it " \
        "and mscale_all_dim are above 0",                                                      \
        {"yarn", false, NULL})                                                                 \
    KEY(REAL, mscale_all_dim, "mscale_all_dim", 0, 1000, "attention_factor",                   \
        "denominator of the attention factor; ignored unless both it and mscale are above 0",  \
        {"yarn", false, NULL})                                                                 \
    KEY(REAL, beta_fast, "beta_fast", 0.001, 1e9, NULL,                                        \
        "frequencies with more rotations than this over the original length are kept",         \
        {"yarn", false, "32"})                                                                 \
    KEY(REAL, beta_slow, "beta_slow", 0.001, 1e9, NULL,                                        \
        "frequencies with fewer rotations than this over the original length are divided by "  \
        "factor",                                                                              \
        {"yarn", false, "1"})                                                                  \
    KEY(FLAG, truncate, "truncate", 0, 0, NULL,                                                \
        "round the bounds between these to whole indices; where the lower bound exceeds the "  \
        "last column (a small rope_theta), all frequencies are divided, as in Hugging Face's " \
        "code",                                                                                \
        {"yarn", false, "true"})                                                               \
    KEY(REAL, low_freq_factor, "low_freq_factor", 0.001, 1e6, NULL,                            \
        "frequencies with fewer rotations than this over the original length are divided by "  \
        "factor",                                                                              \
        {"llama3", false, "1"})                                                                \
    KEY(REAL, high_freq_factor, "high_freq_factor", 0.001, 1e6, NULL,                          \
        "frequencies with more rotations than this over the original length are kept",         \
        {"llama3", false, "4"})                                                                \
    KEY(LIST, short_factor, "short_factor", 0.5, 1e9, NULL,                                    \
        "dim/2 divisors of the frequencies, for a seq_len up to the original length",          \
        {"longrope", true, NULL})                                                              \
    KEY(LIST, long_factor, "long_factor", 0.5, 1e9, NULL,                                      \
        "dim/2 divisors of the frequencies, for a seq_len beyond the original length",         \
        {"longrope", true, NULL})

#endif
