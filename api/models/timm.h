/* Configs of timm, which name an architecture and hold what differs from it. */
#ifndef API_MODELS_TIMM_H
#define API_MODELS_TIMM_H

#include "models/config.h"

#include <jansson.h>

/* The config of the class behind an architecture. NULL, with a problem, if the architecture or
 * one of its arguments is not known. */
json_t *model_translate_timm(json_t *file, json_t *notes, pe_error *reterr);

/* Let the rules read model_args of such a config, and the values of its architecture where
 * these say nothing. Other configs stay as they are. */
void model_open_arguments(model_config *config);

#endif
