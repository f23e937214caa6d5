/* Complex waves: stored angles of any size, sharing, tokens, refusals. */
#include "sets.h"

#include <string.h>

static const double AMPLITUDE[6] = {1.5, -2.25, 1e-3, 1e30, 3.0, 0.7};
static const double FREQUENCY[6] = {1.0, 1e-30, 1e300, -0.37, 0x1.921fb54442d18p+1, 1e22};
static const double PHASE[6] = {0.0, 1e-25, 2.0, 1e5, -0.1, -0x1.921fb54442d18p+1};

/* Of mpmath, in 4000 bits, at the positions and tokens of QUERY. */
#define QUERY "positions=0,1,-2.5,1e6,4503599627370496,3e-9&tokens=0,1,1,0,1,0&set=set"
static const float REAL[18] = {
    0x1.8000000p+0F,  -0x1.2000000p+1F,  -0x1.b45c900p-12F, -0x1.731a1e0p+99F, -0x1.7e14e40p+1F,
    -0x1.770a540p-2F, -0x1.fce8e00p+98F, -0x1.32b0320p-2F,  -0x1.29946e0p-1F,  0x1.67b67c0p+0F,
    -0x1.2000000p+1F, 0x1.aae4840p-13F,  -0x1.8a17da0p+99F, 0x1.3156fe0p+1F,   -0x1.54de7c0p-1F,
    0x1.8000000p+0F,  -0x1.2000000p+1F,  0x1.dfeb720p-11F,
};
static const float IMAG[18] = {
    0.0F,
    -0x1.1689580p-82F,
    0x1.dcbbd60p-11F,
    0x1.3ed8ea0p+98F,
    0x1.32b0320p-2F,
    0x1.316dc40p-1F,
    -0x1.39aa160p+99F,
    -0x1.7e14e40p+1F,
    0x1.8f7bda0p-2F,
    -0x1.0ccb860p-1F,
    -0x1.7efcda0p-79F,
    0x1.00a7cc0p-10F,
    -0x1.61cb9a0p+97F,
    -0x1.d1b81e0p+0F,
    -0x1.bae0e60p-3F,
    0x1.353cd60p-28F,
    -0x1.1689580p-82F,
    0x1.a6293c0p-12F,
};

static void store(uint64_t rank, uint64_t rows, uint64_t columns, size_t count)
{
    const unit_tensor tensors[3] = {{"amplitude", PE_F64, 2, {2, 3}, AMPLITUDE},
                                    {"frequency", PE_F64, rank, {rows, columns}, FREQUENCY},
                                    {"phase", PE_F64, rank, {rows, columns}, PHASE}};
    unit_store(tensors, count);
}

START_TEST(stored_angles_of_any_size_are_reduced_exactly)
{
    store(2, 2, 3, 3);
    pe_table *table = unit_set_table("complex_order", QUERY);
    const float *real = pe_table_data(table, 0), *imag = pe_table_data(table, 1);
    for (size_t i = 0; i < 18; i++)
        ck_assert_msg(real[i] == REAL[i] && imag[i] == IMAG[i], "%zu: %a %a", i,
                      (double)real[i], (double)imag[i]);
    pe_table_unref(table);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(small_angles_decide_ties)
{
    /* amplitudes and angles halfway between elements: the cosine is below 1, the sine below the
     * angle */
    static const double R[4] = {1 + 0x1p-24, 1 + 3 * 0x1p-24, 1, 0x1p127};
    static const double W[4] = {1, 1, 1, 0x1p-250};
    static const struct {
        const char *query;
        float real[4], imag[4];
    } CASES[] = {
        {"positions=1e-40&set=set",
         {1, 1 + 0x1p-23F, 1, 0x1p127F},
         {1e-40F, 1e-40F, 1e-40F, 0}},
        {"positions=8.673617896871918e-19&set=set", /* 2^-60 (1 + 2^-24) */
         {1, 1 + 0x1p-23F, 1, 0x1p127F},
         {0x1.000002p-60F, 0x1.000004p-60F, 0x1p-60F, 0}},
        {"positions=1&set=set",
         {0x1.14a282p-1F, 0x1.14a284p-1F, 0x1.14a280p-1F, 0x1p127F},
         {0x1.aed54ap-1F, 0x1.aed54ep-1F, 0x1.aed548p-1F, 0x1p-123F}},
    };
    const unit_tensor tensors[] = {{"amplitude", PE_F64, 2, {1, 4}, R},
                                   {"frequency", PE_F64, 2, {1, 4}, W}};
    unit_store(tensors, 2);
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_table *table = unit_set_table("complex_order", CASES[i].query);
        const float *real = pe_table_data(table, 0), *imag = pe_table_data(table, 1);
        for (size_t j = 0; j < 4; j++)
            ck_assert_msg(real[j] == CASES[i].real[j] && imag[j] == CASES[i].imag[j],
                          "%s: %zu: %a %a", CASES[i].query, j, (double)real[j],
                          (double)imag[j]);
        pe_table_unref(table);
    }
    unit_store(NULL, 0);
}
END_TEST

/* Two tables have the same bits. */
static void same(pe_table *a, pe_table *b)
{
    for (size_t t = 0; t < 2; t++)
        ck_assert_int_eq(memcmp(pe_table_data(a, t), pe_table_data(b, t),
                                (size_t)pe_table_tensor(a, t)->bytes),
                         0);
    pe_table_unref(a);
    pe_table_unref(b);
}

