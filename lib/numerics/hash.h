/* Hashes of bytes: 64-bit FNV-1a. */
#ifndef PE_HASH_H
#define PE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t pe_hash_bytes(const char *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
    return hash;
}

#endif
