/* The cache among threads: one flight per key, no waiting for another key, nothing lost. */
#include "../unit.h"
#include "scheme.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 16

/* ---- a scheme whose preparation waits for what a test wants to have happened ---- */

static pe_cache *cache;
static atomic_int preparing, prepared, built, destroyed;
static atomic_bool release_all;
static int await_preparing;      /* how many must prepare at once */
static uint64_t await_coalesced; /* how many must wait for this one */
static bool preparation_fails;

static pe_cache_stats stats(void)
{
    pe_cache_stats now;
    pe_cache_read_stats(cache, &now);
    return now;
}

static const pe_parameter KEY[] = {
    {.name = "key", .type = PE_INTEGER, .required = true, .minimum = 0, .maximum = 1000}};

static void plan_key(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    (void)values, (void)reterr;
    pe_plan_add(ret_plan, "key", PE_I32, 1, (uint64_t[]){64});
}

static void *prepare_key(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                         pe_error *reterr)
{
    (void)plan, (void)runner, (void)reterr;
    atomic_fetch_add(&preparing, 1);
    while (atomic_load(&preparing) < await_preparing || stats().coalesced < await_coalesced)
        sched_yield();
    while (pe_integer(values, "key") == 1000 && !atomic_load(&release_all))
        sched_yield();
    atomic_fetch_add(&prepared, 1);
    return preparation_fails ? NULL : malloc(1);
}

static void fill_key(const pe_values *values, const pe_plan *plan, const void *state,
                     pe_window window, void *dst)
{
    (void)plan, (void)state;
    for (uint64_t i = 0; i < window.rows; i++)
        ((int32_t *)dst)[i] = (int32_t)pe_integer(values, "key");
}

static const pe_scheme WAITING = {
    .info = {.name = "waiting", .revision = 1, PE_LIST(parameter, KEY)},
    .plan = plan_key,
    .prepare = prepare_key,
    .fill = fill_key,
};

static pe_request *request_of(int key)
{
    char text[16];
    pe_request *request;
    pe_error error;
    snprintf(text, sizeof text, "%d", key);
    pe_argument argument = {"key", text, PE_KIND_ANY};
    ck_assert_int_eq(pe_request_new(&WAITING, &argument, 1, &UNIT_LIMITS, &request, &error),
                     PE_OK);
    return request;
}

/* ---- threads that ask; they only note what happened ---- */

typedef struct asker {
    pthread_t thread;
    const pe_request *request;
    pe_entry *entry;
    pe_outcome outcome;
    pe_status status, described;
} asker;

static void *ask(void *context)
{
    asker *own = context;
    pe_error error;
    own->status = pe_cache_get(cache, own->request, &own->entry, &own->outcome, &error);
    own->described = error.status;
    return NULL;
}

static void start(asker *one, const pe_request *request)
{
    *one = (asker){.request = request};
    ck_assert_int_eq(pthread_create(&one->thread, NULL, ask, one), 0);
}

START_TEST(threads_that_miss_one_key_share_one_computation)
{
    asker askers[THREADS];
    size_t outcomes[3] = {0};
    cache = pe_cache_new(1 << 20);
    await_coalesced = THREADS - 1;
    pe_request *request = request_of(5);
    for (size_t i = 0; i < THREADS; i++)
        start(&askers[i], request);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(askers[i].thread, NULL);
        ck_assert_int_eq(askers[i].status, PE_OK);
        outcomes[askers[i].outcome]++;
        ck_assert_ptr_eq(pe_entry_table(askers[i].entry), pe_entry_table(askers[0].entry));
    }
    ck_assert_uint_eq(outcomes[PE_MISS], 1);
    ck_assert_uint_eq(outcomes[PE_COALESCED], THREADS - 1);
    ck_assert_int_eq(atomic_load(&prepared), 1);
    ck_assert_uint_eq(stats().computed, 1);
    ck_assert_uint_eq(stats().misses, 1);
    ck_assert_uint_eq(stats().coalesced, THREADS - 1);
    ck_assert_uint_eq(stats().hits, 0);
    ck_assert_uint_eq(stats().entries, 1);
    for (size_t i = 0; i < THREADS; i++)
        pe_entry_unref(askers[i].entry);
    pe_request_free(request);
    pe_cache_free(cache);
}
END_TEST

