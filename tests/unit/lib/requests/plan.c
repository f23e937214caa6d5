/* Plans: sizes of tensors, and limits that are met before memory is. */
#include "requests/plan.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

START_TEST(a_tensor_has_the_elements_of_its_shape_and_their_bytes)
{
    pe_plan plan = {.count = 0};
    pe_plan_add(&plan, "a", PE_F64, 2, (uint64_t[]){3, 5});
    pe_plan_add(&plan, "b", PE_I32, 4, (uint64_t[]){2, 3, 4, 5});
    pe_plan_add(&plan, "c", PE_F16, 1, (uint64_t[]){7});
    ck_assert_uint_eq(plan.count, 3);
    ck_assert_str_eq(plan.tensors[1].name, "b");
    ck_assert_uint_eq(plan.tensors[0].rows, 3);
    ck_assert_uint_eq(plan.tensors[1].rows, 2);
    ck_assert_uint_eq(plan.tensors[2].rows, 7);
    pe_plan_rows(&plan, 1);
    ck_assert_uint_eq(plan.tensors[2].rows, 7);
    ck_assert_uint_eq(plan.tensors[0].elements, 15);
    ck_assert_uint_eq(plan.tensors[0].bytes, 120);
    ck_assert_uint_eq(plan.tensors[1].elements, 120);
    ck_assert_uint_eq(plan.tensors[1].bytes, 480);
    ck_assert_uint_eq(plan.tensors[1].rank, 4);
    ck_assert_uint_eq(plan.tensors[1].shape[3], 5);
    ck_assert_uint_eq(plan.tensors[2].bytes, 14);
    pe_plan_add(&plan, "d", PE_I32, 4, (uint64_t[]){2, 3, 4, 5});
    pe_plan_rows(&plan, 3);
    ck_assert_uint_eq(plan.tensors[3].rows, 24);
}
END_TEST

START_TEST(a_product_beyond_64_bits_stays_over_every_limit)
{
    static const uint64_t SHAPES[][4] = {
        {1ULL << 53, 1ULL << 20, 1, 1},
        {1ULL << 32, 1ULL << 32, 1, 1},
        {1ULL << 32, 1ULL << 32, 1ULL << 32, 1ULL << 32},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {3, UINT64_MAX / 2, 5, 1},
        {1ULL << 61, 1, 1, 1},
        {1, 1, 1, UINT64_MAX},
    };
    for (size_t i = 0; i < UNIT_COUNT(SHAPES); i++) {
        pe_plan plan = {.count = 0};
        pe_plan_add(&plan, "a", PE_F64, 4, SHAPES[i]);
        ck_assert_uint_ge(plan.tensors[0].elements, 1ULL << 59);
        ck_assert_uint_ge(plan.tensors[0].bytes, plan.tensors[0].elements);
        for (size_t axis = 0; axis < 4; axis++)
            ck_assert_uint_eq(plan.tensors[0].shape[axis], SHAPES[i][axis]);
    }
}
END_TEST

/* Whether a request passes the limits; if not, `parameter` is named and the limit stated. */
static bool scheme_passes(const pe_scheme *scheme, const char *query, pe_limits limits,
                          const char *parameter)
{
    unit_query read = unit_query_of(query);
    pe_request *request = NULL;
    pe_error error;
    pe_status status =
        pe_request_new(scheme, read.arguments, read.count, &limits, &request, &error);
    unit_query_free(&read);
    if (status == PE_OK) {
        pe_request_unref(request);
        return true;
    }
    ck_assert_int_eq(error.status, PE_TOO_LARGE);
    ck_assert_uint_eq(error.count, 1);
    ck_assert_str_eq(error.problems[0].parameter, parameter);
    ck_assert_ptr_nonnull(strstr(error.problems[0].allowed, "at most"));
    ck_assert_str_ne(error.problems[0].given, "");
    return false;
}

static bool passes(const char *scheme, const char *query, pe_limits limits,
                   const char *parameter)
{
    return scheme_passes(pe_scheme_find(scheme), query, limits, parameter);
}

/* A scheme whose tables must be held. */
static pe_scheme held_scheme(void)
{
    pe_scheme held = *pe_scheme_find("sinusoidal_2d");
    held.streamable = false;
    return held;
}

