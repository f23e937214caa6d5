/* The OpenAPI document without its paths: reads the fixed part, writes out its shorthands, and
 * says which kinds of routes have which request headers and responses. */
#include "openapi/contract.h"

#include "formats/registry.h"
#include "openapi/fixed.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

/* Kinds of routes: those that change the store, those of the store, those of which a GET may be
 * conditional, those that take a JSON object, those with content codings, and all. */
#define WRITES (API_UPLOAD | API_REMOVAL)
#define STORE  (API_SETS | API_SET | WRITES | API_TABLES)
#define READS  (API_TENSORS | API_DOCUMENT | API_PLAN | API_SETS | API_SET | API_ASSET)
#define POSTS  (API_TENSORS_BY_POST | API_BATCH | API_PLAN_BY_POST | API_PLAN_COMPARISON)
#define CODED  (API_TENSORS | POSTS | API_DOCUMENT | API_PLAN | API_TEXT | API_SETS | API_ASSET)
#define EVERY  (READS | WRITES | POSTS | API_TABLES | API_TEXT | API_STATE)

/* {component, kinds of routes that read it} */
static const struct {
    const char *component;
    unsigned kinds;
} REQUEST_HEADERS[] = {
    {"AcceptEncoding", CODED}, {"IfMatch", READS | WRITES}, {"IfNoneMatch", READS | WRITES},
    {"IfRange", API_TENSORS},  {"Range", API_TENSORS},      {"RequestId", EVERY},
    {"TraceParent", EVERY},
};

/* what a request with Range is answered, and where it stands in the document that is served */
#define RANGE_STATUS "206"
#define RANGE_ANSWER "Part"
#define RANGES       "x-responses"

/* {status, component or name in "x-answers", kinds of routes} */
static const struct {
    const char *status, *name;
    unsigned kinds;
} RESPONSES[] = {
    {"200", "Tensors", API_TENSORS},
    {"200", "TensorsByPost", API_TENSORS_BY_POST},
    {"200", "Batch", API_BATCH},
    {"200", "Document", API_DOCUMENT | API_SETS},
    {"200", "Plan", API_PLAN},
    {"200", "PlanByPost", API_PLAN_BY_POST},
    {"200", "Answer", API_PLAN_COMPARISON | API_COMPARISON | API_IDENTIFICATION},
    {"200", "Converted", API_CONVERSION},
    {"200", "Applied", API_APPLICATIONS},
    {"200", "State", API_STATE},
    {"200", "Text", API_TEXT},
    {"200", "Set", API_SET},
    {"200", "Asset", API_ASSET},
    {"201", "Stored", API_UPLOAD},
    {"204", "Replaced", API_UPLOAD},
    {"204", "Removed", API_REMOVAL},
    {RANGE_STATUS, RANGE_ANSWER, API_TENSORS},
    {"304", "NotModified", READS},
    {"400", "Malformed", EVERY},
    {"401", "Unauthorized", STORE},
    {"403", "Forbidden",
     STORE | API_TENSORS | API_TENSORS_BY_POST | API_BATCH | API_PLAN | API_PLAN_BY_POST |
         API_PLAN_COMPARISON},
    {"404", "Unknown", API_DOCUMENT | API_PLAN | STORE | API_ASSET},
    {"406", "NotAcceptable", CODED},
    {"409", "Differs", API_PLAN_COMPARISON | API_COMPARISON | API_APPLICATIONS},
    {"412", "ConditionFailed", READS | WRITES},
    {"413", "TooLarge", EVERY},
    {"414", "TargetTooLong", EVERY},
    {"415", "NotJson", POSTS},
    {"415", "NoTable", API_TABLES},
    {"415", "Coded", API_UPLOAD},
    {"416", "NoSuchRange", API_TENSORS},
    {"422", "NotComputable", API_TENSORS | API_PLAN | POSTS | API_TABLES},
    {"422", "NotStorable", API_UPLOAD},
    {"501", "NotImplemented", EVERY},
    {"503", "Unavailable", EVERY & ~(unsigned)API_STATE},
    {"503", "NotReady", API_STATE},
    {"507", "StoreFull", API_UPLOAD},
};

/* What a section of the document has by a name; NULL if it has none. */
static json_t *find_part(const json_t *document, const char *section, const char *name)
{
    return json_object_get(json_object_get(document, section), name);
}

static json_t *make_reference(const char *kind, const char *component)
{
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", kind, component));
}

json_t *api_contract_share(json_t *document, const char *kind, const char *name, json_t *value)
{
    json_t *known = find_part(document, "components", kind);
    const json_t *other = json_object_get(known, name);
    if (other && !json_equal(other, value))
        return value;
    if (!other)
        json_object_set(known, name, value);
    json_decref(value);
    return make_reference(kind, name);
}

/* ---- responses ---- */

/* Add the headers of a list of names, "Vary?", and of groups. */
static void add_headers(json_t *document, const json_t *names, json_t *headers)
{
    size_t index;
    json_t *item;
    json_array_foreach(names, index, item)
    {
        const char *text = json_string_value(item);
        size_t length = strcspn(text, "?");
        json_t *name = json_stringn(text, length);
        json_t *group = find_part(document, "x-header-groups", text);
        json_t *header = find_part(document, "x-headers", json_string_value(name));
        if (group)
            add_headers(document, group, headers);
        else
            json_object_set_new(
                headers, json_string_value(name),
                api_contract_share(document, "headers", json_string_value(name),
                                   json_pack("{s:O, s:b, s:O}", "description",
                                             json_object_get(header, "description"), "required",
                                             text[length] != '?', "schema",
                                             json_object_get(header, "schema"))));
        json_decref(name);
    }
}

