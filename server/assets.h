/* The pages and their files. The build bundles server/visualiser/ and compiles the result in.
 */
#ifndef ASSETS_H
#define ASSETS_H

#include "api.h"

extern const api_asset visualiser_assets[];
extern const size_t visualiser_asset_count;

#endif
