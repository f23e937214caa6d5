/* Printing rows: the same text as single elements, separated by commas, from every kernel. */
#include "kernels/kernel.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_MAX 200

/* Fail unless a kernel prints a row as the best one prints its elements one by one, and writes
 * to no byte behind the row's PE_PRINT_MAX bytes for each element. */
static void check_row(const pe_kernel *kernel, pe_dtype dtype, const void *elements,
                      size_t count)
{
    static char text[ROW_MAX * PE_PRINT_MAX + 1], expected[ROW_MAX * PE_PRINT_MAX + 1];
    const unsigned char *element = elements;
    size_t length = 0;
    pe_kernel_use(NULL);
    for (size_t i = 0; i < count; i++, element += pe_dtype_size(dtype)) {
        length += pe_print_element(expected + length, dtype, element);
        expected[length++] = ',';
    }
    if (count > 0)
        length--; /* without the last comma */
    expected[length] = '\0';
    text[count * PE_PRINT_MAX] = '#';
    pe_kernel_use(kernel);
    size_t got = pe_print_row(text, dtype, elements, count);
    unit_assert(text[count * PE_PRINT_MAX] == '#');
    text[got] = '\0';
    if (got != length || memcmp(text, expected, length) != 0)
        ck_abort_msg("%s: %s\nnot %s", pe_kernel_get()->name, text, expected);
}

/* Fill `elements` with a random mixture of zeros, subnormals, infinities, NaN and numbers near
 * 1 and elsewhere, whatever the dtype they are read as. */
static void fill_mixed(uint64_t *elements, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = unit_random(state), kind = bits >> 32 & 7;
        uint32_t sign = (uint32_t)bits & 0x80000000, fraction = (uint32_t)bits & 0x7fffff;
        uint32_t near_one = sign | fraction | (110 + (uint32_t)(bits >> 40) % 20) << 23;
        const uint32_t words[8] = {sign,       0x7f800000 | sign, fraction | sign,
                                   0x7fc00000, near_one,          near_one,
                                   near_one,   (uint32_t)bits};
        elements[i] = (uint64_t)words[kind] << 32 | words[bits >> 48 & 7];
    }
}

START_TEST(rows_of_every_length_print_as_single_elements_do)
{
    const pe_kernel *kernels[8];
    size_t kernel_count = pe_kernel_list(kernels);
    uint64_t elements[ROW_MAX], state = 4;
    for (size_t count = 0; count <= ROW_MAX; count++)
        for (int repeat = 0; repeat < 20; repeat++) {
            fill_mixed(elements, count, &state);
            for (size_t k = 0; k < kernel_count; k++)
                for (int dtype = 0; dtype < PE_DTYPE_COUNT; dtype++)
                    check_row(kernels[k], (pe_dtype)dtype, elements, count);
        }
    pe_kernel_use(NULL);
}
END_TEST

START_TEST(rows_of_all_halves_print_as_single_elements_do)
{
    const pe_kernel *kernels[8];
    size_t kernel_count = pe_kernel_list(kernels);
    for (uint32_t first = 0; first < 65536; first += 128) {
        uint16_t halves[128];
        for (uint32_t i = 0; i < 128; i++)
            halves[i] = (uint16_t)(first + i);
        for (size_t k = 0; k < kernel_count; k++) {
            check_row(kernels[k], PE_F16, halves, 128);
            check_row(kernels[k], PE_BF16, halves, 128);
        }
    }
    pe_kernel_use(NULL);
}
END_TEST

static void prints_row(pe_dtype dtype, const void *elements, size_t count, const char *expected)
{
    char text[4 * PE_PRINT_MAX];
    ck_assert_uint_eq(pe_print_row(text, dtype, elements, count), strlen(expected));
    ck_assert_int_eq(memcmp(text, expected, strlen(expected)), 0);
}

START_TEST(commas_separate_the_elements_of_a_row)
{
    static const int32_t INTEGERS[] = {1, -2, INT32_MIN};
    static const float FLOATS[] = {0.5F, -1, 1e10F};
    static const double DOUBLES[] = {(double)NAN, -0.0, 1e-300};
    prints_row(PE_I32, INTEGERS, 3, "1,-2,-2147483648");
    prints_row(PE_F32, FLOATS, 3, "0.5,-1.0,10000000000.0");
    prints_row(PE_F32, FLOATS, 1, "0.5");
    prints_row(PE_F32, FLOATS, 0, "");
    prints_row(PE_F64, DOUBLES, 3, "null,-0.0,1e-300");
}
END_TEST

START_TEST(a_row_of_the_longest_texts_fits_its_bytes)
{
    enum { COUNT = 100 };
    double values[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        values[i] = -2.2250738585072014e-308;
    char *text = malloc(COUNT * PE_PRINT_MAX);
    ck_assert_uint_eq(pe_print_row(text, PE_F64, values, COUNT), COUNT * 25 - 1);
    free(text);
}
END_TEST

START_TEST(elements_need_no_alignment)
{
    unsigned char bytes[4 + 2 * sizeof(double)];
    const double values[2] = {-1.25, 3e-7};
    for (size_t shift = 0; shift < 4; shift++) {
        char text[2 * PE_PRINT_MAX];
        memcpy(bytes + shift, values, sizeof values);
        size_t length = pe_print_row(text, PE_F64, bytes + shift, 2);
        ck_assert_uint_eq(length, 11);
        ck_assert_int_eq(memcmp(text, "-1.25,3e-07", 11), 0);
    }
}
END_TEST

Suite *print_rows_suite(void)
{
    const TTest *const tests[] = {
        rows_of_every_length_print_as_single_elements_do,
        rows_of_all_halves_print_as_single_elements_do,
        commas_separate_the_elements_of_a_row,
        a_row_of_the_longest_texts_fits_its_bytes,
        elements_need_no_alignment,
        NULL,
    };
    return unit_suite("print_rows", tests);
}
