/* The text of a config.json. */
#ifndef API_MODELS_CONFIG_TEXT_H
#define API_MODELS_CONFIG_TEXT_H

#include "api.h"

#include <jansson.h>

#define API_CONFIG_BYTES     ((size_t)1 << 20)
#define API_CONFIG_DEPTH     64
#define API_CONFIG_KEYS      65536 /* of all objects together */
#define API_CONFIG_KEY_BYTES 256

/* Read the text of a config.json: one object within the limits above. As Python
 * writes them, NaN, Infinity and -Infinity may stand for numbers; they count as null. All
 * numbers are reals. The caller drops the reference. NULL with a problem in reterr. */
json_t *api_config_read(const char *text, size_t size, pe_error *reterr);

#endif
