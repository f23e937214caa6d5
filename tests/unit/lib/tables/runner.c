/* Tests of runners: tables that several threads fill, and preparations that are cancelled. */
#include "scheme.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A pe_runner.run that runs the parts last to first, and counts them. */
static void run_backwards(void *context, void (*task)(void *job, size_t part), void *job,
                          size_t count)
{
    *(size_t *)context += count;
    while (count-- > 0)
        task(job, count);
}

typedef struct part_thread {
    pthread_t thread;
    void (*task)(void *job, size_t part);
    void *job;
    size_t index;
} part_thread;

static void *do_part(void *argument)
{
    part_thread *own = argument;
    own->task(own->job, own->index);
    return NULL;
}

/* A pe_runner.run that runs every part on a thread of its own. */
static void run_at_once(void *context, void (*task)(void *job, size_t part), void *job,
                        size_t count)
{
    *(size_t *)context += count;
    part_thread *parts = calloc(count, sizeof *parts);
    for (size_t i = 0; i < count; i++) {
        parts[i] = (part_thread){.task = task, .job = job, .index = i};
        unit_assert(pthread_create(&parts[i].thread, NULL, do_part, &parts[i]) == 0);
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(parts[i].thread, NULL);
    free(parts);
}

static const struct {
    const char *scheme, *query;
    bool split; /* whether it is large enough to be split into parts */
} TABLES[] = {
    {"sinusoidal", "length=20011&dim=96", true},
    {"sinusoidal", "length=3&dim=500000&dtype=f64", true},
    {"sinusoidal", "length=50021&dim=66&dtype=bf16&layout=concat&amplitude=3", true},
    {"sinusoidal", "length=2000001&dim=1&odd_dim=truncate", true},
    {"sinusoidal_2d", "height=130&width=67&dim=160", true},
    {"sinusoidal_2d", "height=130&width=67&dim=160&shape=hwc", true},
    {"mrope", "text=5000,9&grids=3,80,60&dim=640&mrope_section=100,110,110", true},
    {"axial_rope", "sizes=130,67&dim=640", true},
    {"integer", "length=2000003&offset=5", true},
    {"binary", "length=262144&width=18&dtype=f16", true},
    {"sinusoidal", "length=100&dim=64", false},
};

static void check_split(void (*run)(void *, void (*)(void *, size_t), void *, size_t))
{
    for (size_t i = 0; i < UNIT_COUNT(TABLES); i++) {
        size_t parts = 0;
        const pe_runner runner = {.context = &parts, .run = run};
        pe_request *request = unit_legal_request(TABLES[i].scheme, TABLES[i].query);
        pe_table *whole, *split;
        pe_error error;
        ck_assert_int_eq(pe_table_compute(request, NULL, &whole, &error), PE_OK);
        ck_assert_int_eq(pe_table_compute(request, &runner, &split, &error), PE_OK);
        ck_assert_msg(TABLES[i].split == (parts > 1), "%s: %zu parts", TABLES[i].query, parts);
        for (size_t t = 0; t < pe_table_tensor_count(whole); t++)
            ck_assert_msg(memcmp(pe_table_data(whole, t), pe_table_data(split, t),
                                 (size_t)pe_table_tensor(whole, t)->bytes) == 0,
                          "%s: other bits in parts", TABLES[i].query);
        pe_table_unref(whole);
        pe_table_unref(split);
        pe_request_unref(request);
    }
}

START_TEST(parts_in_any_order_have_the_bits_of_the_whole)
{
    check_split(run_backwards);
}
END_TEST

START_TEST(parts_at_once_have_the_bits_of_the_whole)
{
    check_split(run_at_once);
}
END_TEST

/* ---- cancelling ---- */

static void read_slow(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    (void)values, (void)ret_state, (void)reterr;
    pe_plan_add(plan, "slow", PE_I32, 1, (uint64_t[]){1});
}

static bool prepare_slow(void *state, pe_pace *pace)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        if (!pe_may_continue(pace->runner, pace->scheme, i / 8.0, pace->reterr))
            return false;
    return true;
}

static void fill_slow(const void *state, pe_window window, void *dst)
{
    (void)state, (void)window;
    memset(dst, 0, 4);
}

static const pe_scheme SLOW = {
    .info = {.name = "slow", .revision = 1},
    .read = read_slow,
    .prepare = prepare_slow,
    .fill = fill_slow,
};

/* A pe_runner.go_on that cancels when the share in the context is done. */
static bool go_on_until(void *context, const pe_scheme *scheme, double done)
{
    unit_assert(scheme == &SLOW);
    return done < *(const double *)context;
}

START_TEST(a_preparation_can_be_cancelled)
{
    double share;
    const pe_runner runner = {.context = &share, .go_on = go_on_until};
    pe_request *request;
    pe_table *table = NULL;
    pe_stream *stream = NULL;
    pe_error error;
    ck_assert_int_eq(pe_request_new(&SLOW, NULL, 0, &UNIT_LIMITS, &request, &error), PE_OK);
    for (share = 0; share < 1; share += 0.125) {
        ck_assert_int_eq(pe_table_compute(request, &runner, &table, &error), PE_CANCELLED);
        ck_assert_int_eq(pe_stream_new(request, 0, 4096, &runner, &stream, &error),
                         PE_CANCELLED);
        ck_assert_ptr_null(table);
        ck_assert_ptr_null(stream);
    }
    ck_assert_int_eq(pe_table_compute(request, &runner, &table, &error), PE_OK);
    pe_table_unref(table);
    ck_assert_int_eq(pe_table_compute(request, NULL, &table, &error), PE_OK);
    pe_table_unref(table);
    pe_request_unref(request);
}
END_TEST

START_TEST(a_cache_computes_with_its_runner_and_keeps_no_cancelled_table)
{
    double share = 0;
    const pe_runner runner = {.context = &share, .go_on = go_on_until};
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_request *request;
    pe_entry *entry;
    pe_outcome outcome;
    pe_error error;
    pe_cache_set_runner(cache, &runner);
    ck_assert_int_eq(pe_request_new(&SLOW, NULL, 0, &UNIT_LIMITS, &request, &error), PE_OK);
    ck_assert_int_eq(pe_cache_get(cache, request, &entry, &outcome, &error), PE_CANCELLED);
    share = 2;
    ck_assert_int_eq(pe_cache_get(cache, request, &entry, &outcome, &error), PE_OK);
    ck_assert_int_eq(outcome, PE_MISS);
    pe_entry_unref(entry);
    pe_request_unref(request);
    pe_cache_free(cache);
}
END_TEST

Suite *runner_suite(void)
{
    const TTest *const tests[] = {
        parts_in_any_order_have_the_bits_of_the_whole, parts_at_once_have_the_bits_of_the_whole,
        a_preparation_can_be_cancelled,
        a_cache_computes_with_its_runner_and_keeps_no_cancelled_table, NULL};
    return unit_suite("runner", tests);
}
