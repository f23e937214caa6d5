/* Tests with failing allocations: each allocation of every scheme fails once, and the result is
 * PE_NO_MEMORY and nothing worse. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- the linker redirects allocations to these functions (--wrap) ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

static _Thread_local struct {
    bool watching;
    size_t first, count;
    unit_allocations seen;
} watch;

static bool fails(size_t bytes)
{
    if (!watch.watching)
        return false;
    size_t number = watch.seen.asked++;
    if (bytes > watch.seen.largest)
        watch.seen.largest = bytes;
    bool failing = number >= watch.first && number - watch.first < watch.count;
    watch.seen.failed += failing;
    return failing;
}

void *__wrap_malloc(size_t size)
{
    return fails(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails(size) ? NULL : __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails(size) ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *text)
{
    return fails(strlen(text) + 1) ? NULL : __real_strdup(text);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!fails(size))
        return __real_mmap(at, size, protection, flags, fd, offset);
    watch.seen.unmapped++;
    return MAP_FAILED;
}

void unit_fail_allocations(size_t first, size_t count)
{
    watch.first = first;
    watch.count = count;
    watch.seen = (unit_allocations){0};
    watch.watching = true;
}

unit_allocations unit_allow_allocations(void)
{
    watch.watching = false;
    return watch.seen;
}

/* ---- the tests ---- */

#define ATTACHMENT_BYTES 100

static bool build(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    (void)table, (void)context;
    *ret_attachment = (pe_attachment){malloc(ATTACHMENT_BYTES), ATTACHMENT_BYTES, free};
    return ret_attachment->object != NULL;
}

/* Do everything from arguments to an attachment of a cache entry, and free it all. Returns
 * PE_OUT_OF_RANGE if an error does not describe its own status. */
static pe_status go_all_the_way(const pe_scheme *scheme, const unit_query *query)
{
    pe_request *request = NULL;
    pe_table *table = NULL;
    pe_entry *entry = NULL;
    pe_outcome outcome;
    pe_error error;
    pe_cache *cache = pe_cache_new(1 << 30);
    pe_status status = cache ? PE_OK : PE_NO_MEMORY;
    pe_error_init(&error);
    if (status == PE_OK)
        status = pe_request_new(scheme, query->arguments, query->count, &UNIT_LIMITS, &request,
                                &error);
    if (status == PE_OK)
        status = pe_table_compute(request, NULL, &table, &error);
    if (status == PE_OK)
        status = pe_cache_get(cache, request, &entry, &outcome, &error);
    bool described = error.status == (cache ? status : PE_OK);
    if (status == PE_OK && !pe_entry_attachment(cache, entry, 7, "", build, NULL))
        status = PE_NO_MEMORY;
    pe_entry_unref(entry);
    pe_table_unref(table);
    pe_request_unref(request);
    pe_cache_free(cache);
    return described ? status : PE_OUT_OF_RANGE;
}

/* For each k, let `count` allocations fail from the k-th on, until there are fewer than k. */
static void fail_every(const pe_scheme *scheme, const char *text, size_t count)
{
    unit_query query = unit_query_of(text);
    const char *name = pe_scheme_describe(scheme)->name;
    unit_allocations seen;
    for (size_t k = 0;; k++) {
        unit_fail_allocations(k, count);
        pe_status status = go_all_the_way(scheme, &query);
        seen = unit_allow_allocations();
        if (seen.failed == 0) {
            ck_assert_int_eq(status, PE_OK);
            ck_assert_msg(k >= 8, "%s?%s allocates only %zu times", name, text, k);
            break;
        }
        ck_assert_msg(status == PE_NO_MEMORY, "%s?%s: allocation %zu failed: status %d", name,
                      text, k, status);
        ck_assert_int_eq(go_all_the_way(scheme, &query), PE_OK);
    }
    unit_query_free(&query);
}

