/* Tests of the cache on one thread: what it finds, counts, keeps and evicts. */
#include "scheme.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static pe_entry *get(pe_cache *cache, const char *scheme, const char *query,
                     pe_outcome expected)
{
    pe_request *request = unit_legal_request(scheme, query);
    pe_entry *entry;
    pe_outcome outcome;
    pe_error error;
    pe_status status = pe_cache_get(cache, request, &entry, &outcome, &error);
    unit_assert(status == PE_OK && error.count == 0);
    if (outcome != expected)
        ck_abort_msg("%s?%s: outcome %d, not %d", scheme, query, outcome, expected);
    pe_request_unref(request); /* an entry needs no request */
    return entry;
}

/* Get the one-element table of position `number`, check it, and drop the reference. */
static void touch(pe_cache *cache, size_t number, pe_outcome expected)
{
    char query[64];
    snprintf(query, sizeof query, "length=1&offset=%zu", number);
    pe_entry *entry = get(cache, "integer", query, expected);
    const float *data = pe_table_data(pe_entry_table(entry), 0);
    unit_assert((double)data[0] == (double)number);
    pe_entry_unref(entry);
}

static pe_cache_stats stats_of(pe_cache *cache)
{
    pe_cache_stats stats;
    pe_cache_read_stats(cache, &stats);
    return stats;
}

/* The bytes of an entry that touch() creates for a number of three digits. */
static uint64_t entry_bytes(void)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    touch(cache, 100, PE_MISS);
    uint64_t bytes = stats_of(cache).bytes;
    pe_cache_free(cache);
    ck_assert_uint_ge(bytes, PE_TABLE_HEADROOM + 4);
    return bytes;
}

START_TEST(a_new_cache_is_empty)
{
    pe_cache *cache = pe_cache_new(12345);
    pe_cache_stats stats = stats_of(cache);
    ck_assert_uint_eq(stats.budget, 12345);
    ck_assert_uint_eq(stats.hits + stats.misses + stats.coalesced + stats.evictions +
                          stats.computed + stats.bytes + stats.entries,
                      0);
    pe_cache_free(cache);
    pe_cache_free(NULL);
    pe_entry_unref(NULL);
}
END_TEST

START_TEST(the_second_time_is_a_hit_on_the_same_table)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_entry *first = get(cache, "sinusoidal", "length=4&dim=8", PE_MISS);
    pe_entry *second = get(cache, "sinusoidal", "length=4&dim=8", PE_HIT);
    pe_entry *spelt = get(cache, "sinusoidal", "dim=8.0&base=1e4&length=4", PE_HIT);
    pe_entry *other = get(cache, "sinusoidal", "length=4&dim=8&dtype=f16", PE_MISS);
    ck_assert_ptr_eq(pe_entry_table(first), pe_entry_table(second));
    ck_assert_ptr_eq(pe_entry_table(first), pe_entry_table(spelt));
    ck_assert_ptr_ne(pe_entry_table(first), pe_entry_table(other));
    pe_cache_stats stats = stats_of(cache);
    ck_assert_uint_eq(stats.hits, 2);
    ck_assert_uint_eq(stats.misses, 2);
    ck_assert_uint_eq(stats.computed, 2);
    ck_assert_uint_eq(stats.entries, 2);
    ck_assert_uint_eq(stats.coalesced + stats.evictions, 0);
    ck_assert_uint_ge(stats.bytes, pe_table_footprint(pe_entry_table(first)) +
                                       pe_table_footprint(pe_entry_table(other)));
    pe_entry_unref(first);
    pe_entry_unref(second);
    pe_entry_unref(spelt);
    pe_entry_unref(other);
    pe_cache_free(cache);
}
END_TEST

