#include "identify/changed_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pe_trial_value_text(pe_trial *trial, const char *name, char dst[PE_PRINT_MAX])
{
    pe_value value;
    dst[0] = '\0';
    pe_trial_read_value(trial, name, &value, dst);
    return dst;
}

/* ---- the kind ---- */

/* Whether a parameter says how rotary frequencies are scaled. */
static bool is_scaling(const pe_trial *trial, const char *name)
{
    const pe_parameter *row = pe_trial_find_parameter(trial, name);
    return strcmp(name, "rope_type") == 0 ||
           (row && row->when && strcmp(row->when, "rope_type") == 0);
}

static const char *kind_of_change(const char *name)
{
    return strcmp(name, "layout") == 0                                        ? "layout"
           : strcmp(name, "table") == 0                                       ? "width"
           : strcmp(name, "mask") == 0                                        ? "mask"
           : strcmp(name, "rope_theta") == 0 || strcmp(name, "base") == 0     ? "base"
           : strcmp(name, "offset") == 0 || strcmp(name, "query_offset") == 0 ? "shift"
                                                                              : "parameter";
}

static const char *find_kind(const pe_trial *trial, bool tensor)
{
    const pe_explanation *found = trial->found;
    bool scaling = false, other = tensor;
    for (size_t i = 0; i < found->change_count; i++)
        if (is_scaling(trial, found->changes[i].name))
            scaling |=
                strcmp(found->changes[i].name, "rope_type") == 0 || found->change_count > 1;
        else
            other = true;
    return found->change_count == 0              ? "tensor"
           : scaling && !other                   ? "scaling"
           : found->change_count == 1 && !tensor ? kind_of_change(found->changes[0].name)
                                                 : "several";
}

/* ---- the sentence ---- */

/* What is said of some changes before they are named. */
static const char *begin_sentence(pe_trial *trial, const char *kind)
{
    const pe_change *first = trial->found->changes;
    char before[PE_PRINT_MAX];
    if (strcmp(kind, "layout") == 0)
        return "The columns are in another order: the";
    if (strcmp(first->name, "inverse") == 0)
        return "Turned the other way: the";
    if (strcmp(kind, "width") == 0)
        return strcmp(first->value, "full") == 0 ? "Full width for half: the"
                                                 : "Half width for full: the";
    if (strcmp(kind, "scaling") != 0 || strcmp(first->name, "rope_type") != 0)
        return "The";
    if (strcmp(pe_trial_value_text(trial, "rope_type", before), "default") == 0)
        return "A scaling is forgotten: the";
    return first->value[0] == '\0' || strcmp(first->value, "default") == 0
               ? "The frequencies are not scaled: the"
               : "Another scaling: the";
}

/* Add text to the sentence. */
static void add(pe_explanation *found, const char *text, const char *more)
{
    const size_t used = strlen(found->sentence);
    snprintf(found->sentence + used, sizeof found->sentence - used, "%s%s", text, more);
}

/* Name a change. Keys of a scaling that is gone as a whole are not named. */
static bool add_change(pe_trial *trial, const pe_change *change, bool unscaled, bool first)
{
    char before[PE_PRINT_MAX];
    pe_explanation *found = trial->found;
    const bool gone = change->value[0] == '\0' || (strcmp(change->name, "rope_type") == 0 &&
                                                   strcmp(change->value, "default") == 0);
    pe_trial_value_text(trial, change->name, before);
    if (gone && unscaled && strcmp(change->name, "rope_type") != 0 &&
        is_scaling(trial, change->name))
        return false;
    add(found, first ? "" : ", and ", gone ? "without " : "of ");
    add(found, change->name, "=");
    add(found, gone ? before : change->value, "");
    if (!gone && before[0] &&
        (strcmp(before, "default") != 0 || strcmp(change->name, "rope_type") != 0))
        add(found, ", not ", before);
    else if (!gone && found->change_count == 1)
        add(found, ", which the request leaves out", "");
    return true;
}

/* Say by how many rows positions are shifted. */
static bool say_shift(pe_trial *trial, const pe_change *change)
{
    pe_value before, step = {.real = 1};
    char text[PE_PRINT_MAX];
    pe_trial_read_value(trial, change->name, &before, text);
    if (strcmp(change->name, "offset") == 0)
        pe_trial_read_value(trial, "step", &step, text);
    const double rows = (strtod(change->value, NULL) - before.real) / step.real;
    return pe_trial_say(trial, "shift",
                        "Shifted by %g row%s: row r of the %s is row r %c %g of the exact "
                        "one, %s=%s.",
                        fabs(rows), fabs(rows) == 1 ? "" : "s", trial->subject->name,
                        rows > 0 ? '+' : '-', fabs(rows), change->name, change->value);
}

bool pe_say_changes(pe_trial *trial, const char *tensor)
{
    pe_explanation *found = trial->found;
    const bool other = strcmp(tensor, found->tensor) != 0;
    bool first = true, unscaled = false;
    found->kind = find_kind(trial, other);
    found->sentence[0] = '\0';
    for (size_t i = 0; i < found->change_count; i++)
        unscaled |= strcmp(found->changes[i].name, "rope_type") == 0;
    if (strcmp(found->kind, "tensor") == 0)
        return pe_trial_say(trial, "tensor", "The %s is the tensor %s, not %s.",
                            trial->subject->name, found->tensor, tensor);
    if (strcmp(found->kind, "shift") == 0)
        return say_shift(trial, found->changes);
    add(found, begin_sentence(trial, found->kind), " ");
    add(found, trial->subject->name, " is that ");
    for (size_t i = 0; i < found->change_count; i++)
        if (add_change(trial, &found->changes[i], unscaled, first))
            first = false;
    if (other) {
        add(found, ", and of the tensor ", found->tensor);
        add(found, ", not ", tensor);
    }
    add(found, ".", "");
    return true;
}

bool pe_try_changes(pe_trial *trial, const char *const *changes)
{
    return pe_trial_fits_changed(trial, changes) && pe_say_changes(trial, trial->tensor);
}

bool pe_try_value(pe_trial *trial, const char *name, const char *text)
{
    char before[PE_PRINT_MAX];
    const char *const changes[] = {name, text, NULL};
    return strcmp(pe_trial_value_text(trial, name, before), text) != 0 &&
           pe_try_changes(trial, changes);
}
