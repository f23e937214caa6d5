/* Tests of products of packed matrices: every instruction set sums in the same order. */
#include "kernels/matrix.h"

#include "kernels/kernel.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

/* Leave out about a third of the columns. */
static size_t choose_columns(uint32_t *ret_used, size_t columns, uint64_t *state)
{
    size_t count = 0;
    for (size_t j = 0; j < columns; j++) {
        ret_used[count] = (uint32_t)j;
        count += unit_random(state) % 3 != 0;
    }
    return count;
}

START_TEST(products_are_summed_column_by_column)
{
    static const size_t SIZES[][2] = {{1, 1}, {1, 7}, {2, 33}, {3, 100}, {8, 64}};
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 4;
    for (size_t s = 0; s < UNIT_COUNT(SIZES); s++) {
        size_t panels = SIZES[s][0], columns = SIZES[s][1], rows = panels * PE_MATRIX_LANES;
        double *weights = malloc(rows * columns * sizeof *weights);
        double *x = malloc(columns * sizeof *x), *got = malloc(rows * sizeof *got);
        uint32_t *used = malloc(columns * sizeof *used);
        size_t used_count = choose_columns(used, columns, &state);
        for (size_t i = 0; i < rows * columns; i++)
            weights[i] = (double)(int64_t)unit_random(&state) * 0x1p-60;
        for (size_t i = 0; i < columns; i++)
            x[i] = (double)(int64_t)unit_random(&state) * 0x1p-63;
        for (size_t k = 0; k < count; k++) {
            kernels[k]->multiply(weights, panels, columns, x, used, used_count, got);
            for (size_t r = 0; r < rows; r++) {
                volatile double sum = 0; /* keeps the compiler from fusing or reordering */
                for (size_t u = 0; u < used_count; u++) {
                    size_t j = used[u];
                    volatile double product =
                        weights[(r / PE_MATRIX_LANES * columns + j) * PE_MATRIX_LANES +
                                r % PE_MATRIX_LANES] *
                        x[j];
                    sum += product;
                }
                ck_assert_msg(sum == got[r], "%s: row %zu of %zu", kernels[k]->name, r, rows);
            }
        }
        free(weights);
        free(x);
        free(used);
        free(got);
    }
}
END_TEST

Suite *matrix_suite(void)
{
    const TTest *const tests[] = {products_are_summed_column_by_column, NULL};
    return unit_suite("matrix", tests);
}
