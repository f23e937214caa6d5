/* api_handle as a whole. The input is a list of messages, separated by lines of "----". A
 * message is written as on the wire, but with bare LF and without a version. Lines before the
 * first message configure the services: "#key KEY" and "#remote" the access to the store,
 * "#hold BYTES" the largest table that the streaming service holds, since some schemes are
 * refused if it may hold nothing. The body of a PUT that begins with a brace gets a length in
 * front, as in the harness safetensors.
 *
 * Every answer must be well-formed and documented. Asked again, by HEAD, with its own entity
 * tag, in another content coding or with a range, the service must give consistent answers. A
 * second service, which streams all tables, must give the same bytes. */
#include "support/fuzz.h"
#include "support/service.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define HELD_MAX                                                                               \
    (1 << 15) /* the most bytes of a table that the first service does not stream */

/* ---- one answer ---- */

static void check_fields(const fuzz_answer *answer)
{
    const api_field *fields;
    size_t count = api_reply_fields(answer->reply, &fields);
    for (size_t i = 0; i < count; i++) {
        for (const char *at = fields[i].value; *at; at++)
            fuzz_check((unsigned char)*at >= ' ' && *at != 127, "a control in %s",
                       fields[i].name);
        for (size_t j = 0; j < i; j++)
            fuzz_check(strcasecmp(fields[i].name, fields[j].name) != 0 ||
                           strcasecmp(fields[i].name, "Vary") == 0,
                       "%s twice", fields[i].name);
    }
    const char *policy = fuzz_answer_field(answer, "Cross-Origin-Resource-Policy");
    bool open = fuzz_answer_field(answer, "Access-Control-Allow-Origin") != NULL;
    fuzz_check(policy && strcmp(policy, open ? "cross-origin" : "same-origin") == 0, "no CORS");
    const char *sniff = fuzz_answer_field(answer, "X-Content-Type-Options");
    fuzz_check(sniff && strcmp(sniff, "nosniff") == 0, "no nosniff");
    const char *type = fuzz_answer_field(answer, "Content-Type");
    fuzz_check(!answer->has_body || type, "%u with a body of no type", answer->status);
}

static bool is_text_member(const json_t *object, const char *name)
{
    const json_t *member = json_object_get(object, name);
    return json_is_string(member) && json_string_length(member) > 0;
}

static void check_problem(const fuzz_answer *answer, bool head)
{
    const char *type = fuzz_answer_field(answer, "Content-Type");
    fuzz_check(type && strcmp(type, "application/problem+json") == 0, "%u as %s",
               answer->status, type);
    if (head && !answer->has_body)
        return;
    json_t *root = json_loadb(answer->body, answer->size, JSON_REJECT_DUPLICATES, NULL);
    fuzz_check(json_is_object(root), "%s", answer->body);
    fuzz_check(json_integer_value(json_object_get(root, "status")) == answer->status, "%s",
               answer->body);
    fuzz_check(is_text_member(root, "type") && is_text_member(root, "title") &&
                   is_text_member(root, "code") && is_text_member(root, "detail"),
               "%s", answer->body);
    const json_t *errors = json_object_get(root, "errors");
    for (size_t i = 0; i < json_array_size(errors); i++)
        fuzz_check(is_text_member(json_array_get(errors, i), "allowed"), "%s", answer->body);
    json_decref(root);
}

static bool is_json_text(const fuzz_answer *answer)
{
    const char *type = fuzz_answer_field(answer, "Content-Type");
    return answer->has_body && !fuzz_answer_field(answer, "Content-Encoding") && type &&
           strcmp(type, "application/json") == 0;
}

