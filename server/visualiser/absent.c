/* The visualiser's assets where npm or its packages were missing: the page says so. */
#include "assets.h"

static const char TEXT[] = "The visualiser was not built in: run `make deps`, then `make`.\n";

const api_asset visualiser_assets[] = {
    {"/", "text/plain; charset=utf-8", {TEXT, sizeof TEXT - 1, "\"absent\""}, {0}},
};
const size_t visualiser_asset_count = 1;
