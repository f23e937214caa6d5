/* Rows: fast sums with bounds, and exact ones where these decide nothing. */
#include "apply/rows.h"

#include "apply/sum.h"
#include "kernels/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARRAYS 11

bool pe_row_room_init(pe_row_room *ret_room, size_t most)
{
    pe_row_room *room = ret_room;
    *room = (pe_row_room){.memory = malloc(ARRAYS * most * sizeof(double))};
    if (!room->memory)
        return false;
    double **arrays[ARRAYS] = {&room->x,         &room->y,         &room->rounded,
                               &room->turned,    &room->table[0],  &room->table[1],
                               &room->table[2],  &room->table[3],  &room->sums.value,
                               &room->sums.rest, &room->sums.bound};
    for (size_t i = 0; i < ARRAYS; i++)
        *arrays[i] = room->memory + i * most;
    return true;
}

void pe_row_room_done(pe_row_room *room)
{
    free(room->memory);
    *room = (pe_row_room){.memory = NULL};
}

static dd find_entry(pe_entry_row row, size_t column)
{
    return (dd){row.hi[column], row.lo[column]};
}

/* The sums of a row from one on. Only those of f64 have rests. */
static pe_sums find_sums(const pe_row_rule *rule, const pe_row_room *room, size_t first)
{
    bool wide = rule->dtype == PE_F64;
    return (pe_sums){room->sums.value + first, wide ? room->sums.rest + first : NULL,
                     room->sums.bound + first};
}

/* ---- one entry for one number ---- */

static double settle_one(const pe_row_rule *rule, double number, dd entry)
{
    pe_sum sum = {.unsure = rule->unsure};
    if (rule->kind == PE_APPLY_MULTIPLY) {
        pe_sum_add(&sum, number, entry);
    } else {
        pe_sum_add(&sum, number, (dd){1, 0});
        pe_sum_add(&sum, rule->scale, entry);
    }
    return pe_sum_rounded(&sum, rule->dtype);
}

/* The same of rounded entries where a number is infinite or NaN; false else. */
static bool settle_infinite(const pe_row_rule *rule, double number, double entry,
                            double *ret_rounded)
{
    pe_sum sum = {.nan = false};
    bool infinite =
        pe_sum_add_infinite(&sum, number, rule->kind == PE_APPLY_MULTIPLY ? entry : 1);
    if (rule->kind != PE_APPLY_MULTIPLY)
        infinite |= pe_sum_add_infinite(&sum, rule->scale, entry);
    if (infinite)
        *ret_rounded = pe_sum_rounded(&sum, rule->dtype);
    return infinite;
}

static void apply_each(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                       pe_entries *table, uint64_t row, double *ret_rounded)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    const pe_entry_row entries = pe_entries_rows(table, row);
    const pe_sums sums = find_sums(rule, room, 0);
    if (rule->kind == PE_APPLY_MULTIPLY)
        kernel->multiply(numbers, entries, rule->columns, sums);
    else
        kernel->add(numbers, rule->scale, entries, rule->columns, sums);
    kernel->decide(rule->dtype, sums, rule->columns, ret_rounded);
    for (size_t i = 0; i < rule->columns; i++)
        if (isnan(ret_rounded[i]) &&
            !settle_infinite(rule, numbers[i], entries.hi[i], &ret_rounded[i]))
            ret_rounded[i] =
                settle_one(rule, numbers[i], find_entry(pe_entries_exact(table, row), i));
}

/* ---- rotations ---- */

typedef struct pair_entry {
    double cosine, sine; /* rounded */
} pair_entry;

/* x · cosine - y · sine of a pair, exactly. Of numbers that are not finite the rounded entries,
 * which are given, suffice. */
static double settle_turn(const pe_row_rule *rule, double x, double y, pair_entry entry,
                          pe_entries *tables, uint64_t row, size_t pair)
{
    size_t column = rule->full ? rule->one[pair] : pair;
    pe_sum sum = {.unsure = rule->unsure};
    bool infinite = pe_sum_add_infinite(&sum, x, entry.cosine);
    infinite |= pe_sum_add_infinite(&sum, -y, entry.sine);
    if (infinite)
        return pe_sum_rounded(&sum, rule->dtype);
    pe_sum_add(&sum, x, find_entry(pe_entries_exact(&tables[0], row), column));
    pe_sum_add(&sum, -y, find_entry(pe_entries_exact(&tables[1], row), column));
    return pe_sum_rounded(&sum, rule->dtype);
}

/* The entries of the pairs, which are in the columns of each pair's first half. */
static pe_entry_row gather(const pe_row_rule *rule, pe_entry_row row, double *hi, double *lo)
{
    for (size_t p = 0; p < rule->pairs; p++) {
        hi[p] = row.hi[rule->one[p]];
        if (row.lo)
            lo[p] = row.lo[rule->one[p]];
    }
    return (pe_entry_row){hi, row.lo ? lo : NULL};
}

