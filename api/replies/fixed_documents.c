/* Kept documents. The thread that turns a document's state from absent to building owns its
 * forms until it says that they are ready, from when on they are constant. */
#include "replies/fixed_documents.h"

#include "bytes/body.h"
#include "bytes/gzip.h"
#include "replies/cacheable.h"
#include "replies/document.h"

#include <stdatomic.h>
#include <stdlib.h>

#define CACHE_CONTROL "public, no-cache"
#define CODINGS       (API_GZIP + 1)

typedef enum document_state {
    DOCUMENT_ABSENT,
    DOCUMENT_BUILDING,
    DOCUMENT_READY
} document_state;

/* A document in one content coding. */
typedef struct coded_form {
    api_coded_text text;
    api_reply *whole; /* the reply to all requests without conditions */
} coded_form;

typedef struct fixed_document {
    atomic_int state; /* a document_state */
    coded_form forms[CODINGS];
} fixed_document;

struct api_fixed_documents {
    size_t count;
    fixed_document documents[];
};

api_fixed_documents *api_fixed_documents_new(void)
{
    size_t count = API_FIXED_SCHEME + pe_scheme_count();
    api_fixed_documents *documents =
        calloc(1, sizeof *documents + count * sizeof *documents->documents);
    if (documents)
        documents->count = count;
    return documents;
}

static void drop_forms(coded_form forms[CODINGS])
{
    for (api_coding coding = API_IDENTITY; coding < CODINGS; coding++) {
        api_reply_unref(forms[coding].whole);
        api_body_unref(forms[coding].text.body);
        forms[coding] = (coded_form){.whole = NULL};
    }
}

void api_fixed_documents_free(api_fixed_documents *documents)
{
    if (!documents)
        return;
    for (size_t i = 0; i < documents->count; i++)
        drop_forms(documents->documents[i].forms);
    free(documents);
}

/* ---- building ---- */

/* Fill the form of a coding with a body, whose reference is taken over. False without memory;
 * what there is of the form is dropped later. */
static bool fill_form(coded_form *form, api_coding coding, api_body *body)
{
    if (!body)
        return false;
    api_coded_text_init(&form->text, body, coding);
    form->whole = api_coded_text_whole(&form->text, CACHE_CONTROL);
    return form->whole != NULL;
}

/* Build all forms of a document, or none without memory. */
static bool build_forms(const api_call *call, fixed_document *document,
                        api_document_builder *build)
{
    coded_form *plain = &document->forms[API_IDENTITY], *gzip = &document->forms[API_GZIP];
    size_t bytes;
    if (fill_form(plain, API_IDENTITY, api_document_body(build(call))) &&
        fill_form(gzip, API_GZIP, api_gzip_body(plain->text.body, &bytes)))
        return true;
    drop_forms(document->forms);
    return false;
}

/* Make sure that a document is ready, building it if no other thread does. False: it is not. */
static bool make_ready(const api_call *call, fixed_document *document,
                       api_document_builder *build)
{
    const api_host *host = call->service->host;
    int state = atomic_load_explicit(&document->state, memory_order_acquire);
    if (state == DOCUMENT_ABSENT && call->request->quick) {
        api_not_yet(call, API_LATER);
        return false;
    }
    if (state == DOCUMENT_ABSENT &&
        atomic_compare_exchange_strong(&document->state, &state, DOCUMENT_BUILDING)) {
        bool built = build_forms(call, document, build);
        atomic_store_explicit(&document->state, built ? DOCUMENT_READY : DOCUMENT_ABSENT,
                              memory_order_release);
        host->landed(host->context);
        return built;
    }
    if (state == DOCUMENT_BUILDING)
        api_not_yet(call, API_BUSY);
    return state == DOCUMENT_READY;
}

/* ---- answering ---- */

/* Whether the answer is the whole document, whatever it holds. */
static bool wants_document(const api_call *call)
{
    return !call->head && !api_call_header(call, API_HEADER_IF_MATCH) &&
           !api_call_header(call, API_HEADER_IF_NONE_MATCH);
}

api_reply *api_reply_fixed(const api_call *call, size_t index, api_document_builder *build)
{
    fixed_document *document = &call->service->fixed->documents[index];
    api_coding coding;
    api_reply *refusal;
    if (!api_choose_text_coding(call, &coding, &refusal))
        return refusal;
    if (!make_ready(call, document, build))
        return NULL;
    const coded_form *form = &document->forms[coding];
    return wants_document(call) ? api_reply_ref(form->whole)
                                : api_coded_text_reply(call, &form->text, CACHE_CONTROL);
}
