/* Sums over the columns of two rows, for eight rows of a panel at once. */
#include "kernels/pairs.h"

#include "kernels/instruction_set.h"

extern pe_pairs PE_FOR_SET(pe_pairs);

/* Eight sums. The compiler maps them to the vector registers that the instruction set has; the
 * bits are the same everywhere. */
typedef double eight __attribute__((vector_size(PE_PANEL * sizeof(double)), aligned(8)));

/* Panels compared with PE_PAIR_ROWS rows at once: the sums of two stay in registers. */
#define PANELS 2

#define TERM_PRODUCT(a, b) ((a) * (b))
#define TERM_SQUARE(a, b)  (((a) - (b)) * ((a) - (b)))
#define MAGNITUDE          ((__INT64_TYPE__)(~0ULL >> 1))
typedef __INT64_TYPE__ eight_bits __attribute__((vector_size(PE_PANEL * sizeof(double))));
#define TERM_MAGNITUDE(a, b) ((eight)((eight_bits)((a) - (b)) & MAGNITUDE))

#if defined(__clang__)
#define FOR_EACH(i, count) _Pragma("unroll") for (size_t i = 0; i < (count); i++)
#else
#define FOR_EACH(i, count) _Pragma("GCC unroll 4") for (size_t i = 0; i < (count); i++)
#endif

/* One kind of sum: name_panels compares with `count` <= PANELS panels, `count` being a constant
 * after inlining; sum_name compares with any number of panels. */
#define PAIRS(name, term)                                                                      \
    static inline __attribute__((always_inline)) void name##_panels(                           \
        const double *const rows[PE_PAIR_ROWS], const double *panels, size_t columns,          \
        size_t count, double *sums, size_t stride)                                             \
    {                                                                                          \
        eight sum[PE_PAIR_ROWS][PANELS] = {{{0}}};                                             \
        for (size_t c = 0; c < columns; c++) {                                                 \
            FOR_EACH (p, count) {                                                              \
                eight column = *(const eight *)(panels + (p * columns + c) * PE_PANEL);        \
                FOR_EACH (r, PE_PAIR_ROWS)                                                     \
                    sum[r][p] += term(rows[r][c * PE_PANEL] - (eight){0}, column);             \
            }                                                                                  \
        }                                                                                      \
        FOR_EACH (r, PE_PAIR_ROWS)                                                             \
            FOR_EACH (p, count)                                                                \
                *(eight *)(sums + r * stride + p * PE_PANEL) = sum[r][p];                      \
    }                                                                                          \
                                                                                               \
    static void sum_##name(const double *const rows[PE_PAIR_ROWS], const double *panels,       \
                           size_t columns, size_t count, double *sums, size_t stride)          \
    {                                                                                          \
        for (size_t p = 0; p < count; p += PANELS) {                                           \
            const double *panel = panels + p * columns * PE_PANEL;                             \
            if (count - p >= PANELS)                                                           \
                name##_panels(rows, panel, columns, PANELS, sums + p * PE_PANEL, stride);      \
            else                                                                               \
                name##_panels(rows, panel, columns, 1, sums + p * PE_PANEL, stride);           \
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
