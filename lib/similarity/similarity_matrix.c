/* Storing a table in panels and comparing its rows. */
#include "similarity/similarity_matrix.h"

#include "kernels/kernel.h"

#include <math.h>

static uint64_t count_panels(uint64_t rows)
{
    return (rows + PE_PANEL - 1) / PE_PANEL;
}

bool pe_similarity_init(pe_similarity_matrix *matrix, size_t n, size_t d, pe_metric metric,
                        pe_pace *pace)
{
    *matrix = (pe_similarity_matrix){.n = n, .d = d, .metric = metric};
    matrix->panels =
        pe_keep_zeros(pace, (size_t)count_panels(n) * PE_PANEL * d, sizeof *matrix->panels);
    matrix->norms = pe_keep(pace, n, sizeof *matrix->norms);
    return matrix->panels && matrix->norms;
}

uint64_t pe_similarity_bytes(uint64_t n, uint64_t d)
{
    return count_panels(n) * PE_PANEL * d * sizeof(double);
}

static double *locate_element(const pe_similarity_matrix *matrix, size_t row, size_t column)
{
    return &matrix->panels[(row / PE_PANEL * matrix->d + column) * PE_PANEL + row % PE_PANEL];
}

void pe_similarity_set_rows(pe_similarity_matrix *matrix, size_t first, size_t count,
                            const double *rows)
{
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < matrix->d; c++)
            *locate_element(matrix, first + r, c) = rows[r * matrix->d + c];
}

/* ---- norms ---- */

/* Multiply a row by a power of two that brings its largest value near 1, so that no square
 * overflows. Angles stay as they are. */
static void scale_row(const pe_similarity_matrix *matrix, size_t row)
{
    double largest = 0;
    int exponent;
    for (size_t c = 0; c < matrix->d; c++)
        largest = fmax(largest, fabs(*locate_element(matrix, row, c)));
    frexp(largest, &exponent);
    for (size_t c = 0; c < matrix->d; c++)
        *locate_element(matrix, row, c) = ldexp(*locate_element(matrix, row, c), -exponent);
}

/* Subtract the mean from a row. A constant row becomes exactly 0: it has no correlation. */
static void center_row(const pe_similarity_matrix *matrix, size_t row)
{
    double sum = 0, first = *locate_element(matrix, row, 0);
    bool constant = true;
    for (size_t c = 0; c < matrix->d; c++) {
        sum += *locate_element(matrix, row, c);
        constant = constant && *locate_element(matrix, row, c) == first;
    }
    for (size_t c = 0; c < matrix->d; c++)
        *locate_element(matrix, row, c) =
            constant ? 0 : *locate_element(matrix, row, c) - sum / (double)matrix->d;
}

void pe_similarity_normalise(pe_similarity_matrix *matrix, size_t first, size_t count)
{
    for (size_t row = first; row < first + count; row++) {
        double square = 0;
        if (matrix->metric == PE_COSINE || matrix->metric == PE_PEARSON)
            scale_row(matrix, row);
        if (matrix->metric == PE_PEARSON)
            center_row(matrix, row);
        for (size_t c = 0; c < matrix->d; c++)
            square += *locate_element(matrix, row, c) * *locate_element(matrix, row, c);
        matrix->norms[row] = square > 0 ? sqrt(square) : NAN;
    }
}

double pe_similarity_bound(const pe_similarity_matrix *matrix)
{
    double norm = 0;
    for (size_t row = 0; row < matrix->n; row++)
        norm = fmax(norm, isnan(matrix->norms[row]) ? 0 : matrix->norms[row]);
    switch (matrix->metric) {
    case PE_L2:
        return 2 * norm;
    case PE_L1:
        return 2 * norm * sqrt((double)matrix->d);
    case PE_DOT:
        return norm * norm;
    case PE_COSINE:
    case PE_PEARSON:
        break;
    }
    return 1;
}

/* ---- comparing rows ---- */

