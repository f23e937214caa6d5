/* The store: sets in memory and in a database, its limits, and its content after a power
 * failure.
 */
#include "store/set_store.h"

#include "directory.h"
#include "power.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- sets, directories ---- */

#define DATA_MAX 4000000

/* A set of one f32 tensor; its first element identifies it. */
static api_set *set_of(float first, size_t elements)
{
    pe_error error;
    char header[128];
    int length =
        snprintf(header, sizeof header,
                 "{\"t\":{\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[0,%zu]}}",
                 elements, 4 * elements);
    size_t size = 8 + (size_t)length + 4 * elements;
    char *bytes = calloc(1, size);
    unit_assert(bytes != NULL && size <= DATA_MAX);
    bytes[0] = (char)length;
    memcpy(bytes + 8, header, (size_t)length);
    for (size_t i = 0; i < elements; i++) {
        float element = first + (float)i;
        memcpy(bytes + 8 + length + 4 * i, &element, sizeof element);
    }
    api_set *set = api_set_read(bytes, size, &error);
    unit_assert(set != NULL);
    return set;
}

static double first_of(const api_set *set)
{
    return pe_set_element(pe_set_tensor_at(api_set_tensors(set), 0), 0);
}

/* Where a store keeps its sets. PostgreSQL takes part where the variable STORE_DATABASE_URL
 * names a database, whose sets are removed: `make postgres`. */
typedef enum place { IN_MEMORY, IN_SQLITE, IN_POSTGRESQL, PLACES } place;
static const char *const KINDS[PLACES] = {"memory", "sqlite", "postgresql"};

static const char *database_url(void)
{
    return getenv("STORE_DATABASE_URL");
}

static size_t places(void)
{
    return database_url() ? PLACES : IN_POSTGRESQL;
}

/* Open a store where an earlier one may have left sets. */
static set_store *open_again(place where, uint64_t sets, uint64_t bytes, uint64_t cached)
{
    char reason[256];
    const set_store_settings settings = {
        .directory = where == IN_SQLITE ? unit_directory() : "",
        .sets = sets,
        .bytes = bytes,
        .cached_bytes = cached,
        .database_url = where == IN_POSTGRESQL ? database_url() : NULL};
    set_store *opened = set_store_open(&settings, reason, sizeof reason);
    ck_assert_msg(opened != NULL, "%s", reason);
    return opened;
}

/* ---- calls ---- */

static bool any(void *context, const char *digest)
{
    (void)context, (void)digest;
    return true;
}

static const api_condition ANY = {NULL, any};

static api_store_status put(set_store *sets, const char *name, float first, size_t elements)
{
    bool replaced;
    const api_store *store = set_store_for_api(sets);
    api_set *set = set_of(first, elements);
    api_store_status status = store->put(store->context, name, set, &ANY, &replaced);
    api_set_unref(set);
    return status;
}

static api_store_status drop(set_store *sets, const char *name)
{
    const api_store *store = set_store_for_api(sets);
    return store->remove(store->context, name, &ANY);
}

/* The first element of the set with a name, -1 if there is none. */
static double first_in(set_store *sets, const char *name)
{
    api_set *set = NULL;
    const api_store *store = set_store_for_api(sets);
    api_store_status status = store->find(store->context, name, false, &set);
    unit_assert((status == API_STORE_DONE) == (set != NULL));
    unit_assert(status == API_STORE_DONE || status == API_STORE_ABSENT);
    double first = set ? first_of(set) : -1;
    api_set_unref(set);
    return first;
}

static bool is_in_memory(set_store *sets, const char *name)
{
    api_set *set = NULL;
    const api_store *store = set_store_for_api(sets);
    api_store_status status = store->find(store->context, name, true, &set);
    api_set_unref(set);
    return status == API_STORE_DONE;
}

static void totals_are(set_store *sets, uint64_t count, uint64_t elements)
{
    uint64_t got_count, bytes;
    const api_store *store = set_store_for_api(sets);
    store->totals(store->context, &got_count, &bytes);
    ck_assert_uint_eq(got_count, count);
    ck_assert_uint_ge(bytes, 4 * elements);
    ck_assert_uint_le(bytes, 4 * elements + 100 * count);
}

static void append_name(void *names, const api_stored *stored)
{
    strcat(strcat(names, stored->name), " ");
}

