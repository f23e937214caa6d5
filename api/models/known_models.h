/* Well-known models by name: the keys of their config.json that positions depend on. */
#ifndef API_MODELS_KNOWN_MODELS_H
#define API_MODELS_KNOWN_MODELS_H

#include <stddef.h>

typedef struct api_known_model {
    const char *name;
    const char *source; /* the repository of the Hugging Face hub whose config.json has them */
    const char *config; /* JSON */
} api_known_model;

size_t api_known_model_count(void);
const api_known_model *api_known_model_get(size_t index);

/* The model of a name, or of a repository of the hub, whatever its case and its owner:
 * "llama-3.1-8b", "meta-llama/Llama-3.1-8B"; also by the name of a version that was tuned for
 * instructions and is not listed itself: "llama-3.1-8b-instruct". NULL if there is none. */
const api_known_model *api_known_model_find(const char *name);

/* The name that one that is not known is a slip of; NULL if there is none. */
const char *api_known_model_suggest(const char *name);

#endif
