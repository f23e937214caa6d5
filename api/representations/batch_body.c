/* The body of a batch, as safetensors or as JSON. */
#include "representations/batch_body.h"

#include "bytes/joined.h"
#include "negotiation/registry.h"
#include "writers/safetensors.h"
#include "json/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_BLOCK ((size_t)1 << 20) /* bytes that a stream of a batch computes at a time */
#define TENSORS_MAX  (API_BATCH_MAX * PE_TENSORS_MAX)
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

/* A tensor of the reply. */
typedef struct member {
    api_batch_part *part;
    size_t index; /* of the tensor in its request */
    char name[NAME_BYTES];
} member;

static const pe_tensor *tensor_of(const member *of)
{
    return pe_request_tensor(of->part->representation.request, of->index);
}

/* A tensor has the name of its request, and its own one where the request has several. */
static void write_name(const api_batch_part *part, size_t index, char dst[NAME_BYTES])
{
    const api_selection *selection = &part->representation.selection;
    if (selection->count == 1)
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
    for (size_t size = 8; members && size > 0; size /= 2)
        for (size_t i = 0; i < batch->count; i++) {
            const api_selection *selection = &batch->parts[i].representation.selection;
            for (size_t t = selection->first; t < selection->first + selection->count; t++) {
                if (pe_dtype_size(pe_request_tensor(selection->request, t)->dtype) != size)
                    continue;
                member *added = &members[(*ret_count)++];
                *added = (member){.part = &batch->parts[i], .index = t};
                write_name(added->part, t, added->name);
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
        api_joint_problem_add(&batch->problem, (int)(members[i].part - batch->parts),
                              members[i].part->name, &error);
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

/* ---- safetensors ---- */

/* What is said of a part, as one string, since the format allows nothing else. */
static json_t *describe(const api_batch_part *part)
{
    json_t *strings = api_safetensors_strings(part->representation.request);
    if (part->target)
        json_object_set_new(strings, "request", json_string(part->target));
    if (part->about)
        json_object_update(strings, part->about);
    char *text = json_dumps(strings, JSON_COMPACT);
    json_t *string = text ? json_string(text) : NULL;
    if (!string)
        api_document_spoil();
    free(text);
    json_decref(strings);
    return string;
}

static api_body *make_head(const api_batch *batch, const member *members, size_t count)
{
    static const api_named_tensor NONE[1];
    size_t size;
    uint64_t data;
    json_t *metadata = json_object();
    for (size_t i = 0; i < batch->count; i++)
        json_object_set_new(metadata, batch->parts[i].name, describe(&batch->parts[i]));
    api_named_tensor *named = calloc(count + 1, sizeof *named);
    for (size_t i = 0; named && i < count; i++)
        named[i] = (api_named_tensor){members[i].name, tensor_of(&members[i])};
    char *head =
        api_safetensors_head(metadata, named ? named : NONE, named ? count : 0, &size, &data);
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
        bodies[0] = make_head(batch, members, count);
        for (size_t i = 0; i < count; i++)
            bodies[i + 1] = part_body(batch, members[i].part, "raw", members[i].index, 1);
        body = api_body_join(bodies, count + 1);
    }
    free(members);
    free(bodies);
    return body;
}

/* ---- JSON ---- */

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
    api_text_add(&text, "%s\n%s,\"encoding\":\n",
                 first ? "{\"release\":\"" PE_VERSION "\",\"results\":[" : "},", members);
    free(members);
    return api_body_take_text(&text, &bytes);
}

static api_body *make_end(void)
{
    char *end = strdup("}]}\n");
    return end ? api_body_from_text(end, strlen(end)) : NULL;
}

static api_body *json_body(api_batch *batch)
{
    api_body *bodies[2 * API_BATCH_MAX + 1];
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        api_batch_part *part = &batch->parts[i];
        const api_selection *selection = &part->representation.selection;
        bodies[count++] = make_glue(part, i == 0);
        bodies[count++] = part_body(batch, part, "json", selection->first, selection->count);
    }
    bodies[count++] = make_end();
    return api_body_join(bodies, count);
}

api_body *api_batch_body(api_batch *batch, api_batch_format format)
{
    return format == API_BATCH_JSON ? json_body(batch) : safetensors_body(batch);
}