START_TEST(threads_that_share_a_failure_all_learn_of_it)
{
    asker askers[THREADS];
    cache = pe_cache_new(1 << 20);
    await_coalesced = THREADS - 1;
    preparation_fails = true;
    pe_request *request = request_of(5);
    for (size_t i = 0; i < THREADS; i++)
        start(&askers[i], request);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(askers[i].thread, NULL);
        ck_assert_int_eq(askers[i].status, PE_NO_MEMORY);
        ck_assert_int_eq(askers[i].described, PE_NO_MEMORY);
        ck_assert_ptr_null(askers[i].entry);
    }
    ck_assert_int_eq(atomic_load(&prepared), 1);
    ck_assert_uint_eq(stats().entries + stats().bytes, 0);
    preparation_fails = false;
    start(&askers[0], request);
    pthread_join(askers[0].thread, NULL);
    ck_assert_int_eq(askers[0].status, PE_OK);
    ck_assert_int_eq(askers[0].outcome, PE_MISS);
    pe_entry_unref(askers[0].entry);
    pe_request_free(request);
    pe_cache_free(cache);
}
END_TEST

START_TEST(threads_that_share_an_entry_too_large_to_keep_all_get_it)
{
    asker askers[THREADS];
    cache = pe_cache_new(0);
    await_coalesced = THREADS - 1;
    pe_request *request = request_of(5);
    for (size_t i = 0; i < THREADS; i++)
        start(&askers[i], request);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(askers[i].thread, NULL);
        ck_assert_int_eq(askers[i].status, PE_OK);
        ck_assert_int_eq(*(const int32_t *)pe_table_data(pe_entry_table(askers[i].entry), 0),
                         5);
        pe_entry_unref(askers[i].entry);
    }
    ck_assert_uint_eq(stats().computed, 1);
    pe_request_free(request);
    pe_cache_free(cache);
}
END_TEST

/* Each computation waits for all the others to have begun. */
START_TEST(different_keys_are_computed_side_by_side)
{
    asker askers[THREADS];
    pe_request *requests[THREADS];
    cache = pe_cache_new(1 << 20);
    await_preparing = THREADS;
    for (int i = 0; i < THREADS; i++) {
        requests[i] = request_of(i);
        start(&askers[i], requests[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(askers[i].thread, NULL);
        ck_assert_int_eq(askers[i].status, PE_OK);
        ck_assert_int_eq(askers[i].outcome, PE_MISS);
        pe_entry_unref(askers[i].entry);
        pe_request_free(requests[i]);
    }
    ck_assert_uint_eq(stats().computed, THREADS);
    pe_cache_free(cache);
}
END_TEST

START_TEST(hits_and_evictions_do_not_wait_for_a_computation)
{
    asker slow, quick;
    cache = pe_cache_new(2000);
    pe_request *endless = request_of(1000);
    start(&slow, endless);
    while (atomic_load(&preparing) < 1)
        sched_yield();
    for (int round = 0; round < 3; round++) {
        for (int key = 0; key < 10; key++) {
            pe_request *request = request_of(key);
            start(&quick, request);
            pthread_join(quick.thread, NULL);
            ck_assert_int_eq(quick.status, PE_OK);
            pe_entry_unref(quick.entry);
            pe_request_free(request);
        }
    }
    ck_assert_uint_gt(stats().evictions, 0);
    atomic_store(&release_all, true);
    pthread_join(slow.thread, NULL);
    ck_assert_int_eq(slow.status, PE_OK);
    ck_assert_int_eq(slow.outcome, PE_MISS);
    pe_entry_unref(slow.entry);
    pe_request_free(endless);
    pe_cache_free(cache);
}
END_TEST

/* ---- attachments ---- */

static atomic_int arrived, building, built_at_once;

static void destroy(void *object)
{
    atomic_fetch_add(&destroyed, 1);
    free(object);
}

static bool build(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    (void)context;
    int *object = malloc(sizeof *object);
    *object = *(const int32_t *)pe_table_data(table, 0);
    atomic_fetch_add(&built, 1);
    *ret_attachment = (pe_attachment){object, 50, destroy};
    return true;
}

/* Wait for all to have come, and give them time to come in, too. */
static bool build_slowly(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    if (atomic_fetch_add(&building, 1) > 0)
        atomic_fetch_add(&built_at_once, 1);
    while (atomic_load(&arrived) < THREADS)
        sched_yield();
    for (int i = 0; i < 200; i++)
        sched_yield();
    atomic_fetch_sub(&building, 1);
    return build(table, context, ret_attachment);
}

static void *attach(void *context)
{
    unsigned id = (unsigned)atomic_fetch_add(&arrived, 1) % 2;
    pe_entry_attachment(cache, context, id, build_slowly, NULL);
    return NULL;
}

START_TEST(one_attachment_of_an_entry_is_built_at_a_time)
{
    pthread_t threads[THREADS];
    asker first;
    cache = pe_cache_new(1 << 20);
    pe_request *request = request_of(3);
    start(&first, request);
    pthread_join(first.thread, NULL);
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, attach, first.entry), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&built_at_once), 0);
    ck_assert_int_eq(atomic_load(&built), 2); /* two ids */
    pe_entry_unref(first.entry);
    pe_request_free(request);
    pe_cache_free(cache);
    ck_assert_int_eq(atomic_load(&destroyed), 2);
}
END_TEST

