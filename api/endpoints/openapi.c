/* /openapi.json: this interface as an OpenAPI 3.1 document, built from the table of routes and
 * the registries of schemes and formats. */
#include "call.h"
#include "endpoints/apply_model.h"
#include "files/applied.h"
#include "files/convert_selection.h"
#include "models/difference.h"
#include "models/options.h"
#include "openapi/contract.h"
#include "openapi/entries.h"
#include "replies/comparison.h"
#include "replies/fixed_documents.h"
#include "replies/identity.h"
#include "json/schema.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Add what a request may give besides the scheme's parameters: format and its options, tensor
 * and preset. */
static void add_request_options(const pe_scheme_info *info, api_entry_adder *add,
                                json_t *document, json_t *list)
{
    json_t *tensors = json_array(), *presets = json_array();
    for (size_t i = 0; i < info->tensor_count; i++)
        json_array_append_new(tensors, json_string(info->tensors[i].name));
    for (size_t i = 0; i < info->preset_count; i++)
        json_array_append_new(presets, json_string(info->presets[i].name));
    api_add_format_options(add, document, list);
    add(document, list,
        &(api_entry){"tensor",
                     "one tensor of several; forms of one carry the first unless told",
                     json_pack("{s:s, s:o}", "type", "string", "enum", tensors), NULL, false});
    if (info->preset_count > 0)
        add(document, list,
            &(api_entry){"preset", "a named row of values under the explicit ones",
                         json_pack("{s:s, s:o}", "type", "string", "enum", presets), NULL,
                         false});
    else
        json_decref(presets);
}

/* The value of a parameter in an example query; NULL if the query does not give it. */
static json_t *make_example(const char *query, const pe_parameter *parameter)
{
    size_t length = strlen(parameter->name);
    const char *pair = query; /* "name=value", and then `&` or the end */
    while (strncmp(pair, parameter->name, length) != 0 || pair[length] != '=') {
        pair = strchr(pair, '&');
        if (!pair)
            return NULL;
        pair++;
    }
    char text[256]; /* examples are short */
    const char *value = pair + length + 1;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(value, "&"), value);
    return api_parameter_value(parameter, text);
}

/* GET of a scheme. */
static json_t *get_operation(json_t *document, const pe_scheme_info *info)
{
    json_t *parameters = json_array();
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        const pe_parameter *parameter = pe_parameter_at(info, i);
        api_add_row(api_add_query_parameter, document, parameters, parameter,
                    make_example(info->example, parameter));
    }
    add_request_options(info, api_add_query_parameter, document, parameters);
    api_contract_add_parameters(parameters, API_TENSORS);
    return json_pack("{s:s+, s:s, s:s, s:[s], s:o, s:o}", "operationId", "get_", info->name,
                     "summary", info->title, "description", info->summary, "tags", "encodings",
                     "parameters", parameters, "responses",
                     api_contract_responses(document, API_TENSORS, NULL));
}

/* POST of a scheme. */
static json_t *post_operation(json_t *document, const pe_scheme_info *info)
{
    json_t *properties = json_object(), *required = json_array(), *example = json_object();
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        const pe_parameter *parameter = pe_parameter_at(info, i);
        json_t *value = make_example(info->example, parameter);
        api_add_row(api_add_member, document, properties, parameter, NULL);
        if (value)
            json_object_set_new(example, parameter->name, value);
        if (api_is_required(parameter))
            json_array_append_new(required, json_string(parameter->name));
    }
    add_request_options(info, api_add_member, document, properties);
    json_t *schema =
        json_pack("{s:s, s:o, s:b, s:o, s:[o]}", "type", "object", "properties", properties,
                  "additionalProperties", 0, "required", required, "examples", example);
    json_t *body =
        json_pack("{s:b, s:s, s:{s:{s:o}}}", "required", 1, "description",
                  "the parameters of GET, which describes them; null counts as not given",
                  "content", "application/json", "schema", schema);
    json_t *parameters = json_array();
    api_contract_add_parameters(parameters, API_TENSORS_BY_POST);
    return json_pack(
        "{s:s+, s:o, s:s, s:[s], s:o, s:o, s:o}", "operationId", "post_", info->name, "summary",
        json_sprintf("%s, asked for by a JSON object", info->title), "description",
        info->summary, "tags", "encodings", "parameters", parameters, "requestBody", body,
        "responses", api_contract_responses(document, API_TENSORS_BY_POST, NULL));
}

