/* The body of a batch, as safetensors or as JSON. */
#include "representations/batch_body.h"

#include "bytes/joined.h"
#include "formats/registry.h"
#include "formats/safetensors_header.h"
#include "formats/streams.h"
#include "json/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_BLOCK ((size_t)1 << 20) /* bytes that a stream of a batch computes at a time */
#define TENSORS_MAX  (API_BATCH_MAX * PE_TENSORS_MAX + API_BATCH_LISTS)
#define NAME_BYTES   (API_BATCH_NAME_BYTES + 64) /* of "request.tensor" */

size_t api_batch_choose_streams(api_batch *batch)
{
    uint64_t held = 0, room = batch->call->service->host->limits.table_bytes;
    size_t streams = 0;
    for (size_t i = 0; i < batch->count; i++) {
        api_batch_part *part = &batch->parts[i];
        uint64_t bytes = pe_request_bytes(part->representation.request);
        part->streamed = bytes > room - held;
        if (part->streamed)
            streams += part->representation.selection.count;
        else
            held += bytes;
    }
    return streams;
}

/* ---- the tensors and their names ---- */

/* A tensor of the reply: of a request, or a list. */
typedef struct member {
    api_batch_part *part; /* NULL: it is a list */
    const api_batch_list *list;
    size_t index; /* of the tensor in its request */
    char name[NAME_BYTES];
} member;

static bool is_wanted(const api_batch_part *part, size_t index)
{
    return part->wanted == 0 || part->wanted >> index & 1;
}

static const pe_tensor *find_tensor(const member *of)
{
    return of->list ? &of->list->tensor
                    : pe_request_tensor(of->part->representation.request, of->index);
}

/* A tensor has the name of its request, and its own one where the request has several. */
static void write_name(const api_batch *batch, const api_batch_part *part, size_t index,
                       char dst[NAME_BYTES])
{
    const api_selection *selection = &part->representation.selection;
    if (selection->count == 1 && !batch->full_names)
        snprintf(dst, NAME_BYTES, "%s", part->name);
    else
        snprintf(dst, NAME_BYTES, "%s.%s", part->name,
                 pe_request_tensor(selection->request, index)->name);
}

/* List the tensors by descending element size, so that each one is aligned; those of one size
 * in their order. NULL without memory. */
static member *list_members(const api_batch *batch, size_t *ret_count)
{
    member *members = calloc(TENSORS_MAX, sizeof *members);
    *ret_count = 0;
    for (size_t size = 8; members && size > 0; size /= 2) {
        for (size_t i = 0; size == sizeof(int32_t) && i < batch->list_count; i++) {
            member *added = &members[(*ret_count)++];
            *added = (member){.list = &batch->lists[i]};
            snprintf(added->name, NAME_BYTES, "%s", batch->lists[i].name);
        }
        for (size_t i = 0; i < batch->count; i++) {
            const api_selection *selection = &batch->parts[i].representation.selection;
            for (size_t t = selection->first; t < selection->first + selection->count; t++) {
                if (!is_wanted(&batch->parts[i], t) ||
                    pe_dtype_size(pe_request_tensor(selection->request, t)->dtype) != size)
                    continue;
                member *added = &members[(*ret_count)++];
                *added = (member){.part = &batch->parts[i], .index = t};
                write_name(batch, added->part, t, added->name);
            }
        }
    }
    return members;
}

/* Whether an earlier member has the name. */
static bool is_taken(const member *members, size_t index)
{
    size_t i = 0;
    while (i < index && strcmp(members[i].name, members[index].name) != 0)
        i++;
    return i < index;
}

void api_batch_check_names(api_batch *batch)
{
    size_t count;
    member *members = list_members(batch, &count);
    for (size_t i = 0; i < count; i++) {
        pe_error error;
        if (!is_taken(members, i))
            continue;
        pe_error_init(&error);
        pe_error_add(&error, PE_OUT_OF_RANGE, "requests", "",
                     "named so that every tensor has a name of its own: %s is there twice",
                     members[i].name);
        const api_batch_part *part = members[i].part;
        api_joint_problem_add(&batch->problem, part ? (int)(part - batch->parts) : -1,
                              part ? part->name : NULL, &error);
    }
    free(members);
}

/* ---- bodies of parts ---- */

/* The body of a part of the batch in one of the formats, in which its selection is written. A
 * problem of its preparation is added to the batch. */
static api_body *part_body(api_batch *batch, api_batch_part *part, const char *format,
                           size_t first, size_t count)
{
    api_representation shown = part->representation;
    pe_error error;
    shown.format = api_format_find(format);
    shown.selection.first = first;
    shown.selection.count = count;
    shown.selection.block_bytes = STREAM_BLOCK;
    if (part->entry)
        return api_representation_body(&shown, part->entry);
    api_body *body = api_representation_stream(&shown, &error);
    if (error.status != PE_OK)
        api_joint_problem_add(&batch->problem, (int)(part - batch->parts), part->name, &error);
    return body;
}

/* A copy of a list: the body may outlive the batch. */
static api_body *list_body(const api_batch_list *list)
{
    char *copy = malloc((size_t)list->tensor.bytes);
    if (!copy)
        return NULL;
    memcpy(copy, list->items, (size_t)list->tensor.bytes);
    return api_body_from_text(copy, (size_t)list->tensor.bytes);
}

