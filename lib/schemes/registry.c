/* The registry: an array of the schemes in schemes/schemes.def. */
#include "scheme.h"

#include <assert.h>
#include <string.h>

#define SCHEME(name) extern const pe_scheme pe_scheme_##name;
#include "schemes/schemes.def"
#undef SCHEME

static const pe_scheme *const SCHEMES[] = {
#define SCHEME(name) &pe_scheme_##name,
#include "schemes/schemes.def"
#undef SCHEME
};

size_t pe_scheme_count(void)
{
    return PE_COUNT(SCHEMES);
}

const pe_scheme *pe_scheme_at(size_t index)
{
    assert(index < PE_COUNT(SCHEMES));
    return SCHEMES[index];
}

const pe_scheme *pe_scheme_find(const char *name)
{
    for (size_t i = 0; i < PE_COUNT(SCHEMES); i++)
        if (strcmp(SCHEMES[i]->info.name, name) == 0)
            return SCHEMES[i];
    return NULL;
}

const pe_scheme_info *pe_scheme_describe(const pe_scheme *scheme)
{
    return &scheme->info;
}
