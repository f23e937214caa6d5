/* How a plan is built up: parts with their arguments, facts and notes. */
#ifndef API_MODELS_PLANNING_H
#define API_MODELS_PLANNING_H

#include "models/types.h"

/* Let an option of the request count as used: it has changed the part. Arguments and facts that
 * come from one do so themselves. */
void model_use_option(api_model_part *part, const char *name);

/* Begin a part of the config's component: "text", or "text.full_attention" with a suffix. It
 * stays unserved until model_part_finish finds its scheme. The config must outlive what is
 * added to the part. */
api_model_part *model_part_new(const model_config *config, const char *suffix,
                               const char *kind);

/* Add an argument as the scheme takes it. The text is kept; NULL: there is no argument. */
void model_argument(api_model_part *part, const char *name, const char *text, api_origin from);
void model_argument_number(api_model_part *part, const char *name, double value,
                           api_origin from);
void model_argument_flag(api_model_part *part, const char *name, bool flag, api_origin from);

/* A list of numbers. False, with a problem, if an item is none. */
bool model_argument_list(api_model_part *part, const char *name, const json_t *list,
                         api_origin from);

void model_argument_numbers(api_model_part *part, const char *name, const double numbers[],
                            size_t count, api_origin from);

/* Add the number of rows: that of the request, or `rows`, cut to `most`, with the fact how many
 * the config allows. Without a number the part has `most` rows. */
void model_argument_length(api_model_part *part, model_number rows, double most);

/* The number that an argument of the part has. */
double model_read_argument(const api_model_part *part, const char *name, double absent);

/* Note rows past the positions that the config has. Whether there are any. */
bool model_note_past(const api_model_part *part, model_number longest);

/* The same of a table that has an end: what is asked for beyond it is cut off. */
void model_argument_limited_length(api_model_part *part, model_number rows, double most);

/* Add the position of row 0: that of the request, or `first` unless it is 0. */
void model_argument_offset(api_model_part *part, double first, api_origin from);

/* What is a fact and an argument of the same name. */
void model_state_number(api_model_part *part, const char *name, model_number number);
void model_state_text(api_model_part *part, const char *name, const char *text,
                      api_origin from);

/* Facts; the value of the last one is consumed. */
void model_fact_number(api_model_part *part, const char *name, double value, api_origin from);
void model_fact_text(api_model_part *part, const char *name, const char *text, api_origin from);
void model_fact(api_model_part *part, const char *name, json_t *value, api_origin from);
void model_fact_numbers(api_model_part *part, const char *name, const double numbers[],
                        size_t count, api_origin from);

void model_note(json_t *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Give a part its scheme and the tensors that are used. The scheme checks the arguments; its
 * problems name the paths where these came from. A scheme that this release does not have
 * leaves facts alone. */
void model_part_finish(api_model_part *part, const char *scheme, const char *tensors);

/* Note what the row says of a part; NULL: nothing. */
void model_part_say(api_model_part *part, const char *note);

/* Say before anything else that the model's tables may be other ones; the text is consumed. */
void model_warn(model_planner *planner, json_t *text);

/* Free what a part holds. */
void model_part_done(api_model_part *part);

/* ---- layers.c: which layer of a component uses which part ---- */

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
    model_part_finish(part, scheme, tensors);
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

/* ---- pictures.c: prompts with a picture or a video, for rotary positions of three axes ----
 */

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
double model_patches(const model_config *config, model_number side, double patch, double merge);

/* The sides of the request's image. */
#define MODEL_HEIGHT(options)                                                                  \
    ((model_number){true, (double)(options)->height, MODEL_OPTION("image")})
#define MODEL_WIDTH(options)                                                                   \
    ((model_number){true, (double)(options)->width, MODEL_OPTION("image")})

/* The cells of an image along height and width: of the request's where that is asked for and
 * given, else of the config's, whose keys and defaults these are. */
typedef struct model_cells {
    double sides[2];
    api_origin from;
} model_cells;
model_cells model_read_cells(const model_config *config, const char *image_keys,
                             const double image[2], const char *patch_keys, double patch,
                             bool is_asked);

/* The frames of the request as the model counts them
 * is repeated where it takes more. 0 if the request has none. */
double model_frames(const model_config *config, double tube);

/* ---- left_out.c ---- */

/* Whether the request asks for a component, or for one inside of it. */
bool model_is_requested(const model_planner *planner, const char *name);

/* List in a finished plan what of the config has changed nothing, and leave out the components
 * that were not asked for. Names of no component are problems. */
void model_trim_plan(model_planner *planner, json_t *config);

#endif
