/* Tests of the cache with several threads: a key is computed once (single flight), other keys
 * need not wait for it, and nothing is lost. */
#include "scheme.h"
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 16

/* ---- a scheme whose preparation waits until a test's condition holds ---- */

static pe_cache *cache;
static atomic_int preparing, prepared, built, destroyed;
static atomic_bool release_all;
static int await_preparing;      /* preparations that must have begun */
static uint64_t await_coalesced; /* threads that must wait for a computation */
static bool preparation_fails;

static pe_cache_stats stats(void)
{
    pe_cache_stats now;
    pe_cache_read_stats(cache, &now);
    return now;
}

static const pe_parameter KEY[] = {
    {.name = "key", .type = PE_INTEGER, .required = true, .minimum = 0, .maximum = 1000}};

static void read_key(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    (void)reterr;
    *(int32_t *)ret_state = (int32_t)pe_get_integer(values, "key");
    pe_plan_add(plan, "key", PE_I32, 1, (uint64_t[]){64});
    pe_plan_add(plan, "copy", PE_I32, 1, (uint64_t[]){64});
}

static bool prepare_key(void *state, pe_pace *pace)
{
    (void)pace;
    const int32_t *key = state;
    atomic_fetch_add(&preparing, 1);
    while (atomic_load(&preparing) < await_preparing || stats().coalesced < await_coalesced)
        sched_yield();
    while (*key == 1000 && !atomic_load(&release_all))
        sched_yield();
    atomic_fetch_add(&prepared, 1);
    return !preparation_fails;
}

static void fill_key(const void *state, pe_window window, void *dst)
{
    for (uint64_t i = 0; i < window.rows; i++)
        ((int32_t *)dst)[i] = *(const int32_t *)state;
}

static const pe_scheme WAITING = {
    .info = {.name = "waiting", .revision = 1, PE_LIST(parameter, KEY)},
    .state_size = sizeof(int32_t),
    .read = read_key,
    .prepare = prepare_key,
    .fill = fill_key,
};

static pe_request *request_of(int key)
{
    char text[16];
    pe_request *request;
    pe_error error;
    snprintf(text, sizeof text, "%d", key);
    pe_argument argument = {"key", text, .kind = PE_KIND_ANY};
    ck_assert_int_eq(pe_request_new(&WAITING, &argument, 1, &UNIT_LIMITS, &request, &error),
                     PE_OK);
    return request;
}

/* ---- threads that get an entry and record the result ---- */

/* Begin a test, in a process that may have run others. */
static void begin(size_t budget)
{
    atomic_store(&preparing, 0);
    atomic_store(&prepared, 0);
    atomic_store(&built, 0);
    atomic_store(&destroyed, 0);
    atomic_store(&release_all, false);
    await_preparing = 0;
    await_coalesced = 0;
    preparation_fails = false;
    cache = pe_cache_new(budget);
}

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
    begin(1 << 20);
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
    pe_request_unref(request);
    pe_cache_free(cache);
}
END_TEST

START_TEST(threads_that_miss_one_tensor_wait_for_the_whole_table)
{
    asker askers[THREADS];
    begin(1 << 20);
    await_coalesced = THREADS - 1;
    pe_request *whole = request_of(5), *one = request_of(5);
    pe_request_choose(one, 2);
    start(&askers[0], whole);
    while (atomic_load(&preparing) == 0)
        sched_yield();
    for (size_t i = 1; i < THREADS; i++)
        start(&askers[i], one);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(askers[i].thread, NULL);
        ck_assert_int_eq(askers[i].status, PE_OK);
        ck_assert_int_eq(askers[i].outcome, i == 0 ? PE_MISS : PE_COALESCED);
        ck_assert_ptr_eq(pe_entry_table(askers[i].entry), pe_entry_table(askers[0].entry));
    }
    ck_assert_int_eq(atomic_load(&prepared), 1);
    for (size_t i = 0; i < THREADS; i++)
        pe_entry_unref(askers[i].entry);
    pe_request_unref(whole);
    pe_request_unref(one);
    pe_cache_free(cache);
}
END_TEST

START_TEST(threads_that_share_a_failure_all_learn_of_it)
{
    asker askers[THREADS];
    begin(1 << 20);
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
    pe_request_unref(request);
    pe_cache_free(cache);
}
END_TEST

/* A request that came before a failure but did not block asks again afterwards. */
START_TEST(a_failure_is_that_of_all_who_came_before_it)
{
    asker first;
    pe_error told;
    begin(1 << 20);
    preparation_fails = true;
    pe_request *request = request_of(5), *other = request_of(6);
    uint64_t before = pe_cache_moment(cache);
    ck_assert(!pe_cache_find_failure(cache, request, before, &told));
    start(&first, request);
    pthread_join(first.thread, NULL);
    ck_assert(pe_cache_find_failure(cache, request, before, &told));
    ck_assert_int_eq(told.status, PE_NO_MEMORY);
    ck_assert_uint_eq(told.count, 1);
    ck_assert(!pe_cache_find_failure(cache, other, before, &told));
    ck_assert(!pe_cache_find_failure(cache, request, pe_cache_moment(cache), &told));
    ck_assert(!pe_cache_find_failure(cache, request, 0, &told));
    ck_assert_int_eq(atomic_load(&prepared), 1);
    pe_request_unref(request);
    pe_request_unref(other);
    pe_cache_free(cache);
}
END_TEST

