/* Tests of the similarity of positions: parameters, streams, refusals, overflow, limits, keys,
 * and failing allocations. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Element (0, j). */
static double first_row(const pe_table *table, size_t j)
{
    const pe_tensor *tensor = pe_table_tensor(table, 0);
    const unsigned char *data = pe_table_data(table, 0);
    return unit_element(tensor->dtype, data + j * pe_dtype_size(tensor->dtype));
}

/* ---- parameters ---- */

START_TEST(every_similarity_takes_what_its_scheme_takes_and_metric_and_rows)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *base = pe_scheme_describe(pe_scheme_at(s));
        const pe_scheme_info *info = pe_scheme_describe(pe_similarity_find(base->name));
        size_t count = base->parameter_count;
        ck_assert_str_eq(info->similarity_of, base->name);
        ck_assert_uint_eq(info->parameter_count, count + 2);
        for (size_t i = 0; i < count; i++)
            ck_assert_mem_eq(&info->parameters[i], &base->parameters[i], sizeof(pe_parameter));
        ck_assert_str_eq(info->parameters[count].name, "metric");
        ck_assert_str_eq(info->parameters[count + 1].name, "rows");
    }
}
END_TEST

/* ---- windows ---- */

START_TEST(a_stream_has_the_bytes_of_the_matrix)
{
    static const char *const QUERIES[] = {
        "length=303&dim=18&metric=l2", "length=303&dim=18&metric=pearson&dtype=f64",
        "length=303&dim=18&metric=cosine&dtype=bf16",
        "length=303&dim=18&metric=dot&dtype=f16&rows=5,0,302,7,7,7,1"};
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        pe_table *table = unit_table("similarity/sinusoidal", QUERIES[i]);
        pe_request *request;
        pe_stream *stream;
        pe_error error;
        ck_assert_int_eq(
            unit_request("similarity/sinusoidal", QUERIES[i], &UNIT_LIMITS, &request, &error),
            PE_OK);
        ck_assert_int_eq(pe_stream_new(request, 0, 10000, NULL, &stream, &error), PE_OK);
        uint64_t size = pe_stream_size(stream), random = 3;
        ck_assert_uint_eq(size, pe_table_tensor(table, 0)->bytes);
        unsigned char part[9000];
        for (uint64_t at = 0, got; at < size; at += got) {
            got = pe_stream_read(stream, at, part, 1 + unit_random(&random) % sizeof part);
            ck_assert_mem_eq(part, (const unsigned char *)pe_table_data(table, 0) + at, got);
        }
        pe_stream_free(stream);
        pe_request_unref(request);
        pe_table_unref(table);
    }
}
END_TEST

/* ---- refusals ---- */

START_TEST(tables_that_cannot_be_compared_are_refused)
{
    unit_misses("similarity/sinusoidal", "length=4&dim=8", "metric");
    unit_refuses("similarity/sinusoidal", "length=4&dim=8&metric=euclid", PE_MALFORMED,
                 "metric", "l2");
    unit_refuses("similarity/sinusoidal", "length=4&dim=8&metric=l2&rows=0,4", PE_OUT_OF_RANGE,
                 "rows", "from 0 to 3");
    unit_refuses("similarity/sinusoidal", "length=4&dim=8&metric=l2&rows=-1", PE_OUT_OF_RANGE,
                 "rows", "from 0 to");
    unit_refuses("similarity/sinusoidal", "length=4&dim=8&metric=l2&rows=1.5", PE_MALFORMED,
                 "rows", "integers");
    unit_refuses("similarity/rotation_matrix", "length=4&dim=8&metric=l2", PE_OUT_OF_RANGE,
                 "scheme", "3 axes");
    unit_refuses("similarity/relative_sinusoidal", "length=4&dim=8&metric=l2", PE_OUT_OF_RANGE,
                 "scheme", "3 axes");
    unit_refuses("similarity/deberta", "length=4&dim=8&metric=l2", PE_OUT_OF_RANGE, "scheme",
                 "not real");
    unit_refuses("similarity/sinusoidal", "length=4&dim=7&metric=l2", PE_OUT_OF_RANGE, "dim",
                 "odd_dim");
    ck_assert_ptr_null(pe_similarity_find("cosine"));
    ck_assert_ptr_null(pe_similarity_find("sinusoidal_similarity"));
    pe_table_unref(
        unit_table("similarity/relative_sinusoidal", "length=4&dim=8&metric=l2&form=compact"));
}
END_TEST

/* Fail unless the preparation of the table ends with a problem that names the dtype. */
static void overflows(const char *scheme, const char *query)
{
    pe_request *request;
    pe_table *table = NULL;
    pe_error error;
    ck_assert_int_eq(unit_request(scheme, query, &UNIT_LIMITS, &request, &error), PE_OK);
    ck_assert_msg(pe_table_compute(request, NULL, &table, &error) == PE_OUT_OF_RANGE, "%s",
                  query);
    ck_assert_msg(unit_error_names(&error, "dtype"), "%s", error.problems[0].parameter);
    pe_request_unref(request);
}

