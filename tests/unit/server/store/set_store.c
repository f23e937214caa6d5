/* The store: sets in memory and in a database, its limits, and what it has synced. */
#include "store/set_store.h"

#include "directory.h"
#include "places.h"
#include "unit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const KINDS[PLACES] = {"memory", "sqlite", "postgresql"};

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

/* ---- tests ---- */

static void exercise(place where)
{
    char names[200] = "";
    set_store *sets = open_empty(where, 10, 1 << 20, 1 << 20);
    const api_store *store = set_store_for_api(sets);
    ck_assert_str_eq(store->kind, KINDS[where]);
    ck_assert(store->is_up(store->context) && store->shared == (where == IN_POSTGRESQL));
    ck_assert_int_eq(put_set(sets, "m", 1, 10), API_STORE_DONE);
    ck_assert_int_eq(put_set(sets, "a", 2, 20), API_STORE_DONE);
    ck_assert_int_eq(put_set(sets, "z", 3, 30), API_STORE_DONE);
    ck_assert_int_eq(put_set(sets, "b", 4, 40), API_STORE_DONE);
    ck_assert_int_eq(store->list(store->context, append_name, names), API_STORE_DONE);
    ck_assert_str_eq(names, "a b m z ");
    totals_are(sets, 4, 100);
    ck_assert_int_eq(put_set(sets, "b", 5, 50), API_STORE_DONE);
    totals_are(sets, 4, 110);
    ck_assert(first_in(sets, "b") == 5 && first_in(sets, "a") == 2 &&
              first_in(sets, "c") == -1);
    ck_assert_int_eq(drop_set(sets, "a"), API_STORE_DONE);
    ck_assert_int_eq(drop_set(sets, "a"), API_STORE_ABSENT);
    ck_assert(first_in(sets, "a") == -1 && first_in(sets, "z") == 3);
    totals_are(sets, 3, 90);
    set_store_close(sets);
}

START_TEST(sets_are_kept_by_name)
{
    for (place where = 0; where < place_count(); where++) {
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
    for (place where = 0; where < place_count(); where++) {
        set_store *sets = open_empty(where, 2, 20000, 1 << 20);
        ck_assert_int_eq(put_set(sets, "a", 1, 2000), API_STORE_DONE);
        ck_assert_int_eq(put_set(sets, "b", 2, 3000), API_STORE_TOO_MANY_BYTES);
        ck_assert_int_eq(put_set(sets, "b", 2, 2000), API_STORE_DONE);
        ck_assert_int_eq(put_set(sets, "c", 3, 1), API_STORE_TOO_MANY_SETS);
        ck_assert_int_eq(put_set(sets, "b", 3, 3000),
                         API_STORE_TOO_MANY_BYTES); /* the old set stays */
        ck_assert(first_in(sets, "b") == 2 && first_in(sets, "c") == -1);
        ck_assert_int_eq(drop_set(sets, "a"), API_STORE_DONE);
        ck_assert_int_eq(put_set(sets, "b", 4, 4000), API_STORE_DONE);
        ck_assert(first_in(sets, "b") == 4);
        set_store_close(sets);
    }
    unit_remove_directory();
}
END_TEST

START_TEST(sets_used_last_stay_in_memory)
{
    for (place where = IN_SQLITE; where < place_count(); where++) {
        set_store *sets = open_empty(where, 10, 1 << 20, 10000);
        put_set(sets, "a", 1, 1000);
        put_set(sets, "b", 2, 1000);
        ck_assert(is_in_memory(sets, "a") && is_in_memory(sets, "b")); /* b was used last */
        first_in(sets, "a");
        put_set(sets, "c", 3, 1000);
        ck_assert(is_in_memory(sets, "a") && is_in_memory(sets, "c") &&
                  !is_in_memory(sets, "b"));
        ck_assert(first_in(sets, "b") == 2);
        ck_assert(is_in_memory(sets, "b") && !is_in_memory(sets, "a"));
        put_set(sets, "d", 4, 3000); /* larger than the cache */
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
    for (place where = IN_SQLITE; where < place_count(); where++) {
        set_store *sets = open_empty(where, 10, 1 << 30, 1 << 30);
        ck_assert_int_eq(put_set(sets, "a", 7, 900000), API_STORE_DONE);
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

START_TEST(a_directory_has_one_server)
{
    char reason[256];
    set_store *first = open_empty(IN_SQLITE, 10, 1 << 20, 0);
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

/* ---- what a power failure would lose ---- */

static atomic_size_t writes, unsynced; /* of SQLite; those that no sync has followed */

/* SQLite calls these instead of those of the C library. */
ssize_t pwrite64(int file, const void *bytes, size_t size, off_t at)
{
    writes++;
    unsynced++;
    return syscall(SYS_pwrite64, file, bytes, size, at);
}

int fsync(int file)
{
    unsynced = 0;
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    unsynced = 0;
    return (int)syscall(SYS_fdatasync, file);
}

START_TEST(what_is_acknowledged_has_reached_the_disk)
{
    set_store *sets = open_empty(IN_SQLITE, 10, 1 << 20, 1 << 20);
    for (int i = 1; i <= 12; i++) {
        writes = 0;
        ck_assert_int_eq(put_set(sets, "a", (float)i, 2000 * (size_t)i), API_STORE_DONE);
        ck_assert(writes > 0 && unsynced == 0);
        ck_assert_int_eq(put_set(sets, "b", (float)i, 100), API_STORE_DONE);
        ck_assert(unsynced == 0);
        ck_assert_int_eq(drop_set(sets, "b"), API_STORE_DONE);
        ck_assert(unsynced == 0);
    }
    set_store_close(sets);
    unit_remove_directory();
}
END_TEST

Suite *store_suite(void)
{
    const TTest *const tests[] = {sets_are_kept_by_name,
                                  the_limits_hold,
                                  sets_used_last_stay_in_memory,
                                  a_large_set_comes_back_bit_for_bit,
                                  a_directory_has_one_server,
                                  what_is_no_store_is_left_alone,
                                  what_is_acknowledged_has_reached_the_disk,
                                  NULL};
    return unit_suite("store", tests);
}
