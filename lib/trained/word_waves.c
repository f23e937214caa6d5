/* Entries from anchors with an error bound; those that it leaves uncertain from exact phases.
 */
#include "trained/word_waves.h"

#include "kernels/intervals.h"
#include "kernels/kernel.h"
#include "numerics/angle.h"
#include "numerics/dtype.h"

#include <math.h>
#include <string.h>

/* ---- one entry, exactly ---- */

/* One row of the table: its position and its word. */
typedef struct table_line {
    uint64_t row, token;
    dd position;
    bool whole; /* the position is an integer that a double holds */
} table_line;

/* The index of an angle in its stored tensor. */
static uint64_t stored_index(const pe_word_waves *waves, const table_line *line,
                             uint64_t column)
{
    if (waves->sharing == PE_EACH_DIM)
        return column;
    return waves->sharing == PE_EACH_WORD ? line->token : line->token * waves->dim + column;
}

/* The angle of a word in a column, in turns. */
static pe_wide compute_turns(const pe_word_waves *waves, const pe_word_angles *angle,
                             const table_line *line, uint64_t column)
{
    if (angle->turns || !angle->stored)
        return angle->turns ? angle->turns[column] : (pe_wide){{0, 0, 0, 0}};
    return pe_angle_turns(pe_set_element(angle->stored, stored_index(waves, line, column)));
}

/* ω·k modulo one turn. */
static pe_wide compute_rotation(const pe_word_waves *waves, const table_line *line,
                                uint64_t column)
{
    const pe_positions *positions = &waves->positions;
    const pe_set_tensor *stored = waves->frequency.stored;
    if (line->position.hi == 0 && line->position.lo == 0)
        return (pe_wide){{0, 0, 0, 0}};
    if (!stored)
        return pe_position_phase(positions, line->row, waves->frequency.turns[column]);
    if (line->whole)
        return pe_wide_mul_integer(compute_turns(waves, &waves->frequency, line, column),
                                   (int64_t)line->position.hi);
    double omega = pe_set_element(stored, stored_index(waves, line, column));
    if (positions->list)
        return pe_angle_turns_of_product(omega, positions->list[line->row]);
    return pe_wide_add(pe_angle_turns_of_product(omega, positions->offset),
                       pe_wide_mul_integer(pe_angle_turns_of_product(omega, positions->step),
                                           (int64_t)line->row));
}

/* θ + ω·k in radians, not reduced modulo a turn: more exact than turns where it is small. */
static dd convert_to_radians(const pe_word_waves *waves, const table_line *line,
                             uint64_t column)
{
    dd radians = line->position;
    uint64_t index = stored_index(waves, line, column);
    if (waves->frequency.stored) {
        radians = dd_mul_double(radians, pe_set_element(waves->frequency.stored, index));
    } else if (memcmp(&waves->frequency.turns[column], &pe_wide_radian, sizeof(pe_wide)) != 0) {
        radians = dd_mul(radians, pe_phase_radians(waves->frequency.turns[column]));
    }
    if (!waves->phase.stored)
        return radians;
    return pe_angle_sum(radians, pe_set_element(waves->phase.stored, index));
}

#define SMALL 0x1p-20 /* radians: below, a fraction of a turn has too few bits for its sine */

/* Write one entry, rounded once from its own phase in double-double. */
static void write_exactly(const pe_word_waves *waves, const table_line *line, uint64_t column,
                          size_t part, double amplitude, void *dst)
{
    dd parts[2]; /* cos, sin */
    pe_wide phase = pe_wide_add(compute_rotation(waves, line, column),
                                compute_turns(waves, &waves->phase, line, column));
    dd radians = convert_to_radians(waves, line, column);
    if (radians.hi != 0 && fabs(radians.hi) < SMALL)
        pe_angle_small_sincos(radians, &parts[1], &parts[0]);
    else
        pe_phase_sincos(phase, &parts[1], &parts[0]);
    pe_round_dd(waves->dtype, dd_mul_double(parts[part], amplitude), dst);
}

/* ---- rows ---- */

/* θ + ω·k modulo one turn: its leading 64 bits are exact, and for f64 nearly all. */
static pe_wide compute_phase(const pe_word_waves *waves, const table_line *line,
                             uint64_t column)
{
    pe_wide turns;
    if (line->whole && waves->dtype != PE_F64) { /* 128 bits suffice */
        turns = pe_wide_mul_leading(compute_turns(waves, &waves->frequency, line, column),
                                    (int64_t)line->position.hi);
    } else {
        turns = compute_rotation(waves, line, column);
    }
    if (waves->phase.stored)
        turns = pe_wide_add(turns, compute_turns(waves, &waves->phase, line, column));
    return turns;
}

/* A bound of the error of an entry that comes from a seed, relative to its amplitude. */
#define UNCERTAINTY 0x1p-51

/* Columns of a row from `first` on: their cosines (part 0) or sines. */
typedef struct row_columns {
    const pe_word_waves *waves;
    const table_line *line;
    uint64_t first;
    size_t part;
    const double *amplitudes;
} row_columns;

