/* Copies past the caches go through a stage, which holds some whole lines of the cache and
 * stays in it: runs may begin and end anywhere, but only whole lines leave the stage. Even long
 * runs are faster that way, since those of a matrix begin at any element. */
#include "kernels/copier.h"

#include "kernels/store.h"

#include <string.h>

#define LINE 64

/* Make room for lines up to an aligned end. */
static void clear_stage(pe_copier *copier)
{
    copier->staged = 0;
    copier->room = PE_COPIER_STAGE - (uintptr_t)copier->to % LINE;
}

static void write_stage(pe_copier *copier)
{
    copier->kernel->stream(copier->to, copier->stage, copier->staged);
    copier->to += copier->staged;
    clear_stage(copier);
}

void pe_copier_init(pe_copier *ret_copier, void *dst, uint64_t bytes)
{
    ret_copier->kernel = pe_streaming_kernel(bytes);
    ret_copier->to = dst;
    clear_stage(ret_copier);
}

void pe_copier_add(pe_copier *copier, const void *run, size_t size)
{
    const unsigned char *from = run;
    if (!copier->kernel) {
        memcpy(copier->to, from, size);
        copier->to += size;
        return;
    }
    for (size_t part; size > 0; from += part, size -= part) {
        size_t rest = copier->room - copier->staged;
        part = size < rest ? size : rest;
        memcpy(copier->stage + copier->staged, from, part);
        copier->staged += part;
        if (copier->staged == copier->room)
            write_stage(copier);
    }
}

void pe_copier_done(pe_copier *copier)
{
    if (!copier->kernel)
        return;
    write_stage(copier);
    copier->kernel->fence();
}
