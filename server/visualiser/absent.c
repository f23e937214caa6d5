/* Used instead of the visualiser where npm or its packages are missing: a page that says so. */
#include "assets.h"

static const char TEXT[] = "The visualiser was not built in: run `make deps`, then `make`.\n";

const api_asset visualiser_assets[] = {
    {.path = "/",
     .media_type = "text/plain; charset=utf-8",
     .plain = {.data = TEXT, .size = sizeof TEXT - 1, .etag = "\"absent\""}},
};
const size_t visualiser_asset_count = 1;
