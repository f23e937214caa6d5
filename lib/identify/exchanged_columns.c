/* Explaining by entries that are right but for their places or their sign: columns in an order
 * that no layout has, alone or besides another mistake. */
#include "foreign/ordered_view.h"
#include "identify/compared_lines.h"
#include "identify/mapped_view.h"
#include "identify/mistakes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is said of a table that is seen otherwise. */
static const char *const SENTENCES[] = {
    ("The columns are in another order: columns 2i and 2i + 1 are exchanged, as where cosines "
     "and sines are."),
    "The columns are in another order: the halves are exchanged.",
    "The columns are in another order: the halves alternate.",
    "The columns are in another order: even columns stand before odd ones.",
    "The columns are in another order: they are reversed.",
    "The columns are in another order: those of each half are reversed.",
    "The columns are in another order: pairs of neighbours are reversed.",
    "Every finite entry has the other sign."};
#define ORDERS (PE_COUNT(SENTENCES) - 1)

/* A table with its columns in another order, or with the other sign. */
typedef struct changed_view {
    pe_ordered_view ordered;
    pe_mapped_view negated;
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
    pe_view view;
} changed_view;

/* Room for one; NULL, with a problem: memory ran out. */
static changed_view *make_room(pe_trial *trial)
{
    changed_view *self = calloc(1, sizeof *self);
    if (!self)
        pe_error_add(trial->reterr, PE_NO_MEMORY, "", "", "memory for the explanation");
    return self;
}

/* The column of the exact table that stands in a column of the other one. */
static uint64_t find_column(size_t order, uint64_t column, uint64_t columns)
{
    const uint64_t half = columns / 2;
    const uint64_t found[ORDERS] = {column ^ 1,
                                    (column + half) % columns,
                                    column % 2 * half + column / 2,
                                    column % half * 2 + column / half,
                                    columns - 1 - column,
                                    column / half * half + half - 1 - column % half,
                                    columns - 2 - column / 2 * 2 + column % 2};
    return found[order];
}

/* See a table as it is without a change; pe_ordered_view_done ends it. False: that cannot be.
 */
static bool undo_change(changed_view *self, const pe_view *view, size_t change)
{
    const uint64_t columns = pe_view_columns(view);
    memset(&self->ordered, 0, sizeof self->ordered);
    if (change == ORDERS) {
        pe_mapped_view_init(&self->negated, view, PE_MAP_NEGATE_FINITE, 1, 0, &self->view);
        return true;
    }
    if (view->rank != 2 || columns % 2 > 0 || columns > PE_COUNT(self->order))
        return false;
    for (uint64_t c = 0; c < columns; c++)
        self->order[find_column(change, c, columns)] = (uint16_t)c;
    return pe_ordered_view_init(&self->ordered, view, self->order, &self->view);
}

/* Columns in another order, where no layout has it. */
bool pe_find_columns(pe_trial *trial)
{
    changed_view *self = make_room(trial);
    bool found = false;
    for (size_t i = 0; self && i < ORDERS && !found; i++) {
        found = undo_change(self, &trial->view, i) &&
                pe_trial_fits(trial, trial->query, trial->tensor, &self->view, 1) &&
                pe_trial_say(trial, "columns", "%s", SENTENCES[i]);
        pe_ordered_view_done(&self->ordered);
    }
    free(self);
    return found;
}

/* The change without which least is left of what the trial's request is off by; all if there is
 * none. */
static size_t find_nearest_change(pe_trial *trial, changed_view *self, double far)
{
    size_t nearest = PE_COUNT(SENTENCES);
    for (size_t i = 0; i < PE_COUNT(SENTENCES); i++) {
        trial->measures = true;
        if (undo_change(self, &trial->view, i) &&
            !pe_trial_fits(trial, trial->query, trial->tensor, &self->view, 1) &&
            trial->far < far) {
            far = trial->far;
            nearest = i;
        }
        trial->measures = false;
        pe_ordered_view_done(&self->ordered);
    }
    return nearest;
}

bool pe_find_besides_change(pe_trial *trial, double far, bool (*find)(pe_trial *))
{
    changed_view *self = make_room(trial);
    const pe_view view = trial->view;
    pe_explanation *found = trial->found;
    char sentence[sizeof found->sentence];
    bool is_found = false;
    const size_t change = self ? find_nearest_change(trial, self, far) : PE_COUNT(SENTENCES);
    if (change < PE_COUNT(SENTENCES) && undo_change(self, &view, change)) {
        trial->view = self->view;
        pe_forget_proposals(trial);
        is_found = find(trial);
        pe_forget_proposals(trial);
        trial->view = view;
        pe_ordered_view_done(&self->ordered);
    }
    if (is_found) {
        memcpy(sentence, found->sentence, sizeof sentence);
        snprintf(found->sentence, sizeof found->sentence, "%s Besides: %.500s",
                 SENTENCES[change], sentence);
        found->kind = "several";
        found->factor = change == ORDERS ? -found->factor : found->factor;
    }
    free(self);
    return is_found;
}
