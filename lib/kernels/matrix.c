/* Multiply packed matrices with vectors. */
#include "kernels/matrix.h"

#include "kernels/instruction_set.h"

#include <string.h>

extern pe_matrix_multiply PE_FOR_SET(pe_matrix_multiply);

/* As many doubles as a vector register of the instruction set holds. */
#if defined(__AVX512F__)
#define WIDTH 8
#elif defined(__AVX__)
#define WIDTH 4
#else
#define WIDTH 2
#endif
typedef double lanes __attribute__((vector_size(8 * WIDTH)));
typedef double lanes_in_memory __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));

/* A pass over a panel computes SUMS vectors of sums: as many as stay in registers. */
#define SUMS   (WIDTH == 8 ? 4 : 8)
#define PASSES (PE_MATRIX_LANES / WIDTH / SUMS)

/* Multiply SUMS·WIDTH rows of a panel with the entries of x that `used` names. */
static void multiply_pass(const double *panel, const double *x, const uint32_t *used,
                          size_t used_count, double *ret_products)
{
    lanes sums[SUMS] = {{0}};
    for (size_t k = 0; k < used_count; k++) {
        size_t j = used[k];
        const double *column = panel + j * PE_MATRIX_LANES;
#pragma GCC unroll 8
        for (size_t s = 0; s < SUMS; s++)
            sums[s] += *(const lanes_in_memory *)(column + s * WIDTH) * x[j];
    }
    memcpy(ret_products, sums, sizeof sums);
}

void PE_FOR_SET(pe_matrix_multiply)(const double *panels, size_t panel_count, size_t columns,
                                    const double *x, const uint32_t *used, size_t used_count,
                                    double *ret_products)
{
    for (size_t p = 0; p < panel_count; p++)
        for (size_t pass = 0; pass < PASSES; pass++)
            multiply_pass(panels + p * columns * PE_MATRIX_LANES + pass * SUMS * WIDTH, x, used,
                          used_count, ret_products + p * PE_MATRIX_LANES + pass * SUMS * WIDTH);
}
