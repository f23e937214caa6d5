/* /openapi.json: this interface as an OpenAPI 3.1 document, built from the routes and
 * registries. */
#include "../document.h"
#include "../formats.h"
#include "../options.h"
#include "../parameters.h"
#include "../schema.h"
#include "../service.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The responses of an operation: what success carries, and problems. */
static json_t *responses(json_t *content)
{
    json_t *problem =
        json_pack("{s:s, s:{s:{s:{s:s}}}}", "description", "A problem document", "content",
                  "application/problem+json", "schema", "$ref", "#/components/schemas/Problem");
    json_t *success = json_pack("{s:s, s:o}", "description", "The answer", "content", content);
    return json_pack("{s:o, s:o}", "200", success, "default", problem);
}

/* ---- conditions, ranges and codings: components that the GETs of tensors refer to ---- */

static const struct {
    const char *component, *name, *help;
} REQUEST_HEADERS[] = {
    {"AcceptEncoding", "Accept-Encoding", "gzip is there for text forms; 406 without identity"},
    {"IfMatch", "If-Match", "tags, or a star: 412 unless one is that of what would come"},
    {"IfNoneMatch", "If-None-Match", "tags, or a star: 304 if one is that of what would come"},
    {"IfRange", "If-Range", "the tag of what the range is of; the whole comes of another"},
    {"Range", "Range", "of a binary form: bytes=first-last, bytes=first- or bytes=-count"},
    {"RequestId", "X-Request-Id", "1 to 128 of letters, digits and ._:/+=@-; else replaced"},
    {"TraceParent", "traceparent", "W3C Trace Context, version 00; ignored if it is not valid"},
};
#define REQUEST_HEADER_COUNT (sizeof REQUEST_HEADERS / sizeof *REQUEST_HEADERS)

/* What answers may tell besides; of the status named, or of 200 and 206. */
static const struct {
    const char *status, *name, *help;
} RESPONSE_HEADERS[] = {
    {NULL, "ETag", "strong; of this form, these parameters and this coding alone"},
    {"200", "Content-Encoding", "gzip, of a text form"},
    {"200", "Vary", "which headers the form and its coding were chosen by"},
    {NULL, "Accept-Ranges", "bytes, for binary forms"},
    {"206", "Content-Range", "bytes first-last/whole"},
    {"416", "Content-Range", "bytes */whole"},
    {NULL, "X-Request-Id", "the request's, or a new one"},
    {NULL, "traceparent", "the request's"},
};
#define RESPONSE_HEADER_COUNT (sizeof RESPONSE_HEADERS / sizeof *RESPONSE_HEADERS)

static const struct {
    const char *status, *component, *help;
    bool part, problem;
} OTHER_RESPONSES[] = {
    {"206", "Part", "The bytes that Range asks for", true, false},
    {"304", "NotModified", "If-None-Match names what would come", false, false},
    {"412", "ConditionFailed", "If-Match names nothing that would come", false, true},
    {"416", "NoSuchRange", "Range lies behind the end", false, true},
};
#define OTHER_RESPONSE_COUNT (sizeof OTHER_RESPONSES / sizeof *OTHER_RESPONSES)

static json_t *reference(const char *kind, const char *component)
{
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", kind, component));
}

/* The headers of a status. */
static json_t *response_headers(const char *status)
{
    json_t *headers = json_object();
    bool good = strcmp(status, "200") == 0 || strcmp(status, "206") == 0;
    for (size_t i = 0; i < RESPONSE_HEADER_COUNT; i++) {
        const char *of = RESPONSE_HEADERS[i].status;
        if (of ? strcmp(of, status) == 0 : good)
            json_object_set_new(headers, RESPONSE_HEADERS[i].name,
                                json_pack("{s:s, s:{s:s}}", "description",
                                          RESPONSE_HEADERS[i].help, "schema", "type",
                                          "string"));
    }
    return headers;
}

static json_t *header_components(void)
{
    json_t *components = json_object();
    for (size_t i = 0; i < REQUEST_HEADER_COUNT; i++)
        json_object_set_new(components, REQUEST_HEADERS[i].component,
                            json_pack("{s:s, s:s, s:s, s:{s:s}}", "name",
                                      REQUEST_HEADERS[i].name, "in", "header", "description",
                                      REQUEST_HEADERS[i].help, "schema", "type", "string"));
    return components;
}

