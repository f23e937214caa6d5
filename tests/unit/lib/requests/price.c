/* Tests of prices, and of work that asks whether to go on. */
#include "scheme.h"
#include "unit.h"

#include <string.h>

START_TEST(every_scheme_costs_at_least_its_elements)
{
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(i));
        pe_request *request = unit_legal_request(info->name, info->example);
        double elements = 0;
        for (size_t t = 0; t < pe_request_tensor_count(request); t++)
            elements += (double)pe_request_tensor(request, t)->elements;
        ck_assert_msg(pe_request_price(request) >= elements, "%s", info->name);
        ck_assert_msg(pe_request_price(request) >= pe_request_preparation_price(request), "%s",
                      info->name);
        pe_request_unref(request);
    }
}
END_TEST

START_TEST(a_price_is_that_of_the_loops)
{
    static const struct {
        const char *scheme, *query;
        double least, most;
    } PRICES[] = {
        {"sinusoidal", "length=1000&dim=512", 4e5, 4e6},
        {"learned", "length=1000&dim=512", 1e7, 1e8},
        {"floater", "length=16000&dim=512&hidden=2048&method=rk4&substeps=1000", 1e14, 2e14},
        {"floater", "positions=15999&dim=512&hidden=2048&method=rk4&substeps=1000", 1e14, 2e14},
        {"similarity/sinusoidal", "length=10000&dim=512&metric=l2", 5e9, 6e10},
        {"alibi", "length=2&heads=65536", 1e7, 1e8},
    };
    for (size_t i = 0; i < UNIT_COUNT(PRICES); i++) {
        pe_request *request = unit_legal_request(PRICES[i].scheme, PRICES[i].query);
        double price = pe_request_price(request);
        ck_assert_msg(price >= PRICES[i].least && price <= PRICES[i].most, "%s?%s: %g",
                      PRICES[i].scheme, PRICES[i].query, price);
        pe_request_unref(request);
    }
}
END_TEST

START_TEST(a_price_above_the_limit_says_what_to_reduce)
{
    pe_request *request =
        unit_legal_request("floater", "length=1000&dim=512&hidden=512&method=rk4");
    double price = pe_request_price(request);
    pe_error error;
    pe_error_init(&error);
    ck_assert(pe_request_check_price(request, price, (uint64_t)price + 1, &error));
    ck_assert_int_eq(error.status, PE_OK);
    ck_assert(!pe_request_check_price(request, price, 1000000000, &error));
    ck_assert_int_eq(error.status, PE_TOO_LARGE);
    const pe_problem *problem = unit_problem(&error, "length");
    ck_assert_ptr_nonnull(problem);
    ck_assert_str_eq(problem->given, "1.1e+10 multiply-adds");
    ck_assert_str_eq(problem->allowed,
                     "reduced, or dim, hidden or substeps, such that computing takes at most "
                     "1000000000 multiply-adds, the limit compute-cost");
    pe_request_unref(request);
}
END_TEST

/* ---- questions ---- */

/* Expensive requests, one for each scheme and for the long loops of its preparation. */
static const char *const EXPENSIVE[][2] = {
    {"integer", "length=2e7"},
    {"normalized", "length=2e7"},
    {"binary", "length=5e5&width=40"},
    {"periodic", "length=80000&dim=256"},
    {"sinusoidal", "length=50000&dim=512"},
    {"sinusoidal_2d", "height=300&width=300&dim=256"},
    {"sinusoidal_3d", "depth=10&height=100&width=100&dim=128"},
    {"random_fourier", "sizes=200,200&features=64"},
    {"fourier", "sizes=300,300&bands=64&max_frequency=112"},
    {"rope", "length=50000&dim=512"},
    {"mrope", "text=100,40000&grids=1,600,600&dim=128"},
    {"axial_rope", "sizes=300,300&dim=256"},
    {"axial_rope", "sizes=2,40000&dim=128"},
    {"rotation_matrix", "length=1000&dim=256"},
    {"alibi", "length=2&heads=65536"},
    {"alibi", "length=1000&heads=32"},
    {"t5", "length=2&heads=65536&num_buckets=8"},
    {"t5", "length=1e6&heads=4&form=compact"},
    {"shaw", "length=3200&dim=64&query_length=2&max_distance=3200"},
    {"shaw", "length=2&dim=1024&max_distance=200&form=compact"},
    {"transformer_xl", "length=400&dim=256&heads=4"},
    {"relative_sinusoidal", "length=400&dim=256"},
    {"deberta", "length=4000&dim=64"},
    {"urpe", "length=40000&heads=16&query_length=2&query_offset=4&init=normal"},
    {"kerple", "length=2&heads=65536"},
    {"kerple", "length=20000&heads=2&query_length=2&kernel=power&dtype=f64"},
    {"fire", "length=2&heads=1000"},
    {"fire", "length=800&heads=4"},
    {"sandwich", "length=2000&heads=2&query_length=2&dtype=f64"},
    {"retnet", "length=20000&heads=4&query_length=2&dim=4&dtype=f64"},
    {"xpos", "length=20000&dim=64"},
    {"xpos", "length=2&dim=100000"},
    {"levit", "length=20000&heads=16&query_length=2&query_offset=4"},
    {"decomposed",
     "height=2500&width=30&dim=256&source_height=40&query_height=2&query_width=2"},
    {"swin_v2", "height=24&heads=8"},
    {"swin", "height=24&heads=32&source_height=30"},
    {"learned", "length=2000&dim=256"},
    {"resized", "height=64&source_height=40&dim=256"},
    {"resized", "height=8&source_height=2&dim=1000&dtype=f64"},
    {"hierarchical", "length=10&base_length=2000&dim=256"},
    {"complex_order", "length=2000&dim=256&vocab=9"},
    {"floater", "length=40&dim=512&method=rk4"},
    {"similarity/sinusoidal", "length=2000&dim=64&metric=cosine"},
    {"similarity/learned", "length=1000&dim=256&metric=dot&rows=0"},
};

