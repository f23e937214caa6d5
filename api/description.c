/* What a reply says of the encoding it carries: validators, type, file name, tensor. */
#include "encoding.h"
#include "reply.h"

#include <stdio.h>
#include <string.h>

void api_encoding_etag(const api_encoding *encoding, api_etag *ret_etag)
{
    char what[192 + API_VARIANT_BYTES];
    size_t key_length;
    const api_format *format = encoding->format;
    const char *key = pe_request_key(encoding->request, &key_length);
    int length =
        snprintf(what, sizeof what, "%s.%u tensors %zu+%zu %s?%s", format->name,
                 format->revision, encoding->selection.first, encoding->selection.count,
                 api_coding_tag(encoding->coding), encoding->variant);
    for (size_t i = 0; format->versions && format->versions[i]; i++)
        length += snprintf(what + length, sizeof what - (size_t)length, " %.24s",
                           format->versions[i]());
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(encoding->request));
    const api_segment pieces[] = {
        {key, key_length},
        {what, (size_t)length},
        {info->formula, strlen(info->formula)}, /* metadata holds these */
        {info->convention, strlen(info->convention)},
        {info->reference, strlen(info->reference)}};
    api_etag_of(ret_etag, pieces, sizeof pieces / sizeof *pieces);
}

/* "512x64", "512, 64": the shape with a separator. */
static void write_shape(const pe_tensor *tensor, const char *separator, char *dst, size_t size)
{
    int used = 0;
    for (size_t i = 0; i < tensor->rank; i++)
        used += snprintf(dst + used, size - (size_t)used, "%s%llu", i ? separator : "",
                         (unsigned long long)tensor->shape[i]);
}

/* What was consulted. For a binary form that is the coding only where its being refused is the
 * answer. */
static const char *vary_of(const api_encoding *encoding)
{
    if (!encoding->format->text)
        return "Accept";
    return encoding->negotiated ? "Accept, Accept-Encoding" : "Accept-Encoding";
}

void api_encoding_add_validators(const api_encoding *encoding, const api_etag *etag,
                                 api_reply *reply)
{
    api_reply_add(reply, "ETag", "%s", etag->text);
    api_reply_add(reply, "Cache-Control",
                  pe_request_set(encoding->request) /* which may be replaced at any time */
                      ? "no-cache"
                      : "public, max-age=86400, stale-while-revalidate=604800");
    if (encoding->negotiated || encoding->format->text)
        api_reply_add(reply, "Vary", "%s", vary_of(encoding));
}

/* "_slice3_scale4" for "slice=3&scale=4": the options in a file name. */
static void write_variant(const char *variant, char dst[API_VARIANT_BYTES + 1])
{
    if (*variant)
        *dst++ = '_';
    for (; *variant; variant++)
        if (*variant != '=')
            *dst++ = *variant == '&' ? '_' : (char)(*variant == ',' ? '-' : *variant);
    *dst = '\0';
}

/* What describes the representation: type, file name, tensor. */
static void add_description(const api_encoding *encoding, api_reply *reply)
{
    char shape[96], variant[API_VARIANT_BYTES + 1];
    const char *scheme = pe_scheme_describe(pe_request_scheme(encoding->request))->name;
    const pe_tensor *tensor = pe_request_tensor(encoding->request, encoding->selection.first);
    bool one_of_many = encoding->selection.count < pe_request_tensor_count(encoding->request);
    api_reply_add(reply, "Content-Type", "%s%s", encoding->format->media_type,
                  encoding->format->media_parameters ? encoding->format->media_parameters : "");
    if (encoding->coding == API_GZIP)
        api_reply_add(reply, "Content-Encoding", "gzip");
    if (encoding->part.whole)
        api_reply_add(reply, "Content-Range", "bytes %llu-%llu/%llu",
                      (unsigned long long)encoding->part.first,
                      (unsigned long long)(encoding->part.first + encoding->part.size - 1),
                      (unsigned long long)encoding->part.whole);
    if (encoding->format->measure == API_BYTES && !encoding->post)
        api_reply_add(reply, "Accept-Ranges", "bytes");
    write_shape(tensor, "x", shape, sizeof shape);
    write_variant(encoding->variant, variant);
    api_reply_add(reply, "Content-Disposition", "inline; filename=\"%s%s%s_%s_%s%s.%s\"",
                  scheme, one_of_many ? "_" : "", one_of_many ? tensor->name : "", shape,
                  pe_dtype_name(tensor->dtype), variant, encoding->format->extension);
    write_shape(tensor, ", ", shape, sizeof shape);
    api_reply_add(reply, "Tensor-Name", "%s", tensor->name);
    api_reply_add(reply, "Tensor-Dtype", "%s", pe_dtype_name(tensor->dtype));
    api_reply_add(reply, "Tensor-Shape", "%s", shape);
    api_reply_add(reply, "Tensor-Byte-Order", "little");
}

api_reply *api_encoding_describe(const api_encoding *encoding)
{
    api_etag etag;
    api_reply *reply = api_reply_new(encoding->part.whole ? 206 : 200);
    if (encoding->post) {
        api_reply_add(reply, "Cache-Control", "no-store");
    } else {
        api_encoding_etag(encoding, &etag);
        api_encoding_add_validators(encoding, &etag, reply);
    }
    add_description(encoding, reply);
    return reply;
}
