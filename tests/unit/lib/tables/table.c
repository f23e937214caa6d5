/* Tests of tables: alignment, headroom, reference counting, and their elements. */
#include "scheme.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* A scheme of three tensors of different dtypes; element e of tensor t is 100·t + e. */
static void read_three(const pe_values *values, void *ret_state, pe_plan *plan,
                       pe_error *reterr)
{
    (void)reterr;
    uint64_t length = (uint64_t)pe_get_integer(values, "length");
    *(const pe_plan **)ret_state = plan;
    pe_plan_add(plan, "first", PE_F32, 2, (uint64_t[]){length, 3});
    pe_plan_add(plan, "second", PE_I32, 1, (uint64_t[]){length});
    pe_plan_add(plan, "third", PE_F64, 2, (uint64_t[]){length, 1});
}

static void fill_three(const void *state, pe_window window, void *dst)
{
    const pe_plan *plan = *(const pe_plan *const *)state;
    const pe_tensor *tensor = &plan->tensors[window.tensor];
    ck_assert_uint_eq(window.first, 0);
    ck_assert_uint_eq(window.rows, tensor->shape[0]);
    for (uint64_t e = 0; e < tensor->elements; e++) {
        int value = (int)(100 * window.tensor + e);
        if (tensor->dtype == PE_I32)
            ((int32_t *)dst)[e] = value;
        else if (tensor->dtype == PE_F32)
            ((float *)dst)[e] = (float)value;
        else
            ((double *)dst)[e] = value;
    }
}

static const pe_parameter LENGTH[] = {
    {.name = "length", .type = PE_INTEGER, .required = true, .minimum = 1, .maximum = 1000}};

static const pe_scheme THREE = {
    .info = {.name = "three", .revision = 1, PE_LIST(parameter, LENGTH)},
    .state_size = sizeof(const pe_plan *),
    .read = read_three,
    .fill = fill_three,
};

static pe_table *three_tensors(const char *length)
{
    pe_argument argument = {"length", length, .kind = PE_KIND_ANY};
    pe_request *request;
    pe_table *table;
    pe_error error;
    ck_assert_int_eq(pe_request_new(&THREE, &argument, 1, &UNIT_LIMITS, &request, &error),
                     PE_OK);
    ck_assert_int_eq(pe_table_compute(request, NULL, &table, &error), PE_OK);
    pe_request_unref(request);
    return table;
}

static void check_values(const pe_table *table)
{
    for (size_t t = 0; t < 3; t++) {
        const pe_tensor *tensor = pe_table_tensor(table, t);
        const void *data = pe_table_data(table, t);
        for (uint64_t e = 0; e < tensor->elements; e++) {
            double value = tensor->dtype == PE_I32   ? ((const int32_t *)data)[e]
                           : tensor->dtype == PE_F32 ? (double)((const float *)data)[e]
                                                     : ((const double *)data)[e];
            unit_assert(value == (double)(100 * t + e));
        }
    }
}

START_TEST(every_tensor_is_filled_whole_and_once)
{
    static const char *const NAMES[] = {"first", "second", "third"};
    static const char *const LENGTHS[] = {"1", "5", "16", "17", "33"};
    for (size_t i = 0; i < UNIT_COUNT(LENGTHS); i++) {
        pe_table *table = three_tensors(LENGTHS[i]);
        ck_assert_uint_eq(pe_table_tensor_count(table), 3);
        for (size_t t = 0; t < 3; t++)
            ck_assert_str_eq(pe_table_tensor(table, t)->name, NAMES[t]);
        check_values(table);
        pe_table_unref(table);
    }
}
END_TEST

static void check_alignment(const pe_table *table)
{
    for (size_t t = 0; t < pe_table_tensor_count(table); t++)
        ck_assert_uint_eq((uintptr_t)pe_table_data(table, t) % 64, 0);
}

START_TEST(data_is_64_byte_aligned)
{
    static const char *const QUERIES[] = {"length=1", "length=7&dtype=f16", "length=100000",
                                          "length=33&dtype=f64"};
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        pe_table *table = unit_table("integer", QUERIES[i]);
        check_alignment(table);
        pe_table_unref(table);
    }
    pe_table *table = three_tensors("13");
    check_alignment(table);
    pe_table_unref(table);
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        table = unit_table(info->name, info->example);
        check_alignment(table);
        pe_table_unref(table);
    }
}
END_TEST

START_TEST(headroom_lies_right_before_the_data_and_is_free_to_write)
{
    for (int length = 1; length < 40; length += 6) {
        char text[8];
        ck_assert_int_gt(snprintf(text, sizeof text, "%d", length), 0);
        pe_table *table = three_tensors(text);
        for (size_t t = 0; t < 3; t++) {
            unsigned char *headroom = pe_table_headroom(table, t);
            ck_assert_ptr_eq(headroom + PE_TABLE_HEADROOM, pe_table_data(table, t));
            memset(headroom, 0xee, PE_TABLE_HEADROOM);
        }
        check_values(table);
        for (size_t t = 0; t < 3; t++) /* headrooms do not overlap either */
            for (size_t i = 0; i < PE_TABLE_HEADROOM; i++)
                unit_assert(pe_table_headroom(table, t)[i] == 0xee);
        pe_table_unref(table);
    }
}
END_TEST

