/* What a reply with tensors consists of: the body, whole or a range, which is built once for an
 * entry of the cache and attached to it, or a stream; and the head, with the entity tag and the
 * fields that describe the body. */
#include "bytes/body.h"
#include "bytes/digest.h"
#include "bytes/gzip.h"
#include "bytes/memory_budget.h"
#include "formats/registry.h"
#include "replies/reply.h"
#include "representations/representation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes ---- */

uint64_t api_representation_bytes(const api_representation *representation)
{
    const api_selection *selection = &representation->selection;
    uint64_t bytes = 0;
    for (size_t i = 0; i < selection->count; i++)
        bytes += pe_request_tensor(selection->request, selection->first + i)->bytes;
    return bytes;
}

#define ELEMENT_TEXT 26 /* bytes of an element's text, of which most take half */

uint64_t api_representation_body_bytes(const api_representation *representation)
{
    const api_format *format = representation->format;
    if (!format || format->measure == API_BYTES)
        return api_representation_bytes(representation);
    uint64_t work = format->work(&representation->selection);
    return format->measure == API_PIXELS ? work : work * ELEMENT_TEXT;
}

uint64_t api_representation_length(const api_representation *representation)
{
    return representation->coding == API_IDENTITY && representation->format->length
               ? representation->format->length(&representation->selection)
               : API_LENGTH_UNKNOWN;
}

/* ---- attachments ---- */

/* The id of an attachment: a number made of its kind, format, tensors and content coding. The
 * options of the format are not in it: they are the attachment's variant. */
static unsigned attachment_id(const api_representation *representation,
                              api_attachment_kind kind)
{
    _Static_assert(PE_TENSORS_MAX < 16, "the first tensor and the count have four bits each");
    unsigned format = 0;
    while (api_format_get(format) != representation->format)
        format++;
    unsigned tensors =
        (unsigned)(representation->selection.first * 16 + representation->selection.count);
    return ((format * 256 + tensors) * 2 + (unsigned)representation->coding) * 4 +
           (unsigned)kind;
}

void *api_representation_attachment(const api_representation *representation, pe_entry *entry,
                                    api_attachment_kind kind, pe_attachment_builder build,
                                    void *context)
{
    const unsigned id = attachment_id(representation, kind);
    return pe_entry_attachment(representation->call->service->cache, entry, id,
                               representation->variant, build, context);
}

static void drop_body(void *body)
{
    api_body_drop_attached(body);
}

/* ---- bodies ---- */

/* What a body is built from. */
typedef struct body_context {
    const api_representation *representation;
    pe_entry *entry;
} body_context;

/* The body without its content coding: the attached one, or a new one that is not attached. */
static api_body *uncoded_body(const api_representation *representation, pe_entry *entry)
{
    api_representation plain = *representation;
    size_t bytes;
    plain.coding = API_IDENTITY;
    api_body *attached = api_representation_attachment(&plain, entry, API_BODY, NULL, NULL);
    if (attached)
        return api_body_ref(attached);
    return representation->format->write(&representation->selection, pe_entry_table(entry),
                                         &bytes);
}

static bool build_body(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    const body_context *building = context;
    const api_representation *representation = building->representation;
    api_body *body;
    size_t bytes = 0;
    pe_error error;
    pe_error_init(&error);
    const bool is_table = representation->format->measure == API_BYTES; /* which is there */
    if (!api_reserve(is_table ? 0 : api_representation_body_bytes(representation), "the text",
                     &error))
        return false;
    if (representation->coding == API_GZIP) {
        api_body *plain = uncoded_body(representation, building->entry);
        body = plain ? api_gzip_body(plain, &bytes) : NULL;
        api_body_unref(plain);
    } else {
        body = representation->format->write(&representation->selection, table, &bytes);
    }
    *ret_attachment = (pe_attachment){body, bytes + api_body_footprint(), drop_body};
    if (body)
        api_body_attach(body, representation->call->service->host->memory,
                        bytes + pe_table_footprint(table));
    return body != NULL;
}

api_body *api_representation_body(const api_representation *representation, pe_entry *entry)
{
    body_context building = {representation, entry};
    api_body *body =
        api_representation_attachment(representation, entry, API_BODY, build_body, &building);
    return body ? api_body_ref(body) : NULL;
}

