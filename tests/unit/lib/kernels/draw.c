/* Tests of draws on every instruction set: the known answers of Philox, and variables that are
 * those of the correctly rounded functions. */
#include "kernels/draw.h"

#include "kernels/kernel.h"
#include "numerics/correct.h"
#include "unit.h"

#include <math.h>

/* The answers of Random123 for counters and keys of four and two words. */
START_TEST(philox_gives_the_known_answers_of_random123)
{
    static const struct {
        pe_generator generator;
        uint64_t element;
        uint32_t expected[4];
    } ANSWERS[] = {
        {{0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{UINT64_MAX, UINT64_MAX},
         UINT64_MAX,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x299f31d0a4093822, 0x0370734413198a2e},
         0x85a308d3243f6a88,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    pe_draws draws;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < UNIT_COUNT(ANSWERS); i++) {
            const uint32_t *words = ANSWERS[i].expected;
            kernels[k]->draw(&ANSWERS[i].generator, ANSWERS[i].element, 1, &draws);
            ck_assert_uint_eq(draws.u[0], ((uint64_t)words[1] << 32 | words[0]) >> 11);
            ck_assert_uint_eq(draws.v[0], ((uint64_t)words[3] << 32 | words[2]) >> 11);
        }
}
END_TEST

START_TEST(a_draw_does_not_depend_on_those_beside_it)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    pe_generator generator = pe_generator_init(1ULL << 53, "table");
    uint64_t first = (1ULL << 32) - 30; /* the carry into the counter's next word */
    pe_draws all, some;
    kernels[0]->draw(&generator, first, PE_DRAWS, &all);
    for (size_t k = 0; k < count; k++)
        for (size_t start = 0; start < PE_DRAWS; start += 7) {
            size_t rest = PE_DRAWS - start;
            kernels[k]->draw(&generator, first + start, rest, &some);
            for (size_t i = 0; i < rest; i++)
                ck_assert(some.u[i] == all.u[start + i] && some.v[i] == all.v[start + i]);
        }
}
END_TEST

/* What the specification says, from the correctly rounded functions. */
static double normal_of(uint64_t u, uint64_t v)
{
    return sqrt(-2 * pe_wide_correct_log(2 * u + 1)) * pe_correct_cos(v);
}

/* Integers below 2^53: some of any length, some near the upper end. */
static void make_draws(uint64_t *state, pe_draws *ret_draws)
{
    for (size_t i = 0; i < PE_DRAWS; i++) {
        uint64_t u = unit_random(state) >> (11 + unit_random(state) % 50);
        ret_draws->u[i] = i % 3 == 2 ? (1ULL << 53) - 1 - u : u;
        ret_draws->v[i] = unit_random(state) >> 11;
    }
    ret_draws->u[0] = (1ULL << 53) - 1;
    ret_draws->v[0] = 0;
    ret_draws->v[1] = 1ULL << 51; /* a quarter turn: the cosine is 0 */
    ret_draws->u[2] = 1;
}

static double truncated_of(uint64_t u, uint64_t v)
{
    (void)v;
    return pe_correct_quantile((int64_t)(2 * u + 1) - (1LL << 53));
}

static pe_draw_variables *normals_of(const pe_kernel *kernel)
{
    return kernel->normals;
}

static pe_draw_variables *truncated_variables_of(const pe_kernel *kernel)
{
    return kernel->truncated;
}

/* What each kernel draws is what is expected, or NaN once in a hundred times at most. */
static void check_variables(pe_draw_variables *(*drawn_by)(const pe_kernel *kernel),
                            double (*expect)(uint64_t u, uint64_t v), uint64_t state)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels), undecided = 0, all = 0;
    for (int repeat = 0; repeat < 60; repeat++) {
        pe_draws draws;
        double expected[PE_DRAWS], variables[PE_DRAWS];
        make_draws(&state, &draws);
        for (size_t i = 0; i < PE_DRAWS; i++)
            expected[i] = expect(draws.u[i], draws.v[i]);
        for (size_t k = 0; k < count; k++) {
            drawn_by(kernels[k])(&draws, PE_DRAWS, variables);
            for (size_t i = 0; i < PE_DRAWS; i++, all++) {
                undecided += isnan(variables[i]) ? 1 : 0;
                ck_assert_msg(isnan(variables[i]) || variables[i] == expected[i],
                              "%s: %a for %a", kernels[k]->name, variables[i], expected[i]);
            }
        }
    }
    ck_assert_uint_lt(undecided, all / 100);
}

