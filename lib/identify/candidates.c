#include "identify/candidates.h"

#include "identify/price.h"
#include "recognise/recognisers.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LOW_PRECISION_BITS 6 /* that it may have been computed in 16 bits */

void pe_candidates_done(pe_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++)
        free(candidates->items[i].proposal);
    free(candidates->items);
    candidates->items = NULL;
    candidates->count = candidates->room = 0;
}

static bool is_same(const pe_proposal *one, const pe_proposal *other)
{
    return one->low_precision == other->low_precision &&
           strcmp(one->query, other->query) == 0 && strcmp(one->tensor, other->tensor) == 0;
}

/* Add a proposal, unless the scheme, whose first one this is, has made it before. */
static bool add_proposal(pe_candidates *self, const pe_scheme *scheme, size_t first,
                         const pe_view *view, const pe_proposal *proposal)
{
    const size_t size = offsetof(pe_proposal, query) + strlen(proposal->query) + 1;
    if (proposal->low_precision && view->element == PE_ELEMENT_F64)
        return true;
    for (size_t i = first; i < self->count; i++)
        if (is_same(self->items[i].proposal, proposal))
            return true;
    if (self->count == self->room) {
        const size_t room = 2 * self->room + 64;
        pe_candidate *items = realloc(self->items, room * sizeof *items);
        if (!items)
            return false;
        self->items = items;
        self->room = room;
    }
    pe_proposal *copy = malloc(size);
    if (!copy)
        return false;
    memcpy(copy, proposal, size);
    self->items[self->count] = (pe_candidate){
        .scheme = scheme,
        .bits = pe_price_request(scheme, proposal->query, proposal->tensor, view) +
                (proposal->low_precision ? LOW_PRECISION_BITS : 0),
        .place = self->count,
        .proposal = copy};
    self->count++;
    return true;
}

static int cheaper_first(const void *a, const void *b)
{
    const pe_candidate *one = a, *other = b;
    if (one->bits != other->bits)
        return one->bits < other->bits ? -1 : 1;
    return one->place < other->place ? -1 : one->place > other->place;
}

bool pe_candidates_collect(pe_candidates *candidates, const pe_scheme *only,
                           pe_observation *seen)
{
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const pe_scheme *scheme = pe_scheme_at(i);
        const size_t first = candidates->count;
        if (only && scheme != only)
            continue;
        pe_collect_proposals(scheme, seen, &candidates->proposals);
        for (size_t p = 0; p < candidates->proposals.count; p++)
            if (!add_proposal(candidates, scheme, first, &seen->view,
                              &candidates->proposals.items[p]))
                return false;
    }
    if (candidates->count > 0)
        qsort(candidates->items, candidates->count, sizeof *candidates->items, cheaper_first);
    return true;
}