/* ---- streams and ranges ---- */

/* The range of the whole body that is asked for, or the whole body if no range is. Takes over
 * the reference. NULL without memory, or if `whole` is NULL. */
static api_body *cut_range(const api_representation *representation, api_body *whole)
{
    if (!whole || !representation->range.complete)
        return whole;
    api_body *part =
        api_body_part(whole, representation->range.first, representation->range.size);
    api_body_unref(whole);
    return part;
}

api_body *api_representation_stream(const api_representation *representation, pe_error *reterr)
{
    pe_error_init(reterr);
    api_selection selection = representation->selection;
    if (representation->range.complete) {
        selection.from = representation->range.first;
        selection.until = selection.from + representation->range.size;
    }
    api_body *body = representation->format->stream(&selection, reterr);
    return representation->coding == API_GZIP ? api_gzip_stream(body) : body;
}

/* ---- the head ---- */

api_etag api_representation_tag(const api_representation *representation)
{
    if (representation->etag.text[0])
        return representation->etag;
    api_etag etag;
    char form[192 + API_VARIANT_BYTES]; /* format, tensors, coding and options */
    size_t key_length;
    const api_format *format = representation->format;
    const char *key = pe_request_key(representation->request, &key_length);
    int length = snprintf(form, sizeof form, "%s.%u tensors %zu+%zu %s?%s", format->name,
                          format->revision, representation->selection.first,
                          representation->selection.count,
                          api_coding_tag(representation->coding), representation->variant);
    for (size_t i = 0; format->versions && format->versions[i]; i++)
        length += snprintf(form + length, sizeof form - (size_t)length, " %.24s",
                           format->versions[i]());
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(representation->request));
    const api_segment pieces[] = {
        {key, key_length},
        {form, (size_t)length},
        {info->formula, strlen(info->formula)}, /* safetensors carry these three texts */
        {info->convention, strlen(info->convention)},
        {info->reference, strlen(info->reference)}};
    api_etag_compute(&etag, pieces, sizeof pieces / sizeof *pieces);
    return etag;
}

/* Add the fields that a 304 has as well: ETag, Cache-Control and Vary, which names the request
 * headers that selected the representation. A binary format ignores Accept-Encoding, unless
 * that header admits no coding at all, which is answered with 406. */
static void add_cache_fields(const api_representation *representation, api_reply *reply)
{
    const bool stored = representation->facts.stored, text = representation->format->text;
    const api_etag etag = api_representation_tag(representation);
    if (stored && !representation->call->service->host->stored_for_all)
        api_reply_close(reply); /* hits share it */
    api_reply_add(reply, "ETag", "%s", etag.text);
    api_reply_add(reply, "Cache-Control", "%s",
                  stored ? "no-cache" /* the set may be replaced at any time */
                         : "public, max-age=86400, stale-while-revalidate=604800");
    if (representation->negotiated || text)
        api_reply_add(reply, "Vary", "%s%s%s", representation->negotiated ? "Accept" : "",
                      representation->negotiated && text ? ", " : "",
                      text ? "Accept-Encoding" : "");
}

/* Write a shape with a separator: "512x64" or "512, 64". */
static void write_shape(const pe_tensor *tensor, const char *separator, char *dst, size_t size)
{
    int used = 0;
    for (size_t i = 0; i < tensor->rank; i++)
        used += snprintf(dst + used, size - (size_t)used, "%s%llu", i ? separator : "",
                         (unsigned long long)tensor->shape[i]);
}

/* Write what tells requests of one scheme and shape apart: nothing of the usual one, of others
 * eight digits of all parameters and options. */
static void write_digits(const api_representation *representation, const pe_tensor *tensor,
                         char dst[10])
{
    const pe_request *request = representation->request;
    unsigned char digest[4];
    api_segment pieces[] = {{representation->variant, representation->options_size}, {NULL, 0}};
    dst[0] = '\0';
    if (representation->options_size == 0 && pe_request_is_usual(request, tensor))
        return;
    pieces[1].data = pe_request_key(request, &pieces[1].size);
    api_sha256_pieces(pieces, 2, sizeof digest, digest);
    dst[0] = '_';
    api_write_hex(digest, sizeof digest, dst + 1);
    dst[9] = '\0';
}

