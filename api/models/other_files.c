/* Each kind of file is a row of FILES: what tells it, and what translates it. A translation
 * copies keys under the names of a config.json; keys that it does not know stay, so that those
 * that look like positions are listed as not used. */
#include "models/other_files.h"

#include "models/config.h"
#include "models/dialects.h"
#include "models/gguf_config.h"
#include "models/plan_parts.h"
#include "models/rotary.h"
#include "models/timm.h"

#include <string.h>

/* Give a key of the file its name in a config.json, unless the config has one. `names` are
 * pairs of both, up to NULL. */
static void rename_keys(json_t *config, const char *const *names)
{
    for (; *names; names += 2) {
        json_t *value = json_object_get(config, names[0]);
        if (!value || strcmp(names[0], names[1]) == 0)
            continue;
        if (!json_object_get(config, names[1]))
            json_object_set(config, names[1], value);
        json_object_del(config, names[0]);
    }
}

/* Delete keys, which are joined by blanks. */
static void delete_keys(json_t *config, const char *keys)
{
    for (const char *at = keys; *at; at += strspn(at, " ")) {
        json_object_deln(config, at, strcspn(at, " "));
        at += strcspn(at, " ");
    }
}

static void set_type(json_t *config, const char *type)
{
    json_object_set_new(config, "model_type", json_string(type));
}

static bool is_set(const json_t *config, const char *key)
{
    return json_is_true(json_object_get(config, key));
}

/* ---- Meta and Mistral ---- */

static const char *const PARAMS[] = {
    "dim",      "hidden_size",         "n_layers",    "num_hidden_layers",
    "n_heads",  "num_attention_heads", "n_kv_heads",  "num_key_value_heads",
    "norm_eps", "rms_norm_eps",        "max_seq_len", "max_position_embeddings",
    NULL};

static json_t *translate_params(json_t *file, json_t *notes, pe_error *reterr)
{
    (void)reterr;
    json_t *config = json_copy(file);
    rename_keys(config, PARAMS);
    set_type(config, "llama_original");
    model_note(notes, "The file is a params.json as Meta and Mistral publish it: its weights "
                      "pair neighbouring columns, those of Hugging Face's files halves.");
    if (is_set(file, "use_scaled_rope")) {
        json_object_set_new(config, "rope_scaling", model_pack_llama3(8.0));
        model_note(notes, "use_scaled_rope: the factors 8, 1 and 4 and the length of 8192 are "
                          "constants of Meta's code; the file does not hold them. Llama 3.2 "
                          "was published with a factor of 32.");
    }
    json_object_del(config, "use_scaled_rope");
    return config;
}

/* ---- DeepSeek ---- */

static const char *const DEEPSEEK[] = {
    "dim",     "hidden_size",         "n_layers", "num_hidden_layers",
    "n_heads", "num_attention_heads", NULL};

