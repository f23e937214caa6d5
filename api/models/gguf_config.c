/* llama.cpp's names of architectures and keys, and what they are in a config.json. */
#include "models/gguf_config.h"

#include "models/config.h"
#include "models/plan_parts.h"
#include "models/rotary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY_ROOM = 128 };

static const struct architecture {
    const char *name, *model_type;
    bool permuted;
} ARCHITECTURES[] = {
#define ARCHITECTURE(...) {__VA_ARGS__},
#include "models/gguf_architectures.def"
#undef ARCHITECTURE
};

/* Keys after the architecture's name, and those of a config.json. */
static const char *const KEYS[][2] = {
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.relative_buckets_count", "relative_attention_num_buckets"},
    {"rope.freq_base", "rope_theta"},
    {"rope.freq_base_swa", "rope_local_base_freq"},
};

/* Keys of rope_scaling. */
static const char *const SCALING[][2] = {
    {"rope.scaling.type", "rope_type"},
    {"rope.scaling.factor", "factor"},
    {"rope.scale_linear", "factor"},
    {"rope.scaling.original_context_length", "original_max_position_embeddings"},
    {"rope.scaling.yarn_beta_fast", "beta_fast"},
    {"rope.scaling.yarn_beta_slow", "beta_slow"},
};

/* Metadata while they are read. */
typedef struct metadata {
    const json_t *file, *tensors; /* the tensors of a dump; NULL: it lists none */
    const struct architecture *architecture;
    json_t *config, *notes;
    pe_error *error;
} metadata;

/* What `gguf-dump --json` wraps each value in. */
static const json_t *unwrap_value(const json_t *value)
{
    const json_t *inner = json_object_get(value, "value");
    return inner ? inner : value;
}

static json_t *find_value(const metadata *from, const char *key)
{
    char name[KEY_ROOM];
    snprintf(name, sizeof name, "%s.%s", from->architecture->name, key);
    return (json_t *)unwrap_value(json_object_get(from->file, name));
}

/* A list with a number for each layer is that number where all agree; else NULL. */
static json_t *common_number(json_t *value)
{
    if (!json_is_array(value))
        return value;
    json_t *first = json_array_get(value, 0);
    for (size_t i = 1; i < json_array_size(value); i++)
        if (!json_equal(first, json_array_get(value, i)))
            return NULL;
    return first;
}

static void copy_keys(const metadata *from, const char *const (*keys)[2], size_t count,
                      json_t *to)
{
    for (size_t i = 0; i < count; i++) {
        json_t *value = find_value(from, keys[i][0]), *common = common_number(value);
        if (common && !json_is_null(common) && !json_object_get(to, keys[i][1]))
            json_object_set(to, keys[i][1], common);
        else if (value && !common)
            model_note(from->notes, "%s.%s differs between layers and is not read.",
                       from->architecture->name, keys[i][0]);
    }
}

/* ---- frequencies ---- */

/* Whether divisors are those of the llama3 law with factors 1 and 4. */
static bool is_llama3(const json_t *divisors, double theta, double factor, double original)
{
    size_t count = json_array_size(divisors);
    for (size_t i = 0; i < count; i++) {
        double wavelength = 2 * 3.14159265358979323846 * pow(theta, (double)i / (double)count);
        double given = json_number_value(json_array_get(divisors, i));
        double wanted = model_llama3_divisor(wavelength, factor, original);
        if (!(fabs(given - wanted) <= 1e-5 * wanted))
            return false;
    }
    return count > 0;
}

/* The rope_scaling that a tensor of divisors means: a published law, or the divisors. */
static json_t *scaling_from_divisors(const metadata *from, json_t *divisors)
{
    static const double FACTORS[] = {8, 32, 16, 2, 4};
    double theta = json_number_value(json_object_get(from->config, "rope_theta"));
    theta = theta > 0 ? theta : 10000;
    for (size_t i = 0; i < sizeof FACTORS / sizeof *FACTORS; i++)
        if (is_llama3(divisors, theta, FACTORS[i], 8192))
            return model_pack_llama3(FACTORS[i]);
    double longest =
        json_number_value(json_object_get(from->config, "max_position_embeddings"));
    return model_pack_divisors(json_incref(divisors), longest > 0 ? longest : 4096.0);
}

/* A tensor of divisors: its numbers, or anything else where these are not there; NULL: the file
 * has no such tensor. `gguf-dump --json` lists tensors without their numbers. */
static json_t *find_tensor(const metadata *from, const char *name)
{
    json_t *found = json_object_get(from->file, name);
    return found ? found : json_object_get(from->tensors, name);
}

