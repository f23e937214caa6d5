/* Random variables: known answers, and moments of the distributions. */
#include "numerics/rng.h"

#include "kernels/kernel.h"
#include "unit.h"

#include <math.h>

static pe_draw draw_at(const pe_generator *generator, uint64_t element)
{
    pe_draws draws;
    pe_kernel_get()->draw(generator, element, 1, &draws);
    return (pe_draw){draws.u[0], draws.v[0]};
}

/* Expected: tests/golden/philox.py. */
START_TEST(a_draw_depends_on_seed_name_and_element)
{
    static const struct {
        uint64_t seed;
        const char *tensor;
        uint64_t element, u, v;
        double normal, truncated;
    } DRAWS[] = {
        {0, "table", 0, 0xb186022335af7, 0x18dd0ce7abbffc, 0x1.f6f6d2066853dp-3,
         -0x1.805c20dc46ac0p-2},
        {0, "table", 1, 0x1a30eb25f83675, 0x4336512b0008, 0x1.43a49b32c6a15p-1,
         0x1.b63c15be03ee8p-1},
        {1ULL << 53, "w1", (1ULL << 40) + 5, 0x17d0cee0308022, 0x14a55c5cb590dd,
         -0x1.e1ad38adbb518p-2, 0x1.3e9d8f3917a61p-1},
        {17, "amplitude", 3, 0x280e5e0797c3, 0x1664ab67d62c9a, -0x1.031ce39951957p+0,
         -0x1.eb91322447bc5p+0},
    };
    for (size_t i = 0; i < UNIT_COUNT(DRAWS); i++) {
        pe_generator generator = pe_generator_init(DRAWS[i].seed, DRAWS[i].tensor);
        pe_draw draw = draw_at(&generator, DRAWS[i].element);
        ck_assert_uint_eq(draw.u, DRAWS[i].u);
        ck_assert_uint_eq(draw.v, DRAWS[i].v);
        ck_assert(pe_draw_normal(draw) == DRAWS[i].normal);
        ck_assert(pe_draw_truncated_normal(draw) == DRAWS[i].truncated);
    }
    ck_assert_uint_eq(pe_generator_init(0, "").tag, 0xcbf29ce484222325);
    ck_assert_uint_eq(pe_generator_init(0, "a").tag, 0xaf63dc4c8601ec8c);
}
END_TEST

/* Fail unless the first four moments about 0 of many draws are within five standard errors of
 * the distribution's. expected[m] is moment m + 1. */
static void check_moments(double (*variable)(pe_draw), const double expected[8])
{
    enum { COUNT = 400000 };
    pe_generator generator = pe_generator_init(12345, "moments");
    double sums[4] = {0, 0, 0, 0};
    for (uint64_t i = 0; i < COUNT; i++) {
        double value = variable(draw_at(&generator, i)), power = 1;
        for (int m = 0; m < 4; m++) {
            power *= value;
            sums[m] += power;
        }
    }
    for (int m = 0; m < 4; m++) {
        /* the variance of x^m is E x^2m - (E x^m)² */
        double error = sqrt((expected[2 * m + 1] - expected[m] * expected[m]) / COUNT);
        ck_assert_msg(fabs(sums[m] / COUNT - expected[m]) < 5 * error, "moment %d: %g", m + 1,
                      sums[m] / COUNT);
    }
}

START_TEST(variables_have_the_moments_of_their_distributions)
{
    check_moments(pe_draw_normal, (double[8]){0, 1, 0, 3, 0, 15, 0, 105});
    check_moments(pe_draw_uniform, (double[8]){0, 1.0 / 3, 0, 1.0 / 5, 0, 1.0 / 7, 0, 1.0 / 9});
    /* E x^2m = (2m - 1) E x^(2m - 2) - 2^2m φ(2)/(Φ(2) - 1/2) */
    const double edge = 0.11312935;
    double second = 1 - 2 * edge, fourth = 3 * second - 8 * edge;
    double sixth = 5 * fourth - 32 * edge, eighth = 7 * sixth - 128 * edge;
    check_moments(pe_draw_truncated_normal,
                  (double[8]){0, second, 0, fourth, 0, sixth, 0, eighth});
}
END_TEST

START_TEST(the_ends_of_the_unit_interval_are_finite)
{
    static const pe_draw ENDS[] = {{0, 0}, {(1ULL << 53) - 1, 0}, {0, 1ULL << 52}};
    for (size_t i = 0; i < UNIT_COUNT(ENDS); i++) {
        ck_assert(fabs(pe_draw_normal(ENDS[i])) < 8.66);
        ck_assert(fabs(pe_draw_uniform(ENDS[i])) < 1);
        ck_assert(fabs(pe_draw_truncated_normal(ENDS[i])) < 2);
    }
    ck_assert(pe_draw_normal(ENDS[0]) > 8.65);
}
END_TEST

Suite *rng_suite(void)
{
    const TTest *const tests[] = {a_draw_depends_on_seed_name_and_element,
                                  variables_have_the_moments_of_their_distributions,
                                  the_ends_of_the_unit_interval_are_finite, NULL};
    return unit_suite("rng", tests);
}