static double number_or(const json_t *file, const char *key, double fallback)
{
    const json_t *value = json_object_get(file, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

static json_t *translate_deepseek(json_t *file, json_t *notes, pe_error *reterr)
{
    (void)reterr;
    json_t *config = json_copy(file);
    double original = number_or(file, "original_seq_len", 4096);
    double longest = number_or(file, "max_seq_len", 16384);
    double factor = number_or(file, "rope_factor", 40);
    rename_keys(config, DEEPSEEK);
    set_type(config, json_object_get(file, "index_head_dim") ? "deepseek_v32" : "deepseek_v3");
    if (longest > original)
        json_object_set_new(
            config, "rope_scaling",
            json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "rope_type", "yarn", "factor",
                      factor, "beta_fast", number_or(file, "beta_fast", 32), "beta_slow",
                      number_or(file, "beta_slow", 1), "mscale", number_or(file, "mscale", 1),
                      "mscale_all_dim", number_or(file, "mscale", 1),
                      "original_max_position_embeddings", original));
    json_object_set_new(config, "max_position_embeddings",
                        json_real(longest > original ? original * factor : longest));
    delete_keys(config, "original_seq_len max_seq_len rope_factor beta_fast beta_slow mscale");
    model_note(notes,
               "The file is a configuration of DeepSeek's own inference code, whose defaults "
               "hold where it says nothing: YaRN by 40 from 4096 positions for max_seq_len "
               "above these, which is 16384 unless given.");
    return config;
}

/* ---- gpt-oss ---- */

static json_t *translate_gpt_oss(json_t *file, json_t *notes, pe_error *reterr)
{
    (void)reterr;
    json_t *config = json_copy(file);
    double original = number_or(file, "initial_context_length", 4096);
    double factor = number_or(file, "rope_scaling_factor", 32);
    set_type(config, "gpt_oss");
    json_object_set_new(config, "rope_scaling",
                        json_pack("{s:s, s:f, s:f, s:f, s:b, s:f}", "rope_type", "yarn",
                                  "factor", factor, "beta_fast",
                                  number_or(file, "rope_ntk_beta", 32), "beta_slow",
                                  number_or(file, "rope_ntk_alpha", 1), "truncate", 0,
                                  "original_max_position_embeddings", original));
    if (!json_object_get(config, "max_position_embeddings"))
        json_object_set_new(config, "max_position_embeddings", json_real(original * factor));
    delete_keys(config,
                "initial_context_length rope_scaling_factor rope_ntk_alpha rope_ntk_beta");
    model_note(notes, "The file is a configuration of OpenAI's own code for gpt-oss.");
    return config;
}

/* ---- all kinds ---- */

/* A description of a model under other names. */
static const struct {
    const char *keys;  /* all of them are there … */
    const char *none;  /* … and none of these */
    const char *types; /* … and no model_type beside these */
    json_t *(*translate)(json_t *file, json_t *notes, pe_error *reterr);
} FILES[] = {
    {"dim n_layers n_heads qk_rope_head_dim", "hidden_size", "deepseek_v3 deepseek_v32",
     translate_deepseek},
    {"dim n_layers n_heads", "hidden_size sinusoidal_pos_embds", "llama mistral mixtral",
     translate_params},
    {"rope_scaling_factor rope_ntk_alpha initial_context_length", "", "gpt_oss",
     translate_gpt_oss},
    {"architecture", "dim hidden_size", "timm_wrapper", model_translate_timm},
};

/* Files that stand beside a config.json, by a key that tells them. */
static const struct {
    const char *keys, *what, *instead;
} OTHERS[] = {
    {"peft_type", "an adapter's adapter_config.json",
     "the config.json of its base model, which base_model_name_or_path names"},
    {"weight_map", "an index of weights, model.safetensors.index.json", "the config.json"},
    {"tokenizer_class", "a tokenizer's tokenizer_config.json", "the config.json"},
    {"added_tokens normalizer", "a tokenizer.json", "the config.json"},
    {"bos_token eos_token", "a special_tokens_map.json", "the config.json"},
    {"chat_template", "a chat template", "the config.json"},
    {"image_processor_type", "a preprocessor_config.json", "the config.json"},
    {"feature_extractor_type", "a preprocessor_config.json", "the config.json"},
    {"processor_class", "a processor_config.json", "the config.json"},
    {"_from_model_config", "a generation_config.json", "the config.json"},
    {"eos_token_id transformers_version", "a generation_config.json", "the config.json"},
    {"do_sample", "a generation_config.json", "the config.json"},
    {"word_embedding_dimension", "a pooling config of sentence-transformers",
     "the config.json of the folder above"},
    {"__version__", "a config_sentence_transformers.json", "the config.json beside it"},
    {"max_seq_length do_lower_case", "a sentence_bert_config.json",
     "the config.json beside it"},
    {"model_format", "a config of an Ollama image",
     "the GGUF file that is its model, as application/octet-stream"},
    {"quant_method", "a quantization config", "the config.json of the model"},
    {"zero_optimization", "a config of DeepSpeed", "the config.json of the model"},
    {"num_train_timesteps", "a scheduler_config.json of diffusers",
     "the config.json of the folder transformer or unet"},
    {"unet vae", "a model_index.json of diffusers",
     "the config.json of the folder transformer or unet"},
    {"transformer vae", "a model_index.json of diffusers",
     "the config.json of the folder transformer or unet"},
};

static void refuse_file_beside(const json_t *file, pe_error *reterr)
{
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (!model_has_keys(file, OTHERS[i].keys))
            continue;
        pe_problem *problem =
            pe_error_add(reterr, PE_OUT_OF_RANGE, "model_type", "",
                         "that of a config.json; this seems to be %s: send %s", OTHERS[i].what,
                         OTHERS[i].instead);
        problem->reason = PE_REASON_MISSING;
        return;
    }
}

/* Whether a file names a class of diffusers that may be a model's. */
static bool names_model(const json_t *file)
{
    const char *name = json_string_value(json_object_get(file, "_class_name"));
    return name && !model_has_ending(name, "Pipeline Scheduler");
}

json_t *model_translate(json_t *file, json_t *notes, json_t *paths, pe_error *reterr)
{
    const char *name = json_string_value(json_object_get(file, "model_type"));
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (model_has_keys(file, FILES[i].keys) && !model_has_a_key(file, FILES[i].none) &&
            (!name || model_lists(FILES[i].types, name)))
            return FILES[i].translate(file, notes, reterr);
    if (name && strcmp(name, "llama") == 0 && is_set(file, "rope_traditional")) {
        json_t *config = json_copy(file);
        set_type(config, "llama_original");
        json_object_del(config, "rope_traditional");
        model_note(notes, "rope_traditional, of MLX: pairs are neighbouring columns.");
        return config;
    }
    if (model_is_gguf(file))
        return model_config_of_gguf(file, notes, reterr);
    json_t *config = model_read_dialect(file, notes, paths, reterr);
    if (config || reterr->count > 0)
        return config;
    if (!name && !names_model(file))
        refuse_file_beside(file, reterr);
    return reterr->count > 0 ? NULL : json_incref(file);
}