START_TEST(a_failure_is_forgotten_after_some_others)
{
    asker one;
    pe_error told;
    begin(1 << 20);
    preparation_fails = true;
    uint64_t before = pe_cache_moment(cache);
    for (int key = 0; key <= 16; key++) {
        pe_request *request = request_of(key);
        start(&one, request);
        pthread_join(one.thread, NULL);
        pe_request_unref(request);
    }
    for (int key = 0; key <= 16; key++) {
        pe_request *request = request_of(key);
        ck_assert_int_eq(pe_cache_find_failure(cache, request, before, &told), key > 0);
        pe_request_unref(request);
    }
    pe_cache_free(cache);
}
END_TEST

/* ---- a computation that ends since its own caller no longer needs it ---- */

static atomic_bool caller_left;

static bool go_on_unless_left(void *context, const pe_scheme *scheme, double done)
{
    (void)context, (void)scheme;
    return done < 0.5 || done == 1 || !atomic_load(&caller_left);
}

/* The first computation is abandoned; the next one is needed. */
static bool is_abandoned(void *context)
{
    (void)context;
    return atomic_exchange(&caller_left, false);
}

static bool prepare_watched(void *state, pe_pace *pace)
{
    return prepare_key(state, pace) &&
           pe_may_continue(pace->runner, pace->scheme, 0.5, pace->reterr);
}

START_TEST(threads_that_wait_for_an_abandoned_computation_compute_anew)
{
    asker askers[THREADS];
    const pe_runner runner = {.go_on = go_on_unless_left, .is_abandoned = is_abandoned};
    pe_scheme watched = WAITING;
    pe_argument argument = {"key", "5", .kind = PE_KIND_ANY};
    pe_request *request;
    pe_error error;
    size_t cancelled = 0, missed = 0;
    watched.prepare = prepare_watched;
    ck_assert_int_eq(pe_request_new(&watched, &argument, 1, &UNIT_LIMITS, &request, &error),
                     PE_OK);
    begin(1 << 20);
    pe_cache_set_runner(cache, &runner);
    atomic_store(&caller_left, true);
    await_coalesced = THREADS - 2;
    uint64_t before = pe_cache_moment(cache);
    for (size_t i = 0; i < THREADS; i++)
        start(&askers[i], request);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(askers[i].thread, NULL);
        cancelled += askers[i].status == PE_CANCELLED;
        missed += askers[i].status == PE_OK && askers[i].outcome == PE_MISS;
        if (askers[i].status == PE_OK)
            pe_entry_unref(askers[i].entry);
    }
    ck_assert_uint_eq(cancelled, 1);
    ck_assert_uint_eq(missed, 1);
    ck_assert_int_eq(atomic_load(&prepared), 2);
    ck_assert(!pe_cache_find_failure(cache, request, before, &error));
    ck_assert_uint_eq(stats().coalesced + stats().hits, THREADS - 2);
    pe_request_unref(request);
    pe_cache_free(cache);
}
END_TEST

START_TEST(threads_that_share_an_entry_too_large_to_keep_all_get_it)
{
    asker askers[THREADS];
    begin(0);
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
    pe_request_unref(request);
    pe_cache_free(cache);
}
END_TEST

/* Each computation waits until all others have begun. */
START_TEST(different_keys_are_computed_side_by_side)
{
    asker askers[THREADS];
    pe_request *requests[THREADS];
    begin(1 << 20);
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
        pe_request_unref(requests[i]);
    }
    ck_assert_uint_eq(stats().computed, THREADS);
    pe_cache_free(cache);
}
END_TEST

START_TEST(hits_and_evictions_do_not_wait_for_a_computation)
{
    asker slow, quick;
    begin(4000);
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
            pe_request_unref(request);
        }
    }
    ck_assert_uint_gt(stats().evictions, 0);
    atomic_store(&release_all, true);
    pthread_join(slow.thread, NULL);
    ck_assert_int_eq(slow.status, PE_OK);
    ck_assert_int_eq(slow.outcome, PE_MISS);
    pe_entry_unref(slow.entry);
    pe_request_unref(endless);
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

static asker first_entry(void)
{
    asker first;
    begin(1 << 20);
    pe_request *request = request_of(3);
    start(&first, request);
    pthread_join(first.thread, NULL);
    pe_request_unref(request);
    return first;
}

/* A builder that waits until all threads have arrived, and gives them time to enter it. */
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
    atomic_fetch_add(&arrived, 1);
    return pe_entry_attachment(cache, context, 7, "", build_slowly, NULL);
}

/* Let threads ask for one attachment at once; returns how many got it. */
static size_t attach_at_once(pe_entry *entry)
{
    pthread_t threads[THREADS];
    void *objects[THREADS];
    size_t got = 0;
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, attach, entry), 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &objects[i]);
        ck_assert_ptr_eq(objects[i], objects[0]);
        got += objects[i] != NULL;
    }
    return got;
}

