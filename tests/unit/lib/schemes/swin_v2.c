/* Biases of a network: stored ones, its ends, and what is refused. */
#include "sets.h"
#include "trained/bias_enclosure.h"

#include <math.h>
#include <stdio.h>

/* Store a network of one hidden unit and two heads. */
static void store(double y, double x, double bias, double first, double second)
{
    const double w1[] = {y, x}, w2[] = {first, second};
    const unit_tensor tensors[] = {{"w1", PE_F64, 2, {1, 2}, w1},
                                   {"b1", PE_F64, 1, {1}, &bias},
                                   {"w2", PE_F64, 2, {2, 1}, w2}};
    unit_store(tensors, 3);
}

/* Check both heads' biases of one token with itself, which the network's b1 alone decides. */
static void check_middle(const char *dtype, double first, double second)
{
    char query[80];
    snprintf(query, sizeof query, "height=1&set=set&dtype=%s", dtype);
    pe_table *table = unit_set_table("swin_v2", query);
    const pe_tensor *tensor = pe_table_tensor(table, 0);
    const unsigned char *data = pe_table_data(table, 0);
    double got[2];
    for (size_t h = 0; h < 2; h++)
        got[h] = unit_element(tensor->dtype, data + h * pe_dtype_size(tensor->dtype));
    ck_assert_msg(got[0] == first && got[1] == second, "%s: %a and %a", dtype, got[0], got[1]);
    pe_table_unref(table);
}

START_TEST(the_sigmoid_reaches_both_ends)
{
    store(0, 0, 8, 0, -12.5);
    check_middle("f64", 8, 0x1.a8c1f14e2af5dp-141); /* 16·exp(-100) */
    check_middle("f32", 8, 0x1.a9p-141);
    check_middle("f16", 8, 0);
    store(0, 0, 4, 16, 0.25);
    check_middle("f64", 16, 0x1.764d4f5d5a2bdp+3); /* 16/(1 + exp(-1)) */
    store(0, 0, 16, 0.0625, -0.0625);
    check_middle("f64", 0x1.764d4f5d5a2bdp+3, 0x1.136561454ba86p+2);
    store(0, 0, -1, 16, -16); /* relu gives 0 */
    check_middle("f64", 8, 8);
    store(0, 0, 0x1p-1000, 1, -1);
    check_middle("f64", 8, 8);
    store(0, 0, 0x1p-50, 1, -1); /* 8 ± 4·2^-50 */
    check_middle("f64", 8 + 0x1p-48, 8 - 0x1p-48);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(offsets_are_query_minus_key)
{
    store(0, 8, 0, 1, 0); /* only positive offsets of columns pass relu */
    pe_table *table = unit_set_table("swin_v2", "height=1&width=2&set=set&dtype=f64");
    const double *bias = pe_table_data(table, 0), *coordinates = pe_table_data(table, 2);
    double x = log2(9) / 3;
    ck_assert(bias[0] == 8 && bias[1] == 8 && bias[3] == 8 && bias[4] == 8);
    ck_assert_double_eq_tol(bias[2], 16 / (1 + exp(-8 * x)), 1e-12);
    ck_assert(coordinates[0] == 0 && coordinates[2] == 0 && coordinates[3] == 0);
    ck_assert_double_eq_tol(coordinates[5], x, 1e-15);
    ck_assert(coordinates[1] == -coordinates[5]);
    pe_table_unref(table);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(refuses_networks_that_do_not_fit)
{
    store(0, 0, 10, 1, -10.25); /* -102.5 */
    unit_set_refuses("swin_v2", "height=1&set=set", "set", "at least -100");
    store(0, 17, 0, 1, 1);
    unit_set_refuses("swin_v2", "height=1&set=set", "set", "at most 16");
    store(0, 0, -16.5, 1, 1);
    unit_set_refuses("swin_v2", "height=1&set=set", "set", "at most 16");
    store(0, 0, 1, 1, 1);
    unit_set_refuses("swin_v2", "height=1&set=set&heads=3", "heads", "2");
    unit_set_refuses("swin_v2", "height=1&set=set&hidden=3", "hidden", "1");
    const double weights[] = {1, 1};
    const unit_tensor tensors[] = {{"w1", PE_F64, 2, {1, 2}, weights},
                                   {"b1", PE_F64, 1, {2}, weights},
                                   {"w2", PE_F64, 2, {2, 1}, weights}};
    unit_store(tensors, 3);
    unit_set_refuses("swin_v2", "height=1&set=set", "set", "b1");
    unit_store(NULL, 0);
    unit_refuses("swin_v2", "height=2&heads=1&pretrained_height=1", PE_OUT_OF_RANGE,
                 "pretrained_height", "from 2");
    unit_misses("swin_v2", "height=2", "heads");
}
END_TEST

#define HEADS  35 /* two panels */
#define HIDDEN 20

/* Check intervals at sevenths, which doubles are near, around the exact biases. */
static void check_intervals(const pe_bias_network *network, int64_t y, int64_t x, pe_pace *pace)
{
    const pe_fixed seven = {.whole = 7};
    const pe_fixed at[2] = {pe_fixed_div((pe_fixed){.whole = y}, seven),
                            pe_fixed_div((pe_fixed){.whole = x}, seven)};
    const double near[2] = {pe_fixed_nearest(at[0]), pe_fixed_nearest(at[1])};
    pe_fixed biases[HEADS];
    double low[HEADS], high[HEADS];
    pe_bias_enclosure enclosure;
    ck_assert(pe_bias_enclosure_init(&enclosure, network, pace));
    ck_assert(pe_bias_network_compute(network, at, biases));
    ck_assert(pe_bias_enclose(&enclosure, near, low, high));
    for (size_t h = 0; h < HEADS; h++) {
        double bias = pe_fixed_nearest(biases[h]);
        ck_assert_msg(low[h] <= bias && bias <= high[h] && high[h] - low[h] < bias * 0x1p-30,
                      "head %zu at %d/7, %d/7: %a to %a, not %a", h, (int)y, (int)x, low[h],
                      high[h], bias);
    }
}

START_TEST(intervals_hold_the_biases)
{
    const pe_runner runner = {.context = NULL};
    pe_error error;
    pe_pace pace = {.runner = &runner, .reterr = &error};
    pe_error_init(&error);
    for (uint64_t seed = 0; seed < 20; seed++) {
        const pe_weights weights = {.seed = seed, .dtype = PE_F32};
        pe_bias_network network;
        ck_assert(pe_bias_network_init(&network, &weights, HEADS, HIDDEN, &pace));
        for (size_t i = 0; i < (3 + HEADS) * HIDDEN; i++) /* seeded ones are small */
            network.w1[i].shift -= seed % 8;
        network.b1[seed] = network.w1[seed];
        for (int corner = 0; corner < 9; corner++)
            check_intervals(&network, 5 * (corner % 3) - 6, corner / 3 - 1, &pace);
    }
    pe_kept_free(pace.kept);
}
END_TEST

Suite *swin_v2_suite(void)
{
    const TTest *const tests[] = {the_sigmoid_reaches_both_ends, intervals_hold_the_biases,
                                  offsets_are_query_minus_key, refuses_networks_that_do_not_fit,
                                  NULL};
    return unit_suite("swin_v2", tests);
}
