/* Well-known models by name. */
#include "models/known.h"

#include <string.h>

#define KNOWN(its_name, its_source, ...)                                                       \
    {.name = (its_name), .source = (its_source), .config = #__VA_ARGS__},

static const api_known_model MODELS[] = {
#include "models/known.def"
};

size_t api_known_model_count(void)
{
    return sizeof MODELS / sizeof *MODELS;
}

const api_known_model *api_known_model_at(size_t index)
{
    return &MODELS[index];
}

const api_known_model *api_known_model_find(const char *name)
{
    for (size_t i = 0; i < api_known_model_count(); i++)
        if (strcmp(MODELS[i].name, name) == 0)
            return &MODELS[i];
    return NULL;
}
