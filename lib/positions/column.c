/* Filling a tensor of one column, some rows at a time, in a buffer that stays in the L1 cache.
 */
#include "positions/column.h"

#include "kernels/store.h"
#include "numerics/dtype.h"

#define REPEATS_MAX (PE_LINE_MAX * (sizeof(double) / sizeof(uint16_t))) /* equal elements */

/* The element of one row of a 16-bit dtype. */
static uint16_t find_element(const pe_column *column, uint64_t row)
{
    uint16_t element;
    double number;
    column->numbers(column, row, 1, &number);
    pe_round_row(column->dtype, &number, 1, &element);
    return element;
}

/* In 16 bits many neighbours are equal: if the last of `count` elements is that of the row
 * before them, so are all. Then write them. */
static bool write_repeats(const pe_column *column, uint64_t first, size_t count,
                          uint16_t before, unsigned char *dst)
{
    enum { AT_ONCE = 32 };
    uint16_t some[AT_ONCE];
    size_t i = 0;
    if (find_element(column, first + count - 1) != before)
        return false;
    for (size_t j = 0; j < AT_ONCE; j++)
        some[j] = before;
    for (; i + AT_ONCE <= count; i += AT_ONCE)
        memcpy(dst + i * sizeof before, some, sizeof some);
    memcpy(dst + i * sizeof before, some, (count - i) * sizeof before);
    return true;
}

void pe_column_fill(const pe_column *column, uint64_t first, uint64_t rows, void *dst)
{
    const size_t size = pe_dtype_size(column->dtype);
    const bool may_repeat = column->monotone && size == sizeof(uint16_t);
    const pe_kernel *nontemporal = pe_streaming_kernel(rows * size);
    alignas(64) double numbers[PE_LINE_MAX];
    alignas(64) unsigned char stage[PE_LINE_MAX * sizeof(double)];
    uint16_t last = may_repeat ? find_element(column, first) : 0;
    size_t count, most = PE_LINE_MAX;
    for (uint64_t done = 0; done < rows; done += count) {
        unsigned char *place = (unsigned char *)dst + done * size;
        unsigned char *elements = nontemporal ? stage : place;
        count = rows - done < most ? (size_t)(rows - done) : most;
        if (may_repeat && write_repeats(column, first + done, count, last, elements)) {
            most = 2 * most < REPEATS_MAX ? 2 * most : REPEATS_MAX; /* repeats go on */
        } else {
            most = PE_LINE_MAX;
            count = count < most ? count : most;
            column->numbers(column, first + done, count, numbers);
            pe_kernel_get()->lines->round(column->dtype, numbers, count, elements);
            memcpy(&last, elements + (count - 1) * size, sizeof last);
        }
        if (nontemporal)
            nontemporal->stream(place, stage, count * size);
    }
    pe_store_end(nontemporal);
}
