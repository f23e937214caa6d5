/* Tests of spreading bits into elements, with the kernels of every instruction set. */
#include "kernels/bits.h"

#include "kernels/kernel.h"
#include "unit.h"

#include <string.h>

#define ROWS 5

/* The bit for column c, as kernels/bits.h says. */
static bool is_set(uint64_t key, size_t c, bool falling)
{
    size_t bit = falling ? c / 8 * 8 + 7 - c % 8 : c;
    return key >> bit & 1;
}

static void check_rows(const pe_kernel *kernel, const uint64_t *keys, size_t width,
                       bool falling, uint64_t one, size_t size)
{
    unsigned char got[(ROWS * 64 + PE_BITS_SLACK) * sizeof(uint64_t)], expected[8];
    memset(got, 0xee, sizeof got);
    kernel->spread_bits(keys, ROWS, width, falling, one, size, got);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < width; c++) {
            uint64_t element = is_set(keys[r], c, falling) ? one : 0;
            memcpy(expected, &element, sizeof element);
            if (memcmp(got + (r * width + c) * size, expected, size) != 0)
                ck_abort_msg("%s: column %zu of %zu, size %zu", kernel->name, c, width, size);
        }
    for (size_t i = (ROWS * width + PE_BITS_SLACK) * size; i < sizeof got; i++)
        unit_assert(got[i] == 0xee);
}

START_TEST(every_bit_becomes_an_element_of_its_column)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 3, keys[ROWS] = {0, ~0ULL, 1, 1ULL << 63};
    for (size_t width = 1; width <= 64; width++) {
        keys[4] = unit_random(&state);
        for (size_t k = 0; k < count; k++)
            for (int falling = 0; falling < 2; falling++) {
                check_rows(kernels[k], keys, width, falling, 0x3c00, 2);
                check_rows(kernels[k], keys, width, falling, 0x3f800000, 4);
                check_rows(kernels[k], keys, width, falling, 0x3ff0000000000000, 8);
            }
    }
}
END_TEST

Suite *bits_suite(void)
{
    const TTest *const tests[] = {every_bit_becomes_an_element_of_its_column, NULL};
    return unit_suite("bits", tests);
}
