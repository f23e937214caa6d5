/* Comparing plans, for the endpoints of models. */
#ifndef API_MODEL_COMPARE_H
#define API_MODEL_COMPARE_H

#include "call.h"
#include "models/options.h"

/* Answer a config by where the releases differ that read it. `error` is empty. */
api_reply *api_compare_conventions(const api_call *call, json_t *config,
                                   const api_model_options *options, pe_error *error);

#endif
