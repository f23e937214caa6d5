/* Mutations like those of libFuzzer, but determined by a seed. */
#include "mutate.h"

#include <string.h>

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t limit)
{
    return limit ? (size_t)(next(state) % limit) : 0;
}

/* Replace data[at, at + cut) by `size` bytes, unless the result would be too long. Returns the
 * new length. */
static size_t splice(uint8_t *data, size_t length, size_t at, size_t cut, const void *bytes,
                     size_t size)
{
    if (length - cut + size > FUZZ_INPUT_MAX)
        return length;
    memmove(data + at + size, data + at + cut, length - at - cut);
    memcpy(data + at, bytes, size);
    return length - cut + size;
}

/* The length of the word around position `at`, which is moved to the word's start. Words are
 * separated by punctuation. */
static size_t word_around(const uint8_t *data, size_t length, size_t *at)
{
    size_t end = *at;
    while (*at > 0 && strchr("&=?,:;\"\n/ ", data[*at - 1]) == NULL)
        (*at)--;
    while (end < length && strchr("&=?,:;\"\n/ ", data[end]) == NULL)
        end++;
    return end - *at;
}

/* Change the data in one of seven ways. Returns the new length. */
static size_t change_once(uint64_t *state, const fuzz_input *inputs, size_t count,
                          uint8_t *data, size_t length)
{
    static const char *const texts[] = {"0",    "-1",  "1e9",    "4096", "18446744073709551616",
                                        "0.5",  "-0",  "1e-320", "%00",  "%e2%82",
                                        "*",    "W/",  "\"",     ",",    "&",
                                        "=",    ";",   "q=0.5",  "{",    "]",
                                        "-",    "\\u", "\t",     "\r\n", "\xff",
                                        "1e400"};
    const fuzz_input *other = &inputs[below(state, count)];
    uint8_t piece[64], byte = (uint8_t)next(state);
    size_t at = below(state, length + 1), from = below(state, other->size + 1);
    size_t size = below(state, sizeof piece), cut = below(state, length - at + 1);
    const char *text = texts[below(state, sizeof texts / sizeof *texts)];
    size = size < other->size - from ? size : other->size - from;
    memcpy(piece, other->data + from, size);
    cut = cut < 32 ? cut : cut % 32;
    switch (below(state, 7)) {
    case 0: /* flip a bit */
        if (at < length)
            data[at] ^= (uint8_t)(1U << byte % 8);
        return length;
    case 1: /* replace or append a byte */
        return splice(data, length, at, at < length, &byte, 1);
    case 2: /* cut a piece out */
        return splice(data, length, at, cut, "", 0);
    case 3: /* insert one of the texts */
        return splice(data, length, at, 0, text, strlen(text));
    case 4: { /* replace a word by one of the texts */
        size_t word = word_around(data, length, &at);
        return splice(data, length, at, word, text, strlen(text));
    }
    case 5: /* insert a piece of another input */
        return splice(data, length, at, 0, piece, size);
    default: { /* replace a word by one of another input */
        size_t word = word_around(data, length, &at);
        size = word_around(other->data, other->size, &from);
        size = size < sizeof piece ? size : sizeof piece;
        memcpy(piece, other->data + from, size);
        return splice(data, length, at, word, piece, size);
    }
    }
}

size_t fuzz_mutate(uint64_t *state, const fuzz_input *inputs, size_t count, size_t index,
                   uint8_t *dst)
{
    size_t length = inputs[index].size;
    memcpy(dst, inputs[index].data, length);
    for (size_t changes = 1 + below(state, 4); changes > 0; changes--)
        length = change_once(state, inputs, count, dst, length);
    return length;
}
