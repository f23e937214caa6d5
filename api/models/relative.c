/* Biases and tables by the distance of query and key. */
#include "models/planning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_heads(const model_config *config, const relative_facts *facts,
                      api_model_part *part)
{
    model_state_number(part, "heads", model_heads(config, facts->heads_keys, facts->heads));
}

static void add_width(const model_config *config, const relative_facts *facts,
                      api_model_part *part)
{
    model_state_number(part, "dim", model_width(config, facts->width_keys, facts->width));
}

/* Begin a part with its rows: as many queries as keys. */
static api_model_part *begin_part(const model_config *config, const relative_facts *facts,
                                  const char *kind, model_number length)
{
    api_model_part *part = model_part_new(config, facts->suffix, kind);
    model_argument_length(part, length, API_MODEL_QUERIES);
    if (config->planner->plan->options->offset)
        model_note(part->notes, "offset means nothing here: only distances count.");
    return part;
}

static void finish_part(model_config *config, const relative_facts *facts, api_model_part *part,
                        const char *scheme, const char *tensors)
{
    model_part_say(part, facts->note);
    model_part_finish(part, scheme, tensors);
    model_use(config, part, NULL);
}

static const model_number ANY_LENGTH = {.value = NAN};

void model_plan_t5(model_config *config, const void *relative_rule)
{
    const relative_facts *facts = relative_rule;
    bool one_way = facts->layout != NULL;
    api_model_part *part = begin_part(config, facts, "t5", ANY_LENGTH);
    model_number buckets = model_integer(
        config, facts->buckets_keys ? facts->buckets_keys : "relative_attention_num_buckets",
        facts->buckets > 0 ? facts->buckets : 32);
    model_number distance = model_integer(
        config, facts->distance_keys ? facts->distance_keys : "relative_attention_max_distance",
        facts->distance > 0 ? facts->distance : 128);
    add_heads(config, facts, part);
    model_state_number(part, "num_buckets", buckets);
    model_state_number(part, "max_distance", distance);
    model_fact(part, "bidirectional", json_boolean(!one_way), model_default(config));
    model_argument_flag(part, "bidirectional", !one_way, model_default(config));
    model_note(part->notes,
               "The buckets are computed; the bias of each is trained, a table "
               "[num_buckets, heads]%s.",
               facts->every_layer ? " for every layer" : " that all layers share");
    finish_part(config, facts, part, "t5", "bucket");
}

/* Whether a model with these keys has a decoder: files of encoders alone say so. */
static bool has_decoder(const model_config *config)
{
    api_origin from;
    const json_t *architectures = model_list(config, "architectures", &from);
    const char *class_name = json_string_value(json_array_get(architectures, 0));
    return model_flag(config, "is_encoder_decoder", true, &from) &&
           !(class_name && strstr(class_name, "EncoderModel"));
}

void model_plan_t5_stacks(model_config *config, const void *relative_rule)
{
    static const stack_facts ENCODER = {"encoder", .layers = {.count_keys = "num_layers"}};
    static const stack_facts DECODER = {
        "decoder", .layers = {.count_keys = "num_decoder_layers|num_layers"}};
    relative_facts facts = *(const relative_facts *)relative_rule;
    model_plan_stack(config, &ENCODER);
    model_plan_t5(config, &facts);
    if (!has_decoder(config))
        return;
    facts.layout = "one_way";
    model_plan_stack(config, &DECODER);
    model_plan_t5(config, &facts);
}

void model_plan_alibi(model_config *config, const void *relative_rule)
{
    const relative_facts *facts = relative_rule;
    model_number length =
        model_integer(config, "max_position_embeddings|max_seq_len|seq_length", NAN);
    api_model_part *part = begin_part(config, facts, "alibi", length);
    add_heads(config, facts, part);
    model_number most = model_real(config, "alibi_bias_max", 8);
    model_fact_number(part, "alibi_bias_max", most.value, most.from);
    if (most.given)
        model_argument_number(part, "alibi_bias_max", most.value, most.from);
    if (facts->geometric)
        model_argument(part, "non_power_of_two", "geometric", model_default(config));
    model_fact_text(part, "mask", facts->layout, model_default(config));
    if (facts->preset)
        model_argument(part, "preset", facts->preset, model_default(config));
    else
        model_argument(part, "mask", facts->layout, model_default(config));
    if (facts->width > 0)
        model_state_number(part, "head_dim",
                           model_divide(config, model_width(config, NULL, facts->width),
                                        model_heads(config, NULL, facts->heads), ""));
    finish_part(config, facts, part, "alibi", "bias slopes");
}

