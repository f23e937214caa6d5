/* Rotary laws as requests. */
#ifndef PE_ROTARY_REQUESTS_H
#define PE_ROTARY_REQUESTS_H

#include "recognise/rotary_laws.h"
#include "recognise/wave_law.h"

/* A table of one arrangement: `columns` are those of the first copy of each frequency. */
typedef struct pe_rotary_table {
    const char *tensor, *query;
    pe_columns columns;
    bool sines;
    unsigned long long rows;
} pe_rotary_table;

/* Propose a law for a table. */
void pe_rotary_propose(const pe_rotary_table *table, const pe_rotary_law *law,
                       pe_proposals *proposals);

/* Propose a law, or without one all that are published, if the rows of a table have positions
 * by it. */
void pe_rotary_propose_positions(const pe_observation *seen, const pe_rotary_table *table,
                                 const pe_rotary *rotary, pe_proposals *proposals);

#endif
