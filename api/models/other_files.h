/* Other files than a config.json that describe a model: timm's, those of dialects.h; and files
 * that describe none. */
#ifndef API_MODELS_OTHER_FILES_H
#define API_MODELS_OTHER_FILES_H

#include "api.h"

#include <jansson.h>

/* The config that a file means, as a new reference, with a sentence for each thing to know in
 * `notes`, and in `paths` the path in the file of each path of the config that has another one.
 * A config.json is returned as it is. NULL, with a problem that says what the file seems to be
 * and what to send instead, for files that describe no model. */
json_t *model_translate(json_t *file, json_t *notes, json_t *paths, pe_error *reterr);

#endif
