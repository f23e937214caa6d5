/* Tests of prices of explanations: which of two is the simpler one, whatever the bits are. */
#include "identify/price.h"

#include "unit.h"

#include <math.h>
#include <string.h>

START_TEST(numbers_that_are_said_briefly_are_cheap)
{
    const double round = pe_price_number(10000), odd = pe_price_number(27182.8183);
    ck_assert_double_lt(round, pe_price_number(12000));
    ck_assert_double_lt(pe_price_number(12000), odd);
    ck_assert_double_eq(pe_price_number(0.001), pe_price_number(100));
    ck_assert_double_lt(pe_price_number(1), pe_price_number(-1));
    ck_assert_double_lt(pe_price_number(2048), pe_price_number(2049));
    ck_assert_double_lt(pe_price_number(ldexp(1, -40)), odd);
    const double named[] = {sqrt(512), 1 / sqrt(512), acos(-1),      2 * acos(-1),
                            PE_LOG2_E, 1 / PE_LOG2_E, 8 * PE_LOG2_E, 1 / (8 * PE_LOG2_E)};
    for (size_t i = 0; i < UNIT_COUNT(named); i++) {
        ck_assert_double_lt(pe_price_number(named[i]), odd);
        ck_assert_double_gt(pe_price_number(named[i] * (1 + 1e-7)), odd);
    }
}
END_TEST

/* The bits of a request of a table of 64 rows and 32 columns. */
static double price(const char *scheme, const char *query, const char *tensor)
{
    const pe_view view = {.rank = 2, .shape = {64, 32}, .strides = {32, 1}};
    return pe_price_request(pe_scheme_find(scheme), query, tensor, &view);
}

START_TEST(what_the_table_or_the_scheme_says_costs_nothing)
{
    static const struct {
        const char *scheme, *query;
    } FREE[] = {
        {"sinusoidal", "length=64&dim=32"},
        {"sinusoidal", "length=64&dim=32&base=10000&layout=interleaved&offset=0"},
        {"rope", "length=64&dim=64"}, /* of which the table has half */
    };
    for (size_t i = 0; i < UNIT_COUNT(FREE); i++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_find(FREE[i].scheme));
        ck_assert_double_eq(price(FREE[i].scheme, FREE[i].query, info->tensors[0].name), 0);
    }
}
END_TEST

START_TEST(each_argument_adds_to_a_request)
{
    static const char *const DEARER[] = {
        "length=64&dim=32",
        "length=64&dim=32&layout=concat",
        "length=64&dim=32&layout=concat&offset=1",
        "length=64&dim=32&layout=concat&offset=1&base=500000",
        "length=64&dim=32&layout=concat&offset=1&base=487213.5",
    };
    for (size_t i = 1; i < UNIT_COUNT(DEARER); i++)
        ck_assert_double_lt(price("sinusoidal", DEARER[i - 1], "encoding"),
                            price("sinusoidal", DEARER[i], "encoding"));
    ck_assert_double_lt(price("rope", "length=64&dim=64", "cos"),
                        price("rope", "length=64&dim=64", "sin"));
    /* a whole number that the scheme does not require is dearer, unless it divides an extent */
    ck_assert_double_lt(price("alibi", "length=32&heads=16&head_dim=16", "bias"),
                        price("alibi", "length=32&heads=16&head_dim=17", "bias"));
    /* the extents of a grid multiply to one of the table */
    ck_assert_double_lt(price("axial_rope", "sizes=8,8&dim=64", "cos"),
                        price("axial_rope", "sizes=8,8&dim=64&rope_theta=77", "cos"));
}
END_TEST

START_TEST(forms_cost_more_than_a_default_and_their_numbers)
{
    const pe_view view = {.rank = 2, .shape = {64, 32}, .strides = {32, 1}};
    const pe_transform moved = {.kind = PE_TRANSFORM_TRANSPOSED};
    const pe_transform few = {.kind = PE_TRANSFORM_COLUMNS, .count = 4};
    const pe_transform many = {.kind = PE_TRANSFORM_COLUMNS, .count = 32};
    const pe_transform root = {.kind = PE_TRANSFORM_FACTOR, .value = sqrt(512)};
    const pe_transform odd = {.kind = PE_TRANSFORM_FACTOR, .value = 0.7391823};
    const pe_transform both = {
        .kind = PE_TRANSFORM_FACTOR, .value = 0.7391823, .constant = 0.5};
    ck_assert_double_gt(pe_price_form(&moved, &view), 0);
    ck_assert_double_lt(pe_price_form(&few, &view), pe_price_form(&many, &view));
    ck_assert_double_lt(pe_price_form(&root, &view), pe_price_form(&odd, &view));
    ck_assert_double_lt(pe_price_form(&odd, &view), pe_price_form(&both, &view));
}
END_TEST

START_TEST(places_cost_most_where_half_are_chosen)
{
    ck_assert_double_eq(pe_price_places(0, 1000), 0);
    ck_assert_double_eq_tol(pe_price_places(500, 1000), 1000, 1e-9);
    ck_assert_double_lt(pe_price_places(1, 1000), 13);
    ck_assert_double_lt(pe_price_places(1, 1000), pe_price_places(2, 1000));
    ck_assert_double_eq_tol(pe_price_places(10, 1000), pe_price_places(990, 1000), 1e-9);
}
END_TEST

START_TEST(what_fits_better_costs_less)
{
    const pe_view view = {.rank = 2, .shape = {64, 32}, .strides = {32, 1}};
    static pe_identity found = {.comparison.entries = 2048};
    static const pe_arithmetic BETTER[] = {PE_ARITHMETIC_EXACT, PE_ARITHMETIC_F32,
                                           PE_ARITHMETIC_F32_LIKE};
    for (size_t i = 1; i < UNIT_COUNT(BETTER); i++) {
        found.arithmetic = BETTER[i - 1];
        const double before = pe_price_rest(&found, &view, 2048);
        found.arithmetic = BETTER[i];
        ck_assert_double_lt(before, pe_price_rest(&found, &view, 2048));
    }
    found.arithmetic = PE_ARITHMETIC_UNKNOWN;
    found.comparison.bins[12] = 64; /* that many bits off */
    found.misfits.count = 64;
    const double scattered = pe_price_rest(&found, &view, 2048);
    found.misfits.row_count = 2; /* which have all of these */
    ck_assert_double_lt(pe_price_rest(&found, &view, 2048), scattered);
}
END_TEST

Suite *explanation_price_suite(void)
{
    const TTest *const tests[] = {numbers_that_are_said_briefly_are_cheap,
                                  what_the_table_or_the_scheme_says_costs_nothing,
                                  each_argument_adds_to_a_request,
                                  forms_cost_more_than_a_default_and_their_numbers,
                                  places_cost_most_where_half_are_chosen,
                                  what_fits_better_costs_less,
                                  NULL};
    return unit_suite("explanation_price", tests);
}
