/* A reply that several requests share, as cache hits do, keeps its response: it is prepared
 * once.
 *
 * Responses without a body need a workaround for libmicrohttpd 0.9.75. It would send
 * "Content-Length: 0" for an empty buffer, which is wrong for HEAD and 304. So these responses
 * get a callback that never writes, and the length that the reply states. For an unknown length
 * libmicrohttpd would announce chunks and send a last chunk, although there is no body; such a
 * response is marked as HTTP/1.0, which has no chunks, and closes the connection. */
#include "http/response.h"

#include "http/access.h"
#include "http/body_stream.h"

static void release_body(void *cls)
{
    api_body_unref(cls);
}

static ssize_t send_nothing(void *cls, uint64_t position, char *buffer, size_t room)
{
    (void)cls, (void)position, (void)buffer, (void)room;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* The api's length as libmicrohttpd's. */
static uint64_t mhd_size(uint64_t length)
{
    return length == API_LENGTH_UNKNOWN ? MHD_SIZE_UNKNOWN : length;
}

static struct MHD_Response *empty_response(const api_reply *reply)
{
    return MHD_create_response_from_callback(mhd_size(api_reply_length(reply)), 1, send_nothing,
                                             NULL, NULL);
}

/* A response that sends the body from its own memory and drops the reference afterwards. */
static struct MHD_Response *body_response(api_body *body, const http_sending *sending,
                                          body_stream **ret_stream)
{
    if (api_body_is_stream(body))
        return body_stream_response(body, sending->metrics, sending->rules, sending->connection,
                                    ret_stream);
    const api_segment *segments;
    struct MHD_IoVec pieces[API_SEGMENTS_MAX];
    size_t count = api_body_segments(body, &segments);
    struct MHD_Response *response;
    api_body_ref(body);
    for (size_t i = 0; i < count; i++)
        pieces[i] = (struct MHD_IoVec){segments[i].data, segments[i].size};
    if (count == 1)
        response = MHD_create_response_from_buffer_with_free_callback_cls(
            segments[0].size, (void *)(uintptr_t)segments[0].data, release_body, body);
    else
        response = MHD_create_response_from_iovec(pieces, (unsigned)count, release_body, body);
    if (!response)
        api_body_unref(body);
    return response;
}

static void free_response(void *response)
{
    MHD_destroy_response(response);
}

static bool add_field(struct MHD_Response *response, const api_field *field)
{
    return MHD_add_response_header(response, field->name, field->value) == MHD_YES;
}

/* A response with all header fields. NULL if memory ran out. */
static struct MHD_Response *new_response(const api_reply *reply, const http_sending *sending,
                                         body_stream **ret_stream)
{
    const api_field *fields;
    size_t count = api_reply_fields(reply, &fields);
    api_body *body = api_reply_body(reply);
    struct MHD_Response *response =
        body ? body_response(body, sending, ret_stream) : empty_response(reply);
    bool unknown_length = !body && api_reply_length(reply) == API_LENGTH_UNKNOWN &&
                          api_reply_status(reply) != MHD_HTTP_NO_CONTENT;
    bool complete = response != NULL;
    for (size_t i = 0; complete && i < count; i++)
        complete = add_field(response, &fields[i]);
    for (const api_field *own = sending->fields; complete && own && own->name; own++)
        complete = add_field(response, own);
    if (complete && unknown_length)
        complete = MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT,
                                            MHD_RO_END) == MHD_YES;
    if (complete && sending->close)
        complete = MHD_add_response_header(response, "Connection", "close") == MHD_YES;
    if (!complete && response) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return response;
}

/* Whether the response is for one request only and cannot be kept with the reply. */
static bool is_own(const api_reply *reply, const http_sending *sending)
{
    api_body *body = api_reply_body(reply);
    return sending->close || (sending->fields && sending->fields->name) ||
           (body && api_body_is_stream(body));
}

api_reply *http_response_prepare(api_reply *reply, api_reply *spare,
                                 const http_sending *sending, http_response *ret_prepared)
{
    bool own = is_own(reply, sending);
    body_stream *stream = NULL;
    struct MHD_Response *response = own ? NULL : api_reply_transport(reply);
    if (!response) {
        response = new_response(reply, sending, &stream);
        if (response && !own)
            response = api_reply_set_transport(reply, response, free_response);
    }
    *ret_prepared = (http_response){.response = response, .stream = stream, .own = own};
    if (response)
        return reply;
    api_reply_unref(reply);
    if (!spare)
        return NULL;
    *ret_prepared = (http_response){.response = api_reply_transport(spare)};
    return api_reply_ref(spare);
}

enum MHD_Result http_response_queue(struct MHD_Connection *connection, api_reply *reply,
                                    const http_response *prepared)
{
    enum MHD_Result result =
        MHD_queue_response(connection, api_reply_status(reply), prepared->response);
    if (prepared->own)
        MHD_destroy_response(prepared->response);
    api_reply_unref(reply);
    return result;
}
