/* A whole trained table on another grid, in the requested dtype. */
#ifndef PE_RESIZED_TABLE_H
#define PE_RESIZED_TABLE_H

#include "trained/resized.h"

/* Which tensor is resized: [y.source · x.source + suffix, columns], a row for each cell. */
typedef struct pe_resized_source {
    const char *name;
    uint64_t columns;
    const pe_recipe *recipe;
    pe_resample y, x;
    uint64_t suffix; /* rows behind those of the grid, which are kept */
} pe_resized_source;

/* Make the table [y.target · x.target + suffix, columns]; each element is rounded once. The
 * caller frees it. NULL if memory ran out or a problem was added to the pace's error. */
unsigned char *pe_resized_table(const pe_resized_source *source, pe_pace *pace);

/* The price of that, and its bytes on the way and in the end, for pe_plan.held. */
double pe_resized_table_price(const pe_values *values, const pe_resized_source *source);
uint64_t pe_resized_table_bytes(const pe_values *values, const pe_resized_source *source);

#endif
