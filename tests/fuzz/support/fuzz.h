/* What the harnesses share. A harness is one file, tests/fuzz/NAME.c, with one function that
 * takes any bytes and aborts if a property does not hold. Its corpus is in corpus/NAME/.
 * libFuzzer runs it (`make fuzz`), and so does replay.c (`make fuzz-corpus`). */
#ifndef FUZZ_H
#define FUZZ_H

#include "posenc.h"

#include <stdio.h>
#include <stdlib.h>

/* The harness. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Abort if a property does not hold. A printf format of what is wrong follows the condition. */
#define fuzz_check(condition, ...)                                                             \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: not %s: ", __FILE__, __LINE__, #condition);                \
            fprintf(stderr, __VA_ARGS__);                                                      \
            fputc('\n', stderr);                                                               \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

#define FUZZ_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Copy data to a block of `size` bytes and a NUL, so that the sanitizer sees every access
 * beyond it. To be freed. */
char *fuzz_copy(const void *data, size_t size);

/* The same without the NUL. */
char *fuzz_exact(const void *data, size_t size);

/* Cut the next line off a text and return it; "" at the end of the text. */
char *fuzz_line(char **text);

/* Whether an extended regular expression matches the whole of text[0, size). Patterns are kept
 * compiled by their addresses, so they must be constants, and at most a few dozen. */
bool fuzz_fits(const char *pattern, const char *text, size_t size);

/* Check what holds for every error: it has a status, and 1 to PE_PROBLEM_LIMIT problems in
 * UTF-8.
 */
void fuzz_check_error(const pe_error *error);

/* ---- requests ---- */

/* Small limits, and one set, "set". */
extern const pe_limits FUZZ_LIMITS;

/* The scheme with a name such as "rope" or "similarity/rope"; NULL if there is none. */
const pe_scheme *fuzz_scheme(const char *name);

/* The key of a request, to be freed. If the request is refused, returns NULL and fills reterr.
 */
char *fuzz_key(const pe_scheme *scheme, const pe_argument *arguments, size_t count,
               pe_error *reterr);

/* The query "name=value&…" with every byte of names and values percent-encoded. To be freed. */
char *fuzz_encode_query(const pe_argument *arguments, size_t count);

/* A safetensors file of a header and data. To be freed. */
char *fuzz_safetensors(const char *header, size_t header_size, const void *data,
                       size_t data_size, size_t *ret_size);

#endif
