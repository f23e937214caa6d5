/* A whole trained table on another grid, in the requested dtype. */
#ifndef PE_RESIZED_TABLE_H
#define PE_RESIZED_TABLE_H

#include "trained/resized.h"

/* Make the table [y.target · x.target + suffix, columns]; each element is rounded once.
 * NULL if memory ran out or a problem was added to the pace's error. */
unsigned char *pe_resized_table(const pe_resized_source *source, pe_pace *pace);

/* The price of that, and its bytes on the way and in the end, for pe_plan.held. */
double pe_resized_table_price(const pe_resized_source *source);
uint64_t pe_resized_table_bytes(const pe_resized_source *source);

#endif
