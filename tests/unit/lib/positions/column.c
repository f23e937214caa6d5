/* Tests of tensors of one column: every element is the number of its row, rounded. */
#include "positions/column.h"

#include "numerics/dtype.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* Stairs of uneven length, up or down. */
static double stair(uint64_t row, double sign)
{
    return sign * (double)(row / 700 + row / 9000 + (row > 40000 ? row / 3 : 0));
}

static void climb(const pe_column *column, uint64_t row, size_t count, double *ret_numbers)
{
    for (size_t i = 0; i < count; i++)
        ret_numbers[i] = stair(row + i, *(const double *)column->source);
}

/* Fill `rows` rows, and compare them with those rounded one by one. */
static void check_rows(pe_dtype dtype, bool monotone, double sign, uint64_t rows)
{
    const uint64_t first = 350;
    const pe_column column = {dtype, monotone, climb, &sign};
    size_t size = pe_dtype_size(dtype);
    unsigned char *got = malloc(rows * size + 1), expected[8];
    got[rows * size] = 0xee;
    pe_column_fill(&column, first, rows, got);
    for (uint64_t r = 0; r < rows; r++) {
        double number = stair(first + r, sign);
        pe_round_row(dtype, &number, 1, expected);
        if (memcmp(got + r * size, expected, size) != 0)
            ck_abort_msg("%s: row %llu", pe_dtype_name(dtype), (unsigned long long)r);
    }
    ck_assert_int_eq(got[rows * size], 0xee);
    free(got);
}

START_TEST(repeats_end_where_the_number_changes)
{
    static const pe_dtype dtypes[] = {PE_F32, PE_F64, PE_BF16, PE_F16};
    for (size_t d = 0; d < UNIT_COUNT(dtypes); d++)
        for (int monotone = 0; monotone < 2; monotone++)
            for (int sign = -1; sign < 2; sign++) {
                check_rows(dtypes[d], monotone, sign, 1);
                check_rows(dtypes[d], monotone, sign, 777);
                check_rows(dtypes[d], monotone, sign, 60000);
            }
}
END_TEST

START_TEST(large_columns_are_the_same_past_the_caches)
{
    check_rows(PE_BF16, true, 0.25, 4200000);
    check_rows(PE_F32, true, -0.25, 2100000);
}
END_TEST

Suite *column_suite(void)
{
    const TTest *const tests[] = {repeats_end_where_the_number_changes,
                                  large_columns_are_the_same_past_the_caches, NULL};
    return unit_suite("column", tests);
}