/* A pe_settle: an entry is computed from its own phase. */
static void settle_entry(const void *context, size_t i, void *dst)
{
    const row_columns *own = context;
    write_exactly(own->waves, own->line, own->first + i, own->part, own->amplitudes[i], dst);
}

/* Round the amplitudes times the cosines or sines. */
static void round_part(const pe_word_waves *waves, const table_line *line, uint64_t first,
                       size_t count, size_t part, const double *amplitudes, const double *parts,
                       unsigned char *dst)
{
    const row_columns own = {waves, line, first, part, amplitudes};
    double low[PE_KERNEL_PAIRS], high[PE_KERNEL_PAIRS];
    for (size_t i = 0; i < count; i++) {
        double margin = fabs(amplitudes[i]) * UNCERTAINTY;
        low[i] = amplitudes[i] * parts[i] - margin;
        high[i] = amplitudes[i] * parts[i] + margin;
    }
    pe_round_intervals(waves->dtype, low, high, count, settle_entry, &own, dst);
}

/* As round_part for f64, from double-double anchors: each is within 2^-104, and its product
 * with the amplitude within 2^-103 of the amplitude. */
static void round_f64_part(const pe_word_waves *waves, const table_line *line, uint64_t first,
                           size_t count, size_t part, const double *amplitudes,
                           const pe_anchors_f64 *anchors, unsigned char *dst)
{
    const double *parts = part ? anchors->sin : anchors->cos;
    const double *rests = part ? anchors->sin_rest : anchors->cos_rest;
    for (size_t i = 0; i < count; i++) {
        dd product = dd_mul_double((dd){parts[i], rests[i]}, amplitudes[i]);
        double margin = fabs(amplitudes[i]) * 0x1p-102;
        double below = product.hi + (product.lo - margin);
        double above = product.hi + (product.lo + margin);
        if (below == above && fabs(below) > 0x1p-900)
            pe_round_row(PE_F64, &below, 1, dst + i * sizeof below);
        else
            write_exactly(waves, line, first + i, part, amplitudes[i], dst + i * sizeof below);
    }
}

static table_line find_line(const pe_word_waves *waves, uint64_t row)
{
    dd position = pe_position_get(&waves->positions, row);
    bool whole = position.lo == 0 && position.hi == floor(position.hi);
    return (table_line){row, waves->tokens ? (uint64_t)waves->tokens[row] : 0, position, whole};
}

/* Write entries at position 0: a cosine is the amplitude, a sine is 0, and no error bound
 * decides how that is rounded. */
static void write_origin(pe_dtype dtype, size_t part, const double *amplitudes, size_t count,
                         unsigned char *dst)
{
    static const double zeros[PE_KERNEL_PAIRS];
    pe_round_row(dtype, part ? zeros : amplitudes, count, dst);
}

/* Write columns [first, first + count) of a window's rows. */
static void write_columns(const pe_word_waves *waves, pe_window window, uint64_t first,
                          size_t count, unsigned char *dst)
{
    const pe_kernel *kernel = pe_kernel_get();
    double amplitudes[PE_KERNEL_PAIRS], parts[2][PE_KERNEL_PAIRS]; /* cos, sin */
    uint64_t high[PE_KERNEL_PAIRS], low[PE_KERNEL_PAIRS], token = UINT64_MAX;
    pe_anchors_f64 anchors;
    for (uint64_t r = 0; r < window.rows; r++) {
        table_line line = find_line(waves, window.first + r);
        if (line.token != token)
            pe_trained_row(&waves->amplitude, line.token, first, count, amplitudes);
        token = line.token;
        if (line.position.hi == 0 && !waves->phase.stored) {
            write_origin(waves->dtype, window.tensor, amplitudes, count, dst);
            dst += waves->dim * pe_dtype_size(waves->dtype);
            continue;
        }
        for (size_t i = 0; waves->dtype == PE_DD && i < count; i++)
            write_exactly(waves, &line, first + i, window.tensor, amplitudes[i],
                          dst + i * sizeof(dd));
        for (size_t i = 0; waves->dtype != PE_DD && i < count; i++) {
            pe_wide phase = compute_phase(waves, &line, first + i);
            high[i] = phase.limb[3];
            low[i] = phase.limb[2];
        }
        if (waves->dtype == PE_DD) {
            /* every entry is written */
        } else if (waves->dtype == PE_F64) {
            kernel->anchor_f64(high, low, count, &anchors);
            round_f64_part(waves, &line, first, count, window.tensor, amplitudes, &anchors,
                           dst);
        } else {
            kernel->anchor(high, count, parts[1], parts[0]);
            round_part(waves, &line, first, count, window.tensor, amplitudes,
                       parts[window.tensor], dst);
        }
        dst += waves->dim * pe_dtype_size(waves->dtype);
    }
}

void pe_word_waves_write(const pe_word_waves *waves, pe_window window, void *dst)
{
    for (uint64_t first = 0; first < waves->dim; first += PE_KERNEL_PAIRS) {
        uint64_t rest = waves->dim - first;
        write_columns(waves, window, first,
                      rest < PE_KERNEL_PAIRS ? (size_t)rest : PE_KERNEL_PAIRS,
                      (unsigned char *)dst + first * pe_dtype_size(waves->dtype));
    }
}
