/* The table of recognisers. */
#include "recognise/recognisers.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *scheme;
    pe_recogniser *recognise;
} RECOGNISERS[] = {
#define RECOGNISER(scheme) {#scheme, pe_recognise_##scheme},
#include "recognise/recognisers.def"
#undef RECOGNISER
};

static pe_recogniser *find_recogniser(const pe_scheme *scheme)
{
    for (size_t i = 0; i < PE_COUNT(RECOGNISERS); i++)
        if (strcmp(RECOGNISERS[i].scheme, scheme->info.name) == 0)
            return RECOGNISERS[i].recognise;
    return NULL;
}

bool pe_scheme_is_recognised(const pe_scheme *scheme)
{
    return find_recogniser(scheme) != NULL;
}

void pe_collect_proposals(const pe_scheme *scheme, pe_observation *seen,
                          pe_proposals *ret_proposals)
{
    pe_recogniser *recognise = find_recogniser(scheme);
    memset(ret_proposals, 0, offsetof(pe_proposals, items));
    if (recognise)
        recognise(seen, ret_proposals);
}
