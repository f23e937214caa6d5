/* Tests of tables whose numbers were rounded before they were stored: as elements of a shorter
 * format, as the shortest decimals of these, and to decimal places. */
#include "foreign/narrow_view.h"

#include "held.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    40
#define COLUMNS 25
#define COUNT   (ROWS * COLUMNS)

/* Numbers of every size up to 1: the sine of a row's angle, over powers of two and a half. */
static double pick_number(int i)
{
    return sin(i / COLUMNS + 0.1) * pow(2.5, -(i % COLUMNS));
}

static void hold_numbers(unit_held *ret_held, double *numbers)
{
    unit_hold(ret_held, numbers, PE_ELEMENT_F64, 2, (const uint64_t[]){ROWS, COLUMNS});
}

/* Round a number to a dtype; the element goes to `dst`. */
static void round_number(double number, pe_dtype dtype, void *dst)
{
    pe_write_row(dst, dtype, &number, 1);
}

START_TEST(shortest_decimals_of_elements_are_found_and_read_as_these)
{
    static const pe_dtype DTYPES[] = {PE_F32, PE_F16, PE_BF16};
    double numbers[COUNT], copy[COUNT];
    for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
        const size_t size = pe_dtype_size(DTYPES[d]);
        unsigned char elements[COUNT * sizeof(float)], found[sizeof elements];
        for (int i = 0; i < COUNT; i++) {
            char text[PE_PRINT_MAX];
            round_number(i == 3 ? -0.0 : pick_number(i), DTYPES[d], elements + i * (int)size);
            pe_print_element(text, DTYPES[d], elements + i * (int)size);
            numbers[i] = strtod(text, NULL);
        }
        memcpy(copy, numbers, sizeof copy);
        unit_held table;
        pe_narrow_view narrow;
        hold_numbers(&table, numbers);
        ck_assert(pe_narrow_view_find(&table.view, &narrow));
        ck_assert(narrow.dtype == DTYPES[d] && narrow.decimals);
        const pe_view view = pe_narrow_view_make(&narrow);
        ck_assert(pe_view_read_elements(&view, 0, ROWS, found));
        ck_assert_mem_eq(found, elements, COUNT * size);
        for (int i = COUNT / 2; i < COUNT; i++) /* more than a few numbers are none */
            copy[i] = nextafter(copy[i], 1);
        hold_numbers(&table, copy);
        ck_assert(!pe_narrow_view_find(&table.view, &narrow));
    }
}
END_TEST

START_TEST(bfloat16_decimals_in_float32_are_not_cut_off)
{
    float numbers[COUNT];
    uint16_t elements[COUNT], found[COUNT];
    for (int i = 0; i < COUNT; i++) {
        char text[PE_PRINT_MAX];
        round_number(pick_number(i), PE_BF16, &elements[i]);
        pe_print_element(text, PE_BF16, &elements[i]);
        numbers[i] = (float)strtod(text, NULL);
    }
    unit_held table;
    pe_narrow_view narrow;
    unit_hold(&table, numbers, PE_ELEMENT_F32, 2, (const uint64_t[]){ROWS, COLUMNS});
    ck_assert(pe_narrow_view_find(&table.view, &narrow));
    const pe_view view = pe_narrow_view_make(&narrow);
    ck_assert(pe_view_read_elements(&view, 0, ROWS, found));
    ck_assert_mem_eq(found, elements, sizeof elements);
}
END_TEST

START_TEST(elements_themselves_are_no_decimals)
{
    double numbers[COUNT];
    unit_held table;
    pe_narrow_view narrow;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (double)(float)pick_number(i);
    hold_numbers(&table, numbers);
    ck_assert(pe_narrow_view_find(&table.view, &narrow));
    ck_assert(narrow.dtype == PE_F32 && !narrow.decimals);
}
END_TEST

START_TEST(what_was_rounded_to_places_has_so_many_and_is_of_no_format)
{
    double numbers[COUNT];
    char text[64];
    for (int places = 1; places <= 9; places++) {
        unit_held table;
        pe_narrow_view narrow;
        int decimals;
        bool found;
        for (int i = 0; i < COUNT; i++) {
            snprintf(text, sizeof text, "%.*f", places, pick_number(i));
            numbers[i] = strtod(text, NULL);
        }
        numbers[1] = INFINITY;
        hold_numbers(&table, numbers);
        ck_assert(pe_view_find_decimals(&table.view, &decimals, &found));
        ck_assert_int_eq(found, places <= 8);
        if (found)
            ck_assert_int_eq(decimals, places);
        if (places > 4) /* fewer may be those of a bfloat16 or float16 */
            ck_assert(!pe_narrow_view_find(&table.view, &narrow));
    }
}
END_TEST

START_TEST(six_places_in_float32_are_found_and_seven_are_in_every_number)
{
    float numbers[COUNT];
    char text[64];
    for (int places = 6; places <= 7; places++) {
        unit_held table;
        int decimals;
        bool found;
        for (int i = 0; i < COUNT; i++) {
            snprintf(text, sizeof text, "%.*f", places, pick_number(i));
            numbers[i] = strtof(text, NULL);
        }
        unit_hold(&table, numbers, PE_ELEMENT_F32, 2, (const uint64_t[]){ROWS, COLUMNS});
        ck_assert(pe_view_find_decimals(&table.view, &decimals, &found));
        ck_assert_int_eq(found, places == 6);
    }
}
END_TEST

START_TEST(whole_numbers_and_binary_fractions_tell_nothing)
{
    double numbers[COUNT];
    unit_held table;
    pe_narrow_view narrow;
    int decimals;
    bool found;
    for (int divisor = 1; divisor <= 64; divisor *= 64) {
        for (int i = 0; i < COUNT; i++)
            numbers[i] = (double)i / divisor;
        hold_numbers(&table, numbers);
        ck_assert(pe_view_find_decimals(&table.view, &decimals, &found));
        ck_assert(!found);
        ck_assert(!pe_narrow_view_find(&table.view, &narrow) || !narrow.decimals);
    }
}
END_TEST

START_TEST(a_table_that_ends_early_and_lack_of_memory_are_noticed)
{
    double numbers[COUNT];
    unit_held table;
    int decimals;
    bool found;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i / 100.0;
    hold_numbers(&table, numbers);
    unit_fail_allocations(0, 1);
    const bool held = pe_view_find_decimals(&table.view, &decimals, &found);
    unit_allow_allocations();
    ck_assert(!held && !found);
    ck_assert(pe_view_find_decimals(&table.view, &decimals, &found) && found);
    table.size -= 1;
    ck_assert(!pe_view_find_decimals(&table.view, &decimals, &found) && !found);
}
END_TEST

Suite *narrow_view_suite(void)
{
    const TTest *const tests[] = {
        shortest_decimals_of_elements_are_found_and_read_as_these,
        bfloat16_decimals_in_float32_are_not_cut_off,
        elements_themselves_are_no_decimals,
        what_was_rounded_to_places_has_so_many_and_is_of_no_format,
        six_places_in_float32_are_found_and_seven_are_in_every_number,
        whole_numbers_and_binary_fractions_tell_nothing,
        a_table_that_ends_early_and_lack_of_memory_are_noticed,
        NULL,
    };
    return unit_suite("narrow_view", tests);
}
