/* What every harness needs. A harness is one file tests/fuzz/NAME.c with one function that
 * takes any bytes and aborts where a property does not hold; its corpus is corpus/NAME/.
 * libFuzzer runs it (`make fuzz`), and so does replay.c (`make fuzz-corpus`). */
#ifndef FUZZ_H
#define FUZZ_H

#include "posenc.h"

#include <stdio.h>
#include <stdlib.h>

/* The harness; 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property: what follows the condition is a printf format of what does not hold. */
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

/* A copy in a block of its own, one byte more than `size` for a NUL, so that the sanitizer sees
 * every look behind it. To be freed. */
char *fuzz_copy(const void *data, size_t size);

/* The same without the NUL. */
char *fuzz_exact(const void *data, size_t size);

/* Cut the next line off a text; "" at its end. */
char *fuzz_line(char **text);

/* Whether all of text[0, size) fits an extended regular expression, which is kept compiled:
 * patterns are string constants, a few dozen of them. */
bool fuzz_fits(const char *pattern, const char *text, size_t size);

/* Whether an error is as every error must be: a status, 1 … PE_PROBLEM_LIMIT problems in UTF-8.
 */
void fuzz_check_error(const pe_error *error);

/* ---- requests ---- */

/* Small, and with one stored set, "set". */
extern const pe_limits FUZZ_LIMITS;

/* The scheme of a name such as "rope" or "similarity/rope", NULL if there is none. */
const pe_scheme *fuzz_scheme(const char *name);

/* The key of a request, to be freed; NULL if it was refused, with reterr filled. */
char *fuzz_key(const pe_scheme *scheme, const pe_argument *arguments, size_t count,
               pe_error *reterr);

/* name=value&… with every byte of names and values percent-encoded. To be freed. */
char *fuzz_encode_query(const pe_argument *arguments, size_t count);

/* A safetensors file: header and data. To be freed. */
char *fuzz_safetensors(const char *header, size_t header_size, const void *data,
                       size_t data_size, size_t *ret_size);

#endif
