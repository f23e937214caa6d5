#include "settings/memory_shares.h"

#define PROGRAM_BYTES     ((uint64_t)24 << 20) /* code, stacks, documents that are kept */
#define CONNECTION_BYTES  ((uint64_t)32 << 10)
#define MARGIN_MAX        ((uint64_t)256 << 20)
#define REQUESTS_LEAST    ((uint64_t)16 << 20) /* a quarter of the rest if that is more */
#define LEAST_CONNECTIONS 8

static uint64_t min_bytes(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Lower a setting to what there is room for; returns what it is then. */
static uint64_t lower_setting(uint64_t *setting, uint64_t most, bool *lowered)
{
    if (*setting > most) {
        *setting = most;
        *lowered = true;
    }
    return *setting;
}

/* The setting that limits what sets take in memory. */
static uint64_t *memory_of_sets(server_settings *settings)
{
    bool kept_elsewhere = settings->data_directory[0] || settings->database_url[0];
    return kept_elsewhere ? &settings->set_cache_bytes : &settings->store_bytes;
}

memory_shares settings_divide_memory(server_settings *settings, uint64_t system)
{
    memory_shares shares = {.total = settings->memory_bytes ? settings->memory_bytes : system};
    uint64_t eighth = shares.total / 8, margin = min_bytes(shares.total / 16, MARGIN_MAX);
    uint64_t most = eighth / CONNECTION_BYTES;
    lower_setting(&settings->connections, most > LEAST_CONNECTIONS ? most : LEAST_CONNECTIONS,
                  &shares.lowered);
    shares.own = PROGRAM_BYTES + margin + settings->connections * CONNECTION_BYTES;
    shares.own = min_bytes(shares.own, shares.total / 2);
    uint64_t rest = shares.total - shares.own, few = min_bytes(REQUESTS_LEAST, rest / 2);
    uint64_t caches = rest - (few > rest / 4 ? few : rest / 4);
    uint64_t *sets = memory_of_sets(settings);
    uint64_t beside = caches > settings->cache_bytes ? caches - settings->cache_bytes : 0;
    shares.sets =
        lower_setting(sets, beside > caches / 8 ? beside : caches / 8, &shares.lowered);
    shares.cache = lower_setting(&settings->cache_bytes, caches - shares.sets, &shares.lowered);
    shares.requests = rest - shares.sets - shares.cache;
    return shares;
}