/* The parameter that a pattern's {…} stands for; `brace` points to the {. */
static json_t *path_parameter(const json_t *document, const char *brace)
{
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(brace + 1, "}"), brace + 1);
    json_t *parameter = api_contract_part(document, "x-path-parameters", name);
    if (strcmp(name, "name") == 0)
        json_object_set_new(json_object_get(parameter, "schema"), "pattern",
                            json_string(API_STORED_NAME_PATTERN));
    return parameter;
}

static void add_options(json_t *document, json_t *parameters, const pe_parameter *rows,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        api_add_row(api_add_query_parameter, document, parameters, &rows[i],
                    make_example("plan=true&set=bert-positions", &rows[i]));
}

/* Add what a request for a plan may give. */
static void add_plan_options(json_t *document, json_t *parameters)
{
    size_t count;
    const pe_parameter *rows = api_model_option_rows(&count);
    add_options(document, parameters, rows, count);
}

/* The member of a path item for a method: "get" for "GET". Returns dst. */
static const char *method_member(const char *method, char dst[16])
{
    snprintf(dst, 16, "%s", method);
    for (size_t i = 0; dst[i]; i++)
        dst[i] = (char)tolower((unsigned char)dst[i]);
    return dst;
}

/* The options of the kinds of routes that have their own. */
static const struct {
    unsigned kinds;
    const pe_parameter *rows;
    size_t count;
} OPTIONS[] = {
    {API_PLAN_COMPARISON, api_model_compare_options, API_MODEL_COMPARE_OPTIONS},
    {API_COMPARISON, api_compare_options, API_COMPARE_OPTIONS},
    {API_IDENTIFICATION, api_identify_options, API_IDENTIFY_OPTIONS},
    {API_CONVERSION, api_convert_options, API_CONVERT_OPTIONS},
    {API_MODEL_APPLICATION, api_apply_model_options, API_APPLY_MODEL_OPTIONS},
    {API_APPLICATIONS, api_apply_options, API_APPLY_OPTIONS},
    {API_APPLICATIONS, &api_compare_options[API_COMPARE_TOLERANCE],
     API_COMPARE_OPTIONS - API_COMPARE_TOLERANCE},
};

/* Which free parameters of a scheme a kind of route takes: a name in "x-scheme-parameters". */
static const struct {
    unsigned kinds;
    const char *name;
} OF_SCHEMES[] = {
    {API_TENSORS, "tensors"},
    {API_COMPARISON, "compare"},
    {API_APPLICATION, "apply"},
    {API_MODEL_APPLICATION, "apply_model"},
};

/* Add what similarities take besides the parameters of their schemes. */
static void add_similarity_options(json_t *document, api_entry_adder *add, json_t *list)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(0));
    const pe_scheme_info *similar = pe_scheme_describe(pe_similarity_find(info->name));
    for (size_t i = 0; i < similar->parameter_count; i++) {
        const pe_parameter *row = &similar->parameters[i];
        bool own = true;
        for (size_t k = 0; k < info->parameter_count; k++)
            own = own && strcmp(row->name, info->parameters[k].name) != 0;
        if (own)
            api_add_row(add, document, list, row, make_example("metric=l2", row));
    }
}

/* Add what a request for tensors may give whatever its scheme is. */
static void add_common_options(json_t *document, const api_route *route, api_entry_adder *add,
                               json_t *list)
{
    size_t count;
    const pe_parameter *rows = pe_common_parameters(&count);
    for (size_t i = 0; i < count; i++)
        api_add_row(add, document, list, &rows[i], NULL);
    if (strcmp(route->tag, "similarity") == 0)
        add_similarity_options(document, add, list);
    api_add_format_options(add, document, list);
    add(document, list,
        &(api_entry){"tensor", "name of one tensor of several",
                     json_pack("{s:s}", "type", "string"), NULL, false});
    add(document, list,
        &(api_entry){"preset", "name of a preset of the scheme",
                     json_pack("{s:s}", "type", "string"), NULL, false});
}

/* Add what a kind of route may be asked besides the scheme of its path. */
static void add_route_options(json_t *document, const api_route *route, json_t *parameters)
{
    const api_kind kind = route->kind;
    if (kind & (API_PLAN | API_PLAN_BY_POST | API_PLAN_COMPARISON))
        add_plan_options(document, parameters);
    for (size_t i = 0; i < sizeof OF_SCHEMES / sizeof *OF_SCHEMES; i++)
        if (OF_SCHEMES[i].kinds & (unsigned)kind)
            json_array_append_new(parameters, api_contract_part(document, "x-scheme-parameters",
                                                                OF_SCHEMES[i].name));
    if (kind == API_TENSORS)
        add_common_options(document, route, api_add_query_parameter, parameters);
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        if (OPTIONS[i].kinds & (unsigned)kind)
            add_options(document, parameters, OPTIONS[i].rows, OPTIONS[i].count);
}

