/* FLOATER's tables: stored networks, windows, limits, cancelling. */
#include "sets.h"

#include <math.h>
#include <string.h>

/* p' = (p_1, 0) + (0, t): a path that is known. */
static const double P0[2] = {1, 0.5}, W1[6] = {0, 1, 0, 1, 0, 0}, B1[2] = {0, 0};
static const double W2[6] = {1, 0, 0, 0, 0, 1}, B2[2] = {0, 0};
static const unit_tensor TENSORS[] = {
    {"p0", PE_F64, 1, {2}, P0},    {"w1", PE_F64, 2, {2, 3}, W1}, {"b1", PE_F64, 1, {2}, B1},
    {"w2", PE_F64, 2, {2, 3}, W2}, {"b2", PE_F64, 1, {2}, B2},
};

START_TEST(a_stored_network_moves_its_state)
{
    static const char *const METHODS[] = {"dopri5", "rk4"};
    unit_store(TENSORS, 5);
    for (size_t m = 0; m < 2; m++) {
        char query[200] = "length=11&set=set&dtype=f64&dt=0.1&method=";
        pe_table *table = unit_set_table("floater", strcat(query, METHODS[m]));
        const double *rows = pe_table_data(table, 0);
        ck_assert_uint_eq(pe_table_tensor(table, 0)->shape[1], 2);
        for (size_t k = 0; k <= 10; k++) {
            double t = (double)k * 0.1; /* p_1 = 1/2 + t²/2, p_0 = 1 + t/2 + t³/6 */
            ck_assert(fabs(rows[2 * k] - (1 + t / 2 + t * t * t / 6)) < 1e-13);
            ck_assert(fabs(rows[2 * k + 1] - (0.5 + t * t / 2)) < 1e-13);
        }
        pe_table_unref(table);
    }
    unit_store(NULL, 0);
}
END_TEST

START_TEST(rows_do_not_depend_on_how_they_are_asked_for)
{
    static const char *const ASKED[] = {
        "length=40&dim=5&dtype=f64", "length=3&offset=37&dim=5&dtype=f64",
        "length=3&offset=39&step=-1&dim=5&dtype=f64", "positions=39,37,38,37&dim=5&dtype=f64",
        "length=3&offset=37&step=0&dim=5&dtype=f64"};
    static const size_t ROWS[][3] = {
        {0, 0, 0}, {37, 38, 39}, {39, 38, 37}, {39, 37, 38}, {37, 37, 37}};
    pe_table *whole = unit_table("floater", ASKED[0]);
    const double *all = pe_table_data(whole, 0);
    for (size_t i = 1; i < UNIT_COUNT(ASKED); i++) {
        pe_table *part = unit_table("floater", ASKED[i]);
        const double *rows = pe_table_data(part, 0);
        for (size_t r = 0; r < 3; r++)
            ck_assert_int_eq(memcmp(rows + 5 * r, all + 5 * ROWS[i][r], 40), 0);
        pe_table_unref(part);
    }
    pe_table_unref(whole);
}
END_TEST

START_TEST(hidden_units_are_dim_unless_given)
{
    static const char WITHOUT[] = "length=4&dim=6&activation=tanh";
    ck_assert(
        unit_begin_alike("floater", WITHOUT, "length=4&dim=6&hidden=6&activation=tanh", 96));
    ck_assert(
        !unit_begin_alike("floater", WITHOUT, "length=4&dim=6&hidden=7&activation=tanh", 96));
}
END_TEST

START_TEST(refuses_what_cannot_be_integrated)
{
    unit_refuses("floater", "length=2&dim=4&hidden=1000000", PE_TOO_LARGE, "hidden", "weights");
    unit_refuses("floater", "length=2&dim=2048", PE_TOO_LARGE, "dim", "weights");
    unit_refuses("floater", "length=2&dim=1000000", PE_TOO_LARGE, "dim", "weights");
    unit_refuses("floater", "length=20000000&dim=1", PE_OUT_OF_RANGE, "length", "16777216");
    unit_refuses("floater", "positions=3,20000000&dim=1", PE_OUT_OF_RANGE, "positions",
                 "at most 16777216");
    unit_refuses("floater", "length=20000&dim=1&method=rk4&substeps=1000", PE_OUT_OF_RANGE,
                 "length", "16777,");
    unit_refuses("floater", "length=2&offset=0.5&dim=1", PE_OUT_OF_RANGE, "offset", "0, 1, 2");
    unit_refuses("floater", "length=2&dim=1&dt=0", PE_OUT_OF_RANGE, "dt", "1e-09");
    unit_set_refuses("floater", "length=2000&dim=4&dt=1e6&rtol=1&atol=1", "dt", "1e100");
    unit_store(TENSORS, 5);
    unit_set_refuses("floater", "length=3&set=set&dt=1000&dtype=f16", "dtype",
                     "f16, which ends");
    unit_store(NULL, 0);
}
END_TEST