START_TEST(values_that_a_dtype_does_not_hold_are_refused)
{
    overflows("similarity/integer", "positions=0,65520&metric=l1&dtype=f16");
    overflows("similarity/integer", "positions=-256,256&metric=dot&dtype=f16");
    overflows("similarity/integer", "positions=0,3,70000&rows=2&metric=l2&dtype=f16");
    overflows("similarity/sinusoidal", "length=4&dim=2&amplitude=1e30&metric=dot&dtype=f32");
    overflows("similarity/sinusoidal", "length=4&dim=2&amplitude=1e30&metric=dot&dtype=bf16");
    static const char *const HELD[] = {"positions=0,65519&metric=l1&dtype=f16",
                                       "positions=-255,255&metric=dot&dtype=f16",
                                       "positions=0,3,70000&rows=0&metric=dot&dtype=f16",
                                       "positions=60000,60001&metric=l2&dtype=f16",
                                       "positions=1,1e15&metric=cosine&dtype=f16"};
    for (size_t i = 0; i < UNIT_COUNT(HELD); i++) {
        pe_table *table = unit_table("similarity/integer", HELD[i]);
        ck_assert(isfinite(first_row(table, 1)));
        pe_table_unref(table);
    }
}
END_TEST

/* A pe_runner.go_on that cancels after as many calls as the context says. */
static bool go_on_for(void *context, const pe_scheme *scheme, double done)
{
    (void)scheme, (void)done;
    return (*(int *)context)-- > 0;
}

START_TEST(a_matrix_that_is_cancelled_ends_in_an_error)
{
    pe_request *request;
    pe_table *table;
    pe_error error;
    int times = 0;
    pe_runner runner = {.context = &times, .go_on = go_on_for};
    ck_assert_int_eq(unit_request("similarity/sinusoidal", "length=64&dim=8&metric=l2",
                                  &UNIT_LIMITS, &request, &error),
                     PE_OK);
    ck_assert_int_eq(pe_table_compute(request, &runner, &table, &error), PE_CANCELLED);
    times = 1000000;
    ck_assert_int_eq(pe_table_compute(request, &runner, &table, &error), PE_OK);
    pe_table_unref(table);
    pe_request_unref(request);
}
END_TEST

START_TEST(a_table_that_cannot_be_held_is_refused_whatever_the_rows)
{
    const pe_limits limits = {1ULL << 40, 1 << 20, 1 << 20, NULL, NULL};
    pe_request *request;
    pe_error error;
    /* 16384 x 8 doubles are the megabyte */
    ck_assert_int_eq(unit_request("similarity/sinusoidal",
                                  "length=16384&dim=8&metric=l2&rows=0", &limits, &request,
                                  &error),
                     PE_OK);
    pe_request_unref(request);
    ck_assert_int_eq(unit_request("similarity/sinusoidal",
                                  "length=16385&dim=8&metric=l2&rows=0", &limits, &request,
                                  &error),
                     PE_TOO_LARGE);
    ck_assert(unit_error_names(&error, "length"));
    ck_assert_int_eq(unit_request("similarity/sinusoidal", "length=1e12&dim=8&metric=l2&rows=0",
                                  &limits, &request, &error),
                     PE_TOO_LARGE);
}
END_TEST

START_TEST(the_key_tells_a_similarity_from_its_table)
{
    static const char *const QUERIES[] = {
        "length=4&dim=8&metric=l2", "length=4&dim=8&metric=l1",
        "length=4&dim=8&metric=l2&rows=0,1,2,3", "length=4&dim=8&metric=l2&rows=1",
        "length=4&dim=8&metric=l2&dtype=f64"};
    pe_request *requests[UNIT_COUNT(QUERIES) + 1];
    pe_error error;
    size_t length;
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++)
        ck_assert_int_eq(unit_request("similarity/sinusoidal", QUERIES[i], &UNIT_LIMITS,
                                      &requests[i], &error),
                         PE_OK);
    requests[UNIT_COUNT(QUERIES)] = unit_legal_request("sinusoidal", "length=4&dim=8");
    for (size_t i = 0; i < UNIT_COUNT(requests); i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(pe_request_key(requests[i], &length),
                             pe_request_key(requests[j], &length));
    for (size_t i = 0; i < UNIT_COUNT(requests); i++)
        pe_request_unref(requests[i]);
}
END_TEST

START_TEST(without_memory_there_is_no_matrix)
{
    pe_request *request;
    pe_error error;
    ck_assert_int_eq(unit_request("similarity/sinusoidal", "length=30&dim=8&metric=pearson",
                                  &UNIT_LIMITS, &request, &error),
                     PE_OK);
    bool failed = true;
    for (size_t k = 0; failed; k++) {
        pe_table *table = NULL;
        unit_fail_allocations(k, 1);
        pe_status status = pe_table_compute(request, NULL, &table, &error);
        failed = unit_allow_allocations().failed > 0;
        ck_assert_int_eq(status, failed ? PE_NO_MEMORY : PE_OK);
        pe_table_unref(table);
    }
    pe_request_unref(request);
}
END_TEST

Suite *similarity_limits_suite(void)
{
    const TTest *const tests[] = {
        every_similarity_takes_what_its_scheme_takes_and_metric_and_rows,
        a_stream_has_the_bytes_of_the_matrix,
        tables_that_cannot_be_compared_are_refused,
        values_that_a_dtype_does_not_hold_are_refused,
        a_matrix_that_is_cancelled_ends_in_an_error,
        a_table_that_cannot_be_held_is_refused_whatever_the_rows,
        the_key_tells_a_similarity_from_its_table,
        without_memory_there_is_no_matrix,
        NULL};
    return unit_suite("similarity_limits", tests);
}