/* Add the media types of the formats, or only of those with ranges. The schema of JSON has
 * members; other text is a string, and so are binary formats, in OpenAPI's terms. */
static void add_formats(json_t *content, bool with_ranges)
{
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_get(i);
        json_t *media = json_object();
        if (format->schema_type && strcmp(format->schema_type, "object") == 0)
            json_object_set_new(media, "schema", make_reference("schemas", "Tensors"));
        else if (format->schema_type)
            json_object_set_new(media, "schema",
                                json_pack("{s:s}", "type", format->schema_type));
        else
            json_object_set_new(media, "schema", make_reference("schemas", "Bytes"));
        if (!with_ranges || format->measure == API_BYTES)
            json_object_set(content, format->media_type, media);
        json_decref(media);
    }
}

/* Let the references of a value that say {schema} be to that schema. */
static void fill_references(json_t *value, const char *schema)
{
    const char *name;
    json_t *member;
    size_t index;
    json_object_foreach(value, name, member)
    {
        if (json_is_string(member) && strcmp(json_string_value(member), "{schema}") == 0)
            json_object_set_new(value, name, json_sprintf("#/components/schemas/%s", schema));
        else
            fill_references(member, schema);
    }
    json_array_foreach(value, index, member)
    {
        fill_references(member, schema);
    }
}

static json_t *describe_content(const json_t *document, const char *name, const char *schema)
{
    json_t *content = json_deep_copy(find_part(document, "x-contents", name));
    if (!content) {
        content = json_object();
        add_formats(content, strcmp(name, "binary formats") == 0);
    }
    if (schema)
        fill_references(content, schema);
    return content;
}

/* Write out the headers and the content of a response. */
static void finish_response(json_t *document, const char *schema, json_t *response)
{
    const char *content = json_string_value(json_object_get(response, "content"));
    json_t *headers = json_object();
    add_headers(document, json_object_get(response, "headers"), headers);
    json_object_set_new(response, "headers", headers);
    if (content)
        json_object_set_new(response, "content", describe_content(document, content, schema));
}

json_t *api_contract_responses(json_t *document, api_kind kind, const char *schema)
{
    json_t *responses = json_object();
    for (size_t i = 0; i < COUNT_OF(RESPONSES); i++) {
        if (!(RESPONSES[i].kinds & (unsigned)kind))
            continue;
        json_t *response = api_contract_part(document, "x-answers", RESPONSES[i].name);
        if (response)
            finish_response(document, schema, response);
        else
            response = make_reference("responses", RESPONSES[i].name);
        json_object_set_new(responses, RESPONSES[i].status, response);
    }
    return responses;
}

/* ---- the whole ---- */

/* Let a schema have the members of the one that its member "..." names. */
static void include_members(const json_t *schemas, json_t *schema)
{
    const char *name;
    json_t *member, *members = json_object();
    json_object_foreach(json_object_get(schema, "properties"), name, member)
    {
        if (strcmp(name, "...") != 0) {
            json_object_set(members, name, member);
            continue;
        }
        const json_t *included = json_object_get(schemas, json_string_value(member));
        json_object_update(members, json_object_get(included, "properties"));
        json_array_extend(json_object_get(schema, "required"),
                          json_object_get(included, "required"));
    }
    if (json_object_size(members) > 0)
        json_object_set(schema, "properties", members);
    json_decref(members);
}

json_t *api_contract_new(void)
{
    const char *name;
    json_t *part, *document = json_loads(api_openapi_fixed, 0, NULL);
    json_t *schemas = find_part(document, "components", "schemas");
    json_object_foreach(schemas, name, part)
    {
        include_members(schemas, part);
    }
    json_object_set_new(json_object_get(document, "info"), "version", json_string(PE_VERSION));
    json_object_foreach(json_object_get(document, "x-examples"), name, part)
    {
        json_object_set_new(json_object_get(schemas, name), "examples", json_pack("[O]", part));
    }
    json_object_foreach(find_part(document, "components", "responses"), name, part)
    {
        finish_response(document, NULL, part);
    }
    return document;
}

/* Move what only requests with Range are answered from "responses" to "x-responses", of every
 * operation and of the components. */
static void part_ranges(json_t *document)
{
    const char *path, *method;
    json_t *item, *operation, *components = json_object_get(document, "components");
    json_object_foreach(json_object_get(document, "paths"), path, item)
    {
        json_object_foreach(item, method, operation)
        {
            if (json_object_del(json_object_get(operation, "responses"), RANGE_STATUS) == 0)
                json_object_set_new(
                    operation, RANGES,
                    json_pack("{s:o}", RANGE_STATUS, make_reference(RANGES, RANGE_ANSWER)));
        }
    }
    json_object_set_new(
        components, RANGES,
        json_pack("{s:O}", RANGE_ANSWER, find_part(components, "responses", RANGE_ANSWER)));
    json_object_del(json_object_get(components, "responses"), RANGE_ANSWER);
}

void api_contract_finish(json_t *document)
{
    const char *name;
    json_t *part;
    void *next;
    part_ranges(document);
    json_object_foreach_safe(document, next, name, part)
    {
        if (strncmp(name, "x-", 2) == 0)
            json_object_del(document, name);
    }
}

json_t *api_contract_part(const json_t *document, const char *section, const char *name)
{
    return json_deep_copy(find_part(document, section, name));
}

void api_contract_add_parameters(json_t *parameters, api_kind kind)
{
    for (size_t i = 0; i < COUNT_OF(REQUEST_HEADERS); i++)
        if (REQUEST_HEADERS[i].kinds & (unsigned)kind)
            json_array_append_new(parameters,
                                  make_reference("parameters", REQUEST_HEADERS[i].component));
}
