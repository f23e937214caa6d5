/* The engine without an engine, and what all engines share. */
#include "store/engine.h"

#include "observe/log.h"

static api_store_status read_nothing(void *context, const char *name, int64_t id, char *dst,
                                     size_t size)
{
    (void)context, (void)name, (void)id, (void)dst, (void)size;
    return API_STORE_FAILED; /* never asked: every set is in memory */
}

static api_store_status put(void *context, const engine_change *change, int64_t *ret_id)
{
    (void)context;
    *ret_id = 0;
    return change->judge(change->context, &change->known);
}

static api_store_status remove_set(void *context, const engine_change *change)
{
    (void)context;
    return change->judge(change->context, &change->known);
}

static bool is_reachable(void *context)
{
    (void)context;
    return true;
}

static void close_nothing(void *context)
{
    (void)context;
}

store_engine memory_engine(void)
{
    return (store_engine){.kind = "memory",
                          .read = read_nothing,
                          .put = put,
                          .remove = remove_set,
                          .is_up = is_reachable,
                          .close = close_nothing};
}

void engine_log_failure(const char *message, const char *set, const char *reason)
{
    log_event(LOG_LEVEL_ERROR, message,
              (const log_field[]){{.name = "set", .text = set},
                                  {.name = "reason", .text = reason},
                                  {.name = NULL}});
}
