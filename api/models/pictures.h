/* Prompts with a picture or a video, for models whose rotary positions have three axes. */
#ifndef API_MODELS_PICTURES_H
#define API_MODELS_PICTURES_H

#include "models/parts.h"

/* How a model cuts pictures, where its vision_config does not say, and how their tokens get
 * positions: get_rope_index of its class. */
typedef struct picture_facts {
    double patch;             /* side in pixels: patch_size */
    double merge;             /* patches a side of a token: spatial_merge_size */
    double tube;              /* frames that are one: temporal_patch_size; 0: none are */
    double temporal_merge;    /* above 1: temporal_merge_size frames become one */
    const char *frames;       /* frame_positions of the scheme mrope; NULL: no videos */
    double tokens_per_second; /* where frames are placed by seconds; 0: they are not */
} picture_facts;

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
