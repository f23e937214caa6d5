/* /v1/schemes and /v1/schemes/{scheme}: the schemes with their parameters, presets and tensors.
 */
#include "call.h"
#include "openapi/similarity.h"
#include "replies/fixed_documents.h"
#include "replies/problem.h"
#include "json/schema.h"

#include <stdio.h>
#include <string.h>

static json_t *describe_presets(const pe_scheme_info *info)
{
    json_t *presets = json_array();
    for (size_t i = 0; i < info->preset_count; i++) {
        const pe_preset *preset = &info->presets[i];
        json_t *values = json_object();
        for (size_t v = 0; preset->values[v]; v += 2)
            for (size_t p = 0; p < info->parameter_count; p++)
                if (strcmp(info->parameters[p].name, preset->values[v]) == 0)
                    json_object_set_new(
                        values, preset->values[v],
                        api_parameter_value(&info->parameters[p], preset->values[v + 1]));
        json_array_append_new(presets, json_pack("{s:s, s:s, s:o}", "name", preset->name,
                                                 "help", preset->help, "values", values));
    }
    return presets;
}

/* The axes of a tensor whose last ones are named: "[..., length, dim]". Where they depend on
 * the parameter `shape`, there is a list for each of its choices. */
static json_t *describe_axes(const char *lists)
{
    char text[192] = "";
    for (size_t used = 0; *lists;) {
        size_t choice = strcspn(lists, ":|");
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s[...", used > 0 ? " or " : "");
        lists += lists[choice] == ':' ? choice + 1 : 0;
        while (*lists && *lists != '|') {
            size_t length = strcspn(lists, ",|");
            used +=
                (size_t)snprintf(text + used, sizeof text - used, ", %.*s", (int)length, lists);
            lists += length + (lists[length] == ',');
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "]");
        lists += *lists == '|';
    }
    return json_string(text);
}

/* What a scheme is applied to; null if it is not. */
static json_t *describe_applications(const pe_scheme *scheme)
{
    static const char *const KINDS[] = {
        [PE_APPLY_ADD] = "add",         [PE_APPLY_MULTIPLY] = "multiply",
        [PE_APPLY_ROTATE] = "rotate",   [PE_APPLY_CONTRACT] = "contract",
        [PE_APPLY_COMBINE] = "combine", [PE_APPLY_GATHER] = "gather"};
    size_t count;
    const pe_application *at = pe_scheme_applications(scheme, &count);
    json_t *list = count > 0 ? json_array() : json_null();
    for (; count > 0; count--, at++) {
        json_t *tensors = json_array();
        for (size_t i = 0; i < 2 && at->tensors[i]; i++)
            json_array_append_new(tensors, json_string(at->tensors[i]));
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:s, s:o, s:s, s:o, s:s}", "input", at->input, "shape",
                            describe_axes(at->axes), "result", at->result, "result_shape",
                            describe_axes(at->result_axes ? at->result_axes : at->axes), "kind",
                            KINDS[at->kind], "tensors", tensors, "formula", at->formula));
    }
    return list;
}

/* What a scheme is looked for by: its keywords, and what other libraries call it. */
static json_t *list_keywords(const pe_scheme_info *info)
{
    json_t *words = api_list_aliases(info->name);
    for (const char *next = info->keywords; next;) {
        const char *end = strstr(next, ", ");
        json_array_append_new(words,
                              json_stringn(next, end ? (size_t)(end - next) : strlen(next)));
        next = end ? end + 2 : NULL;
    }
    return words;
}

static json_t *describe_scheme(const api_call *call, const pe_scheme *scheme)
{
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    bool similar = api_has_similarity(scheme, &call->service->host->limits);
    json_t *parameters = json_array(), *tensors = json_array();
    for (size_t i = 0; i < pe_all_parameter_count(info); i++)
        json_array_append_new(parameters, api_describe_parameter(pe_parameter_at(info, i)));
    for (size_t i = 0; i < info->tensor_count; i++)
        json_array_append_new(tensors,
                              json_pack("{s:s, s:s, s:s, s:b}", "name", info->tensors[i].name,
                                        "shape", info->tensors[i].shape, "help",
                                        info->tensors[i].help, "primary", i == 0));
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:i, s:s, s:o, s:o, s:o, s:b, s:b, s:o}",
        "name", info->name, "title", info->title, "summary", info->summary, "family",
        info->family, "keywords", list_keywords(info), "formula", info->formula, "convention",
        info->convention, "reference", info->reference, "revision", (int)info->revision,
        "example", info->example, "parameters", parameters, "presets", describe_presets(info),
        "tensors", tensors, "similarity", similar, "recognised",
        pe_scheme_is_recognised(scheme), "applies", describe_applications(scheme));
}

static json_t *build_list(const api_call *call)
{
    json_t *schemes = json_array();
    for (size_t i = 0; i < pe_scheme_count(); i++)
        json_array_append_new(schemes, describe_scheme(call, pe_scheme_at(i)));
    return json_pack("{s:o}", "schemes", schemes);
}

static json_t *build_scheme(const api_call *call)
{
    return describe_scheme(call, pe_scheme_find(call->parameter));
}

api_reply *api_list_schemes(const api_call *call)
{
    return api_reply_fixed(call, API_FIXED_SCHEMES, build_list);
}

api_reply *api_describe_scheme(const api_call *call)
{
    const pe_scheme *scheme = pe_scheme_find(call->parameter);
    if (!scheme)
        return api_problem_of_scheme(call->parameter);
    size_t index = 0;
    while (pe_scheme_at(index) != scheme)
        index++;
    return api_reply_fixed(call, API_FIXED_SCHEME + index, build_scheme);
}
