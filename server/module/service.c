#include "module/service.h"

#include "clock.h"
#include "module/module.h"
#include "settings/memory_shares.h"
#include "settings/settings.h"
#include "store/set_store.h"

#include <string.h>

/* What a page bears by default; the other settings are a server's. */
static char *const STANDARD[] = {
    "posenc",
    "--memory-bytes=1GiB",
    "--cache-bytes=64MiB",
    "--max-upload-bytes=64MiB",
    "--max-table-bytes=256MiB",
};
#define STANDARD_COUNT (int)(sizeof STANDARD / sizeof *STANDARD)
#define MEMORY_MAX     ((uint64_t)2 << 30) /* sizes have 32 bits */
/* The settings that a module has. The others are about sockets, files, threads and keys. */
static const char *const OWN[] = {
    "memory-bytes",      "cache-bytes",     "max-elements",
    "json-max-elements", "png-max-pixels",  "max-list-length",
    "max-target-bytes",  "max-body-bytes",  "max-upload-bytes",
    "max-store-bytes",   "max-table-bytes", "max-stored-sets",
    "compute-seconds",   "compute-cost",    NULL,
};
#define OWN_COUNT (sizeof OWN / sizeof *OWN - 1)
#define LIMITS    32

static struct {
    server_settings settings;
    api_limit published[LIMITS];
    api_memory *memory;
    pe_cache *cache;
    set_store *store;
    preparation_set *preparations;
    server_metrics *metrics;
    pe_runner runner;
    api_host host;
    api_service *service;
    uint64_t began, until; /* of the computation that is under way */
} module;

/* ---- what the api and the library call ---- */

static void computed(void *context, uint64_t nanoseconds)
{
    (void)context;
    metrics_count_computation(module.metrics, nanoseconds);
}

static char *write_metrics(void *context)
{
    (void)context;
    return metrics_text(module.metrics, module.host.store, module.memory, 0,
                        module.preparations);
}

static bool may_continue(void *context, const pe_scheme *scheme, double done)
{
    (void)context;
    if (scheme)
        preparations_note(module.preparations, pe_scheme_describe(scheme)->name, done);
    return clock_now() < module.until && !posenc_is_unwanted();
}

static bool is_abandoned(void *context)
{
    (void)context;
    return posenc_is_unwanted();
}

/* ---- computing ---- */

static uint64_t computation_limit(void)
{
    return module.settings.compute_seconds * CLOCK_SECOND;
}

void module_begin_computing(const uint64_t *spent)
{
    module.began = clock_now();
    module.until = module.began + (module_is_late(*spent) ? 0 : computation_limit() - *spent);
}

void module_end_computing(uint64_t *spent)
{
    *spent += clock_now() - module.began;
}

bool module_is_late(uint64_t spent)
{
    return spent >= computation_limit();
}

api_service *module_service(void)
{
    return module.service;
}

server_metrics *module_metrics(void)
{
    return module.metrics;
}

/* ---- settings ---- */

static bool is_own(const char *name, size_t size)
{
    for (size_t i = 0; i < OWN_COUNT; i++)
        if (strlen(OWN[i]) == size && memcmp(OWN[i], name, size) == 0)
            return true;
    return false;
}

/* Whether a module has the setting of an argument --NAME=VALUE. */
static bool accepts_argument(const char *argument)
{
    const char *name = argument + strspn(argument, "-");
    size_t size = strcspn(name, "=");
    if (is_own(name, size))
        return true;
    fprintf(stderr, "posenc: the module has no setting %.*s\n", (int)size, name);
    return false;
}

/* Read the settings after those that are standard here. */
static bool read_settings(char *settings)
{
    char *arguments[STANDARD_COUNT + OWN_COUNT];
    int count = STANDARD_COUNT;
    memcpy(arguments, STANDARD, sizeof STANDARD);
    for (char *next = settings; *next; next += strlen(next) + 1) {
        if (!accepts_argument(next))
            return false;
        if (count == (int)(STANDARD_COUNT + OWN_COUNT)) {
            fputs("posenc: a setting is given twice\n", stderr);
            return false;
        }
        arguments[count++] = next;
    }
    if (!settings_read(&module.settings, count, arguments, NULL, stderr))
        return false;
    bool fits = module.settings.memory_bytes <= MEMORY_MAX;
    if (!fits)
        fputs("posenc: a module has at most 2 GiB of memory\n", stderr);
    return fits;
}

/* ---- start ---- */

static void fill_host(void)
{
    module.runner = (pe_runner){.pool = pe_cache_pool(module.cache),
                                .go_on = may_continue,
                                .is_abandoned = is_abandoned};
    pe_cache_set_runner(module.cache, &module.runner);
    module.host = (api_host){
        .form = API_FORM_MODULE,
        .computed = computed,
        .metrics = write_metrics,
        .runner = &module.runner,
        .memory = module.memory,
        .store = set_store_for_api(module.store),
    };
    settings_fill_own_host(&module.settings, OWN, module.published, LIMITS, &module.host);
}

bool posenc_start(char *settings)
{
    char reason[256] = "out of memory";
    if (!read_settings(settings))
        return false;
    memory_shares shares = settings_divide_memory(&module.settings, 0);
    const set_store_settings stored = set_store_read_settings(&module.settings);
    module.memory = api_memory_new(shares.requests);
    module.cache = pe_cache_new(module.settings.cache_bytes);
    module.preparations = preparations_new();
    module.store = set_store_open(&stored, reason, sizeof reason);
    module.metrics = module.cache ? metrics_new(module.cache) : NULL;
    if (module.memory && module.preparations && module.store && module.metrics) {
        fill_host();
        module.service = api_service_new(&module.host, module.cache);
    }
    if (!module.service)
        fprintf(stderr, "posenc: cannot start the module: %s\n", reason);
    return module.service != NULL;
}