/* Open a store without sets. */
static set_store *open_store(place where, uint64_t sets, uint64_t bytes, uint64_t cached)
{
    if (where == IN_SQLITE)
        unit_new_directory();
    set_store *opened = open_again(where, sets, bytes, cached);
    for (char name[2] = "a"; where == IN_POSTGRESQL && name[0] <= 'z'; name[0]++)
        drop(opened, name);
    return opened;
}

/* ---- tests ---- */

static void exercise(place where)
{
    char names[200] = "";
    set_store *sets = open_store(where, 10, 1 << 20, 1 << 20);
    const api_store *store = set_store_for_api(sets);
    ck_assert_str_eq(store->kind, KINDS[where]);
    ck_assert(store->is_up(store->context) && store->shared == (where == IN_POSTGRESQL));
    ck_assert_int_eq(put(sets, "m", 1, 10), API_STORE_DONE);
    ck_assert_int_eq(put(sets, "a", 2, 20), API_STORE_DONE);
    ck_assert_int_eq(put(sets, "z", 3, 30), API_STORE_DONE);
    ck_assert_int_eq(put(sets, "b", 4, 40), API_STORE_DONE);
    ck_assert_int_eq(store->list(store->context, append_name, names), API_STORE_DONE);
    ck_assert_str_eq(names, "a b m z ");
    totals_are(sets, 4, 100);
    ck_assert_int_eq(put(sets, "b", 5, 50), API_STORE_DONE);
    totals_are(sets, 4, 110);
    ck_assert(first_in(sets, "b") == 5 && first_in(sets, "a") == 2 &&
              first_in(sets, "c") == -1);
    ck_assert_int_eq(drop(sets, "a"), API_STORE_DONE);
    ck_assert_int_eq(drop(sets, "a"), API_STORE_ABSENT);
    ck_assert(first_in(sets, "a") == -1 && first_in(sets, "z") == 3);
    totals_are(sets, 3, 90);
    set_store_close(sets);
}

START_TEST(sets_are_kept_by_name)
{
    for (place where = 0; where < places(); where++) {
        exercise(where);
        if (where == IN_MEMORY)
            continue;
        set_store *again = open_again(where, 10, 1 << 20, 1 << 20);
        totals_are(again, 3, 90);
        ck_assert(!is_in_memory(again, "z"));
        ck_assert(first_in(again, "z") == 3 && first_in(again, "b") == 5 &&
                  first_in(again, "a") == -1);
        ck_assert(is_in_memory(again, "z"));
        set_store_close(again);
    }
    unit_remove_directory();
}
END_TEST

START_TEST(the_limits_hold)
{
    for (place where = 0; where < places(); where++) {
        set_store *sets = open_store(where, 2, 20000, 1 << 20);
        ck_assert_int_eq(put(sets, "a", 1, 2000), API_STORE_DONE);
        ck_assert_int_eq(put(sets, "b", 2, 3000), API_STORE_TOO_MANY_BYTES);
        ck_assert_int_eq(put(sets, "b", 2, 2000), API_STORE_DONE);
        ck_assert_int_eq(put(sets, "c", 3, 1), API_STORE_TOO_MANY_SETS);
        ck_assert_int_eq(put(sets, "b", 3, 3000),
                         API_STORE_TOO_MANY_BYTES); /* the old set stays */
        ck_assert(first_in(sets, "b") == 2 && first_in(sets, "c") == -1);
        ck_assert_int_eq(drop(sets, "a"), API_STORE_DONE);
        ck_assert_int_eq(put(sets, "b", 4, 4000), API_STORE_DONE);
        ck_assert(first_in(sets, "b") == 4);
        set_store_close(sets);
    }
    unit_remove_directory();
}
END_TEST

START_TEST(sets_used_last_stay_in_memory)
{
    for (place where = IN_SQLITE; where < places(); where++) {
        set_store *sets = open_store(where, 10, 1 << 20, 10000);
        put(sets, "a", 1, 1000);
        put(sets, "b", 2, 1000);
        ck_assert(is_in_memory(sets, "a") && is_in_memory(sets, "b")); /* b was used last */
        first_in(sets, "a");
        put(sets, "c", 3, 1000);
        ck_assert(is_in_memory(sets, "a") && is_in_memory(sets, "c") &&
                  !is_in_memory(sets, "b"));
        ck_assert(first_in(sets, "b") == 2);
        ck_assert(is_in_memory(sets, "b") && !is_in_memory(sets, "a"));
        put(sets, "d", 4, 3000); /* larger than the cache */
        ck_assert(!is_in_memory(sets, "d") && first_in(sets, "d") == 4);
        ck_assert(!is_in_memory(sets, "d") && is_in_memory(sets, "b"));
        set_store_close(sets);
    }
    unit_remove_directory();
}
END_TEST

