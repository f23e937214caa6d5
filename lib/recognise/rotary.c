/* Proposing rotary tables: how their columns are arranged, and which laws are nearest. */
#include "recognise/recognisers.h"

#include "numerics/dtype.h"
#include "numerics/elementary.h"
#include "recognise/quick_cosine.h"
#include "recognise/rotary_requests.h"
#include "recognise/table_positions.h"
#include "recognise/wave_law.h"
#include "waves/presets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 48

/* ---- tables ---- */

/* How many of the last columns are the same in all rows that have been read. */
static size_t still_columns(const pe_observation *seen, pe_columns columns)
{
    uint64_t moving = columns.count;
    while (moving > 0 &&
           pe_column_is_still(seen, columns.first + (moving - 1) * columns.stride))
        moving--;
    return (size_t)(columns.count - moving);
}

/* Read entries of rows that are spread over the table. */
static bool read_entries(const pe_observation *seen, pe_columns columns, double *entries,
                         double *row, pe_rotary_observation *ret)
{
    bool good = true;
    ret->row_count = seen->rows < PE_ROTARY_ROWS ? (size_t)seen->rows : PE_ROTARY_ROWS;
    for (size_t r = 0; good && r < ret->row_count; r++) {
        uint64_t place = r * (seen->rows - 1) / (ret->row_count - 1);
        good = pe_view_read(&seen->view, place, 1, row);
        ret->rows[r] = (double)place;
        ret->entries[r] = entries + r * columns.count;
        for (uint64_t i = 0; good && i < columns.count; i++)
            entries[r * columns.count + i] = row[columns.first + i * columns.stride];
    }
    return good;
}

#define COARSE 0x1p-20 /* unit of entries whose waves tell positions roughly */

/* Propose the laws that are nearest to a table: with the positions that waves tell, and that
 * rows have by them. */
static void propose_laws(pe_observation *seen, const pe_rotary_table *table,
                         const pe_ladder *ladder, double amplitude, pe_proposals *proposals)
{
    const size_t count = (size_t)table->columns.count;
    double *entries = malloc((PE_ROTARY_ROWS * count + seen->columns) * sizeof *entries);
    if (!entries)
        return;
    double *row = entries + PE_ROTARY_ROWS * count;
    pe_rotary_law laws[PE_ROTARY_LAWS_KEPT];
    pe_rotary_observation measured = {.count = count,
                                      .amplitude = amplitude,
                                      .amplitude_error =
                                          fmax(2e-6, pe_observation_unit(&seen->view)),
                                      .ladder = ladder,
                                      .sines = table->sines,
                                      .work = seen->work,
                                      .unit = pe_observation_unit(&seen->view),
                                      .grain = seen->view.grain,
                                      .still = still_columns(seen, table->columns)};
    if (!ladder->placed || read_entries(seen, table->columns, entries, row, &measured)) {
        const size_t found = pe_rotary_search(&measured, laws);
        for (size_t i = 0; i < found; i++) {
            if (ladder->placed)
                pe_rotary_propose(table, &laws[i], proposals);
            if (!ladder->placed || measured.unit > COARSE)
                pe_rotary_propose_positions(seen, table, &laws[i].law, proposals);
        }
    }
    free(entries);
}

#define COARSE_COLUMNS 128 /* by which a theta is chosen */

/* Whether rows 1 to 3 are near those of a theta in arithmetic of 16 bits, from position 0 on.
 */
static bool is_coarsely(const pe_observation *seen, const pe_rotary_table *table, double theta)
{
    const double log = pe_log_double(theta) / (double)table->columns.count;
    const uint64_t apart = 1 + (table->columns.count - 1) / COARSE_COLUMNS;
    uint64_t far = 0, looked = 0;
    for (uint64_t i = 0; i < table->columns.count; i += apart, looked++) {
        double frequency = pe_exp_double(-log * (double)i);
        for (size_t row = 1; row < 4; row++) {
            double angle = frequency * (double)row;
            double wave = pe_quick_cosine(angle, table->sines ? 3 : 0);
            double found = pe_observation_entry(
                seen, row, table->columns.first + i * table->columns.stride);
            far += !(fabs(found - wave) <= 0x1p-7 * (angle + fabs(wave)) + 1e-5);
        }
    }
    return 16 * far <= 3 * looked;
}

