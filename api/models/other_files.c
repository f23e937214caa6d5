/* Which kind of file a body is: timm's, a file of a dialect, a config.json, or one that stands
 * beside it. */
#include "models/other_files.h"

#include "models/config.h"
#include "models/planning.h"
#include "models/rotary_planning.h"

#include <string.h>

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
    {"encoder decoder", "a model whose encoder and decoder have keys of their own",
     "each of the two alone, with the max_position_embeddings beside them"},
    {"restore_from_path", "a configuration of NeMo that names a checkpoint",
     "the configuration that is in it"},
    {"share_token_embeddings",
     "a configuration of NeMo whose encoder and decoder stand in other files",
     "each of the two alone, with the max_position_embeddings of this one"},
    {"parameters command", "a job of a platform", "what stands in its parameters"},
    {"model|models", "a configuration of a trainer",
     "the config.json of the model that it names, or what has its layers, width and heads"},
};

/* Refuse an object that is none of a config.json, but known. False: it is not known. */
static bool refuse_file_beside(const json_t *file, pe_error *reterr)
{
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (!model_has_keys(file, OTHERS[i].keys))
            continue;
        pe_problem *problem =
            pe_error_add(reterr, PE_OUT_OF_RANGE, "model_type", "",
                         "that of a config.json; this seems to be %s: send %s", OTHERS[i].what,
                         OTHERS[i].instead);
        problem->reason = PE_REASON_MISSING;
        return true;
    }
    return false;
}

/* Whether a file names a class of diffusers that may be a model's. */
static bool names_model(const json_t *file)
{
    const char *name = json_string_value(json_object_get(file, "_class_name"));
    return name && !model_has_ending(name, "Pipeline Scheduler");
}

json_t *model_translate(json_t *file, json_t *notes, json_t *paths, pe_error *reterr)
{
    const json_t *type = json_object_get(file, "model_type");
    const char *name = json_string_value(type);
    if (type && !name && !json_is_null(type)) {
        model_refuse_value(reterr, "model_type", type, "a string");
        return NULL;
    }
    if (model_has_keys(file, "architecture") && !model_has_a_key(file, "dim hidden_size") &&
        (!name || strcmp(name, "timm_wrapper") == 0))
        return model_translate_timm(file, notes, reterr);
    json_t *config = model_read_dialect(file, notes, paths, reterr);
    if (config || reterr->count > 0)
        return config;
    if (!name && !names_model(file) &&
        !refuse_file_beside(json_object_get(file, "model"), reterr))
        refuse_file_beside(file, reterr);
    return reterr->count > 0 ? NULL : json_incref(file);
}
