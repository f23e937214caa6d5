/* Bits of integers as the elements 0 and 1: the inner loop of the binary encoding. */
#ifndef PE_BITS_H
#define PE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PE_BITS_SLACK 15 /* elements that a call may write past the last one */

/* Write `rows` rows of `width` <= 64 elements of `size` bytes: element c of row r is `one`, the
 * bits of 1, if the bit that stands for column c is set in key r, else 0. These are, with
 * falling = false, bit c; with falling = true the bits from the top of each byte down, the
 * lowest byte first. */
typedef void pe_spread_bits(const uint64_t *keys, size_t rows, size_t width, bool falling,
                            uint64_t one, size_t size, void *dst);

#endif
