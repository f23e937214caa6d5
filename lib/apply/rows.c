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

static double round_exact_sum(const pe_row_rule *rule, bool product, double number, dd entry)
{
    pe_sum sum = {.unsure = rule->unsure};
    if (product) {
        pe_sum_add(&sum, number, entry);
    } else {
        pe_sum_add(&sum, number, (dd){1, 0});
        pe_sum_add(&sum, rule->scale, entry);
    }
    return pe_sum_rounded(&sum, rule->dtype);
}

/* The same of rounded entries where a number is infinite or NaN; false else. */
static bool settle_infinite(const pe_row_rule *rule, bool product, double number, double entry,
                            double *ret_rounded)
{
    pe_sum sum = {.nan = false};
    bool infinite = pe_sum_add_infinite(&sum, number, product ? entry : 1);
    if (!product)
        infinite |= pe_sum_add_infinite(&sum, rule->scale, entry);
    if (infinite)
        *ret_rounded = pe_sum_rounded(&sum, rule->dtype);
    return infinite;
}

void pe_row_apply_part(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                       pe_entries *table, uint64_t row, size_t first, size_t count,
                       double *ret_rounded)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    const pe_entry_row all = pe_entries_rows(table, row);
    const pe_entry_row entries = {all.hi + first, all.lo ? all.lo + first : NULL};
    const pe_sums sums = find_sums(rule, room, 0);
    bool product = rule->kind == PE_APPLY_MULTIPLY;
    if (product)
        kernel->multiply(numbers, entries, count, sums);
    else
        kernel->add(numbers, rule->scale, entries, count, sums);
    kernel->decide(rule->dtype, sums, count, ret_rounded);
    for (size_t i = 0; i < count; i++)
        if (isnan(ret_rounded[i]) &&
            !settle_infinite(rule, product, numbers[i], entries.hi[i], &ret_rounded[i]))
            ret_rounded[i] = round_exact_sum(
                rule, product, numbers[i], find_entry(pe_entries_exact(table, row), first + i));
}

/* ---- rotations ---- */

/* The entries of the pairs: cosines (0) or sines (1). */
static pe_entry_row find_pairs(const pe_row_rule *rule, pe_row_room *room, pe_entries *tables,
                               size_t which, const uint64_t *rows)
{
    double *hi = room->table[2 * which], *lo = room->table[2 * which + 1];
    pe_entry_row entries = {.hi = NULL};
    for (size_t axis = 0; axis < rule->axes; axis++) {
        entries = pe_entries_rows(&tables[which], rows[axis]);
        if (!rule->full && !rule->scaled && rule->axes == 1)
            return entries;
        for (size_t p = 0; p < rule->pairs; p++) {
            size_t column = rule->full ? rule->one[p] - rule->first : p;
            if (pe_row_axis(rule, p) != axis)
                continue;
            hi[p] = entries.hi[column];
            if (entries.lo)
                lo[p] = entries.lo[column];
            if (rule->scaled) {
                dd product = dd_mul(find_entry(entries, column), rule->factor);
                hi[p] = product.hi;
                lo[p] = product.lo;
            }
        }
    }
    return (pe_entry_row){hi, entries.lo ? lo : NULL};
}

/* The entries of rotated rows. */
typedef struct turned_row {
    pe_entry_row entries[2]; /* of the pairs: cosines, sines */
    pe_entries *tables;
    const uint64_t *rows;
} turned_row;

/* An entry of a pair, as exact as it is known. */
static dd find_exact(const pe_row_rule *rule, const turned_row *turning, size_t which,
                     size_t pair)
{
    size_t column = rule->full ? rule->one[pair] - rule->first : pair;
    const uint64_t row = turning->rows[pe_row_axis(rule, pair)];
    return rule->scaled ? find_entry(turning->entries[which], pair)
                        : find_entry(pe_entries_exact(&turning->tables[which], row), column);
}

/* x · cosine - y · sine of a pair, exactly. Of numbers that are not finite the rounded entries
 * suffice. */
