/* Sets: their tensors, and requests that take values from them. */
#include "numerics/dtype.h"
#include "scheme.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A scheme with a table from a set, or seeded. */
typedef struct toy_state {
    uint64_t dim;
    const pe_set_tensor *table; /* NULL: seeded */
} toy_state;

/* A scheme with a table from a set, or seeded. */
static void read_toy(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    const pe_set *set = pe_values_set(values);
    toy_state *toy = ret_state;
    toy->table = set ? pe_set_tensor_find(set, "table") : NULL;
    toy->dim = (uint64_t)pe_get_integer(values, "dim");
    if (set && !toy->table)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "set", "", "a set with a tensor table");
    else
        pe_plan_add(plan, "toy", PE_F64, 2, (uint64_t[]){1, toy->dim});
}

static void fill_toy(const void *state, pe_window window, void *dst)
{
    (void)window;
    const toy_state *toy = state;
    for (uint64_t i = 0; i < toy->dim; i++)
        ((double *)dst)[i] = toy->table ? pe_set_element(toy->table, i) : (double)i;
}

static const pe_parameter TOY_PARAMETERS[] = {
    {.name = "dim",
     .type = PE_INTEGER,
     .required = true,
     .stored = "table",
     .stored_axis = 1,
     .minimum = 1,
     .maximum = 100},
    PE_TRAINED_PARAMETERS("table [rows, dim]"),
};

static const pe_scheme TOY = {
    .info = {.name = "toy", .revision = 1, PE_LIST(parameter, TOY_PARAMETERS)},
    .state_size = sizeof(toy_state),
    .read = read_toy,
    .fill = fill_toy,
};

