/* Well-known models by name. */
#include "models/known_models.h"

#include "posenc.h"

#include <string.h>
#include <strings.h>

#define KNOWN(its_name, its_source, ...)                                                       \
    {.name = (its_name), .source = (its_source), .config = #__VA_ARGS__},

static const api_known_model MODELS[] = {
#include "models/known_models.def"
};

size_t api_known_model_count(void)
{
    return sizeof MODELS / sizeof *MODELS;
}

const api_known_model *api_known_model_get(size_t index)
{
    return &MODELS[index];
}

/* A name without that of its owner: "Llama-3.1-8B" of "meta-llama/Llama-3.1-8B". */
static const char *without_owner(const char *name)
{
    for (const char *at = name; *at; at++) {
        if (*at == '/')
            name = at + 1;
        else if (strncasecmp(at, "%2f", 3) == 0)
            name = at + 3;
    }
    return name;
}

const api_known_model *api_known_model_find(const char *name)
{
    const char *own = without_owner(name);
    for (size_t i = 0; i < api_known_model_count(); i++)
        if (strcasecmp(MODELS[i].name, own) == 0 ||
            strcasecmp(without_owner(MODELS[i].source), own) == 0)
            return &MODELS[i];
    return NULL;
}

const api_known_model *api_known_model_find_tuned(const char *name)
{
    static const char *const ENDS[] = {"-instruct", "-chat", "-it"};
    const api_known_model *found = api_known_model_find(name);
    const size_t length = strlen(name);
    char base[128];
    for (size_t i = 0; !found && length < sizeof base && i < sizeof ENDS / sizeof *ENDS; i++) {
        const size_t end = strlen(ENDS[i]);
        if (length <= end || strcasecmp(name + length - end, ENDS[i]) != 0)
            continue;
        memcpy(base, name, length - end);
        base[length - end] = '\0';
        found = api_known_model_find(base);
    }
    return found;
}

const char *api_known_model_suggest(const char *name)
{
    const char *names[sizeof MODELS / sizeof *MODELS];
    const api_known_model *base = api_known_model_find_tuned(name);
    if (base)
        return base->name;
    for (size_t i = 0; i < api_known_model_count(); i++)
        names[i] = MODELS[i].name;
    return pe_find_nearest_name(without_owner(name), names, api_known_model_count());
}
