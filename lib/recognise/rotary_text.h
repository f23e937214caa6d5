/* Rotary laws as the text of requests. */
#ifndef PE_ROTARY_TEXT_H
#define PE_ROTARY_TEXT_H

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

/* The same with rows as text, "length=4", or "positions=3,1,4" with a step of 0. A step of 1/n
 * is said as linear interpolation by n. */
void pe_rotary_propose_rows(const pe_rotary_table *table, const pe_rotary *rotary,
                            const char *rows, double offset, double step,
                            pe_proposals *proposals);

#endif
