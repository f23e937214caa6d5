/* What a plan leaves out: keys of the config that have changed nothing, objects that no rule
 * reads, and components that the request does not ask for; these are planned, since names are
 * only known then. */
#include "models/planning.h"

#include "models/config_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys that have changed nothing ---- */

bool model_looks_like_positions(const char *key)
{
    static const char *const PIECES[] = {
        "rope",      "nope",  "rotary",     "position",
        "pos_emb",   "alibi", "theta",      "relative_attention",
        "pos_enc",   "mrope", "seq_length", "dynamic_ntk",
        "logn_attn", "yarn",  "pos_att"};
    for (size_t i = 0; i < sizeof PIECES / sizeof *PIECES; i++)
        if (strstr(key, PIECES[i]))
            return true;
    return false;
}

#define UNREAD_DEPTH  4
#define UNREAD_LISTED 64 /* paths; of the others the number is told */
#define KNOWN_MAX     128
#define TRIED_MAX     512 /* keys that are compared with those */

/* What has changed nothing, while it is listed. */
typedef struct unread {
    model_planner *planner;
    size_t count, tried;
    char path[UNREAD_DEPTH * (API_CONFIG_KEY_BYTES + 1) + 1];
} unread;

/* The key that one is a slip of, among those that its object lacks; NULL: it is none, or is
 * known itself, or a list of what other classes have one of, as depths. */
static const char *find_meant_key(unread *self, json_t *object, size_t length, const char *key)
{
    const char *names[KNOWN_MAX], *name;
    size_t count = 0;
    json_t *ignored, *value = json_object_get(object, key);
    char path[sizeof self->path];
    snprintf(path, sizeof path, "%.*s", (int)length, self->path);
    json_t *known = json_object_get(self->planner->known, path);
    if (json_object_get(known, key) || self->tried++ >= TRIED_MAX)
        return NULL;
    json_object_foreach(known, name, ignored)
    {
        if (count < KNOWN_MAX && strlen(name) > 3 && !json_object_get(object, name))
            names[count++] = name;
    }
    const char *meant = pe_find_nearest_name(key, names, count);
    bool is_plural = meant && json_is_array(value) && strlen(key) > strlen(meant);
    return is_plural ? NULL : meant;
}

/* List what changed nothing of an object whose path, of so many bytes, is in `path`. `all`:
 * whatever its keys are called, since the object itself is about positions. */
static void list_unread(unread *self, json_t *object, size_t length, bool all, unsigned depth)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const char *meant = find_meant_key(self, object, length, key);
        bool about = all || meant || model_looks_like_positions(key);
        if (json_is_null(value) || (!about && !json_is_object(value)))
            continue;
        size_t room = sizeof self->path - length;
        int added = snprintf(self->path + length, room, "%s%s", length > 0 ? "." : "", key);
        if (added < 0 || (size_t)added >= room) /* not within the limits of a config */
            continue;
        const json_t *paths = self->planner->paths;
        const char *theirs = json_string_value(json_object_get(paths, self->path));
        const char *path = theirs ? theirs : self->path;
        if (!theirs && json_object_size(paths) > 0) /* no key of the file */
            continue;
        bool is_whole = !json_is_object(value) || json_object_size(paths) == 0;
        if (about && is_whole && !json_object_get(self->planner->used, path)) {
            if (self->count++ < UNREAD_LISTED)
                json_array_append_new(self->planner->plan->not_used,
                                      meant ? json_sprintf("%s: did you mean %s?", path, meant)
                                            : json_string(path));
        } else if (json_is_object(value) && depth > 1) {
            list_unread(self, value, length + (size_t)added, about, depth - 1);
        }
    }
}

/* List the keys of the config that look like positions and have changed nothing. */
static void list_unused(model_planner *planner, json_t *config)
{
    unread self = {.planner = planner};
    list_unread(&self, config, 0, false, UNREAD_DEPTH);
    if (self.count > UNREAD_LISTED)
        json_array_append_new(planner->plan->not_used,
                              json_sprintf("and %zu more", self.count - UNREAD_LISTED));
}

