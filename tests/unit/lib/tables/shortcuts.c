/* Tests of shortcuts: texts that lead to an attachment of an entry, and are removed with it. */
#include "tables/shortcuts.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* The object that a text leads to; NULL if it has no shortcut. */
static void *find(pe_cache *cache, const char *text)
{
    pe_entry *entry = NULL;
    void *object = pe_cache_find_shortcut(cache, text, strlen(text), &entry);
    ck_assert((object != NULL) == (entry != NULL));
    pe_entry_unref(entry);
    return object;
}

static void add(pe_cache *cache, pe_entry *entry, void *object, const char *text)
{
    pe_cache_add_shortcut(cache, entry, object, text, strlen(text));
}

START_TEST(a_shortcut_leads_to_its_object_and_counts_a_hit)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_entry *entry = unit_entry(cache, "integer", "length=4"),
             *other = unit_entry(cache, "integer", "length=5"), *found;
    int objects[3];
    pe_cache_stats stats;
    add(cache, entry, &objects[0], "/a?b");
    add(cache, entry, &objects[1], "/a?b\n*/*");
    add(cache, other, &objects[2], "");
    ck_assert_ptr_eq(find(cache, "/a?b"), &objects[0]);
    ck_assert_ptr_eq(find(cache, "/a?b\n*/*"), &objects[1]);
    ck_assert_ptr_eq(find(cache, ""), &objects[2]);
    ck_assert_ptr_null(find(cache, "/a?c"));
    ck_assert_ptr_null(find(cache, "/a?"));
    ck_assert_ptr_eq(pe_cache_find_shortcut(cache, "/a?b", 4, &found), &objects[0]);
    ck_assert_ptr_eq(found, entry);
    pe_entry_unref(found);
    pe_cache_read_stats(cache, &stats);
    ck_assert_uint_eq(stats.hits, 4);
    pe_entry_unref(entry);
    pe_entry_unref(other);
    pe_cache_free(cache);
}
END_TEST

START_TEST(the_first_object_of_a_text_stays)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    int first, second;
    add(cache, entry, &first, "x");
    add(cache, entry, &second, "x");
    ck_assert_ptr_eq(find(cache, "x"), &first);
    pe_entry_unref(entry);
    pe_cache_free(cache);
}
END_TEST

START_TEST(shortcuts_are_removed_with_their_entry)
{
    pe_cache *cache = pe_cache_new(3000);
    pe_entry *held = unit_entry(cache, "integer", "length=4");
    int object;
    add(cache, held, &object, "x");
    add(cache, held, &object, "y");
    for (int i = 10; i < 40; i++) {
        char query[32];
        snprintf(query, sizeof query, "length=%d", i);
        pe_entry_unref(unit_entry(cache, "integer", query));
    }
    ck_assert_ptr_null(find(cache, "x"));
    ck_assert_ptr_null(find(cache, "y"));
    add(cache, held, &object, "x"); /* the entry was evicted: it gets no shortcut */
    ck_assert_ptr_null(find(cache, "x"));
    pe_entry_unref(held);
    pe_cache_free(cache);
}
END_TEST

START_TEST(finding_a_shortcut_keeps_its_entry_from_eviction)
{
    pe_cache *cache = pe_cache_new(3000);
    int object;
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    add(cache, entry, &object, "x");
    pe_entry_unref(entry);
    for (int i = 10; i < 40; i++) {
        char query[32];
        snprintf(query, sizeof query, "length=%d", i);
        pe_entry_unref(unit_entry(cache, "integer", query));
        ck_assert_ptr_eq(find(cache, "x"), &object);
    }
    pe_cache_free(cache);
}
END_TEST

START_TEST(shortcuts_are_bounded_and_the_last_of_a_slot_wins)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_entry *entries[2] = {unit_entry(cache, "integer", "length=4"),
                            unit_entry(cache, "integer", "length=5")};
    int objects[2];
    size_t found = 0;
    char text[32];
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "/v1/x?length=%d", i);
        add(cache, entries[i % 2], &objects[i % 2], text);
        unit_assert(find(cache, text) == &objects[i % 2]);
    }
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "/v1/x?length=%d", i);
        void *object = find(cache, text);
        unit_assert(!object || object == &objects[i % 2]);
        found += object != NULL;
    }
    ck_assert_uint_gt(found, PE_SHORTCUT_SLOTS / 2);
    ck_assert_uint_le(found, PE_SHORTCUT_SLOTS);
    pe_entry_unref(entries[0]);
    pe_entry_unref(entries[1]);
    pe_cache_free(cache);
}
END_TEST

START_TEST(a_text_that_is_too_long_or_finds_no_memory_gets_no_shortcut)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    int object;
    char text[PE_SHORTCUT_TEXT_MAX + 2];
    memset(text, 'a', sizeof text);
    text[PE_SHORTCUT_TEXT_MAX + 1] = '\0';
    add(cache, entry, &object, text);
    ck_assert_ptr_null(find(cache, text));
    text[PE_SHORTCUT_TEXT_MAX] = '\0';
    unit_fail_allocations(0, 1);
    add(cache, entry, &object, text);
    unit_allow_allocations();
    ck_assert_ptr_null(find(cache, text));
    add(cache, entry, &object, text);
    ck_assert_ptr_eq(find(cache, text), &object);
    pe_entry_unref(entry);
    pe_cache_free(cache);
}
END_TEST

Suite *shortcuts_suite(void)
{
    const TTest *const tests[] = {
        a_shortcut_leads_to_its_object_and_counts_a_hit,
        the_first_object_of_a_text_stays,
        shortcuts_are_removed_with_their_entry,
        finding_a_shortcut_keeps_its_entry_from_eviction,
        shortcuts_are_bounded_and_the_last_of_a_slot_wins,
        a_text_that_is_too_long_or_finds_no_memory_gets_no_shortcut,
        NULL,
    };
    return unit_suite("shortcuts", tests);
}
