/* How a plan is built up: parts with their arguments, facts and notes. */
#ifndef API_MODELS_PLAN_PARTS_H
#define API_MODELS_PLAN_PARTS_H

#include "models/types.h"

/* Begin a part of the config's component: "text", or "text.full_attention" with a suffix. It
 * stays unserved until model_part_finish finds its scheme. */
api_model_part *model_part_new(const model_config *config, const char *suffix,
                               const char *kind);

/* Add an argument as the scheme takes it. The text is kept. */
void model_argument(const model_config *config, api_model_part *part, const char *name,
                    const char *text, api_origin from);
void model_argument_number(const model_config *config, api_model_part *part, const char *name,
                           double value, api_origin from);
void model_argument_flag(const model_config *config, api_model_part *part, const char *name,
                         bool flag, api_origin from);

/* A list of numbers. False, with a problem, if an item is none. */
bool model_argument_list(const model_config *config, api_model_part *part, const char *name,
                         const json_t *list, api_origin from);

void model_argument_numbers(const model_config *config, api_model_part *part, const char *name,
                            const double numbers[], size_t count, api_origin from);

/* Add the number of rows: that of the request, or `rows`, cut to `most`, with the fact how many
 * the config allows. Without a number the part has `most` rows. */
void model_argument_length(const model_config *config, api_model_part *part, model_number rows,
                           double most);

/* The same of a table that has an end: what is asked for beyond it is cut off. */
void model_argument_limited_length(const model_config *config, api_model_part *part,
                                   model_number rows, double most);

/* Add the position of row 0: that of the request, or `first` unless it is 0. */
void model_argument_offset(const model_config *config, api_model_part *part, double first,
                           api_origin from);

/* What is a fact and an argument of the same name. */
void model_state_number(const model_config *config, api_model_part *part, const char *name,
                        model_number number);
void model_state_text(const model_config *config, api_model_part *part, const char *name,
                      const char *text, api_origin from);

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
void model_part_finish(const model_config *config, api_model_part *part, const char *scheme,
                       const char *tensors);

/* Note what the row says of a part; NULL: nothing. */
void model_part_say(api_model_part *part, const char *note);

/* Say before anything else that the model's tables may be other ones; the text is consumed. */
void model_warn(model_planner *planner, json_t *text);

/* Free what a part holds. */
void model_part_done(api_model_part *part);

#endif