/* Get tensors of a table of rope: bit 0 for the cosines, bit 1 for the sines. */
static pe_table *get_chosen(pe_cache *cache, unsigned tensors, pe_outcome expected)
{
    pe_request *request = unit_legal_request("rope", "length=100&dim=8");
    pe_entry *entry;
    pe_outcome outcome;
    pe_error error;
    pe_request_choose(request, tensors);
    const bool absent = pe_cache_try_get(cache, request, &entry) == PE_ABSENT;
    ck_assert_int_eq(absent, expected != PE_HIT);
    if (!absent)
        pe_entry_unref(entry);
    unit_assert(pe_cache_get(cache, request, &entry, &outcome, &error) == PE_OK);
    ck_assert_int_eq(outcome, expected);
    pe_table *table = pe_table_ref(pe_entry_table(entry));
    pe_entry_unref(entry);
    pe_request_unref(request);
    return table;
}

START_TEST(a_table_serves_requests_for_any_of_its_tensors)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_table *cosines = get_chosen(cache, 1, PE_MISS), *sines = get_chosen(cache, 2, PE_MISS);
    pe_table *again = get_chosen(cache, 1, PE_HIT);
    ck_assert_ptr_eq(again, cosines);
    ck_assert_ptr_null(pe_table_data(cosines, 1));
    ck_assert_ptr_null(pe_table_data(sines, 0));
    pe_table_unref(again);
    pe_cache_free(cache);
    cache = pe_cache_new(1 << 20);
    pe_table *both = get_chosen(cache, 3, PE_MISS); /* those two are not put together */
    for (unsigned tensors = 1; tensors <= 3; tensors++) {
        again = get_chosen(cache, tensors, PE_HIT);
        ck_assert_ptr_eq(again, both);
        pe_table_unref(again);
    }
    pe_table_unref(get_chosen(cache, 7, PE_MISS)); /* with inv_freq */
    ck_assert_uint_eq(stats_of(cache).entries, 2);
    pe_table_unref(cosines);
    pe_table_unref(sines);
    pe_table_unref(both);
    pe_cache_free(cache);
}
END_TEST

START_TEST(the_least_recently_used_goes_first)
{
    pe_cache *cache = pe_cache_new(3 * entry_bytes());
    touch(cache, 101, PE_MISS);
    touch(cache, 102, PE_MISS);
    touch(cache, 103, PE_MISS);
    touch(cache, 101, PE_HIT);
    touch(cache, 104, PE_MISS); /* 102 is evicted */
    ck_assert_uint_eq(stats_of(cache).evictions, 1);
    ck_assert_uint_eq(stats_of(cache).entries, 3);
    touch(cache, 103, PE_HIT);
    touch(cache, 101, PE_HIT);
    touch(cache, 104, PE_HIT);
    touch(cache, 102, PE_MISS); /* 103 is evicted */
    touch(cache, 103, PE_MISS);
    ck_assert_uint_eq(stats_of(cache).evictions, 3);
    pe_cache_free(cache);
}
END_TEST

/* Compare with a list that is searched and shifted: a plain implementation of the same policy.
 */
START_TEST(hits_and_misses_are_those_of_a_plain_list)
{
    enum { KEPT = 7, KEYS = 20, STEPS = 5000 };
    size_t list[KEPT] = {0}, count = 0, misses = 0;
    pe_cache *cache = pe_cache_new(KEPT * entry_bytes());
    uint64_t state = 1;
    for (size_t step = 0; step < STEPS; step++) {
        size_t key = 100 + unit_random(&state) % KEYS, found = 0;
        while (found < count && list[found] != key)
            found++;
        bool hit = found < count;
        touch(cache, key, hit ? PE_HIT : PE_MISS);
        misses += !hit;
        if (!hit && count < KEPT)
            count++;
        if (found == KEPT)
            found--;
        memmove(list + 1, list, found * sizeof *list);
        list[0] = key;
    }
    pe_cache_stats stats = stats_of(cache);
    ck_assert_uint_eq(stats.misses, misses);
    ck_assert_uint_eq(stats.hits, STEPS - misses);
    ck_assert_uint_eq(stats.evictions, misses - KEPT);
    pe_cache_free(cache);
}
END_TEST