START_TEST(any_failed_allocation_of_any_scheme_is_out_of_memory_and_no_more)
{
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const char *example = pe_scheme_describe(pe_scheme_at(i))->example;
        fail_every(pe_scheme_at(i), example, 1);
        fail_every(pe_scheme_at(i), example, SIZE_MAX);
    }
}
END_TEST

START_TEST(lists_and_variants_fail_as_cleanly)
{
    static const char *const CASES[][2] = {
        {"integer", "positions=1,2,3"},
        {"binary", "positions=5,6,1&width=9&order=lsb"},
        {"periodic", "positions=0.5,1&dim=3&frequencies=geometric"},
        {"sinusoidal", "positions=7,0&dim=5&odd_dim=pad&frequencies=per_column"},
        {"sinusoidal", "length=2&dim=40&preset=whisper&dtype=bf16"},
        {"sinusoidal_2d", "height=3&width=2&dim=8&preset=timm&extra_tokens=1"},
        {"sinusoidal_2d", "height=3&width=2&dim=8&preset=detr&mask=1,2,3"},
        {"sinusoidal", "positions=1,2.5&dim=8&preset=flux"},
        {"random_fourier", "sizes=2,3&features=3"},
        {"fourier", "coordinates=0.5,0.25&axes=2&bands=3"},
        {"axial_rope", "sizes=2,2&dim=8&coordinate_type=listed&coordinates=1,2,3,4"},
        {"mrope", "position_ids=5,4,3&dim=8&mrope_section=2,1,1"},
        {"axial_rope", "sizes=2,2&dim=8&widths=4,2&reference_sizes=5,6"},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        fail_every(pe_scheme_find(CASES[i][0]), CASES[i][1], 1);
        fail_every(pe_scheme_find(CASES[i][0]), CASES[i][1], SIZE_MAX);
    }
}
END_TEST

START_TEST(a_list_without_memory_is_reported_beside_what_else_is_wrong)
{
    unit_query query = unit_query_of("positions=1,2,3&dim=0");
    pe_request *request = NULL;
    pe_error error;
    size_t lists_that_failed = 0;
    for (size_t k = 0; k < 16; k++) {
        unit_fail_allocations(k, 1);
        pe_status status = pe_request_new(pe_scheme_find("sinusoidal"), query.arguments,
                                          query.count, &UNIT_LIMITS, &request, &error);
        unit_allocations seen = unit_allow_allocations();
        ck_assert_ptr_null(request);
        ck_assert_int_eq(status, error.status);
        ck_assert_int_eq(status, seen.failed ? PE_NO_MEMORY : PE_OUT_OF_RANGE);
        if (unit_error_names(&error, "positions")) {
            ck_assert(unit_error_names(&error, "dim"));
            lists_that_failed++;
        }
    }
    ck_assert_uint_eq(lists_that_failed, 1);
    unit_query_free(&query);
}
END_TEST

/* Ask for `count` integer tables of one row, at positions from 0 on; returns how many were kept
 * before. */
static size_t ask_for(pe_cache *cache, size_t count)
{
    size_t hits = 0;
    for (size_t i = 0; i < count; i++) {
        char query[64];
        snprintf(query, sizeof query, "length=1&offset=%zu", i);
        pe_request *request = unit_legal_request("integer", query);
        pe_entry *entry;
        pe_outcome outcome;
        pe_error error;
        unit_assert(pe_cache_get(cache, request, &entry, &outcome, &error) == PE_OK);
        hits += outcome == PE_HIT;
        pe_entry_unref(entry);
        pe_request_unref(request);
    }
    return hits;
}

/* Entries after which the cache's first hash table is full. */
#define ENTRIES 256