static pe_draw_variables *near_normals_of(const pe_kernel *kernel)
{
    return kernel->near_normals;
}

static pe_draw_variables *near_truncated_of(const pe_kernel *kernel)
{
    return kernel->near_truncated;
}

/* Variables are near: within the bound, of which a hundredth is seen at the least. */
static void check_near(pe_draw_variables *(*drawn_by)(const pe_kernel *kernel),
                       double (*expect)(pe_draw draw), double bound, bool without_0)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 3;
    double largest = 0;
    for (int repeat = 0; repeat < 2000; repeat++) {
        pe_draws draws;
        double expected[PE_DRAWS], variables[PE_DRAWS];
        make_draws(&state, &draws);
        draws.u[1] = 0;
        for (size_t i = 0; i < PE_DRAWS; i++)
            expected[i] = expect((pe_draw){draws.u[i], draws.v[i]});
        for (size_t k = 0; k < count; k++) {
            drawn_by(kernels[k])(&draws, PE_DRAWS, variables);
            for (size_t i = 0; i < PE_DRAWS; i++)
                if (without_0 && draws.u[i] == 0)
                    ck_assert(isnan(variables[i]));
                else
                    largest = fmax(largest, fabs(variables[i] - expected[i]));
        }
    }
    ck_assert_msg(largest < bound && largest > bound * 0.01, "%a", largest);
}

START_TEST(near_variables_are_as_near_as_they_say)
{
    check_near(near_normals_of, pe_draw_normal, PE_NEAR_NORMAL, true);
    check_near(near_truncated_of, pe_draw_truncated_normal, PE_NEAR_TRUNCATED, false);
}
END_TEST

START_TEST(normal_variables_are_rounded_correctly_or_are_nan)
{
    check_variables(normals_of, normal_of, 1);
}
END_TEST

START_TEST(truncated_variables_are_quantiles_or_are_nan)
{
    check_variables(truncated_variables_of, truncated_of, 2);
}
END_TEST

START_TEST(every_kernel_leaves_the_same_variables_undecided)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    /* log is not decided for u = 0, nor for the first two; cos not for the last one */
    pe_draws draws = {{0x1fc87dcb1f069f, 0x812de44965931, 0, 7, 9},
                      {1, 1, 1, 0, 0x103f356d305544}};
    double normals[PE_DRAWS];
    for (size_t k = 0; k < count; k++) {
        kernels[k]->normals(&draws, 5, normals);
        ck_assert(isnan(normals[0]) && isnan(normals[1]) && isnan(normals[2]));
        ck_assert(normals[3] == normal_of(7, 0));
        ck_assert(isnan(normals[4]));
    }
    draws.u[0] = (3442409529514109 + (1ULL << 53)) / 2;
    for (size_t k = 0; k < count; k++) {
        kernels[k]->truncated(&draws, 4, normals);
        ck_assert(isnan(normals[0]) && normals[3] == pe_correct_quantile(15 - (1LL << 53)));
    }
}
END_TEST

Suite *draw_suite(void)
{
    const TTest *const tests[] = {philox_gives_the_known_answers_of_random123,
                                  a_draw_does_not_depend_on_those_beside_it,
                                  near_variables_are_as_near_as_they_say,
                                  normal_variables_are_rounded_correctly_or_are_nan,
                                  truncated_variables_are_quantiles_or_are_nan,
                                  every_kernel_leaves_the_same_variables_undecided,
                                  NULL};
    return unit_suite("draw", tests);
}