START_TEST(threads_that_miss_one_attachment_share_what_is_built)
{
    asker first = first_entry();
    ck_assert_uint_eq(attach_at_once(first.entry), THREADS);
    ck_assert_int_eq(atomic_load(&built_at_once), 0);
    ck_assert_int_eq(atomic_load(&built), 1);
    pe_entry_unref(first.entry);
    pe_cache_free(cache);
    ck_assert_int_eq(atomic_load(&destroyed), 1);
}
END_TEST

static bool fail_slowly(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    (void)table, (void)context, (void)ret_attachment;
    atomic_fetch_add(&built, 1);
    while (atomic_load(&arrived) < THREADS)
        sched_yield();
    for (int i = 0; i < 2000; i++)
        sched_yield();
    return false;
}

static void *attach_in_vain(void *context)
{
    atomic_fetch_add(&arrived, 1);
    return pe_entry_attachment(cache, context, 7, "", fail_slowly, NULL);
}

START_TEST(threads_that_wait_for_an_attachment_share_its_failure)
{
    pthread_t threads[THREADS];
    void *object;
    asker first = first_entry();
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, attach_in_vain, first.entry), 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &object);
        ck_assert_ptr_null(object);
    }
    ck_assert_int_lt(atomic_load(&built), THREADS / 2); /* some may have come too late */
    ck_assert_ptr_nonnull(pe_entry_attachment(cache, first.entry, 7, "", build, NULL));
    pe_entry_unref(first.entry);
    pe_cache_free(cache);
    ck_assert_int_eq(atomic_load(&destroyed), 1);
}
END_TEST

/* ---- attachments of several ids ---- */

static atomic_bool other_attached;

/* A builder that waits, not forever, until another attachment has been built. */
static bool build_beside_another(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    atomic_store(&building, 1);
    for (int i = 0; i < 1000 * 1000 && !atomic_load(&other_attached); i++)
        sched_yield();
    *(bool *)context = atomic_load(&other_attached);
    return build(table, NULL, ret_attachment);
}

typedef struct beside {
    pe_entry *entry;
    bool had_company;
} beside;

static void *attach_beside(void *context)
{
    beside *own = context;
    return pe_entry_attachment(cache, own->entry, 1, "", build_beside_another,
                               &own->had_company);
}

START_TEST(other_attachments_do_not_wait_for_one_that_is_built)
{
    pthread_t thread;
    asker first = first_entry();
    beside slow = {first.entry, false};
    pe_entry_attachment(cache, first.entry, 0, "", build, NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, attach_beside, &slow), 0);
    while (atomic_load(&building) == 0)
        sched_yield();
    ck_assert_ptr_null(pe_entry_attachment(cache, first.entry, 1, "", NULL, NULL));
    ck_assert_ptr_nonnull(pe_entry_attachment(cache, first.entry, 0, "", NULL, NULL));
    /* enough for the hash table to grow while a place in it is held */
    for (unsigned id = 2; id < 40; id++)
        ck_assert_ptr_nonnull(pe_entry_attachment(cache, first.entry, id, "", build, NULL));
    atomic_store(&other_attached, true);
    pthread_join(thread, NULL);
    ck_assert(slow.had_company);
    ck_assert_ptr_nonnull(pe_entry_attachment(cache, first.entry, 1, "", NULL, NULL));
    ck_assert_uint_ge(stats().bytes, 40 * 50);
    pe_entry_unref(first.entry);
    pe_cache_free(cache);
    ck_assert_int_eq(atomic_load(&destroyed), 40);
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
        const int *object =
            pe_entry_attachment(cache, entry, (unsigned)key % 3, "", build, NULL);
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
    begin(12000);
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
        pe_request_unref(requests_by_key[key]);
    pe_cache_free(cache);
    ck_assert_int_eq(atomic_load(&destroyed), atomic_load(&built));
    ck_assert_int_le(atomic_load(&built), atomic_load(&prepared)); /* at most once per entry */
}
END_TEST

Suite *flight_suite(void)
{
    const TTest *const tests[] = {
        threads_that_miss_one_key_share_one_computation,
        threads_that_miss_one_tensor_wait_for_the_whole_table,
        threads_that_share_a_failure_all_learn_of_it,
        a_failure_is_that_of_all_who_came_before_it,
        a_failure_is_forgotten_after_some_others,
        threads_that_wait_for_an_abandoned_computation_compute_anew,
        threads_that_share_an_entry_too_large_to_keep_all_get_it,
        different_keys_are_computed_side_by_side,
        hits_and_evictions_do_not_wait_for_a_computation,
        threads_that_miss_one_attachment_share_what_is_built,
        threads_that_wait_for_an_attachment_share_its_failure,
        other_attachments_do_not_wait_for_one_that_is_built,
        nothing_is_lost_or_confused_in_a_crowd,
        NULL,
    };
    return unit_suite("flight", tests);
}