START_TEST(the_element_limit_is_inclusive)
{
    static const struct {
        const char *scheme, *query, *parameter;
        uint64_t elements;
    } CASES[] = {
        {"integer", "length=100", "length", 100},
        {"integer", "positions=5,6,7", "positions", 3},
        {"sinusoidal", "length=10&dim=6", "length", 60},
        {"sinusoidal", "positions=1,2&dim=6&dtype=f64", "positions", 12},
        {"sinusoidal_2d", "height=3&width=5&dim=4", "height", 60},
        {"sinusoidal_2d", "height=3&width=5&dim=4&shape=nc&extra_tokens=2", "height", 68},
        {"binary", "length=8&width=3", "length", 24},
        {"normalized", "length=9&dtype=bf16", "length", 9},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_limits limits = {CASES[i].elements, 1 << 20, 100, NULL, NULL};
        ck_assert(passes(CASES[i].scheme, CASES[i].query, limits, CASES[i].parameter));
        limits.elements--;
        ck_assert(!passes(CASES[i].scheme, CASES[i].query, limits, CASES[i].parameter));
    }
}
END_TEST

/* So that a table which is too large is blamed on a parameter that the client gave. */
START_TEST(every_request_gives_a_parameter_that_counts_rows)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        pe_request *request = unit_legal_request(info->name, info->example);
        size_t counting = 0;
        for (size_t i = 0; i < info->parameter_count; i++)
            counting +=
                info->parameters[i].counts_rows && pe_request_value(request, i)->present;
        ck_assert_msg(counting > 0, "%s", info->name);
        pe_request_unref(request);
    }
}
END_TEST

START_TEST(the_byte_limit_counts_the_dtype)
{
    const pe_scheme held = held_scheme();
    static const struct {
        const char *dtype;
        uint64_t bytes;
    } CASES[] = {{"f32", 240}, {"f64", 480}, {"f16", 120}, {"bf16", 120}};
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        char query[100];
        snprintf(query, sizeof query, "height=5&width=3&dim=4&dtype=%s", CASES[i].dtype);
        pe_limits limits = {1 << 20, CASES[i].bytes, 100, NULL, NULL};
        ck_assert(scheme_passes(&held, query, limits, "height"));
        limits.table_bytes--;
        ck_assert(!scheme_passes(&held, query, limits, "height"));
        ck_assert(passes("sinusoidal_2d", query, limits, "height"));   /* would be streamed */
        ck_assert(passes("integer", "length=1000", limits, "length")); /* would be streamed */
    }
}
END_TEST

START_TEST(limits_are_for_all_tensors_together)
{
    pe_request *request = unit_legal_request("sinusoidal_2d", "height=1&width=1&dim=4");
    pe_value length = *pe_request_value(request, 0);
    pe_value items[16];
    pe_plan plan = {.count = 0};
    pe_error error;
    for (size_t i = 0; i < UNIT_COUNT(items); i++)
        items[i] = length;
    const pe_scheme held = held_scheme();
    pe_values values = {&held, items};
    for (int i = 0; i < 4; i++)
        pe_plan_add(&plan, "t", PE_F32, 1, (uint64_t[]){25});
    pe_limits limits = {100, 400, 1, NULL, NULL}, fewer = {99, 400, 1, NULL, NULL},
              less = {100, 399, 1, NULL, NULL};
    pe_error_init(&error);
    pe_plan_check(&plan, &values, &limits, &error);
    ck_assert_uint_eq(error.count, 0);
    pe_plan_check(&plan, &values, &fewer, &error);
    ck_assert_uint_eq(error.count, 1);
    pe_plan_check(&plan, &values, &less, &error);
    ck_assert_uint_eq(error.count, 2);
    ck_assert_int_eq(error.status, PE_TOO_LARGE);
    pe_request_unref(request);
}
END_TEST

START_TEST(the_list_limit_is_inclusive)
{
    pe_limits limits = {1 << 20, 1 << 20, 3, NULL, NULL};
    ck_assert(passes("integer", "positions=1,2,3", limits, "positions"));
    ck_assert(!passes("integer", "positions=1,2,3,4", limits, "positions"));
}
END_TEST

/* Nothing that grows with a tensor is allocated by checking its request. */
START_TEST(huge_tables_are_refused_before_memory)
{
    static const char *const QUERIES[][3] = {
        {"integer", "length=9007199254740992", "length"},
        {"normalized", "length=9007199254740992&dtype=f64", "length"},
        {"binary", "length=9007199254740992&width=64", "length"},
        {"periodic", "length=9007199254740992&dim=1048576", "length"},
        {"sinusoidal", "length=9007199254740992&dim=1048576&dtype=f64", "length"},
        {"sinusoidal", "length=1048576&dim=1048576", "length"},
        {"sinusoidal_2d", "height=16777216&width=16777216&dim=1048576", "height"},
    };
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        unit_query query = unit_query_of(QUERIES[i][1]);
        pe_request *request = NULL;
        pe_error error;
        unit_fail_allocations(0, 0);
        pe_status status = pe_request_new(pe_scheme_find(QUERIES[i][0]), query.arguments,
                                          query.count, &UNIT_LIMITS, &request, &error);
        unit_allocations seen = unit_allow_allocations();
        ck_assert_int_eq(status, PE_TOO_LARGE);
        ck_assert_str_eq(error.problems[0].parameter, QUERIES[i][2]);
        ck_assert_uint_le(seen.largest, 4096);
        unit_query_free(&query);
    }
}
END_TEST

