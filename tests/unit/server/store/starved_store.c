/* The store and SQLite run out of memory: no change is done halfway, and the next call
 * succeeds.
 */
#include "store/set_store.h"

#include "directory.h"
#include "unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- SQLite's memory from malloc: the size of a block is stored before it ---- */

#define HEAD 16

static void *sqlite_allocate(int size)
{
    char *block = malloc((size_t)size + HEAD);
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    return block + HEAD;
}

static void sqlite_release(void *block)
{
    free(block ? (char *)block - HEAD : NULL);
}

static int sqlite_size(void *block)
{
    int size;
    memcpy(&size, (char *)block - HEAD, sizeof size);
    return size;
}

static void *sqlite_reallocate(void *block, int size)
{
    char *moved = realloc((char *)block - HEAD, (size_t)size + HEAD);
    if (!moved)
        return NULL;
    memcpy(moved, &size, sizeof size);
    return moved + HEAD;
}

static int sqlite_round_up(int size)
{
    return (size + 7) & ~7;
}

static int sqlite_begin(void *context)
{
    (void)context;
    return SQLITE_OK;
}

static void sqlite_end(void *context)
{
    (void)context;
}

static void use_our_memory(void)
{
    static const sqlite3_mem_methods methods = {
        sqlite_allocate, sqlite_release, sqlite_reallocate, sqlite_size,
        sqlite_round_up, sqlite_begin,   sqlite_end,        NULL};
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), SQLITE_OK);
}

/* ---- sets ---- */

static api_set *new_set(void)
{
    static const char header[] =
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}";
    pe_error error;
    size_t size = 8 + sizeof header - 1 + 16;
    char *bytes = calloc(1, size);
    bytes[0] = sizeof header - 1;
    memcpy(bytes + 8, header, sizeof header - 1);
    api_set *set = api_set_read(bytes, size, &error);
    unit_assert(set != NULL);
    return set;
}

static bool any(void *context, const char *digest)
{
    (void)context, (void)digest;
    return true;
}

static const api_condition ANY = {NULL, any};

static set_store *try_open(char reason[256])
{
    const set_store_settings settings = {
        .directory = unit_directory(), .sets = 8, .bytes = 1 << 20};
    return set_store_open(&settings, reason, 256);
}

static set_store *open_store(void)
{
    char reason[256];
    set_store *opened = try_open(reason);
    ck_assert_msg(opened != NULL, "%s", reason);
    return opened;
}

/* ---- actions ---- */

/* The log would have a line for each of SQLite's many failures. */
static int silence(void)
{
    int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
    unit_assert(kept >= 0 && nowhere >= 0 && dup2(nowhere, STDERR_FILENO) >= 0);
    close(nowhere);
    return kept;
}

static void speak(int kept)
{
    dup2(kept, STDERR_FILENO);
    close(kept);
}

typedef api_store_status action(const api_store *kept);

static api_store_status put(const api_store *kept)
{
    api_set *set = new_set();
    bool replaced;
    api_store_status status = kept->put(kept->context, "one", set, &ANY, &replaced);
    api_set_unref(set);
    return status;
}

static api_store_status find(const api_store *kept)
{
    api_set *set = NULL;
    api_store_status status = kept->find(kept->context, "one", false, &set);
    unit_assert((status == API_STORE_DONE) == (set != NULL));
    api_set_unref(set);
    return status;
}

static api_store_status take_out(const api_store *kept)
{
    return kept->remove(kept->context, "one", &ANY);
}

/* The sets are prepared beforehand, so that only the store's allocations fail. */
static api_set *ready;

static api_store_status put_ready(const api_store *kept)
{
    bool replaced;
    return kept->put(kept->context, "one", ready, &ANY, &replaced);
}

/* ---- the tests ---- */

/* Fail `count` allocations of an action from the k-th on, for every k, in one store; returns
 * the number of failures. `before` prepares each run. */
static size_t starve(const api_store *kept, action *before, action *starved, size_t count)
{
    size_t all = 0;
    for (size_t k = 0;; k++) {
        unit_assert(before(kept) == API_STORE_DONE);
        unit_fail_allocations(k, count);
        api_store_status status = starved(kept);
        size_t failed = unit_allow_allocations().failed;
        ck_assert_msg(status == API_STORE_DONE || (failed && (status == API_STORE_FAILED ||
                                                              status == API_STORE_NO_MEMORY)),
                      "status %d at allocation %zu", (int)status, k);
        if (status != API_STORE_DONE) {
            api_store_status again = starved(kept);
            ck_assert_msg(again == API_STORE_DONE, "status %d after allocation %zu", (int)again,
                          k);
        }
        all += failed;
        if (!failed)
            return all;
    }
}

START_TEST(what_fails_is_not_half_done_and_the_next_try_succeeds)
{
    unit_new_directory();
    use_our_memory();
    set_store *opened = open_store();
    const api_store *kept = set_store_for_api(opened);
    size_t failed = 0;
    ready = new_set();
    int spoken = silence();
    for (size_t i = 0; i < 2; i++) {
        size_t count = i ? SIZE_MAX : 1;
        failed += starve(kept, put, put_ready, count); /* replaces */
        failed += starve(kept, put, find, count);
        failed += starve(kept, put, take_out, count);
    }
    speak(spoken);
    printf("store: %zu allocations failed\n", failed);
    fflush(stdout);
    ck_assert_int_eq(put(kept), API_STORE_DONE);
    set_store_close(opened);
    opened = open_store();
    ck_assert_int_eq(find(set_store_for_api(opened)), API_STORE_DONE);
    set_store_close(opened);
    api_set_unref(ready);
    unit_remove_directory();
}
END_TEST

START_TEST(a_store_that_cannot_open_says_that_memory_ran_out)
{
    unit_new_directory();
    use_our_memory();
    set_store_close(open_store());
    for (size_t k = 0, failed = 1; failed; k++) {
        char reason[256] = "";
        unit_fail_allocations(k, 1);
        set_store *opened = try_open(reason);
        failed = unit_allow_allocations().failed;
        ck_assert_msg(opened || (failed && strstr(reason, "memory")), "allocation %zu: %s", k,
                      reason);
        set_store_close(opened);
    }
    set_store_close(open_store());
    unit_remove_directory();
}
END_TEST

Suite *starved_store_suite(void)
{
    const TTest *const tests[] = {what_fails_is_not_half_done_and_the_next_try_succeeds,
                                  a_store_that_cannot_open_says_that_memory_ran_out, NULL};
    return unit_suite("starved_store", tests);
}
