/* Reading a config.json. */
#include "models/config.h"

#include "models/config_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The spellings of a key, in the order in which they win. `same`: the classes of a library take
 * both for the same attribute, so that a file where they disagree contradicts itself. `other`:
 * what other classes call it. */
static const struct {
    const char *key, *same, *other;
} SPELLINGS[] = {
    {"hidden_size", "n_embd", "d_model|dim|emb_dim|model_dim"},
    {"num_attention_heads", "n_head|n_heads",
     "num_heads|attention_heads|encoder_num_attention_heads"},
    {"num_hidden_layers", "n_layer|n_layers", "num_layers|depth"},
    {"max_position_embeddings", "n_positions", "max_seq_len|max_sequence_length|seq_length"},
    {"rope_theta", "rotary_emb_base", "rotary_embedding_base|rotary_base"},
    {"partial_rotary_factor", "rotary_pct", "rotary_emb_fraction"},
    {"rope_type", NULL, "type"},
    {"factor", NULL, "rotary_scaling_factor"},
    {"sliding_window_pattern", "_sliding_window_pattern", NULL},
    {"image_size", NULL, "img_size"},
};
#define SPELLING_COUNT (sizeof SPELLINGS / sizeof *SPELLINGS)

/* ---- refusing ---- */

pe_problem *model_known_problem(const model_planner *planner, const char *path,
                                const char *allowed)
{
    for (size_t i = 0; i < planner->error->count; i++) {
        pe_problem *known = &planner->error->problems[i];
        if (strcmp(known->parameter, path) == 0 && strcmp(known->allowed, allowed) == 0)
            return known;
    }
    return NULL;
}

/* A value in a few words: a number, a text, or what kind of value it is. */
static void write_value(const json_t *given, char ret_shown[64])
{
    *ret_shown = '\0';
    if (json_is_string(given))
        snprintf(ret_shown, 64, "%s", json_string_value(given));
    else if (json_is_number(given))
        ret_shown[pe_print_number(ret_shown, json_number_value(given))] = '\0';
    else if (given)
        snprintf(ret_shown, 64, "%s",
                 json_is_object(given)    ? "an object"
                 : json_is_array(given)   ? "a list"
                 : json_is_null(given)    ? "null"
                 : json_is_boolean(given) ? (json_is_true(given) ? "true" : "false")
                                          : "");
}

pe_problem *model_refuse_value(pe_error *error, const char *path, const json_t *given,
                               const char *allowed)
{
    char shown[64];
    write_value(given, shown);
    pe_problem *added = pe_error_add(error, PE_OUT_OF_RANGE, path, shown, "%s", allowed);
    if (json_is_string(given))
        added->kind = PE_KIND_STRING;
    return added;
}

pe_problem *model_refuse(const model_config *config, api_origin origin, const json_t *given,
                         const char *rule, ...)
{
    model_planner *planner = config->planner;
    bool is_option = origin.kind == API_ORIGIN_QUERY && origin.path, of_caller = given != NULL;
    const char *path =
        model_shown_path(planner, is_option ? origin.path : model_word_origin(config, origin));
    char allowed[256];
    va_list list;
    va_start(list, rule);
    vsnprintf(allowed, sizeof allowed, rule, list);
    va_end(list);
    if (!given && origin.kind == API_ORIGIN_CONFIG && !origin.remark)
        given = model_find_path(json_array_get(planner->plan->kept, 0), origin.path);
    if (!of_caller && (json_is_array(given) || json_is_object(given)))
        given = NULL; /* the rule says what it lacks */
    pe_problem *known = model_known_problem(planner, path, allowed);
    return known ? known : model_refuse_value(planner->error, path, given, allowed);
}

/* Refuse a value of another kind than the key has. */
static void refuse_kind(const model_config *config, api_origin origin, const json_t *given,
                        const char *rule)
{
    pe_problem *problem = model_refuse(config, origin, given, "%s", rule);
    if (json_is_string(given))
        problem->reason = PE_REASON_KIND;
}

/* ---- looking up ---- */

