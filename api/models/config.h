/* Reading a config.json: keys by their spellings, with where each value came from. */
#ifndef API_MODELS_CONFIG_H
#define API_MODELS_CONFIG_H

#include "models/plan.h"

#include <math.h>

typedef struct model_type model_type;
typedef struct model_types model_types;

typedef struct model_planner {
    api_model_plan *plan;
    const model_types *types; /* the rows that components may name */
    const pe_limits *limits;
    pe_error *error;
    json_t *used;     /* the paths that have changed something, as the keys of an object */
    json_t *known;    /* by paths of objects: the keys that were looked for, there or not */
    json_t *paths;    /* of a file of another dialect: by paths of the config, its own */
    size_t objects;   /* that types have read */
    bool is_unasked;  /* what is planned now was not asked for */
    bool is_own_code; /* a row of code that comes with the checkpoint has been applied */
    bool is_full;     /* there were more components or parts than a plan has room for */
} model_planner;

typedef struct model_config model_config;

/* An object of a config: the whole, a component, or a dictionary inside one. */
struct model_config {
    model_planner *planner;
    const model_type *type;     /* the row that reads it */
    json_t *object;             /* may be NULL: then it is empty */
    json_t *fallback;           /* its class's own values of keys that it lacks; or NULL */
    double first;               /* the position of the first token */
    const char *path;           /* "", "text_config" …; NULL: defaults of the row */
    const char *name;           /* of its component, as its parent calls it; or NULL */
    size_t component;           /* index into the plan's components */
    const model_config *parent; /* of a component: what holds it and its neighbours; or NULL */
};

/* ---- kept_texts.c ---- */

/* Keep a text, which is consumed, as long as the plan. "" without memory. */
const char *model_keep(model_planner *planner, json_t *text);

/* Read JSON of a row, which is kept as long as the plan. NULL without memory: there is no
 * answer then. */
json_t *model_keep_json(model_planner *planner, const char *text);

/* Whether one of several words, joined by blanks, is this one. */
bool model_lists(const char *words, const char *word);

/* Whether a name has one of several endings, joined by blanks, and more before it. */
bool model_has_ending(const char *name, const char *endings);

/* Whether the name of a key looks like positions (left_out.c). */
bool model_looks_like_positions(const char *key);

/* A path as a problem shows it: one that is too long loses its first steps, "….text.head_dim".
 */
const char *model_shown_path(model_planner *planner, const char *path);

/* What is known without the config: the request, an option of it, a key on top, words. */
#define MODEL_QUERY         ((api_origin){.kind = API_ORIGIN_QUERY})
#define MODEL_OPTION(name)  ((api_origin){.kind = API_ORIGIN_QUERY, .path = (name)})
#define MODEL_REMARK(words) ((api_origin){.kind = API_ORIGIN_OTHER, .remark = (words)})
#define MODEL_IMAGE_CELLS   ((api_origin){API_ORIGIN_CONFIG, "image_size", " / patch_size"})

/* The value of a path with dots; NULL: absent or null. */
json_t *model_find_path(json_t *object, const char *path);

/* The class of the config's model type. */
api_origin model_default(const model_config *config);

/* A key of the config: "text_config.head_dim". */
api_origin model_origin(const model_config *config, const char *key);

/* An origin with one more remark about what became of the value. */
api_origin model_add_remark(const model_config *config, api_origin origin, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));

/* The words for an origin, kept as long as the plan. */
const char *model_word_origin(const model_config *config, api_origin origin);

/* Let a key count as used: what it says has changed an argument, a fact or which layers use a
 * part. Arguments and facts do so themselves. */
void model_use_key(json_t *used, api_origin origin);

/* ---- config.c ---- */

/* The value of a key by any of its spellings, NULL if it is absent or null. `keys` are several
 * keys joined by "|", the first one that is there wins; each one has the spellings of
 * config.c. ret_from is the path, or that of the first key where there is none. */
json_t *model_find(const model_config *config, const char *keys, api_origin *ret_from);

/* Whether a key is there and not null; the key does not count as used. */
bool model_has(const model_config *config, const char *key);

typedef struct model_number {
    bool given;   /* in the config */
    double value; /* NAN: neither given nor defaulted */
    api_origin from;
} model_number;

/* A number, integer or not. One of another kind is a problem and counts as not given. */
model_number model_real(const model_config *config, const char *keys, double fallback);
model_number model_integer(const model_config *config, const char *keys, double fallback);

/* The same, which must be there, at least `least`: else it is a problem, and the value is NAN.
 */
model_number model_required(const model_config *config, const char *keys, double fallback,
                            double least);

bool model_flag(const model_config *config, const char *keys, bool fallback,
                api_origin *ret_from);

/* A string; NULL if it is not given. */
const char *model_string(const model_config *config, const char *keys, api_origin *ret_from);

/* An object or a list that a key has; `object` is NULL where it is absent or null. Another kind
 * is a problem. */
model_config model_object(const model_config *config, const char *keys);
json_t *model_list(const model_config *config, const char *keys, api_origin *ret_from);

/* The same for a list of numbers, of which null and false are 0, and true is 1. Other items are
 * a problem. */
json_t *model_number_list(const model_config *config, const char *keys, api_origin *ret_from);
double model_list_number(const json_t *list, size_t index);

/* The columns of a model and the heads of its attention, by their usual keys where `keys` is
 * NULL, and a quotient of two numbers. Where it is no integer, that is a
 * problem with the divisor; `otherwise` says what else may be given. */
model_number model_width(const model_config *config, const char *keys, double fallback);
model_number model_heads(const model_config *config, const char *keys, double fallback);
model_number model_divide(const model_config *config, model_number dividend,
                          model_number divisor, const char *otherwise);

/* The origin of a quotient of two values. */
api_origin model_divide_origins(const model_config *config, model_number dividend,
                                model_number divisor);

/* The words for where a number came from, with the number itself where no key of the config has
 * it. */
const char *model_word_number(const model_config *config, model_number number);

/* The side of an image, a patch or the like, in pixels, from one number, [height, width] or
 * {"height", "width"}; axis 0 is the height. */
model_number model_side(const model_config *config, const char *keys, double fallback,
                        size_t axis);

/* A problem that has been told already, since several parts read the same keys; or NULL. */
pe_problem *model_known_problem(const model_planner *planner, const char *path,
                                const char *allowed);

/* A number of a row's facts as a default: one that the row does not set is none. */
static inline double model_or_nan(double number)
{
    return number > 0 ? number : NAN;
}

/* Add a problem about what came from there. The rule completes "the path must be …". NULL
 * given: what the key has. */
pe_problem *model_refuse(const model_config *config, api_origin origin, const json_t *given,
                         const char *rule, ...) __attribute__((format(printf, 4, 5)));

#define MODEL_FLAG_RULE "true or false, written without quotes"

/* The same where there is no planner yet. */
pe_problem *model_refuse_value(pe_error *error, const char *path, const json_t *given,
                               const char *allowed);

/* ---- choices.c ---- */

/* The word that a key has, one of those that are joined by blanks; `otherwise` where it is
 * absent or null. true and false are written as flags. Anything else is a problem that names
 * the words. */
const char *model_choice(const model_config *config, const char *key, const char *words,
                         const char *otherwise, api_origin *ret_from);

/* The same problem, for a value that is read elsewhere. */
void model_refuse_choice(const model_config *config, api_origin origin, const json_t *given,
                         const char *words);

#endif
