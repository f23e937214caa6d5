/* What every unit test needs: check, requests from query text, and allocations that fail. */
#ifndef UNIT_H
#define UNIT_H

#include "posenc.h"

#include <check.h>

#define SUITE(name) Suite *name##_suite(void);
#include "suites.def"
#undef SUITE

/* Seconds that a test may take: what hangs is ended, and no busy machine is so slow. */
#define UNIT_PATIENCE 3600

/* A suite of one test case with the given tests, NULL-terminated, and a generous time limit. */
Suite *unit_suite(const char *name, const TTest *const *tests);

/* As ck_assert, which tells the parent process of every success: for loops of thousands. */
#define unit_assert(condition)                                                                 \
    do {                                                                                       \
        if (!(condition))                                                                      \
            ck_abort_msg("%s", "not " #condition);                                             \
    } while (0)

#define UNIT_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The next of a sequence of well-mixed 64-bit numbers (splitmix64); any state will do. */
uint64_t unit_random(uint64_t *state);

/* Where the numbers of this run begin: TEST_SEED, or another one each time. It is printed, so
 * that a failure can be repeated. */
uint64_t unit_seed(void);

/* Whether tests that draw samples shall draw many: THOROUGH is set. */
bool unit_thorough(void);

/* ---- requests ---- */

/* The limits that the tests use unless they test limits. */
extern const pe_limits UNIT_LIMITS;

/* A query such as "length=4&dim=8" as arguments; no decoding. */
typedef struct unit_query {
    char *text; /* what the arguments point into */
    pe_argument arguments[64];
    size_t count;
} unit_query;
unit_query unit_query_of(const char *text);
void unit_query_free(unit_query *query);

/* Whether a query gives a parameter. */
bool unit_query_gives(const char *text, const char *parameter);

/* A request for "scheme" or "similarity/scheme" and a query. */
pe_status unit_request(const char *scheme, const char *query, const pe_limits *limits,
                       pe_request **ret_request, pe_error *reterr);

/* The same, which must succeed; its table; its entry in a cache; its key, which the caller
 * frees. */
pe_request *unit_legal_request(const char *scheme, const char *query);
pe_table *unit_table(const char *scheme, const char *query);
pe_entry *unit_entry(pe_cache *cache, const char *scheme, const char *query);
char *unit_key(const char *scheme, const char *query);

/* Whether the first tensors of two queries begin with the same bytes. */
bool unit_begin_alike(const char *scheme, const char *query, const char *other, size_t bytes);

/* Fail the test unless the query is refused with this status and a problem that names the
 * parameter, whose rule contains `rule`. */
void unit_refuses(const char *scheme, const char *query, pe_status status,
                  const char *parameter, const char *rule);

/* Fail the test unless the query is malformed since this parameter is missing. */
void unit_misses(const char *scheme, const char *query, const char *parameter);

/* The first problem that names the parameter, NULL if there is none. */
const pe_problem *unit_problem(const pe_error *error, const char *parameter);

/* Whether some problem names the parameter. */
bool unit_error_names(const pe_error *error, const char *parameter);

/* Whether a scheme has a parameter of its own of that name. */
bool unit_scheme_takes(const pe_scheme_info *info, const char *parameter);

/* What a position-indexed scheme needs beside its positions, as "&name=value…". */
const char *unit_needs(const pe_scheme_info *info);

/* ---- element types, independent of the library ---- */

/* The value of a real element in native byte order. */
double unit_element(pe_dtype dtype, const void *element);

/* The value of the dtype nearest to a number, ties to even, as if exponents had no end. */
double unit_nearest(pe_dtype dtype, double number);

/* ---- allocations and mappings: those of the code under test, of its jansson and zlib, and of
 * check pass through lib/memory.c ---- */

/* From now on count this thread's allocations from 0, and let those from `first` to before
 * first + count fail. No ck_assert until unit_allow_allocations: check allocates too. */
void unit_fail_allocations(size_t first, size_t count);

typedef struct unit_allocations {
    size_t asked, failed, largest; /* largest: bytes of one allocation */
    size_t unmapped;               /* of those that failed: mappings */
} unit_allocations;

/* Let all succeed again; returns what happened since. */
unit_allocations unit_allow_allocations(void);

#endif
