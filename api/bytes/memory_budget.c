/* The budget of memory, and what the call of a thread has reserved in it. */
#include "bytes/memory_budget.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct api_memory {
    uint64_t limit;
    atomic_ullong reserved;
};

api_memory *api_memory_new(uint64_t limit)
{
    api_memory *memory = calloc(1, sizeof *memory);
    if (memory)
        memory->limit = limit;
    return memory;
}

void api_memory_free(api_memory *memory)
{
    free(memory);
}

bool api_memory_reserve(api_memory *memory, uint64_t bytes)
{
    unsigned long long reserved = atomic_load(&memory->reserved);
    do {
        if (reserved > memory->limit || bytes > memory->limit - reserved)
            return false;
    } while (!atomic_compare_exchange_weak(&memory->reserved, &reserved, reserved + bytes));
    return true;
}

void api_memory_add(api_memory *memory, uint64_t bytes)
{
    atomic_fetch_add(&memory->reserved, bytes);
}

void api_memory_release(api_memory *memory, uint64_t bytes)
{
    unsigned long long before = atomic_fetch_sub(&memory->reserved, bytes);
    assert(before >= bytes);
    (void)before;
}

uint64_t api_memory_reserved(api_memory *memory)
{
    return atomic_load(&memory->reserved);
}

uint64_t api_memory_limit(const api_memory *memory)
{
    return memory->limit;
}

/* ---- of one call ---- */

static _Thread_local struct {
    api_memory *memory; /* NULL: outside of a call, or any amount is fine */
    uint64_t bytes;     /* reserved in all */
    uint64_t lasting;   /* of these, what a body will take over */
} call;

void api_reserve_begin(api_memory *memory)
{
    call.memory = memory;
    call.bytes = call.lasting = 0;
}

void api_reserve_end(void)
{
    if (call.bytes > 0)
        api_memory_release(call.memory, call.bytes);
    call.memory = NULL;
    call.bytes = call.lasting = 0;
}

/* Add that there is no room, or with what the call holds never will be; returns false. */
static bool refuse_reservation(uint64_t bytes, const char *what, pe_error *reterr)
{
    uint64_t limit = api_memory_limit(call.memory);
    char given[48];
    if (bytes <= limit - call.bytes) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for %s", what);
        return false;
    }
    snprintf(given, sizeof given, "%llu bytes for %s", (unsigned long long)bytes, what);
    pe_error_add(reterr, PE_TOO_LARGE, "request", given,
                 "smaller: all requests together may hold %llu bytes, what memory-bytes leaves "
                 "them",
                 (unsigned long long)limit);
    return false;
}

bool api_reserve(uint64_t bytes, const char *what, pe_error *reterr)
{
    if (!call.memory)
        return true;
    if (!api_memory_reserve(call.memory, bytes))
        return refuse_reservation(bytes, what, reterr);
    call.bytes += bytes;
    return true;
}

bool api_reserve_lasting(uint64_t bytes, const char *what, pe_error *reterr)
{
    if (!api_reserve(bytes, what, reterr))
        return false;
    call.lasting += call.memory ? bytes : 0;
    return true;
}

api_share api_reserve_transfer(void)
{
    api_share share = {call.lasting > 0 ? call.memory : NULL, call.lasting};
    call.bytes -= call.lasting;
    call.lasting = 0;
    return share;
}

void api_share_release(api_share *share)
{
    if (share->memory)
        api_memory_release(share->memory, share->bytes);
    *share = (api_share){NULL, 0};
}