/* Take the divisors of a tensor as `key` of the scaling; those that are not within the bytes
 * are a problem. */
static void take_divisors(const metadata *from, const char *tensor, json_t *scaling,
                          const char *key)
{
    json_t *divisors = find_tensor(from, tensor);
    if (json_is_array(divisors))
        json_object_set(scaling, key, divisors);
    else
        pe_error_add(from->error, PE_OUT_OF_RANGE, "body", tensor,
                     "the file up to the numbers of this tensor, which divide the frequencies; "
                     "or the config.json");
}

static bool is_type(const json_t *scaling, const char *type)
{
    const char *given = json_string_value(json_object_get(scaling, "rope_type"));
    return given && strcmp(given, type) == 0;
}

/* llama.cpp multiplies a YaRN table by this factor beside 0.1 ln(factor) + 1. */
static void scale_attention(const metadata *from, json_t *scaling)
{
    const json_t *given = find_value(from, "rope.scaling.attn_factor");
    double factor = json_number_value(json_object_get(scaling, "factor"));
    if (!json_is_number(given))
        return;
    bool yarn = is_type(scaling, "yarn") && factor > 1;
    json_object_set_new(
        scaling, "attention_factor",
        json_real(json_number_value(given) * (yarn ? 0.1 * log(factor) + 1 : 1)));
}

/* The rope_scaling of the metadata as a new reference; NULL: none. */
static json_t *read_scaling(const metadata *from)
{
    json_t *scaling = json_object(), *sections = find_value(from, "rope.dimension_sections");
    copy_keys(from, SCALING, sizeof SCALING / sizeof *SCALING, scaling);
    if (json_is_number(json_object_get(scaling, "factor")) &&
        !json_object_get(scaling, "rope_type"))
        json_object_set_new(scaling, "rope_type", json_string("linear"));
    scale_attention(from, scaling);
    if (is_type(scaling, "longrope")) {
        take_divisors(from, "rope_factors_long.weight", scaling, "long_factor");
        take_divisors(from, "rope_factors_short.weight", scaling, "short_factor");
    } else if (find_tensor(from, "rope_freqs.weight")) {
        json_object_clear(scaling);
        take_divisors(from, "rope_freqs.weight", scaling, "divisors");
        json_t *divisors = json_object_get(scaling, "divisors");
        json_t *law = divisors ? scaling_from_divisors(from, divisors) : json_object();
        json_decref(scaling);
        return law;
    }
    if (is_type(scaling, "yarn") && strcmp(from->architecture->model_type, "gpt_oss") == 0)
        json_object_set_new(scaling, "truncate", json_false());
    if (json_is_array(sections)) {
        if (!json_object_get(scaling, "rope_type"))
            json_object_set_new(scaling, "rope_type", json_string("default"));
        json_t *three = json_copy(sections);
        while (json_array_size(three) > 3)
            json_array_remove(three, json_array_size(three) - 1);
        json_object_set_new(scaling, "mrope_section", three);
    }
    if (json_object_size(scaling) > 0 && !is_type(scaling, "none"))
        return scaling;
    json_decref(scaling);
    return NULL;
}

/* The columns of a head that turn: all, a part of the head, or in a head apart. */
static void read_width(const metadata *from)
{
    double width = json_number_value(find_value(from, "rope.dimension_count"));
    double head = json_number_value(json_object_get(from->config, "head_dim"));
    double heads = json_number_value(json_object_get(from->config, "num_attention_heads"));
    double hidden = json_number_value(json_object_get(from->config, "hidden_size"));
    if (find_value(from, "attention.kv_lora_rank")) { /* latent attention: they are apart */
        json_object_del(from->config, "head_dim");
        json_object_set_new(from->config, "qk_rope_head_dim", json_real(width));
        return;
    }
    if (!(head > 0) && heads > 0)
        head = hidden / heads;
    if (width > 0 && head > 0 && fabs(width - head) > 0)
        json_object_set_new(from->config, "partial_rotary_factor", json_real(width / head));
}

/* MPT keeps what its biases grow to; 0: it has none. */
static void read_alibi(const metadata *from)
{
    const json_t *most = find_value(from, "attention.max_alibi_bias");
    if (strcmp(from->architecture->name, "mpt") == 0)
        json_object_set_new(from->config, "attn_config",
                            json_pack("{s:b, s:f}", "alibi", json_number_value(most) > 0,
                                      "alibi_bias_max", json_number_value(most)));
}