/* Propose tables that may have been computed in 16 bits, whose waves are measured badly. */
static void propose_coarse(const pe_observation *seen, const pe_rotary_table *table,
                           pe_proposals *proposals)
{
    static const double THETAS[] = {1e4, 5e5, 1e6, 1.5e5, 5e6, 1e7, 1e5};
    proposals->low_precision = true;
    proposals->first_distance = 0;
    proposals->angle = (double)seen->rows;
    for (size_t i = 0; i < PE_COUNT(THETAS); i++) {
        char theta[TEXT];
        if (!is_coarsely(seen, table, THETAS[i]))
            continue;
        pe_propose_number(theta, sizeof theta, "rope_theta", THETAS[i], 0, "10000");
        pe_propose_request(proposals, table->tensor, "length=%llu&dim=%llu%s%s", table->rows,
                           2ull * table->columns.count, table->query, theta);
    }
    proposals->low_precision = false;
    proposals->angle = 0;
}

/* Propose tables of one arrangement. */
static void propose_tables(pe_observation *seen, pe_proposals *proposals,
                           const pe_rotary_table *table)
{
    pe_rotary_propose_positions(seen, table, NULL, proposals);
    if (seen->sampled < 4)
        return;
    propose_coarse(seen, table, proposals);
    const pe_ladder *ladder = pe_ladder_read(seen, table->columns, table->sines);
    if (ladder)
        propose_laws(seen, table, ladder, pe_wave_amplitude(seen, table->columns), proposals);
}

/* ---- inverse frequencies ---- */

/* The unit in the last place of a format in which all entries that have been read are exact:
 * that of the table's dtype, or a shorter one that they were rounded to. */
static double unit_of_entries(const pe_observation *seen)
{
    static const pe_dtype SHORT[] = {PE_BF16, PE_F16};
    for (size_t i = 0; i < PE_COUNT(SHORT); i++) {
        unsigned char element[8];
        size_t exact = 0;
        for (size_t row = 0; row < seen->sampled; row++) {
            pe_round_row(SHORT[i], &seen->sample[row], 1, element);
            exact += pe_element_value(SHORT[i], element) == seen->sample[row];
        }
        if (exact == seen->sampled)
            return pe_dtypes[SHORT[i]].unit;
    }
    return pe_observation_unit(&seen->view);
}

/* Read the entries of a vector that may be frequencies as a ladder; NULL: memory ran out. */
static pe_ladder *read_vector(const pe_observation *seen, double unit)
{
    pe_ladder *self = malloc(sizeof *self + seen->sampled * sizeof *self->rungs);
    if (self)
        *self = (pe_ladder){.count = 0};
    for (size_t i = 0; self && i < seen->sampled; i++) {
        const double entry = seen->sample[i];
        double error = 2e-6 + unit;
        if (unit == 0x1p-10) /* subnormal in float16 */
            error += 0x1p-25 / entry;
        if (isnormal(entry) && entry > 0)
            self->rungs[self->count++] = (pe_rung){.index = (double)i,
                                                   .frequency = entry,
                                                   .error = error,
                                                   .log = pe_log_double(entry)};
    }
    return self;
}

/* Propose plain rotary frequencies of the theta that the last one tells, as if none had been
 * rounded: powers of two are exact in 16 bits, where very many laws are near them. */
static void propose_plain(const pe_observation *seen, const pe_rotary_table *table,
                          pe_proposals *proposals)
{
    const size_t count = (size_t)table->columns.count;
    const double last = seen->sample[count - 1], power = (double)count / (double)(count - 1);
    char theta[TEXT];
    if (seen->sample[0] != 1 || !isnormal(last) || last < 0)
        return;
    pe_propose_number(theta, sizeof theta, "rope_theta",
                      pe_exp_double(-power * pe_log_double(last)), 2e-7, "10000");
    pe_propose_request(proposals, table->tensor, "length=1&dim=%zu%s", 2 * count, theta);
}

/* Propose inverse frequencies for a falling vector that begins with 1. */
static void propose_frequencies(pe_observation *seen, pe_proposals *proposals)
{
    const pe_rotary_table table = {"inv_freq", "", {0, 1, seen->rows}, false, 1};
    pe_rotary_law laws[PE_ROTARY_LAWS_KEPT];
    pe_rotary_observation measured = {
        .count = seen->sampled, .amplitude = 1, .unit = unit_of_entries(seen)};
    if (seen->sampled < 2 || seen->sampled < seen->rows ||
        pe_observation_entry(seen, 0, 0) > 1 ||
        !(pe_observation_entry(seen, 0, 0) > pe_observation_entry(seen, 1, 0)))
        return;
    pe_ladder *ladder = read_vector(seen, measured.unit);
    if (!ladder)
        return;
    measured.ladder = ladder;
    for (size_t i = 0; i < seen->sampled; i++)
        measured.still = seen->sample[i] == 0 ? measured.still + 1 : 0;
    propose_plain(seen, &table, proposals);
    const size_t found = pe_rotary_search(&measured, laws);
    proposals->low_precision = measured.unit > 0x1p-23;
    for (size_t i = 0; i < found; i++)
        pe_rotary_propose(&table, &laws[i], proposals);
    proposals->low_precision = false;
    free(ladder);
    for (size_t i = 0; i < PE_ROTARY_PRESET_COUNT; i++)
        pe_propose_request(proposals, "inv_freq", "preset=%s&length=1&dim=%llu",
                           pe_rotary_presets[i].name, 2ull * seen->rows);
}

