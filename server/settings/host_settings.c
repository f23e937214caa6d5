/* What a host of the api takes from the settings, whichever program it belongs to. */
#include "settings/settings.h"

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