/* Round the columns that are in no pair: they come before, and the pairs are written over them.
 */
static void pass(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                 double *ret_rounded)
{
    const pe_sums sums = find_sums(rule, room, 0);
    memcpy(sums.value, numbers, rule->columns * sizeof *numbers);
    memset(sums.bound, 0, rule->columns * sizeof *sums.bound);
    if (sums.rest)
        memset(sums.rest, 0, rule->columns * sizeof *sums.rest);
    pe_kernel_get()->applying->decide(rule->dtype, sums, rule->columns, ret_rounded);
    for (size_t i = 0; i < rule->columns; i++)
        if (isnan(ret_rounded[i]))
            ret_rounded[i] = isnan(numbers[i]) ? (double)NAN : numbers[i]; /* infinite */
}

static void turn(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                 pe_entries *tables, uint64_t row, double *ret_rounded)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    const size_t pairs = rule->pairs;
    pe_entry_row cosines = pe_entries_rows(&tables[0], row);
    pe_entry_row sines = pe_entries_rows(&tables[1], row);
    if (rule->full) {
        cosines = gather(rule, cosines, room->table[0], room->table[1]);
        sines = gather(rule, sines, room->table[2], room->table[3]);
    }
    for (size_t p = 0; p < pairs; p++) {
        room->x[p] = numbers[rule->one[p]];
        room->y[p] = numbers[rule->other[p]];
    }
    kernel->rotate(room->x, room->y, rule->turn, cosines, sines, pairs,
                   find_sums(rule, room, 0));
    kernel->rotate(room->y, room->x, -rule->turn, cosines, sines, pairs,
                   find_sums(rule, room, pairs));
    kernel->decide(rule->dtype, find_sums(rule, room, 0), 2 * pairs, room->turned);
    for (size_t p = 0; p < pairs; p++) {
        double x = room->x[p], y = room->y[p];
        const pair_entry entry = {cosines.hi[p], sines.hi[p]};
        if (isnan(room->turned[p]))
            room->turned[p] = settle_turn(rule, x, rule->turn * y, entry, tables, row, p);
        if (isnan(room->turned[pairs + p]))
            room->turned[pairs + p] =
                settle_turn(rule, y, -rule->turn * x, entry, tables, row, p);
        ret_rounded[rule->one[p]] = room->turned[p];
        ret_rounded[rule->other[p]] = room->turned[pairs + p];
    }
}

/* ---- combinations ---- */

bool pe_row_settle_infinite(const pe_row_rule *rule, const double *numbers,
                            pe_entry_row entries, size_t step, double *ret_rounded)
{
    pe_sum sum = {.nan = false};
    bool infinite = false;
    for (size_t i = 0; i < rule->columns; i++)
        infinite |= pe_sum_add_infinite(&sum, numbers[i], entries.hi[i * step]);
    if (infinite)
        *ret_rounded = pe_sum_rounded(&sum, rule->dtype);
    return infinite;
}

double pe_row_settle(const pe_row_rule *rule, const double *numbers, pe_entry_row entries,
                     size_t step)
{
    pe_sum sum = {.unsure = rule->unsure};
    for (size_t i = 0; i < rule->columns; i++)
        pe_sum_add(&sum, numbers[i], find_entry(entries, i * step));
    return pe_sum_rounded(&sum, rule->dtype);
}

static void combine(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                    pe_entries *table, uint64_t row, double *ret_rounded)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    const pe_sums sums = find_sums(rule, room, 0);
    const pe_entry_row entries = pe_entries_rows(table, row);
    kernel->combine(numbers, entries, rule->columns, rule->results, sums);
    kernel->decide(rule->dtype, sums, rule->results, ret_rounded);
    for (size_t j = 0; j < rule->results; j++)
        if (isnan(ret_rounded[j]) &&
            !pe_row_settle_infinite(rule, numbers, (pe_entry_row){.hi = entries.hi + j},
                                    rule->results, &ret_rounded[j])) {
            pe_entry_row exact = pe_entries_exact(table, row);
            exact = (pe_entry_row){exact.hi + j, exact.lo + j};
            ret_rounded[j] = pe_row_settle(rule, numbers, exact, rule->results);
        }
}

void pe_row_apply(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                  pe_entries *tables, uint64_t row, double *ret_rounded)
{
    switch (rule->kind) {
    case PE_APPLY_ADD:
    case PE_APPLY_MULTIPLY:
        apply_each(rule, room, numbers, &tables[0], row, ret_rounded);
        return;
    case PE_APPLY_ROTATE:
        if (2 * rule->pairs < rule->columns)
            pass(rule, room, numbers, ret_rounded);
        turn(rule, room, numbers, tables, row, ret_rounded);
        return;
    case PE_APPLY_COMBINE:
        combine(rule, room, numbers, &tables[0], row, ret_rounded);
        return;
    case PE_APPLY_CONTRACT: /* pe_row_indexed */
    case PE_APPLY_GATHER:
        return;
    }
}
