/* /openapi.json: this interface as an OpenAPI 3.1 document, built from the table of routes and
 * the registries of schemes and formats. */
#include "call.h"
#include "endpoints/apply_model.h"
#include "files/applied.h"
#include "files/selection.h"
#include "formats/options.h"
#include "formats/registry.h"
#include "models/difference.h"
#include "models/options.h"
#include "openapi/contract.h"
#include "openapi/similarity.h"
#include "replies/comparison.h"
#include "replies/identity.h"
#include "replies/kept.h"
#include "json/schema.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* An array of strings. */
static json_t *string_array(const char *const *names, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_string(names[i]));
    return array;
}

/* Adds a parameter of a request to a part of the document: its name, help and schema. */
typedef void parameter_adder(json_t *document, const char *name, const char *help,
                             json_t *schema);

/* Add the options of formats; the help of each one lists the formats that take it. */
static void add_format_options(parameter_adder *add, json_t *document)
{
    const pe_parameter *rows[API_OPTIONS_MAX];
    size_t count = api_option_rows(rows);
    for (size_t i = 0; i < count; i++) {
        char help[256];
        size_t used = (size_t)snprintf(help, sizeof help, "%s; with", rows[i]->help);
        const char *separator = " format=";
        for (size_t f = 0; f < api_format_count() && used < sizeof help; f++) {
            if (!api_takes_option(api_format_get(f), rows[i]->name))
                continue;
            used += (size_t)snprintf(help + used, sizeof help - used, "%s%s", separator,
                                     api_format_get(f)->name);
            separator = ", ";
        }
        add(document, rows[i]->name, help, api_parameter_schema(rows[i]));
    }
}

/* Add what a request may give besides the scheme's parameters: format and its options, tensor
 * and preset. */
static void add_request_options(const pe_scheme_info *info, parameter_adder *add,
                                json_t *document)
{
    json_t *tensors = json_array(), *presets = json_array();
    for (size_t i = 0; i < info->tensor_count; i++)
        json_array_append_new(tensors, json_string(info->tensors[i].name));
    for (size_t i = 0; i < info->preset_count; i++)
        json_array_append_new(presets, json_string(info->presets[i].name));
    add(document, "format", "representation; beats Accept",
        json_pack("{s:s, s:o}", "type", "string", "enum",
                  string_array(api_format_names(), api_format_count())));
    add_format_options(add, document);
    add(document, "tensor", "one tensor of several; forms of one carry the first unless told",
        json_pack("{s:s, s:o}", "type", "string", "enum", tensors));
    if (info->preset_count > 0)
        add(document, "preset", "a named row of values under the explicit ones",
            json_pack("{s:s, s:o}", "type", "string", "enum", presets));
    else
        json_decref(presets);
}

/* Add the old name of a parameter, if it has one, as deprecated. */
static void add_old_name(parameter_adder *add, json_t *document, const pe_parameter *row)
{
    if (!row->old_name)
        return;
    char help[64];
    json_t *schema = api_parameter_schema(row);
    json_object_set_new(schema, "deprecated", json_true());
    snprintf(help, sizeof help, "the old name of %s", row->name);
    add(document, row->old_name, help, schema);
}

/* A parameter_adder for the array of an operation's parameters. */
static void add_query_parameter(json_t *array, const char *name, const char *help,
                                json_t *schema)
{
    json_t *parameter = json_pack("{s:s, s:s, s:s, s:o}", "name", name, "in", "query",
                                  "description", help, "schema", schema);
    if (json_object_get(schema, "items")) { /* a list is one value with commas */
        json_object_set_new(parameter, "style", json_string("form"));
        json_object_set_new(parameter, "explode", json_false());
    }
    if (json_object_get(schema, "deprecated"))
        json_object_set_new(parameter, "deprecated", json_true());
    json_array_append_new(array, parameter);
}

/* A parameter_adder for the properties of a JSON body that every body must have. */
static void add_property(json_t *properties, const char *name, const char *help, json_t *schema)
{
    json_object_set_new(schema, "description", json_string(help));
    json_object_set_new(properties, name, schema);
}

