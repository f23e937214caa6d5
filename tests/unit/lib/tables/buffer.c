/* Tests of buffers: alignment, reuse, and the limit of idle memory. */
#include "tables/buffer.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

#define MEBIBYTE ((size_t)1 << 20)

START_TEST(blocks_are_aligned_and_large_enough)
{
    static const size_t sizes[] = {1,
                                   64,
                                   65,
                                   1 << 20,
                                   (2 << 20) - 64,
                                   (2 << 20) - 63, /* rounded up it is a large one */
                                   (2 << 20) - 1,
                                   2 << 20,
                                   (2 << 20) + 1,
                                   5 << 20};
    const uint64_t mapped = pe_buffer_mapped();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t capacity;
        unsigned char *block = pe_buffer_allocate(NULL, sizes[i], &capacity);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_ge(capacity, sizes[i]);
        ck_assert_uint_eq((uintptr_t)block % (capacity < 2 * MEBIBYTE ? 64 : 2 * MEBIBYTE), 0);
        memset(block, 1, capacity);
        pe_buffer_release(NULL, block, capacity);
    }
    pe_buffer_release(NULL, NULL, 0);
    ck_assert_uint_eq(pe_buffer_mapped(), mapped);
}
END_TEST

START_TEST(a_released_block_serves_the_next_request_of_its_size)
{
    pe_pool *pool = pe_pool_new();
    size_t capacity, again;
    pe_pool_limit_idle(pool, 64 * MEBIBYTE);
    void *block = pe_buffer_allocate(pool, 10 * MEBIBYTE, &capacity);
    pe_buffer_release(pool, block, capacity);
    ck_assert_uint_eq(pe_pool_idle(pool), 10 * MEBIBYTE);
    void *small =
        pe_buffer_allocate(pool, 4 * MEBIBYTE, &again); /* the idle block is too large for it */
    ck_assert_uint_eq(pe_pool_idle(pool), 10 * MEBIBYTE);
    void *same = pe_buffer_allocate(pool, 9 * MEBIBYTE, &again);
    ck_assert_ptr_eq(same, block);
    ck_assert_uint_eq(again, 10 * MEBIBYTE);
    ck_assert_uint_eq(pe_pool_idle(pool), 0);
    pe_buffer_release(pool, same, again);
    pe_buffer_release(pool, small, 4 * MEBIBYTE);
    pe_pool_limit_idle(pool, 0);
    ck_assert_uint_eq(pe_pool_idle(pool), 0);
    pe_pool_close(pool);
}
END_TEST

START_TEST(idle_memory_stays_within_its_limit)
{
    pe_pool *pool = pe_pool_new();
    void *blocks[40];
    size_t capacities[40];
    pe_pool_limit_idle(pool, 20 * MEBIBYTE);
    for (size_t i = 0; i < 40; i++)
        blocks[i] = pe_buffer_allocate(pool, (2 + i % 5 * 2) * MEBIBYTE, &capacities[i]);
    for (size_t i = 0; i < 40; i++) {
        pe_buffer_release(pool, blocks[i], capacities[i]);
        ck_assert_uint_le(pe_pool_idle(pool), 20 * MEBIBYTE);
    }
    ck_assert_uint_gt(pe_pool_idle(pool), 0);
    pe_pool_limit_idle(pool, 3 * MEBIBYTE);
    ck_assert_uint_le(pe_pool_idle(pool), 3 * MEBIBYTE);
    pe_pool_limit_idle(pool, 0);
    pe_pool_close(pool);
}
END_TEST

START_TEST(an_absurd_size_is_refused)
{
    size_t capacity;
    ck_assert_ptr_null(pe_buffer_allocate(NULL, SIZE_MAX, &capacity));
    ck_assert_ptr_null(pe_buffer_allocate(NULL, (size_t)1 << 60, &capacity));
}
END_TEST

START_TEST(evicted_tables_leave_their_memory_to_the_next)
{
    pe_cache *cache = pe_cache_new(24 * MEBIBYTE);
    for (int i = 0; i < 8; i++) {
        char query[64];
        pe_cache_stats stats;
        snprintf(query, sizeof query, "length=4096&dim=512&offset=%d", i); /* 8 MiB */
        pe_entry_unref(unit_entry(cache, "sinusoidal", query));
        pe_cache_read_stats(cache, &stats);
        ck_assert_uint_le(stats.bytes + stats.idle, stats.budget);
    }
    pe_cache_free(cache);
    ck_assert_uint_eq(pe_buffer_mapped(), 0);
}
END_TEST

