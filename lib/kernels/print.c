/* Printing numbers, as declared in posenc.h: single ones here, rows in batches by the kernel.
 */
#include "kernels/kernel.h"
#include "numerics/decimal.h"
#include "numerics/dtype.h"

#include <string.h>

/* Decimal digits of a number below 10^17. */
static unsigned count_digits(uint64_t number)
{
    unsigned count = 1;
    for (; number >= 10000; number /= 10000)
        count += 4;
    return count + (number >= 10) + (number >= 100) + (number >= 1000);
}

/* Write a number's `count` digits to the bytes just before `end`. */
static void write_digits(char *end, uint64_t number, unsigned count)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    for (; count > 1; count -= 2, number /= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (number % 100), 2);
    }
    if (count)
        end[-1] = (char)('0' + number % 10);
}

/* Write d.ddde±xx. */
static size_t write_scientific(char *dst, uint64_t digits, unsigned count, int exponent)
{
    char *at = dst;
    /* one byte further on, then the first digit back by one, which makes room for the point */
    write_digits(at + 1 + count, digits, count);
    at[0] = at[1];
    if (count > 1)
        at[1] = '.';
    at += count > 1 ? count + 1 : 1;
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    unsigned places = magnitude >= 100 ? 3 : 2;
    write_digits(at + places, magnitude, places);
    return (size_t)(at - dst) + places;
}

/* Write digits · 10^exponent: in positional notation from 1e-4 to below 1e16, else in
 * scientific notation. */
static size_t write_decimal(char *dst, pe_decimal number)
{
    while (number.digits % 10 == 0 && number.digits != 0) {
        number.digits /= 10;
        number.exponent++;
    }
    unsigned count = count_digits(number.digits);
    int point = (int)count + number.exponent; /* digits before the point */
    if (point > 16 || point < -3)
        return write_scientific(dst, number.digits, count, point - 1);
    if (point <= 0) {
        memcpy(dst, "0.000", 5);
        dst += 2 - point;
        write_digits(dst + count, number.digits, count);
        return (size_t)(2 - point) + count;
    }
    unsigned before = (unsigned)point;
    if (count <= before) {
        memset(dst, '0', before);
        write_digits(dst + count, number.digits, count);
        memcpy(dst + before, ".0", 2);
        return before + 2;
    }
    /* one byte further on, then the digits before the point back by one, which makes room */
    write_digits(dst + 1 + count, number.digits, count);
    memmove(dst, dst + 1, before);
    dst[before] = '.';
    return count + 1;
}

static size_t print_real(char *dst, pe_dtype dtype, uint64_t bits)
{
    const int digits = pe_dtypes[dtype].digits, sign_bit = 8 * (int)pe_dtype_size(dtype) - 1;
    const pe_binary_format format = {digits - 1, sign_bit + 1 - digits};
    uint64_t infinity = ((1ULL << format.exponent_bits) - 1) << format.fraction_bits;
    uint64_t magnitude = bits & ((1ULL << sign_bit) - 1);
    if (magnitude >= infinity) {
        memcpy(dst, "null", 4);
        return 4;
    }
    bool negative = bits >> sign_bit;
    *dst = '-'; /* overwritten if the number is not negative */
    return negative +
           write_decimal(dst + negative, pe_find_shortest_decimal(magnitude, format));
}

static size_t print_integer(char *dst, int32_t value)
{
    bool negative = value < 0;
    uint32_t magnitude = negative ? 0 - (uint32_t)value : (uint32_t)value;
    unsigned count = count_digits(magnitude);
    *dst = '-'; /* overwritten if the number is not negative */
    write_digits(dst + negative + count, magnitude, count);
    return negative + count;
}

/* Print one element without a NUL. The caller has called pe_print_prepare. */
static size_t write_element(char *dst, pe_dtype dtype, const void *element)
{
    uint64_t bits = 0;
    if (dtype == PE_I32) {
        int32_t value;
        memcpy(&value, element, sizeof value);
        return print_integer(dst, value);
    }
    if (pe_dtype_size(dtype) == 2) {
        uint16_t half;
        memcpy(&half, element, sizeof half);
        bits = half;
    } else if (dtype == PE_F32) {
        uint32_t word;
        memcpy(&word, element, sizeof word);
        bits = word;
    } else {
        memcpy(&bits, element, sizeof bits);
    }
    return print_real(dst, dtype, bits);
}

size_t pe_print_element(char *dst, pe_dtype dtype, const void *element)
{
    pe_print_prepare();
    size_t length = write_element(dst, dtype, element);
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

size_t pe_print_row(char *dst, pe_dtype dtype, const void *elements, size_t count)
{
    pe_print_batch *print_batch = (*pe_kernel_get()->print)[dtype]; /* or NULL */
    size_t size = pe_dtype_size(dtype), step = print_batch ? PE_PRINT_BATCH : 1;
    const unsigned char *element = elements;
    char *at = dst;
    pe_print_prepare();
    while (count > 0) {
        size_t part = count < step ? count : step;
        if (print_batch) {
            at += print_batch(at, element, part);
        } else {
            at += write_element(at, dtype, element);
            *at++ = ',';
        }
        element += part * size;
        count -= part;
    }
    return at > dst ? (size_t)(at - dst) - 1 : 0; /* without the last comma */
}
