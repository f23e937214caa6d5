/* Changes of a store on a condition, also by several threads and servers at once. */
#include "places.h"

#include "directory.h"
#include "unit.h"

#include <pthread.h>
#include <string.h>

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
    for (place where = 0; where < place_count(); where++) {
        bool replaced;
        set_store *sets = open_empty(where, 10, 1 << 20, 1 << 20);
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
        ck_assert_int_eq(drop_set(sets, "a"), API_STORE_DONE);
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
    for (place where = 0; where < place_count(); where++)
        for (int rounds = 0; rounds < 5; rounds++) {
            bool shared = where == IN_POSTGRESQL;
            set_store *first = open_empty(where, 10, 1 << 20, 1 << 20);
            set_store *second = shared ? open_again(where, 10, 1 << 20, 1 << 20) : first;
            run_race(first, second);
            set_store_close(first);
            if (shared)
                set_store_close(second);
        }
    unit_remove_directory();
}
END_TEST

Suite *changes_suite(void)
{
    const TTest *const tests[] = {a_condition_is_judged_by_what_is_stored,
                                  of_racers_for_a_name_one_wins, NULL};
    return unit_suite("changes", tests);
}
