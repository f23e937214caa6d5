/* A request of JavaScript's and its reply: the steps that server/http/ takes for one from a
 * connection, in the same order. */
#include "module/module.h"

#include "clock.h"
#include "http/guard.h"
#include "module/service.h"
#include "observe/metrics.h"
#include "observe/trace.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME(identifier, name) [API_HEADER_##identifier] = (name),
static const char *const NAMES[API_HEADER_COUNT] = {API_REQUEST_HEADERS(NAME)};
#undef NAME

struct module_exchange {
    char *head, *body; /* from malloc; the texts below are in the head */
    size_t body_size;
    const char *method, *request_id, *parent;
    char *target, *host; /* host: of a target in absolute form, from malloc, or NULL */
    const char *values[API_HEADER_COUNT];

    api_reply *reply;
    char *fields;     /* of the reply, as text from malloc */
    char *buffer;     /* of a stream, from malloc */
    uint64_t sent;    /* bytes of the body */
    size_t segments;  /* that have been sent */
    size_t part_size; /* of the last part */
    uint64_t spent;   /* nanoseconds of computing */
};

/* ---- the request ---- */

static void note_field(module_exchange *self, const char *name, const char *value)
{
    for (size_t i = 0; i < API_HEADER_COUNT; i++)
        if (strcasecmp(name, NAMES[i]) == 0)
            self->values[i] = value;
    if (strcasecmp(name, "X-Request-Id") == 0)
        self->request_id = value;
    if (strcasecmp(name, "traceparent") == 0)
        self->parent = value;
}

static char *skip_text(char *text)
{
    return text + strlen(text) + 1;
}

/* Read the head. Returns the first rule that it breaks, or GUARD_FINE. */
static guard_rule read_head(module_exchange *self)
{
    guard_head judged;
    self->method = self->head;
    self->target = skip_text(self->head);
    guard_line(&judged, self->method, self->target, "HTTP/1.1");
    for (char *value, *name = skip_text(self->target); *name; name = skip_text(value)) {
        value = skip_text(name);
        guard_field(&judged, name, strlen(name), value, strlen(value));
        note_field(self, name, value);
    }
    return guard_end(&judged);
}

/* An api_request's `header`. */
static const char *known_header(void *context, api_header header)
{
    return ((const module_exchange *)context)->values[header];
}

/* An api_request's `take_body`. */
static char *take_body(void *context)
{
    module_exchange *self = context;
    char *body = self->body;
    self->body = NULL;
    return body;
}

/* ---- the reply ---- */

static api_reply *answer_request(module_exchange *self, api_service *service)
{
    if (!self->head)
        return api_fault_reply(service, API_FAULT_UNAVAILABLE);
    guard_rule rule = read_head(self);
    if (rule != GUARD_FINE)
        return guard_refuse(service, rule);
    if (!guard_take_host(self->target, &self->host))
        return api_fault_reply(service, API_FAULT_UNAVAILABLE);
    if (self->host)
        self->values[API_HEADER_HOST] = self->host;
    const api_request request = {.method = self->method,
                                 .target = self->target,
                                 .header = known_header,
                                 .context = self,
                                 .body = self->body,
                                 .body_size = self->body_size,
                                 .take_body = take_body};
    api_head head;
    api_reply *reply = api_judge_head(service, &request, &head);
    if (!reply && self->body_size > head.body_limit)
        reply = api_fault_reply(service, API_FAULT_PAYLOAD_TOO_LARGE);
    if (!reply)
        api_handle(service, &request, &reply); /* of one thread: always API_DONE */
    return reply;
}

static void write_field(const api_field *field, api_text *out)
{
    api_text_add(out, "%s: %s\n", field->name, field->value);
}