/* Note that a key of an object has a meaning, whether the object has it or not. */
static void note_key(const model_config *config, const char *key)
{
    json_t *known = config->planner->known;
    if (!config->path)
        return;
    if (!json_object_get(known, config->path))
        json_object_set_new(known, config->path, json_object());
    json_object_set_new(json_object_get(known, config->path), key, json_true());
}

/* The member of a key of this very spelling. Objects count as used, since their keys are listed
 * one by one. */
static json_t *find_member(const model_config *config, const char *key, api_origin *ret_from)
{
    json_t *value = json_object_get(config->object, key);
    note_key(config, key);
    if (!value && config->fallback && json_object_get(config->fallback, key)) {
        *ret_from = model_default(config->parent ? config->parent : config);
        return json_object_get(config->fallback, key);
    }
    if (!value || json_is_null(value))
        return NULL;
    *ret_from = model_origin(config, key);
    if (json_is_object(value))
        model_use_key(config->planner->used, *ret_from);
    return value;
}

/* The first of several spellings, joined by "|", that is there. */
static json_t *find_first(const model_config *config, const char *spellings,
                          api_origin *ret_from)
{
    char key[64];
    for (const char *at = spellings; at && *at; at += strcspn(at, "|"), at += *at == '|') {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at, "|"), at);
        json_t *value = find_member(config, key, ret_from);
        if (value)
            return value;
    }
    return NULL;
}

/* The value of one key by all its spellings. */
static json_t *find_key(const model_config *config, const char *key, api_origin *ret_from)
{
    json_t *value = find_member(config, key, ret_from);
    size_t row = 0;
    while (row < SPELLING_COUNT && strcmp(SPELLINGS[row].key, key) != 0)
        row++;
    if (row == SPELLING_COUNT)
        return value;
    api_origin again_from;
    json_t *again = find_first(config, SPELLINGS[row].same, &again_from);
    if (value && again && !json_equal(value, again))
        model_refuse(config, again_from, again,
                     "the same as %s, which means the same, or left out",
                     model_word_origin(config, *ret_from));
    if (!value && again) {
        *ret_from = again_from;
        return again;
    }
    return value ? value : find_first(config, SPELLINGS[row].other, ret_from);
}

json_t *model_find(const model_config *config, const char *keys, api_origin *ret_from)
{
    char key[64];
    for (const char *at = keys; *at; at += strcspn(at, "|"), at += *at == '|') {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at, "|"), at);
        json_t *value = find_key(config, key, ret_from);
        if (value)
            return value;
    }
    snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, "|"), keys);
    *ret_from = model_origin(config, key);
    return NULL;
}

bool model_has(const model_config *config, const char *key)
{
    const json_t *value = json_object_get(config->object, key);
    return value && !json_is_null(value);
}

/* ---- values ---- */

static model_number read_number(const model_config *config, const char *keys, double fallback,
                                bool integral)
{
    model_number result = {.value = fallback};
    json_t *value = model_find(config, keys, &result.from);
    double given = json_number_value(value);
    result.given = json_is_number(value) &&
                   (!integral || (given == floor(given) && fabs(given) <= 0x1p53));
    if (result.given)
        result.value = given;
    else if (value)
        refuse_kind(config, result.from, value,
                    integral ? "an integer, at most 2^53" : "a number");
    else if (!isnan(fallback))
        result.from = model_default(config);
    return result;
}

model_number model_real(const model_config *config, const char *keys, double fallback)
{
    return read_number(config, keys, fallback, false);
}

model_number model_integer(const model_config *config, const char *keys, double fallback)
{
    return read_number(config, keys, fallback, true);
}

model_number model_required(const model_config *config, const char *keys, double fallback,
                            double least)
{
    api_origin from;
    json_t *value = model_find(config, keys, &from);
    model_number result = model_integer(config, keys, fallback);
    if (isnan(result.value) && !value) {
        pe_problem *problem =
            model_refuse(config, result.from, NULL, "an integer, at least %g", least);
        problem->reason = PE_REASON_MISSING;
    } else if (result.value < least || result.value > 0x1p53) {
        model_refuse(config, result.from, value, "an integer from %g to 2^53", least);
        result.value = NAN;
    }
    return result;
}

