/* A list of preparations, each in its thread's own memory. */
#include "preparations.h"

#include "posenc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct preparation {
    const char *scheme;
    double done;
    uint64_t started;
    struct preparation *next;
} preparation;

struct preparation_set {
    pthread_mutex_t lock;
    uint64_t longest, end;
    preparation *first;
};

static _Thread_local preparation own; /* a thread makes one preparation at a time */

preparation_set *preparations_new(uint64_t seconds)
{
    preparation_set *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    pthread_mutex_init(&made->lock, NULL);
    made->longest = seconds * 1000000000U;
    made->end = UINT64_MAX;
    return made;
}

void preparations_free(preparation_set *preparations)
{
    if (preparations)
        pthread_mutex_destroy(&preparations->lock);
    free(preparations);
}

bool preparations_go_on(preparation_set *preparations, const char *scheme, double done,
                        uint64_t now)
{
    pthread_mutex_lock(&preparations->lock);
    if (done == 0) {
        own = (preparation){.scheme = scheme, .started = now, .next = preparations->first};
        preparations->first = &own;
    } else if (done == 1) {
        preparation **at = &preparations->first;
        while (*at != &own)
            at = &(*at)->next;
        *at = own.next;
    }
    own.done = done;
    bool may = now < preparations->end && now - own.started < preparations->longest;
    pthread_mutex_unlock(&preparations->lock);
    return may;
}

void preparations_end_at(preparation_set *preparations, uint64_t time)
{
    pthread_mutex_lock(&preparations->lock);
    preparations->end = time;
    pthread_mutex_unlock(&preparations->lock);
}

/* The least share done of a scheme's preparations, 1 if there are none; lock held. */
static double progress_of(const preparation_set *preparations, const char *scheme)
{
    double least = 1;
    for (const preparation *item = preparations->first; item; item = item->next)
        if (strcmp(item->scheme, scheme) == 0 && item->done < least)
            least = item->done;
    return least;
}

void preparations_write(preparation_set *preparations, api_text *out)
{
    api_text_add(out, "%s",
                 "# HELP posenc_preparation_progress_ratio Share done of the scheme's slowest "
                 "preparation under way, 1 without one.\n"
                 "# TYPE posenc_preparation_progress_ratio gauge\n");
    pthread_mutex_lock(&preparations->lock);
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const char *name = pe_scheme_describe(pe_scheme_at(i))->name;
        if (pe_scheme_takes_long(pe_scheme_at(i)))
            api_text_add(out, "posenc_preparation_progress_ratio{scheme=\"%s\"} %.6f\n", name,
                         progress_of(preparations, name));
    }
    pthread_mutex_unlock(&preparations->lock);
}