START_TEST(a_cache_that_cannot_grow_still_finds_everything)
{
    size_t survived = 0;
    for (size_t k = 0; k < 8; k++) {
        pe_cache *cache = pe_cache_new(1 << 30);
        ck_assert_uint_eq(ask_for(cache, ENTRIES), 0);
        pe_request *request = unit_legal_request("integer", "length=2");
        pe_entry *entry = NULL;
        pe_outcome outcome;
        pe_error error;
        unit_fail_allocations(k, 1);
        pe_status status = pe_cache_get(cache, request, &entry, &outcome, &error);
        unit_allocations seen = unit_allow_allocations();
        ck_assert(status == PE_OK || (status == PE_NO_MEMORY && seen.failed == 1));
        survived += seen.failed == 1 && status == PE_OK;
        pe_cache_stats stats;
        pe_cache_read_stats(cache, &stats);
        ck_assert_uint_eq(stats.entries, ENTRIES + (status == PE_OK));
        ck_assert_uint_eq(ask_for(cache, ENTRIES), ENTRIES);
        pe_entry_unref(entry);
        pe_request_unref(request);
        pe_cache_free(cache);
    }
    ck_assert_uint_eq(survived, 1); /* only growing may fail without an error */
}
END_TEST

START_TEST(outputs_are_untouched_where_memory_ran_out)
{
    pe_request *request = unit_legal_request("integer", "length=1");
    pe_cache *cache = pe_cache_new(1 << 20);
    pe_table *const no_table = (pe_table *)request, *table = no_table;
    pe_entry *const no_entry = (pe_entry *)request, *entry = no_entry;
    pe_outcome outcome = (pe_outcome)77;
    pe_error error;
    unit_fail_allocations(0, SIZE_MAX);
    pe_status computed = pe_table_compute(request, NULL, &table, &error);
    pe_status got = pe_cache_get(cache, request, &entry, &outcome, &error);
    unit_allow_allocations();
    ck_assert_int_eq(computed, PE_NO_MEMORY);
    ck_assert_int_eq(got, PE_NO_MEMORY);
    ck_assert_ptr_eq(table, no_table);
    ck_assert_ptr_eq(entry, no_entry);
    ck_assert_int_eq((int)outcome, 77);
    pe_cache_stats stats;
    pe_cache_read_stats(cache, &stats);
    ck_assert_uint_eq(stats.entries + stats.bytes, 0);
    pe_request_unref(request);
    pe_cache_free(cache);
}
END_TEST

START_TEST(a_full_cache_computes_large_tables_in_the_memory_of_evicted_ones)
{
    for (uint64_t budget = 16 << 20; budget <= 24 << 20; budget += 1 << 19) {
        pe_cache *cache = pe_cache_new(budget);
        size_t largest = 0;
        for (int i = 0; i < 12; i++) {
            char query[64];
            snprintf(query, sizeof query, "length=1024&dim=512&offset=%d", i); /* 2 MiB */
            pe_request *request = unit_legal_request("sinusoidal", query);
            pe_entry *entry;
            pe_outcome outcome;
            pe_error error;
            unit_fail_allocations(SIZE_MAX, 0);
            pe_status status = pe_cache_get(cache, request, &entry, &outcome, &error);
            size_t asked = unit_allow_allocations().largest;
            unit_assert(status == PE_OK && outcome == PE_MISS);
            largest = i >= 8 && asked > largest ? asked : largest;
            pe_entry_unref(entry);
            pe_request_unref(request);
        }
        ck_assert_uint_lt(largest, PE_BUFFER_RECYCLED);
        pe_cache_free(cache);
    }
}
END_TEST

Suite *memory_suite(void)
{
    const TTest *const tests[] = {
        any_failed_allocation_of_any_scheme_is_out_of_memory_and_no_more,
        lists_and_variants_fail_as_cleanly,
        a_list_without_memory_is_reported_beside_what_else_is_wrong,
        a_cache_that_cannot_grow_still_finds_everything,
        outputs_are_untouched_where_memory_ran_out,
        a_full_cache_computes_large_tables_in_the_memory_of_evicted_ones,
        NULL,
    };
    return unit_suite("memory", tests);
}
