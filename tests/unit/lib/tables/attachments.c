/* Tests of attachments: they are built once, counted in the budget, and destroyed with their
 * entry. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

/* The context of `build`: what it shall do, and what it has done. */
typedef struct builder_state {
    size_t bytes;
    bool fails;
    int built;
    pe_table *table; /* of the last call */
} builder_state;

static int destroyed;

static void destroy(void *object)
{
    destroyed++;
    free(object);
}

static bool build(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    builder_state *own = context;
    own->built++;
    own->table = table;
    if (own->fails)
        return false;
    int *object = malloc(sizeof *object);
    *object = 100 + own->built;
    *ret_attachment = (pe_attachment){object, own->bytes, destroy};
    return true;
}

static pe_cache_stats stats_of(pe_cache *cache)
{
    pe_cache_stats stats;
    pe_cache_read_stats(cache, &stats);
    return stats;
}

START_TEST(an_attachment_is_built_once)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    builder_state own = {.bytes = 1000};
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    int *object = pe_entry_attachment(cache, entry, 3, "", build, &own);
    ck_assert_ptr_nonnull(object);
    ck_assert_int_eq(*object, 101);
    ck_assert_ptr_eq(own.table, pe_entry_table(entry));
    ck_assert_ptr_eq(pe_entry_attachment(cache, entry, 3, "", build, &own), object);
    pe_entry *again =
        unit_entry(cache, "integer", "length=4"); /* another holder of the entry finds it too */
    ck_assert_ptr_eq(pe_entry_attachment(cache, again, 3, "", build, &own), object);
    ck_assert_int_eq(own.built, 1);
    pe_entry_unref(entry);
    pe_entry_unref(again);
    ck_assert_int_eq(destroyed, 0);
    pe_cache_free(cache);
    ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(each_id_has_its_own)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    builder_state own = {.bytes = 10};
    pe_entry *entry = unit_entry(cache, "integer", "length=4"),
             *other = unit_entry(cache, "integer", "length=5");
    int *objects[4];
    for (unsigned id = 0; id < 4; id++)
        objects[id] = pe_entry_attachment(cache, entry, id * 1000000000U, "", build, &own);
    for (unsigned id = 0; id < 4; id++) {
        ck_assert_int_eq(*objects[id], 101 + (int)id);
        ck_assert_ptr_eq(pe_entry_attachment(cache, entry, id * 1000000000U, "", build, &own),
                         objects[id]);
    }
    int *other_object = pe_entry_attachment(cache, other, 0, "", build, &own);
    ck_assert_ptr_ne(other_object, objects[0]);
    ck_assert_ptr_eq(own.table, pe_entry_table(other));
    ck_assert_int_eq(own.built, 5);
    pe_entry_unref(entry);
    pe_entry_unref(other);
    pe_cache_free(cache);
    ck_assert_int_eq(destroyed, 5);
}
END_TEST

START_TEST(each_variant_has_its_own)
{
    static const char *const VARIANTS[] = {"", "slice=1", "slice=11", "slice=1&scale=2"};
    pe_cache *cache = pe_cache_new(1 << 20);
    builder_state own = {.bytes = 10};
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    for (size_t i = 0; i < UNIT_COUNT(VARIANTS); i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", VARIANTS[i]);
        int *object = pe_entry_attachment(cache, entry, 3, text, build, &own);
        text[0] = '!'; /* the text was copied */
        ck_assert_int_eq(*object, 101 + (int)i);
        ck_assert_ptr_eq(pe_entry_attachment(cache, entry, 3, VARIANTS[i], build, &own),
                         object);
        ck_assert_ptr_null(pe_entry_attachment(cache, entry, 4, VARIANTS[i], NULL, NULL));
    }
    ck_assert_int_eq(*(int *)pe_entry_attachment(cache, entry, 3, "", NULL, NULL), 101);
    pe_entry_unref(entry);
    pe_cache_free(cache);
    ck_assert_int_eq(destroyed, 4);
}
END_TEST

