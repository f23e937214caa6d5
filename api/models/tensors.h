/* The tensors of a plan, as a batch. */
#ifndef API_MODELS_TENSORS_H
#define API_MODELS_TENSORS_H

#include "call.h"
#include "models/plan.h"

/* Answer with the tensors of a plan: those that its schemes compute, and the trained ones where
 * a set is named; and for each component the list of which layer uses which part. The
 * reply may be kept if the request is a GET, whose `config` is what its path names. NULL
 * without memory or after api_not_yet. */
api_reply *api_model_tensors_reply(const api_call *call, const api_model_plan *plan,
                                   api_segment config, bool kept);

/* Check the set that the request names for the trained tensors of a plan, as a request for them
 * would. False: ret_reply is the answer, NULL without memory or after api_not_yet. */
bool api_model_check_set(const api_call *call, const api_model_plan *plan,
                         api_reply **ret_reply);

#endif