/* ---- many threads, few keys, little room ---- */

#define KEYS   40
#define ROUNDS 1500
static pe_request *requests_by_key[KEYS];
static atomic_int wrong;

static void *ask_at_random(void *context)
{
    uint64_t state = (uint64_t)(uintptr_t)context;
    for (size_t i = 0; i < ROUNDS; i++) {
        int key = (int)(unit_random(&state) % KEYS);
        pe_entry *entry;
        pe_outcome outcome;
        pe_error error;
        if (pe_cache_get(cache, requests_by_key[key], &entry, &outcome, &error) != PE_OK) {
            atomic_fetch_add(&wrong, 1);
            continue;
        }
        const int32_t *data = pe_table_data(pe_entry_table(entry), 0);
        const int *object = pe_entry_attachment(cache, entry, (unsigned)key % 3, build, NULL);
        if (data[0] != key || data[63] != key || *object != key ||
            stats().bytes > stats().budget)
            atomic_fetch_add(&wrong, 1);
        pe_entry_unref(entry);
    }
    return NULL;
}

START_TEST(nothing_is_lost_or_confused_in_a_crowd)
{
    pthread_t threads[THREADS];
    cache = pe_cache_new(12000);
    for (int key = 0; key < KEYS; key++)
        requests_by_key[key] = request_of(key);
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_at_random, (void *)(i + 1)), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pe_cache_stats end = stats();
    ck_assert_int_eq(atomic_load(&wrong), 0);
    ck_assert_uint_eq(end.hits + end.misses + end.coalesced, THREADS * ROUNDS);
    ck_assert_uint_eq(end.computed, end.misses);
    ck_assert_uint_eq(end.misses, (uint64_t)atomic_load(&prepared));
    ck_assert_uint_gt(end.hits, 0);
    ck_assert_uint_gt(end.evictions, 0);
    ck_assert_uint_eq(end.entries, end.computed - end.evictions);
    for (int key = 0; key < KEYS; key++)
        pe_request_free(requests_by_key[key]);
    pe_cache_free(cache);
    ck_assert_int_eq(atomic_load(&destroyed), atomic_load(&built));
    ck_assert_int_le(atomic_load(&built), atomic_load(&prepared)); /* once for each entry */
}
END_TEST

Suite *flight_suite(void)
{
    const TTest *const tests[] = {
        threads_that_miss_one_key_share_one_computation,
        threads_that_share_a_failure_all_learn_of_it,
        threads_that_share_an_entry_too_large_to_keep_all_get_it,
        different_keys_are_computed_side_by_side,
        hits_and_evictions_do_not_wait_for_a_computation,
        one_attachment_of_an_entry_is_built_at_a_time,
        nothing_is_lost_or_confused_in_a_crowd,
        NULL,
    };
    return unit_suite("flight", tests);
}
