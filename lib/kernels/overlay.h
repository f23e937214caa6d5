/* Rows that are laid over each other. */
#ifndef PE_OVERLAY_H
#define PE_OVERLAY_H

#include <stddef.h>

/* Write `count` rows of `bytes` bytes, each the bitwise or of a row of `a` and one of `b`. Rows
 * follow each other at the given distances in bytes. */
typedef void pe_overlay(const unsigned char *a, size_t a_stride, const unsigned char *b,
                        size_t b_stride, size_t count, size_t bytes, unsigned char *dst,
                        size_t dst_stride);

#endif
