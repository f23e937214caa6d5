/* Applying an encoding to one row of numbers. */
#ifndef PE_APPLY_ROWS_H
#define PE_APPLY_ROWS_H

#include "apply/entries.h"
#include "numerics/dd.h"

/* How rows are made: what all rows of one application share. */
typedef struct pe_row_rule {
    pe_application_kind kind;
    pe_dtype dtype;              /* of the results */
    double unsure;               /* as in pe_sum */
    double scale;                /* of PE_APPLY_ADD */
    double turn;                 /* of PE_APPLY_ROTATE: 1, or -1 for the other way */
    size_t columns, results;     /* numbers of a row, and results */
    size_t pairs;                /* that are turned; columns in no pair stay as they are */
    size_t first;                /* the first column that a table has */
    const uint32_t *one, *other; /* [pairs]: their columns */
    const uint32_t *to_one, *to_other; /* [pairs]: those of the result */
    size_t axes;         /* of positions, each of which has a row of the entries: 1, or */
    const int32_t *axis; /* [pairs]: by which of them a pair turns; below 0: any */
    bool full;           /* tables have a column for each of a row, not for each pair */
    bool scaled;         /* the row is multiplied by `factor`, too; all entries are
                          * known as pairs then */
    dd factor;
} pe_row_rule;

/* By which axis of positions a pair turns. */
static inline size_t pe_row_axis(const pe_row_rule *rule, size_t pair)
{
    return rule->axes > 1 && rule->axis[pair] > 0 ? (size_t)rule->axis[pair] : 0;
}

/* Room for rows: arrays of as many doubles as a row has columns or results. */
typedef struct pe_row_room {
    double *memory;
    double *x, *y, *rounded, *turned;
    double *table[4]; /* cosines, their low parts, sines, theirs */
    pe_sums sums;
} pe_row_room;

/* Allocate for rows of up to `most` columns or results; false without memory. */
bool pe_row_room_init(pe_row_room *ret_room, size_t most);
void pe_row_room_done(pe_row_room *room);

/* Write the results of one row, rounded: NaN, infinities and numbers that the dtype has.
 * `rows` has that of the entries in tables[0], for each axis of positions; of a rotation, those
 * are the cosines, and the sines are in tables[1]. */
void pe_row_apply(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                  pe_entries *tables, const uint64_t *rows, double *ret_rounded);

/* The same of columns [first, first + count) of a row, for PE_APPLY_ADD and PE_APPLY_MULTIPLY.
 */
void pe_row_apply_part(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                       pe_entries *table, uint64_t row, size_t first, size_t count,
                       double *ret_rounded);

/* Round a row that stays as it is. */
void pe_row_keep(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                 double *ret_rounded);

/* The same sum as below where some product is not finite: such a one decides it, and rounded
 * entries suffice. False: all are finite. */
bool pe_row_settle_infinite(const pe_row_rule *rule, const double *numbers,
                            pe_entry_row entries, size_t step, double *ret_rounded);

/* The sum of numbers[i] · entries[i · step] over the columns, exactly, and rounded once. The
 * entries are pairs. */
double pe_row_settle(const pe_row_rule *rule, const double *numbers, pe_entry_row entries,
                     size_t step);

#endif
