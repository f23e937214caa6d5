/* Tests of the kernels of every instruction set that this processor can run: all give the same
 * bits. */
#include "kernels/kernel.h"

#include "numerics/phase.h"
#include "unit.h"

#include <math.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state ^ *state >> 29;
}

START_TEST(seeds_are_within_62_hundredths_of_the_last_place)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 1, phases[PE_KERNEL_PAIRS];
    double sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS], worst = 0;
    for (int repeat = 0; repeat < 400; repeat++) {
        for (size_t i = 0; i < PE_KERNEL_PAIRS; i++)
            phases[i] = next_random(&state);
        phases[0] = (uint64_t)repeat << 58; /* the table's own angles */
        for (size_t k = 0; k < count; k++) {
            kernels[k]->seed(phases, PE_KERNEL_PAIRS, sines, cosines);
            for (size_t i = 0; i < PE_KERNEL_PAIRS; i++) {
                dd sine, cosine;
                pe_phase_sincos((pe_wide){{0, 0, 0, phases[i]}}, &sine, &cosine);
                worst = fmax(worst, fabs(sines[i] - sine.hi - sine.lo));
                worst = fmax(worst, fabs(cosines[i] - cosine.hi - cosine.lo));
            }
        }
    }
    ck_assert_msg(worst <= 0.62 * 0x1p-53, "%g", worst * 0x1p53);
}
END_TEST

START_TEST(quarter_turns_are_exact)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    static const uint64_t phases[4] = {0, 1ULL << 62, 2ULL << 62, 3ULL << 62};
    static const double expected[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    for (size_t k = 0; k < count; k++) {
        double sines[4], cosines[4];
        kernels[k]->seed(phases, 4, sines, cosines);
        for (size_t i = 0; i < 4; i++)
            ck_assert(sines[i] == expected[i][0] && cosines[i] == expected[i][1]);
    }
}
END_TEST

START_TEST(advancing_carries_between_the_halves)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    for (size_t k = 0; k < count; k++) {
        uint64_t high[3] = {1, ~0ULL, 5}, low[3] = {~0ULL, ~0ULL, 7};
        const uint64_t step_high[3] = {2, 0, 6}, step_low[3] = {1, 1, 8};
        kernels[k]->advance(high, low, step_high, step_low, 3);
        ck_assert(high[0] == 4 && low[0] == 0);
        ck_assert(high[1] == 0 && low[1] == 0);
        ck_assert(high[2] == 11 && low[2] == 15);
    }
}
END_TEST

START_TEST(copies_past_the_caches_copy)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    static unsigned char from[400], to[400];
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 7 + 1);
    for (size_t k = 0; k < count; k++)
        for (size_t start = 0; start < 70; start++)
            for (size_t size = 0; size < 300; size += 23) {
                memset(to, 0, sizeof to);
                kernels[k]->stream(to + start, from + 3, size);
                kernels[k]->fence();
                ck_assert_int_eq(memcmp(to + start, from + 3, size), 0);
                ck_assert(to[start + size] == 0 && (start == 0 || to[start - 1] == 0));
            }
}
END_TEST

/* FNV-1a sums of tables, the same for every kernel, compiler and optimisation level. If one
 * changes, bits have changed, and the scheme's revision must be raised. */
static const struct {
    const char *scheme, *query;
    uint64_t sum;
} SUMS[] = {
#include "checksums.def"
};

/* The FNV-1a sum of the bytes of all tensors. */
static uint64_t sum_of(const char *scheme, const char *query)
{
    pe_table *table = unit_table(scheme, query);
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t t = 0; t < pe_table_tensor_count(table); t++) {
        const unsigned char *data = pe_table_data(table, t);
        for (uint64_t i = 0; i < pe_table_tensor(table, t)->bytes; i++)
            sum = (sum ^ data[i]) * 0x100000001b3;
    }
    pe_table_unref(table);
    return sum;
}

START_TEST(tables_have_the_same_bits_everywhere)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    for (size_t k = 0; k < count; k++) {
        pe_kernel_use(kernels[k]);
        for (size_t i = 0; i < sizeof SUMS / sizeof *SUMS; i++) {
            uint64_t sum = sum_of(SUMS[i].scheme, SUMS[i].query);
            ck_assert_msg(sum == SUMS[i].sum, "{\"%s\", \"%s\", 0x%016llx}, by %s",
                          SUMS[i].scheme, SUMS[i].query, (unsigned long long)sum,
                          kernels[k]->name);
        }
    }
    pe_kernel_use(NULL);
}
END_TEST

Suite *kernel_suite(void)
{
    const TTest *const tests[] = {seeds_are_within_62_hundredths_of_the_last_place,
                                  quarter_turns_are_exact,
                                  advancing_carries_between_the_halves,
                                  copies_past_the_caches_copy,
                                  tables_have_the_same_bits_everywhere,
                                  NULL};
    return unit_suite("kernel", tests);
}
