/* Shortcuts to cache entries: a bounded table of texts, each of which leads to an entry's
 * attachment. The cache calls all of it with its lock held. */
#ifndef PE_NAMES_H
#define PE_NAMES_H

#include "entry.h"

#define PE_NAME_SLOTS 1024 /* a power of two: at most so many names, the last one of a slot */
#define PE_NAME_MAX   1024 /* bytes of a text; longer ones get no name */

typedef struct pe_name {
    pe_entry *entry;
    struct pe_name *next; /* of the same entry */
    void *object;
    uint64_t hash;
    size_t slot, length;
    char text[];
} pe_name;

/* A hash that is fast for texts of some ten bytes. */
uint64_t pe_name_hash(const char *text, size_t length);

/* The name of a text, NULL if there is none. */
pe_name *pe_names_find(pe_name *const *slots, const char *text, size_t length);

/* Let a text lead to an entry's object, if memory allows. */
void pe_names_add(pe_name **slots, pe_entry *entry, void *object, const char *text,
                  size_t length);

/* Forget the names of an entry. */
void pe_names_forget(pe_name **slots, pe_entry *entry);

#endif
