/* Files that are none of a config.json: timm's configs, those of other libraries, each read by
 * a table of its keys, and files that describe no model. */
#ifndef API_MODELS_OTHER_FILES_H
#define API_MODELS_OTHER_FILES_H

#include "models/config.h"

/* The config that a file means, as a new reference, with a sentence for each thing to know in
 * `notes`, and in `paths` the path in the file of each path of the config that has another one.
 * A config.json is returned as it is. NULL, with a problem that says what the file seems to be
 * and what to send instead, for files that describe no model. */
json_t *model_translate(json_t *file, json_t *notes, json_t *paths, pe_error *reterr);

/* ---- dialects.c ---- */

/* The config that a file means by the table of its dialect, as a new reference; `paths` gets
 * the path in the file of each path of the config, and `notes` what there is to know. NULL
 * without a problem: the file is of no dialect. NULL with problems: it has keys that the table
 * refuses, or that look like positions and do not stand in it. */
json_t *model_read_dialect(json_t *file, json_t *notes, json_t *paths, pe_error *reterr);

/* Whether an object has all keys of a list, or one of them, which are joined by blanks. */
bool model_has_keys(const json_t *object, const char *keys);
bool model_has_a_key(const json_t *object, const char *keys);

/* ---- dialect_laws.c: what files mean beyond the rules of their tables: laws of a dialect,
 * which its row in dialects.def names, and the metadata of GGUF files ---- */

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

/* Give a path of an object a value, which is consumed. */
void model_set_path(json_t *object, const char *path, json_t *value);

/* The pairs of a GGUF file's architecture without its name, as a new reference; NULL: it is no
 * such file, or there is a problem. */
json_t *model_open_gguf(json_t *file, model_reading *r);

typedef void model_dialect_law(model_reading *r);
model_dialect_law model_divide_positions, model_own_gte, model_own_megatron, model_own_length;
model_dialect_law model_own_gguf;

/* ---- timm.c: configs that name an architecture and hold what differs from it ---- */

/* The config of the class behind an architecture. NULL, with a problem, if the architecture or
 * one of its arguments is not known. */
json_t *model_translate_timm(json_t *file, json_t *notes, pe_error *reterr);

/* Let the rules read model_args of such a config, and the values of its architecture where
 * these say nothing. Other configs stay as they are. */
void model_open_arguments(model_config *config);

#endif
