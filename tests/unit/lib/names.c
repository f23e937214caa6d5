/* Names: shortcuts to what is attached to an entry, gone with it. */
#include "names.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pe_entry *get(pe_cache *cache, const char *query)
{
    pe_request *request = unit_legal_request("integer", query);
    pe_entry *entry;
    pe_outcome outcome;
    pe_error error;
    ck_assert_int_eq(pe_cache_get(cache, request, &entry, &outcome, &error), PE_OK);
    pe_request_free(request);
    return entry;
}

/* The object that a name leads to; NULL where there is none. */
static void *look(pe_cache *cache, const char *name)
{
    pe_entry *entry = NULL;
    void *object = pe_cache_look_name(cache, name, strlen(name), &entry);
    ck_assert((object != NULL) == (entry != NULL));
    pe_entry_unref(entry);
    return object;
}

static void name(pe_cache *cache, pe_entry *entry, void *object, const char *text)
{
    pe_cache_name(cache, entry, object, text, strlen(text));
}

START_TEST(a_name_leads_to_its_object_and_counts_a_hit)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_entry *entry = get(cache, "length=4"), *other = get(cache, "length=5"), *found;
    int objects[3];
    pe_cache_stats stats;
    name(cache, entry, &objects[0], "/a?b");
    name(cache, entry, &objects[1], "/a?b\n*/*");
    name(cache, other, &objects[2], "");
    ck_assert_ptr_eq(look(cache, "/a?b"), &objects[0]);
    ck_assert_ptr_eq(look(cache, "/a?b\n*/*"), &objects[1]);
    ck_assert_ptr_eq(look(cache, ""), &objects[2]);
    ck_assert_ptr_null(look(cache, "/a?c"));
    ck_assert_ptr_null(look(cache, "/a?"));
    ck_assert_ptr_eq(pe_cache_look_name(cache, "/a?b", 4, &found), &objects[0]);
    ck_assert_ptr_eq(found, entry);
    pe_entry_unref(found);
    pe_cache_read_stats(cache, &stats);
    ck_assert_uint_eq(stats.hits, 4);
    pe_entry_unref(entry);
    pe_entry_unref(other);
    pe_cache_free(cache);
}
END_TEST

START_TEST(the_first_object_of_a_name_stays)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_entry *entry = get(cache, "length=4");
    int first, second;
    name(cache, entry, &first, "x");
    name(cache, entry, &second, "x");
    ck_assert_ptr_eq(look(cache, "x"), &first);
    pe_entry_unref(entry);
    pe_cache_free(cache);
}
END_TEST

START_TEST(names_go_with_their_entry)
{
    pe_cache *cache = pe_cache_new(3000);
    pe_entry *held = get(cache, "length=4");
    int object;
    name(cache, held, &object, "x");
    name(cache, held, &object, "y");
    for (int i = 10; i < 40; i++) {
        char query[32];
        snprintf(query, sizeof query, "length=%d", i);
        pe_entry_unref(get(cache, query));
    }
    ck_assert_ptr_null(look(cache, "x"));
    ck_assert_ptr_null(look(cache, "y"));
    name(cache, held, &object, "x"); /* it is no longer the cache's */
    ck_assert_ptr_null(look(cache, "x"));
    pe_entry_unref(held);
    pe_cache_free(cache);
}
END_TEST

START_TEST(looking_by_name_keeps_an_entry_from_eviction)
{
    pe_cache *cache = pe_cache_new(3000);
    int object;
    pe_entry *entry = get(cache, "length=4");
    name(cache, entry, &object, "x");
    pe_entry_unref(entry);
    for (int i = 10; i < 40; i++) {
        char query[32];
        snprintf(query, sizeof query, "length=%d", i);
        pe_entry_unref(get(cache, query));
        ck_assert_ptr_eq(look(cache, "x"), &object);
    }
    pe_cache_free(cache);
}
END_TEST

START_TEST(names_are_bounded_and_the_last_of_a_slot_wins)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_entry *entries[2] = {get(cache, "length=4"), get(cache, "length=5")};
    int objects[2];
    size_t found = 0;
    char text[32];
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "/v1/x?length=%d", i);
        name(cache, entries[i % 2], &objects[i % 2], text);
        unit_assert(look(cache, text) == &objects[i % 2]);
    }
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "/v1/x?length=%d", i);
        void *object = look(cache, text);
        unit_assert(!object || object == &objects[i % 2]);
        found += object != NULL;
    }
    ck_assert_uint_gt(found, PE_NAME_SLOTS / 2);
    ck_assert_uint_le(found, PE_NAME_SLOTS);
    pe_entry_unref(entries[0]);
    pe_entry_unref(entries[1]);
    pe_cache_free(cache);
}
END_TEST

START_TEST(what_is_too_long_or_finds_no_memory_gets_no_name)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_entry *entry = get(cache, "length=4");
    int object;
    char text[PE_NAME_MAX + 2];
    memset(text, 'a', sizeof text);
    text[PE_NAME_MAX + 1] = '\0';
    name(cache, entry, &object, text);
    ck_assert_ptr_null(look(cache, text));
    text[PE_NAME_MAX] = '\0';
    unit_fail_allocations(0, 1);
    name(cache, entry, &object, text);
    unit_allow_allocations();
    ck_assert_ptr_null(look(cache, text));
    name(cache, entry, &object, text);
    ck_assert_ptr_eq(look(cache, text), &object);
    pe_entry_unref(entry);
    pe_cache_free(cache);
}
END_TEST

Suite *names_suite(void)
{
    const TTest *const tests[] = {
        a_name_leads_to_its_object_and_counts_a_hit,
        the_first_object_of_a_name_stays,
        names_go_with_their_entry,
        looking_by_name_keeps_an_entry_from_eviction,
        names_are_bounded_and_the_last_of_a_slot_wins,
        what_is_too_long_or_finds_no_memory_gets_no_name,
        NULL,
    };
    return unit_suite("names", tests);
}
