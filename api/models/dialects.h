/* Files of other libraries that describe a model, each read by a table of its keys. */
#ifndef API_MODELS_DIALECTS_H
#define API_MODELS_DIALECTS_H

#include "api.h"

#include <jansson.h>

/* The config that a file means by the table of its dialect, as a new reference; `paths` gets
 * the path in the file of each path of the config, and `notes` what there is to know. NULL
 * without a problem: the file is of no dialect. NULL with problems: it has keys that the table
 * refuses, or that look like positions and do not stand in it. */
json_t *model_read_dialect(json_t *file, json_t *notes, json_t *paths, pe_error *reterr);

/* Whether an object has all keys of a list, or one of them, which are joined by blanks. */
bool model_has_keys(const json_t *object, const char *keys);
bool model_has_a_key(const json_t *object, const char *keys);

#endif
