/* A list of the preparations under way, of which each entry is a thread-local variable, and the
 * schemes of all there have been. */
#include "work/preparations.h"

#include "locks.h"
#include "posenc.h"

#include <stdlib.h>

typedef struct preparation {
    const char *scheme;
    double done; /* share, 0 to 1 */
    struct preparation *next;
} preparation;

struct preparation_set {
    pthread_mutex_t lock;
    preparation *first;
    size_t begun_count;
    const char *begun[]; /* names of schemes; room for all and their similarities */
};

static _Thread_local preparation own; /* a thread runs one preparation at a time */

preparation_set *preparations_new(void)
{
    const size_t most = 2 * pe_scheme_count();
    preparation_set *preparations = calloc(1, sizeof *preparations + most * sizeof(char *));
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

/* Keep the name of a scheme, which has one address; lock held. */
static void remember_scheme(preparation_set *preparations, const char *scheme)
{
    size_t i = 0;
    while (i < preparations->begun_count && preparations->begun[i] != scheme)
        i++;
    if (i == preparations->begun_count)
        preparations->begun[preparations->begun_count++] = scheme;
}

void preparations_note(preparation_set *preparations, const char *scheme, double done)
{
    pthread_mutex_lock(&preparations->lock);
    if (done == 0) {
        own = (preparation){.scheme = scheme, .next = preparations->first};
        preparations->first = &own;
        remember_scheme(preparations, scheme);
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
        if (item->scheme == scheme && item->done < least)
            least = item->done;
    return least;
}

void preparations_write(preparation_set *preparations, api_text *out)
{
    api_text_add(out, "%s",
                 "# HELP posenc_preparation_progress_ratio Share done of the slowest "
                 "preparation under way, by scheme; 1 without one.\n"
                 "# TYPE posenc_preparation_progress_ratio gauge\n");
    pthread_mutex_lock(&preparations->lock);
    for (size_t i = 0; i < preparations->begun_count; i++)
        api_text_add(out, "posenc_preparation_progress_ratio{scheme=\"%s\"} %.6f\n",
                     preparations->begun[i],
                     least_progress(preparations, preparations->begun[i]));
    pthread_mutex_unlock(&preparations->lock);
}
