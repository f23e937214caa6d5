/* Random Fourier features of stored matrices: exact quarter turns, refusals. */
#include "sets.h"

#include <string.h>

/* Coordinates -2/3, 0 and 2/3 make these a quarter, a whole and a tiny part of a turn. */
static const double MATRIX[3] = {0.375, 1.5, 0x1p-100};

static void store(uint64_t rows, uint64_t columns, const double *elements)
{
    const unit_tensor tensors[1] = {{"matrix", PE_F64, 2, {rows, columns}, elements}};
    unit_store(tensors, 1);
}

START_TEST(quarter_turns_of_thirds_are_exact)
{
    static const double ROWS[3][6] = {
        {-1, 0, -0x1.0c152382d7366p-98, 0, 1, 1},
        {0, 0, 0, 1, 1, 1},
        {1, 0, 0x1.0c152382d7366p-98, 0, 1, 1},
    };
    store(1, 3, MATRIX);
    pe_table *table = unit_set_table("random_fourier", "sizes=3&set=set&dtype=f64");
    const double *entries = pe_table_data(table, 0);
    for (size_t i = 0; i < 18; i++)
        ck_assert_msg(entries[i] == ROWS[i / 6][i % 6], "%zu: %a", i, entries[i]);
    pe_table_unref(table);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(a_grid_has_the_bits_of_its_points)
{
    static const double ELEMENTS[6] = {0.3, -1.7, 0, 12.25, 1e-7, -3e5};
    static const char *const QUERIES[][2] = {
        {"sizes=2,4&set=set&dtype=f64", "coordinates=-0.5,-0.75,-0.5,-0.25,-0.5,0.25,-0."
                                        "5,0.75,0.5,-0.75,0.5,-0.25,0.5,0.25,0.5,"
                                        "0.75&axes=2&set=set&dtype=f64"},
        {"sizes=4,2&preset=sam&set=set",
         "coordinates=0.25,0.125,0.75,0.125,0.25,0.375,0.75,0.375,0.25,0.625,0.75,0.625,0.25,"
         "0.875,0.75,0.875&axes=2&preset=sam&set=set"},
    };
    store(2, 3, ELEMENTS);
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        pe_table *grid = unit_set_table("random_fourier", QUERIES[i][0]);
        pe_table *points = unit_set_table("random_fourier", QUERIES[i][1]);
        ck_assert_int_eq(memcmp(pe_table_data(grid, 0), pe_table_data(points, 0),
                                (size_t)pe_table_tensor(grid, 0)->bytes),
                         0);
        pe_table_unref(grid);
        pe_table_unref(points);
    }
    unit_store(NULL, 0);
}
END_TEST

START_TEST(refuses_matrices_that_do_not_fit)
{
    static const double LARGE[3] = {1, -0x1.8p30, 0}, SMALL[3] = {1, 0, 0x1p-101};
    static const char *const QUERY = "sizes=3&set=set";
    store(1, 3, MATRIX);
    unit_set_refuses("random_fourier", "sizes=3,2&set=set", "set", "[2, n]");
    unit_set_refuses("random_fourier", "sizes=3&set=set&features=2", "features", "3");
    unit_set_refuses("random_fourier", "sizes=3&set=set&std=2", "std", "left out with set");
    store(1, 3, LARGE);
    unit_set_refuses("random_fourier", QUERY, "set", "2^30");
    store(1, 3, SMALL);
    unit_set_refuses("random_fourier", QUERY, "set", "2^-100");
    unit_store(NULL, 0);
}
END_TEST

Suite *random_fourier_suite(void)
{
    const TTest *const tests[] = {quarter_turns_of_thirds_are_exact,
                                  a_grid_has_the_bits_of_its_points,
                                  refuses_matrices_that_do_not_fit, NULL};
    return unit_suite("random_fourier", tests);
}
