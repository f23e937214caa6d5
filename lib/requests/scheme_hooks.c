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

/* ---- the hooks ---- */

pe_status pe_request_prepare(const pe_request *request, const pe_runner *runner,
                             void **ret_state, pe_error *reterr)
{
    const pe_scheme *scheme = request->values.scheme;
    *ret_state = NULL;
    if (!scheme->prepare)
        return PE_OK;
    pe_pace pace = pe_pace_init(request, runner, reterr);
    void *state = malloc(scheme->state_size);
    if (state) {
        memcpy(state, request->settings, scheme->state_size);
        if (scheme->prepare(state, &pace)) {
            *ret_state = state;
            return PE_OK;
        }
        pe_request_release(request, state);
    }
    if (reterr->status == PE_OK)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the scheme's state");
    return reterr->status;
}

void pe_request_fill(const pe_request *request, const void *state, pe_window window, void *dst)
{
    const pe_scheme *scheme = request->values.scheme;
    scheme->fill(scheme->prepare ? state : request->settings, window, dst);
}

void pe_request_release(const pe_request *request, void *state)
{
    if (state && request->values.scheme->release)
        request->values.scheme->release(state);
    free(state);
}