static json_t *response_components(void)
{
    json_t *components = json_object(), *binary = json_object();
    for (size_t i = 0; i < api_format_count(); i++)
        if (api_format_at(i)->measure == API_BYTES)
            json_object_set_new(binary, api_format_at(i)->media_type, json_object());
    for (size_t i = 0; i < OTHER_RESPONSE_COUNT; i++) {
        json_t *response = json_pack("{s:s, s:o}", "description", OTHER_RESPONSES[i].help,
                                     "headers", response_headers(OTHER_RESPONSES[i].status));
        if (OTHER_RESPONSES[i].part)
            json_object_set(response, "content", binary);
        if (OTHER_RESPONSES[i].problem)
            json_object_set_new(response, "content",
                                json_pack("{s:{s:o}}", "application/problem+json", "schema",
                                          reference("schemas", "Problem")));
        json_object_set_new(components, OTHER_RESPONSES[i].component, response);
    }
    json_decref(binary);
    return components;
}

/* Add to a GET of tensors what its headers may ask for and get. */
static void add_headers(json_t *parameters, json_t *responses)
{
    json_object_set_new(json_object_get(responses, "200"), "headers", response_headers("200"));
    for (size_t i = 0; i < REQUEST_HEADER_COUNT; i++)
        json_array_append_new(parameters,
                              reference("parameters", REQUEST_HEADERS[i].component));
    for (size_t i = 0; i < OTHER_RESPONSE_COUNT; i++)
        json_object_set_new(responses, OTHER_RESPONSES[i].status,
                            reference("responses", OTHER_RESPONSES[i].component));
}

/* ---- operations ---- */

static json_t *json_content(void)
{
    return json_pack("{s:{s:{s:s}}}", "application/json", "schema", "type", "object");
}

/* One media type for each format. */
static json_t *format_content(void)
{
    json_t *content = json_object();
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_at(i);
        json_t *schema = format->schema_type ? json_pack("{s:s}", "type", format->schema_type)
                                             : json_object();
        json_object_set_new(content, format->media_type, json_pack("{s:o}", "schema", schema));
    }
    return content;
}

static json_t *choices(const char *const *names, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_string(names[i]));
    return array;
}

/* Add the options of formats, each with the formats that take it. */
static void add_format_options(void (*add)(json_t *, const char *, const char *, json_t *),
                               json_t *where)
{
    const pe_parameter *rows[API_OPTIONS_MAX];
    size_t count = api_option_rows(rows);
    for (size_t i = 0; i < count; i++) {
        char help[256];
        size_t used = (size_t)snprintf(help, sizeof help, "%s; with", rows[i]->help);
        const char *separator = " format=";
        for (size_t f = 0; f < api_format_count() && used < sizeof help; f++) {
            if (!api_takes_option(api_format_at(f), rows[i]->name))
                continue;
            used += (size_t)snprintf(help + used, sizeof help - used, "%s%s", separator,
                                     api_format_at(f)->name);
            separator = ", ";
        }
        add(where, rows[i]->name, help, api_schema_of(rows[i]));
    }
}

/* Add what a request may hold besides the scheme's parameters: format and its options, tensor,
 * preset. */
static void add_request_options(const pe_scheme_info *info,
                                void (*add)(json_t *, const char *, const char *, json_t *),
                                json_t *where)
{
    json_t *tensors = json_array(), *presets = json_array();
    for (size_t i = 0; i < info->tensor_count; i++)
        json_array_append_new(tensors, json_string(info->tensors[i].name));
    for (size_t i = 0; i < info->preset_count; i++)
        json_array_append_new(presets, json_string(info->presets[i].name));
    add(where, "format", "representation; beats Accept",
        json_pack("{s:s, s:o}", "type", "string", "enum",
                  choices(api_format_names(), api_format_count())));
    add_format_options(add, where);
    add(where, "tensor", "one tensor of several; forms of one carry the first unless told",
        json_pack("{s:s, s:o}", "type", "string", "enum", tensors));
    if (info->preset_count > 0)
        add(where, "preset", "a named row of values under the explicit ones",
            json_pack("{s:s, s:o}", "type", "string", "enum", presets));
    else
        json_decref(presets);
}

static void add_query_parameter(json_t *array, const char *name, const char *help,
                                json_t *schema)
{
    json_t *parameter = json_pack("{s:s, s:s, s:s, s:o}", "name", name, "in", "query",
                                  "description", help, "schema", schema);
    if (json_object_get(schema, "items")) { /* a list: one value with commas */
        json_object_set_new(parameter, "style", json_string("form"));
        json_object_set_new(parameter, "explode", json_false());
    }
    json_array_append_new(array, parameter);
}

static void add_property(json_t *properties, const char *name, const char *help, json_t *schema)
{
    json_object_set_new(schema, "description", json_string(help));
    json_object_set_new(properties, name, schema);
}

/* The value of one parameter in the scheme's example query, as JSON; NULL if it is not there.
 */