/* The fields of the reply, with those that a server adds. NULL if memory ran out. */
static char *write_fields(const module_exchange *self)
{
    const api_field *fields;
    size_t count = api_reply_fields(self->reply, &fields);
    api_body *body = api_reply_body(self->reply);
    uint64_t length = body ? api_body_size(body) : api_reply_length(self->reply);
    api_text out = {0};
    trace_echo echo;
    trace_choose_echo(self->request_id, self->parent, false, &echo);
    for (size_t i = 0; i < count; i++)
        write_field(&fields[i], &out);
    for (const api_field *own = echo.fields; own->name; own++)
        write_field(own, &out);
    if (length != API_LENGTH_UNKNOWN)
        api_text_add(&out, "Content-Length: %llu\n", (unsigned long long)length);
    return api_text_take(&out);
}

static void count_request(const module_exchange *self, uint64_t began)
{
    server_metrics *metrics = module_metrics();
    api_body *body = api_reply_body(self->reply);
    if (self->head)
        metrics_count_request(metrics, api_route_find(self->method, self->target),
                              api_reply_status(self->reply), clock_now() - began);
    metrics_count_rejected(metrics, rejection_by_api(api_reply_refusal(self->reply)));
    if (body && !api_body_is_stream(body))
        metrics_count_bytes(metrics, api_body_size(body));
}

module_exchange *posenc_ask(char *head, char *body, size_t body_size)
{
    module_exchange *self = calloc(1, sizeof *self);
    if (!self) {
        free(head);
        free(body);
        return NULL;
    }
    uint64_t began = clock_now();
    *self = (module_exchange){.head = head, .body = body, .body_size = body_size};
    metrics_count_under_way(module_metrics(), 1);
    module_begin_computing(&self->spent);
    self->reply = answer_request(self, module_service());
    module_end_computing(&self->spent);
    count_request(self, began);
    self->fields = write_fields(self);
    if (self->fields)
        return self;
    posenc_end(self);
    return NULL;
}

unsigned posenc_status(const module_exchange *exchange)
{
    return api_reply_status(exchange->reply);
}

const char *posenc_fields(const module_exchange *exchange)
{
    return exchange->fields;
}

/* ---- the body ---- */

/* What is sent of the reply: to HEAD nothing, not even of a problem. */
static api_body *sent_body(const module_exchange *self)
{
    bool head = self->head && strcmp(self->method, "HEAD") == 0;
    return head ? NULL : api_reply_body(self->reply);
}

static const char *read_stream(module_exchange *self, api_body *body)
{
    if (!self->buffer)
        self->buffer = malloc(API_READ_MAX);
    if (!self->buffer)
        return NULL;
    module_begin_computing(&self->spent);
    self->part_size = api_body_read(body, self->sent, self->buffer, API_READ_MAX);
    module_end_computing(&self->spent);
    metrics_count_bytes(module_metrics(), self->part_size);
    return self->part_size > 0 ? self->buffer : NULL;
}

static const char *next_segment(module_exchange *self, const api_body *body)
{
    const api_segment *segments;
    size_t count = api_body_segments(body, &segments);
    while (self->segments < count && segments[self->segments].size == 0)
        self->segments++;
    if (self->segments == count)
        return NULL;
    const api_segment *segment = &segments[self->segments++];
    self->part_size = segment->size;
    return segment->data;
}

const char *posenc_read(module_exchange *exchange)
{
    api_body *body = sent_body(exchange);
    exchange->part_size = 0;
    if (!body)
        return NULL;
    const char *part =
        api_body_is_stream(body) ? read_stream(exchange, body) : next_segment(exchange, body);
    exchange->sent += exchange->part_size;
    return part;
}

size_t posenc_part_size(const module_exchange *exchange)
{
    return exchange->part_size;
}

bool posenc_is_complete(const module_exchange *exchange)
{
    api_body *body = sent_body(exchange);
    uint64_t size = body ? api_body_size(body) : 0;
    return size == API_LENGTH_UNKNOWN ? !module_is_late(exchange->spent)
                                      : exchange->sent == size;
}

void *posenc_allocate(size_t size)
{
    return malloc(size);
}

void posenc_end(module_exchange *exchange)
{
    if (!exchange)
        return;
    metrics_count_under_way(module_metrics(), -1);
    api_reply_unref(exchange->reply);
    free(exchange->head);
    free(exchange->body);
    free(exchange->host);
    free(exchange->fields);
    free(exchange->buffer);
    free(exchange);
}
