/* The metadata of a representation: its entity tag, and the header fields that describe it. */
#include "bytes/digest.h"
#include "replies/reply.h"
#include "representations/representation.h"

#include <stdio.h>
#include <string.h>

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
    if (stored && !representation->call->service->host->stored_for_all)
        api_reply_close(reply); /* hits share it */
    api_reply_add(reply, "ETag", "%s", api_representation_tag(representation).text);
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

/* Write eight digits by which requests differ that have one scheme and shape. */
static void write_digits(const api_representation *representation, char dst[9])
{
    unsigned char digest[4];
    api_segment pieces[] = {{representation->variant, representation->options_size}, {0}};
    pieces[1].data = pe_request_key(representation->request, &pieces[1].size);
    api_sha256_pieces(pieces, 2, sizeof digest, digest);
    api_write_hex(digest, sizeof digest, dst);
    dst[8] = '\0';
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
    char shape[96], digits[9];
    const api_selection *selection = &representation->selection;
    const pe_request *request = selection->request;
    const char *scheme = pe_scheme_describe(pe_request_scheme(request))->name;
    const pe_tensor *tensor = pe_request_tensor(request, selection->first);
    const bool one_of_many = selection->count < pe_request_tensor_count(request);
    *ret_content = (content_description){.tensor = tensor};
    write_shape(tensor, ", ", ret_content->shape, sizeof ret_content->shape);
    write_shape(tensor, "x", shape, sizeof shape);
    write_digits(representation, digits);
    snprintf(ret_content->file, sizeof ret_content->file, "%s%s%s_%s_%s_%s.%s", scheme,
             one_of_many ? "_" : "", one_of_many ? tensor->name : "", shape,
             pe_dtype_name(tensor->dtype), digits, representation->format->extension);
    if (one_of_many)
        write_names(request, ret_content->names, sizeof ret_content->names);
}

/* Add the fields that say which part of the content follows, and that there are parts. */
static void add_range_fields(const api_representation *representation, api_reply *reply)
{
    const unsigned long long first = representation->range.first,
                             size = representation->range.size,
                             complete = representation->range.complete;
    if (complete)
        api_reply_add(reply, "Content-Range", "bytes %llu-%llu/%llu", first, first + size - 1,
                      complete);
    if (representation->format->measure == API_BYTES && !representation->post)
        api_reply_add(reply, "Accept-Ranges", "bytes");
}

/* Add the fields that describe the content: type, coding, range, file name, tensor, and what
 * else the request gives. */
static void add_content_fields(const api_representation *representation,
                               const content_description *content, api_reply *reply)
{
    const api_format *format = representation->format;
    api_reply_add(
        reply, "Content-Type", "%s%s", format->media_type,
        format->media_parameters ? format->media_parameters(&representation->selection) : "");
    if (representation->coding == API_GZIP)
        api_reply_add(reply, "Content-Encoding", "gzip");
    add_range_fields(representation, reply);
    api_reply_add(reply, "Content-Disposition", "inline; filename=\"%s\"", content->file);
    api_reply_add(reply, "Tensor-Name", "%s", content->tensor->name);
    api_reply_add(reply, "Tensor-Dtype", "%s", pe_dtype_name(content->tensor->dtype));
    api_reply_add(reply, "Tensor-Shape", "%s", content->shape);
    api_reply_add(reply, "Tensor-Byte-Order", "little");
    if (content->names[0])
        api_reply_add(reply, "Tensor-Names", "%s", content->names);
}

api_reply *api_representation_new_reply(const api_representation *representation)
{
    content_description content;
    describe_content(representation, &content);
    api_reply *reply = api_reply_new(representation->range.complete ? 206 : 200);
    if (representation->post)
        api_reply_add(reply, "Cache-Control", "no-store");
    else
        add_cache_fields(representation, reply);
    add_content_fields(representation, &content, reply);
    return reply;
}

api_reply *api_representation_not_modified(const api_representation *representation)
{
    api_reply *reply = api_reply_new(304);
    api_reply_set_length(reply, api_representation_length(representation));
    add_cache_fields(representation, reply);
    return reply;
}
