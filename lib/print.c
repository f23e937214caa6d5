/* Shortest decimals of binary floating-point numbers, one by one. Rows go by way of
 * print_batch.c. */
#include "print.h"

#include "kernel.h"

#include <string.h>

/* Decimal digits of a number below 10^17. */
static unsigned count_digits(uint64_t number)
{
    unsigned count = 1;
    for (; number >= 10000; number /= 10000)
        count += 4;
    return count + (number >= 10) + (number >= 100) + (number >= 1000);
}

/* Write `count` digits so that they end before `end`. */
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
    write_digits(at + 1 + count, digits, count); /* one place to the right, for the point */
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

/* Write digits · 10^exponent: positional from 1e-4 to below 1e16, else scientific. */
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
    write_digits(dst + 1 + count, number.digits, count); /* one to the right, for the point */
    memmove(dst, dst + 1, before);
    dst[before] = '.';
    return count + 1;
}

static const pe_binary_format FORMATS[PE_DTYPE_COUNT] = {
    [PE_F32] = {23, 8}, [PE_F64] = {52, 11}, [PE_F16] = {10, 5}, [PE_BF16] = {7, 8}};

static size_t print_real(char *dst, pe_binary_format format, uint64_t bits)
{
    int size = format.fraction_bits + format.exponent_bits;
    uint64_t infinity = ((1ULL << format.exponent_bits) - 1) << format.fraction_bits;
    uint64_t magnitude = bits & ((1ULL << size) - 1);
    if (magnitude >= infinity) {
        memcpy(dst, "null", 4);
        return 4;
    }
    bool negative = bits >> size;
    *dst = '-';
    return negative + write_decimal(dst + negative, pe_shortest(magnitude, format));
}

static size_t print_integer(char *dst, int32_t value)
{
    char digits[12];
    size_t count = 0;
    uint32_t rest = value < 0 ? 0 - (uint32_t)value : (uint32_t)value;
    do
        digits[sizeof digits - ++count] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        digits[sizeof digits - ++count] = '-';
    memcpy(dst, digits + sizeof digits - count, count);
    return count;
}

/* Print one element without a NUL; the tables have been made. */
static size_t print_one(char *dst, pe_dtype dtype, const void *element)
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
    return print_real(dst, FORMATS[dtype], bits);
}

size_t pe_print_element(char *dst, pe_dtype dtype, const void *element)
{
    pe_print_prepare();
    size_t length = print_one(dst, dtype, element);
    dst[length] = '\0';
    return length;
}

size_t pe_print_number(char *dst, double number)
{
    size_t length = pe_print_element(dst, PE_F64, &number);
    if (length > 2 && memcmp(dst + length - 2, ".0", 2) == 0)
        dst[length -= 2] = '\0';
    return length;
}

size_t pe_print_row(char *dst, pe_dtype dtype, const void *elements, size_t count)
{
    pe_print_batch *print = (*pe_kernel_get()->print)[dtype];
    const unsigned char *element = elements;
    char *at = dst;
    pe_print_prepare();
    for (size_t part; count > 0; count -= part, element += part * pe_dtype_size(dtype)) {
        part = print && count > PE_PRINT_BATCH ? PE_PRINT_BATCH : print ? count : 1;
        if (print) {
            at += print(at, element, part);
        } else {
            at += print_one(at, dtype, element);
            *at++ = ',';
        }
    }
    return at > dst ? (size_t)(at - dst) - 1 : 0;
}
