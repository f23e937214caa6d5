/* The position tensors of a model, planned from its config.json; nothing is computed.
 *
 * A plan has components, the parts of a model that have layers of their own ("text", "vision",
 * "encoder" …), and parts: what each layer uses. Most parts are requests to a scheme of posenc.
 * Others are facts alone, since their numbers are trained, or since this release has no scheme
 * for them. A plan without parts is that of a model without positions. */
#ifndef API_MODELS_PLAN_H
#define API_MODELS_PLAN_H

#include "models/options.h"

#include <jansson.h>

#define API_PART_ARGUMENTS   32
#define API_MODEL_PARTS      24
#define API_MODEL_COMPONENTS 8
#define API_MODEL_OBJECTS    32 /* of a config that types read, one inside another */
#define API_MODEL_LAYERS     4096

/* ---- where a value of a plan came from ---- */

typedef enum api_origin_kind {
    API_ORIGIN_OTHER,   /* the remark alone says where; without one it is not known */
    API_ORIGIN_CONFIG,  /* the key of the config at `path` */
    API_ORIGIN_DEFAULT, /* the class of the model type that `path` names */
    API_ORIGIN_QUERY /* the request: the option `path`, or the one that is named as the value */
} api_origin_kind;

/* The texts live as long as the plan. */
typedef struct api_origin {
    api_origin_kind kind;
    const char *path;
    const char
        *remark; /* what became of the value there, as it goes on after the words for the
                  * path: " / num_attention_heads", ", cut to 4096 rows"; NULL: nothing */
} api_origin;

/* The words for an origin: "text_config.head_dim", "default of llama", "query". */
json_t *api_origin_describe(api_origin origin);

/* ---- the plan ---- */

/* How a part's numbers come about. */
typedef enum api_part_state {
    API_PART_COMPUTED, /* its scheme computes them */
    API_PART_TRAINED,  /* they are in the checkpoint; its scheme reads them from a set */
    API_PART_UNSERVED, /* facts alone: this release has no scheme for them */
    API_PART_NOTHING   /* there is nothing to compute, such as a convolution */
} api_part_state;

/* All texts live as long as the plan. */
typedef struct api_model_part {
    const char *name; /* "text", "text.full_attention"; its tensors are "text.cos" … */
    const char *kind; /* what it is: "rope", "learned", "attention_temperature" … */
    size_t component; /* index into the plan's components */
    api_part_state state;
    const char *scheme;  /* NULL: none */
    const char *tensors; /* names of the scheme's tensors that the model uses, by blanks */
    pe_argument arguments[API_PART_ARGUMENTS]; /* as the scheme takes them, with their kinds */
    api_origin from[API_PART_ARGUMENTS];       /* where each one came from */
    size_t count;
    pe_request *request; /* of these arguments; NULL without a scheme */
    const char *pairing; /* of rotary parts: "half" or "interleaved"; else NULL */
    const char *law;     /* of a temperature of queries: "llama4" or "ministral3"; else NULL */
    json_t *facts;       /* {name: {"value": …, "from": …}} */
    json_t *notes;       /* sentences */
    const struct model_config *config; /* while it is planned: what it is a part of */
    json_t *second;                    /* layers that use it besides another part; NULL: none */
    json_t *asked; /* the names of the options that have changed it, as keys */
} api_model_part;

typedef struct api_model_component {
    const char *name, *model_type;
    const char *path;   /* of its object in the config: "text_config", "" for the whole */
    size_t layer_count; /* 0: the config does not say */
    int32_t *layers;    /* the part that each layer uses, -1: none */
    const char **types; /* the type of each layer, such as "full_attention" */
    const char *only; /* the one type that all layers have whose number is not known; or NULL */
    api_origin counted; /* where the number of layers came from */
} api_model_component;

typedef struct api_model_plan {
    const char *model_type;
    const char *warning; /* the first line of its summary; NULL: none */
    bool is_told;        /* a note says what positions are that no part has */
    const char *family;  /* what the row of the model type says of it; or NULL */
    const api_model_options *options;
    api_model_component components[API_MODEL_COMPONENTS];
    size_t component_count;
    api_model_part parts[API_MODEL_PARTS + 1]; /* the last one is for what is too much */
    size_t part_count;
    json_t *notes;    /* sentences about the whole */
    json_t *not_used; /* paths of keys that look like positions and have no effect; where there
                       * are too many to list, the last one is "and 12345 more" */
    json_t *config;   /* what the row has read … */
    json_t *paths;    /* … and the paths of its keys in the file, where they are others */
    json_t *kept;     /* what the texts point into */
} api_model_plan;

/* Plan the tensors of a config: an object of api_config_read. `options` must outlive the plan.
 * Whatever is contradictory is a problem whose parameter is a JSON path such as
 * "text_config.head_dim". Requests of all parts have been checked by their schemes, within
 * `limits`. Fails with PE_OUT_OF_RANGE, PE_TOO_LARGE or PE_NO_MEMORY. */
pe_status api_model_plan_new(json_t *config, const api_model_options *options,
                             const pe_limits *limits, api_model_plan **ret_plan,
                             pe_error *reterr);
void api_model_plan_free(api_model_plan *plan);

/* The model types that a config may name, and what they are, in a few words. */
typedef struct api_model_type_name {
    const char *model_type, *family;
} api_model_type_name;
size_t api_model_type_count(void);
api_model_type_name api_model_type_get(size_t index);

/* Whether the answer to a request for the tensors has those of a part. */
bool api_model_part_is_served(const api_model_plan *plan, const api_model_part *part);

/* The tensor that is asked for alone, since others of its scheme are trained; NULL: all are
 * asked for, as a request can name one alone. */
const char *api_model_part_single(const api_model_part *part);

/* Refuse each option that was given and has changed no part of any of these plans. */
void api_model_refuse_unused(const api_model_plan *const plans[], size_t count,
                             pe_error *reterr);

/* The parts whose tensors the answer leaves out, each with the reason, and the request that
 * completes it where there is one. */
json_t *api_model_list_omissions(const api_model_plan *plan);

/* The plan as JSON, for a person to read. */
json_t *api_model_plan_describe(const api_model_plan *plan);

#endif
