/* Copies with non-temporal stores, which bypass the caches. Only kernel.c includes this. */
#ifndef PE_KERNEL_NONTEMPORAL_H
#define PE_KERNEL_NONTEMPORAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* A line of the caches. Part of one that is stored past them costs more than the whole one. */
#define LINE 64

/* Store a vector of PART_BYTES. */
#if defined(__AVX512F__)
#define PART_BYTES 64
#define STORE_PART(dst, src)                                                                   \
    _mm512_stream_si512((__m512i *)(void *)(dst), _mm512_loadu_si512((const void *)(src)))
#elif defined(__AVX__)
#define PART_BYTES 32
#define STORE_PART(dst, src)                                                                   \
    _mm256_stream_si256((__m256i *)(void *)(dst),                                              \
                        _mm256_loadu_si256((const __m256i *)(const void *)(src)))
#elif defined(__SSE2__)
#define PART_BYTES 16
#define STORE_PART(dst, src)                                                                   \
    _mm_stream_si128((__m128i *)(void *)(dst),                                                 \
                     _mm_loadu_si128((const __m128i *)(const void *)(src)))
#endif

/* Copy whole aligned lines with non-temporal stores, and the bytes before and after them with
 * memcpy. */
static inline void store_nontemporal(void *dst, const void *src, size_t size)
{
#if defined(PART_BYTES)
    unsigned char *to = dst;
    const unsigned char *from = src;
    size_t lead = (LINE - (uintptr_t)to % LINE) % LINE;
    lead = lead < size ? lead : size;
    if (lead > 0)
        memcpy(to, from, lead);
    to += lead;
    from += lead;
    size -= lead;
    for (; size >= LINE; to += LINE, from += LINE, size -= LINE)
        for (size_t at = 0; at < LINE; at += PART_BYTES)
            STORE_PART(to + at, from + at);
    if (size > 0)
        memcpy(to, from, size);
#else
    memcpy(dst, src, size);
#endif
}

/* Make the non-temporal stores of this thread visible before its later stores. */
static inline void fence(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#endif