START_TEST(sharing_is_repeating)
{
    static const double REPEATED[2][6] = {{0.25, 7, -3, 0.25, 7, -3}, {0.5, 0.5, 0.5, 2, 2, 2}};
    static const double ONCE[2][3] = {{0.25, 7, -3}, {0.5, 2}};
    static const char *const SHARED[] = {QUERY "&sharing=dim", QUERY "&sharing=word"};
    for (size_t i = 0; i < 2; i++) {
        const unit_tensor whole[] = {{"amplitude", PE_F64, 2, {2, 3}, AMPLITUDE},
                                     {"frequency", PE_F32, 2, {2, 3}, REPEATED[i]},
                                     {"phase", PE_F32, 2, {2, 3}, REPEATED[i]}};
        uint64_t rank = i == 0 ? 1 : 2, rows = i == 0 ? 3 : 2;
        const unit_tensor shared[] = {{"amplitude", PE_F64, 2, {2, 3}, AMPLITUDE},
                                      {"frequency", PE_F32, rank, {rows, 1}, ONCE[i]},
                                      {"phase", PE_F32, rank, {rows, 1}, ONCE[i]}};
        unit_store(whole, 3);
        pe_table *first = unit_set_table("complex_order", QUERY);
        unit_store(shared, 3);
        same(first, unit_set_table("complex_order", SHARED[i]));
    }
    unit_store(NULL, 0);
}
END_TEST

START_TEST(an_absent_phase_is_zero)
{
    static const double ZEROS[6] = {0};
    const unit_tensor tensors[3] = {{"amplitude", PE_F64, 2, {2, 3}, AMPLITUDE},
                                    {"frequency", PE_F64, 2, {2, 3}, FREQUENCY},
                                    {"phase", PE_F64, 2, {2, 3}, ZEROS}};
    unit_store(tensors, 3);
    pe_table *zero = unit_set_table("complex_order", QUERY);
    unit_store(tensors, 2);
    same(zero, unit_set_table("complex_order", QUERY));
    unit_store(NULL, 0);
}
END_TEST

START_TEST(a_word_has_the_same_wave_wherever_it_stands)
{
    pe_table *alone = unit_table("complex_order", "length=20&dim=70&vocab=9");
    pe_table *among = unit_table("complex_order", "positions=3,19,5,0&dim=70&vocab=9&"
                                                  "tokens=8,0,8,0");
    const float *first = pe_table_data(alone, 0), *second = pe_table_data(among, 0);
    ck_assert_int_eq(memcmp(first + 19 * 70, second + 70, 280), 0);
    ck_assert_int_eq(memcmp(first, second + 3 * 70, 280), 0);
    ck_assert_int_ne(memcmp(first + 3 * 70, second, 280), 0);
    pe_table_unref(alone);
    pe_table_unref(among);
}
END_TEST

START_TEST(refuses_tokens_and_sets_that_do_not_fit)
{
    unit_refuses("complex_order", "length=3&dim=4&vocab=5&tokens=1,2", PE_OUT_OF_RANGE,
                 "tokens", "3 words, one for each row");
    unit_refuses("complex_order", "length=2&dim=4&vocab=5&tokens=1,5", PE_OUT_OF_RANGE,
                 "tokens", "below 5");
    unit_refuses("complex_order", "length=2&dim=4&vocab=5&tokens=1,-1", PE_OUT_OF_RANGE,
                 "tokens", "from 0");
    unit_refuses("complex_order", "length=2&dim=4&vocab=5&tokens=1,0.5", PE_MALFORMED, "tokens",
                 "integers");
    unit_misses("complex_order", "length=2&dim=4", "vocab");
    unit_refuses("complex_order",
                 "length=1&dim=65536&vocab=4503599627370496&"
                 "tokens=4503599627370495",
                 PE_OUT_OF_RANGE, "tokens", "2^64");
    store(2, 3, 2, 3);
    unit_set_refuses("complex_order", "length=1&set=set", "set", "[2, 3]");
    store(2, 2, 3, 3);
    unit_set_refuses("complex_order", "length=1&set=set&sharing=word", "set", "[2, 1]");
    unit_set_refuses("complex_order", "length=1&set=set&sharing=dim", "set", "[3]");
    unit_set_refuses("complex_order", "length=1&set=set&base=10", "base", "left out with set");
    unit_set_refuses("complex_order", "length=1&set=set&tokens=1&dtype=f16", "dtype", "set");
    pe_table_unref(unit_set_table("complex_order", "length=1&set=set&dtype=f16"));
    store(2, 2, 3, 1);
    unit_set_refuses("complex_order", "length=1&set=set", "set", "frequency");
    unit_store(NULL, 0);
}
END_TEST

Suite *complex_order_suite(void)
{
    const TTest *const tests[] = {stored_angles_of_any_size_are_reduced_exactly,
                                  small_angles_decide_ties,
                                  sharing_is_repeating,
                                  an_absent_phase_is_zero,
                                  a_word_has_the_same_wave_wherever_it_stands,
                                  refuses_tokens_and_sets_that_do_not_fit,
                                  NULL};
    return unit_suite("complex_order", tests);
}
