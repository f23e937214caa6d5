/* Copying runs of bytes one after the other into a window of a table: past the caches if the
 * window is large. */
#ifndef PE_COPIER_H
#define PE_COPIER_H

#include <stddef.h>
#include <stdint.h>

#define PE_COPIER_STAGE 1024 /* bytes */

typedef struct pe_copier {
    const struct pe_kernel *kernel; /* NULL: plain copies */
    unsigned char *to;
    size_t staged,
        room; /* bytes that wait in the stage; its end, where `to` is aligned again */
    unsigned char stage[PE_COPIER_STAGE];
} pe_copier;

/* Begin at `dst`, where `bytes` bytes will be copied. */
void pe_copier_init(pe_copier *ret_copier, void *dst, uint64_t bytes);

/* Copy a run behind those before it. */
void pe_copier_add(pe_copier *copier, const void *run, size_t size);

/* Copy what is still staged. Must be called after the last run. */
void pe_copier_done(pe_copier *copier);

#endif