/* A parameter_adder for the other properties: null counts as not given. */
static void add_optional_property(json_t *properties, const char *name, const char *help,
                                  json_t *schema)
{
    json_t *choices = json_object_get(schema, "enum");
    json_object_set_new(schema, "type",
                        json_pack("[O, s]", json_object_get(schema, "type"), "null"));
    if (choices)
        json_array_append_new(choices, json_null());
    add_property(properties, name, help, schema);
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

static const char *name_tag(const pe_scheme_info *info)
{
    return info->similarity_of ? "similarity" : "encodings";
}

/* The summary of an operation; `how` ends it. */
static json_t *write_summary(const pe_scheme_info *info, const char *how)
{
    if (!info->similarity_of)
        return json_sprintf("%s%s", info->title, how);
    const pe_scheme *compared = pe_scheme_find(info->similarity_of);
    return json_sprintf("%s: %s%s", info->title, pe_scheme_describe(compared)->title, how);
}

/* GET of a scheme; `query` is the example. */
static json_t *get_operation(const json_t *document, const pe_scheme_info *info,
                             const char *query)
{
    json_t *parameters = json_array();
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        const pe_parameter *parameter = pe_parameter_at(info, i);
        add_query_parameter(parameters, parameter->name, parameter->help,
                            api_parameter_schema(parameter));
        json_t *added = json_array_get(parameters, json_array_size(parameters) - 1);
        json_t *example = make_example(query, parameter);
        if (example)
            json_object_set_new(added, "example", example);
        if (api_is_required(parameter))
            json_object_set_new(added, "required", json_true());
        add_old_name(add_query_parameter, parameters, parameter);
    }
    add_request_options(info, add_query_parameter, parameters);
    api_contract_add_parameters(parameters, API_TENSORS);
    return json_pack("{s:s+, s:o, s:s, s:[s], s:o, s:o}", "operationId", "get_", info->name,
                     "summary", write_summary(info, ""), "description", info->summary, "tags",
                     name_tag(info), "parameters", parameters, "responses",
                     api_contract_responses(document, API_TENSORS, NULL));
}

/* POST of a scheme; `query` is the example. */
static json_t *post_operation(const json_t *document, const pe_scheme_info *info,
                              const char *query)
{
    json_t *properties = json_object(), *required = json_array(), *example = json_object();
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        const pe_parameter *parameter = pe_parameter_at(info, i);
        bool is_required = api_is_required(parameter);
        parameter_adder *add = is_required ? add_property : add_optional_property;
        add(properties, parameter->name, parameter->help, api_parameter_schema(parameter));
        add_old_name(add_optional_property, properties, parameter);
        json_t *value = make_example(query, parameter);
        if (value)
            json_object_set_new(example, parameter->name, value);
        if (is_required)
            json_array_append_new(required, json_string(parameter->name));
    }
    add_request_options(info, add_optional_property, properties);
    json_t *schema = json_pack("{s:s, s:o, s:b, s:o}", "type", "object", "properties",
                               properties, "additionalProperties", 0, "required", required);
    json_t *body = json_pack("{s:b, s:{s:{s:o, s:o}}}", "required", 1, "content",
                             "application/json", "schema", schema, "example", example);
    json_t *parameters = json_array();
    api_contract_add_parameters(parameters, API_TENSORS_BY_POST);
    return json_pack("{s:s+, s:o, s:s, s:[s], s:o, s:o, s:o}", "operationId", "post_",
                     info->name, "summary", write_summary(info, ", asked for by a JSON object"),
                     "description", info->summary, "tags", name_tag(info), "parameters",
                     parameters, "requestBody", body, "responses",
                     api_contract_responses(document, API_TENSORS_BY_POST, NULL));
}

/* The name of a route's operation: "v1_schemes" for GET of "/v1/schemes", "put_v1_schemes" for
 * PUT, "page" for "/". */
static json_t *operation_id(const char *method, const char *pattern)
{
    char name[64] = "";
    if (strcmp(pattern, "/") == 0)
        return json_string("page");
    if (strcmp(method, "GET") != 0)
        snprintf(name, sizeof name, "%s_", method);
    size_t used = strlen(name);
    for (size_t i = 0; i < used; i++)
        name[i] = (char)tolower((unsigned char)name[i]);
    for (const char *next = pattern + 1; *next && used < sizeof name - 1; next++)
        if (*next != '{' && *next != '}')
            name[used++] = *next == '/' || *next == '.' ? '_' : *next;
    name[used] = '\0';
    return json_string(name);
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

/* Add the body that a kind of route takes, if it takes one. */
static void add_body(const json_t *document, api_kind kind, json_t *operation)
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
        {API_CONVERSION, "weights"},
        {API_APPLICATIONS, "tensors"},
    };
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++)
        if (BODIES[i].kinds & (unsigned)kind)
            json_object_set_new(operation, "requestBody",
                                api_contract_part(document, "x-bodies", BODIES[i].body));
}

static void add_options(json_t *parameters, const pe_parameter *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_query_parameter(parameters, rows[i].name, rows[i].help,
                            api_parameter_schema(&rows[i]));
        if (api_is_required(&rows[i]))
            json_object_set_new(json_array_get(parameters, json_array_size(parameters) - 1),
                                "required", json_true());
        add_old_name(add_query_parameter, parameters, &rows[i]);
    }
}

