/* What files of other libraries mean beyond the rules of their tables: laws of a dialect, which
 * its row in dialects.def names, and the metadata of GGUF files. */
#ifndef API_MODELS_DIALECT_LAWS_H
#define API_MODELS_DIALECT_LAWS_H

#include "api.h"

#include <jansson.h>

/* A file while it is read. */
typedef struct model_reading {
    const struct dialect *dialect;
    char prefix[64];      /* of the paths of its keys: "", "model.", "llama." */
    json_t *whole, *file; /* the file, and its object with these keys */
    bool is_latent;       /* its dialect is that of latent attention */
    json_t *config;       /* what has been understood */
    json_t *paths, *notes;
    pe_error *error;
} model_reading;

/* The value of a path with dots; NULL: absent or null. */
json_t *model_find_path(json_t *object, const char *path);

/* Give a path of an object a value, which is consumed. */
void model_set_path(json_t *object, const char *path, json_t *value);

/* The pairs of a GGUF file's architecture without its name, as a new reference; NULL: it is no
 * such file, or there is a problem. */
json_t *model_open_gguf(json_t *file, model_reading *r);

typedef void model_dialect_law(model_reading *r);
model_dialect_law model_divide_positions, model_own_gte, model_own_megatron, model_own_length;
model_dialect_law model_own_gguf;

#endif
