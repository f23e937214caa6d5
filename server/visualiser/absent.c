/* Used instead of the pages where npm or its packages are missing: they say so. */
#include "assets.h"

#define SAYING(text)                                                                           \
    .media_type = "text/plain; charset=utf-8",                                                 \
    .plain = {.data = text, .size = sizeof text - 1, .etag = "\"absent\""}

const api_asset visualiser_assets[] = {
    {.path = "/",
     SAYING("The visualiser was not built in: run `make deps`, then `make`.\n")},
    {.path = "/docs",
     SAYING("The API reference was not built in: run `make deps`, then `make`. /openapi.json "
            "describes the API.\n")},
};
const size_t visualiser_asset_count = sizeof visualiser_assets / sizeof *visualiser_assets;
