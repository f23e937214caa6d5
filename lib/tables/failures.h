/* The last computations that failed, for requests that waited for them without blocking. The
 * cache calls these functions with its lock held. */
#ifndef PE_FAILURES_H
#define PE_FAILURES_H

#include "tables/entry.h"

#define PE_FAILURES_KEPT 16 /* some 9 KB each */

/* Initially all zero. */
typedef struct pe_failures {
    atomic_ullong count; /* of all so far; written with the lock held, read without */
    pe_entry *last[PE_FAILURES_KEPT]; /* failure n, from 0 on, is at n % PE_FAILURES_KEPT */
} pe_failures;

/* Keep an entry that has failed, with a reference to it; not one that was abandoned, or that
 * lacks its error. */
void pe_failures_add(pe_failures *failures, pe_entry *entry);

/* The last failure of an entry that would serve the request, of those that came after the first
 * `before` ones. NULL if there is none, or if it is no longer kept. Not a new reference. */
const pe_entry *pe_failures_find(const pe_failures *failures, const pe_request *request,
                                 uint64_t before);

/* Drop all references. */
void pe_failures_done(pe_failures *failures);

#endif