/* The body of a request for tensors of whatever scheme. */
static json_t *arguments_body(json_t *document, const api_route *route)
{
    json_t *body = api_contract_part(document, "x-bodies", "arguments"),
           *properties = json_object();
    json_t *schema = json_object_get(
        json_object_get(json_object_get(body, "content"), "application/json"), "schema");
    add_common_options(document, route, api_add_member, properties);
    json_object_set_new(schema, "properties", properties);
    if (json_object_get(properties, "metric"))
        json_object_set_new(schema, "required", json_pack("[s]", "metric"));
    return body;
}

/* Add the body that a kind of route takes, if it takes one. */
static void add_body(json_t *document, const api_route *route, json_t *operation)
{
    static const struct {
        unsigned kinds;
        const char *body;
    } BODIES[] = {
        {API_UPLOAD, "upload"},
        {API_BATCH, "batch"},
        {API_PLAN_BY_POST, "config"},
        {API_PLAN_COMPARISON, "configs"},
        {API_COMPARISON | API_IDENTIFICATION, "table"},
        {API_CONVERSION | API_APPLICATIONS, "tensors"},
    };
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++)
        if (BODIES[i].kinds & (unsigned)route->kind)
            json_object_set_new(operation, "requestBody",
                                api_contract_part(document, "x-bodies", BODIES[i].body));
    if (route->kind == API_TENSORS_BY_POST)
        json_object_set_new(operation, "requestBody", arguments_body(document, route));
}

/* Add the operation of a route under a pattern of its path. */
static void add_operation(json_t *document, const api_route *route, const char *pattern,
                          const char *answer)
{
    char method[16];
    const char *brace = strchr(pattern, '{');
    json_t *parameters = json_array();
    if (brace)
        json_array_append_new(parameters, path_parameter(document, brace));
    add_route_options(document, route, parameters);
    api_contract_add_parameters(parameters, route->kind);
    json_t *operation = json_pack(
        "{s:s+, s:s, s:s, s:[s], s:o, s:o}", "operationId", route->operation,
        pattern == route->old_pattern ? "_by_old_path" : "", "summary", route->summary,
        "description", route->summary, "tags", route->tag, "parameters", parameters,
        "responses", api_contract_responses(document, route->kind, answer));
    if (brace) /* the scheme, model, set or file that it names may not be there */
        json_object_set_new(json_object_get(operation, "responses"), "404",
                            json_pack("{s:s}", "$ref", "#/components/responses/Unknown"));
    if (pattern == route->old_pattern)
        json_object_set_new(operation, "deprecated", json_true());
    add_body(document, route, operation);
    if (route->right == API_RIGHT_STORE) /* a server may have a key or none */
        json_object_set_new(operation, "security", json_pack("[{}, {s:[]}]", "key"));
    if (route->right == API_RIGHT_TABLES)
        json_object_set_new(operation, "security",
                            json_pack("[{}, {s:[]}, {s:[]}]", "tables_key", "key"));
    json_t *paths = json_object_get(document, "paths");
    json_t *item = json_object_get(paths, pattern);
    if (!item) {
        item = json_object();
        if (json_object_set_new(paths, pattern, item) != 0)
            item = NULL; /* jansson has freed it */
    }
    json_object_set_new(item, method_member(route->method, method), operation);
}

/* Add a route; that of encodings is also there for each scheme, with its own parameters. */
static void add_route(json_t *document, const api_route *route)
{
    add_operation(document, route, route->pattern, route->schema);
    if (route->old_pattern)
        add_operation(document, route, route->old_pattern,
                      route->old_schema ? route->old_schema : route->schema);
}

/* Add the path of a scheme under /v1/encodings. */
static void add_scheme(json_t *document, const pe_scheme_info *info)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/encodings/%s", info->name);
    json_object_set_new(json_object_get(document, "paths"), path,
                        json_pack("{s:o, s:o}", "get", get_operation(document, info), "post",
                                  post_operation(document, info)));
}

static json_t *build_document(const api_call *call)
{
    const api_route *routes = call->service->routes;
    json_t *document = api_contract_new();
    for (size_t i = 0; i < call->service->route_count; i++)
        add_route(document, &routes[i]);
    for (size_t i = 0; i < pe_scheme_count(); i++)
        add_scheme(document, pe_scheme_describe(pe_scheme_at(i)));
    api_contract_finish(document);
    return document;
}

api_reply *api_get_openapi(const api_call *call)
{
    return api_reply_fixed(call, API_FIXED_OPENAPI, build_document);
}
