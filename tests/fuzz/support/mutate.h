/* Random changes of inputs, for replay.c. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_INPUT_MAX 16384

typedef struct fuzz_input {
    uint8_t *data;
    size_t size;
} fuzz_input;

/* Write input `at` of a corpus with one to four changes to `dst`, which has room for
 * FUZZ_INPUT_MAX bytes; returns the size. The state decides which, and moves on. */
size_t fuzz_mutate(uint64_t *state, const fuzz_input *inputs, size_t count, size_t at,
                   uint8_t *dst);

#endif
