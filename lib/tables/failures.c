/* A ring of entries that have failed. */
#include "tables/failures.h"

void pe_failures_add(pe_failures *failures, pe_entry *entry)
{
    if (entry->state == PE_ENTRY_ABANDONED || !entry->error)
        return;
    uint64_t number = atomic_fetch_add(&failures->count, 1);
    pe_entry **place = &failures->last[number % PE_FAILURES_KEPT];
    pe_entry_unref(*place);
    *place = pe_entry_ref(entry);
}

const pe_entry *pe_failures_find(const pe_failures *failures, const pe_request *request,
                                 uint64_t before)
{
    uint64_t count = atomic_load(&failures->count);
    uint64_t first = count > PE_FAILURES_KEPT ? count - PE_FAILURES_KEPT : 0;
    if (first < before)
        first = before;
    for (uint64_t number = count; number > first; number--) {
        const pe_entry *entry = failures->last[(number - 1) % PE_FAILURES_KEPT];
        if (pe_entry_serves(entry, request))
            return entry;
    }
    return NULL;
}

void pe_failures_done(pe_failures *failures)
{
    for (size_t i = 0; i < PE_FAILURES_KEPT; i++)
        pe_entry_unref(failures->last[i]);
}
