/* Making resized tables, some rows at a time. */
#include "trained/resized_table.h"

static uint64_t count_rows(const pe_resized_source *source)
{
    return source->y.target * source->x.target;
}

static double row_price(const pe_resized_source *source)
{
    return (double)source->columns * pe_resized_element_price(source);
}

static size_t row_bytes(const pe_resized_source *source)
{
    return (size_t)source->columns * pe_dtype_size(source->weights.dtype);
}

double pe_resized_table_price(const pe_resized_source *source)
{
    uint64_t rows = source->y.source * source->x.source + source->suffix;
    return pe_resized_price(source) +
           pe_trained_check_price(&source->weights, rows * source->columns) +
           (double)count_rows(source) * row_price(source);
}

uint64_t pe_resized_table_bytes(const pe_resized_source *source)
{
    return pe_resized_bytes(source) + (count_rows(source) + source->suffix) * row_bytes(source);
}

unsigned char *pe_resized_table(const pe_resized_source *source, pe_pace *pace)
{
    pe_resized resized = {.source = *source};
    pe_dtype dtype = source->weights.dtype;
    size_t bytes = row_bytes(source);
    uint64_t rows = count_rows(source), part, kept = source->y.source * source->x.source;
    double price = row_price(source);
    uint64_t most = pe_rows_of_price(price, PE_QUESTION_PRICE);
    unsigned char *table = NULL;
    if (pe_resized_init(&resized, pace)) {
        pe_trained_check_magnitude(pace, &resized.table, kept + source->suffix, 1, dtype);
        table = pe_keep(pace, rows + source->suffix, bytes);
    }
    bool good = table && pace->reterr->status == PE_OK;
    for (uint64_t row = 0; good && row < rows; row += part) {
        part = rows - row < most ? rows - row : most;
        good = pe_pace_may_continue(pace, (double)part * price);
        if (good)
            pe_resized_fill(&resized, row, part, table + row * bytes);
    }
    if (good)
        pe_trained_fill(&resized.table, dtype, kept, source->suffix, table + rows * bytes);
    return good ? table : NULL;
}
