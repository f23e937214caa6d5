/* Request headers, responses and response headers of the OpenAPI document, as tables that say
 * which kinds of routes have them. */
#include "openapi/contract.h"

#include "formats/registry.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

/* Kinds of routes: those that change the store, those of the store, those of which a GET may be
 * conditional, those that take a JSON object, those with content codings, and all. */
#define WRITES (API_UPLOAD | API_REMOVAL)
#define STORE  (API_SETS | API_SET | WRITES | API_TABLES | API_STORED_IDENTIFICATION)
#define READS  (API_TENSORS | API_DOCUMENT | API_PLAN | API_SETS | API_SET | API_ASSET)
#define POSTS  (API_TENSORS_BY_POST | API_BATCH | API_PLAN_BY_POST)
#define CODED  (API_TENSORS | POSTS | API_DOCUMENT | API_PLAN | API_TEXT | API_SETS | API_ASSET)
#define EVERY                                                                                  \
    (READS | WRITES | POSTS | API_TABLES | API_STORED_IDENTIFICATION | API_TEXT | API_STATE)

/* ---- request headers ---- */

/* {component, name, help, example, kinds of routes} */
static const struct {
    const char *component, *name, *help, *example;
    unsigned kinds;
} REQUEST_HEADERS[] = {
    {"AcceptEncoding", "Accept-Encoding", "gzip is there for text forms; 406 without identity",
     "gzip", CODED},
    {"IfMatch", "If-Match", "tags, or a star: 412 unless one is that of what is there", "*",
     READS | WRITES},
    {"IfNoneMatch", "If-None-Match",
     "tags, or a star: 304 if one is that of what would come, 412 where something would change",
     "\"3f1c\"", READS | WRITES},
    {"IfRange", "If-Range", "the tag of what the range is of; the whole comes of another",
     "\"3f1c\"", API_TENSORS},
    {"Range", "Range", "of a binary form: bytes=first-last, bytes=first- or bytes=-count",
     "bytes=0-63", API_TENSORS},
    {"RequestId", "X-Request-Id", "1 to 128 of letters, digits and ._:/+=@-; else replaced",
     "a5cda1a7", EVERY},
    {"TraceParent", "traceparent", "W3C Trace Context, version 00; ignored if it is not valid",
     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", EVERY},
};

json_t *api_contract_parameters(void)
{
    json_t *components = json_object();
    for (size_t i = 0; i < COUNT_OF(REQUEST_HEADERS); i++)
        json_object_set_new(components, REQUEST_HEADERS[i].component,
                            json_pack("{s:s, s:s, s:s, s:{s:s}, s:s}", "name",
                                      REQUEST_HEADERS[i].name, "in", "header", "description",
                                      REQUEST_HEADERS[i].help, "schema", "type", "string",
                                      "example", REQUEST_HEADERS[i].example));
    return components;
}

void api_contract_add_parameters(json_t *parameters, api_kind kind)
{
    for (size_t i = 0; i < COUNT_OF(REQUEST_HEADERS); i++)
        if (REQUEST_HEADERS[i].kinds & (unsigned)kind)
            json_array_append_new(
                parameters, api_contract_reference("parameters", REQUEST_HEADERS[i].component));
}

/* ---- response headers ---- */

/* {name, help, pattern of the value} */
static const struct {
    const char *name, *help, *pattern;
} HEADERS[] = {
    {"Access-Control-Allow-Origin",
     "web pages of any origin may read this; left out of what depends on a stored set",
     "^\\*$"},
    {"Access-Control-Expose-Headers", "what of the head they may read", "^[A-Za-z, -]+$"},
    {"Cross-Origin-Resource-Policy", "and may embed it", "^(cross|same)-origin$"},
    {"X-Content-Type-Options", "the type is as told", "^nosniff$"},
    {"X-Request-Id", "the request's, or a new one for one that was replaced",
     "^[A-Za-z0-9._:/+=@-]{1,128}$"},
    {"traceparent", "the request's", "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"},
    {"Accept-Encoding", "the content codings that a body may have", "^identity$"},
    {"Accept-Ranges", "for binary forms", "^bytes$"},
    {"Cache-Control", "how long this may be kept", "^[a-z0-9=, -]+$"},
    {"Cache-Status", "whether the tensors were there (RFC 9211)",
     "^posenc; (hit|fwd=miss|fwd=miss; collapsed|fwd=bypass; detail=streamed)$"},
    {"Content-Disposition", "a name for a file of it", "^inline; filename=\"[^\"]+\"$"},
    {"Content-Encoding", "of a text form", "^gzip$"},
    {"Content-Range", "where the part lies, and how long the whole is",
     "^bytes ([0-9]+-[0-9]+|\\*)/[0-9]+$"},
    {"Content-Security-Policy", "what the page may load", "^default-src 'self';"},
    {"Link", "the reference, and this document (RFC 8631)",
     "^</docs>; rel=\"service-doc\", </openapi.json>; rel=\"service-desc\"$"},
    {"ETag", "strong; of this form, these parameters and this coding alone",
     "^\"[0-9a-z-]+\"$"},
    {"Referrer-Policy", "what links tell", "^no-referrer$"},
    {"Retry-After", "seconds", "^[0-9]+$"},
    {"Server-Timing", "what computing took", "^compute;dur=[0-9.]+, format;dur=[0-9.]+$"},
    {"Tensor-Byte-Order", "of binary forms", "^little$"},
    {"Tensor-Dtype", "of the first tensor", "^(f64|f32|f16|bf16|i32)$"},
    {"Tensor-Name", "the first tensor", "^[a-z0-9_]+$"},
    {"Tensor-Shape", "of the first tensor", "^([0-9]+(, [0-9]+)*)?$"},
    {"Vary", "which headers the form and its coding were chosen by",
     "^(Accept|Accept-Encoding|Accept, Accept-Encoding)$"},
    {"WWW-Authenticate", "how to authenticate (RFC 6750)", "^Bearer realm=\"posenc\""},
};

/* Add the description of a response header; `always`: no response lacks it. */
static void add_header(json_t *headers, const char *name, bool always)
{
    for (size_t i = 0; i < COUNT_OF(HEADERS); i++)
        if (strcmp(HEADERS[i].name, name) == 0)
            json_object_set_new(headers, name,
                                json_pack("{s:s, s:b, s:{s:s, s:s}}", "description",
                                          HEADERS[i].help, "required", always, "schema", "type",
                                          "string", "pattern", HEADERS[i].pattern));
}

/* ---- responses ---- */

/* The headers of every response, and those of tensors. A header with a question mark may be
 * absent. */
#define COMMON                                                                                 \
    "Access-Control-Allow-Origin? Access-Control-Expose-Headers? "                             \
    "Cross-Origin-Resource-Policy "                                                            \
    "X-Content-Type-Options X-Request-Id? traceparent? Cache-Control "
#define FAILURE COMMON "Link "
#define TENSOR_FIELDS                                                                          \
    "Content-Disposition Tensor-Byte-Order Tensor-Dtype Tensor-Name Tensor-Shape "             \
    "Cache-Status? Server-Timing? "

typedef enum content_kind {
    NO_CONTENT,
    DOCUMENT,   /* JSON of the route's schema */
    PROBLEM,    /* a problem document */
    STATE,      /* JSON of the process's state, or a problem document */
    TENSORS,    /* in any format */
    RANGE,      /* of tensors in a binary format */
    BATCH,      /* a safetensors file, or JSON of the route's schema */
    MODEL,      /* a batch, or JSON of the route's schema */
    SET_FILE,   /* a safetensors file */
    TABLE_FILE, /* the same, or an npy file */
    ASSET,      /* a file of the visualiser's page */
    TEXT
} content_kind;

/* The last one is for a server without the page, whose "/" is a line of text. */
static const char *const ASSET_TYPES[] = {"text/html", "text/css", "text/javascript",
                                          "image/svg+xml", "text/plain"};

/* {status, component, help, kinds of routes, content, headers}. A response whose component is
 * NULL is written into each operation, since it depends on the route's schema. */
static const struct {
    const char *status, *component, *help;
    unsigned kinds;
    content_kind content;
    const char *headers;
} RESPONSES[] = {
    {"200", "Tensors", "The tensors", API_TENSORS, TENSORS,
     COMMON TENSOR_FIELDS "ETag Vary? Content-Encoding? Accept-Ranges?"},
    {"200", "TensorsByPost", "The tensors", API_TENSORS_BY_POST, TENSORS,
     COMMON TENSOR_FIELDS "Content-Encoding?"},
    {"200", NULL, "The tensors of all requests", API_BATCH, BATCH,
     COMMON "Content-Disposition Content-Encoding? Cache-Status"},
    {"200", NULL, "The document", API_DOCUMENT | API_SETS, DOCUMENT,
     COMMON "ETag Vary Content-Encoding?"},
    {"200", NULL, "The tensors, or with plan=true the plan", API_PLAN, MODEL,
     COMMON "ETag Vary Content-Encoding? Content-Disposition? Cache-Status?"},
    {"200", NULL, "The tensors, or with plan=true the plan", API_PLAN_BY_POST, MODEL,
     COMMON "Vary? Content-Encoding? Content-Disposition? Cache-Status?"},
    {"200", NULL, "The answer", API_COMPARISON | API_IDENTIFICATION | API_STORED_IDENTIFICATION,
     DOCUMENT, COMMON},
    {"200", NULL, "The file, converted", API_CONVERSION, TABLE_FILE, COMMON},
    {"200", NULL, "The file of the results, or with against the comparison", API_APPLICATION,
     TABLE_FILE, COMMON},
    {"200", NULL, "How the process does", API_STATE, DOCUMENT, COMMON},
    {"200", NULL, "The text", API_TEXT, TEXT, COMMON "Vary Content-Encoding?"},
    {"200", NULL, "The file, byte for byte", API_SET, SET_FILE,
     COMMON "ETag Content-Disposition?"},
    {"200", "Asset", "The page or file", API_ASSET, ASSET,
     COMMON "ETag Vary Content-Encoding? Content-Security-Policy Referrer-Policy"},
    {"201", NULL, "It is stored", API_UPLOAD, DOCUMENT, COMMON "ETag"},
    {"204", "Replaced", "It has taken another one's place", API_UPLOAD, NO_CONTENT,
     COMMON "ETag"},
    {"204", "Removed", "It is removed", API_REMOVAL, NO_CONTENT, COMMON},
    {"206", "Part", "The bytes that Range asks for", API_TENSORS, RANGE,
     COMMON TENSOR_FIELDS "ETag Vary? Accept-Ranges Content-Range"},
    {"304", "NotModified", "If-None-Match names what would come", READS, NO_CONTENT,
     COMMON "ETag Vary?"},
    {"400", "Malformed", "The request is malformed", EVERY, PROBLEM, FAILURE},
    {"401", "Unauthorized", "The bearer token is missing or wrong", STORE, PROBLEM,
     FAILURE "WWW-Authenticate"},
    {"403", "Forbidden", "This is not open to the request, or not to the page that asks",
     STORE | API_TENSORS | API_TENSORS_BY_POST | API_BATCH | API_PLAN | API_PLAN_BY_POST,
     PROBLEM, FAILURE},
    {"404", "Unknown", "There is no such scheme, model, stored set or file",
     API_DOCUMENT | API_PLAN | STORE | API_ASSET, PROBLEM, FAILURE},
    {"406", "NotAcceptable", "No acceptable representation", CODED, PROBLEM, FAILURE},
    {"409", NULL, "With tolerance or ulps: entries are further off than that",
     API_COMPARISON | API_APPLICATION, DOCUMENT, COMMON},
    {"412", "ConditionFailed", "The condition does not hold", READS | WRITES, PROBLEM, FAILURE},
    {"413", "TooLarge", "The body is too large", EVERY, PROBLEM, FAILURE},
    {"414", "TargetTooLong", "The request target is too long", EVERY, PROBLEM, FAILURE},
    {"415", "NotJson", "Content-Type is not application/json, or there is a Content-Encoding",
     POSTS, PROBLEM, FAILURE "Accept-Encoding?"},
    {"415", "NoTable", "Content-Type is that of no table, or there is a Content-Encoding",
     API_TABLES, PROBLEM, FAILURE "Accept-Encoding?"},
    {"415", "Coded", "There is a Content-Encoding", API_UPLOAD, PROBLEM,
     FAILURE "Accept-Encoding"},
    {"416", "NoSuchRange", "Range lies behind the end", API_TENSORS, PROBLEM,
     FAILURE "Content-Range"},
    {"422", "NotComputable",
     "A value is out of range, the result would be too large, or computing it took too long",
     API_TENSORS | API_PLAN | POSTS | API_TABLES | API_STORED_IDENTIFICATION, PROBLEM, FAILURE},
    {"422", "NotStorable", "A value is not finite", API_UPLOAD, PROBLEM, FAILURE},
    {"501", "NotImplemented", "The message's framing is unknown", EVERY, PROBLEM, FAILURE},
    {"503", "Unavailable", "Nothing was done: overloaded, ending, or out of memory",
     EVERY & ~(unsigned)API_STATE, PROBLEM, FAILURE "Retry-After"},
    {"503", "NotReady", "Warming up or ending", API_STATE, STATE, FAILURE "Retry-After"},
    {"507", "StoreFull", "The store has no room for this", API_UPLOAD, PROBLEM, FAILURE},
};

/* The description of a list of headers such as "ETag Vary? ". */
static json_t *describe_headers(const char *list)
{
    json_t *headers = json_object();
    while (*list) {
        char name[40];
        size_t length = strcspn(list, "? ");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        add_header(headers, name, list[length] != '?');
        list += length + strspn(list + length, "? ");
    }
    return headers;
}

static void add_content(json_t *content, const char *media_type, const char *schema)
{
    json_t *described = json_pack("{s:o}", "schema", api_contract_reference("schemas", schema));
    json_t *example = api_contract_example(schema);
    if (example)
        json_object_set_new(described, "example", example);
    json_object_set_new(content, media_type, described);
}

/* Add the media types of the formats, or only of those with ranges. The schema of JSON has
 * members; other text is a string, and binary formats have no schema. */
static void add_formats(json_t *content, bool with_ranges)
{
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_at(i);
        if (with_ranges && format->measure != API_BYTES)
            continue;
        if (!format->schema_type)
            json_object_set_new(content, format->media_type, json_object());
        else if (strcmp(format->schema_type, "object") == 0)
            add_content(content, format->media_type, "Tensors");
        else
            json_object_set_new(content, format->media_type,
                                json_pack("{s:{s:s}}", "schema", "type", format->schema_type));
    }
}

