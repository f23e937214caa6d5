/* Which layer of a component uses which part. */
#ifndef API_MODELS_LAYERS_H
#define API_MODELS_LAYERS_H

#include "models/plan_parts.h"

/* Give the component layers in stages: depths[i] of the type "stage1" and so on. False, with a
 * problem, if there are too many. `from` is where the depths came from. */
bool model_plan_stages(model_config *config, const double depths[], size_t count,
                       api_origin from);

/* Let all layers of some types, joined by blanks, use a part; NULL: all layers that have
 * positions at all. A second part of a layer is not noted. Reads the layers first where no rule
 * has. */
void model_use(model_config *config, const api_model_part *part, const char *layer_types);

/* Give a part its scheme, and let all layers that have positions use it. */
static inline void model_part_use(model_config *config, api_model_part *part,
                                  const char *scheme, const char *tensors)
{
    model_part_finish(config, part, scheme, tensors);
    model_use(config, part, NULL);
}

/* Let all layers of a type use a part besides the one that they have; NULL: all layers that
 * have a part. */
void model_use_besides(model_config *config, api_model_part *part, const char *layer_type);

/* Let the layers that turn use a rotary part, as their own, or as what turns besides. */
void model_use_rotary(model_config *config, const rotary_facts *facts, api_model_part *part);

/* Whether the component has layers of one of these types; true where the layers are not known.
 */
bool model_has_layers(model_config *config, const char *layer_types);

#endif
