/* Sums over the columns of two rows, for eight rows of a panel at once. */
#include "kernels/pairs.h"

#include "kernels/instruction_set.h"

extern pe_pairs PE_FOR_SET(pe_pairs);

/* As many doubles as a vector register of the instruction set holds: gcc keeps longer vectors
 * in memory. So many rows are compared with as many panels at once that their sums stay in
 * registers. */
#if defined(__AVX512F__)
#define WIDTH  8
#define ROWS   4
#define PANELS 2
#elif defined(__AVX__)
#define WIDTH  4
#define ROWS   4
#define PANELS 1
#else
#define WIDTH  2
#define ROWS   2
#define PANELS 1
#endif
#define PARTS (PE_PANEL / WIDTH) /* vectors of a panel's column */
_Static_assert(PE_PAIR_ROWS % ROWS == 0, "a call compares its rows in whole groups");

typedef double lanes __attribute__((vector_size(WIDTH * sizeof(double)), aligned(8)));

#define TERM_PRODUCT(a, b) ((a) * (b))
#define TERM_SQUARE(a, b)  (((a) - (b)) * ((a) - (b)))
#define MAGNITUDE          ((__INT64_TYPE__)(~0ULL >> 1))
typedef __INT64_TYPE__ lane_bits __attribute__((vector_size(WIDTH * sizeof(double))));
#define TERM_MAGNITUDE(a, b) ((lanes)((lane_bits)((a) - (b)) & MAGNITUDE))

#if defined(__clang__)
#define FOR_EACH(i, count) _Pragma("unroll") for (size_t i = 0; i < (count); i++)
#else
#define FOR_EACH(i, count) _Pragma("GCC unroll 4") for (size_t i = 0; i < (count); i++)
#endif

/* One kind of sum: name_panels compares with `count` <= PANELS panels, `count` being a constant
 * after inlining; sum_name compares with any number of panels. */
#define PAIRS(name, term)                                                                      \
    static inline __attribute__((always_inline)) void name##_panels(                           \
        const double *const rows[ROWS], const double *panels, size_t columns, size_t count,    \
        double *sums, size_t stride)                                                           \
    {                                                                                          \
        lanes sum[ROWS][PANELS][PARTS] = {{{{0}}}};                                            \
        for (size_t c = 0; c < columns; c++) {                                                 \
            FOR_EACH (p, count) {                                                              \
                const double *column = panels + (p * columns + c) * PE_PANEL;                  \
                FOR_EACH (r, ROWS) {                                                           \
                    lanes entry = rows[r][c * PE_PANEL] - (lanes){0};                          \
                    FOR_EACH (v, PARTS)                                                        \
                        sum[r][p][v] += term(entry, *(const lanes *)(column + v * WIDTH));     \
                }                                                                              \
            }                                                                                  \
        }                                                                                      \
        FOR_EACH (r, ROWS)                                                                     \
            FOR_EACH (p, count)                                                                \
                FOR_EACH (v, PARTS)                                                            \
                    *(lanes *)(sums + r * stride + p * PE_PANEL + v * WIDTH) = sum[r][p][v];   \
    }                                                                                          \
                                                                                               \
    static void sum_##name(const double *const rows[PE_PAIR_ROWS], const double *panels,       \
                           size_t columns, size_t count, double *sums, size_t stride)          \
    {                                                                                          \
        for (size_t p = 0; p < count; p += PANELS) {                                           \
            const double *panel = panels + p * columns * PE_PANEL;                             \
            for (size_t r = 0; r < PE_PAIR_ROWS; r += ROWS) {                                  \
                double *first = sums + r * stride + p * PE_PANEL;                              \
                if (count - p >= PANELS)                                                       \
                    name##_panels(rows + r, panel, columns, PANELS, first, stride);            \
                else                                                                           \
                    name##_panels(rows + r, panel, columns, 1, first, stride);                 \
            }                                                                                  \
        }                                                                                      \
    }

PAIRS(products, TERM_PRODUCT)
PAIRS(squares, TERM_SQUARE)
PAIRS(magnitudes, TERM_MAGNITUDE)

void PE_FOR_SET(pe_pairs)(pe_pair_kind kind, const double *const rows[PE_PAIR_ROWS],
                          const double *panels, size_t columns, size_t count, double *sums,
                          size_t stride)
{
    switch (kind) {
    case PE_PAIR_PRODUCTS:
        sum_products(rows, panels, columns, count, sums, stride);
        break;
    case PE_PAIR_SQUARES:
        sum_squares(rows, panels, columns, count, sums, stride);
        break;
    case PE_PAIR_MAGNITUDES:
        sum_magnitudes(rows, panels, columns, count, sums, stride);
        break;
    }
}
