/* Reading tables of biases, some rows at a time. */
#include "trained/bias_table.h"

#include "kernels/kernel.h"
#include "numerics/dtype.h"

uint64_t pe_bias_table_bytes(const pe_weights *weights, uint64_t rows, uint64_t heads)
{
    return rows * heads * pe_dtype_size(weights->dtype);
}

#define ROUNDING_PRICE 25

double pe_bias_table_price(const pe_weights *weights, uint64_t rows, uint64_t heads)
{
    double element = pe_trained_price(weights, &pe_relative_distribution) + ROUNDING_PRICE;
    return (double)rows * (double)heads * element +
           pe_trained_check_price(weights, rows * heads);
}

/* Write rows [first, first + rows) of the table, times `factor`. */
static void write_rows(const pe_trained *trained, pe_dtype dtype, uint64_t first, uint64_t rows,
                       dd factor, unsigned char *dst)
{
    enum { PART = 64 };
    double elements[PART], products[PART];
    if (factor.hi == 1 && factor.lo == 0) {
        pe_trained_fill(trained, dtype, first, rows, dst);
        return;
    }
    for (uint64_t row = first; row < first + rows; row++)
        for (uint64_t h = 0; h < trained->columns; h += PART) {
            uint64_t rest = trained->columns - h;
            size_t part = rest < PART ? (size_t)rest : PART;
            pe_trained_row(trained, row, h, part, elements);
            for (size_t i = 0; dtype == PE_DD && i < part; i++)
                pe_round_dd(dtype, dd_mul_double(factor, elements[i]), dst + i * sizeof(dd));
            if (dtype != PE_DD) {
                pe_kernel_get()->scale(factor, elements, part, dtype == PE_F64, products);
                pe_round_row(dtype, products, part, dst);
            }
            dst += part * pe_dtype_size(dtype);
        }
}

unsigned char *pe_bias_table(const pe_weights *weights, size_t rows, size_t heads, dd factor,
                             pe_pace *pace)
{
    pe_dtype dtype = weights->dtype;
    pe_trained trained = pe_trained_find(weights, "table", heads, &pe_relative_distribution);
    pe_trained_check_magnitude(pace, &trained, rows, factor.hi, dtype);
    if (pace->reterr->status != PE_OK)
        return NULL;
    size_t row_bytes = heads * pe_dtype_size(dtype);
    unsigned char *table = pe_keep(pace, rows, row_bytes);
    double row_price = pe_bias_table_price(weights, 1, heads);
    uint64_t most = pe_rows_of_price(row_price, PE_QUESTION_PRICE), part;
    for (uint64_t row = 0; table && row < rows; row += part) {
        part = rows - row < most ? rows - row : most;
        if (!pe_pace_may_continue(pace, (double)part * row_price))
            return NULL;
        write_rows(&trained, dtype, row, part, factor, table + row * row_bytes);
    }
    return table;
}