START_TEST(a_thousand_variants_are_all_found_again)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    builder_state own = {.bytes = 10};
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    int *objects[1000];
    char text[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "slice=%d", i);
        objects[i] = pe_entry_attachment(cache, entry, 3, text, build, &own);
        ck_assert_int_eq(*objects[i], 101 + i);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "slice=%d", i);
        ck_assert_ptr_eq(pe_entry_attachment(cache, entry, 3, text, NULL, NULL), objects[i]);
        ck_assert_ptr_null(pe_entry_attachment(cache, entry, 4, text, NULL, NULL));
    }
    pe_entry_unref(entry);
    pe_cache_free(cache);
    ck_assert_int_eq(destroyed, 1000);
}
END_TEST

START_TEST(without_a_builder_an_attachment_is_only_looked_up)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    builder_state own = {.bytes = 10};
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    ck_assert_ptr_null(pe_entry_attachment(cache, entry, 3, "", NULL, NULL));
    int *object = pe_entry_attachment(cache, entry, 3, "", build, &own);
    ck_assert_ptr_eq(pe_entry_attachment(cache, entry, 3, "", NULL, NULL), object);
    ck_assert_ptr_null(pe_entry_attachment(cache, entry, 4, "", NULL, NULL));
    pe_entry_unref(entry);
    pe_cache_free(cache);
}
END_TEST

