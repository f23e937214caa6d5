/* Kept documents. The thread that turns a document's state from absent to building owns its
 * forms until it says that they are ready, from when on they are constant. */
#include "replies/kept.h"

#include "bytes/body.h"
#include "bytes/gzip.h"
#include "replies/cacheable.h"
#include "replies/document.h"

#include <stdatomic.h>
#include <stdlib.h>

#define CACHE_CONTROL "public, no-cache"
#define CODINGS       (API_GZIP + 1)

typedef enum kept_state { KEPT_ABSENT, KEPT_BUILDING, KEPT_READY } kept_state;

/* A document in one content coding. */
typedef struct kept_form {
    api_coded_text text;
    api_reply *whole; /* the reply to all requests without conditions */
} kept_form;

typedef struct kept_document {
    atomic_int state; /* a kept_state */
    kept_form forms[CODINGS];
} kept_document;

/* The document of some totals; the form of a coding is made when it is first asked for. */
typedef struct kept_totals {
    api_totals totals;
    kept_form forms[CODINGS];
} kept_totals;

struct api_kept {
    _Atomic(kept_totals *) totals; /* a thread takes it out while it uses it */
    size_t count;
    kept_document documents[];
};

api_kept *api_kept_new(void)
{
    size_t count = API_KEPT_SCHEME + pe_scheme_count();
    api_kept *kept = calloc(1, sizeof *kept + count * sizeof *kept->documents);
    if (kept)
        kept->count = count;
    return kept;
}

static void drop_forms(kept_form forms[CODINGS])
{
    for (api_coding coding = API_IDENTITY; coding < CODINGS; coding++) {
        api_reply_unref(forms[coding].whole);
        api_body_unref(forms[coding].text.body);
        forms[coding] = (kept_form){.whole = NULL};
    }
}

static void free_totals(kept_totals *kept)
{
    if (kept)
        drop_forms(kept->forms);
    free(kept);
}

void api_kept_free(api_kept *kept)
{
    if (!kept)
        return;
    for (size_t i = 0; i < kept->count; i++)
        drop_forms(kept->documents[i].forms);
    free_totals(atomic_load(&kept->totals));
    free(kept);
}

/* ---- building ---- */

/* Fill the form of a coding with a body, whose reference is taken over. False without memory;
 * what there is of the form is dropped later. */
static bool fill_form(kept_form *form, api_coding coding, api_body *body)
{
    if (!body)
        return false;
    api_coded_text_init(&form->text, body, coding);
    form->whole = api_coded_text_whole(&form->text, CACHE_CONTROL);
    return form->whole != NULL;
}

/* Build all forms of a document, or none without memory. */
static bool build_forms(const api_call *call, kept_document *document,
                        api_document_builder *build)
{
    kept_form *plain = &document->forms[API_IDENTITY], *gzip = &document->forms[API_GZIP];
    size_t bytes;
    if (fill_form(plain, API_IDENTITY, api_document_body(build(call))) &&
        fill_form(gzip, API_GZIP, api_gzip_body(plain->text.body, &bytes)))
        return true;
    drop_forms(document->forms);
    return false;
}

/* Make sure that a document is ready, building it if no other thread does. False: it is not. */
static bool make_ready(const api_call *call, kept_document *document,
                       api_document_builder *build)
{
    const api_host *host = call->service->host;
    int state = atomic_load_explicit(&document->state, memory_order_acquire);
    if (state == KEPT_ABSENT && call->request->quick) {
        api_not_yet(call, API_LATER);
        return false;
    }
    if (state == KEPT_ABSENT &&
        atomic_compare_exchange_strong(&document->state, &state, KEPT_BUILDING)) {
        bool built = build_forms(call, document, build);
        atomic_store_explicit(&document->state, built ? KEPT_READY : KEPT_ABSENT,
                              memory_order_release);
        host->landed(host->context);
        return built;
    }
    if (state == KEPT_BUILDING)
        api_not_yet(call, API_BUSY);
    return state == KEPT_READY;
}

/* ---- answering ---- */

/* Whether the answer is the whole document, whatever it holds. */
static bool wants_document(const api_call *call)
{
    return !call->head && !api_call_header(call, API_HEADER_IF_MATCH) &&
           !api_call_header(call, API_HEADER_IF_NONE_MATCH);
}

static api_reply *make_reply(const api_call *call, const kept_form *form)
{
    return wants_document(call) ? api_reply_ref(form->whole)
                                : api_coded_text_reply(call, &form->text, CACHE_CONTROL);
}

api_reply *api_kept_reply(const api_call *call, size_t index, api_document_builder *build)
{
    kept_document *document = &call->service->kept->documents[index];
    api_coding coding;
    api_reply *refusal;
    if (!api_choose_text_coding(call, &coding, &refusal))
        return refusal;
    if (!make_ready(call, document, build))
        return NULL;
    return make_reply(call, &document->forms[coding]);
}

/* ---- the document of the totals ---- */

/* Take the document of these totals out of its place, or a new one without forms. NULL without
 * memory. */
static kept_totals *take_totals(api_kept *all, const api_totals *totals)
{
    kept_totals *kept = atomic_exchange(&all->totals, NULL);
    if (kept && kept->totals.sets == totals->sets && kept->totals.bytes == totals->bytes)
        return kept;
    free_totals(kept);
    kept = calloc(1, sizeof *kept);
    if (kept)
        kept->totals = *totals;
    return kept;
}

/* Make the form of a coding, unless it is there. False without memory. */
static bool make_form(const api_call *call, kept_totals *kept, api_coding coding,
                      api_totals_builder *build)
{
    kept_form *plain = &kept->forms[API_IDENTITY], *form = &kept->forms[coding];
    size_t bytes;
    if (!plain->whole &&
        !fill_form(plain, API_IDENTITY, api_document_body(build(call, &kept->totals))))
        return false;
    return form->whole || fill_form(form, coding, api_gzip_body(plain->text.body, &bytes));
}

api_reply *api_kept_totals_reply(const api_call *call, const api_totals *totals,
                                 api_totals_builder *build)
{
    api_kept *all = call->service->kept;
    api_coding coding;
    api_reply *reply;
    if (!api_choose_text_coding(call, &coding, &reply))
        return reply;
    kept_totals *kept = take_totals(all, totals);
    if (!kept || !make_form(call, kept, coding, build)) {
        free_totals(kept);
        return NULL;
    }
    reply = make_reply(call, &kept->forms[coding]);
    free_totals(atomic_exchange(&all->totals, kept));
    return reply;
}
