/* Where a value of a plan came from. */
#ifndef API_MODELS_VALUE_ORIGIN_H
#define API_MODELS_VALUE_ORIGIN_H

#include <jansson.h>

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

#endif