/* Write the names of all tensors of the request, with commas between them. */
static void write_names(const pe_request *request, char *dst, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < pe_request_tensor_count(request) && used < size; i++)
        used += (size_t)snprintf(dst + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 pe_request_tensor(request, i)->name);
}

/* What the header fields say of the content. */
typedef struct content_description {
    const pe_tensor *tensor; /* the first one */
    char shape[96], file[320];
    char names[320]; /* where it is one tensor of several; else "" */
} content_description;

static void describe_content(const api_representation *representation,
                             content_description *ret_content)
{
    char shape[96], digits[10];
    const api_selection *selection = &representation->selection;
    const pe_request *request = selection->request;
    const char *scheme = pe_scheme_describe(pe_request_scheme(request))->name;
    const pe_tensor *tensor = pe_request_tensor(request, selection->first);
    const bool one_of_many = selection->count < pe_request_tensor_count(request);
    *ret_content = (content_description){.tensor = tensor};
    write_shape(tensor, ", ", ret_content->shape, sizeof ret_content->shape);
    write_shape(tensor, "x", shape, sizeof shape);
    write_digits(representation, tensor, digits);
    snprintf(ret_content->file, sizeof ret_content->file, "%s%s%s_%s_%s%s.%s", scheme,
             one_of_many ? "_" : "", one_of_many ? tensor->name : "", shape,
             pe_dtype_name(tensor->dtype), digits, representation->format->extension);
    if (one_of_many)
        write_names(request, ret_content->names, sizeof ret_content->names);
}

/* Add the fields that describe the content: type, coding, range, file name, tensor, and what
 * else the request gives. */
static void add_content_fields(const api_representation *representation, api_reply *reply)
{
    content_description content;
    const api_format *format = representation->format;
    const unsigned long long first = representation->range.first,
                             size = representation->range.size,
                             complete = representation->range.complete;
    describe_content(representation, &content);
    api_reply_add(
        reply, "Content-Type", "%s%s", format->media_type,
        format->media_parameters ? format->media_parameters(&representation->selection) : "");
    if (representation->coding == API_GZIP)
        api_reply_add(reply, "Content-Encoding", "gzip");
    if (representation->range.complete)
        api_reply_add(reply, "Content-Range", "bytes %llu-%llu/%llu", first, first + size - 1,
                      complete);
    if (format->measure == API_BYTES && !representation->post)
        api_reply_add(reply, "Accept-Ranges", "bytes");
    api_reply_add(reply, "Content-Disposition", "inline; filename=\"%s\"", content.file);
    api_reply_add(reply, "Tensor-Name", "%s", content.tensor->name);
    api_reply_add(reply, "Tensor-Dtype", "%s", pe_dtype_name(content.tensor->dtype));
    api_reply_add(reply, "Tensor-Shape", "%s", content.shape);
    api_reply_add(reply, "Tensor-Byte-Order", "little");
    if (content.names[0])
        api_reply_add(reply, "Tensor-Names", "%s", content.names);
}

/* A new reply without a body: 200 or 206 with all metadata, or 304. */
static api_reply *new_head(const api_representation *representation, unsigned status)
{
    api_reply *reply = api_reply_new(status);
    if (representation->post)
        api_reply_add(reply, "Cache-Control", "no-store");
    else
        add_cache_fields(representation, reply);
    if (status != 304)
        add_content_fields(representation, reply);
    return reply;
}

/* ---- the reply ---- */

api_reply *api_representation_new_reply(const api_representation *representation,
                                        const char *cache_status, api_body *whole)
{
    const unsigned status = representation->range.complete ? 206 : 200;
    api_body *body = cut_range(representation, whole);
    api_reply *reply = body ? new_head(representation, status) : NULL;
    api_reply_add(reply, "Cache-Status", "posenc; %s", cache_status);
    return api_reply_with_body(reply, body, false);
}

api_reply *api_representation_without_body(const api_representation *representation,
                                           unsigned status)
{
    const uint64_t length = api_representation_length(representation);
    api_reply *reply = new_head(representation, status);
    api_reply_set_length(reply, length);
    return reply;
}
