/* The process's heap: kept while it is of use, returned where it has become mostly holes. */
#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>
#include <stdint.h>

/* Choose how malloc works. Called once, before threads. */
void heap_set_up(void);

/* Return free memory to the system if much of it is resident. Takes microseconds, and where
 * there is something to return some milliseconds. Always the same thread. */
void heap_trim(void);

/* Memory of the process in bytes; 0 where the system does not tell. */
typedef struct heap_figures {
    uint64_t mapped, resident;
    uint64_t of_files; /* the part of `resident` that files stand behind */
} heap_figures;
heap_figures heap_figures_now(void); /* needs no memory */

/* Read the beginning of a file into dst, ended by NUL: "" if there is none. Needs no memory. */
void heap_read_file(const char *path, char *dst, size_t size);

#endif
