/* What a host of the api takes from the settings, whichever program it belongs to. */
#include "settings/settings.h"

#include "clock.h"

uint64_t settings_table_bytes(const server_settings *settings)
{
    return settings->cache_bytes / 4;
}

void settings_fill_host(const server_settings *settings, api_host *host)
{
    host->json_elements = settings->json_elements;
    host->png_pixels = settings->png_pixels;
    host->compute_cost = settings->compute_cost;
    host->target_bytes = (size_t)settings->target_bytes;
    host->body_bytes = settings->body_bytes;
    host->upload_bytes = settings->upload_bytes;
    host->table_body_bytes = settings->table_body_bytes;
    host->limits = (pe_limits){settings->elements, settings_table_bytes(settings),
                               (size_t)settings->list_length, NULL, NULL};
}

/* ---- hosts of one client ---- */

static uint64_t read_clock(void *context)
{
    (void)context;
    return clock_now();
}

static api_readiness is_ready(void *context)
{
    (void)context;
    return API_READY;
}

/* Nobody waits for a table that another request computes. */
static void note_landing(void *context)
{
    (void)context;
}

void settings_fill_own_host(const server_settings *settings, const char *const *names,
                            api_limit *published, size_t room, api_host *host)
{
    settings_fill_host(settings, host);
    host->now = read_clock;
    host->readiness = is_ready;
    host->landed = note_landing;
    host->local = true;
    host->tables = API_OPEN;
    host->published = published;
    host->published_count = settings_limits(settings, names, published, room);
}
