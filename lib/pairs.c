#include "pairs.h"

#ifndef PE_PAIRS_SYMBOL
#define PE_PAIRS_SYMBOL pe_pairs_generic
#endif

extern pe_pairs PE_PAIRS_SYMBOL;

/* Eight sums side by side: vectors where the processor has them, the same bits everywhere. */
typedef double eight __attribute__((vector_size(PE_PANEL * sizeof(double)), aligned(8)));

#define PANELS                                                                                 \
    2 /* compared at once with PE_PAIR_ROWS rows, so that the sums stay in registers */

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

/* One kind of sum, of `panels` <= PANELS panels. */
#define PAIRS(name, term)                                                                      \
    static inline __attribute__((always_inline)) void name(                                    \
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
    }

PAIRS(products, TERM_PRODUCT)
PAIRS(squares, TERM_SQUARE)
PAIRS(magnitudes, TERM_MAGNITUDE)

void PE_PAIRS_SYMBOL(pe_pair_kind kind, const double *const rows[PE_PAIR_ROWS],
                     const double *panels, size_t columns, size_t count, double *sums,
                     size_t stride)
{
    for (size_t p = 0; p < count; p += PANELS) {
        const double *at = panels + p * columns * PE_PANEL;
        double *to = sums + p * PE_PANEL;
        bool two = count - p >= PANELS;
        switch (kind) {
        case PE_PAIR_PRODUCTS:
            two ? products(rows, at, columns, PANELS, to, stride)
                : products(rows, at, columns, 1, to, stride);
            break;
        case PE_PAIR_SQUARES:
            two ? squares(rows, at, columns, PANELS, to, stride)
                : squares(rows, at, columns, 1, to, stride);
            break;
        case PE_PAIR_MAGNITUDES:
            two ? magnitudes(rows, at, columns, PANELS, to, stride)
                : magnitudes(rows, at, columns, 1, to, stride);
            break;
        }
    }
}
