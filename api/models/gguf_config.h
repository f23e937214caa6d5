/* The config that the metadata of a GGUF file mean. */
#ifndef API_MODELS_GGUF_CONFIG_H
#define API_MODELS_GGUF_CONFIG_H

#include "api.h"

#include <jansson.h>

/* Whether an object holds metadata of a GGUF file: as api_gguf_read gives them, or as
 * `gguf-dump --json` prints them. */
bool model_is_gguf(const json_t *file);

/* A config.json of these metadata, with sentences in `notes`. NULL with a problem where the
 * architecture is not known, or the frequencies are not in the metadata. */
json_t *model_config_of_gguf(json_t *file, json_t *notes, pe_error *reterr);

#endif
