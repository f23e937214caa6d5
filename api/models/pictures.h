/* Prompts with a picture or a video, for models whose rotary positions have three axes. */
#ifndef API_MODELS_PICTURES_H
#define API_MODELS_PICTURES_H

#include "models/plan_parts.h"

/* Whether the request asks for a prompt with a picture, and the model takes one. */
bool model_has_picture(const model_config *config, const picture_facts *facts);

/* Add the arguments of the scheme mrope that describe the prompt, in place of length and
 * offset: a token of text, the picture, and text for the rest of the rows. Each frame of a
 * video has a token before it where time stamps stand between frames. `rows` is what the config
 * allows. */
void model_add_prompt(const model_config *config, const picture_facts *facts, model_number rows,
                      api_model_part *part);

/* The patches along a side of `pixels`: whole ones, or with `merge` above 1 the nearest
 * multiple of it, at least one, as Qwen2-VL's processor resizes pictures. */
double model_patches(double pixels, double patch, double merge);

/* The frames of the request as the model counts them: `tube` of them are one, and the last one
 * is repeated where it takes more. 0 if the request has none. */
double model_frames(const model_config *config, double tube);

#endif