/* ---- arrangements ---- */

#define ARRANGEMENTS 7

/* Whether the second half of the columns are sines of which the first are the cosines. */
static bool has_pairs(const pe_observation *seen)
{
    const uint64_t half = seen->columns / 2;
    double square = 0;
    for (size_t row = 0; row < seen->sampled && row < 4; row++)
        for (uint64_t column = 0; column < half; column++) {
            const double cosine = pe_observation_entry(seen, row, column);
            const double sine = pe_observation_entry(seen, row, half + column);
            const double own = cosine * cosine + sine * sine;
            square = row + column == 0 ? own : square;
            if (!(fabs(own - square) <= 0x1p-5 * square))
                return false;
        }
    return true;
}

/* Whether most columns have the same again some columns further on, in the last rows that have
 * been read. */
static bool has_copies(const pe_observation *seen, pe_columns columns, uint64_t apart)
{
    size_t far = 0, looked = 0;
    for (size_t row = seen->sampled; row-- > 0 && looked < 4 * columns.count;)
        for (uint64_t i = 0; i < columns.count; i++, looked++) {
            const uint64_t column = columns.first + i * columns.stride;
            const double one = pe_observation_entry(seen, row, column);
            const double other = pe_observation_entry(seen, row, column + apart);
            far += !(fabs(one - other) <= 0x1p-5 * fmax(fabs(one), fabs(other)));
        }
    return 4 * far <= looked;
}

/* List the arrangements that so many columns may have, those with copies first, since laws of
 * all columns as one ladder take long; returns how many. */
static size_t list_arrangements(const pe_observation *seen,
                                pe_rotary_table ret_tables[ARRANGEMENTS])
{
    static const char *const NAMES[] = {"cos", "sin"};
    const uint64_t columns = seen->columns, half = columns / 2, rows = seen->rows;
    const pe_columns halves = {0, 1, half}, neighbours = {0, 2, half};
    const bool even = columns % 2 == 0, by_halves = even && has_copies(seen, halves, half);
    const bool interleaved = even && has_copies(seen, neighbours, 1);
    size_t count = 0;
    for (int sine = 0; sine < 2; sine++) {
        if (by_halves)
            ret_tables[count++] =
                (pe_rotary_table){NAMES[sine], "&table=full&layout=half", halves, sine, rows};
        if (interleaved)
            ret_tables[count++] = (pe_rotary_table){
                NAMES[sine], "&table=full&layout=interleaved", neighbours, sine, rows};
    }
    for (int sine = 0; sine < 2; sine++)
        ret_tables[count++] =
            (pe_rotary_table){NAMES[sine], "&table=half_width", {0, 1, columns}, sine, rows};
    if (even && has_pairs(seen))
        ret_tables[count++] =
            (pe_rotary_table){"cos_sin", "&cos_sin=true", halves, false, rows};
    return count;
}

/* Propose the positions of a vector that is one row. */
static void propose_row(const pe_observation *seen, pe_proposals *proposals)
{
    pe_rotary_table tables[ARRANGEMENTS];
    pe_observation row;
    if (pe_observation_begin_row(seen, &row)) {
        const size_t count = list_arrangements(&row, tables);
        for (size_t i = 0; i < count; i++)
            pe_rotary_propose_positions(&row, &tables[i], NULL, proposals);
    }
    pe_observation_end(&row);
}

void pe_recognise_rope(pe_observation *seen, pe_proposals *proposals)
{
    pe_rotary_table tables[ARRANGEMENTS];
    if (seen->columns == 1)
        propose_frequencies(seen, proposals);
    if (seen->view.rank == 1)
        propose_row(seen, proposals);
    if (seen->columns < 1 || seen->view.rank == 1)
        return;
    const size_t count = list_arrangements(seen, tables);
    for (size_t i = 0; i < count; i++)
        propose_tables(seen, proposals, &tables[i]);
}