/* ---- safetensors ---- */

/* What is said of a part. */
static json_t *describe_part(const api_batch_part *part)
{
    json_t *strings = api_safetensors_strings(part->representation.request);
    if (part->target)
        json_object_set_new(strings, "request", json_string(part->target));
    if (part->about)
        json_object_update(strings, part->about);
    json_t *string = api_safetensors_text(strings);
    json_decref(strings);
    return string;
}

/* ret_data is the size of the tensors. */
static api_body *make_head(const api_batch *batch, const member *members, size_t count,
                           uint64_t *ret_data)
{
    static const api_named_tensor NONE[1];
    size_t size;
    json_t *metadata = json_object();
    for (size_t i = 0; i < batch->count; i++)
        json_object_set_new(metadata, batch->parts[i].name, describe_part(&batch->parts[i]));
    if (batch->about)
        json_object_set_new(metadata, "model", api_safetensors_text(batch->about));
    api_named_tensor *named = calloc(count + 1, sizeof *named);
    for (size_t i = 0; named && i < count; i++)
        named[i] =
            (api_named_tensor){.name = members[i].name, .tensor = find_tensor(&members[i])};
    char *head = api_safetensors_head(metadata, named ? named : NONE, named ? count : 0, &size,
                                      ret_data);
    api_body *body = head && named ? api_body_from_text(head, size) : NULL;
    if (!body && !named)
        free(head);
    free(named);
    return body;
}

static api_body *safetensors_body(api_batch *batch)
{
    size_t count;
    member *members = list_members(batch, &count);
    api_body **bodies = calloc(TENSORS_MAX + 1, sizeof *bodies);
    api_body *body = NULL;
    if (members && bodies) {
        uint64_t data;
        bool found = true;
        for (size_t i = 0; i < count && found; i++) {
            bodies[i + 1] = members[i].list
                                ? list_body(members[i].list)
                                : part_body(batch, members[i].part, "raw", members[i].index, 1);
            found = bodies[i + 1] != NULL;
        }
        bodies[0] = found ? make_head(batch, members, count, &data) : NULL;
        body = api_body_join(bodies, count + 1);
    }
    free(members);
    free(bodies);
    return body;
}

uint64_t api_batch_length(const api_batch *batch, api_batch_format format)
{
    uint64_t data, length = API_LENGTH_UNKNOWN;
    size_t count;
    if (format != API_BATCH_SAFETENSORS)
        return length;
    member *members = list_members(batch, &count);
    api_body *head = members ? make_head(batch, members, count, &data) : NULL;
    if (head)
        length = api_body_size(head) + data;
    api_body_unref(head);
    free(members);
    return length;
}

/* ---- JSON ---- */

static api_body *make_start(const api_batch *batch)
{
    api_text text = {0};
    size_t bytes;
    char *about = batch->about ? json_dumps(batch->about, JSON_COMPACT) : NULL;
    if (batch->about && !about)
        return NULL;
    api_text_add(&text, "{%s%s%s\"results\":[", about ? "\"model\":" : "", about ? about : "",
                 about ? ",\n" : "");
    free(about);
    return api_body_take_text(&text, &bytes);
}

/* What comes before the document of a part. */
static api_body *make_glue(const api_batch_part *part, bool first)
{
    api_text text = {0};
    size_t bytes;
    json_t *about = json_pack("{s:s, s:s*}", "name", part->name, "request", part->target);
    if (part->about)
        json_object_update(about, part->about);
    char *members = api_document_text(about, JSON_COMPACT);
    if (!members)
        return NULL;
    members[strlen(members) - 1] = '\0';
    api_text_add(&text, "%s\n%s,\"encoding\":\n", first ? "" : "},", members);
    free(members);
    return api_body_take_text(&text, &bytes);
}

/* What comes after the last part: the lists, if there are any. */
static api_body *make_end(const api_batch *batch)
{
    api_text text = {0};
    size_t bytes;
    api_text_add(&text, "%s]", batch->count > 0 ? "}" : "");
    for (size_t i = 0; i < batch->list_count; i++) {
        const api_batch_list *list = &batch->lists[i];
        api_text_add(&text, "%s\"%s\":[", i ? ",\n" : ",\"lists\":{\n", list->name);
        for (size_t n = 0; n < list->tensor.elements; n++)
            api_text_add(&text, "%s%d", n ? "," : "", (int)list->items[n]);
        api_text_add(&text, "]");
    }
    api_text_add(&text, batch->list_count > 0 ? "}}\n" : "}\n");
    return api_body_take_text(&text, &bytes);
}

static api_body *json_body(api_batch *batch)
{
    api_body *bodies[2 * API_BATCH_MAX + 2];
    size_t count = 0;
    bodies[count++] = make_start(batch);
    for (size_t i = 0; i < batch->count; i++) {
        api_batch_part *part = &batch->parts[i];
        const api_selection *selection = &part->representation.selection;
        bodies[count++] = make_glue(part, i == 0);
        bodies[count++] = part_body(batch, part, "json", selection->first, selection->count);
    }
    bodies[count++] = make_end(batch);
    return api_body_join(bodies, count);
}

api_body *api_batch_body(api_batch *batch, api_batch_format format)
{
    return format == API_BATCH_JSON ? json_body(batch) : safetensors_body(batch);
}
