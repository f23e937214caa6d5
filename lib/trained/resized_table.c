/* Making resized tables, some rows at a time. */
#include "trained/resized_table.h"

#include "numerics/dtype.h"

#include <stdlib.h>

static uint64_t rows_of(const pe_resized_source *source)
{
    return source->y.target * source->x.target;
}

static double row_price(const pe_values *values, const pe_resized_source *source)
{
    return (double)source->columns * pe_resized_element_price(values, source->recipe,
                                                              &source->y, &source->x,
                                                              source->columns);
}

static size_t row_bytes(const pe_values *values, const pe_resized_source *source)
{
    return (size_t)source->columns * pe_dtype_size(pe_requested_dtype(values));
}

double pe_resized_table_price(const pe_values *values, const pe_resized_source *source)
{
    uint64_t rows = source->y.source * source->x.source + source->suffix;
    return pe_resized_price(values, source->recipe, &source->y, &source->x, source->columns) +
           pe_trained_check_price(values, rows * source->columns) +
           (double)rows_of(source) * row_price(values, source);
}

uint64_t pe_resized_table_bytes(const pe_values *values, const pe_resized_source *source)
{
    return pe_resized_bytes(&source->y, &source->x, source->columns) +
           (rows_of(source) + source->suffix) * row_bytes(values, source);
}

unsigned char *pe_resized_table(const pe_resized_source *source, pe_pace *pace)
{
    pe_resized resized;
    pe_dtype dtype = pe_requested_dtype(pace->values);
    size_t bytes = row_bytes(pace->values, source);
    uint64_t rows = rows_of(source), part, kept = source->y.source * source->x.source;
    double price = row_price(pace->values, source);
    uint64_t most = pe_rows_of_price(price, PE_QUESTION_PRICE);
    if (!pe_resized_init(&resized, pace, source->name, source->columns, source->recipe, 0,
                         &source->y, &source->x))
        return NULL;
    pe_trained_check_magnitude(pace, &resized.table, source->recipe, kept + source->suffix, 1);
    unsigned char *table = malloc((rows + source->suffix) * bytes);
    bool good = table && pace->reterr->status == PE_OK;
    for (uint64_t row = 0; good && row < rows; row += part) {
        part = rows - row < most ? rows - row : most;
        good = pe_pace_go_on(pace, (double)part * price);
        if (good)
            pe_resized_fill(&resized, dtype, row, part, table + row * bytes);
    }
    if (good)
        pe_trained_fill(&resized.table, dtype, kept, source->suffix, table + rows * bytes);
    pe_resized_done(&resized);
    if (good)
        return table;
    free(table);
    return NULL;
}
