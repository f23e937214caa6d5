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

/* An entry in a cache of its own, and a builder of attachments. */
typedef struct holder {
    pe_cache *cache;
    pe_entry *entry;
    builder_state own;
} holder;

static holder begin(uint64_t budget, builder_state own)
{
    pe_cache *cache = pe_cache_new(budget);
    return (holder){cache, unit_entry(cache, "integer", "length=4"), own};
}

static void end(holder *one)
{
    pe_entry_unref(one->entry);
    pe_cache_free(one->cache);
}

/* The entry's attachment, which is built if it is not there. */
static int *attach(holder *one, unsigned id, const char *variant)
{
    return pe_entry_attachment(one->cache, one->entry, id, variant, build, &one->own);
}

static int *find(holder *one, unsigned id, const char *variant)
{
    return pe_entry_attachment(one->cache, one->entry, id, variant, NULL, NULL);
}

static pe_cache_stats stats_of(pe_cache *cache)
{
    pe_cache_stats stats;
    pe_cache_read_stats(cache, &stats);
    return stats;
}

START_TEST(an_attachment_is_built_once)
{
    holder one = begin(1 << 20, (builder_state){.bytes = 1000});
    int *object = attach(&one, 3, "");
    ck_assert_ptr_nonnull(object);
    ck_assert_int_eq(*object, 101);
    ck_assert_ptr_eq(one.own.table, pe_entry_table(one.entry));
    ck_assert_ptr_eq(attach(&one, 3, ""), object);
    /* who gets the entry again finds it too */
    pe_entry *again = unit_entry(one.cache, "integer", "length=4");
    ck_assert_ptr_eq(pe_entry_attachment(one.cache, again, 3, "", build, &one.own), object);
    ck_assert_int_eq(one.own.built, 1);
    pe_entry_unref(one.entry);
    pe_entry_unref(again);
    ck_assert_int_eq(destroyed, 0);
    pe_cache_free(one.cache);
    ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(each_id_has_its_own)
{
    holder one = begin(1 << 20, (builder_state){.bytes = 10});
    pe_entry *other = unit_entry(one.cache, "integer", "length=5");
    int *objects[4];
    for (unsigned id = 0; id < 4; id++)
        objects[id] = attach(&one, id * 1000000000U, "");
    for (unsigned id = 0; id < 4; id++) {
        ck_assert_int_eq(*objects[id], 101 + (int)id);
        ck_assert_ptr_eq(attach(&one, id * 1000000000U, ""), objects[id]);
    }
    int *other_object = pe_entry_attachment(one.cache, other, 0, "", build, &one.own);
    ck_assert_ptr_ne(other_object, objects[0]);
    ck_assert_ptr_eq(one.own.table, pe_entry_table(other));
    ck_assert_int_eq(one.own.built, 5);
    pe_entry_unref(other);
    end(&one);
    ck_assert_int_eq(destroyed, 5);
}
END_TEST

START_TEST(each_variant_has_its_own)
{
    static const char *const VARIANTS[] = {"", "slice=1", "slice=11", "slice=1&scale=2"};
    holder one = begin(1 << 20, (builder_state){.bytes = 10});
    for (size_t i = 0; i < UNIT_COUNT(VARIANTS); i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", VARIANTS[i]);
        int *object = attach(&one, 3, text);
        text[0] = '!'; /* the text was copied */
        ck_assert_int_eq(*object, 101 + (int)i);
        ck_assert_ptr_eq(attach(&one, 3, VARIANTS[i]), object);
        ck_assert_ptr_null(find(&one, 4, VARIANTS[i]));
    }
    ck_assert_int_eq(*find(&one, 3, ""), 101);
    end(&one);
    ck_assert_int_eq(destroyed, 4);
}
END_TEST

START_TEST(a_thousand_variants_are_all_found_again)
{
    holder one = begin(1 << 20, (builder_state){.bytes = 10});
    int *objects[1000];
    char text[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "slice=%d", i);
        objects[i] = attach(&one, 3, text);
        ck_assert_int_eq(*objects[i], 101 + i);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "slice=%d", i);
        ck_assert_ptr_eq(find(&one, 3, text), objects[i]);
        ck_assert_ptr_null(find(&one, 4, text));
    }
    end(&one);
    ck_assert_int_eq(destroyed, 1000);
}
END_TEST

START_TEST(without_a_builder_an_attachment_is_only_looked_up)
{
    holder one = begin(1 << 20, (builder_state){.bytes = 10});
    ck_assert_ptr_null(find(&one, 3, ""));
    int *object = attach(&one, 3, "");
    ck_assert_ptr_eq(find(&one, 3, ""), object);
    ck_assert_ptr_null(find(&one, 4, ""));
    end(&one);
}
END_TEST

START_TEST(a_failed_builder_leaves_nothing_and_may_try_again)
{
    holder one = begin(1 << 20, (builder_state){.bytes = 500, .fails = true});
    uint64_t before = stats_of(one.cache).bytes;
    ck_assert_ptr_null(attach(&one, 3, ""));
    ck_assert_ptr_null(attach(&one, 3, ""));
    ck_assert_int_eq(one.own.built, 2);
    ck_assert_uint_eq(stats_of(one.cache).bytes, before);
    one.own.fails = false;
    ck_assert_ptr_nonnull(attach(&one, 3, ""));
    ck_assert_int_eq(one.own.built, 3);
    end(&one);
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
    /* 80000 bytes: both do not fit */
    pe_entry_unref(unit_entry(cache, "integer", "length=20000"));
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
    /* the newest entry was not evicted */
    pe_entry_unref(unit_entry(cache, "integer", "length=4"));
    ck_assert_uint_eq(stats_of(cache).hits, hits + 1);
    pe_entry_unref(entry);
    pe_cache_free(cache);
}
END_TEST

START_TEST(an_attachment_over_the_budget_lives_as_long_as_it_is_held)
{
    holder one = begin(10000, (builder_state){.bytes = 20000});
    int *object = attach(&one, 1, "");
    ck_assert_int_eq(*object, 101);
    ck_assert_uint_eq(stats_of(one.cache).entries, 0); /* its own entry was evicted */
    ck_assert_uint_eq(stats_of(one.cache).bytes, 0);
    ck_assert_ptr_eq(attach(&one, 1, ""), object);
    ck_assert_int_eq(one.own.built, 1);
    ck_assert_int_eq(destroyed, 0);
    pe_entry_unref(one.entry);
    ck_assert_int_eq(destroyed, 1);
    pe_cache_free(one.cache);
}
END_TEST

START_TEST(an_entry_that_is_not_kept_may_have_attachments)
{
    holder one = begin(0, (builder_state){.bytes = 10});
    ck_assert_ptr_nonnull(attach(&one, 1, ""));
    ck_assert_uint_eq(stats_of(one.cache).bytes, 0);
    pe_entry_unref(one.entry);
    ck_assert_int_eq(destroyed, 1);
    pe_cache_free(one.cache);
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