static void check_answer(const fuzz_service *service, const fuzz_message *message,
                         const fuzz_answer *answer)
{
    static const struct {
        unsigned status;
        const char *field; /* every answer of this status has it; or NULL */
    } documented[] = {{200, NULL},
                      {201, "ETag"},
                      {204, NULL},
                      {206, "Content-Range"},
                      {304, "ETag"},
                      {400, NULL},
                      {401, "WWW-Authenticate"},
                      {403, NULL},
                      {404, NULL},
                      {405, "Allow"},
                      {406, NULL},
                      {412, NULL},
                      {413, NULL},
                      {414, NULL},
                      {415, NULL},
                      {416, "Content-Range"},
                      {422, NULL},
                      {503, "Retry-After"},
                      {507, NULL}};
    size_t i = 0;
    while (i < FUZZ_COUNT(documented) && documented[i].status != answer->status)
        i++;
    fuzz_check(i < FUZZ_COUNT(documented), "status %u", answer->status);
    fuzz_check(!documented[i].field || fuzz_answer_field(answer, documented[i].field),
               "%u without %s", answer->status, documented[i].field);
    fuzz_check(answer->status != 503, "503 for %s", message->target);
    fuzz_check(!answer->has_body || (answer->status != 204 && answer->status != 304),
               "%u with a body", answer->status);
    check_fields(answer);
    bool head = strcmp(message->method, "HEAD") == 0;
    if (answer->status >= 400)
        check_problem(answer, head);
    fuzz_check(!head || !answer->has_body || answer->status >= 400, "HEAD with a body");
    if (is_json_text(answer)) {
        json_t *root = json_loadb(answer->body, answer->size, JSON_REJECT_DUPLICATES, NULL);
        fuzz_check(json_is_object(root), "no JSON object for %s", message->target);
        json_decref(root);
    }
    pe_cache_stats stats;
    pe_cache_read_stats(service->cache, &stats);
    fuzz_check(stats.bytes + stats.idle <= stats.budget, "the cache is over its budget");
}

/* ---- the same request in other ways ---- */

/* The name of a field that differs between two answers, NULL if none does. Fields that say how
 * an answer was obtained are not compared. */
static const char *different_field(const fuzz_answer *one, const fuzz_answer *other)
{
    static const char *const names[] = {
        "Content-Type",        "ETag",          "Cache-Control",    "Vary",
        "Content-Disposition", "Content-Range", "Content-Encoding", "Tensor-Shape",
        "Tensor-Dtype",        "Tensor-Name"};
    for (size_t i = 0; i < FUZZ_COUNT(names); i++) {
        const char *a = fuzz_answer_field(one, names[i]),
                   *b = fuzz_answer_field(other, names[i]);
        if (!a != !b || (a && strcmp(a, b) != 0))
            return names[i];
    }
    return NULL;
}

static void check_same(const fuzz_message *message, const fuzz_answer *one,
                       const fuzz_answer *other, const char *how)
{
    fuzz_check(one->status == other->status, "%s %s %s: %u, not %u", message->method,
               message->target, how, other->status, one->status);
    fuzz_check(one->size == other->size && memcmp(one->body, other->body, one->size) == 0,
               "%s %s %s has another body: %.300s, not %.300s", message->method,
               message->target, how, other->body, one->body);
    const char *field = different_field(one, other);
    fuzz_check(!field, "%s %s %s has another %s", message->method, message->target, how, field);
}

static void check_head(fuzz_service *service, const fuzz_message *message,
                       const fuzz_answer *whole)
{
    fuzz_message head = *message;
    head.method = "HEAD";
    fuzz_answer answer = fuzz_ask(service, &head);
    check_answer(service, &head, &answer);
    fuzz_check(answer.status == 200, "%s by HEAD: %u", message->target, answer.status);
    const char *field = different_field(whole, &answer);
    /* a set has its file name only when it has been read */
    bool file = strncmp(message->target, "/v1/sets/", 9) == 0 ||
                strncmp(message->target, "/v1/parameters/", 15) == 0;
    fuzz_check(!field || (file && strcmp(field, "Content-Disposition") == 0),
               "%s by HEAD has another %s", message->target, field);
    uint64_t length = api_reply_length(answer.reply);
    fuzz_check(length == API_LENGTH_UNKNOWN || length == whole->size, "%s by HEAD: %llu bytes",
               message->target, (unsigned long long)length);
    fuzz_answer_done(&answer);
}