void model_plan_deberta(model_config *config, const void *relative_rule)
{
    const relative_facts *facts = relative_rule;
    model_number longest = model_integer(config, "max_position_embeddings", 512);
    model_number span = model_integer(config, "max_relative_positions", -1);
    model_number buckets =
        model_integer(config, "position_buckets", facts->buckets > 0 ? facts->buckets : -1);
    api_model_part *part = begin_part(config, facts, "deberta", longest);
    if (span.value < 1) {
        span.value = longest.value;
        span.from = span.given ? model_add_remark(config, span.from, ": as many as positions")
                               : longest.from;
    }
    if (facts->buckets_keys && buckets.given)
        model_use_key(config->planner->used, buckets.from);
    add_width(config, facts, part);
    model_number heads = model_heads(config, NULL, facts->heads);
    double rows = 2 * (facts->buckets_keys && buckets.value > 0 ? buckets.value : span.value);
    model_fact_number(part, "heads", heads.value, heads.from);
    model_state_number(part, "max_relative_positions", span);
    model_fact_number(part, "rows", rows, span.from);
    if (facts->buckets_keys && buckets.value > 0) {
        model_state_number(part, "position_buckets", buckets);
        model_argument(part, "beyond", "continue", model_default(config));
    }
    if (facts->buckets == 0 && !model_has(config, "relative_attention"))
        model_note(part->notes, "The config has no relative_attention, which published files "
                                "have: transformers ignores distances without it.");
    model_note(part->notes, "The indices are computed; the table that they point into is "
                            "trained.");
    finish_part(config, facts, part, "deberta", "c2p_index p2c_index relative_position");
}

void model_plan_transformer_xl(model_config *config, const void *relative_rule)
{
    const relative_facts *facts = relative_rule;
    api_origin from;
    model_number clamp = model_integer(config, "clamp_len", -1);
    api_model_part *part = begin_part(config, facts, "transformer_xl", ANY_LENGTH);
    const char *attention = facts->layout;
    if (attention)
        from = model_default(config);
    else
        attention = model_choice(config, "attn_type", "bi uni", "bi", &from);
    add_width(config, facts, part);
    add_heads(config, facts, part);
    model_state_text(part, "attention", attention, from);
    if (clamp.value > 0)
        model_state_number(part, "clamp_length", clamp);
    model_note(part->notes, "The sinusoids are computed; the vectors u and v are trained.");
    finish_part(config, facts, part, "transformer_xl", "encoding distance");
}

void model_plan_two_sided(model_config *config, const void *relative_rule)
{
    const relative_facts *facts = relative_rule;
    api_model_part *part = begin_part(config, facts, "relative_sinusoidal", ANY_LENGTH);
    double keys = strtod(part->arguments[0].text, NULL);
    add_width(config, facts, part);
    add_heads(config, facts, part);
    model_fact_number(part, "rows", 2 * keys - 1, MODEL_REMARK("2 length - 1"));
    model_fact_text(part, "layout", "interleaved", model_default(config));
    model_argument(part, "preset", "conformer", model_default(config));
    model_note(part->notes, "Rows are distances, query minus key: from length - 1 down to "
                            "-(length - 1). The vectors u and v are trained.");
    finish_part(config, facts, part, "transformer_xl", "encoding distance");
}

void model_plan_shaw(model_config *config, const void *relative_rule)
{
    const relative_facts *facts = relative_rule;
    const char *keys = facts->distance_keys;
    model_number right =
        model_integer(config, keys ? keys : "right_max_position_embeddings", facts->right);
    model_number left =
        model_integer(config, keys ? keys : "left_max_position_embeddings", facts->left);
    if (facts->layout) /* 160: from -160 to 159 */
        right.value -= 1;
    api_model_part *part = begin_part(config, facts, "shaw", ANY_LENGTH);
    model_number hidden = model_width(config, NULL, facts->width);
    model_number width =
        model_divide(config, hidden, model_heads(config, facts->heads_keys, facts->heads), "");
    part->state = API_PART_TRAINED;
    model_fact_number(part, "dim", width.value, width.from);
    model_fact_number(part, "left", left.value, left.from);
    model_fact_number(part, "right", right.value, right.from);
    model_fact_number(part, "rows", left.value + right.value + 1, left.from);
    model_argument_number(part, "dim", width.value, width.from);
    model_argument_number(part, "max_distance", right.value, right.from);
    if (left.value != right.value)
        model_argument_number(part, "min_distance", -left.value, left.from);
    model_argument(part, "difference", facts->layout, model_default(config));
    model_argument_flag(part, "keys_only", true, model_default(config));
    finish_part(config, facts, part, "shaw", "keys index");
}