static json_t *describe_content(content_kind kind, const char *schema)
{
    json_t *content = json_object();
    switch (kind) {
    case NO_CONTENT:
        break;
    case DOCUMENT:
        add_content(content, "application/json", schema);
        break;
    case STATE:
        add_content(content, "application/json", "State");
        add_content(content, "application/problem+json", "Problem");
        break;
    case PROBLEM:
        add_content(content, "application/problem+json", "Problem");
        break;
    case TENSORS:
    case RANGE:
        add_formats(content, kind == RANGE);
        break;
    case BATCH:
        add_content(content, "application/json", schema);
        json_object_set_new(content, "application/vnd.safetensors", json_object());
        break;
    case MODEL:
        json_object_set_new(content, "application/json",
                            json_pack("{s:{s:[o, o]}}", "schema", "anyOf",
                                      api_contract_reference("schemas", schema),
                                      api_contract_reference("schemas", "Batch")));
        json_object_set_new(content, "application/vnd.safetensors", json_object());
        break;
    case TABLE_FILE:
        if (schema)
            add_content(content, "application/json", schema);
        json_object_set_new(content, "application/x-npy", json_object());
        json_object_set_new(content, "application/vnd.safetensors", json_object());
        break;
    case SET_FILE:
        json_object_set_new(content, "application/vnd.safetensors", json_object());
        break;
    case ASSET:
        for (size_t i = 0; i < COUNT_OF(ASSET_TYPES); i++)
            json_object_set_new(content, ASSET_TYPES[i],
                                json_pack("{s:{s:s}}", "schema", "type", "string"));
        break;
    case TEXT:
        json_object_set_new(content, "text/plain",
                            json_pack("{s:{s:s}}", "schema", "type", "string"));
        break;
    }
    return content;
}

static json_t *describe_response(size_t row, const char *schema)
{
    json_t *described = json_pack("{s:s, s:o}", "description", RESPONSES[row].help, "headers",
                                  describe_headers(RESPONSES[row].headers));
    if (RESPONSES[row].content != NO_CONTENT)
        json_object_set_new(described, "content",
                            describe_content(RESPONSES[row].content, schema));
    return described;
}

json_t *api_contract_responses(void)
{
    json_t *components = json_object();
    for (size_t i = 0; i < COUNT_OF(RESPONSES); i++)
        if (RESPONSES[i].component)
            json_object_set_new(components, RESPONSES[i].component, describe_response(i, NULL));
    return components;
}

json_t *api_contract_responses_of(api_kind kind, const char *schema)
{
    json_t *responses = json_object();
    for (size_t i = 0; i < COUNT_OF(RESPONSES); i++)
        if (RESPONSES[i].kinds & (unsigned)kind)
            json_object_set_new(
                responses, RESPONSES[i].status,
                RESPONSES[i].component
                    ? api_contract_reference("responses", RESPONSES[i].component)
                    : describe_response(i, schema));
    return responses;
}
