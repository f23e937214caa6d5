/* Origins of values: making them, the words for them, and which keys count as used. */
#include "models/types.h"

#include <stdarg.h>

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

api_origin model_divide_origins(const model_config *config, api_origin dividend,
                                api_origin divisor)
{
    model_use_key(config->planner->used, divisor);
    return model_add_remark(config, dividend, " / %s", model_word_origin(config, divisor));
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
    return model_keep(config->planner, api_origin_describe(origin));
}
