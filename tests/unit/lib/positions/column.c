/* Tests of tensors of one column: every element is the number of its row, rounded. */
#include "positions/column.h"

#include "kernels/lines.h"
#include "numerics/dtype.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Stairs that grow longer, shorter, or both by turns, and as long as lines of the cache. */
static double climb_unevenly(uint64_t row)
{
    return (double)(row / 700 + row / 9000 + (row > 40000 ? row / 3 : 0));
}

static double climb_slower(uint64_t row)
{
    return floor(sqrt((double)row) / 2);
}

static double climb_faster(uint64_t row)
{
    return floor((double)row * (double)row * 0x1p-24);
}

static double climb_by_4096(uint64_t row)
{
    return (double)(row / 4096);
}

static double climb_by_1000(uint64_t row)
{
    return (double)((row + 31) / 1000);
}

typedef double stair(uint64_t row);
static stair *const STAIRS[] = {climb_unevenly, climb_slower, climb_faster, climb_by_4096,
                                climb_by_1000};

typedef struct climb {
    stair *stair;
    double sign;
} climb;

static void write_numbers(const pe_column *column, uint64_t row, size_t count,
                          double *ret_numbers)
{
    const climb *source = column->source;
    for (size_t i = 0; i < count; i++)
        ret_numbers[i] = source->sign * source->stair(row + i);
}

static void write_elements(const pe_column *column, uint64_t row, size_t count, void *dst)
{
    double numbers[PE_LINE_MAX];
    write_numbers(column, row, count, numbers);
    pe_round_row(column->dtype, numbers, count, dst);
}

/* Fill `rows` rows, and compare them with those rounded one by one. */
static void check_rows(pe_dtype dtype, bool monotone, climb source, uint64_t rows)
{
    const uint64_t first = 350;
    const pe_column column = {.dtype = dtype,
                              .monotone = monotone,
                              .numbers = write_numbers,
                              .elements = rows % 2 ? write_elements : NULL,
                              .source = &source};
    size_t size = pe_dtype_size(dtype);
    unsigned char *got = malloc(rows * size + 1), expected[8];
    got[rows * size] = 0xee;
    pe_column_fill(&column, first, rows, got);
    for (uint64_t r = 0; r < rows; r++) {
        double number = source.sign * source.stair(first + r);
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
            for (size_t i = 0; i < 3 * UNIT_COUNT(STAIRS); i++) {
                const climb source = {STAIRS[i / 3], (double)(i % 3) - 1};
                check_rows(dtypes[d], monotone, source, 1);
                check_rows(dtypes[d], monotone, source, 777);
                check_rows(dtypes[d], monotone, source, 60000);
                check_rows(dtypes[d], monotone, source, 60011);
            }
}
END_TEST

START_TEST(large_columns_are_the_same_past_the_caches)
{
    check_rows(PE_BF16, true, (climb){climb_unevenly, 0.25}, 4200000);
    check_rows(PE_F32, true, (climb){climb_unevenly, -0.25}, 2100000);
}
END_TEST

Suite *column_suite(void)
{
    const TTest *const tests[] = {repeats_end_where_the_number_changes,
                                  large_columns_are_the_same_past_the_caches, NULL};
    return unit_suite("column", tests);
}
