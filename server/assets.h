/* The visualiser's files, which the build makes of server/visualiser/ and compiles in. */
#ifndef ASSETS_H
#define ASSETS_H

#include "api.h"

extern const api_asset visualiser_assets[];
extern const size_t visualiser_asset_count;

#endif
