#include "service.h"

#include "fuzz.h"
#include "store/set_store.h"

#include <string.h>
#include <strings.h>

#define TURNS_MAX 20

static uint64_t now(void *context)
{
    return ++((fuzz_service *)context)->time;
}

static api_readiness readiness(void *context)
{
    (void)context;
    return API_READY;
}

static void landed(void *context)
{
    (void)context;
}

static char *metrics(void *context)
{
    (void)context;
    return strdup("up 1\n");
}

static bool go_on(void *context, const pe_scheme *scheme, double done)
{
    fuzz_service *service = context;
    (void)scheme;
    service->turns = done == 0 ? 0 : service->turns + 1;
    if (done < 1 && service->turns > TURNS_MAX)
        service->cancelled = true;
    return !service->cancelled;
}

void fuzz_service_start(fuzz_service *ret_service, uint64_t table_bytes, const char *key,
                        bool local)
{
    static const set_store_settings in_memory = {.directory = "", .sets = 4, .bytes = 1 << 14};
    static const api_limit published[] = {{"some-limit", "bytes", "a limit", 42}};
    static const api_asset assets[] = {
        {"/", "text/html; charset=utf-8", {"<p>", 3, "\"page\""}, {NULL, 0, NULL}}};
    char reason[128];
    *ret_service = (fuzz_service){
        .cache = pe_cache_new(FUZZ_CACHE),
        .store = set_store_open(&in_memory, reason, sizeof reason),
        .runner = {.context = ret_service, .go_on = go_on},
        .host = {.context = ret_service,
                 .now = now,
                 .readiness = readiness,
                 .landed = landed,
                 .metrics = metrics,
                 .runner = &ret_service->runner,
                 .json_elements = 1000,
                 .png_pixels = 1000,
                 .assets = assets,
                 .asset_count = FUZZ_COUNT(assets),
                 .target_bytes = 1024,
                 .body_bytes = FUZZ_BODY_MAX,
                 .upload_bytes = FUZZ_UPLOAD_MAX,
                 .api_key = key,
                 .local = local,
                 .limits = {.elements = 4096, .table_bytes = table_bytes, .list_length = 64},
                 .published = published,
                 .published_count = 1}};
    fuzz_check(ret_service->cache && ret_service->store, "memory");
    pe_cache_set_runner(ret_service->cache, &ret_service->runner);
    ret_service->host.store = set_store_for_api(ret_service->store);
    ret_service->service = api_service_new(&ret_service->host, ret_service->cache);
    fuzz_check(ret_service->service, "memory");
}

void fuzz_service_stop(fuzz_service *service)
{
    api_service_free(service->service);
    pe_cache_free(service->cache);
    set_store_close(service->store);
}

/* ---- messages ---- */

void fuzz_message_read(char *text, size_t size, fuzz_message *ret_message)
{
    char *at = text, *end = text + size, *method = fuzz_line(&at);
    char *target = strchr(method, ' ');
    if (target)
        *target++ = '\0';
    *ret_message = (fuzz_message){.method = method, .target = target ? target : ""};
    while (at < end) {
        char *line = fuzz_line(&at), *colon = strchr(line, ':');
        if (!*line)
            break;
        if (!colon || ret_message->count == FUZZ_FIELDS_MAX)
            continue;
        *colon++ = '\0';
        colon += strspn(colon, " \t");
        ret_message->fields[ret_message->count++] = (api_field){line, colon};
    }
    if (at < end) {
        ret_message->body = at;
        ret_message->body_size = (size_t)(end - at);
    }
}

const char *fuzz_message_field(const fuzz_message *message, const char *name)
{
    for (size_t i = 0; i < message->count; i++)
        if (strcasecmp(message->fields[i].name, name) == 0)
            return message->fields[i].value;
    return NULL;
}

void fuzz_message_set(fuzz_message *message, const char *name, const char *value)
{
    size_t kept = 0;
    for (size_t i = 0; i < message->count; i++)
        if (strcasecmp(message->fields[i].name, name) != 0)
            message->fields[kept++] = message->fields[i];
    if (value && kept < FUZZ_FIELDS_MAX)
        message->fields[kept++] = (api_field){name, value};
    message->count = kept;
}

/* ---- answers ---- */

