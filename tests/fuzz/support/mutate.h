/* Random mutations of inputs, for replay.c. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_INPUT_MAX 16384

typedef struct fuzz_input {
    uint8_t *data;
    size_t size;
} fuzz_input;

/* Write a mutation of inputs[index] to `dst`, which has room for FUZZ_INPUT_MAX bytes, and
 * return its size. It has one to four changes, which `state`, the state of a random generator,
 * decides; some take pieces of the other inputs. */
size_t fuzz_mutate(uint64_t *state, const fuzz_input *inputs, size_t count, size_t index,
                   uint8_t *dst);

#endif
