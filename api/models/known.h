/* Well-known models by name: the keys of their config.json that positions depend on. */
#ifndef API_MODELS_KNOWN_H
#define API_MODELS_KNOWN_H

#include <stddef.h>

typedef struct api_known_model {
    const char *name;
    const char *source; /* the repository of the Hugging Face hub whose config.json has them */
    const char *config; /* JSON */
} api_known_model;

size_t api_known_model_count(void);
const api_known_model *api_known_model_at(size_t index);

/* NULL if there is none of the name. */
const api_known_model *api_known_model_find(const char *name);

#endif