typedef struct answers {
    long asked, allowed;
} answers;

/* A pe_runner.go_on that says yes so many times. */
static bool count_questions(void *context, const pe_scheme *scheme, double done)
{
    answers *own = context;
    (void)scheme;
    if (done == 1)
        return true;
    ck_assert(done >= 0 && done < 1);
    return own->asked++ < own->allowed;
}

/* Compute with a runner that says yes `allowed` times; returns how often it was asked. */
static long compute(pe_request *request, long allowed, pe_status *ret_status)
{
    answers own = {0, allowed};
    const pe_runner runner = {.context = &own, .go_on = count_questions};
    pe_table *table = NULL;
    pe_error error;
    *ret_status = pe_table_compute(request, &runner, &table, &error);
    pe_table_unref(table);
    return own.asked;
}

/* See that computing ends when the answer to question k is no. */
static void end_at(const char *const *row, pe_request *request, long k, long all)
{
    pe_status status;
    ck_assert_int_eq(compute(request, k, &status), k + 1);
    ck_assert_msg(status == PE_CANCELLED, "%s?%s after %ld of %ld", row[0], row[1], k, all);
}

/* The first questions, and one of all others by chance; if thorough, one of each 32nd of them.
 */
static void end_at_some(const char *const *row, pe_request *request, long all, uint64_t *random)
{
    long parts = unit_thorough() ? 32 : 1, others = all - 3;
    for (long k = 0; k < 3 && k < all; k++)
        end_at(row, request, k, all);
    for (long part = 0; part < parts && others > 0; part++) {
        long first = others * part / parts, count = others * (part + 1) / parts - first;
        if (count > 0)
            end_at(row, request, 3 + first + (long)(unit_random(random) % (uint64_t)count),
                   all);
    }
}

START_TEST(every_scheme_asks_as_often_as_its_price_says_and_ends_at_any_question)
{
    uint64_t random = unit_seed();
    for (size_t i = 0; i < UNIT_COUNT(EXPENSIVE); i++) {
        const char *const *row = EXPENSIVE[i];
        pe_request *request = unit_legal_request(row[0], row[1]);
        pe_status status;
        double price = pe_request_price(request);
        long asked = compute(request, 1000000, &status);
        if (status != PE_OUT_OF_RANGE) /* some end with an overflow that only computing finds */
            ck_assert_msg(status == PE_OK, "%s?%s", row[0], row[1]);
        ck_assert_msg(price >= 4 * PE_QUESTION_PRICE, "%s?%s costs %g", row[0], row[1], price);
        ck_assert_msg((double)asked >= price / (4 * PE_QUESTION_PRICE),
                      "%s?%s costs %g and asks %ld times", row[0], row[1], price, asked);
        end_at_some(row, request, asked, &random);
        pe_request_unref(request);
    }
}
END_TEST

Suite *price_suite(void)
{
    const TTest *const tests[] = {
        every_scheme_costs_at_least_its_elements, a_price_is_that_of_the_loops,
        a_price_above_the_limit_says_what_to_reduce,
        every_scheme_asks_as_often_as_its_price_says_and_ends_at_any_question, NULL};
    return unit_suite("price", tests);
}