static json_t *example_of(const pe_scheme_info *info, const pe_parameter *parameter)
{
    size_t length = strlen(parameter->name);
    if (info->of && strcmp(parameter->name, "metric") == 0)
        return json_string(parameter->choices[0]);
    for (const char *at = info->example; at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL)
        if (strncmp(at, parameter->name, length) == 0 && at[length] == '=') {
            char text[256]; /* examples are small */
            const char *value = at + length + 1;
            snprintf(text, sizeof text, "%.*s", (int)strcspn(value, "&"), value);
            return api_text_value(parameter, text);
        }
    return NULL;
}

static json_t *get_operation(const pe_scheme_info *info)
{
    json_t *parameters = json_array();
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        const pe_parameter *parameter = pe_parameter_at(info, i);
        add_query_parameter(parameters, parameter->name, parameter->help,
                            api_schema_of(parameter));
        json_t *added = json_array_get(parameters, json_array_size(parameters) - 1);
        json_t *example = example_of(info, parameter);
        if (example)
            json_object_set_new(added, "example", example);
        if (api_is_required(parameter))
            json_object_set_new(added, "required", json_true());
    }
    add_request_options(info, add_query_parameter, parameters);
    json_t *answers = responses(format_content());
    add_headers(parameters, answers);
    return json_pack("{s:s+, s:s, s:s, s:[s], s:o, s:o}", "operationId", "get_", info->name,
                     "summary", info->title, "description", info->summary, "tags", "encodings",
                     "parameters", parameters, "responses", answers);
}

static json_t *post_operation(const pe_scheme_info *info)
{
    json_t *properties = json_object(), *required = json_array(), *example = json_object();
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        const pe_parameter *parameter = pe_parameter_at(info, i);
        add_property(properties, parameter->name, parameter->help, api_schema_of(parameter));
        json_t *value = example_of(info, parameter);
        if (value)
            json_object_set_new(example, parameter->name, value);
        if (api_is_required(parameter))
            json_array_append_new(required, json_string(parameter->name));
    }
    add_request_options(info, add_property, properties);
    json_t *schema = json_pack("{s:s, s:o, s:b, s:o}", "type", "object", "properties",
                               properties, "additionalProperties", 0, "required", required);
    json_t *body = json_pack("{s:b, s:{s:{s:o, s:o}}}", "required", 1, "content",
                             "application/json", "schema", schema, "example", example);
    return json_pack("{s:s+, s:s, s:s, s:[s], s:o, s:o}", "operationId", "post_", info->name,
                     "summary", info->title, "description", info->summary, "tags", "encodings",
                     "requestBody", body, "responses", responses(format_content()));
}

