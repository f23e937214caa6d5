/* A list of the preparations under way; each entry is a thread-local variable. */
#include "work/preparations.h"

#include "locks.h"
#include "posenc.h"

#include <stdlib.h>
#include <string.h>

typedef struct preparation {
    const char *scheme;
    double done; /* share, 0 to 1 */
    struct preparation *next;
} preparation;

struct preparation_set {
    pthread_mutex_t lock;
    preparation *first;
};

static _Thread_local preparation own; /* a thread runs one preparation at a time */

preparation_set *preparations_new(void)
{
    preparation_set *preparations = calloc(1, sizeof *preparations);
    if (!preparations)
        return NULL;
    pthread_mutex_init(&preparations->lock, NULL);
    return preparations;
}

void preparations_free(preparation_set *preparations)
{
    if (preparations)
        pthread_mutex_destroy(&preparations->lock);
    free(preparations);
}

void preparations_note(preparation_set *preparations, const char *scheme, double done)
{
    pthread_mutex_lock(&preparations->lock);
    if (done == 0) {
        own = (preparation){.scheme = scheme, .next = preparations->first};
        preparations->first = &own;
    } else if (done == 1) {
        preparation **link = &preparations->first;
        while (*link != &own)
            link = &(*link)->next;
        *link = own.next;
    }
    own.done = done;
    pthread_mutex_unlock(&preparations->lock);
}

/* The progress of a scheme's slowest preparation, 1 if there is none; lock held. */
static double least_progress(const preparation_set *preparations, const char *scheme)
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
        api_text_add(out, "posenc_preparation_progress_ratio{scheme=\"%s\"} %.6f\n", name,
                     least_progress(preparations, name));
    }
    pthread_mutex_unlock(&preparations->lock);
}
