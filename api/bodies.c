/* Bodies of encodings: built once for an entry of the cache and attached to it, or streamed, in
 * their coding, whole or a part. */
#include "encoding.h"
#include "gzip.h"
#include "reply.h"

/* Of its kind, form, tensors and coding; its options are the variant. */
static unsigned attachment_id(const api_encoding *encoding, api_attachment_kind kind)
{
    unsigned format = 0;
    while (api_format_at(format) != encoding->format)
        format++;
    unsigned tensors = (unsigned)(encoding->selection.first * 16 + encoding->selection.count);
    return ((format * 256 + tensors) * 2 + (unsigned)encoding->coding) * 4 + (unsigned)kind;
}

void *api_attachment(const api_encoding *encoding, pe_entry *entry, api_attachment_kind kind,
                     pe_attachment_builder build, void *context)
{
    return pe_entry_variant(encoding->call->service->cache, entry,
                            attachment_id(encoding, kind), encoding->variant, build, context);
}

static void drop_body(void *body)
{
    api_body_unref(body);
}

static bool build_body(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    const api_encoding *encoding = context;
    size_t bytes;
    api_body *body = encoding->format->write(&encoding->selection, table, &bytes);
    *ret_attachment = (pe_attachment){body, bytes + api_body_footprint(), drop_body};
    return body != NULL;
}

static api_body *plain_body(const api_encoding *encoding, pe_entry *entry)
{
    api_body *body =
        api_attachment(encoding, entry, API_BODY, build_body, (void *)(uintptr_t)encoding);
    return body ? api_body_ref(body) : NULL;
}

/* ---- what takes long to make ---- */

/* The body without its coding: the one that is kept, or one for this alone. */
static api_body *uncoded_body(const api_encoding *encoding, pe_entry *entry)
{
    api_encoding plain = *encoding;
    size_t bytes;
    plain.coding = API_IDENTITY;
    api_body *kept = api_attachment(&plain, entry, API_BODY, NULL, NULL);
    if (kept)
        return api_body_ref(kept);
    return encoding->format->write(&encoding->selection, pe_entry_table(entry), &bytes);
}

typedef struct made_body {
    api_body *body;
    size_t bytes;
} made_body;

static made_body gzip_body(const api_encoding *encoding, pe_entry *entry)
{
    made_body made = {NULL, 0};
    api_body *plain = uncoded_body(encoding, entry);
    if (plain)
        made.body = api_gzip_body(plain, &made.bytes);
    api_body_unref(plain);
    return made;
}

static made_body drawn_body(const api_encoding *encoding, pe_entry *entry)
{
    made_body made = {NULL, 0};
    made.body =
        encoding->format->write(&encoding->selection, pe_entry_table(entry), &made.bytes);
    return made;
}

static bool attach_made(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    (void)table;
    const made_body *made = context;
    *ret_attachment = (pe_attachment){api_body_ref(made->body),
                                      made->bytes + api_body_footprint(), drop_body};
    return true;
}

/* Compressing a large text takes seconds, and so does a large picture, in which the entry's
 * other attachments are asked for: it is made first and attached then. Whoever has made it
 * meanwhile was first. */
static api_body *made_first(const api_encoding *encoding, pe_entry *entry,
                            made_body (*make)(const api_encoding *, pe_entry *))
{
    api_body *kept = api_attachment(encoding, entry, API_BODY, NULL, NULL);
    if (kept)
        return api_body_ref(kept);
    made_body made = make(encoding, entry);
    if (made.body)
        kept = api_attachment(encoding, entry, API_BODY, attach_made, &made);
    api_body *body = kept ? api_body_ref(kept) : NULL;
    api_body_unref(made.body);
    return body;
}

api_body *api_encoding_body(const api_encoding *encoding, pe_entry *entry)
{
    if (encoding->coding == API_GZIP)
        return made_first(encoding, entry, gzip_body);
    if (encoding->format->measure == API_PIXELS)
        return made_first(encoding, entry, drawn_body);
    return plain_body(encoding, entry);
}

/* ---- streams and parts ---- */

api_body *api_encoding_stream(const api_encoding *encoding)
{
    api_selection selection = encoding->selection;
    if (encoding->part.whole) {
        selection.from = encoding->part.first;
        selection.until = selection.from + encoding->part.size;
    }
    api_body *body = encoding->format->stream(&selection);
    return encoding->coding == API_GZIP ? api_gzip_stream(body) : body;
}

api_body *api_encoding_part(const api_encoding *encoding, api_body *whole)
{
    if (!whole || !encoding->part.whole)
        return whole;
    api_body *part = api_body_part(whole, encoding->part.first, encoding->part.size);
    api_body_unref(whole);
    return part;
}
