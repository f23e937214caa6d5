/* Tests of views: elements are the same whatever their order, byte order and type. */
#include "foreign/repeats.h"

#include "held.h"
#include "unit.h"

#include <string.h>

START_TEST(rows_are_read_in_row_major_and_in_fortran_order)
{
    float data[24];
    double values[24];
    const uint64_t shape[] = {2, 3, 4};
    for (int i = 0; i < 24; i++)
        data[i] = (float)i;
    unit_held table;
    unit_hold(&table, data, PE_ELEMENT_F32, 3, shape);
    const pe_view view = table.view;
    ck_assert_uint_eq(pe_view_elements(&view), 24);
    ck_assert(pe_view_read(&view, 1, 1, values));
    for (int i = 0; i < 12; i++)
        unit_assert(values[i] == 12 + i);
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++) {
            const pe_view turned = pe_view_transposed(&view, a, b);
            ck_assert(pe_view_read(&turned, 0, turned.shape[0], values));
            for (uint64_t place = 0, i = 0; i < turned.shape[0]; i++)
                for (uint64_t j = 0; j < turned.shape[1]; j++)
                    for (uint64_t k = 0; k < turned.shape[2]; k++, place++)
                        unit_assert(values[place] ==
                                    (double)(i * turned.strides[0] + j * turned.strides[1] +
                                             k * turned.strides[2]));
        }
}
END_TEST

START_TEST(parts_and_indices_of_an_axis_are_views)
{
    int16_t data[30];
    double values[30];
    const uint64_t shape[] = {5, 1, 6};
    for (int16_t i = 0; i < 30; i++)
        data[i] = (int16_t)(i - 10);
    unit_held table;
    unit_hold(&table, data, PE_ELEMENT_I16, 3, shape);
    const pe_view flat = pe_view_squeezed(&table.view);
    ck_assert_uint_eq(flat.rank, 2);
    const pe_view part = pe_view_part(&flat, 1, 2, 3);
    ck_assert(pe_view_read(&part, 3, 2, values));
    for (int i = 0; i < 6; i++)
        unit_assert(values[i] == (3 + i / 3) * 6 + 2 + i % 3 - 10);
    const pe_view column = pe_view_at(&flat, 1, 5);
    ck_assert_uint_eq(column.rank, 1);
    ck_assert(pe_view_read(&column, 0, 5, values));
    for (int i = 0; i < 5; i++)
        unit_assert(values[i] == 6 * i + 5 - 10);
}
END_TEST

START_TEST(every_element_type_and_byte_order_has_its_value)
{
    static const struct {
        pe_element element;
        unsigned char bytes[8]; /* little-endian */
        double value;
    } CASES[] = {
        {PE_ELEMENT_F16, {0x00, 0xbe}, -1.5},
        {PE_ELEMENT_BF16, {0xc0, 0xbf}, -1.5},
        {PE_ELEMENT_F32, {0, 0, 0xc0, 0xbf}, -1.5},
        {PE_ELEMENT_F64, {0, 0, 0, 0, 0, 0, 0xf8, 0xbf}, -1.5},
        {PE_ELEMENT_I8, {0xfe}, -2},
        {PE_ELEMENT_U8, {0xfe}, 254},
        {PE_ELEMENT_I16, {0xfe, 0xff}, -2},
        {PE_ELEMENT_U16, {0xfe, 0xff}, 65534},
        {PE_ELEMENT_I32, {0xfe, 0xff, 0xff, 0xff}, -2},
        {PE_ELEMENT_U32, {0xfe, 0xff, 0xff, 0xff}, 4294967294.0},
        {PE_ELEMENT_I64, {0, 0, 0, 0, 1, 0, 0, 0}, 4294967296.0},
        {PE_ELEMENT_U64, {0, 0, 0, 0, 0, 0, 0, 0x80}, 0x1p63},
        {PE_ELEMENT_BOOL, {7}, 1},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        size_t size = pe_element_size(CASES[i].element);
        unsigned char plain[8], turned[8];
        const uint64_t shape[] = {1};
        double value = 0;
        for (size_t b = 0; b < size; b++)
            turned[b] = CASES[i].bytes[size - 1 - b];
        memcpy(plain, CASES[i].bytes, size);
        for (int swapped = 0; swapped < 2; swapped++) {
            unit_held element;
            unit_hold(&element, swapped ? turned : plain, CASES[i].element, 1, shape);
            element.view.swapped = swapped;
            ck_assert(pe_view_read(&element.view, 0, 1, &value));
            ck_assert_double_eq(value, CASES[i].value);
        }
    }
    ck_assert_str_eq(pe_element_name(PE_ELEMENT_U64), "u64");
}
END_TEST

START_TEST(a_source_that_ends_early_is_noticed)
{
    const uint64_t shape[] = {4, 4};
    float data[15] = {0};
    double values[16];
    unit_held table;
    unit_hold(&table, data, PE_ELEMENT_F32, 2, shape);
    table.size = sizeof data;
    pe_view view = table.view;
    ck_assert(pe_view_read(&view, 0, 3, values));
    ck_assert(!pe_view_read(&view, 0, 4, values));
    view = pe_view_transposed(&view, 0, 1);
    ck_assert(!pe_view_read(&view, 0, 4, values));
}
END_TEST

/* Index i of an axis has element i mod period, in runs; the least period is found, or the run.
 */
START_TEST(the_least_period_of_an_axis_is_found)
{
    unsigned char data[120];
    for (uint64_t extent = 1; extent <= sizeof data; extent++)
        for (uint64_t period = 1; period <= extent; period++) {
            unit_held table;
            unit_hold(&table, data, PE_ELEMENT_U8, 1, &extent);
            const pe_view view = table.view;
            pe_repeats found;
            bool constant;
            if (extent % period != 0)
                continue;
            for (uint64_t i = 0; i < extent; i++)
                data[i] = (unsigned char)(i % period);
            ck_assert(pe_repeats_find(&view, 0, &found));
            ck_assert(found.period == period && found.run == 1);
            ck_assert(pe_repeats_are_constant(&view, 0, &constant));
            ck_assert(constant == (period == 1));
            data[extent - 1]++; /* the last index alone is another one, of few or of many */
            ck_assert(pe_repeats_find(&view, 0, &found));
            ck_assert(found.period == extent || (found.differing == 1 && extent > 16));
            for (uint64_t i = 0; i < extent; i++)
                data[i] = (unsigned char)(i / period);
            ck_assert(pe_repeats_find(&view, 0, &found));
            ck_assert(found.period == (period == extent ? 1 : extent));
            ck_assert(found.run == (period == extent ? 1 : period));
        }
}
END_TEST

Suite *view_suite(void)
{
    const TTest *const tests[] = {
        rows_are_read_in_row_major_and_in_fortran_order,
        parts_and_indices_of_an_axis_are_views,
        every_element_type_and_byte_order_has_its_value,
        a_source_that_ends_early_is_noticed,
        the_least_period_of_an_axis_is_found,
        NULL,
    };
    return unit_suite("view", tests);
}
