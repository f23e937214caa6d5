/* Tests of matrices with their columns in another order: every way to read them gives the same
 * elements. */
#include "foreign/ordered_view.h"

#include "held.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define ROWS    5
#define COLUMNS 7

static const uint16_t ORDER[COLUMNS] = {6, 0, 3, 1, 5, 2, 4};

START_TEST(rows_parts_columns_and_transposed_views_have_ordered_columns)
{
    float data[ROWS * COLUMNS];
    double values[ROWS * COLUMNS];
    pe_ordered_view ordered;
    pe_view view;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[i] = (float)i;
    unit_held table;
    unit_hold(&table, data, PE_ELEMENT_F32, 2, (const uint64_t[]){ROWS, COLUMNS});
    ck_assert(pe_ordered_view_init(&ordered, &table.view, ORDER, &view));
    ck_assert(pe_view_read(&view, 0, ROWS, values));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        unit_assert(values[i] == i / COLUMNS * COLUMNS + ORDER[i % COLUMNS]);
    const pe_view part = pe_view_part(&view, 1, 2, 3), column = pe_view_at(&view, 1, 4);
    ck_assert(pe_view_read(&part, 1, 2, values));
    for (int i = 0; i < 6; i++)
        unit_assert(values[i] == (1 + i / 3) * COLUMNS + ORDER[2 + i % 3]);
    ck_assert(pe_view_read(&column, 0, ROWS, values));
    for (int i = 0; i < ROWS; i++)
        unit_assert(values[i] == i * COLUMNS + ORDER[4]);
    const pe_view turned = pe_view_transposed(&view, 0, 1);
    ck_assert(pe_view_read(&turned, 0, COLUMNS, values));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        unit_assert(values[i] == i % ROWS * COLUMNS + ORDER[i / ROWS]);
    pe_ordered_view_done(&ordered);
}
END_TEST

START_TEST(every_size_of_element_order_of_bytes_and_axes_is_read)
{
    unsigned char data[8 * ROWS * COLUMNS], found[sizeof data], expected[sizeof data];
    static const pe_element ELEMENTS[] = {PE_ELEMENT_U8, PE_ELEMENT_F16, PE_ELEMENT_F32,
                                          PE_ELEMENT_F64};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(7 * i + 3);
    for (size_t e = 0; e < UNIT_COUNT(ELEMENTS); e++)
        for (int turned = 0; turned < 2; turned++) {
            const size_t size = pe_element_size(ELEMENTS[e]);
            const uint64_t shape[] = {turned ? COLUMNS : ROWS, turned ? ROWS : COLUMNS};
            unit_held table;
            unit_hold(&table, data, ELEMENTS[e], 2, shape);
            pe_view source = table.view;
            if (turned)
                source = pe_view_transposed(&source, 0, 1);
            source.swapped = true;
            pe_ordered_view ordered;
            pe_view view;
            ck_assert(pe_view_read_elements(&source, 0, ROWS, expected));
            ck_assert(pe_ordered_view_init(&ordered, &source, ORDER, &view));
            ck_assert(pe_view_read_elements(&view, 0, ROWS, found));
            for (size_t i = 0; i < ROWS * COLUMNS; i++)
                unit_assert(
                    memcmp(found + i * size,
                           expected + (i / COLUMNS * COLUMNS + ORDER[i % COLUMNS]) * size,
                           size) == 0);
            pe_ordered_view_done(&ordered);
        }
}
END_TEST

#define WIDE 4096

START_TEST(a_table_of_many_blocks_is_read_from_any_element_on)
{
    const size_t rows = 100, count = rows * WIDE;
    uint16_t order[WIDE];
    float *data = malloc(count * sizeof *data), *found = malloc(count * sizeof *found);
    unit_held table;
    unit_hold(&table, data, PE_ELEMENT_F32, 2, (const uint64_t[]){rows, WIDE});
    const pe_view source = table.view;
    pe_ordered_view ordered;
    pe_view view;
    ck_assert(data && found);
    for (size_t i = 0; i < count; i++)
        data[i] = (float)i;
    for (size_t c = 0; c < WIDE; c++)
        order[c] = (uint16_t)((c * 2731 + 5) % WIDE);
    ck_assert(pe_ordered_view_init(&ordered, &source, order, &view));
    for (size_t first = 0; first < count; first += 3 * WIDE + 1000) {
        const size_t many = count - first;
        ck_assert(view.read(view.context, first * sizeof *found, found, many * sizeof *found));
        for (size_t i = first; i < count; i++)
            unit_assert(found[i - first] == data[i / WIDE * WIDE + order[i % WIDE]]);
    }
    ck_assert(!view.read(view.context, (count - 1) * sizeof *found, found, 2 * sizeof *found));
    pe_ordered_view_done(&ordered);
    free(data);
    free(found);
}
END_TEST

START_TEST(a_source_that_ends_early_and_lack_of_memory_are_noticed)
{
    float data[3] = {0}, values[4];
    unit_held table;
    unit_hold(&table, data, PE_ELEMENT_F32, 2, (const uint64_t[]){2, 2});
    table.size = sizeof data;
    const pe_view source = table.view;
    const uint16_t order[] = {1, 0};
    pe_ordered_view ordered;
    pe_view view;
    ck_assert(pe_ordered_view_init(&ordered, &source, order, &view));
    ck_assert(pe_view_read_elements(&view, 0, 1, values));
    ck_assert(!pe_view_read_elements(&view, 0, 2, values));
    pe_ordered_view_done(&ordered);
    unit_fail_allocations(0, 1);
    const bool good = pe_ordered_view_init(&ordered, &source, order, &view);
    unit_allow_allocations();
    ck_assert(!good);
    pe_ordered_view_done(&ordered);
}
END_TEST

Suite *ordered_view_suite(void)
{
    const TTest *const tests[] = {
        rows_parts_columns_and_transposed_views_have_ordered_columns,
        every_size_of_element_order_of_bytes_and_axes_is_read,
        a_table_of_many_blocks_is_read_from_any_element_on,
        a_source_that_ends_early_and_lack_of_memory_are_noticed,
        NULL,
    };
    return unit_suite("ordered_view", tests);
}