START_TEST(the_budget_is_never_exceeded)
{
    enum { KEYS = 10000 };
    const uint64_t budget = 50000;
    pe_cache *cache = pe_cache_new(budget);
    uint64_t most = 0;
    for (size_t i = 0; i < KEYS; i++) {
        char query[64];
        snprintf(query, sizeof query, "length=%zu&offset=%zu", 1 + i * 7 % 3000, i);
        pe_request *request = unit_legal_request("integer", query);
        pe_entry *entry;
        pe_outcome outcome;
        pe_error error;
        unit_assert(pe_cache_get(cache, request, &entry, &outcome, &error) == PE_OK);
        pe_cache_stats stats = stats_of(cache);
        if (stats.bytes > budget || stats.entries == 0 || outcome != PE_MISS)
            ck_abort_msg("after %zu: %llu bytes, %llu entries", i,
                         (unsigned long long)stats.bytes, (unsigned long long)stats.entries);
        most = stats.bytes > most ? stats.bytes : most;
        pe_entry_unref(entry);
        pe_request_unref(request);
    }
    pe_cache_stats stats = stats_of(cache);
    ck_assert_uint_eq(stats.misses, KEYS);
    ck_assert_uint_eq(stats.computed, KEYS);
    ck_assert_uint_eq(stats.evictions, KEYS - stats.entries);
    ck_assert_uint_ge(most, budget * 8 / 10); /* most of the budget is used */
    pe_cache_free(cache);
}
END_TEST

START_TEST(thousands_of_keys_are_all_found_again)
{
    enum { KEYS = 5000 };
    pe_cache *cache = pe_cache_new(1ULL << 32);
    for (size_t i = 0; i < KEYS; i++)
        touch(cache, i, PE_MISS);
    for (size_t i = KEYS; i-- > 0;)
        touch(cache, i, PE_HIT);
    ck_assert_uint_eq(stats_of(cache).entries, KEYS);
    ck_assert_uint_eq(stats_of(cache).hits, KEYS);
    pe_cache_free(cache);
}
END_TEST

START_TEST(an_entry_survives_its_eviction_while_it_is_held)
{
    uint64_t each = entry_bytes();
    pe_cache *cache = pe_cache_new(each);
    pe_entry *held = get(cache, "integer", "length=1&offset=100", PE_MISS);
    touch(cache, 101, PE_MISS);
    ck_assert_uint_eq(stats_of(cache).evictions, 1);
    ck_assert_uint_eq(stats_of(cache).bytes, each); /* the evicted entry is not counted */
    const float *data = pe_table_data(pe_entry_table(held), 0);
    ck_assert_double_eq((double)data[0], 100);
    pe_entry *again = get(cache, "integer", "length=1&offset=100", PE_MISS);
    ck_assert_ptr_ne(again, held);
    pe_cache_free(cache);
    ck_assert_double_eq((double)data[0], 100); /* it also survives the cache */
    pe_entry_unref(held);
    data = pe_table_data(pe_entry_table(again), 0);
    ck_assert_double_eq((double)data[0], 100);
    pe_entry_unref(again);
}
END_TEST

START_TEST(a_budget_of_nothing_keeps_nothing)
{
    pe_cache *cache = pe_cache_new(0);
    for (size_t i = 0; i < 5; i++)
        touch(cache, 100, PE_MISS);
    pe_cache_stats stats = stats_of(cache);
    ck_assert_uint_eq(stats.entries + stats.bytes + stats.evictions, 0);
    ck_assert_uint_eq(stats.computed, 5);
    pe_cache_free(cache);
}
END_TEST

