#include "identify/search_runner.h"

#define QUESTION_BYTES ((size_t)1 << 15) /* looking at them takes a millisecond or two */
#define READ_BYTES     512               /* what a read costs beside its bytes */

static bool ask_caller(pe_search_runner *self, const pe_scheme *scheme, double done)
{
    const pe_runner *asked = self->asked;
    self->unasked = 0;
    if (asked && asked->go_on && !asked->go_on(asked->context, scheme, done) && done < 1)
        self->ended = true;
    return !self->ended;
}

/* A pe_runner's `go_on`. */
static bool may_continue(void *context, const pe_scheme *scheme, double done)
{
    pe_search_runner *self = context;
    if (self->ended && done < 1) /* it has been told; that something ends is told as well */
        return false;
    return ask_caller(self, scheme, done);
}

void pe_search_runner_init(pe_search_runner *self, const pe_runner *asked)
{
    *self = (pe_search_runner){
        .own = {.context = self, .pool = asked ? asked->pool : NULL, .go_on = may_continue},
        .asked = asked};
}

bool pe_search_may_continue(pe_search_runner *self)
{
    return !self->ended && ask_caller(self, NULL, 0);
}

/* A pe_view's `read`. */
static bool read_watched(void *context, uint64_t offset, void *dst, size_t size)
{
    pe_search_runner *self = context;
    const pe_view *view = &self->view;
    self->unasked += READ_BYTES + size;
    if (self->ended || (self->unasked >= QUESTION_BYTES && !pe_search_may_continue(self)))
        return false;
    return view->read(view->context, offset, dst, size);
}

pe_view pe_search_wrap_view(pe_search_runner *self, const pe_view *view)
{
    pe_view watched = *view;
    self->view = *view;
    watched.read = read_watched;
    watched.context = self;
    return watched;
}