START_TEST(a_legal_request_of_many_gigabytes_allocates_little)
{
    pe_limits limits = {1ULL << 50, 1ULL << 53, 1, NULL, NULL};
    unit_query query = unit_query_of("length=1048576&dim=1048576&dtype=f64");
    pe_request *request = NULL;
    pe_error error;
    unit_fail_allocations(0, 0);
    pe_request_new(pe_scheme_find("sinusoidal"), query.arguments, query.count, &limits,
                   &request, &error);
    unit_allocations seen = unit_allow_allocations();
    ck_assert_ptr_nonnull(request);
    ck_assert_uint_le(seen.largest, 4096);
    ck_assert_uint_eq(pe_request_bytes(request), 1ULL << 43);
    pe_request_unref(request);
    unit_query_free(&query);
}
END_TEST

START_TEST(values_that_overflow_the_dtype_name_it)
{
    static const char *const REFUSED[][2] = {
        {"integer", "length=1&offset=65520&dtype=f16"},
        {"integer", "length=1&offset=-65520&dtype=f16"},
        {"integer", "length=65521&dtype=f16"},
        {"integer", "length=2&step=-1e9&dtype=f16"},
        {"integer", "positions=1,70000,2&dtype=f16"},
        {"integer", "positions=1,-70000,2&dtype=f16"},
        {"sinusoidal", "length=1&dim=2&amplitude=65520&dtype=f16"},
        {"sinusoidal", "length=1&dim=2&amplitude=-1e30&dtype=f16"},
    };
    for (size_t i = 0; i < UNIT_COUNT(REFUSED); i++)
        unit_refuses(REFUSED[i][0], REFUSED[i][1], PE_OUT_OF_RANGE, "dtype", "65520");
    static const char *const LEGAL[][2] = {
        {"integer", "length=1&offset=65519.99999&dtype=f16"},
        {"integer", "length=65520&dtype=f16"},
        {"integer", "length=1&offset=9007199254740992&dtype=bf16"},
        {"integer", "length=1&offset=-9007199254740992&dtype=f32"},
        {"sinusoidal", "length=1&dim=2&amplitude=65519.99999&dtype=f16"},
        {"sinusoidal", "length=1&dim=2&amplitude=1e30&dtype=bf16"},
        {"binary", "length=1&offset=9007199254740992&width=54&dtype=f16"},
    };
    for (size_t i = 0; i < UNIT_COUNT(LEGAL); i++)
        pe_request_unref(unit_legal_request(LEGAL[i][0], LEGAL[i][1]));
}
END_TEST

START_TEST(a_request_knows_its_tensors_and_their_bytes)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        pe_request *request = unit_legal_request(info->name, info->example);
        uint64_t bytes = 0;
        for (size_t i = 0; i < pe_request_tensor_count(request); i++) {
            const pe_tensor *tensor = pe_request_tensor(request, i);
            uint64_t elements = 1;
            ck_assert(tensor->rank >= 1 && tensor->rank <= PE_RANK_MAX);
            for (size_t axis = 0; axis < tensor->rank; axis++)
                elements *= tensor->shape[axis];
            ck_assert_uint_eq(tensor->elements, elements);
            ck_assert_uint_eq(tensor->bytes, elements * pe_dtype_size(tensor->dtype));
            bytes += tensor->bytes;
        }
        ck_assert_uint_eq(pe_request_bytes(request), bytes);
        pe_request_unref(request);
    }
}
END_TEST

Suite *plan_suite(void)
{
    const TTest *const tests[] = {
        a_tensor_has_the_elements_of_its_shape_and_their_bytes,
        a_product_beyond_64_bits_stays_over_every_limit,
        the_element_limit_is_inclusive,
        every_request_gives_a_parameter_that_counts_rows,
        the_byte_limit_counts_the_dtype,
        limits_are_for_all_tensors_together,
        the_list_limit_is_inclusive,
        huge_tables_are_refused_before_memory,
        a_legal_request_of_many_gigabytes_allocates_little,
        values_that_overflow_the_dtype_name_it,
        a_request_knows_its_tensors_and_their_bytes,
        NULL,
    };
    return unit_suite("plan", tests);
}
