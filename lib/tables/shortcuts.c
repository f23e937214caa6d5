/* The hash table of shortcuts. */
#include "tables/shortcuts.h"

#include <stdlib.h>
#include <string.h>

uint64_t pe_hash_text(const char *text, size_t length)
{
    uint64_t hash = length, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, text, length);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

pe_shortcut *pe_shortcuts_find(pe_shortcut *const *slots, const char *text, size_t length)
{
    uint64_t hash = pe_hash_text(text, length);
    pe_shortcut *shortcut = slots[hash & (PE_SHORTCUT_SLOTS - 1)];
    bool same = shortcut && shortcut->hash == hash && shortcut->length == length &&
                memcmp(shortcut->text, text, length) == 0;
    return same ? shortcut : NULL;
}

/* Take a shortcut out of its slot and its entry's list, and free it. */
static void delete_shortcut(pe_shortcut **slots, pe_shortcut *shortcut)
{
    pe_shortcut **link = &shortcut->entry->shortcuts;
    while (*link != shortcut)
        link = &(*link)->next;
    *link = shortcut->next;
    slots[shortcut->slot] = NULL;
    free(shortcut);
}

void pe_shortcuts_add(pe_shortcut **slots, pe_entry *entry, void *object, const char *text,
                      size_t length)
{
    if (length > PE_SHORTCUT_TEXT_MAX)
        return;
    pe_shortcut *shortcut = malloc(sizeof *shortcut + length);
    if (!shortcut)
        return;
    uint64_t hash = pe_hash_text(text, length);
    size_t slot = hash & (PE_SHORTCUT_SLOTS - 1);
    if (slots[slot])
        delete_shortcut(slots, slots[slot]);
    *shortcut = (pe_shortcut){.entry = entry,
                              .next = entry->shortcuts,
                              .object = object,
                              .hash = hash,
                              .slot = slot,
                              .length = length};
    memcpy(shortcut->text, text, length);
    slots[slot] = shortcut;
    entry->shortcuts = shortcut;
}

void pe_shortcuts_remove(pe_shortcut **slots, pe_entry *entry)
{
    while (entry->shortcuts)
        delete_shortcut(slots, entry->shortcuts);
}