static const char DIGEST[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static pe_set *table_set(const char *name)
{
    static const float ELEMENTS[] = {0.5f, -2, 3, 1e-45f, 5, 6};
    float *data = malloc(sizeof ELEMENTS);
    if (!data)
        return NULL;
    memcpy(data, ELEMENTS, sizeof ELEMENTS);
    const pe_set_tensor tensor = {{name, PE_F32, 2, {2, 3}, 6, 24, 2}, data};
    pe_set *set = pe_set_new(DIGEST, &tensor, 1, data);
    if (!set)
        free(data);
    return set;
}

/* Knows "good" and "other"; "full" finds no memory. */
static pe_status find_set(void *context, const char *name, pe_set **ret_set)
{
    (void)context;
    if (strcmp(name, "good") != 0 && strcmp(name, "other") != 0)
        return strcmp(name, "full") == 0 ? PE_NO_MEMORY : PE_OK;
    *ret_set = table_set(name[0] == 'g' ? "table" : "weights");
    return *ret_set ? PE_OK : PE_NO_MEMORY;
}

static const pe_sets SETS = {NULL, find_set};
static const pe_limits WITH_SETS = {1 << 20, 1 << 20, 100, &SETS, NULL};

static pe_status ask(const char *query, const pe_limits *limits, pe_request **ret_request,
                     pe_error *reterr)
{
    unit_query parsed = unit_query_of(query);
    pe_status status =
        pe_request_new(&TOY, parsed.arguments, parsed.count, limits, ret_request, reterr);
    unit_query_free(&parsed);
    return status;
}

static void refused(const char *query, const pe_limits *limits, pe_status status,
                    const char *parameter, const char *rule)
{
    pe_request *request = NULL;
    pe_error error;
    ck_assert_int_eq(ask(query, limits, &request, &error), status);
    ck_assert_ptr_null(request);
    const pe_problem *problem = unit_problem(&error, parameter);
    ck_assert_msg(problem != NULL, "%s: no problem names %s", query, parameter);
    ck_assert_msg(strstr(problem->allowed, rule) != NULL, "%s: %s", query, problem->allowed);
}

START_TEST(a_set_knows_its_tensors)
{
    pe_set *set = table_set("table");
    ck_assert_str_eq(pe_set_digest(set), DIGEST);
    ck_assert_uint_eq(pe_set_tensor_count(set), 1);
    ck_assert_ptr_eq(pe_set_tensor_find(set, "table"), pe_set_tensor_at(set, 0));
    ck_assert_ptr_null(pe_set_tensor_find(set, "tabl"));
    ck_assert(pe_set_element(pe_set_tensor_at(set, 0), 3) == 0x1p-149);
    pe_set_unref(pe_set_ref(set));
    ck_assert(pe_set_element(pe_set_tensor_at(set, 0), 1) == -2);
    pe_set_unref(set);
    pe_set_unref(NULL);
}
END_TEST

START_TEST(sixteen_bit_elements_have_their_values)
{
    for (unsigned bits = 0; bits < 65536; bits++) {
        uint16_t element = (uint16_t)bits;
        for (int f = 0; f < 2; f++) {
            pe_dtype dtype = f ? PE_F16 : PE_BF16;
            double got = pe_element_value(dtype, &element);
            double expected = unit_element(dtype, &element);
            unit_assert((isnan(got) && isnan(expected)) ||
                        (got == expected && signbit(got) == signbit(expected)));
        }
    }
}
END_TEST

START_TEST(extents_come_from_the_set)
{
    pe_request *request;
    pe_table *table;
    pe_error error;
    size_t length;
    ck_assert_int_eq(ask("set=good", &WITH_SETS, &request, &error), PE_OK);
    ck_assert_int_eq(pe_request_value(request, 0)->integer, 3);
    ck_assert_str_eq(pe_request_value(request, 1)->text, "good");
    ck_assert(!pe_request_value(request, 2)->present); /* the seed */
    ck_assert_ptr_nonnull(strstr(pe_request_key(request, &length), DIGEST));
    ck_assert_str_eq(pe_set_digest(pe_request_set(request)), DIGEST);
    ck_assert_int_eq(pe_table_compute(request, NULL, &table, &error), PE_OK);
    ck_assert(((const double *)pe_table_data(table, 0))[2] == 3);
    pe_table_unref(table);
    pe_request_unref(request);

    ck_assert_int_eq(ask("dim=3&set=good", &WITH_SETS, &request, &error), PE_OK);
    pe_request_unref(request);
    ck_assert_int_eq(ask("dim=4", &WITH_SETS, &request, &error), PE_OK);
    ck_assert_ptr_null(pe_request_set(request));
    ck_assert_int_eq(pe_request_value(request, 2)->integer, 0);
    pe_request_unref(request);
}
END_TEST

START_TEST(what_cannot_be_taken_from_a_set_is_refused)
{
    refused("dim=4&set=good", &WITH_SETS, PE_OUT_OF_RANGE, "dim",
            "3, the extent of tensor table");
    refused("set=goof", &WITH_SETS, PE_OUT_OF_RANGE, "set", "a set");
    refused("set=good", &UNIT_LIMITS, PE_OUT_OF_RANGE, "set", "a set");
    refused("set=full", &WITH_SETS, PE_NO_MEMORY, "set", "memory");
    refused("set=good&seed=1", &WITH_SETS, PE_OUT_OF_RANGE, "seed", "left out");
    refused("set=other&dim=3", &WITH_SETS, PE_OUT_OF_RANGE, "set", "table");
    refused("seed=1", &WITH_SETS, PE_MALFORMED, "dim", "an integer from 1 to 100");
}
END_TEST

/* Check that two queries are the same request. */
static void check_same(const char *first, const char *second)
{
    pe_request *one, *other;
    pe_error error;
    size_t length;
    ck_assert_int_eq(ask(first, &WITH_SETS, &one, &error), PE_OK);
    ck_assert_int_eq(ask(second, &WITH_SETS, &other, &error), PE_OK);
    ck_assert_str_eq(pe_request_key(one, &length), pe_request_key(other, &length));
    pe_request_unref(one);
    pe_request_unref(other);
}

START_TEST(a_set_is_also_known_by_the_parameters_old_name)
{
    check_same("parameters=good", "set=good");
    refused("parameters=good&set=good", &WITH_SETS, PE_MALFORMED, "set",
            "left out with parameters");
    refused("set=good&parameters=good", &WITH_SETS, PE_MALFORMED, "parameters",
            "left out with set");
    refused("parameters=good&parameters=good", &WITH_SETS, PE_MALFORMED, "parameters",
            "given once");
    refused("parameters=goof", &WITH_SETS, PE_OUT_OF_RANGE, "set", "a set");
}
END_TEST

START_TEST(a_request_survives_any_allocation_that_fails)
{
    for (size_t k = 0;; k++) {
        pe_request *request = NULL;
        pe_error error;
        unit_query query = unit_query_of("set=good");
        unit_fail_allocations(k, 1);
        pe_status status =
            pe_request_new(&TOY, query.arguments, query.count, &WITH_SETS, &request, &error);
        unit_allocations seen = unit_allow_allocations();
        unit_query_free(&query);
        pe_request_unref(request);
        if (!seen.failed)
            break;
        ck_assert_int_eq(status, PE_NO_MEMORY);
    }
}
END_TEST

Suite *stored_suite(void)
{
    const TTest *const tests[] = {a_set_knows_its_tensors,
                                  sixteen_bit_elements_have_their_values,
                                  extents_come_from_the_set,
                                  what_cannot_be_taken_from_a_set_is_refused,
                                  a_set_is_also_known_by_the_parameters_old_name,
                                  a_request_survives_any_allocation_that_fails,
                                  NULL};
    return unit_suite("stored", tests);
}
