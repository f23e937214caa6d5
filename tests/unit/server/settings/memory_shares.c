/* How the memory of the server is divided. */
#include "settings/memory_shares.h"

#include "unit.h"

#define MIB ((uint64_t)1 << 20)

static server_settings settings_of(uint64_t cache, uint64_t connections, const char *directory)
{
    return (server_settings){.cache_bytes = cache,
                             .connections = connections,
                             .set_cache_bytes = 512 * MIB,
                             .store_bytes = 512 * MIB,
                             .data_directory = directory,
                             .database_url = ""};
}

/* Divide `system` MiB; the shares must make up the total. */
static memory_shares divide(server_settings *settings, uint64_t system)
{
    memory_shares shares = settings_divide_memory(settings, system * MIB);
    ck_assert_uint_eq(shares.own + shares.cache + shares.sets + shares.requests, shares.total);
    ck_assert_uint_eq(shares.cache, settings->cache_bytes);
    return shares;
}

START_TEST(enough_memory_leaves_the_settings_as_they_are)
{
    server_settings settings = settings_of(256 * MIB, 1024, "");
    memory_shares shares = divide(&settings, 8192);
    ck_assert(!shares.lowered);
    ck_assert_uint_eq(shares.total, 8192 * MIB);
    ck_assert_uint_eq(settings.cache_bytes, 256 * MIB);
    ck_assert_uint_eq(settings.store_bytes, 512 * MIB);
    ck_assert_uint_eq(settings.connections, 1024);
}
END_TEST

START_TEST(little_memory_lowers_cache_sets_and_connections)
{
    for (uint64_t system = 32; system <= 2048; system += 32) {
        server_settings settings = settings_of(1024 * MIB, 4096, "/data");
        memory_shares shares = divide(&settings, system);
        ck_assert(shares.lowered);
        ck_assert_uint_eq(settings.store_bytes, 512 * MIB);
        ck_assert_uint_eq(shares.sets, settings.set_cache_bytes);
        ck_assert_uint_ge(shares.requests, system * MIB / 8);
        ck_assert_uint_ge(shares.cache, shares.sets);
        ck_assert_uint_le(settings.connections * 32768, system * MIB / 8);
    }
}
END_TEST

START_TEST(sets_take_what_the_cache_leaves)
{
    server_settings settings = settings_of(64 * MIB, 64, "");
    memory_shares shares = divide(&settings, 512);
    ck_assert_uint_eq(settings.cache_bytes, 64 * MIB);
    ck_assert_uint_eq(shares.sets, settings.store_bytes);
    ck_assert_uint_gt(shares.sets, 200 * MIB);
}
END_TEST

START_TEST(memory_bytes_beats_the_system)
{
    server_settings settings = settings_of(256 * MIB, 1024, "");
    settings.memory_bytes = 100 * MIB;
    ck_assert_uint_eq(divide(&settings, 8192).total, 100 * MIB);
}
END_TEST

Suite *memory_shares_suite(void)
{
    const TTest *const tests[] = {enough_memory_leaves_the_settings_as_they_are,
                                  little_memory_lowers_cache_sets_and_connections,
                                  sets_take_what_the_cache_leaves,
                                  memory_bytes_beats_the_system, NULL};
    return unit_suite("memory_shares", tests);
}