START_TEST(a_large_set_comes_back_bit_for_bit)
{
    api_set *same = set_of(7, 900000); /* several chunks */
    size_t size, back;
    const char *bytes = api_set_bytes(same, &size);
    for (place where = IN_SQLITE; where < places(); where++) {
        set_store *sets = open_store(where, 10, 1 << 30, 1 << 30);
        ck_assert_int_eq(put(sets, "a", 7, 900000), API_STORE_DONE);
        set_store_close(sets);
        sets = open_again(where, 10, 1 << 30, 1 << 30);
        api_set *set = NULL;
        const api_store *store = set_store_for_api(sets);
        ck_assert_int_eq(store->find(store->context, "a", false, &set), API_STORE_DONE);
        const char *got = api_set_bytes(set, &back);
        ck_assert_uint_eq(size, back);
        ck_assert_int_eq(memcmp(bytes, got, size), 0);
        api_set_unref(set);
        set_store_close(sets);
    }
    api_set_unref(same);
    unit_remove_directory();
}
END_TEST

/* ---- conditions ---- */

static bool is_absent(void *context, const char *digest)
{
    (void)context;
    return !digest;
}

static bool is_digest(void *context, const char *digest)
{
    return digest && strcmp(context, digest) == 0;
}

START_TEST(a_condition_is_judged_by_what_is_stored)
{
    for (place where = 0; where < places(); where++) {
        bool replaced;
        set_store *sets = open_store(where, 10, 1 << 20, 1 << 20);
        const api_store *store = set_store_for_api(sets);
        api_set *one = set_of(1, 10), *two = set_of(2, 10);
        const api_condition absent = {NULL, is_absent},
                            is_one = {(void *)(uintptr_t)api_set_digest(one), is_digest};
        ck_assert_int_eq(store->put(store->context, "a", two, &is_one, &replaced),
                         API_STORE_REFUSED);
        ck_assert_int_eq(store->put(store->context, "a", one, &absent, &replaced),
                         API_STORE_DONE);
        ck_assert(!replaced);
        ck_assert_int_eq(store->put(store->context, "a", two, &absent, &replaced),
                         API_STORE_REFUSED);
        ck_assert_int_eq(store->put(store->context, "a", two, &is_one, &replaced),
                         API_STORE_DONE);
        ck_assert(replaced && first_in(sets, "a") == 2);
        ck_assert_int_eq(store->remove(store->context, "a", &is_one), API_STORE_REFUSED);
        ck_assert_int_eq(store->remove(store->context, "b", &is_one), API_STORE_REFUSED);
        ck_assert_int_eq(drop(sets, "a"), API_STORE_DONE);
        api_set_unref(one);
        api_set_unref(two);
        set_store_close(sets);
    }
    unit_remove_directory();
}
END_TEST

#define RACERS 8

typedef struct racer {
    pthread_t thread;
    pthread_barrier_t *start;
    const api_store *store;
    api_set *set;
    api_store_status status;
} racer;

static void *race(void *argument)
{
    racer *self = argument;
    const api_condition absent = {NULL, is_absent};
    bool replaced;
    pthread_barrier_wait(self->start);
    self->status = self->store->put(self->store->context, "a", self->set, &absent, &replaced);
    return NULL;
}

/* Half of the racers use one store and half the other, which are the same unless the place can
 * be shared. */
static void run_race(set_store *first, set_store *second)
{
    racer racers[RACERS];
    pthread_barrier_t start;
    int winner = -1;
    pthread_barrier_init(&start, NULL, RACERS);
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (racer){.start = &start,
                            .store = set_store_for_api(i % 2 ? first : second),
                            .set = set_of((float)(i + 1), 20000)};
        ck_assert_int_eq(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < RACERS; i++) {
        pthread_join(racers[i].thread, NULL);
        api_set_unref(racers[i].set);
        ck_assert(racers[i].status == API_STORE_REFUSED ||
                  (racers[i].status == API_STORE_DONE && winner < 0));
        if (racers[i].status == API_STORE_DONE)
            winner = i;
    }
    pthread_barrier_destroy(&start);
    ck_assert_int_ge(winner, 0);
    ck_assert(first_in(winner % 2 ? first : second, "a") == winner + 1);
}

