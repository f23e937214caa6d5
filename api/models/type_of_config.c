/* Which row reads a config: by its model_type or _class_name, by keys of code that comes with
 * the checkpoint; and what a config that no row reads seems to be. */
#include "models/types.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const model_type *model_type_find(const model_types *types, const char *name)
{
    for (size_t i = 0; name && i < types->count; i++)
        if (strcmp(types->rows[i].name, name) == 0)
            return &types->rows[i];
    return NULL;
}

const model_rule *model_type_rules(const model_types *types, const model_type *type)
{
    return type->like ? model_type_find(types, type->like)->rules : type->rules;
}

/* A key that says more than model_type: the config is for other code, which has a row of its
 * own. `word`: what the key must be, NULL: anything. */
static const struct {
    const char *type, *key, *word, *row;
} CODES[] = {
    {"xlm-roberta", "position_embedding_type", "rotary", "xlm-roberta-flash-implementation"},
    {"bert", "alibi_starting_size", NULL, "mosaic-bert"},
    {"nomic_bert", "rotary_emb_fraction", NULL, "nomic-bert-2048"},
};

/* The row of code that comes with the checkpoint; NULL: the config is not known to be for any.
 */
static const model_type *find_code(const model_config *config, const char *name)
{
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++) {
        const char *word = json_string_value(json_object_get(config->object, CODES[i].key));
        if (name && strcmp(CODES[i].type, name) == 0 && model_has(config, CODES[i].key) &&
            (!CODES[i].word || (word && strcmp(word, CODES[i].word) == 0)))
            return model_type_find(config->planner->types, CODES[i].row);
    }
    return NULL;
}

/* ---- what a config seems to be ---- */

/* Letters and digits of a name, up to `length` bytes, in lower case. */
static void fold_name(const char *name, size_t length, char dst[64])
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < 64; i++)
        if (isalnum((unsigned char)name[i]))
            dst[used++] = (char)tolower((unsigned char)name[i]);
    dst[used] = '\0';
}

/* The bytes of a class's name before what it is for: "Phi3" of Phi3ForCausalLM. */
static size_t find_stem(const char *name)
{
    static const char *const ENDS[] = {"For", "Model", "LMHead", "Config", "Transformer"};
    size_t stem = strlen(name);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        const char *end = strstr(name, ENDS[i]);
        if (end && end > name && (size_t)(end - name) < stem)
            stem = (size_t)(end - name);
    }
    return stem;
}

/* The model type whose name is that of a class. */
static const char *find_by_class(const model_types *types, const char *class_name)
{
    char wanted[64], known[64];
    if (!class_name)
        return NULL;
    fold_name(class_name, find_stem(class_name), wanted);
    for (size_t i = 0; i < types->count; i++) {
        const char *name = types->rows[i].name;
        fold_name(name, strlen(name), known);
        if (strcmp(known, wanted) == 0)
            return name;
    }
    return NULL;
}

/* The model type that a name is a slip of; NULL: none, or several. */
static const char *find_by_letters(const model_types *types, const char *name, bool is_class)
{
    enum { MOST = 1024 };
    const char *names[MOST];
    size_t count = 0;
    for (size_t i = 0; i < types->count && count < MOST; i++)
        if (isupper((unsigned char)*types->rows[i].name) || !is_class)
            names[count++] = types->rows[i].name;
    return pe_find_nearest_name(name, names, count);
}

/* The name of a class that the config mentions: "Phi3ForCausalLM"; NULL: none. */
static const char *name_class(const model_config *config)
{
    const json_t *classes = json_object_get(config->object, "architectures");
    const char *name = json_string_value(json_array_get(classes, 0));
    const json_t *map = json_object_get(config->object, "auto_map");
    const char *own = json_string_value(json_object_get(map, "AutoConfig"));
    if (own && strrchr(own, '.'))
        own = strrchr(own, '.') + 1;
    return name ? name : own;
}

/* A printable list of strings: "a, b". Also takes one string. */
static void write_names(const json_t *list, char *dst, size_t size)
{
    size_t used = 0;
    dst[0] = '\0';
    if (json_is_string(list))
        snprintf(dst, size, "%s", json_string_value(list));
    for (size_t i = 0; i < json_array_size(list) && used + 1 < size; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        int written =
            snprintf(dst + used, size - used, "%s%s", i > 0 ? ", " : "", name ? name : "?");
        used += written > 0 ? (size_t)written : 0;
    }
}

/* Refuse a config that no row reads, with what it says of itself. */
static void refuse_type(const model_config *config, const char *key, const char *name)
{
    const model_types *types = config->planner->types;
    char classes[80];
    write_names(json_object_get(config->object, "architectures"), classes, sizeof classes);
    bool custom = model_has(config, "auto_map");
    bool is_class = strcmp(key, "_class_name") == 0;
    pe_problem *problem = pe_error_add(
        config->planner->error, PE_OUT_OF_RANGE, key, name ? name : "",
        "one that GET /v1/models lists%s%s%s%s%s",
        classes[0] || custom ? "; the config has" : "", classes[0] ? " architectures " : "",
        classes, classes[0] && custom ? " and" : "",
        custom ? " auto_map, so its code comes with the checkpoint" : "");
    const char *suggested = is_class ? NULL : find_by_class(types, name_class(config));
    problem->reason = name ? PE_REASON_CHOICE : PE_REASON_MISSING;
    pe_problem_suggest(problem, suggested ? suggested
                                : name    ? find_by_letters(types, name, is_class)
                                          : NULL);
}

const char *model_type_suggest(const model_types *types, const char *name)
{
    return find_by_letters(types, name, false);
}

const model_type *find_model_type(const model_config *config)
{
    const model_types *types = config->planner->types;
    const char *name = json_string_value(json_object_get(config->object, "model_type"));
    const char *class_name = json_string_value(json_object_get(config->object, "_class_name"));
    bool is_class = class_name && (!name || model_type_find(types, class_name));
    const model_type *code = is_class ? NULL : find_code(config, name);
    const model_type *type = code ? code : model_type_find(types, is_class ? class_name : name);
    if (!type)
        refuse_type(config, is_class ? "_class_name" : "model_type",
                    is_class ? class_name : name);
    return type;
}
