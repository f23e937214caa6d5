/* The scheme and the arguments of an application that are a model's. */
#ifndef API_APPLY_MODEL_H
#define API_APPLY_MODEL_H

#include "call.h"
#include "http/arguments.h"
#include "models/chosen_part.h"

typedef enum api_apply_model_option {
    API_APPLY_MODEL,
    API_APPLY_PART,
    API_APPLY_LAYER,
    API_APPLY_MODEL_OPTIONS
} api_apply_model_option;

/* What a request may give for a model. */
extern const pe_parameter api_apply_model_options[API_APPLY_MODEL_OPTIONS];

/* A model that an application follows. */
typedef struct api_apply_model {
    pe_options *given;
    api_model_options options; /* of its plan */
    json_t *config;
    api_model_plan *plan;
    api_chosen_part chosen;
    const char
        *other_layout; /* of pairs, which the part has and the request has not; or NULL */
    char numbers[2][PE_PRINT_MAX]; /* of a temperature, as texts of arguments */
} api_apply_model;

/* Take the options of a model from the arguments, and find the part of its plan that they ask
 * for; `config` is the text of that in the file, or NULL. A part or layer that is not clear is
 * a problem. False after a problem was added; api_apply_model_done may be called in any case,
 * of a model that was zero before. */
bool api_apply_model_read(api_apply_model *ret_model, const api_call *call, const char *config,
                          api_arguments *arguments, pe_error *reterr);

/* Add the part's arguments to those of a request for its scheme. What the first `own` of these
 * say otherwise is a problem, but for how pairs lie, which is noted. The model must outlive
 * them. */
void api_apply_model_add(api_apply_model *model, bool query_factors, size_t own,
                         api_arguments *arguments, pe_error *reterr);
void api_apply_model_done(api_apply_model *model);

#endif