START_TEST(the_footprint_covers_data_and_headroom)
{
    static const char *const LENGTHS[] = {"1", "64", "1000"};
    for (size_t i = 0; i < UNIT_COUNT(LENGTHS); i++) {
        pe_table *table = three_tensors(LENGTHS[i]);
        uint64_t least = 0;
        for (size_t t = 0; t < 3; t++)
            least += pe_table_tensor(table, t)->bytes + PE_TABLE_HEADROOM;
        ck_assert_uint_ge(pe_table_footprint(table), least);
        ck_assert_uint_le(pe_table_footprint(table), 2 * least + 4096);
        pe_table_unref(table);
    }
}
END_TEST

/* Compute one tensor of a request, and compare it with that of the whole table. */
static void check_chosen(const pe_scheme_info *info, const pe_table *whole, size_t tensor)
{
    pe_request *request = unit_legal_request(info->name, info->example);
    const double all = pe_request_price(request), first = pe_request_preparation_price(request);
    const pe_tensor *shape = pe_table_tensor(whole, tensor);
    pe_table *table;
    pe_error error;
    pe_request_choose(request, 1U << tensor);
    ck_assert_uint_eq(pe_request_bytes(request), shape->bytes);
    ck_assert_double_gt(pe_request_price(request), first);
    ck_assert_int_eq(pe_request_price(request) < all, pe_table_tensor_count(whole) > 1);
    ck_assert_int_eq(pe_table_compute(request, NULL, &table, &error), PE_OK);
    for (size_t t = 0; t < pe_table_tensor_count(table); t++)
        ck_assert_int_eq(pe_table_data(table, t) != NULL, t == tensor);
    ck_assert_str_eq(pe_table_tensor(table, tensor)->name, shape->name);
    ck_assert_msg(memcmp(pe_table_data(table, tensor), pe_table_data(whole, tensor),
                         (size_t)shape->bytes) == 0,
                  "%s: %s", info->name, shape->name);
    ck_assert_uint_le(pe_table_footprint(table), pe_table_footprint(whole));
    pe_table_unref(table);
    pe_request_unref(request);
}

START_TEST(a_tensor_that_is_chosen_is_computed_alone_with_the_same_bits)
{
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        pe_table *whole = unit_table(info->name, info->example);
        for (size_t t = 0; t < pe_table_tensor_count(whole); t++)
            check_chosen(info, whole, t);
        pe_table_unref(whole);
    }
}
END_TEST

START_TEST(a_table_outlives_its_request_and_lives_until_the_last_reference)
{
    pe_table *table = unit_table("sinusoidal", "length=4&dim=8"); /* the request is freed */
    ck_assert_ptr_eq(pe_table_ref(table), table);
    ck_assert_ptr_eq(pe_table_ref(table), table);
    pe_table_unref(table);
    pe_table_unref(table);
    const float *data = pe_table_data(table, 0);
    ck_assert_double_eq((double)data[1], 1);
    ck_assert_str_eq(pe_table_tensor(table, 0)->name, "encoding");
    pe_table_unref(table);
    pe_table_unref(NULL);
}
END_TEST

START_TEST(a_request_may_be_computed_again_and_again)
{
    pe_request *request = unit_legal_request("sinusoidal", "length=40&dim=34&dtype=f64");
    pe_table *first, *second;
    pe_error error;
    ck_assert_int_eq(pe_table_compute(request, NULL, &first, &error), PE_OK);
    ck_assert_uint_eq(error.count, 0);
    ck_assert_int_eq(pe_table_compute(request, NULL, &second, &error), PE_OK);
    ck_assert_ptr_ne(pe_table_data(first, 0), pe_table_data(second, 0));
    ck_assert_int_eq(memcmp(pe_table_data(first, 0), pe_table_data(second, 0),
                            pe_table_tensor(first, 0)->bytes),
                     0);
    pe_table_unref(first);
    pe_table_unref(second);
    pe_request_unref(request);
}
END_TEST

Suite *table_suite(void)
{
    const TTest *const tests[] = {
        every_tensor_is_filled_whole_and_once,
        data_is_64_byte_aligned,
        headroom_lies_right_before_the_data_and_is_free_to_write,
        the_footprint_covers_data_and_headroom,
        a_tensor_that_is_chosen_is_computed_alone_with_the_same_bits,
        a_table_outlives_its_request_and_lives_until_the_last_reference,
        a_request_may_be_computed_again_and_again,
        NULL,
    };
    return unit_suite("table", tests);
}
