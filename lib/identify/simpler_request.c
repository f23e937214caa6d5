/* Which of several requests for one table is the answer. */
#include "posenc.h"

#include <stdio.h>
#include <string.h>

static size_t count_parameters(const char *query)
{
    size_t count = 1;
    for (; *query; query++)
        count += *query == '&';
    return count;
}

void pe_prefer_simpler(pe_identity *identity, pe_equivalents *equivalents)
{
    if (equivalents->preset_count > 0 || !strstr(identity->query, "&step=-"))
        return;
    for (size_t i = 0; i < equivalents->same_count; i++) {
        pe_same_request *same = &equivalents->same[i];
        if (count_parameters(same->query) + 1 >= count_parameters(identity->query))
            continue;
        const pe_same_request found = *same;
        same->scheme = identity->scheme;
        snprintf(same->query, sizeof same->query, "%s", identity->query);
        snprintf(same->tensor, sizeof same->tensor, "%s", identity->tensor);
        identity->scheme = found.scheme;
        snprintf(identity->query, sizeof identity->query, "%s", found.query);
        snprintf(identity->tensor, sizeof identity->tensor, "%s", found.tensor);
        equivalents->open_count = 0; /* they are of the other one's parameters */
        return;
    }
}