START_TEST(a_failed_builder_leaves_nothing_and_may_try_again)
{
    pe_cache *cache = pe_cache_new(1 << 20);
    builder_state own = {.bytes = 500, .fails = true};
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    uint64_t before = stats_of(cache).bytes;
    ck_assert_ptr_null(pe_entry_attachment(cache, entry, 3, "", build, &own));
    ck_assert_ptr_null(pe_entry_attachment(cache, entry, 3, "", build, &own));
    ck_assert_int_eq(own.built, 2);
    ck_assert_uint_eq(stats_of(cache).bytes, before);
    own.fails = false;
    ck_assert_ptr_nonnull(pe_entry_attachment(cache, entry, 3, "", build, &own));
    ck_assert_int_eq(own.built, 3);
    pe_entry_unref(entry);
    pe_cache_free(cache);
    ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(attachments_count_in_the_budget_until_they_go)
{
    pe_cache *cache = pe_cache_new(100000);
    builder_state own = {.bytes = 30000};
    pe_entry *first = unit_entry(cache, "integer", "length=4");
    uint64_t alone = stats_of(cache).bytes;
    pe_entry_attachment(cache, first, 1, "", build, &own);
    uint64_t with_one = stats_of(cache).bytes;
    ck_assert_uint_ge(with_one, alone + 30000);
    ck_assert_uint_le(with_one, alone + 30200);
    pe_entry_attachment(cache, first, 1, "", build, &own);
    ck_assert_uint_eq(stats_of(cache).bytes, with_one); /* counted once */
    pe_entry_attachment(cache, first, 2, "", build, &own);
    ck_assert_uint_eq(stats_of(cache).bytes, alone + 2 * (with_one - alone));
    pe_entry_unref(first);
    pe_entry_unref(
        unit_entry(cache, "integer", "length=20000")); /* 80000 bytes: both do not fit */
    ck_assert_uint_eq(stats_of(cache).entries, 1);
    ck_assert_uint_eq(stats_of(cache).evictions, 1);
    ck_assert_int_eq(destroyed, 2);
    ck_assert_uint_lt(stats_of(cache).bytes, 100000);
    ck_assert_uint_ge(stats_of(cache).bytes, 80000);
    pe_cache_free(cache);
}
END_TEST

START_TEST(an_attachment_pushes_out_what_was_used_least_recently)
{
    pe_cache *cache = pe_cache_new(10000);
    builder_state own = {.bytes = 8000};
    pe_entry_unref(unit_entry(cache, "integer", "length=1"));
    pe_entry_unref(unit_entry(cache, "integer", "length=2"));
    pe_entry_unref(unit_entry(cache, "integer", "length=3"));
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    ck_assert_uint_eq(stats_of(cache).entries, 4);
    uint64_t each = stats_of(cache).bytes / 4;
    ck_assert_uint_gt(4 * each + 8000, 10000);
    int *object = pe_entry_attachment(cache, entry, 1, "", build, &own);
    ck_assert_int_eq(*object, 101);
    ck_assert_uint_le(stats_of(cache).bytes, 10000);
    ck_assert_uint_lt(stats_of(cache).entries, 4);
    ck_assert_uint_ge(stats_of(cache).entries, 1);
    uint64_t hits = stats_of(cache).hits;
    pe_entry_unref(
        unit_entry(cache, "integer", "length=4")); /* the newest entry was not evicted */
    ck_assert_uint_eq(stats_of(cache).hits, hits + 1);
    pe_entry_unref(entry);
    pe_cache_free(cache);
}
END_TEST

START_TEST(an_attachment_over_the_budget_lives_as_long_as_it_is_held)
{
    pe_cache *cache = pe_cache_new(10000);
    builder_state own = {.bytes = 20000};
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    int *object = pe_entry_attachment(cache, entry, 1, "", build, &own);
    ck_assert_int_eq(*object, 101);
    ck_assert_uint_eq(stats_of(cache).entries, 0); /* its own entry was evicted */
    ck_assert_uint_eq(stats_of(cache).bytes, 0);
    ck_assert_ptr_eq(pe_entry_attachment(cache, entry, 1, "", build, &own), object);
    ck_assert_int_eq(own.built, 1);
    ck_assert_int_eq(destroyed, 0);
    pe_entry_unref(entry);
    ck_assert_int_eq(destroyed, 1);
    pe_cache_free(cache);
}
END_TEST

START_TEST(an_entry_that_is_not_kept_may_have_attachments)
{
    pe_cache *cache = pe_cache_new(0);
    builder_state own = {.bytes = 10};
    pe_entry *entry = unit_entry(cache, "integer", "length=4");
    ck_assert_ptr_nonnull(pe_entry_attachment(cache, entry, 1, "", build, &own));
    ck_assert_uint_eq(stats_of(cache).bytes, 0);
    pe_entry_unref(entry);
    ck_assert_int_eq(destroyed, 1);
    pe_cache_free(cache);
    ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(attachments_of_evicted_entries_survive_while_held)
{
    pe_cache *cache = pe_cache_new(3000);
    builder_state own = {.bytes = 100};
    pe_entry *held = unit_entry(cache, "integer", "length=4");
    int *object = pe_entry_attachment(cache, held, 1, "", build, &own);
    for (int length = 10; length < 20; length++) {
        char query[32];
        snprintf(query, sizeof query, "length=%d", length);
        pe_entry *entry = unit_entry(cache, "integer", query);
        pe_entry_attachment(cache, entry, 1, "", build, &own);
        pe_entry_unref(entry);
        ck_assert_uint_le(stats_of(cache).bytes, 3000);
    }
    ck_assert_int_eq(*object, 101);
    uint64_t bytes = stats_of(cache).bytes;
    ck_assert_ptr_nonnull(pe_entry_attachment(cache, held, 2, "", build, &own));
    ck_assert_uint_eq(stats_of(cache).bytes, bytes); /* an evicted entry is not counted */
    pe_cache_free(cache);
    ck_assert_int_eq(destroyed, own.built - 2);
    ck_assert_int_eq(*object, 101);
    pe_entry_unref(held);
    ck_assert_int_eq(destroyed, own.built);
}
END_TEST

Suite *attachments_suite(void)
{
    const TTest *const tests[] = {
        an_attachment_is_built_once,
        each_id_has_its_own,
        each_variant_has_its_own,
        a_thousand_variants_are_all_found_again,
        without_a_builder_an_attachment_is_only_looked_up,
        a_failed_builder_leaves_nothing_and_may_try_again,
        attachments_count_in_the_budget_until_they_go,
        an_attachment_pushes_out_what_was_used_least_recently,
        an_attachment_over_the_budget_lives_as_long_as_it_is_held,
        an_entry_that_is_not_kept_may_have_attachments,
        attachments_of_evicted_entries_survive_while_held,
        NULL,
    };
    return unit_suite("attachments", tests);
}
