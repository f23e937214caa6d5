/* Values of parameters that a request has otherwise than the one that was asked, tried and
 * said. */
#ifndef PE_CHANGED_VALUES_H
#define PE_CHANGED_VALUES_H

#include "identify/explanation_trial.h"

/* Try other values, as pe_trial_fits_changed, and say which they are. False: they do not fit,
 * or change nothing. */
bool pe_try_changes(pe_trial *trial, const char *const *changes);
bool pe_try_value(pe_trial *trial, const char *name, const char *text);

/* Say in which values and in which tensor trial->found differs from what was asked, that is
 * trial->query and `tensor`. Returns true. */
bool pe_say_changes(pe_trial *trial, const char *tensor);

/* The text of a parameter in a request of trial->query; "" if it has no value. */
const char *pe_trial_value_text(pe_trial *trial, const char *name, char dst[PE_PRINT_MAX]);

#endif