bool model_flag(const model_config *config, const char *keys, bool fallback,
                api_origin *ret_from)
{
    json_t *value = model_find(config, keys, ret_from);
    model_use_key(config->planner->used, *ret_from);
    if (!value)
        *ret_from = model_default(config);
    else if (json_is_number(value))
        return json_number_value(value) != 0;
    else if (!json_is_boolean(value))
        refuse_kind(config, *ret_from, value, MODEL_FLAG_RULE);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

const char *model_string(const model_config *config, const char *keys, api_origin *ret_from)
{
    json_t *value = model_find(config, keys, ret_from);
    if (value && (!json_is_string(value) || json_string_length(value) > API_CONFIG_KEY_BYTES)) {
        model_refuse(config, *ret_from, value, "a string of at most %d bytes",
                     API_CONFIG_KEY_BYTES);
        return NULL;
    }
    return json_string_value(value);
}

model_config model_object(const model_config *config, const char *keys)
{
    model_config inner = *config;
    api_origin from;
    json_t *value = model_find(config, keys, &from);
    inner.path = from.kind == API_ORIGIN_CONFIG ? from.path : NULL;
    if (value && !json_is_object(value))
        refuse_kind(config, from, value, "an object or null");
    inner.object = json_is_object(value) ? value : NULL;
    inner.fallback = NULL;
    return inner;
}

json_t *model_list(const model_config *config, const char *keys, api_origin *ret_from)
{
    json_t *value = model_find(config, keys, ret_from);
    if (value && !json_is_array(value))
        refuse_kind(config, *ret_from, value, "a list or null");
    return json_is_array(value) ? value : NULL;
}

json_t *model_number_list(const model_config *config, const char *keys, api_origin *ret_from)
{
    json_t *list = model_list(config, keys, ret_from);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (json_is_number(item) || json_is_boolean(item) || json_is_null(item))
            continue;
        refuse_kind(config, *ret_from, item, "a list of numbers");
        return NULL;
    }
    return list;
}

double model_list_number(const json_t *list, size_t index)
{
    const json_t *item = json_array_get(list, index);
    return json_is_true(item) ? 1 : json_number_value(item);
}

model_number model_width(const model_config *config, const char *keys, double fallback)
{
    return model_required(config, keys ? keys : "hidden_size", model_or_nan(fallback), 1);
}

model_number model_heads(const model_config *config, const char *keys, double fallback)
{
    return model_required(config, keys ? keys : "num_attention_heads", model_or_nan(fallback),
                          1);
}

model_number model_divide(const model_config *config, model_number dividend,
                          model_number divisor, const char *otherwise)
{
    model_number quotient = {.value = dividend.value / divisor.value,
                             .from = model_divide_origins(config, dividend, divisor)};
    if (isnan(quotient.value) || quotient.value == floor(quotient.value))
        return quotient;
    model_refuse(config, divisor.from, NULL, "a divisor of %s, which is %g%s",
                 model_word_origin(config, dividend.from), dividend.value, otherwise);
    quotient.value = NAN;
    return quotient;
}

model_number model_side(const model_config *config, const char *keys, double fallback,
                        size_t axis)
{
    static const char *const AXES[] = {"height", "width"};
    api_origin from;
    const json_t *value = model_find(config, keys, &from);
    model_number side = {true, NAN, from};
    size_t count = json_array_size(value), at = count == 3 ? axis + 1 : axis; /* frames first */
    if (json_is_array(value))
        side.value = json_number_value(json_array_get(value, count > at ? at : 0));
    else if (json_is_object(value))
        side.value = json_number_value(json_object_get(
            value, json_object_get(value, AXES[axis]) ? AXES[axis] : "shortest_edge"));
    else
        return model_required(config, keys, model_or_nan(fallback), 1);
    if (!(side.value >= 1 && side.value <= 1e6)) {
        model_refuse(config, from, value, "a side from 1 to 10^6 pixels");
        side.value = NAN;
    }
    return side;
}