static bool is_read(const char *key)
{
    bool read = model_lists("rope.dimension_count rope.dimension_sections "
                            "rope.scaling.attn_factor rope.scaling.finetuned "
                            "rope.scaling.yarn_log_multiplier",
                            key);
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        read |= strcmp(KEYS[i][0], key) == 0;
    for (size_t i = 0; i < sizeof SCALING / sizeof *SCALING; i++)
        read |= strcmp(SCALING[i][0], key) == 0;
    return read;
}

/* Keep what is not read under its own name, so that keys of positions are listed as not used.
 */
static void keep_others(const metadata *from)
{
    const size_t length = strlen(from->architecture->name);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)from->file, key, value)
    {
        if (strncmp(key, from->architecture->name, length) == 0 && key[length] == '.' &&
            !is_read(key + length + 1))
            json_object_set(from->config, key, (json_t *)unwrap_value(value));
    }
}

/* ---- the whole ---- */

/* The pairs themselves, without what `gguf-dump --json` puts around them. */
static const json_t *find_pairs(const json_t *file)
{
    const json_t *inner = json_object_get(file, "metadata");
    return json_is_object(inner) ? inner : file;
}

bool model_is_gguf(const json_t *file)
{
    return json_object_get(find_pairs(file), "general.architecture") != NULL;
}

static const struct architecture *find_architecture(const char *name)
{
    for (size_t i = 0; name && i < sizeof ARCHITECTURES / sizeof *ARCHITECTURES; i++)
        if (strcmp(ARCHITECTURES[i].name, name) == 0)
            return &ARCHITECTURES[i];
    return NULL;
}

static void refuse_architecture(const char *name, pe_error *reterr)
{
    const char *names[sizeof ARCHITECTURES / sizeof *ARCHITECTURES];
    size_t count = sizeof names / sizeof *names;
    for (size_t i = 0; i < count; i++)
        names[i] = ARCHITECTURES[i].name;
    pe_problem *problem =
        pe_error_add(reterr, PE_OUT_OF_RANGE, "general.architecture", name ? name : "",
                     "one of llama.cpp's architectures whose keys are known, such as llama, "
                     "qwen3 or gemma3; or send the model's config.json");
    problem->reason = PE_REASON_CHOICE;
    pe_problem_suggest(problem, name ? pe_find_nearest_name(name, names, count) : NULL);
}

static void note_conversion(const metadata *from)
{
    model_note(from->notes,
               "The config was read from the metadata of a GGUF file of the architecture %s.",
               from->architecture->name);
    const json_t *cut = json_object_get(from->file, "cut");
    if (json_is_true(cut) || (!cut && !from->tensors))
        model_note(from->notes,
                   "The file's list of tensors is not here as a whole: if the file has a "
                   "tensor rope_freqs.weight (Llama 3.1 and later), its divisors of the "
                   "frequencies are missing here. Send more of the file.");
    if (from->architecture->permuted)
        model_note(from->notes,
                   "llama.cpp's converter has exchanged columns of this architecture's queries "
                   "and keys, so that its own kernels pair neighbouring columns; the pairing "
                   "named here is that of Hugging Face's weights.");
    if (find_value(from, "rope.scaling.yarn_log_multiplier"))
        model_note(from->notes, "yarn_log_multiplier, of which releases of llama.cpp have two "
                                "readings, is not read: mscale and mscale_all_dim count as "
                                "equal, as in all published files.");
}

json_t *model_config_of_gguf(json_t *file, json_t *notes, pe_error *reterr)
{
    const json_t *pairs = find_pairs(file);
    const char *name =
        json_string_value(unwrap_value(json_object_get(pairs, "general.architecture")));
    metadata from = {.file = pairs,
                     .tensors = json_object_get(file, "tensors"),
                     .architecture = find_architecture(name),
                     .notes = notes,
                     .error = reterr};
    if (!from.architecture) {
        refuse_architecture(name, reterr);
        return NULL;
    }
    from.config = json_object();
    json_object_set_new(from.config, "model_type", json_string(from.architecture->model_type));
    note_conversion(&from);
    copy_keys(&from, KEYS, sizeof KEYS / sizeof *KEYS, from.config);
    read_width(&from);
    json_t *scaling = read_scaling(&from);
    if (scaling && find_value(&from, "rope.scaling.yarn_log_multiplier")) {
        json_object_set_new(scaling, "mscale", json_real(1));
        json_object_set_new(scaling, "mscale_all_dim", json_real(1));
    }
    if (scaling)
        json_object_set_new(from.config, "rope_scaling", scaling);
    read_alibi(&from);
    keep_others(&from);
    if (reterr->count == 0)
        return from.config;
    json_decref(from.config);
    return NULL;
}
