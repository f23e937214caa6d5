/* The registry of formats: formats/formats.def as an array. */
#include "formats/registry.h"

#include <assert.h>
#include <string.h>

#define FORMAT(name) extern const api_format api_format_##name;
#include "formats/formats.def"
#undef FORMAT

static const api_format *const FORMATS[] = {
#define FORMAT(name) &api_format_##name,
#include "formats/formats.def"
#undef FORMAT
};

static const char *const NAMES[] = {
#define FORMAT(name) #name,
#include "formats/formats.def"
#undef FORMAT
};

size_t api_format_count(void)
{
    return sizeof FORMATS / sizeof *FORMATS;
}

const api_format *api_format_get(size_t index)
{
    assert(index < api_format_count());
    return FORMATS[index];
}

const api_format *api_format_find(const char *name)
{
    for (size_t i = 0; i < api_format_count(); i++)
        if (strcmp(FORMATS[i]->name, name) == 0)
            return FORMATS[i];
    return NULL;
}

const char *const *api_format_names(void)
{
    return NAMES;
}
