/* Networks of one input: their pieces give what the units give, added up. */
#include "trained/pieces.h"

#include "sets.h"

#include <math.h>

#define UNITS   6
#define OUTPUTS 2

/* Weights of few bits, so that doubles add them up exactly. The units begin and end to be
 * active at 0.5 and at 2; the others are always on, off or flat. */
static const double W1[UNITS] = {2, -1, 3, -0.5, 0, 0}, B1[UNITS] = {-1, 2, 0, -4, 1.5, -2};
static const double W2[OUTPUTS * UNITS] = {1, -2, 0.25, 8, 3, 16, -1, 1, 0.5, 4, -2, 32};
static const double B2[OUTPUTS] = {0.125, -7};

static double output_of(size_t h, double u)
{
    double sum = B2[h];
    for (size_t k = 0; k < UNITS; k++)
        sum += W2[h * UNITS + k] * fmax(0, W1[k] * u + B1[k]);
    return sum;
}

static void store(const double *w1, const double *b1, const double *w2, const double *b2)
{
    const unit_tensor tensors[] = {{"w1", PE_F64, 2, {UNITS, 1}, w1},
                                   {"b1", PE_F64, 1, {UNITS}, b1},
                                   {"w2", PE_F64, 2, {OUTPUTS, UNITS}, w2},
                                   {"b2", PE_F64, 1, {OUTPUTS}, b2}};
    unit_store(tensors, UNIT_COUNT(tensors));
}

/* Call `check` with the pieces of the set. */
static void with_pieces(void (*check)(const pe_pieces *pieces))
{
    unit_query query = unit_query_of("length=4&set=set");
    pe_request *request;
    pe_error error;
    ck_assert_int_eq(pe_request_new(pe_scheme_find("fire"), query.arguments, query.count,
                                    &UNIT_SET_LIMITS, &request, &error),
                     PE_OK);
    const pe_runner runner = {.context = NULL};
    const pe_weights weights = {.set = pe_request_set(request), .dtype = PE_F32};
    pe_pace pace = {.runner = &runner, .reterr = &error};
    pe_pieces pieces;
    pe_error_init(&error);
    ck_assert(pe_pieces_init(&pieces, &weights, UNITS, OUTPUTS, &pace));
    check(&pieces);
    pe_kept_free(pace.kept);
    pe_request_unref(request);
    unit_query_free(&query);
}

static void check_outputs(const pe_pieces *pieces)
{
    ck_assert_uint_eq(pieces->corners, 2);
    ck_assert(pieces->at[0].hi == 0.5 && pieces->at[1].hi == 2);
    for (double u = 0; u <= 4; u += 0.125)
        for (size_t h = 0; h < OUTPUTS; h++) {
            dd value = pe_line_value(pe_pieces_find(pieces, (dd){u, 0})[h], (dd){u, 0});
            ck_assert_msg(value.hi == output_of(h, u) && value.lo == 0, "output %zu at %g: %a",
                          h, u, value.hi);
        }
}

START_TEST(outputs_are_the_sums_over_the_units)
{
    store(W1, B1, W2, B2);
    with_pieces(check_outputs);
    unit_store(NULL, 0);
}
END_TEST

/* Inputs forth, and back again, each as far off as it may be. */
static void check_intervals(const pe_pieces *pieces)
{
    double exact[65], inputs[65], outputs[65], error;
    for (int far = 0; far < 3; far++)
        for (size_t h = 0; h < OUTPUTS; h++) {
            size_t runs = 0;
            for (size_t i = 0; i < 65; i++) {
                exact[i] = (i <= 32 ? (double)i : (double)(64 - i)) / 8;
                inputs[i] = exact[i] * (1 + (far - 1) * 0x1p-51);
            }
            for (size_t i = 0, piece = 0, part; i < 65; i += part, runs++) {
                part = pe_pieces_follow(pieces, h, inputs + i, 65 - i, &piece, outputs, &error);
                ck_assert(part > 0 && error < 0x1p-41);
                for (size_t k = 0; k < part; k++)
                    ck_assert_msg(fabs(outputs[k] - output_of(h, exact[i + k])) <= error,
                                  "output %zu at %g: %a", h, exact[i + k], outputs[k]);
            }
            ck_assert_uint_eq(runs, 5); /* three pieces, and back over two of them */
        }
}

START_TEST(intervals_hold_the_outputs)
{
    store(W1, B1, W2, B2);
    with_pieces(check_intervals);
    unit_store(NULL, 0);
}
END_TEST

static void check_magnitude(const pe_pieces *pieces)
{
    /* the outputs are largest at a corner or at an end */
    static const double ENDS[] = {0, 0.25, 0.5, 1, 2, 3};
    for (size_t e = 0; e < UNIT_COUNT(ENDS); e++) {
        double expected = 0;
        for (double u = 0; u <= ENDS[e]; u += 0.125)
            for (size_t h = 0; h < OUTPUTS; h++)
                expected = fmax(expected, fabs(output_of(h, u)));
        ck_assert(pe_pieces_magnitude(pieces, (dd){ENDS[e], 0}) == expected);
    }
}

START_TEST(the_largest_output_is_found_at_the_corners)
{
    store(W1, B1, W2, B2);
    with_pieces(check_magnitude);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(sums_that_cancel_lose_no_bits)
{
    /* at u = 0 only the biases count: (1e20 + 1) · 1 - 1e20 · 1 … in whatever order */
    static const double w1[UNITS] = {0, 0, 0, 0, 0, 0}, b1[UNITS] = {1e20, 3, 1e20, 1, 1, 1};
    static const double w2[OUTPUTS * UNITS] = {1,     0x1p-60, -1,   0, 0, 0,
                                               -1e10, 1,       1e10, 0, 0, 0};
    static const double b2[OUTPUTS] = {0x1p-62, 0x1p-80};
    store(w1, b1, w2, b2);
    pe_table *table = unit_set_table("fire", "length=1&set=set&dtype=f64");
    const double *bias = pe_table_data(table, 0);
    ck_assert(bias[0] == 13 * 0x1p-62 && bias[1] == 3); /* 2^-80 is below the last place */
    pe_table_unref(table);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(weights_that_are_too_large_are_refused)
{
    double large[UNITS] = {1, 2, -2e30, 4, 5, 6};
    static const char *const NAMES[] = {"w1", "b1"};
    for (size_t i = 0; i < UNIT_COUNT(NAMES); i++) {
        store(i == 0 ? large : W1, i == 1 ? large : B1, W2, B2);
        unit_set_refuses("fire", "length=4&set=set", "set", NAMES[i]);
    }
    double steep[OUTPUTS * UNITS] = {1e30};
    store(W1, B1, steep, B2);
    unit_set_refuses("fire", "length=4&set=set&dtype=f16&threshold=1", "dtype", "f16");
    unit_store(NULL, 0);
}
END_TEST

Suite *pieces_suite(void)
{
    const TTest *const tests[] = {
        outputs_are_the_sums_over_the_units,        intervals_hold_the_outputs,
        the_largest_output_is_found_at_the_corners, sums_that_cancel_lose_no_bits,
        weights_that_are_too_large_are_refused,     NULL};
    return unit_suite("pieces", tests);
}