/* ---- objects that no rule reads ---- */

/* Whether an object describes a component: by its own model_type, or by its name. */
static bool describes_component(const char *key, const json_t *object)
{
    static const char OTHERS[] = "quantization_config generation_config compression_config "
                                 "attn_config ffn_config ssm_config linear_attn_config";
    return json_object_size(object) > 0 && !model_lists(OTHERS, key) &&
           (model_has_ending(key, "_config") ||
            json_is_string(json_object_get(object, "model_type")));
}

#define LEFT_OUT_LISTED 8 /* of more the number is told */

/* Note what an object leaves out, and count it. `path` is its own, "" for the whole. */
static void note_omission(model_planner *planner, json_t *object, const char *path,
                          size_t *count)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!describes_component(key, value))
            continue;
        const char *inner =
            model_keep(planner, *path ? json_sprintf("%s.%s", path, key) : json_string(key));
        bool used = json_object_get(planner->used, inner) != NULL;
        if (used && !*path)
            note_omission(planner, value, inner, count);
        else if (!used && (*count)++ < LEFT_OUT_LISTED)
            model_note(planner->plan->notes,
                       "%s describes a component that no rule of this type reads: it is left "
                       "out.",
                       inner);
    }
}

/* Note the objects that describe components and that no rule has read. */
static void note_omissions(model_planner *planner, json_t *config)
{
    size_t count = 0;
    note_omission(planner, config, "", &count);
    if (count > LEFT_OUT_LISTED)
        model_note(planner->plan->notes, "%zu more objects of the config are left out.",
                   count - LEFT_OUT_LISTED);
}

/* ---- code that comes with the checkpoint ---- */

/* Whether transformers itself reads a key in some class, so that it is no key of other code. */
static bool is_common(const char *path)
{
    static const char *const KEYS[] = {"rope_theta",
                                       "rope_scaling",
                                       "rope_parameters",
                                       "max_position_embeddings",
                                       "partial_rotary_factor",
                                       "original_max_position_embeddings"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (strncmp(path, KEYS[i], strlen(KEYS[i])) == 0)
            return true;
    return strchr(path, '.') != NULL;
}

void model_warn(model_planner *planner, json_t *text)
{
    api_model_plan *plan = planner->plan;
    plan->warning = model_keep(planner, text);
    json_array_insert_new(plan->notes, 0, json_string(plan->warning));
}

/* Say that code which comes with the checkpoint may read what the row does not: before anything
 * else, since its tables may be other ones. */
static void note_code(model_planner *planner, json_t *config)
{
    api_model_plan *plan = planner->plan;
    const char *keys = "";
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(plan->not_used); i++) {
        const char *path = json_string_value(json_array_get(plan->not_used, i));
        if (!is_common(path) && count++ < 4)
            keys = model_keep(planner, json_sprintf("%s%s%s", keys, *keys ? ", " : "", path));
    }
    if (count > 4)
        keys = model_keep(planner, json_sprintf("%s and others", keys));
    if (!*keys || planner->is_own_code || !json_is_object(json_object_get(config, "auto_map")))
        return;
    model_warn(planner,
               json_sprintf("The config has auto_map: code that comes with the checkpoint may "
                            "compute other tables, from %s, which %s does not read.",
                            keys, plan->model_type));
}

/* ---- components that are not asked for ---- */

/* Whether a list of names, joined by commas, has a name, or one of something inside of it. */
static bool has_name(const char *list, const char *name, bool or_inside)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char after = strncmp(at, name, length) == 0 ? at[length] : 'x';
        if (after == '\0' || after == ',' || (or_inside && (after == '_' || after == '.')))
            return true;
    }
    return false;
}

bool model_is_requested(const model_planner *planner, const char *name)
{
    const char *list = planner->plan->options->components;
    return !list || has_name(list, name, true);
}

