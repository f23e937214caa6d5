/* Tests of the network: its activation, its layers, and packing its weights. */
#include "ode/network.h"

#include "unit.h"

#include <math.h>

START_TEST(tanh_is_within_a_unit_of_the_last_place)
{
    uint64_t state = 8;
    for (int i = 0; i < 200000; i++) {
        double x = ldexp((double)(int64_t)unit_random(&state), -63 + i % 40 - 34);
        long double expected = tanhl((long double)x);
        long double error = fabsl((long double)pe_network_tanh(x) - expected);
        if (error > fabsl(expected) * 0x1p-51L)
            ck_abort_msg("%a: %a", x, pe_network_tanh(x));
        unit_assert(pe_network_tanh(-x) == -pe_network_tanh(x));
    }
}
END_TEST

START_TEST(tanh_has_its_limits)
{
    ck_assert(pe_network_tanh(0) == 0);
    ck_assert(pe_network_tanh(0x1p-1060) == 0x1p-1060);
    ck_assert(pe_network_tanh(20) == 1 && pe_network_tanh(-1e300) == -1);
    ck_assert(pe_network_tanh(19.9999) == 1);
    ck_assert(pe_network_tanh(INFINITY) == 1 && isnan(pe_network_tanh(NAN)));
    for (double x = 0.49; x < 0.51; x += 1e-5) /* two formulas meet at 1/2 */
        unit_assert(pe_network_tanh(x + 1e-5) > pe_network_tanh(x));
}
END_TEST

/* ---- layers: pe_trained made of arrays ---- */

#define TENSOR(array, columns_)                                                                \
    {                                                                                          \
        .stored = &(const pe_set_tensor){.tensor = {.name = "t",                               \
                                                    .dtype = PE_F64,                           \
                                                    .rank = 1,                                 \
                                                    .shape = {UNIT_COUNT(array)}},             \
                                         .data = array},                                       \
        .stored_rows = UNIT_COUNT(array) / (columns_), .columns = (columns_)                   \
    }

static const double W1[6] = {1, 2, 100, -3, 4, 0}, B1[2] = {0.5, -1};
static const double W2[6] = {1, 10, 7, -2, 0.5, 0}, B2[2] = {0.25, 0};

/* A runner's `go_on` that cancels after as many calls as the context says. */
static bool count_calls(void *context, const pe_scheme *scheme, double done)
{
    uint64_t *calls = context;
    (void)scheme;
    (void)done;
    return (*calls)-- > 0;
}

/* Create the network of these arrays; cancelled after `calls` rows. Returns what was kept for
 * it, NULL after a failure. */
static void *create(pe_network *network, pe_activation activation, uint64_t calls)
{
    const pe_runner runner = {.context = &calls, .go_on = count_calls};
    pe_error error;
    pe_pace pace = {.runner = &runner, .reterr = &error};
    const pe_trained weights[2] = {TENSOR(W1, 3), TENSOR(W2, 3)};
    const pe_trained biases[2] = {TENSOR(B1, 2), TENSOR(B2, 2)};
    pe_error_init(&error);
    if (pe_network_init(network, weights, biases, 2, 2, activation, PE_QUESTION_PRICE, &pace))
        return pace.kept;
    pe_kept_free(pace.kept);
    return NULL;
}

START_TEST(a_derivative_is_that_of_the_formula)
{
    pe_network network;
    double derivative[2], units[2];
    void *kept = create(&network, PE_RELU, 100);
    ck_assert_ptr_nonnull(kept);
    pe_network_derivative(&network, 0.25, (const double[]){1, 2}, units, derivative);
    /* z = (1 + 4 + 25 + 1/2, -3 + 8 + 0 - 1) */
    ck_assert(units[0] == 30.5 && units[1] == 4);
    ck_assert(derivative[0] == 30.5 + 40 + 1.75 + 0.25);
    ck_assert(derivative[1] == -61 + 2);
    pe_network_derivative(&network, 0, (const double[]){-1, -1}, units, derivative);
    /* z = (-2.5, -2): relu makes both 0 */
    ck_assert(units[0] == -2.5 && units[1] == -2);
    ck_assert(derivative[0] == 0.25 && derivative[1] == 0);
    pe_kept_free(kept);
    kept = create(&network, PE_TANH, 100);
    ck_assert_ptr_nonnull(kept);
    pe_network_derivative(&network, 0, (const double[]){-1, -1}, units, derivative);
    ck_assert(derivative[1] == -2 * pe_network_tanh(-2.5) + 0.5 * pe_network_tanh(-2));
    pe_kept_free(kept);
}
END_TEST

START_TEST(packing_can_be_cancelled_and_survives_a_lack_of_memory)
{
    pe_network network;
    for (uint64_t calls = 0; calls < 4; calls++)
        ck_assert(!create(&network, PE_RELU, calls));
    for (size_t k = 0;; k++) {
        unit_fail_allocations(k, 1);
        void *created = create(&network, PE_RELU, 100);
        unit_allocations seen = unit_allow_allocations();
        ck_assert_int_eq(created != NULL, seen.failed == 0);
        if (created) {
            ck_assert_uint_eq(k, 8);
            pe_kept_free(created);
            break;
        }
    }
}
END_TEST

START_TEST(weights_are_counted_as_they_are_packed)
{
    ck_assert_uint_eq(pe_network_weights(1, 1), 32 * 2 + 32 * 2);
    ck_assert_uint_eq(pe_network_weights(32, 64), 64 * 33 + 32 * 65);
    ck_assert_uint_eq(pe_network_weights(33, 1), 32 * 34 + 64 * 2);
}
END_TEST

Suite *network_suite(void)
{
    const TTest *const tests[] = {tanh_is_within_a_unit_of_the_last_place,
                                  tanh_has_its_limits,
                                  a_derivative_is_that_of_the_formula,
                                  packing_can_be_cancelled_and_survives_a_lack_of_memory,
                                  weights_are_counted_as_they_are_packed,
                                  NULL};
    return unit_suite("network", tests);
}