/* The sum that the kernel computes for a metric. */
static const pe_pair_kind SUMS[] = {[PE_L2] = PE_PAIR_SQUARES,
                                    [PE_L1] = PE_PAIR_MAGNITUDES,
                                    [PE_DOT] = PE_PAIR_PRODUCTS,
                                    [PE_COSINE] = PE_PAIR_PRODUCTS,
                                    [PE_PEARSON] = PE_PAIR_PRODUCTS};

/* Turn the sums of a row with rows [column, column + count) into the metric, in place. */
static void apply_metric(const pe_similarity_matrix *matrix, size_t row, size_t column,
                         size_t count, double *sums)
{
    switch (matrix->metric) {
    case PE_L1:
    case PE_DOT:
        break;
    case PE_L2:
        for (size_t j = 0; j < count; j++)
            sums[j] = sqrt(sums[j]);
        break;
    case PE_COSINE:
    case PE_PEARSON:
        for (size_t j = 0; j < count; j++) {
            double ratio = sums[j] / (matrix->norms[row] * matrix->norms[column + j]);
            sums[j] = isnan(ratio) ? (double)NAN : fmax(-1, fmin(1, ratio));
        }
        if (row >= column && row - column < count && !isnan(matrix->norms[row]))
            sums[row - column] = 1; /* of the row with itself */
        break;
    }
}

/* Panels that are compared with all rows before the next ones: so few that they stay in the
 * caches. */
#define CHUNK_PANELS 32
#define CHUNK_BYTES  ((size_t)512 * 1024)
#define CHUNK_ROWS   (CHUNK_PANELS * PE_PANEL)

static size_t panels_of_a_chunk(const pe_similarity_matrix *matrix)
{
    size_t panels = CHUNK_BYTES / (matrix->d * PE_PANEL * sizeof(double));
    if (panels < 1)
        return 1;
    return panels < CHUNK_PANELS ? panels : CHUNK_PANELS;
}

/* Compare up to PE_PAIR_ROWS rows with `panel_count` panels. `index`: of the first row. */
static void compare_chunk(const pe_similarity_matrix *matrix, const size_t *rows, size_t count,
                          size_t index, size_t panel, size_t panel_count, pe_take_metrics *take,
                          void *context)
{
    double sums[PE_PAIR_ROWS][CHUNK_ROWS];
    const double *starts[PE_PAIR_ROWS];
    size_t column = panel * PE_PANEL, columns = panel_count * PE_PANEL;
    for (size_t r = 0; r < PE_PAIR_ROWS; r++) /* the last row is repeated if there are fewer */
        starts[r] = locate_element(matrix, rows[r < count ? r : count - 1], 0);
    pe_kernel_get()->pairs(SUMS[matrix->metric], starts, locate_element(matrix, column, 0),
                           matrix->d, panel_count, sums[0], CHUNK_ROWS);
    if (columns > matrix->n - column)
        columns = matrix->n - column;
    for (size_t r = 0; r < count; r++) {
        apply_metric(matrix, rows[r], column, columns, sums[r]);
        take(context, index + r, column, columns, sums[r]);
    }
}

void pe_similarity_compare(const pe_similarity_matrix *matrix, const double *rows, size_t first,
                           size_t count, pe_take_metrics *take, void *context)
{
    size_t panels = (size_t)count_panels(matrix->n), chunk = panels_of_a_chunk(matrix);
    for (size_t panel = 0; panel < panels; panel += chunk) {
        size_t panel_count = panels - panel < chunk ? panels - panel : chunk;
        for (size_t index = 0; index < count; index += PE_PAIR_ROWS) {
            size_t group[PE_PAIR_ROWS];
            size_t size = count - index < PE_PAIR_ROWS ? count - index : PE_PAIR_ROWS;
            for (size_t r = 0; r < size; r++)
                group[r] = rows ? (size_t)rows[index + r] : first + index + r;
            compare_chunk(matrix, group, size, index, panel, panel_count, take, context);
        }
    }
}
