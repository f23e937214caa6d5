/* Bodies of representations. A body is built once for an entry of the cache and attached to it,
 * or it is a stream. Both come in the content coding that was chosen, whole or as a range. */
#include "bytes/body.h"
#include "bytes/gzip.h"
#include "bytes/memory_budget.h"
#include "formats/registry.h"
#include "representations/representation.h"

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
    return pe_entry_attachment(representation->call->service->cache, entry,
                               attachment_id(representation, kind), representation->variant,
                               build, context);
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

api_body *api_representation_cut(const api_representation *representation, api_body *whole)
{
    if (!whole || !representation->range.complete)
        return whole;
    api_body *part =
        api_body_part(whole, representation->range.first, representation->range.size);
    api_body_unref(whole);
    return part;
}