typedef struct sent_request {
    const fuzz_message *message;
    char *body;
} sent_request;

static const char *find_header(void *context, api_header header)
{
#define NAME(identifier, name) [API_HEADER_##identifier] = (name),
    static const char *const names[] = {API_REQUEST_HEADERS(NAME)};
#undef NAME
    return fuzz_message_field(((const sent_request *)context)->message, names[header]);
}

static char *take_body(void *context)
{
    sent_request *sent = context;
    char *body = sent->body;
    sent->body = NULL;
    return body;
}

/* Read a whole stream in pieces of different sizes. To be freed. */
static char *read_stream(api_body *body, size_t *ret_size)
{
    size_t room = 1 << 12, size = 0, got;
    char *text = malloc(room + 1);
    fuzz_check(text, "memory");
    for (size_t piece = 1; (got = api_body_read(body, size, text + size,
                                                piece < room - size ? piece : room - size)) > 0;
         piece = piece * 3 % 4093) {
        size += got;
        if (room - size < 64) {
            room *= 2;
            text = realloc(text, room + 1);
            fuzz_check(text, "memory");
        }
    }
    *ret_size = size;
    return text;
}

static char *read_segments(const api_body *body, size_t *ret_size)
{
    const api_segment *segments;
    size_t count = api_body_segments(body, &segments), size = (size_t)api_body_size(body);
    char *text = malloc(size + 1);
    fuzz_check(text, "memory");
    *ret_size = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(text + *ret_size, segments[i].data, segments[i].size);
        *ret_size += segments[i].size;
    }
    return text;
}

fuzz_answer fuzz_answer_of(api_reply *reply)
{
    fuzz_answer answer = {.reply = reply, .status = api_reply_status(reply)};
    api_body *body = api_reply_body(reply);
    answer.has_body = body != NULL;
    if (!body)
        answer.body = calloc(1, 1);
    else if (api_body_is_stream(body))
        answer.body = read_stream(body, &answer.size);
    else
        answer.body = read_segments(body, &answer.size);
    answer.body[answer.size] = '\0';
    if (body && api_body_size(body) != API_LENGTH_UNKNOWN)
        fuzz_check(api_body_size(body) == answer.size, "%zu bytes, not %llu", answer.size,
                   (unsigned long long)api_body_size(body));
    return answer;
}

static api_request request_of(const fuzz_message *message, sent_request *sent)
{
    return (api_request){.method = message->method,
                         .target = message->target,
                         .header = find_header,
                         .context = sent,
                         .body = sent->body,
                         .body_size = sent->body ? message->body_size : 0,
                         .take_body = take_body};
}

fuzz_answer fuzz_ask(fuzz_service *service, const fuzz_message *message)
{
    sent_request sent = {message,
                         message->body ? fuzz_exact(message->body, message->body_size) : NULL};
    api_request request = request_of(message, &sent);
    api_reply *reply = NULL;
    request.quick = true;
    service->cancelled = false;
    api_progress progress = api_handle(service->service, &request, &reply);
    fuzz_check(progress != API_BUSY, "nobody else computes");
    if (progress == API_LATER) {
        request.quick = false;
        progress = api_handle(service->service, &request, &reply);
    }
    fuzz_check(progress == API_DONE && reply, "no reply");
    fuzz_answer answer = fuzz_answer_of(reply); /* it may be read from the body */
    free(sent.body);
    return answer;
}

api_reply *fuzz_judge(fuzz_service *service, const fuzz_message *message, uint64_t *ret_limit)
{
    sent_request sent = {message, NULL};
    api_request request = request_of(message, &sent);
    request.quick = true;
    api_head head;
    api_reply *refusal = api_judge_head(service->service, &request, &head);
    fuzz_check(head.route == api_route_find(message->method, message->target), "one route");
    *ret_limit = head.body_limit;
    return refusal;
}

void fuzz_answer_done(fuzz_answer *answer)
{
    api_reply_unref(answer->reply);
    free(answer->body);
}

const char *fuzz_answer_field(const fuzz_answer *answer, const char *name)
{
    const api_field *fields;
    size_t count = api_reply_fields(answer->reply, &fields);
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(fields[i].name, name) == 0)
            return fields[i].value;
    return NULL;
}
