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

/* Write the options as a part of a file name: "_slice3_scale4" for "slice=3&scale=4". */
static void write_variant(const char *variant, size_t size, char dst[API_VARIANT_BYTES + 1])
{
    if (size > 0)
        *dst++ = '_';
    for (size_t i = 0; i < size; i++)
        if (variant[i] != '=')
            *dst++ = variant[i] == '&' ? '_' : (char)(variant[i] == ',' ? '-' : variant[i]);
    *dst = '\0';
}

#define DIFFERENCES_MAX 120

/* A digest of eight hexadecimal digits. */
static void write_digest(char *dst, size_t size, const void *data, size_t bytes)
{
    char digest[65];
    api_sha256_hex(data, bytes, digest);
    snprintf(dst, size, "%.8s", digest);
}

static bool is_list(const pe_parameter *row)
{
    return row->type == PE_REAL_LIST || row->type == PE_INTEGER_LIST;
}

#define VALUE_MAX 80

/* Write the value of a parameter as a request has it, a long list without its end. */
static void write_value(const pe_parameter *row, const pe_value *value, char dst[VALUE_MAX])
{
    const double *numbers = is_list(row) ? value->items : &value->real;
    const size_t count = is_list(row) ? value->count : 1;
    size_t used = 0;
    if (row->type == PE_CHOICE)
        snprintf(dst, VALUE_MAX, "%s", row->choices[value->integer]);
    else if (row->type == PE_STORED)
        snprintf(dst, VALUE_MAX, "%s", value->text);
    else if (row->type == PE_BOOLEAN)
        snprintf(dst, VALUE_MAX, "%s", value->integer ? "true" : "false");
    else
        for (size_t i = 0; i < count && used + PE_PRINT_MAX + 2 < VALUE_MAX; i++) {
            if (i > 0)
                dst[used++] = ',';
            used += pe_print_number(dst + used, numbers[i]);
            dst[used] = '\0';
        }
}

/* Whether a value shows in the shape: as an extent, or as half of one that is the pairs of a
 * dim. */
static bool is_extent(const pe_value *value, const pe_tensor *tensor)
{
    for (size_t i = 0; i < tensor->rank; i++)
        if ((uint64_t)value->integer == tensor->shape[i] ||
            (uint64_t)value->integer == 2 * tensor->shape[i])
            return true;
    return false;
}

/* Whether a value, which has this text, is to be told from that of other tables of the same
 * shape. */
static bool is_told(const pe_parameter *row, const pe_value *value, const char *text,
                    const pe_tensor *tensor)
{
    const bool is_shown =
        row->counts_rows || row->default_of ||
        (row->required && row->type == PE_INTEGER && is_extent(value, tensor));
    return value->present && (is_list(row) || !is_shown) &&
           (!row->default_text || strcmp(text, row->default_text) != 0);
}

/* A parameter's row with the default that it has in this request. */
static pe_parameter find_row(const pe_request *request, size_t index)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    pe_parameter row = info->parameters[index];
    if (!row.when)
        return row;
    const pe_parameter *decides = pe_parameter_find(info, row.when);
    const pe_value *chosen = pe_request_value(request, (size_t)(decides - info->parameters));
    const pe_case *legal = pe_parameter_case(&row, decides->choices[chosen->integer]);
    row.required = legal && legal->required;
    row.default_text = legal ? legal->default_text : NULL;
    return row;
}

/* Write the parameters that are no defaults, such as "_base500000_offset16", so that files of
 * unlike tables have unlike names; a digest of the whole request where they are long. */
static void write_differences(const pe_request *request, const pe_tensor *tensor,
                              char dst[DIFFERENCES_MAX])
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    size_t used = 0, length;
    dst[0] = '\0';
    for (size_t i = 0; i < info->parameter_count && used < DIFFERENCES_MAX; i++) {
        char text[VALUE_MAX] = "";
        const pe_parameter row = find_row(request, i);
        const pe_value *value = pe_request_value(request, i);
        if (value->present)
            write_value(&row, value, text);
        if (!is_told(&row, value, text, tensor))
            continue;
        if (is_list(&row))
            write_digest(text, sizeof text, value->items, value->count * sizeof *value->items);
        used += (size_t)snprintf(dst + used, DIFFERENCES_MAX - used, "_%s%s", row.name, text);
    }
    if (used >= DIFFERENCES_MAX) {
        const char *key = pe_request_key(request, &length);
        dst[0] = '_';
        write_digest(dst + 1, DIFFERENCES_MAX - 1, key, length);
    }
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
    char shape[96], file[512];
    char names[320]; /* where it is one tensor of several; else "" */
} content_description;

static void describe_content(const api_representation *representation,
                             content_description *ret_content)
{
    char shape[96], variant[API_VARIANT_BYTES + 1], differences[DIFFERENCES_MAX];
    const api_selection *selection = &representation->selection;
    const pe_request *request = selection->request;
    const char *scheme = pe_scheme_describe(pe_request_scheme(request))->name;
    const pe_tensor *tensor = pe_request_tensor(request, selection->first);
    const bool one_of_many = selection->count < pe_request_tensor_count(request);
    *ret_content = (content_description){.tensor = tensor};
    write_shape(tensor, ", ", ret_content->shape, sizeof ret_content->shape);
    write_shape(tensor, "x", shape, sizeof shape);
    write_variant(representation->variant, representation->options_size, variant);
    write_differences(request, tensor, differences);
    snprintf(ret_content->file, sizeof ret_content->file, "%s%s%s_%s_%s%s%s.%s", scheme,
             one_of_many ? "_" : "", one_of_many ? tensor->name : "", shape,
             pe_dtype_name(tensor->dtype), differences, variant,
             representation->format->extension);
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
