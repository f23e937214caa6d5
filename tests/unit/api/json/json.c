/* JSON bodies: their numbers read back, in whatever kind of memory the text lies. */
#include "bytes/body.h"
#include "formats/registry.h"

#include "unit.h"

#include <jansson.h>
#include <string.h>

static api_body *write_json(const char *query, pe_table **ret_table, size_t *ret_bytes)
{
    pe_request *request = unit_legal_request("sinusoidal", query);
    *ret_table = unit_table("sinusoidal", query);
    api_selection selection = {.request = request, .count = 1};
    api_body *body = api_format_find("json")->write(&selection, *ret_table, ret_bytes);
    pe_request_unref(request);
    return body;
}

/* Check that every element of a table of f32 reads back from its JSON body. */
static void check_reads_back(const char *query, size_t rows, size_t columns)
{
    pe_table *table;
    size_t bytes;
    const api_segment *all;
    api_body *body = write_json(query, &table, &bytes);
    ck_assert_uint_eq(api_body_segments(body, &all), 1);
    ck_assert_uint_ge(bytes, all->size);
    ck_assert_uint_le(bytes, all->size + all->size / 16 + (2 << 20));
    json_t *document = json_loadb(all->data, all->size, 0, NULL);
    json_t *data =
        json_object_get(json_array_get(json_object_get(document, "tensors"), 0), "data");
    const float *expected = pe_table_data(table, 0);
    ck_assert_uint_eq(json_array_size(data), rows);
    for (size_t r = 0; r < rows; r++) {
        const json_t *row = json_array_get(data, r);
        unit_assert(json_array_size(row) == columns);
        for (size_t c = 0; c < columns; c++)
            unit_assert((float)json_real_value(json_array_get(row, c)) ==
                        expected[r * columns + c]);
    }
    json_decref(document);
    api_body_unref(body);
    pe_table_unref(table);
}

START_TEST(bodies_of_every_size_read_back)
{
    check_reads_back("length=1&dim=2", 1, 2);
    check_reads_back("length=70&dim=62", 70, 62);
    check_reads_back("length=3&dim=5000", 3, 5000);     /* rows that are printed in pieces */
    check_reads_back("length=3000&dim=128", 3000, 128); /* in a block of huge pages */
}
END_TEST

START_TEST(a_body_that_runs_out_of_memory_is_none)
{
    size_t failed = 1;
    for (size_t first = 0; failed > 0; first++) {
        pe_request *request = unit_legal_request("sinusoidal", "length=9&dim=4");
        pe_table *table = unit_table("sinusoidal", "length=9&dim=4");
        api_selection selection = {.request = request, .count = 1};
        size_t bytes;
        unit_fail_allocations(first, 1);
        api_body *body = api_format_find("json")->write(&selection, table, &bytes);
        unit_allocations happened = unit_allow_allocations();
        failed = happened.failed;
        /* the body may survive only if shrinking its text failed */
        ck_assert(body || failed);
        ck_assert(first > 0 || !body);
        api_body_unref(body);
        pe_table_unref(table);
        pe_request_unref(request);
    }
}
END_TEST

static void fill(api_text *text, size_t pieces)
{
    for (size_t i = 0; i < pieces; i++)
        api_text_put(text, "0123456789", 10);
}

START_TEST(a_text_grows_wherever_it_lies)
{
    static const size_t EXPECTED[] = {1, 25, PE_BUFFER_RECYCLED - 1, PE_BUFFER_RECYCLED};
    for (size_t i = 0; i < UNIT_COUNT(EXPECTED); i++) {
        api_text text;
        size_t bytes, pieces = 700000;
        const api_segment *all;
        api_text_begin(&text, NULL, EXPECTED[i]);
        ck_assert(text.block == (EXPECTED[i] >= PE_BUFFER_RECYCLED));
        fill(&text, pieces);
        api_body *body = api_body_take_text(&text, &bytes);
        ck_assert_ptr_null(text.data);
        ck_assert_uint_eq(api_body_segments(body, &all), 1);
        ck_assert_uint_eq(all->size, 10 * pieces);
        for (size_t p = 0; p < pieces; p++)
            unit_assert(memcmp((const char *)all->data + 10 * p, "0123456789", 10) == 0);
        api_body_unref(body);
    }
}
END_TEST

START_TEST(a_text_without_memory_fails_for_good)
{
    api_text text;
    size_t bytes;
    unit_fail_allocations(0, 1);
    api_text_begin(&text, NULL, 100);
    unit_allow_allocations();
    ck_assert(text.failed);
    fill(&text, 20);
    ck_assert_ptr_null(api_body_take_text(&text, &bytes));
    api_text_begin(&text, NULL, SIZE_MAX / 2); /* no block is as large */
    ck_assert(text.failed);
    ck_assert_ptr_null(api_body_take_text(&text, &bytes));
}
END_TEST

Suite *json_suite(void)
{
    const TTest *const tests[] = {
        bodies_of_every_size_read_back, a_body_that_runs_out_of_memory_is_none,
        a_text_grows_wherever_it_lies, a_text_without_memory_fails_for_good, NULL};
    return unit_suite("json", tests);
}