/* ---- names ---- */

static void refuse_name(model_planner *planner, const char *name)
{
    const api_model_plan *plan = planner->plan;
    const char *names[API_MODEL_COMPONENTS];
    char list[200];
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < plan->component_count; i++) {
        names[i] = plan->components[i].name;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                     names[i]);
    }
    pe_problem *problem = pe_error_add(planner->error, PE_OUT_OF_RANGE, "components", name,
                                       "names of the model's components, which are %s", list);
    pe_problem_suggest(problem, pe_find_nearest_name(name, names, plan->component_count));
}

/* Refuse what is no name of a component. */
static void check_names(model_planner *planner)
{
    const api_model_plan *plan = planner->plan;
    for (const char *at = plan->options->components; at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[64];
        bool known = false;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        for (size_t i = 0; i < plan->component_count && !known; i++)
            known = strcmp(plan->components[i].name, name) == 0;
        if (!known)
            refuse_name(planner, name);
    }
}

/* ---- leaving out ---- */

/* Leave out the parts of components without a place: ret_places[i] is the new index of part i,
 * or -1. */
static void keep_parts(api_model_plan *plan, const int32_t component_places[],
                       int32_t ret_places[])
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->part_count; i++) {
        int32_t component = component_places[plan->parts[i].component];
        ret_places[i] = component < 0 ? -1 : (int32_t)kept;
        if (component < 0) {
            model_part_done(&plan->parts[i]);
            continue;
        }
        plan->parts[kept] = plan->parts[i];
        plan->parts[kept++].component = (size_t)component;
    }
    plan->part_count = kept;
}

static void keep_components(api_model_plan *plan, const int32_t part_places[])
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->component_count; i++) {
        api_model_component component = plan->components[i];
        if (!has_name(plan->options->components, component.name, false)) {
            free(component.layers);
            free(component.types);
            continue;
        }
        for (size_t layer = 0; layer < component.layer_count; layer++)
            if (component.layers[layer] >= 0)
                component.layers[layer] = part_places[component.layers[layer]];
        plan->components[kept++] = component;
    }
    plan->component_count = kept;
}

static void keep_asked(model_planner *planner)
{
    api_model_plan *plan = planner->plan;
    int32_t component_places[API_MODEL_COMPONENTS], part_places[API_MODEL_PARTS], place = 0;
    if (!plan->options->components || planner->error->count > 0)
        return;
    check_names(planner);
    for (size_t i = 0; i < plan->component_count; i++) {
        const char *name = plan->components[i].name;
        component_places[i] = has_name(plan->options->components, name, false) ? place++ : -1;
    }
    keep_parts(plan, component_places, part_places);
    keep_components(plan, part_places);
}

/* ---- options without an effect ---- */

/* Whether an option has changed a part of a plan. */
static bool has_option(const api_model_plan *plan, const char *option)
{
    for (size_t i = 0; i < plan->part_count; i++)
        if (json_object_get(plan->parts[i].asked, option))
            return true;
    return false;
}

void api_model_refuse_unused(const api_model_plan *const plans[], size_t count,
                             pe_error *reterr)
{
    size_t row_count;
    const pe_parameter *rows = api_model_option_rows(&row_count);
    for (size_t i = 0; i < row_count; i++) {
        const char *given = pe_options_text(plans[0]->options->read, i);
        bool is_used = model_lists("components convention format plan", rows[i].name);
        for (size_t j = 0; j < count; j++)
            is_used = is_used || has_option(plans[j], rows[i].name);
        if (given && !is_used)
            pe_error_add(reterr, PE_OUT_OF_RANGE, rows[i].name, given,
                         "left out: nothing in this model depends on it")
                ->reason = PE_REASON_CONFLICT;
    }
}

void model_trim_plan(model_planner *planner, json_t *config)
{
    list_unused(planner, config);
    note_omissions(planner, config);
    note_code(planner, config);
    keep_asked(planner);
}
