/* How the heads of a model's queries and keys lie: what its plan says of the columns that turn,
 * and the keys of its config that say how many heads there are. */
#include "models/attention.h"

#include "models/chosen_part.h"
#include "models/config_text.h"
#include "models/known_models.h"
#include "models/other_files.h"
#include "models/plan.h"
#include "models/types.h"

#include "json/document.h"

#include <stdio.h>
#include <string.h>

/* ---- the plan's part ---- */

static bool has_rotary_heads(const api_model_part *part)
{
    return part->pairing && !part->second && api_model_part_fact(part, "head_dim") >= 1;
}

/* The rotary part of the text, or of the only component that has one; NULL: none. */
static const api_model_part *find_part(const api_model_plan *plan)
{
    const api_model_part *found = NULL;
    for (size_t i = 0; i < plan->part_count; i++) {
        const api_model_part *part = &plan->parts[i];
        if (!has_rotary_heads(part))
            continue;
        if (strcmp(plan->components[part->component].name, "text") == 0)
            return part;
        found = found ? found : part;
    }
    return found;
}

/* Another part of the component whose heads are of another kind; NULL: none. */
static const api_model_part *find_unlike_part(const api_model_plan *plan,
                                              const api_model_part *one)
{
    for (size_t i = 0; i < plan->part_count; i++) {
        const api_model_part *part = &plan->parts[i];
        if (part->component == one->component && has_rotary_heads(part) &&
            (api_model_part_fact(part, "head_dim") != api_model_part_fact(one, "head_dim") ||
             api_model_part_fact(part, "rotary_dim") != api_model_part_fact(one, "rotary_dim")))
            return part;
    }
    return NULL;
}

/* ---- the config's keys ---- */

static uint64_t read_count(const model_config *config, const char *keys)
{
    model_number count = model_integer(config, keys, NAN);
    return count.given && count.value >= 1 && count.value <= 1048576 ? (uint64_t)count.value
                                                                     : 0;
}

/* Falcon: new_decoder_architecture has num_kv_heads, others one key or as many as queries. */
static void read_falcon(const model_config *config, api_attention *attention)
{
    api_origin from;
    const bool is_new = model_flag(config, "new_decoder_architecture", false, &from);
    const bool is_multi_query = model_flag(config, "multi_query", true, &from);
    if (!is_new)
        attention->kv_heads = is_multi_query ? 1 : attention->heads;
    snprintf(attention->qkv, sizeof attention->qkv, "%s",
             is_new || is_multi_query ? "grouped" : "by_head");
}

/* CodeGen: four blocks, each with a quarter of the queries, the values and the keys. */
static void read_codegen(const model_config *config, api_attention *attention)
{
    const unsigned quarter = (unsigned)(attention->heads / 4);
    (void)config;
    attention->kv_heads = attention->heads;
    if (quarter > 0)
        snprintf(attention->qkv, sizeof attention->qkv, "q%u,v%u,k%u", quarter, quarter,
                 quarter);
}

/* Classes with one projection of query, key and value: how it holds them. */
static const struct {
    const char *types, *qkv;
    void (*read)(const model_config *config, api_attention *attention);
} FUSED[] = {
    {"phi3 phi4_multimodal dbrx qwen baichuan modernbert modernbert-decoder nomic-bert-2048",
     "stacked", NULL},
    {"gpt_neox gpt_neox_japanese persimmon", "by_head", NULL},
    {"internlm2 megatron", "grouped", NULL},
    {"falcon", "", read_falcon},
    {"codegen", "", read_codegen},
};

/* Heads with latents (MLA): the last columns of a query turn, qk_rope_head_dim behind
 * qk_nope_head_dim, which DeepSeek's classes have a default of; the config's
 * num_key_value_heads is that of the expanded keys. */
static void read_latent(const model_config *config, const char *type, api_attention *attention)
{
    const bool is_deepseek = model_lists("deepseek_v2 deepseek_v3 deepseek_v32", type);
    const uint64_t turned = read_count(config, "qk_rope_head_dim");
    const model_number still =
        model_required(config, "qk_nope_head_dim", is_deepseek ? 128 : NAN, 0);
    attention->rotary_offset = -(int64_t)turned;
    attention->rotary_dim = turned;
    attention->head_dim = turned + (still.value >= 0 ? (uint64_t)still.value : 0);
    attention->kv_heads = 0;
    const uint64_t latent = read_count(config, "kv_lora_rank");
    attention->latent = latent > 0 ? latent + turned : 0;
}

/* Classes with as many keys as queries where the config does not count them. */
static const char ALIKE[] = "llama llama_original gptj phi phi3 cohere cohere2 olmo olmo2 qwen "
                            "baichuan modernbert modernbert-decoder nomic-bert-2048";

