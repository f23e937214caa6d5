#include "names.h"

#include <stdlib.h>
#include <string.h>

uint64_t pe_name_hash(const char *text, size_t length)
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

pe_name *pe_names_find(pe_name *const *slots, const char *text, size_t length)
{
    uint64_t hash = pe_name_hash(text, length);
    pe_name *name = slots[hash & (PE_NAME_SLOTS - 1)];
    bool same = name && name->hash == hash && name->length == length &&
                memcmp(name->text, text, length) == 0;
    return same ? name : NULL;
}

static void forget(pe_name **slots, pe_name *name)
{
    pe_name **at = &name->entry->names;
    while (*at != name)
        at = &(*at)->next;
    *at = name->next;
    slots[name->slot] = NULL;
    free(name);
}

void pe_names_add(pe_name **slots, pe_entry *entry, void *object, const char *text,
                  size_t length)
{
    pe_name *made = length <= PE_NAME_MAX ? malloc(sizeof *made + length) : NULL;
    if (!made)
        return;
    uint64_t hash = pe_name_hash(text, length);
    *made = (pe_name){.entry = entry,
                      .next = entry->names,
                      .object = object,
                      .hash = hash,
                      .slot = hash & (PE_NAME_SLOTS - 1),
                      .length = length};
    memcpy(made->text, text, length);
    if (slots[made->slot]) {
        forget(slots, slots[made->slot]);
        made->next = entry->names;
    }
    slots[made->slot] = made;
    entry->names = made;
}

void pe_names_forget(pe_name **slots, pe_entry *entry)
{
    while (entry->names)
        forget(slots, entry->names);
}
