/* Printing numbers, as declared in posenc.h: reals in batches by the kernel, integers here. */
#include "kernels/kernel.h"
#include "numerics/decimal.h"

#include <string.h>

static size_t print_integer(char *dst, int32_t value)
{
    char text[16], *first = text + sizeof text;
    uint32_t magnitude = value < 0 ? 0 - (uint32_t)value : (uint32_t)value;
    do {
        *--first = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude > 0);
    if (value < 0)
        *--first = '-';
    size_t length = (size_t)(text + sizeof text - first);
    memcpy(dst, first, length);
    return length;
}

/* Print integers, each followed by a comma; see pe_print_batch. */
static size_t print_integers(char *dst, const void *elements, size_t count)
{
    char *at = dst;
    for (size_t i = 0; i < count; i++) {
        int32_t value;
        memcpy(&value, (const unsigned char *)elements + i * sizeof value, sizeof value);
        at += print_integer(at, value);
        *at++ = ',';
    }
    return (size_t)(at - dst);
}

size_t pe_print_row(char *dst, pe_dtype dtype, const void *elements, size_t count)
{
    pe_print_batch *print_reals = (*pe_kernel_get()->print)[dtype]; /* NULL for i32 */
    const unsigned char *element = elements;
    char *at = dst;
    pe_print_prepare();
    for (size_t part; count > 0; count -= part) {
        part = count < PE_PRINT_BATCH ? count : PE_PRINT_BATCH;
        at += (print_reals ? print_reals : print_integers)(at, element, part);
        element += part * pe_dtype_size(dtype);
    }
    return at > dst ? (size_t)(at - dst) - 1 : 0; /* without the last comma */
}

size_t pe_print_element(char *dst, pe_dtype dtype, const void *element)
{
    size_t length = pe_print_row(dst, dtype, element, 1);
    dst[length] = '\0';
    return length;
}

size_t pe_print_number(char *dst, double number)
{
    size_t length = pe_print_element(dst, PE_F64, &number);
    if (length > 2 && memcmp(dst + length - 2, ".0", 2) == 0)
        length -= 2;
    dst[length] = '\0';
    return length;
}