static void read_keys(const model_config *config, const char *type, api_attention *attention)
{
    attention->heads = read_count(config, "num_attention_heads");
    attention->kv_heads = read_count(
        config, "num_key_value_heads|num_kv_heads|n_head_kv|num_query_groups|n_kv_heads");
    model_config inner = model_object(config, "attn_config");
    if (attention->kv_heads == 0 && inner.object)
        attention->kv_heads = read_count(&inner, "kv_n_heads");
    if (attention->kv_heads == 0 && model_lists(ALIKE, type))
        attention->kv_heads = attention->heads;
    if (model_has(config, "qk_rope_head_dim"))
        read_latent(config, type, attention);
    for (size_t i = 0; i < sizeof FUSED / sizeof *FUSED; i++) {
        if (!model_lists(FUSED[i].types, type))
            continue;
        snprintf(attention->qkv, sizeof attention->qkv, "%s", FUSED[i].qkv);
        if (FUSED[i].read)
            FUSED[i].read(config, attention);
    }
    if (strcmp(attention->qkv, "by_head") == 0)
        attention->kv_heads = attention->heads;
}

/* ---- both ---- */

static void refuse_heads(const char *option, const api_model_plan *plan,
                         const api_model_part *one, const api_model_part *other,
                         pe_error *reterr)
{
    if (!one)
        pe_error_add(reterr, PE_OUT_OF_RANGE, option, plan->model_type,
                     "a model whose queries and keys have rotary positions");
    else
        pe_error_add(reterr, PE_OUT_OF_RANGE, option, plan->model_type,
                     "left out, and the heads be given: %s has heads of %g columns of which %g "
                     "turn, %s of %g and %g",
                     one->name, api_model_part_fact(one, "head_dim"),
                     api_model_part_fact(one, "rotary_dim"), other->name,
                     api_model_part_fact(other, "head_dim"),
                     api_model_part_fact(other, "rotary_dim"));
}

/* Read what a plan says, and then the keys of its config. */
static void read_plan(api_model_plan *plan, const char *option, api_attention *attention,
                      pe_error *reterr)
{
    const api_model_part *part = find_part(plan),
                         *other = part ? find_unlike_part(plan, part) : NULL;
    if (!part || other) {
        refuse_heads(option, plan, part, other, reterr);
        return;
    }
    const api_model_component *component = &plan->components[part->component];
    const char *type = component->model_type ? component->model_type : plan->model_type;
    const model_type row = {.name = type};
    model_planner planner = {
        .plan = plan, .error = reterr, .used = json_object(), .paths = plan->paths};
    const model_config read = {.planner = &planner,
                               .type = &row,
                               .object = component->path
                                             ? model_find_path(plan->config, component->path)
                                             : plan->config,
                               .path = component->path};
    attention->head_dim = (uint64_t)api_model_part_fact(part, "head_dim");
    attention->rotary_dim = (uint64_t)api_model_part_fact(part, "rotary_dim");
    attention->pairing = strcmp(part->pairing, "half") == 0 ? "half" : "interleaved";
    read_keys(&read, type, attention);
    json_decref(planner.used);
}

bool api_attention_from_config(const char *text, size_t size, const char *option,
                               const pe_limits *limits, api_attention *ret_attention,
                               pe_error *reterr)
{
    const api_model_options options = {.convention = API_CONVENTION_5,
                                       .convention_name = "transformers-5"};
    api_model_plan *plan;
    pe_error error;
    *ret_attention = (api_attention){.heads = 0};
    pe_error_init(&error);
    json_t *config = api_config_read(text, size, &error);
    if (config && api_model_plan_new(config, &options, limits, &plan, &error) == PE_OK) {
        read_plan(plan, option, ret_attention, &error);
        api_model_plan_free(plan);
    }
    json_decref(config);
    if (api_document_failed()) { /* whatever else seems wrong may follow from it */
        pe_error_init(&error);
        pe_error_add(&error, PE_NO_MEMORY, "", "", "memory for the config");
    }
    for (size_t i = 0; i < error.count; i++)
        if (strcmp(error.problems[i].parameter, "body") == 0)
            snprintf(error.problems[i].parameter, sizeof error.problems[i].parameter, "%s",
                     option);
    pe_error_append(reterr, &error);
    return error.count == 0;
}

bool api_attention_from_name(const char *name, const pe_limits *limits,
                             api_attention *ret_attention, pe_error *reterr)
{
    const api_known_model *model = api_known_model_find(name);
    if (model)
        return api_attention_from_config(model->config, strlen(model->config), "model", limits,
                                         ret_attention, reterr);
    pe_problem *problem =
        pe_error_add(reterr, PE_OUT_OF_RANGE, "model", name,
                     "the name of a model that GET /v1/models lists, or config the text of a "
                     "config.json");
    pe_problem_suggest(problem, api_known_model_suggest(name));
    return false;
}

const char *api_attention_find_config(const json_t *header)
{
    const json_t *metadata = json_object_get(header, "__metadata__");
    const char *text = json_string_value(json_object_get(metadata, "config"));
    return text ? text : json_string_value(json_object_get(metadata, "config.json"));
}
