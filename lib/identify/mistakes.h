/* The usual mistakes of requests, each tried on a table, or on the result of an application. */
#ifndef PE_MISTAKES_H
#define PE_MISTAKES_H

#include "identify/explanation_trial.h"

/* Find out which mistake explains the trial's subject, of the right shape. False: none does. */
bool pe_find_mistake(pe_trial *trial);

/* Each of mistakes.def: find out whether it is the one, and say it. */
#define MISTAKE(subjects, find) bool find(pe_trial *trial);
#include "identify/mistakes.def"
#undef MISTAKE

/* Find a mistake besides another order of columns or the other sign: that of these after which
 * a table is least off, and less than `far`. Says both. */
bool pe_find_besides_change(pe_trial *trial, double far, bool (*find)(pe_trial *));

/* Free what a scheme has proposed for the table. */
void pe_forget_proposals(pe_trial *trial);

/* Whether a table has fewer indices of the first axis than the exact tensor, whose shape this
 * is, and is its beginning or its end. */
bool pe_find_fewer(pe_trial *trial, const pe_view *shape);

#endif
