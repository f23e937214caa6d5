/* What a request may say about a model's plan, besides its config. */
#ifndef API_MODELS_OPTIONS_H
#define API_MODELS_OPTIONS_H

#include "http/arguments.h"

/* Rows of a table where the request does not give `length`, and queries and keys of a matrix
 * of them. */
#define API_MODEL_ROWS    4096
#define API_MODEL_QUERIES 512

/* The library whose reading of a config is followed, where releases differ. */
typedef enum api_convention {
    API_CONVENTION_5,
    API_CONVENTION_4_53,
} api_convention;

/* What is asked for. */
typedef enum api_model_answer {
    API_MODEL_BY_ACCEPT, /* the plan, unless Accept prefers a file of tensors */
    API_MODEL_PLAN,
    API_MODEL_TENSORS
} api_model_answer;

typedef struct api_model_options {
    int64_t length;                     /* 0: what the config says, cut */
    const char *offset, *dtype, *table; /* texts as they were given; NULL: not given */
    int64_t seq_len;                    /* 0: not given */
    int64_t height, width;              /* of the image in pixels; 0: what the config says */
    int64_t frames;                     /* 0: what the config says */
    const char *components;             /* names with commas between them; NULL: all */
    api_convention convention;
    const char *convention_name;
    api_model_answer answer;
    const char *format; /* "safetensors" or "json"; NULL: not given */
    const char *set;    /* a set of trained tensors; NULL: not given */
    pe_options *read;   /* whose the texts are */
} api_model_options;

/* The options as rows of a parameter table. */
const pe_parameter *api_model_option_rows(size_t *ret_count);

/* Read the options from a request's arguments. Strangers and values that are not legal are
 * problems. Call api_model_options_done in any case. */
void api_model_options_read(const api_arguments *arguments, api_model_options *ret_options,
                            pe_error *reterr);
void api_model_options_done(api_model_options *options);

#endif