/* The third computation fails after an entry was evicted for it: the evicted memory must be
 * idle. */
START_TEST(memory_that_is_evicted_for_a_table_becomes_idle)
{
    pe_cache *cache = pe_cache_new(24 * MEBIBYTE);
    pe_entry *entry;
    pe_outcome outcome;
    pe_error error;
    pe_cache_stats stats;
    for (int i = 0; i < 3; i++) {
        char query[64];
        pe_request *request;
        snprintf(query, sizeof query, "length=4096&dim=512&offset=%d", i);
        ck_assert_int_eq(unit_request("sinusoidal", query, &UNIT_LIMITS, &request, &error),
                         PE_OK);
        unit_fail_allocations(i < 2 ? SIZE_MAX : 2, 1000); /* the entry's two succeed */
        pe_status status = pe_cache_get(cache, request, &entry, &outcome, &error);
        unit_allow_allocations();
        ck_assert_int_eq(status, i < 2 ? PE_OK : PE_NO_MEMORY);
        pe_request_unref(request);
        if (i < 2)
            pe_entry_unref(entry);
    }
    pe_cache_read_stats(cache, &stats);
    ck_assert_uint_eq(stats.entries, 1);
    ck_assert_uint_ge(stats.idle, 8 * MEBIBYTE);
    ck_assert_uint_le(stats.bytes + stats.idle, stats.budget);
    pe_cache_free(cache);
}
END_TEST

static void forget(void *object)
{
    (void)object;
}

/* A pe_attachment_builder: it takes more than the budget, so that the entry is evicted. */
static bool attach_too_much(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    (void)context;
    *ret_attachment =
        (pe_attachment){.object = table, .bytes = 24 * MEBIBYTE, .destroy = forget};
    return true;
}

static uint64_t idle_of(pe_cache *cache)
{
    pe_cache_stats stats;
    pe_cache_read_stats(cache, &stats);
    return stats.idle;
}

START_TEST(a_second_cache_leaves_the_idle_memory_of_the_first)
{
    pe_cache *first = pe_cache_new(24 * MEBIBYTE), *second = pe_cache_new(MEBIBYTE);
    pe_entry *entry = unit_entry(first, "sinusoidal", "length=4096&dim=512"); /* 8 MiB */
    pe_entry_attachment(first, entry, 0, "", attach_too_much, NULL);
    pe_entry_unref(entry);
    uint64_t kept = idle_of(first);
    ck_assert_uint_ge(kept, 8 * MEBIBYTE);
    pe_entry_unref(unit_entry(second, "sinusoidal", "length=1&dim=8"));
    ck_assert_uint_eq(idle_of(first), kept);
    ck_assert_uint_eq(idle_of(second), 0);
    pe_cache_free(second);
    ck_assert_uint_eq(idle_of(first), kept);
    pe_cache_free(first);
}
END_TEST

START_TEST(a_table_outlives_the_cache_whose_memory_it_has)
{
    pe_cache *cache = pe_cache_new(24 * MEBIBYTE);
    uint64_t before = pe_buffer_mapped();
    pe_entry *entry = unit_entry(cache, "sinusoidal", "length=4096&dim=512");
    ck_assert_uint_gt(pe_buffer_mapped(), before);
    pe_cache_free(cache);
    ck_assert(((const float *)pe_table_data(pe_entry_table(entry), 0))[1] == 1);
    pe_entry_unref(entry);
    ck_assert_uint_eq(pe_buffer_mapped(), before);
}
END_TEST

Suite *buffer_suite(void)
{
    const TTest *const tests[] = {blocks_are_aligned_and_large_enough,
                                  a_released_block_serves_the_next_request_of_its_size,
                                  idle_memory_stays_within_its_limit,
                                  an_absurd_size_is_refused,
                                  evicted_tables_leave_their_memory_to_the_next,
                                  memory_that_is_evicted_for_a_table_becomes_idle,
                                  a_second_cache_leaves_the_idle_memory_of_the_first,
                                  a_table_outlives_the_cache_whose_memory_it_has,
                                  NULL};
    return unit_suite("buffer", tests);
}