/* GET of "/v1/schemes" as "v1_schemes", PUT as "put_v1_schemes": an operation's name. */
static json_t *operation_id(const api_route *route)
{
    char name[64] = "";
    if (strcmp(route->method, "GET") != 0)
        snprintf(name, sizeof name, "%s_", route->method);
    for (char *at = name; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    size_t used = strlen(name);
    for (const char *at = route->pattern + 1; *at && used < sizeof name - 1; at++)
        if (*at != '{' && *at != '}')
            name[used++] = *at == '/' || *at == '.' ? '_' : *at;
    name[used] = '\0';
    return json_string(name);
}

static json_t *content_of(const char *media_type, const char *type)
{
    return json_pack("{s:{s:{s:s}}}", media_type, "schema", "type", type);
}

/* The parameter that a pattern's {…} stands for. */
static json_t *path_parameter(const char *brace)
{
    bool scheme = strcmp(brace, "{scheme}") == 0;
    json_t *schema = json_pack("{s:s}", "type", "string");
    if (!scheme)
        json_object_set_new(schema, "pattern", json_string(API_STORED_NAME_PATTERN));
    return json_pack("{s:s, s:s, s:b, s:s, s:o, s:s}", "name", scheme ? "scheme" : "name", "in",
                     "path", "required", 1, "description",
                     scheme ? "name of a scheme" : "name of a stored set", "schema", schema,
                     "example",
                     scheme ? pe_scheme_describe(pe_scheme_at(0))->name : "bert-positions");
}

/* PUT and DELETE have no 200. */
static void describe_change(json_t *operation, bool put)
{
    json_t *answers = json_object_get(operation, "responses");
    json_object_del(answers, "200");
    json_object_set_new(answers, "204",
                        json_pack("{s:s}", "description",
                                  put ? "It has taken another one's place" : "It is removed"));
    if (!put)
        return;
    json_object_set_new(
        answers, "201",
        json_pack("{s:s, s:o}", "description", "It is stored", "content", json_content()));
    json_object_set_new(
        operation, "requestBody",
        json_pack("{s:b, s:s, s:o}", "required", 1, "description",
                  "a safetensors file of F64, F32, F16 and BF16 tensors of finite values",
                  "content", content_of("application/vnd.safetensors", "string")));
}

/* The routes that do not depend on the registry of schemes. */
static void add_plain_route(json_t *paths, const api_route *route)
{
    const char *brace = strchr(route->pattern, '{');
    bool changes = strcmp(route->method, "GET") != 0, stored = route->guard != NULL;
    json_t *content = json_content();
    if (strcmp(route->pattern, "/metrics") == 0 || (stored && brace)) {
        json_decref(content);
        content = content_of(stored ? "application/vnd.safetensors" : "text/plain", "string");
    }
    json_t *operation =
        json_pack("{s:o, s:s, s:s, s:[s], s:o}", "operationId", operation_id(route), "summary",
                  route->summary, "description", route->summary, "tags",
                  stored ? "parameters" : "service", "responses", responses(content));
    if (brace)
        json_object_set_new(operation, "parameters", json_pack("[o]", path_parameter(brace)));
    if (changes)
        describe_change(operation, strcmp(route->method, "PUT") == 0);
    if (stored) /* with or without a key, as the server is set up */
        json_object_set_new(operation, "security", json_pack("[{}, {s:[]}]", "key"));
    json_t *item = json_object_get(paths, route->pattern);
    if (!item) {
        item = json_object();
        if (json_object_set_new(paths, route->pattern, item) != 0)
            item = NULL; /* it is freed */
    }
    const char *method = !changes                            ? "get"
                         : strcmp(route->method, "PUT") == 0 ? "put"
                                                             : "delete";
    json_object_set_new(item, method, operation);
}

static json_t *problem_schema(void)
{
    json_t *item =
        json_pack("{s:s, s:{s:{s:s}, s:{s:[s, s]}, s:{s:s}, s:{s:s}}}", "type", "object",
                  "properties", "parameter", "type", "string", "given", "type", "string",
                  "null", "allowed", "type", "string", "did_you_mean", "type", "string");
    return json_pack("{s:s, s:[s, s, s, s], s:{s:{s:s}, s:{s:s}, s:{s:s}, s:{s:s}, s:{s:s}, "
                     "s:{s:s}, s:{s:s, s:o}}}",
                     "type", "object", "required", "type", "title", "status", "code",
                     "properties", "type", "type", "string", "title", "type", "string",
                     "status", "type", "integer", "code", "type", "string", "detail", "type",
                     "string", "did_you_mean", "type", "string", "errors", "type", "array",
                     "items", item);
}

/* Add a scheme's path under /v1/encodings or /v1/similarity. */
static void add_scheme(json_t *paths, const char *kind, const pe_scheme *scheme)
{
    char path[128];
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    snprintf(path, sizeof path, "/v1/%s/%s", kind, info->of ? info->of : info->name);
    json_object_set_new(
        paths, path,
        json_pack("{s:o, s:o}", "get", get_operation(info), "post", post_operation(info)));
}

api_reply *api_openapi(const api_call *call)
{
    const api_route *routes;
    size_t count = api_routes(&routes);
    json_t *paths = json_object();
    for (size_t i = 0; i < count; i++)
        if (routes[i].endpoint != api_get_asset &&
            strcmp(routes[i].pattern, "/v1/encodings/{scheme}") != 0 &&
            strcmp(routes[i].pattern, "/v1/similarity/{scheme}") != 0)
            add_plain_route(paths, &routes[i]);
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const pe_scheme *scheme = pe_scheme_at(i);
        add_scheme(paths, "encodings", scheme);
        if (api_has_similarity(scheme, &call->service->host->limits))
            add_scheme(paths, "similarity",
                       pe_similarity_find(pe_scheme_describe(scheme)->name));
    }
    json_t *head = json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "title", "posenc", "version",
                             PE_VERSION, "description",
                             "Positional encodings, exact to the last bit, as JSON or binary.",
                             "license", "name", "MIT", "identifier", "MIT");
    json_t *document = json_pack(
        "{s:s, s:o, s:[{s:s}], s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}], s:o, "
        "s:{s:{s:o}, s:{s:{s:s, s:s}}, s:o, s:o}}",
        "openapi", "3.1.0", "info", head, "servers", "url", "/", "tags", "name", "encodings",
        "description", "tensors", "name", "parameters", "description",
        "stored sets of trained tensors", "name", "service", "description",
        "what there is, and how the process does", "paths", paths, "components", "schemas",
        "Problem", problem_schema(), "securitySchemes", "key", "type", "http", "scheme",
        "bearer", "parameters", header_components(), "responses", response_components());
    return api_document_cacheable(call, document);
}
