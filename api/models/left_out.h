/* What of a config a finished plan leaves out. */
#ifndef API_MODELS_LEFT_OUT_H
#define API_MODELS_LEFT_OUT_H

#include "models/types.h"

/* Whether the request asks for a component, or for one inside of it. */
bool model_is_requested(const model_planner *planner, const char *name);

/* List in a finished plan what of the config has changed nothing, and leave out the components
 * that were not asked for. Names of no component are problems. */
void model_trim_plan(model_planner *planner, json_t *config);

#endif