/* Check the preconditions: with the answer's own entity tag, and with another one. */
static void check_tag(fuzz_service *service, const fuzz_message *message,
                      const fuzz_answer *whole)
{
    const char *tag = fuzz_answer_field(whole, "ETag");
    if (!tag)
        return;
    static const struct {
        const char *field;
        bool own;
        unsigned status;
    } cases[] = {{"If-None-Match", true, 304},
                 {"If-None-Match", false, 200},
                 {"If-Match", true, 200},
                 {"If-Match", false, 412}};
    for (size_t i = 0; i < FUZZ_COUNT(cases); i++) {
        fuzz_message again = *message;
        fuzz_message_set(&again, "If-None-Match", NULL);
        fuzz_message_set(&again, "If-Match", NULL);
        fuzz_message_set(&again, cases[i].field, cases[i].own ? tag : "\"another\"");
        if (again.count == FUZZ_FIELDS_MAX)
            return;
        fuzz_answer answer = fuzz_ask(service, &again);
        check_answer(service, &again, &answer);
        fuzz_check(answer.status == cases[i].status, "%s with %s: %u", message->target,
                   cases[i].field, answer.status);
        fuzz_answer_done(&answer);
    }
}

/* Check that a compressed answer has the bytes of the plain one. */
static void check_coding(fuzz_service *service, const fuzz_message *message,
                         const fuzz_answer *packed)
{
    fuzz_message plain = *message;
    fuzz_message_set(&plain, "Accept-Encoding", NULL);
    fuzz_message_set(&plain, "If-Match", NULL); /* the plain answer has another tag */
    fuzz_answer answer = fuzz_ask(service, &plain);
    check_answer(service, &plain, &answer);
    char *text = malloc(answer.size + 1);
    z_stream stream = {.next_in = (Bytef *)packed->body,
                       .avail_in = (uInt)packed->size,
                       .next_out = (Bytef *)text,
                       .avail_out = (uInt)answer.size + 1};
    fuzz_check(text && inflateInit2(&stream, 15 + 16) == Z_OK, "zlib");
    fuzz_check(inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0,
               "%s is no gzip", message->target);
    fuzz_check(stream.total_out == answer.size && memcmp(text, answer.body, answer.size) == 0,
               "%s holds another text as gzip", message->target);
    inflateEnd(&stream);
    free(text);
    fuzz_answer_done(&answer);
}

/* Check that the answer to a range request is that range of the whole. */
static void check_part(fuzz_service *service, const fuzz_message *message,
                       const fuzz_answer *part)
{
    unsigned long long first, last, size;
    fuzz_message all = *message;
    fuzz_message_set(&all, "Range", NULL);
    fuzz_answer whole = fuzz_ask(service, &all);
    check_answer(service, &all, &whole);
    const char *range = fuzz_answer_field(part, "Content-Range");
    fuzz_check(sscanf(range, "bytes %llu-%llu/%llu", &first, &last, &size) == 3, "%s", range);
    fuzz_check(first <= last && last < size && size == whole.size &&
                   last - first + 1 == part->size,
               "%s of %zu with %zu bytes", range, whole.size, part->size);
    fuzz_check(memcmp(whole.body + first, part->body, part->size) == 0, "%s is another slice",
               range);
    fuzz_answer_done(&whole);
}

/* Check that Allow names exactly the methods that are not answered with 405. */
static void check_allow(fuzz_service *service, const fuzz_message *message,
                        const fuzz_answer *refusal)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "OPTIONS"};
    const char *allow = fuzz_answer_field(refusal, "Allow");
    for (size_t i = 0; i < FUZZ_COUNT(methods); i++) {
        fuzz_message other = *message;
        other.method = methods[i];
        fuzz_answer answer = fuzz_ask(service, &other);
        check_answer(service, &other, &answer);
        fuzz_check((answer.status == 405) == (strstr(allow, methods[i]) == NULL),
                   "%s answers %s with %u, and allows %s", message->target, methods[i],
                   answer.status, allow);
        fuzz_answer_done(&answer);
    }
}

static void check_otherwise(fuzz_service *service, const fuzz_message *message,
                            const fuzz_answer *first)
{
    fuzz_answer again = fuzz_ask(service, message);
    check_answer(service, message, &again);
    check_same(message, first, &again, "again");
    fuzz_answer_done(&again);
    if (first->status == 405)
        check_allow(service, message, first);
    if (strcmp(message->method, "GET") != 0)
        return;
    if (first->status == 200) {
        check_head(service, message, first);
        check_tag(service, message, first);
        if (fuzz_answer_field(first, "Content-Encoding"))
            check_coding(service, message, first);
    }
    if (first->status == 206)
        check_part(service, message, first);
}

