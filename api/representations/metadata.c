/* The metadata of a representation: its entity tag, and the header fields that describe it. */
#include "replies/reply.h"
#include "representations/representation.h"

#include <stdio.h>
#include <string.h>

void api_representation_etag(const api_representation *representation, api_etag *ret_etag)
{
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
    if (format->states_parameters)
        length += snprintf(form + length, sizeof form - (size_t)length, " %s", PE_VERSION);
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(representation->request));
    const api_segment pieces[] = {
        {key, key_length},
        {form, (size_t)length},
        {info->formula, strlen(info->formula)}, /* safetensors carry these three texts */
        {info->convention, strlen(info->convention)},
        {info->reference, strlen(info->reference)}};
    api_etag_of(ret_etag, pieces, sizeof pieces / sizeof *pieces);
}

/* Write a shape with a separator: "512x64" or "512, 64". */
static void write_shape(const pe_tensor *tensor, const char *separator, char *dst, size_t size)
{
    int used = 0;
    for (size_t i = 0; i < tensor->rank; i++)
        used += snprintf(dst + used, size - (size_t)used, "%s%llu", i ? separator : "",
                         (unsigned long long)tensor->shape[i]);
}

/* The request headers that selected the representation. A binary format ignores
 * Accept-Encoding, unless that header admits no coding at all, which is answered with 406. */
static const char *vary_of(const api_representation *representation)
{
    if (!representation->format->text)
        return "Accept";
    return representation->negotiated ? "Accept, Accept-Encoding" : "Accept-Encoding";
}

void api_representation_add_cache_fields(const api_representation *representation,
                                         const api_etag *etag, api_reply *reply)
{
    bool stored = pe_request_set(representation->request) != NULL;
    if (stored && !representation->call->service->host->stored_for_all)
        api_reply_close(reply); /* hits share it */
    api_reply_add(reply, "ETag", "%s", etag->text);
    api_reply_add(reply, "Cache-Control",
                  stored ? "no-cache" /* the set may be replaced at any time */
                         : "public, max-age=86400, stale-while-revalidate=604800");
    if (representation->negotiated || representation->format->text)
        api_reply_add(reply, "Vary", "%s", vary_of(representation));
}

/* Write the options as a part of a file name: "_slice3_scale4" for "slice=3&scale=4". */
static void write_variant(const char *variant, char dst[API_VARIANT_BYTES + 1])
{
    if (*variant)
        *dst++ = '_';
    for (; *variant; variant++)
        if (*variant != '=')
            *dst++ = *variant == '&' ? '_' : (char)(*variant == ',' ? '-' : *variant);
    *dst = '\0';
}

/* Add the fields that describe the content: type, coding, range, file name, tensor. */
static void add_content_fields(const api_representation *representation, api_reply *reply)
{
    char shape[96], options[API_VARIANT_BYTES], variant[API_VARIANT_BYTES + 1];
    const char *scheme = pe_scheme_describe(pe_request_scheme(representation->request))->name;
    const pe_tensor *tensor =
        pe_request_tensor(representation->request, representation->selection.first);
    bool one_of_many =
        representation->selection.count < pe_request_tensor_count(representation->request);
    api_reply_add(reply, "Content-Type", "%s%s", representation->format->media_type,
                  representation->format->media_parameters
                      ? representation->format->media_parameters
                      : "");
    if (representation->coding == API_GZIP)
        api_reply_add(reply, "Content-Encoding", "gzip");
    if (representation->range.complete)
        api_reply_add(
            reply, "Content-Range", "bytes %llu-%llu/%llu",
            (unsigned long long)representation->range.first,
            (unsigned long long)(representation->range.first + representation->range.size - 1),
            (unsigned long long)representation->range.complete);
    if (representation->format->measure == API_BYTES && !representation->post)
        api_reply_add(reply, "Accept-Ranges", "bytes");
    write_shape(tensor, "x", shape, sizeof shape);
    api_options_variant(&representation->options, representation->format, options);
    write_variant(options, variant);
    api_reply_add(reply, "Content-Disposition", "inline; filename=\"%s%s%s_%s_%s%s.%s\"",
                  scheme, one_of_many ? "_" : "", one_of_many ? tensor->name : "", shape,
                  pe_dtype_name(tensor->dtype), variant, representation->format->extension);
    write_shape(tensor, ", ", shape, sizeof shape);
    api_reply_add(reply, "Tensor-Name", "%s", tensor->name);
    api_reply_add(reply, "Tensor-Dtype", "%s", pe_dtype_name(tensor->dtype));
    api_reply_add(reply, "Tensor-Shape", "%s", shape);
    api_reply_add(reply, "Tensor-Byte-Order", "little");
}

api_reply *api_representation_new_reply(const api_representation *representation)
{
    api_etag etag;
    api_reply *reply = api_reply_new(representation->range.complete ? 206 : 200);
    if (representation->post) {
        api_reply_add(reply, "Cache-Control", "no-store");
    } else {
        api_representation_etag(representation, &etag);
        api_representation_add_cache_fields(representation, &etag, reply);
    }
    add_content_fields(representation, reply);
    return reply;
}
