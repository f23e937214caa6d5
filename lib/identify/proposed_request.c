/* A mistake that is found by what a scheme proposes for the table: the parameters in which that
 * request differs from the one that was asked. */
#include "foreign/narrow_view.h"
#include "identify/changed_values.h"
#include "identify/compared_lines.h"
#include "identify/mistakes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values that a proposed request has otherwise than the one that was asked. */
typedef struct difference {
    size_t count;
    char texts[PE_CHANGES_MAX][PE_PRINT_MAX];
    const char *changes[2 * PE_CHANGES_MAX + 1]; /* as pe_trial_fits_changed takes them */
} difference;

/* The text of a value in a request; "" if it has none. */
static bool write_value(const pe_request *request, size_t index, char dst[PE_PRINT_MAX])
{
    const pe_value *value = pe_request_value(request, index);
    dst[0] = '\0';
    return !value->present ||
           pe_write_value_text(
               pe_parameter_at(pe_scheme_describe(pe_request_scheme(request)), index), value,
               dst);
}

/* Find the values. False: there are too many, or they are too long. */
static bool find_difference(const pe_trial *trial, const pe_request *asked,
                            const pe_request *proposed, difference *ret)
{
    const pe_scheme_info *info = &trial->scheme->info;
    ret->count = 0;
    for (size_t i = 0; i < info->parameter_count; i++) {
        char one[PE_PRINT_MAX], other[PE_PRINT_MAX];
        if (!write_value(asked, i, one) || !write_value(proposed, i, other))
            return false;
        if (strcmp(one, other) == 0)
            continue;
        if (ret->count == PE_CHANGES_MAX)
            return false;
        memcpy(ret->texts[ret->count], other, sizeof other);
        ret->changes[2 * ret->count] = info->parameters[i].name;
        ret->changes[2 * ret->count + 1] = ret->texts[ret->count];
        ret->count++;
    }
    ret->changes[2 * ret->count] = NULL;
    return true;
}

/* Try the request that was asked with these values, without those that change nothing. */
static bool try_difference(pe_trial *trial, difference *self)
{
    const bool fits = pe_trial_fits_changed(trial, self->changes);
    if (!fits || self->count == 1)
        return fits;
    for (size_t i = self->count; i-- > 0;) {
        const char *name = self->changes[2 * i];
        self->changes[2 * i] = "";
        if (!pe_trial_fits_changed(trial, self->changes))
            self->changes[2 * i] = name;
    }
    return pe_trial_fits_changed(trial, self->changes);
}

/* Try a scaling of all frequencies in place of a step, which is the same. */
static bool try_linear(pe_trial *trial, const difference *self)
{
    pe_value step;
    char before[PE_PRINT_MAX], factor[PE_PRINT_MAX];
    const char *const changes[] = {"rope_type", "linear", "factor", factor, NULL};
    if (self->count != 1 || strcmp(self->changes[0], "step") != 0 ||
        !pe_trial_read_value(trial, "step", &step, before))
        return false;
    pe_print_number(factor, pe_find_decimal(step.real / strtod(self->changes[1], NULL), 1e-7));
    pe_trial_value_text(trial, "rope_type", before);
    return strcmp(before, "default") == 0 && pe_trial_fits_changed(trial, changes);
}

/* Try what was asked with the values of a proposal. */
static bool try_proposal(pe_trial *trial, const pe_request *asked, const pe_proposal *proposal)
{
    char given[sizeof trial->tensor];
    difference self;
    pe_request *proposed = pe_trial_make_request(trial, proposal->query, trial->dtype);
    bool found = proposed && find_difference(trial, asked, proposed, &self) &&
                 (self.count > 0 || strcmp(trial->tensor, proposal->tensor) != 0);
    pe_request_unref(proposed);
    if (!found)
        return false;
    memcpy(given, trial->tensor, sizeof given);
    memcpy(trial->tensor, proposal->tensor, sizeof given);
    found = try_linear(trial, &self) || try_difference(trial, &self);
    memcpy(trial->tensor, given, sizeof given);
    return found && pe_say_changes(trial, trial->tensor);
}

/* Look at the table as a scheme's recogniser does: at its numbers, whatever they are stored as.
 * False: those are of another format than the one that is tried. */
static bool begin_view(pe_trial *trial, pe_narrow_view *narrow, pe_observation *ret_seen)
{
    pe_view view = trial->view;
    if (trial->format != trial->dtype) {
        if (!pe_narrow_view_find(&trial->view, narrow))
            return false;
        view = pe_narrow_view_make(narrow);
    }
    const bool good = pe_observation_begin(ret_seen, &view);
    ret_seen->runner = &trial->runner.own;
    if (!good)
        pe_observation_end(ret_seen);
    return good;
}

/* Collect what the scheme proposes, once. */
static void collect_proposals(pe_trial *trial)
{
    pe_narrow_view narrow;
    pe_observation seen;
    const double columns = (double)pe_view_columns(&trial->view);
    if (trial->looked || !pe_trial_spend(trial, PE_PROPOSALS_PRICE(columns)))
        return;
    trial->looked = true;
    trial->proposed = calloc(1, sizeof *trial->proposed);
    if (!trial->proposed || !begin_view(trial, &narrow, &seen))
        return;
    if (!pe_observation_is_constant(&seen)) /* of which any request may be */
        pe_candidates_collect(trial->proposed, trial->scheme, &seen);
    pe_observation_end(&seen);
}

void pe_forget_proposals(pe_trial *trial)
{
    if (trial->proposed)
        pe_candidates_done(trial->proposed);
    free(trial->proposed);
    trial->proposed = NULL;
    trial->looked = false;
}

bool pe_find_proposed_request(pe_trial *trial)
{
    bool found = false;
    collect_proposals(trial);
    pe_request *asked = pe_trial_make_request(trial, trial->query, trial->dtype);
    for (size_t i = 0; asked && trial->proposed && !found && i < trial->proposed->count &&
                       pe_search_may_continue(&trial->runner);
         i++)
        found = try_proposal(trial, asked, trial->proposed->items[i].proposal);
    pe_request_unref(asked);
    return found;
}
