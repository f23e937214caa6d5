/* Tests of pairings: which column becomes which. */
#include "unit.h"

START_TEST(halves_become_neighbours)
{
    const uint64_t expected[] = {0, 4, 1, 5, 2, 6, 3, 7}, back[] = {0, 2, 4, 6, 1, 3, 5, 7};
    for (uint64_t c = 0; c < 8; c++) {
        ck_assert_uint_eq(pe_pairing_source(PE_PAIRING_HALF, PE_PAIRING_INTERLEAVED, 8, c),
                          expected[c]);
        ck_assert_uint_eq(pe_pairing_source(PE_PAIRING_INTERLEAVED, PE_PAIRING_HALF, 8, c),
                          back[c]);
    }
}
END_TEST

START_TEST(there_and_back_is_where_it_was)
{
    for (uint64_t width = 2; width <= 66; width += 2)
        for (uint64_t c = 0; c < width; c++) {
            uint64_t there =
                pe_pairing_source(PE_PAIRING_HALF, PE_PAIRING_INTERLEAVED, width, c);
            ck_assert_uint_lt(there, width);
            ck_assert_uint_eq(
                pe_pairing_source(PE_PAIRING_INTERLEAVED, PE_PAIRING_HALF, width, there), c);
            ck_assert_uint_eq(pe_pairing_source(PE_PAIRING_HALF, PE_PAIRING_HALF, width, c), c);
        }
}
END_TEST

Suite *pairing_suite(void)
{
    const TTest *const tests[] = {
        halves_become_neighbours,
        there_and_back_is_where_it_was,
        NULL,
    };
    return unit_suite("pairing", tests);
}
