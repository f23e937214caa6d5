/* What each scheme promises beyond its golden files: identities between entries and tables. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* Element `index` of the primary tensor. */
static double at(const pe_table *table, size_t index)
{
    pe_dtype dtype = pe_table_tensor(table, 0)->dtype;
    const unsigned char *data = pe_table_data(table, 0);
    return unit_element(dtype, data + index * pe_dtype_size(dtype));
}

static void check_shape(const pe_table *table, size_t rank, const uint64_t *shape)
{
    const pe_tensor *tensor = pe_table_tensor(table, 0);
    ck_assert_uint_eq(tensor->rank, rank);
    for (size_t axis = 0; axis < rank; axis++)
        ck_assert_uint_eq(tensor->shape[axis], shape[axis]);
}

/* ---- integer, normalized, binary ---- */

START_TEST(integers_are_their_positions_rounded_once)
{
    static const double OFFSETS[] = {0, -300, 60000, 16777000};
    for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
        for (size_t i = 0; i < UNIT_COUNT(OFFSETS); i++) {
            char query[100];
            snprintf(query, sizeof query, "length=500&offset=%.0f&dtype=%s", OFFSETS[i],
                     pe_dtype_name((pe_dtype)dtype));
            if (dtype == PE_F16 && OFFSETS[i] > 65519 - 500)
                continue;
            pe_table *table = unit_table("integer", query);
            check_shape(table, 2, (uint64_t[]){500, 1});
            for (size_t row = 0; row < 500; row++)
                unit_assert(at(table, row) ==
                            unit_nearest((pe_dtype)dtype, OFFSETS[i] + (double)row));
            pe_table_unref(table);
        }
    }
}
END_TEST

START_TEST(normalized_positions_go_from_0_to_1)
{
    static const size_t LENGTHS[] = {1, 2, 3, 7, 1000, 65537};
    for (size_t i = 0; i < UNIT_COUNT(LENGTHS); i++) {
        char query[100];
        size_t length = LENGTHS[i];
        snprintf(query, sizeof query, "length=%zu&dtype=f64", length);
        pe_table *table = unit_table("normalized", query);
        check_shape(table, 2, (uint64_t[]){length, 1});
        for (size_t row = 0; row < length; row++) /* a quotient of doubles is rounded once */
            if (at(table, row) != (length > 1 ? (double)row / (double)(length - 1) : 0))
                ck_abort_msg("row %zu of %zu: %a", row, length, at(table, row));
        pe_table_unref(table);
    }
}
END_TEST

START_TEST(binary_rows_spell_their_position)
{
    uint64_t state = 1;
    for (size_t i = 0; i < 200; i++) {
        uint64_t position = unit_random(&state) >> (11 + i % 53); /* below 2^53 */
        char query[100];
        size_t width = 64 - (size_t)__builtin_clzll(position | 1);
        snprintf(query, sizeof query, "positions=%llu&order=lsb&width=%zu",
                 (unsigned long long)position, width);
        pe_table *lsb = unit_table("binary", query);
        snprintf(query, sizeof query, "positions=%llu&width=%zu", (unsigned long long)position,
                 width);
        pe_table *msb = unit_table("binary", query);
        check_shape(msb, 2, (uint64_t[]){1, width});
        if (width > 1) {
            snprintf(query, sizeof query, "positions=%llu&width=%zu",
                     (unsigned long long)position, width - 1);
            unit_refuses("binary", query, PE_OUT_OF_RANGE, "width", "has so many bits");
        }
        for (size_t bit = 0; bit < width; bit++) {
            unit_assert(at(lsb, bit) == (double)(position >> bit & 1));
            unit_assert(at(msb, width - 1 - bit) == at(lsb, bit));
        }
        pe_table_unref(lsb);
        pe_table_unref(msb);
    }
}
END_TEST

/* ---- periodic, sinusoidal ---- */

START_TEST(quarter_periods_of_dyadic_waves_are_exact)
{
    static const double QUARTERS[4] = {0, 1, 0, -1};
    for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
        char query[100] = "length=2049&offset=-1024&dim=12&dtype=";
        strncat(query, pe_dtype_name((pe_dtype)dtype), 10);
        pe_table *table = unit_table("periodic", query);
        const unsigned char *element = pe_table_data(table, 0);
        size_t size = pe_dtype_size((pe_dtype)dtype);
        for (int position = -1024; position <= 1024; position++) {
            for (int i = 0; i < 12; i++, element += size) {
                double value = unit_element((pe_dtype)dtype, element);
                if (position % (1 << i) == 0)
                    unit_assert(value == QUARTERS[(position / (1 << i)) & 3]);
                else if (i > 0)
                    unit_assert(value != 0);
            }
        }
        pe_table_unref(table);
    }
}
END_TEST

/* sin(x·w) = x·w here, with w = 1 and, in column 2, 1/100; expected by mpmath. */
START_TEST(tiny_positions_times_a_huge_amplitude_round_once)
{
    static const struct {
        const char *position;
        double expected;
    } CASES[] = {
        {"1.3345e-72", 0x1.4p-146},   {"1.892e-72", 0x1.cp-146},  {"2.3157e-72", 0x1.1p-145},
        {"2.8732e-72", 0x1.5p-145},   {"5.8168e-72", 0x1.5p-144}, {"7.7792e-72", 0x1.cp-144},
        {"-3.8544e-72", -0x1.cp-145},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        char query[100];
        snprintf(query, sizeof query, "positions=%s&dim=4&amplitude=1e30", CASES[i].position);
        pe_table *table = unit_table("sinusoidal", query);
        ck_assert_double_eq(at(table, 2), CASES[i].expected);
        pe_table_unref(table);
    }
}
END_TEST

Suite *schemes_suite(void)
{
    const TTest *const tests[] = {
        integers_are_their_positions_rounded_once,
        normalized_positions_go_from_0_to_1,
        binary_rows_spell_their_position,
        quarter_periods_of_dyadic_waves_are_exact,
        tiny_positions_times_a_huge_amplitude_round_once,
        NULL,
    };
    return unit_suite("schemes", tests);
}
