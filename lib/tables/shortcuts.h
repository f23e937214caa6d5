/* Shortcuts: texts that lead straight to an attachment of a cache entry. They are in a hash
 * table of fixed size, without chains: a new shortcut replaces the one in its slot. The cache
 * calls these functions with its lock held. */
#ifndef PE_SHORTCUTS_H
#define PE_SHORTCUTS_H

#include "tables/entry.h"

#define PE_SHORTCUT_SLOTS    1024 /* a power of two */
#define PE_SHORTCUT_TEXT_MAX 1024 /* bytes; longer texts get no shortcut */

typedef struct pe_shortcut {
    pe_entry *entry;
    struct pe_shortcut *next; /* another one of the same entry */
    void *object;
    uint64_t hash;
    size_t slot, length;
    char text[];
} pe_shortcut;

/* A hash that is fast for texts of some tens of bytes. */
uint64_t pe_hash_text(const char *text, size_t length);

/* The shortcut of a text, NULL if there is none. */
pe_shortcut *pe_shortcuts_find(pe_shortcut *const *slots, const char *text, size_t length);

/* Add a shortcut from a text to an object of an entry. Does nothing if the text is too long or
 * memory ran out. */
void pe_shortcuts_add(pe_shortcut **slots, pe_entry *entry, void *object, const char *text,
                      size_t length);

/* Remove all shortcuts of an entry. */
void pe_shortcuts_remove(pe_shortcut **slots, pe_entry *entry);

#endif
