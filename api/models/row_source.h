/* Whose code the rows of the table of model types follow, and how that is known. */
#ifndef API_MODELS_ROW_SOURCE_H
#define API_MODELS_ROW_SOURCE_H

#include "models/options.h"

/* The library, its release and commit, when its code was read, and whether a machine has
 * compared the row with it: "checked". `convention` is one of the options of a request, by its
 * name; NULL: the newest release. */
json_t *model_source_describe(const char *name, const char *convention);

#endif
