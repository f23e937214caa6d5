/* Computing a request by its scheme's hooks, and asking now and then whether to go on. */
#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

/* ---- whether to go on ---- */

/* Ask the runner, if there is one, whether to go on; adds a problem if not. */
static bool ask_runner(const pe_runner *runner, const pe_scheme *scheme, double done,
                       pe_error *reterr)
{
    if (!runner || !runner->go_on || runner->go_on(runner->context, scheme, done))
        return true;
    pe_error_add(reterr, PE_CANCELLED, "", "", "completed before its caller ends it");
    return false;
}

bool pe_may_continue(const pe_runner *runner, const pe_scheme *scheme, double done,
                     pe_error *reterr)
{
    const double least = 0x1p-20; /* 0 and 1 mean that the preparation begins and ends */
    done = done > least ? done : least;
    return ask_runner(runner, scheme, done < 1 - least ? done : 1 - least, reterr);
}

bool pe_request_begin(const pe_request *request, const pe_runner *runner, pe_error *reterr)
{
    return ask_runner(runner, request->values.scheme, 0, reterr);
}

void pe_request_end(const pe_request *request, const pe_runner *runner)
{
    if (runner && runner->go_on)
        runner->go_on(runner->context, request->values.scheme, 1);
}

pe_pace pe_pace_init(const pe_request *request, const pe_runner *runner, pe_error *reterr)
{
    return (pe_pace){.runner = runner,
                     .scheme = request->values.scheme,
                     .reterr = reterr,
                     .total = pe_request_price(request)};
}

bool pe_pace_may_continue(pe_pace *pace, double price)
{
    pace->done += price;
    pace->unasked += price;
    if (pace->unasked < PE_QUESTION_PRICE)
        return true;
    pace->unasked = 0;
    return pe_may_continue(pace->runner, pace->scheme, pace->done / pace->total, pace->reterr);
}

/* ---- what is kept ---- */

/* Comes before each piece of memory, which begins at the next cache line. The first piece leads
 * to all others. */
typedef struct kept_link {
    struct kept_link *next;
} kept_link;

#define CACHE_LINE 64

static kept_link *find_link(void *memory)
{
    return (kept_link *)(void *)((unsigned char *)memory - CACHE_LINE);
}

void *pe_keep(pe_pace *pace, size_t count, size_t size)
{
    const size_t lines = (count * size + CACHE_LINE - 1) / CACHE_LINE + 1;
    kept_link *link = aligned_alloc(CACHE_LINE, lines * CACHE_LINE);
    if (!link)
        return NULL;
    void *memory = (unsigned char *)link + CACHE_LINE;
    kept_link **before = pace->kept ? &find_link(pace->kept)->next : NULL;
    link->next = before ? *before : NULL;
    if (before)
        *before = link;
    else
        pace->kept = memory;
    return memory;
}

void *pe_keep_zeros(pe_pace *pace, size_t count, size_t size)
{
    void *memory = pe_keep(pace, count, size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

void pe_kept_free(void *state)
{
    for (kept_link *next, *link = state ? find_link(state) : NULL; link; link = next) {
        next = link->next;
        free(link);
    }
}

/* ---- the hooks ---- */

pe_status pe_request_prepare(const pe_request *request, const pe_runner *runner,
                             void **ret_state, pe_error *reterr)
{
    const pe_scheme *scheme = request->values.scheme;
    *ret_state = NULL;
    if (!scheme->prepare)
        return PE_OK;
    pe_pace pace = pe_pace_init(request, runner, reterr);
    void *state = pe_keep(&pace, 1, scheme->state_size);
    if (state && scheme->prepare(memcpy(state, request->settings, scheme->state_size), &pace)) {
        *ret_state = state;
        return PE_OK;
    }
    pe_kept_free(state);
    if (reterr->status == PE_OK)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the scheme's state");
    return reterr->status;
}

void pe_request_fill(const pe_request *request, const void *state, pe_window window, void *dst)
{
    const pe_scheme *scheme = request->values.scheme;
    scheme->fill(scheme->prepare ? state : request->settings, window, dst);
}
