/* Configs of timm, which name an architecture and hold what differs from it. */
#ifndef API_MODELS_TIMM_H
#define API_MODELS_TIMM_H

#include "posenc.h"

#include <jansson.h>

/* The config of the class behind an architecture. NULL, with a problem, if the architecture or
 * one of its arguments is not known. */
json_t *model_translate_timm(json_t *file, json_t *notes, pe_error *reterr);

#endif
