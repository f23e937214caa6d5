/* Runs of elements in rows: every size, count and way to place them, cached and streamed. */
#include "columns.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, FIRST = 5, ALL = FIRST + PE_RUN_MAX + 2 };

/* Which element of the run a column holds; PE_RUN_MAX or more if none. */
static size_t element_at(const pe_run *run, size_t column)
{
    size_t frequency = column;
    if (run->copies == PE_WAVE_IN_PAIRS)
        frequency = column / 2;
    else if (run->copies == PE_WAVE_IN_HALVES)
        frequency = column % run->all;
    bool inside = frequency >= run->first && frequency < run->first + run->count;
    return inside ? frequency - run->first : PE_RUN_MAX;
}

/* Write a run and look at every element of the rows, those around it included. */
static void check_run(pe_run run, const unsigned char *elements)
{
    size_t columns = run.copies == PE_WAVE_ONCE ? run.all : 2 * run.all;
    run.row_bytes = columns * run.size;
    unsigned char *rows = malloc(ROWS * run.row_bytes), blank[8];
    memset(rows, 0xaa, ROWS * run.row_bytes);
    memset(blank, 0xaa, sizeof blank);
    pe_run_write(&run, elements, ROWS, rows);
    if (run.streaming)
        run.streaming->fence();
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < columns; column++) {
            size_t i = element_at(&run, column);
            const unsigned char *expected =
                i < PE_RUN_MAX ? elements + (row * run.count + i) * run.size : blank;
            unit_assert(
                !memcmp(rows + row * run.row_bytes + column * run.size, expected, run.size));
        }
    free(rows);
}

START_TEST(runs_stand_in_their_columns_and_nowhere_else)
{
    static const size_t SIZES[] = {2, 4, 8};
    unsigned char elements[ROWS * PE_RUN_MAX * 8];
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof elements; i++)
        elements[i] = (unsigned char)unit_random(&state);
    for (size_t s = 0; s < UNIT_COUNT(SIZES); s++)
        for (size_t count = 1; count <= PE_RUN_MAX; count++)
            for (int copies = PE_WAVE_ONCE; copies <= PE_WAVE_IN_PAIRS; copies++)
                for (int streamed = 0; streamed < 2; streamed++)
                    check_run((pe_run){FIRST, count, ALL, SIZES[s], (pe_wave_copies)copies, 0,
                                       streamed ? pe_kernel_get() : NULL},
                              elements);
}
END_TEST

/* Tables from 8 MB on are written past the caches; a window of one row is not. */
START_TEST(streamed_tables_have_the_bits_of_their_rows)
{
    static const char *const OPTIONS[] = {"&dim=256", "&dim=160&table=full&dtype=f64",
                                          "&dim=160&table=full&layout=interleaved"};
    for (size_t i = 0; i < UNIT_COUNT(OPTIONS); i++) {
        char query[200];
        snprintf(query, sizeof query, "length=20000%s", OPTIONS[i]);
        pe_table *whole = unit_table("rope", query);
        size_t bytes = (size_t)pe_table_tensor(whole, 0)->bytes, row_bytes = bytes / 20000;
        ck_assert_uint_ge(bytes, 8 << 20);
        for (size_t row = 0; row < 20000; row += 1234) {
            snprintf(query, sizeof query, "length=1&offset=%zu%s", row, OPTIONS[i]);
            pe_table *one = unit_table("rope", query);
            for (size_t t = 0; t < 2; t++)
                unit_assert(!memcmp((const char *)pe_table_data(whole, t) + row * row_bytes,
                                    pe_table_data(one, t), row_bytes));
            pe_table_unref(one);
        }
        pe_table_unref(whole);
    }
}
END_TEST

Suite *columns_suite(void)
{
    const TTest *const tests[] = {
        runs_stand_in_their_columns_and_nowhere_else,
        streamed_tables_have_the_bits_of_their_rows,
        NULL,
    };
    return unit_suite("columns", tests);
}