/* Add what a request for a plan may give. */
static void add_plan_options(json_t *parameters)
{
    size_t count;
    const pe_parameter *rows = api_model_option_rows(&count);
    add_options(parameters, rows, count);
    json_t *plan = json_array_get(parameters, json_array_size(parameters) - 1);
    json_object_set_new(plan, "example", json_true());
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
    {API_STORED_IDENTIFICATION, api_identify_stored_options, API_IDENTIFY_STORED_OPTIONS},
    {API_CONVERSION, api_convert_options, API_CONVERT_OPTIONS},
    {API_MODEL_APPLICATION, api_apply_model_options, API_APPLY_MODEL_OPTIONS},
    {API_APPLICATIONS, api_apply_options, API_APPLY_OPTIONS},
    {API_APPLICATIONS, &api_compare_options[API_COMPARE_TOLERANCE],
     API_COMPARE_OPTIONS - API_COMPARE_TOLERANCE},
};

/* Add what a kind of route may be asked besides the scheme of its path. */
static void add_route_options(const json_t *document, api_kind kind, json_t *parameters)
{
    if (kind & (API_PLAN | API_PLAN_BY_POST | API_PLAN_COMPARISON))
        add_plan_options(parameters);
    if (kind & (API_COMPARISON | API_APPLICATIONS))
        json_array_append_new(parameters,
                              api_contract_part(document, "x-scheme-parameters",
                                                kind == API_COMPARISON    ? "compare"
                                                : kind == API_APPLICATION ? "apply"
                                                                          : "apply_model"));
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        if (OPTIONS[i].kinds & (unsigned)kind)
            add_options(parameters, OPTIONS[i].rows, OPTIONS[i].count);
    if (kind == API_STORED_IDENTIFICATION) {
        json_t *set = json_array_get(parameters, API_IDENTIFY_STORED_SET);
        json_object_set_new(set, "example", json_string("bert-positions"));
    }
}

/* Add the operation of a route under a pattern of its path; those of tensors are one for each
 * scheme. */
static void add_operation(json_t *document, const api_route *route, const char *pattern,
                          const char *answer)
{
    char method[16];
    const char *brace = strchr(pattern, '{');
    json_t *parameters = json_array();
    if (brace)
        json_array_append_new(parameters, path_parameter(document, brace));
    add_route_options(document, route->kind, parameters);
    api_contract_add_parameters(parameters, route->kind);
    json_t *operation =
        json_pack("{s:o, s:s, s:s, s:[s], s:o, s:o}", "operationId",
                  operation_id(route->method, pattern), "summary", route->summary,
                  "description", route->summary, "tags", route->tag, "parameters", parameters,
                  "responses", api_contract_responses(document, route->kind, answer));
    if (pattern == route->old_pattern)
        json_object_set_new(operation, "deprecated", json_true());
    add_body(document, route->kind, operation);
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

static void add_plain_route(json_t *document, const api_route *route)
{
    add_operation(document, route, route->pattern, route->schema);
    if (route->old_pattern)
        add_operation(document, route, route->old_pattern,
                      route->old_schema ? route->old_schema : route->schema);
}

/* Add a scheme's path under /v1/encodings or /v1/similarity; `query` is the example. */
static void add_scheme(json_t *document, const char *kind, const pe_scheme *scheme,
                       const char *query)
{
    char path[128];
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    snprintf(path, sizeof path, "/v1/%s/%s", kind,
             info->similarity_of ? info->similarity_of : info->name);
    json_object_set_new(json_object_get(document, "paths"), path,
                        json_pack("{s:o, s:o}", "get", get_operation(document, info, query),
                                  "post", post_operation(document, info, query)));
}

static json_t *build_document(const api_call *call)
{
    const api_route *routes = call->service->routes;
    json_t *document = api_contract_new();
    for (size_t i = 0; i < call->service->route_count; i++)
        if (!(routes[i].kind & (API_TENSORS | API_TENSORS_BY_POST)))
            add_plain_route(document, &routes[i]);
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        char query[API_SIMILARITY_QUERY_MAX];
        const pe_scheme *scheme = pe_scheme_at(i);
        const pe_scheme_info *info = pe_scheme_describe(scheme);
        add_scheme(document, "encodings", scheme, info->example);
        if (api_similarity_example(scheme, &call->service->host->limits, query))
            add_scheme(document, "similarity", pe_similarity_find(info->name), query);
    }
    api_contract_finish(document);
    return document;
}

api_reply *api_openapi(const api_call *call)
{
    return api_kept_reply(call, API_KEPT_OPENAPI, build_document);
}