START_TEST(of_racers_for_a_name_one_wins)
{
    for (place where = 0; where < places(); where++)
        for (int rounds = 0; rounds < 5; rounds++) {
            bool shared = where == IN_POSTGRESQL;
            set_store *first = open_store(where, 10, 1 << 20, 1 << 20);
            set_store *second = shared ? open_again(where, 10, 1 << 20, 1 << 20) : first;
            run_race(first, second);
            set_store_close(first);
            if (shared)
                set_store_close(second);
        }
    unit_remove_directory();
}
END_TEST

START_TEST(a_directory_has_one_server)
{
    char reason[256];
    set_store *first = open_store(IN_SQLITE, 10, 1 << 20, 0);
    const set_store_settings settings = {
        .directory = unit_directory(), .sets = 10, .bytes = 1 << 20};
    pid_t child = fork(); /* file locks belong to a process */
    if (child == 0) {
        set_store *second = set_store_open(&settings, reason, sizeof reason);
        _exit(!second && strstr(reason, "another server is using it") ? 7 : 8);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), 7);
    set_store_close(first);
    unit_remove_directory();
}
END_TEST

static void refuses_to_open(const char *where, const char *why)
{
    char reason[256];
    const set_store_settings settings = {.directory = where, .sets = 10, .bytes = 1 << 20};
    set_store *opened = set_store_open(&settings, reason, sizeof reason);
    ck_assert_msg(opened == NULL, "%s opens", where);
    ck_assert_msg(strstr(reason, why) && strstr(reason, "data-dir: "), "%s", reason);
}

START_TEST(what_is_no_store_is_left_alone)
{
    char path[512];
    unit_new_directory();
    snprintf(path, sizeof path, "%s/missing/deeper", unit_directory());
    refuses_to_open(path, "No such file");
    snprintf(path, sizeof path, "%s/parameters.sqlite", unit_directory());
    FILE *file = fopen(path, "w");
    fputs("not a database, but long enough to look like one: it has more than sixteen bytes",
          file);
    fclose(file);
    refuses_to_open(unit_directory(), "not a database");
    refuses_to_open(path, "Not a directory");
    unit_remove_directory();
}
END_TEST

/* Cut the power after various numbers of writes. A put that was acknowledged is there; one that
 * was not is there completely or not at all. */
START_TEST(what_is_acknowledged_survives_a_power_failure)
{
    size_t failures = 0;
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr)); /* of a log line per failure */
    for (size_t after = 1;; after += 1 + after / 8) {
        double kept = 0, last = 0;
        bool removed = false;
        unit_new_directory();
        power_begin(after);
        char reason[256];
        const set_store_settings settings = {
            .directory = unit_directory(), .sets = 10, .bytes = 1 << 20};
        set_store *sets = set_store_open(&settings, reason, sizeof reason);
        for (int i = 1; sets && i <= 12 && !power_has_failed(); i++) {
            last = i;
            if (put(sets, "a", (float)i, 2000 * (size_t)i) == API_STORE_DONE &&
                !power_has_failed())
                kept = i;
            put(sets, "b", (float)i, 100);
            removed = drop(sets, "b") == API_STORE_DONE && !power_has_failed();
        }
        bool failed = power_has_failed();
        set_store_close(sets);
        power_end(); /* the directory now is what the disk has */
        failures += failed;
        sets = open_again(IN_SQLITE, 10, 1 << 20, 0);
        double now = first_in(sets, "a");
        ck_assert_msg(now == kept || (now == last && failed) || (kept == 0 && now == -1),
                      "after %zu writes: %g, acknowledged %g", after, now, kept);
        ck_assert(!removed || first_in(sets, "b") == -1);
        set_store_close(sets);
        unit_remove_directory();
        if (!failed)
            break;
    }
    ck_assert_uint_gt(failures, 20);
}
END_TEST

Suite *store_suite(void)
{
    const TTest *const tests[] = {sets_are_kept_by_name,
                                  the_limits_hold,
                                  sets_used_last_stay_in_memory,
                                  a_large_set_comes_back_bit_for_bit,
                                  a_condition_is_judged_by_what_is_stored,
                                  of_racers_for_a_name_one_wins,
                                  a_directory_has_one_server,
                                  what_is_no_store_is_left_alone,
                                  what_is_acknowledged_survives_a_power_failure,
                                  NULL};
    return unit_suite("store", tests);
}
