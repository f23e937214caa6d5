#include "identify/watch.h"

#define QUESTION_BYTES ((size_t)1 << 15) /* looking at them takes a millisecond or two */
#define READ_BYTES     512               /* what a read costs beside its bytes */

static bool ask(pe_watch *watch, const pe_scheme *scheme, double done)
{
    const pe_runner *asked = watch->asked;
    watch->unasked = 0;
    if (asked && asked->go_on && !asked->go_on(asked->context, scheme, done) && done < 1)
        watch->ended = true;
    return !watch->ended;
}

/* A pe_runner's `go_on`. */
static bool may_continue(void *context, const pe_scheme *scheme, double done)
{
    pe_watch *watch = context;
    if (watch->ended && done < 1) /* it has been told; that something ends is told as well */
        return false;
    return ask(watch, scheme, done);
}

void pe_watch_init(pe_watch *watch, const pe_runner *asked)
{
    *watch = (pe_watch){
        .runner = {.context = watch, .pool = asked ? asked->pool : NULL, .go_on = may_continue},
        .asked = asked};
}

bool pe_watch_may_continue(pe_watch *watch)
{
    return !watch->ended && ask(watch, NULL, 0);
}

/* A pe_view's `read`. */
static bool read_watched(void *context, uint64_t offset, void *dst, size_t size)
{
    pe_watch *watch = context;
    const pe_view *view = &watch->view;
    watch->unasked += READ_BYTES + size;
    if (watch->ended || (watch->unasked >= QUESTION_BYTES && !pe_watch_may_continue(watch)))
        return false;
    return view->read(view->context, offset, dst, size);
}

pe_view pe_watch_view(pe_watch *watch, const pe_view *view)
{
    pe_view watched = *view;
    watch->view = *view;
    watched.read = read_watched;
    watched.context = watch;
    return watched;
}
