/* Well-known models by name. */
#include "models/known_models.h"

#include "models/plan.h"

#include <string.h>
#include <strings.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

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

static const api_known_model *find_own(const char *own)
{
    for (size_t i = 0; i < api_known_model_count(); i++)
        if (strcasecmp(MODELS[i].name, own) == 0 ||
            strcasecmp(without_owner(MODELS[i].source), own) == 0)
            return &MODELS[i];
    return NULL;
}

/* Take the first of some words out of a name; false: it has none. */
static bool cut_tuning(char *name)
{
    static const char *const WORDS[] = {"-instruct", "-chat", "-it"};
    for (char *at = name; *at; at++)
        for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
            const char *rest = at + strlen(WORDS[i]);
            if (strncasecmp(at, WORDS[i], strlen(WORDS[i])) != 0 || (*rest && *rest != '-'))
                continue;
            memmove(at, rest, strlen(rest) + 1);
            return true;
        }
    return false;
}

const api_known_model *api_known_model_find(const char *name)
{
    const char *own = without_owner(name);
    const api_known_model *found = find_own(own);
    char base[128];
    if (found || strlen(own) >= sizeof base)
        return found;
    memcpy(base, own, strlen(own) + 1);
    return cut_tuning(base) ? find_own(base) : NULL;
}

/* Whether a name begins with the letters of a model type: its family is meant. */
static bool begins_like_type(const char *name)
{
    const size_t length = strspn(name, LETTERS);
    for (size_t i = 0; i < api_model_type_count(); i++) {
        const char *type = api_model_type_get(i).model_type;
        if (strspn(type, LETTERS) == length && strncasecmp(type, name, length) == 0)
            return true;
    }
    return false;
}

/* A family with letters that no known one has, such as bloomz, is another one. */
const char *api_known_model_suggest(const char *name)
{
    const char *names[sizeof MODELS / sizeof *MODELS], *own = without_owner(name);
    const size_t length = strspn(own, LETTERS);
    const bool has_family = begins_like_type(own);
    size_t count = 0;
    for (size_t i = 0; i < api_known_model_count(); i++) {
        const size_t family = strspn(MODELS[i].name, LETTERS);
        if (family >= length && (!has_family || strncasecmp(MODELS[i].name, own, family) == 0))
            names[count++] = MODELS[i].name;
    }
    return pe_find_nearest_name(own, names, count);
}