static double settle_turn(const pe_row_rule *rule, double x, double y,
                          const turned_row *turning, size_t pair)
{
    pe_sum sum = {.unsure = rule->unsure};
    bool infinite = pe_sum_add_infinite(&sum, x, turning->entries[0].hi[pair]);
    infinite |= pe_sum_add_infinite(&sum, -y, turning->entries[1].hi[pair]);
    if (infinite)
        return pe_sum_rounded(&sum, rule->dtype);
    pe_sum_add(&sum, x, find_exact(rule, turning, 0, pair));
    pe_sum_add(&sum, -y, find_exact(rule, turning, 1, pair));
    return pe_sum_rounded(&sum, rule->dtype);
}

void pe_row_keep(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
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

/* Multiply a row by its factor. */
static void multiply_row(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                         double *ret_rounded)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    const pe_sums sums = find_sums(rule, room, 0);
    double *hi = room->table[0], *lo = room->table[1];
    for (size_t i = 0; i < rule->columns; i++) {
        hi[i] = rule->factor.hi;
        lo[i] = rule->factor.lo;
    }
    kernel->multiply(numbers, (pe_entry_row){hi, lo}, rule->columns, sums);
    kernel->decide(rule->dtype, sums, rule->columns, ret_rounded);
    for (size_t i = 0; i < rule->columns; i++)
        if (isnan(ret_rounded[i]) &&
            !settle_infinite(rule, true, numbers[i], hi[i], &ret_rounded[i]))
            ret_rounded[i] = round_exact_sum(rule, true, numbers[i], rule->factor);
}

static void rotate_pairs(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                         pe_entries *tables, const uint64_t *rows, double *ret_rounded)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    const size_t pairs = rule->pairs;
    const turned_row entries = {.entries = {find_pairs(rule, room, tables, 0, rows),
                                            find_pairs(rule, room, tables, 1, rows)},
                                .tables = tables,
                                .rows = rows};
    for (size_t p = 0; p < pairs; p++) {
        room->x[p] = numbers[rule->one[p]];
        room->y[p] = numbers[rule->other[p]];
    }
    kernel->rotate(room->x, room->y, rule->turn, entries.entries[0], entries.entries[1], pairs,
                   find_sums(rule, room, 0));
    kernel->rotate(room->y, room->x, -rule->turn, entries.entries[0], entries.entries[1], pairs,
                   find_sums(rule, room, pairs));
    kernel->decide(rule->dtype, find_sums(rule, room, 0), 2 * pairs, room->turned);
    for (size_t p = 0; p < pairs; p++) {
        double x = room->x[p], y = room->y[p];
        if (isnan(room->turned[p]))
            room->turned[p] = settle_turn(rule, x, rule->turn * y, &entries, p);
        if (isnan(room->turned[pairs + p]))
            room->turned[pairs + p] = settle_turn(rule, y, -rule->turn * x, &entries, p);
        ret_rounded[rule->to_one[p]] = room->turned[p];
        ret_rounded[rule->to_other[p]] = room->turned[pairs + p];
    }
}

/* Turn the pairs; the other columns come before, and the pairs are written over them. */
static void rotate_row(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                       pe_entries *tables, const uint64_t *rows, double *ret_rounded)
{
    bool all = 2 * rule->pairs == rule->columns;
    if (!all && rule->scaled)
        multiply_row(rule, room, numbers, ret_rounded);
    else if (!all)
        pe_row_keep(rule, room, numbers, ret_rounded);
    if (rule->pairs > 0)
        rotate_pairs(rule, room, numbers, tables, rows, ret_rounded);
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

static void sum_products(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
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
                  pe_entries *tables, const uint64_t *rows, double *ret_rounded)
{
    switch (rule->kind) {
    case PE_APPLY_ADD:
    case PE_APPLY_MULTIPLY:
        pe_row_apply_part(rule, room, numbers, &tables[0], rows[0], 0, rule->columns,
                          ret_rounded);
        return;
    case PE_APPLY_ROTATE:
        rotate_row(rule, room, numbers, tables, rows, ret_rounded);
        return;
    case PE_APPLY_COMBINE:
        sum_products(rule, room, numbers, &tables[0], rows[0], ret_rounded);
        return;
    case PE_APPLY_CONTRACT: /* pe_row_indexed */
    case PE_APPLY_GATHER:
        return;
    }
}