/* ---- messages ---- */

/* Whether the answer to a target depends on the limits, in which the services differ. */
static bool states_limits(const char *target)
{
    static const char *const paths[] = {"/v1/info", "/v1/schemes", "/openapi.json"};
    for (size_t i = 0; i < FUZZ_COUNT(paths); i++)
        if (strncmp(target, paths[i], strlen(paths[i])) == 0)
            return true;
    return false;
}

static void check_message(fuzz_service services[2], const fuzz_message *message)
{
    uint64_t limit;
    api_reply *judged = fuzz_judge(&services[0], message, &limit);
    unsigned refused = judged ? api_reply_status(judged) : 0;
    api_reply_unref(judged);
    fuzz_check(limit == FUZZ_BODY_MAX || limit == FUZZ_UPLOAD_MAX, "the limit of a body");
    if (message->body_size > limit) {
        fuzz_answer fault =
            fuzz_answer_of(api_fault_reply(services[0].service, API_FAULT_PAYLOAD_TOO_LARGE));
        check_answer(&services[0], message, &fault);
        fuzz_answer_done(&fault);
        return;
    }
    fuzz_answer held = fuzz_ask(&services[0], message);
    check_answer(&services[0], message, &held);
    fuzz_check(!refused || (refused >= 400 && held.status >= 400),
               "refused with %u, and then %u", refused, held.status);
    fuzz_answer streamed = fuzz_ask(&services[1], message);
    check_answer(&services[1], message, &streamed);
    bool cancelled = services[0].cancelled || services[1].cancelled;
    bool apart = streamed.status >= 400 &&
                 strstr(streamed.body, "share of the cache that one table may take");
    if (!cancelled && !apart && !states_limits(message->target))
        check_same(message, &held, &streamed, "streamed");
    if (!cancelled && strcmp(message->method, "PUT") != 0 &&
        strcmp(message->method, "DELETE") != 0)
        check_otherwise(&services[0], message, &held);
    fuzz_answer_done(&streamed);
    fuzz_answer_done(&held);
}

/* Run one message. A body that is a header's line and data gets the length of the header in
 * front. */
static void run_message(fuzz_service services[2], char *text, size_t size)
{
    fuzz_message message;
    char *file = NULL;
    fuzz_message_read(text, size, &message);
    if (message.body && message.body[0] == '{' && strcmp(message.method, "PUT") == 0) {
        const char *end = memchr(message.body, '\n', message.body_size);
        size_t line = end ? (size_t)(end - message.body) : message.body_size;
        file = fuzz_safetensors(message.body, line, end ? end + 1 : NULL,
                                end ? message.body_size - line - 1 : 0, &message.body_size);
        message.body = file;
    }
    check_message(services, &message);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n----\n";
    fuzz_service services[2];
    const char *key = NULL;
    bool local = true;
    uint64_t held = 1;
    if (size > 6000)
        return 0;
    char *text = fuzz_copy(data, size), *at = text, *end = text + size;
    while (*at == '#') {
        const char *line = fuzz_line(&at);
        if (strncmp(line, "#key ", 5) == 0)
            key = line + 5;
        else if (strcmp(line, "#remote") == 0)
            local = false;
        else if (strncmp(line, "#hold ", 6) == 0)
            held = strtoull(line + 6, NULL, 10) % HELD_MAX;
    }
    fuzz_service_start(&services[0], HELD_MAX, key, local);
    fuzz_service_start(&services[1], held, key, local);
    for (unsigned count = 0; at < end && count < 6; count++) {
        char *next = memmem(at, (size_t)(end - at), mark, sizeof mark - 1);
        char *stop = next ? next : end;
        *stop = '\0';
        run_message(services, at, (size_t)(stop - at));
        at = next ? next + sizeof mark - 1 : end;
    }
    fuzz_service_stop(&services[1]);
    fuzz_service_stop(&services[0]);
    free(text);
    return 0;
}
