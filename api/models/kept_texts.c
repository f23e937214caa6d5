/* Texts of a plan: keeping them, lists of words, paths as problems show them; where values came
 * from, the words for that, and which keys count as used. */
#include "models/types.h"
#include "json/document.h"

#include <stdarg.h>
#include <string.h>

const char *model_keep(model_planner *planner, json_t *text)
{
    const char *kept = json_string_value(text);
    return json_array_append_new(planner->plan->kept, text) == 0 ? kept : "";
}

json_t *model_keep_json(model_planner *planner, const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL);
    if (!value)
        api_document_spoil();
    json_array_append_new(planner->plan->kept, value);
    return value;
}

bool model_lists(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

bool model_has_ending(const char *name, const char *endings)
{
    size_t whole = strlen(name);
    for (const char *at = endings; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (whole > length && strncmp(name + whole - length, at, length) == 0)
            return true;
        at += length;
    }
    return false;
}

const char *model_shown_path(model_planner *planner, const char *path)
{
    static const size_t ROOM = sizeof((pe_problem *)0)->parameter - sizeof "\xe2\x80\xa6";
    size_t length = strlen(path);
    if (length < sizeof((pe_problem *)0)->parameter)
        return path;
    const char *rest = path + length - ROOM;
    while (((unsigned char)*rest & 0xc0) == 0x80)
        rest++;
    if (strchr(rest, '.'))
        rest = strchr(rest, '.');
    return model_keep(planner, json_sprintf("\xe2\x80\xa6%s", rest));
}

/* ---- where values came from ---- */

json_t *model_find_path(json_t *object, const char *path)
{
    json_t *whole = json_object_get(object, path); /* GGUF's names of keys have dots */
    if (whole)
        return json_is_null(whole) ? NULL : whole;
    while (object && *path) {
        size_t length = strcspn(path, ".");
        object = json_object_getn(object, path, length);
        path += length + (path[length] == '.');
    }
    return json_is_null(object) ? NULL : object;
}

api_origin model_origin(const model_config *config, const char *key)
{
    if (!config->path)
        return model_default(config);
    const char *path =
        model_keep(config->planner,
                   *config->path ? json_sprintf("%s.%s", config->path, key) : json_string(key));
    const json_t *paths = config->planner->paths;
    const char *theirs = json_string_value(json_object_get(paths, path));
    if (!theirs && json_object_size(paths) > 0) /* no key of the file */
        return model_default(config);
    return (api_origin){.kind = API_ORIGIN_CONFIG, .path = theirs ? theirs : path};
}

api_origin model_default(const model_config *config)
{
    return (api_origin){.kind = API_ORIGIN_DEFAULT, .path = config->type->name};
}

api_origin model_add_remark(const model_config *config, api_origin origin, const char *format,
                            ...)
{
    va_list list;
    va_start(list, format);
    const char *added = model_keep(config->planner, json_vsprintf(format, list));
    va_end(list);
    const char *before = origin.remark ? origin.remark : "";
    origin.remark =
        *before ? model_keep(config->planner, json_sprintf("%s%s", before, added)) : added;
    return origin;
}

api_origin model_divide_origins(const model_config *config, model_number dividend,
                                model_number divisor)
{
    model_use_key(config->planner->used, divisor.from);
    const bool is_default = dividend.from.kind == API_ORIGIN_DEFAULT;
    if (is_default && divisor.from.kind == API_ORIGIN_DEFAULT)
        return model_add_remark(config, dividend.from, ", %g / %g", dividend.value,
                                divisor.value);
    if (is_default)
        dividend.from = model_add_remark(config, dividend.from, ", %g", dividend.value);
    return model_add_remark(config, dividend.from, " / %s", model_word_number(config, divisor));
}

void model_use_key(json_t *used, api_origin origin)
{
    if (origin.kind == API_ORIGIN_CONFIG && origin.path)
        json_object_set_new(used, origin.path, json_true());
}

json_t *api_origin_describe(api_origin origin)
{
    const char *before = origin.kind == API_ORIGIN_DEFAULT ? "default of " : "";
    const char *after = origin.kind == API_ORIGIN_QUERY ? " of the query" : "";
    const char *remark = origin.remark ? origin.remark : "";
    if (origin.kind == API_ORIGIN_QUERY && !origin.path)
        return json_sprintf("query%s", remark);
    return json_sprintf("%s%s%s%s", before, origin.path ? origin.path : "", after, remark);
}

const char *model_word_origin(const model_config *config, api_origin origin)
{
    if (origin.kind == API_ORIGIN_DEFAULT)
        return model_keep(config->planner, json_sprintf("the default of %s%s", origin.path,
                                                        origin.remark ? origin.remark : ""));
    return model_keep(config->planner, api_origin_describe(origin));
}

const char *model_word_number(const model_config *config, model_number number)
{
    if (number.from.kind != API_ORIGIN_DEFAULT)
        return model_word_origin(config, number.from);
    return model_keep(config->planner,
                      json_sprintf("%g (default of %s)", number.value, number.from.path));
}
