/* The unit test runner and its helpers. */
#include "unit.h"

#include "numerics/expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const NAMES[] = {"format", "tensor", NULL};
const pe_limits UNIT_LIMITS = {1ULL << 36, 1ULL << 30, 1 << 20, NULL, NAMES};

Suite *unit_suite(const char *name, const TTest *const *tests)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, UNIT_PATIENCE);
    for (; *tests; tests++)
        tcase_add_test(tcase, *tests);
    suite_add_tcase(suite, tcase);
    return suite;
}

uint64_t unit_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

uint64_t unit_seed(void)
{
    const char *given = getenv("TEST_SEED");
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    uint64_t seed = (uint64_t)(now.tv_nsec ^ now.tv_sec);
    if (given)
        seed = strtoull(given, NULL, 10);
    printf("TEST_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

bool unit_thorough(void)
{
    return getenv("THOROUGH") != NULL;
}

/* ---- requests ---- */

unit_query unit_query_of(const char *text)
{
    unit_query query = {.text = strdup(text)};
    for (char *at = query.text; *at;) {
        char *pair = at, *next = strchr(at, '&');
        if (next)
            *next = '\0';
        at = next ? next + 1 : pair + strlen(pair);
        char *equals = strchr(pair, '=');
        unit_assert(equals != NULL);
        *equals = '\0';
        unit_assert(query.count < UNIT_COUNT(query.arguments));
        query.arguments[query.count++] = (pe_argument){.name = pair, .text = equals + 1};
    }
    return query;
}

void unit_query_free(unit_query *query)
{
    free(query->text);
}

bool unit_query_gives(const char *text, const char *parameter)
{
    unit_query query = unit_query_of(text);
    bool given = false;
    for (size_t i = 0; i < query.count; i++)
        given = given || strcmp(query.arguments[i].name, parameter) == 0;
    unit_query_free(&query);
    return given;
}

pe_status unit_request(const char *scheme, const char *query, const pe_limits *limits,
                       pe_request **ret_request, pe_error *reterr)
{
    static const char similarity[] = "similarity/";
    size_t prefix = sizeof similarity - 1;
    const pe_scheme *found = strncmp(scheme, similarity, prefix) == 0
                                 ? pe_similarity_find(scheme + prefix)
                                 : pe_scheme_find(scheme);
    if (!found)
        ck_abort_msg("there is no scheme %s", scheme);
    unit_query parsed = unit_query_of(query);
    pe_status status =
        pe_request_new(found, parsed.arguments, parsed.count, limits, ret_request, reterr);
    unit_query_free(&parsed);
    return status;
}

pe_request *unit_legal_request(const char *scheme, const char *query)
{
    pe_request *request;
    pe_error error;
    pe_status status = unit_request(scheme, query, &UNIT_LIMITS, &request, &error);
    if (status != PE_OK)
        ck_abort_msg("%s?%s: %s: %s", scheme, query, error.problems[0].parameter,
                     error.problems[0].allowed);
    return request;
}

pe_table *unit_table(const char *scheme, const char *query)
{
    pe_request *request = unit_legal_request(scheme, query);
    pe_table *table;
    pe_error error;
    unit_assert(pe_table_compute(request, NULL, &table, &error) == PE_OK);
    pe_request_unref(request);
    return table;
}

bool unit_begin_alike(const char *scheme, const char *query, const char *other, size_t bytes)
{
    pe_table *first = unit_table(scheme, query), *second = unit_table(scheme, other);
    bool alike = memcmp(pe_table_data(first, 0), pe_table_data(second, 0), bytes) == 0;
    pe_table_unref(first);
    pe_table_unref(second);
    return alike;
}

pe_entry *unit_entry(pe_cache *cache, const char *scheme, const char *query)
{
    pe_request *request = unit_legal_request(scheme, query);
    pe_entry *entry;
    pe_outcome outcome;
    pe_error error;
    ck_assert_int_eq(pe_cache_get(cache, request, &entry, &outcome, &error), PE_OK);
    pe_request_unref(request);
    return entry;
}

char *unit_key(const char *scheme, const char *query)
{
    pe_request *request = unit_legal_request(scheme, query);
    size_t length;
    char *key = strdup(pe_request_key(request, &length));
    unit_assert(length == strlen(key));
    pe_request_unref(request);
    return key;
}

void unit_refuses(const char *scheme, const char *query, pe_status status,
                  const char *parameter, const char *rule)
{
    pe_request *request = NULL;
    pe_error error;
    pe_status got = unit_request(scheme, query, &UNIT_LIMITS, &request, &error);
    ck_assert_msg(got != PE_OK, "%s?%s is not refused", scheme, query);
    ck_assert_ptr_null(request);
    ck_assert_int_eq(got, error.status);
    const pe_problem *problem = unit_problem(&error, parameter);
    ck_assert_msg(problem != NULL, "%s?%s names %s, not %s", scheme, query,
                  error.problems[0].parameter, parameter);
    ck_assert_msg(got == status && strstr(problem->allowed, rule), "%s?%s: %d: %s", scheme,
                  query, got, problem->allowed);
}

void unit_misses(const char *scheme, const char *query, const char *parameter)
{
    pe_request *request = NULL;
    pe_error error;
    ck_assert_int_eq(unit_request(scheme, query, &UNIT_LIMITS, &request, &error), PE_MALFORMED);
    const pe_problem *problem = unit_problem(&error, parameter);
    ck_assert_msg(problem && problem->reason == PE_REASON_MISSING, "%s?%s: %s", scheme, query,
                  problem ? problem->allowed : "nothing");
    ck_assert_str_eq(problem->given, "");
}

const pe_problem *unit_problem(const pe_error *error, const char *parameter)
{
    for (size_t i = 0; i < error->count; i++)
        if (strcmp(error->problems[i].parameter, parameter) == 0)
            return &error->problems[i];
    return NULL;
}

bool unit_error_names(const pe_error *error, const char *parameter)
{
    return unit_problem(error, parameter) != NULL;
}

const char *unit_needs(const pe_scheme_info *info)
{
    static const char *const NEEDS[][2] = {
        {"binary", "&width=54"},
        {"hierarchical", "&dim=4&base_length=20"},
        {"complex_order", "&dim=4&vocab=1"},
    };
    for (size_t i = 0; i < UNIT_COUNT(NEEDS); i++)
        if (strcmp(NEEDS[i][0], info->name) == 0)
            return NEEDS[i][1];
    return unit_scheme_takes(info, "dim") ? "&dim=4" : "";
}

bool unit_scheme_takes(const pe_scheme_info *info, const char *parameter)
{
    for (size_t i = 0; i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, parameter) == 0)
            return true;
    return false;
}

/* ---- element types ---- */

static const struct {
    int fraction_bits, least_exponent, bias; /* the smallest element is 2^least_exponent */
} FORMATS[PE_DTYPE_COUNT] = {
    [PE_F32] = {23, -149, 127},
    [PE_F64] = {52, -1074, 1023},
    [PE_F16] = {10, -24, 15},
    [PE_BF16] = {7, -133, 127},
};

double unit_element(pe_dtype dtype, const void *element)
{
    uint64_t bits = 0;
    uint32_t word;
    uint16_t half;
    int width = dtype == PE_F64 ? 64 : dtype == PE_F32 ? 32 : 16;
    if (width == 64)
        memcpy(&bits, element, sizeof bits);
    else if (width == 32)
        bits = *(uint32_t *)memcpy(&word, element, sizeof word);
    else
        bits = *(uint16_t *)memcpy(&half, element, sizeof half);
    int fraction_bits = FORMATS[dtype].fraction_bits;
    uint64_t fraction = bits & ((1ULL << fraction_bits) - 1);
    int most = (1 << (width - 1 - fraction_bits)) - 1;
    int exponent = (int)(bits >> fraction_bits) & most;
    double magnitude;
    if (exponent == most)
        magnitude = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexp((double)fraction, FORMATS[dtype].least_exponent);
    else
        magnitude = ldexp((double)(fraction | 1ULL << fraction_bits),
                          exponent - FORMATS[dtype].bias - fraction_bits);
    return bits >> (width - 1) ? -magnitude : magnitude;
}

double unit_nearest(pe_dtype dtype, double number)
{
    int exponent;
    frexp(number, &exponent);
    int last_place = exponent - 1 - FORMATS[dtype].fraction_bits;
    if (last_place < FORMATS[dtype].least_exponent)
        last_place = FORMATS[dtype].least_exponent;
    return ldexp(nearbyint(ldexp(number, -last_place)), last_place);
}

/* a program may have been linked with some of the suites; the others are NULL */
#define SUITE(name) Suite *name##_suite(void) __attribute__((weak));
#include "suites.def"
#undef SUITE

int main(int argc, char **argv)
{
    pe_expect_strictly = true;
    SRunner *runner = srunner_create(NULL);
    const char *only = argc > 1 ? argv[1] : NULL;
#define SUITE(name)                                                                            \
    if (name##_suite && (!only || strcmp(only, #name) == 0))                                   \
        srunner_add_suite(runner, name##_suite());
#include "suites.def"
#undef SUITE
    if (!only) /* tests leave things behind: only single suites may do with one process */
        srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), run = srunner_ntests_run(runner);
    srunner_free(runner);
    if (run == 0)
        fprintf(stderr, "no test is called so: suites.def names the suites\n");
    return failed || run == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
