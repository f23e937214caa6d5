#include "identify/claims.h"

#include "identify/first_rows.h"
#include "numerics/dd.h"
#include "recognise/wave_fit.h"

#include <math.h>
#include <stdlib.h>

#define FEW        4   /* rows, that many requests make */
#define ALIKE      0.7 /* the correlation of neighbouring rows */
#define SOME       8   /* one in so many columns tells something */
#define WAVE_ROWS  12  /* of which no numbers by chance are a wave */
#define SEEN_ANGLE 1.0 /* radians: of less any slow change is nearly a wave */

/* ---- claims, each evaluated: whether it holds, and with which numbers ---- */

static bool is_constant(const pe_first_rows *table, pe_claim *ret)
{
    ret->value = table->entries[0];
    return table->constant;
}

static bool has_few_rows(const pe_first_rows *table, pe_claim *ret)
{
    ret->count = table->total;
    return table->view.rank > 1 && table->total < FEW;
}

static bool is_not_finite(const pe_first_rows *table, pe_claim *ret)
{
    const uint64_t count = table->rows * table->columns;
    ret->count = table->not_finite;
    ret->total = count;
    while (ret->place < count && isfinite(table->entries[ret->place]))
        ret->place++;
    return ret->count > 0;
}

static bool has_diagonals(const pe_first_rows *table, pe_claim *ret)
{
    for (size_t axis = 0; axis + 1 < table->view.rank; axis++)
        if (pe_has_diagonals(table, axis)) {
            ret->axis = axis;
            return true;
        }
    return false;
}

/* The wave of a column, or that of its differences where it swings about a constant. */
static pe_observed_wave fit_column(const pe_first_rows *table, uint64_t column, size_t rows,
                                   double *differences)
{
    const double *first = table->entries + column;
    const size_t columns = (size_t)table->columns;
    pe_observed_wave wave = pe_fit_wave(first, columns, rows, SEEN_ANGLE);
    for (size_t row = 0; !wave.found && row + 1 < rows; row++)
        differences[row] = first[(row + 1) * columns] - first[row * columns];
    return wave.found ? wave : pe_fit_wave(differences, 1, rows - 1, PE_TURN / 2);
}

static bool has_waves(const pe_first_rows *table, pe_claim *ret)
{
    const size_t rows = (size_t)pe_observation_rows(table->rows, table->columns);
    ret->total = table->columns;
    ret->least = INFINITY;
    if (table->view.rank != 2 || table->not_finite > 0 || rows < WAVE_ROWS)
        return false;
    double *differences = malloc(rows * sizeof *differences);
    for (uint64_t c = 0; differences && c < table->columns; c++) {
        const pe_observed_wave wave = fit_column(table, c, rows, differences);
        if (wave.found) {
            ret->count++;
            ret->least = fmin(ret->least, wave.frequency);
            ret->most = fmax(ret->most, wave.frequency);
        }
    }
    free(differences);
    ret->rows = rows < table->total ? rows : 0;
    return ret->count > 0 && SOME * ret->count >= ret->total;
}

static bool has_equal_rows(const pe_first_rows *table, pe_claim *ret)
{
    ret->count = table->rows > 1 && table->columns > 1 ? pe_count_different_rows(table) : 0;
    ret->total = table->rows;
    return ret->count > 0 && ret->count < ret->total;
}

static bool has_equal_columns(const pe_first_rows *table, pe_claim *ret)
{
    ret->count = table->rows > 1 && table->columns > 1 ? pe_count_different_columns(table) : 0;
    ret->total = table->columns;
    return ret->count > 0 && ret->count < ret->total;
}

static bool is_smooth(const pe_first_rows *table, pe_claim *ret)
{
    ret->value = table->rows < FEW || table->not_finite > 0 ? 0 : pe_correlate_rows(table);
    return ret->value > ALIKE;
}

static bool is_random(const pe_first_rows *table, pe_claim *ret)
{
    ret->least = table->mean;
    ret->most = table->deviation;
    return table->rows >= FEW && pe_looks_random(table);
}

typedef bool claim_test(const pe_first_rows *table, pe_claim *ret);

/* The most telling ones first. */
static claim_test *const TESTS[PE_CLAIM_KINDS] = {
    [PE_CLAIM_CONSTANT] = is_constant,
    [PE_CLAIM_FEW_ROWS] = has_few_rows,
    [PE_CLAIM_NOT_FINITE] = is_not_finite,
    [PE_CLAIM_DIAGONALS] = has_diagonals,
    [PE_CLAIM_WAVES] = has_waves,
    [PE_CLAIM_EQUAL_ROWS] = has_equal_rows,
    [PE_CLAIM_EQUAL_COLUMNS] = has_equal_columns,
    [PE_CLAIM_SMOOTH] = is_smooth,
    [PE_CLAIM_RANDOM] = is_random,
};

/* ---- all of them ---- */

/* What cannot be told, or tells nothing, beside a claim that holds. */
static bool is_idle(pe_claim_kind kind, const bool held[PE_CLAIM_KINDS])
{
    const bool repeats = held[PE_CLAIM_EQUAL_ROWS] || held[PE_CLAIM_EQUAL_COLUMNS];
    const bool formula = held[PE_CLAIM_WAVES] || held[PE_CLAIM_DIAGONALS];
    return held[PE_CLAIM_CONSTANT] ||
           (kind == PE_CLAIM_RANDOM && (repeats || formula || held[PE_CLAIM_FEW_ROWS]));
}

/* Evaluate them on the rows that are held. */
static void find_claims(const pe_first_rows *table, pe_identity *identity)
{
    bool held[PE_CLAIM_KINDS] = {false}, mostly_waves = false;
    pe_dtype dtype;
    for (int kind = 0; kind < PE_CLAIM_KINDS && pe_search_may_continue(table->runner); kind++) {
        pe_claim claim = {.kind = (pe_claim_kind)kind,
                          .rows = table->rows < table->total ? table->rows : 0};
        held[kind] = !is_idle(claim.kind, held) && TESTS[kind](table, &claim);
        if (held[kind])
            identity->claims[identity->claim_count++] = claim;
        if (kind == PE_CLAIM_WAVES)
            mostly_waves = 2 * claim.count > claim.total;
    }
    const bool repeats = held[PE_CLAIM_EQUAL_ROWS] || held[PE_CLAIM_EQUAL_COLUMNS];
    const bool seems = (held[PE_CLAIM_SMOOTH] && !repeats) || held[PE_CLAIM_RANDOM] ||
                       held[PE_CLAIM_DIAGONALS];
    identity->may_be_trained = pe_element_is_real(table->view.element, &dtype) &&
                               !table->integers && table->total >= FEW &&
                               table->columns >= FEW && seems && !mostly_waves;
}

void pe_claims_find(const pe_view *view, pe_search_runner *runner, pe_identity *identity)
{
    const bool found = identity->status != PE_IDENTITY_UNKNOWN;
    pe_first_rows table;
    bool good = pe_first_rows_read(&table, view, runner, found);
    if (good && found && table.constant) { /* as its first row is */
        pe_first_rows_done(&table);
        good = pe_first_rows_read(&table, view, runner, false);
    }
    if (good && (!found || table.constant))
        find_claims(&table, identity);
    if (good && table.constant && identity->status < PE_IDENTITY_EXACT) {
        identity->status = PE_IDENTITY_UNKNOWN;
        identity->scheme = NULL;
    }
    pe_first_rows_done(&table);
}