START_TEST(an_entry_over_the_budget_is_returned_and_not_kept)
{
    uint64_t each = entry_bytes();
    pe_cache *cache = pe_cache_new(2 * each);
    touch(cache, 100, PE_MISS);
    touch(cache, 101, PE_MISS);
    for (size_t i = 0; i < 2; i++) {
        pe_entry *large = get(cache, "integer", "length=1000", PE_MISS);
        const float *data = pe_table_data(pe_entry_table(large), 0);
        ck_assert_double_eq((double)data[999], 999);
        pe_entry_unref(large);
    }
    ck_assert_uint_eq(stats_of(cache).evictions, 0);
    ck_assert_uint_eq(stats_of(cache).bytes, 2 * each);
    touch(cache, 100, PE_HIT); /* no other entry was evicted */
    touch(cache, 101, PE_HIT);
    pe_cache_free(cache);
}
END_TEST

START_TEST(an_entry_just_within_the_budget_is_kept)
{
    uint64_t each = entry_bytes();
    pe_cache *cache = pe_cache_new(each), *smaller = pe_cache_new(each - 1);
    touch(cache, 100, PE_MISS);
    touch(cache, 100, PE_HIT);
    touch(smaller, 100, PE_MISS);
    touch(smaller, 100, PE_MISS);
    ck_assert_uint_eq(stats_of(smaller).entries, 0);
    pe_cache_free(cache);
    pe_cache_free(smaller);
}
END_TEST

/* ---- failures ---- */

static int preparations;
static bool preparation_fails;

static void read_one(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    (void)values, (void)ret_state, (void)reterr;
    pe_plan_add(plan, "one", PE_I32, 1, (uint64_t[]){1});
}

static bool prepare_maybe(void *state, pe_pace *pace)
{
    (void)state, (void)pace;
    preparations++;
    return !preparation_fails;
}

static void fill_one(const void *state, pe_window window, void *dst)
{
    (void)state, (void)window;
    *(int32_t *)dst = 1;
}

static const pe_scheme MOODY = {
    .info = {.name = "moody", .revision = 1},
    .read = read_one,
    .prepare = prepare_maybe,
    .fill = fill_one,
};

START_TEST(a_failure_is_not_kept)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_request *request;
    pe_entry *entry = NULL;
    pe_outcome outcome;
    pe_error error;
    ck_assert_int_eq(pe_request_new(&MOODY, NULL, 0, &UNIT_LIMITS, &request, &error), PE_OK);
    preparation_fails = true;
    for (int i = 1; i <= 3; i++) {
        ck_assert_int_eq(pe_cache_get(cache, request, &entry, &outcome, &error), PE_NO_MEMORY);
        ck_assert_int_eq(error.status, PE_NO_MEMORY);
        ck_assert_ptr_null(entry);
        ck_assert_int_eq(preparations, i);
        ck_assert_uint_eq(stats_of(cache).entries + stats_of(cache).bytes, 0);
        ck_assert_uint_eq(stats_of(cache).misses, (uint64_t)i);
    }
    preparation_fails = false;
    ck_assert_int_eq(pe_cache_get(cache, request, &entry, &outcome, &error), PE_OK);
    ck_assert_int_eq(outcome, PE_MISS);
    pe_entry_unref(entry);
    ck_assert_int_eq(pe_cache_get(cache, request, &entry, &outcome, &error), PE_OK);
    ck_assert_int_eq(outcome, PE_HIT);
    pe_entry_unref(entry);
    pe_request_unref(request);
    pe_cache_free(cache);
}
END_TEST

Suite *cache_suite(void)
{
    const TTest *const tests[] = {
        a_new_cache_is_empty,
        the_second_time_is_a_hit_on_the_same_table,
        a_table_serves_requests_for_any_of_its_tensors,
        the_least_recently_used_goes_first,
        hits_and_misses_are_those_of_a_plain_list,
        the_budget_is_never_exceeded,
        thousands_of_keys_are_all_found_again,
        an_entry_survives_its_eviction_while_it_is_held,
        a_budget_of_nothing_keeps_nothing,
        an_entry_over_the_budget_is_returned_and_not_kept,
        an_entry_just_within_the_budget_is_kept,
        a_failure_is_not_kept,
        NULL,
    };
    return unit_suite("cache", tests);
}
