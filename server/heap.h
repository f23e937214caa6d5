/* The process's heap: kept while it is of use, returned where it has become mostly holes. */
#ifndef HEAP_H
#define HEAP_H

#include <stdint.h>

/* Choose how malloc works. Called once, before threads. */
void heap_set_up(void);

/* Return free memory to the system if much of it is resident. Takes microseconds, and where
 * there is something to return some milliseconds. */
void heap_trim(void);

/* Resident memory of the process in bytes, and that part of it that files stand behind; 0 where
 * the system does not tell. Needs no memory. */
uint64_t heap_resident(uint64_t *ret_of_files);

#endif