START_TEST(refuses_a_set_that_does_not_fit)
{
    static const double WIDE[8] = {0};
    for (size_t wrong = 0; wrong < 5; wrong++) {
        unit_tensor tensors[5];
        memcpy(tensors, TENSORS, sizeof tensors);
        tensors[wrong].elements = WIDE;
        tensors[wrong].shape[tensors[wrong].rank - 1]++;
        unit_store(tensors, 5);
        /* a longer p0 makes w1 the wrong one */
        unit_set_refuses("floater", "length=2&set=set", "set",
                         wrong == 0 ? "w1" : TENSORS[wrong].name);
        tensors[wrong] = tensors[0];
        unit_store(tensors, wrong == 0 ? 1 : 5);
        unit_set_refuses("floater", "length=2&set=set", "set",
                         wrong == 0 ? "w1" : TENSORS[wrong].name);
    }
    unit_store(TENSORS, 5);
    unit_set_refuses("floater", "length=2&set=set&dim=3", "dim", "2");
    unit_set_refuses("floater", "length=2&set=set&hidden=3", "hidden", "2");
    unit_store(NULL, 0);
}
END_TEST

/* ---- preparing ---- */

typedef struct questions {
    size_t asked, allowed;
    double last;
    bool ended;
} questions;

static bool answer(void *context, const pe_scheme *scheme, double done)
{
    questions *seen = context;
    unit_assert(strcmp(pe_scheme_describe(scheme)->name, "floater") == 0);
    unit_assert(!seen->ended && done >= seen->last && done <= 1);
    unit_assert((done == 0) == (seen->asked == 0));
    seen->last = done;
    seen->ended = done == 1;
    return seen->asked++ < seen->allowed;
}

START_TEST(progress_grows_from_0_to_1_and_can_be_ended_anywhere)
{
    pe_request *request = unit_legal_request("floater", "length=40&dim=260");
    questions all = {.allowed = SIZE_MAX};
    pe_runner runner = {.context = &all, .go_on = answer};
    pe_table *table;
    pe_error error;
    ck_assert_int_eq(pe_table_compute(request, &runner, &table, &error), PE_OK);
    pe_table_unref(table);
    ck_assert(all.ended && all.asked > 8);
    for (size_t allowed = 0; allowed < all.asked - 1; allowed++) {
        questions some = {.allowed = allowed};
        runner.context = &some;
        ck_assert_int_eq(pe_table_compute(request, &runner, &table, &error), PE_CANCELLED);
        ck_assert(some.ended && some.asked == allowed + 2);
    }
    pe_request_unref(request);
}
END_TEST

START_TEST(a_preparation_survives_a_lack_of_memory)
{
    pe_request *request = unit_legal_request("floater", "positions=3,1,2&dim=5");
    for (size_t k = 0;; k++) {
        pe_table *table = NULL;
        pe_error error;
        unit_fail_allocations(k, 1);
        pe_status status = pe_table_compute(request, NULL, &table, &error);
        unit_allocations seen = unit_allow_allocations();
        pe_table_unref(table);
        if (!seen.failed)
            break;
        ck_assert(status == PE_NO_MEMORY || status == PE_OK); /* sorting can do without */
    }
    pe_request_unref(request);
}
END_TEST

Suite *floater_suite(void)
{
    const TTest *const tests[] = {a_stored_network_moves_its_state,
                                  rows_do_not_depend_on_how_they_are_asked_for,
                                  hidden_units_are_dim_unless_given,
                                  refuses_what_cannot_be_integrated,
                                  refuses_a_set_that_does_not_fit,
                                  progress_grows_from_0_to_1_and_can_be_ended_anywhere,
                                  a_preparation_survives_a_lack_of_memory,
                                  NULL};
    return unit_suite("floater", tests);
}
