/* Preparing tables of biases and looking them up. */
#include "trained/gather.h"

#include "kernels/by_size.h"
#include "kernels/kernel.h"
#include "numerics/dtype.h"

#include <string.h>

const pe_distribution pe_relative_distribution = {.initialiser = PE_NORMAL, .std = 0.02};

uint64_t pe_gather_bytes(const pe_weights *weights, uint64_t rows, uint64_t heads)
{
    return rows * heads * pe_dtype_size(weights->dtype);
}

#define ROUNDING_PRICE 25

double pe_gather_price(const pe_weights *weights, uint64_t rows, uint64_t heads)
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

bool pe_gather_init(pe_gather *ret_gather, const pe_weights *weights, size_t rows, size_t heads,
                    dd factor, pe_pace *pace)
{
    pe_dtype dtype = weights->dtype;
    pe_trained trained = pe_trained_find(weights, "table", heads, &pe_relative_distribution);
    pe_trained_check_magnitude(pace, &trained, rows, factor.hi, dtype);
    if (pace->reterr->status != PE_OK)
        return false;
    size_t row_bytes = heads * pe_dtype_size(dtype);
    unsigned char *table = pe_keep(pace, rows, row_bytes);
    if (!table)
        return false;
    double row_price = pe_gather_price(weights, 1, heads);
    uint64_t most = pe_rows_of_price(row_price, PE_QUESTION_PRICE), part;
    for (uint64_t row = 0; row < rows; row += part) {
        part = rows - row < most ? rows - row : most;
        if (!pe_pace_may_continue(pace, (double)part * row_price))
            return false;
        write_rows(&trained, dtype, row, part, factor, table + row * row_bytes);
    }
    *ret_gather = (pe_gather){.dtype = dtype, .rows = rows, .heads = heads, .table = table};
    return true;
}

/* Look up elements of `size` bytes, a constant after inlining: that of row rows[t] each time.
 */
static inline __attribute__((always_inline)) void
gather_elements(const pe_gather *gather, size_t head, const int32_t *rows, size_t count,
                size_t size, unsigned char *dst)
{
    const unsigned char *column = gather->table + head * size;
    for (size_t t = 0; t < count; t++)
        memcpy(dst + t * size, column + (size_t)rows[t] * gather->heads * size, size);
}

void pe_gather_write(const void *source, size_t head, int64_t first, uint64_t count, void *dst)
{
    enum { PART = 256 };
    const pe_gather *gather = source;
    size_t size = pe_dtype_size(gather->dtype);
    unsigned char *to = dst;
    int32_t numbers[PART];
    for (uint64_t done = 0, part; done < count; done += part, to += part * size) {
        part = count - done < PART ? count - done : PART;
        const int32_t *rows = numbers;
        if (gather->kept)
            rows = gather->kept + (first + (int64_t)done - gather->kept_first);
        else
            pe_gather_write_rows(gather, head, first + (int64_t)done, part, numbers);
        PE_BY_SIZE(size, gather_elements(gather, head, rows, (size_t)part, SIZE, to))
    }
}

void pe_gather_write_rows(const void *source, size_t head, int64_t first, uint64_t count,
                          void *dst)
{
    (void)head;
    const pe_gather *gather = source;
    int32_t *to = dst;
    for (uint64_t t = 0; t < count; t++)
        to[t] = (int32_t)gather->row_of(gather, first + (int64_t)t);
}
