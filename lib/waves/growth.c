/* Entries are computed in double, 64 frequencies at a time. Where that does not decide the
 * rounding, an entry is computed again in double-double, from its own phase and amplitude; all
 * entries of f64 are. */
#include "waves/growth.h"

#include "kernels/intervals.h"
#include "kernels/kernel.h"
#include "numerics/angle.h"
#include "numerics/dtype.h"
#include "numerics/elementary.h"
#include "waves/anchors.h"

#include <math.h>
#include <string.h>

/* ---- one entry ---- */

/* The amplitude of a frequency at a row. */
static pe_scaled compute_amplitude(const pe_growth *growth, int sign, uint64_t row, size_t i)
{
    dd distance = dd_add(pe_position_get(&growth->positions, row), (dd){-growth->centre, 0});
    return pe_exp(dd_mul_double(dd_mul(distance, growth->rates[i]), sign));
}

/* The sine and cosine of a frequency at a row. Of a small angle, the phase in turns has too few
 * bits, and where a step of many bits leads to position 0 it is not quite 0. */
static void compute_sincos(const pe_growth *growth, uint64_t row, size_t i, dd *ret_sin,
                           dd *ret_cos)
{
    dd radians = dd_mul(pe_position_get(&growth->positions, row),
                        pe_phase_radians(growth->frequencies[i]));
    *ret_sin = radians;
    *ret_cos = (dd){1, 0};
    if (fabs(radians.hi) >= 0x1p-20)
        pe_phase_sincos(pe_position_phase(&growth->positions, row, growth->frequencies[i]),
                        ret_sin, ret_cos);
    else if (fabs(radians.hi) > 0x1p-800)
        pe_angle_small_sincos(radians, ret_sin, ret_cos);
}

/* Write what an entry loses: by its angle, and by the exponent of its amplitude. */
static void write_loss(const pe_growth *growth, pe_growth_table table, uint64_t row, size_t i,
                       void *dst)
{
    const double position = pe_position_get(&growth->positions, row).hi;
    const double exponent = fabs((position - growth->centre) * growth->rates[i].hi);
    const double amplitude =
        pe_apply_exponent(compute_amplitude(growth, table.sign, row, i)).hi;
    double loss = 3 * exponent * amplitude;
    if (table.kind != PE_GROWTH_AMPLITUDES)
        loss += pe_wave_loss(amplitude, position, growth->frequencies[i]);
    memcpy(dst, &loss, sizeof loss);
}

/* Write an entry, rounded once. */
static void write_entry(const pe_growth *growth, pe_growth_table table, uint64_t row, size_t i,
                        void *dst)
{
    if (growth->dtype == PE_LOSS) {
        write_loss(growth, table, row, i, dst);
        return;
    }
    pe_scaled amplitude = compute_amplitude(growth, table.sign, row, i);
    dd sine, cosine, product = amplitude.value;
    if (table.kind != PE_GROWTH_AMPLITUDES) {
        compute_sincos(growth, row, i, &sine, &cosine);
        product = dd_mul(product, table.kind == PE_GROWTH_SINES ? sine : cosine);
    }
    pe_round_scaled(growth->dtype, product, amplitude.exponent, dst);
}

/* ---- rows ---- */

#define PAIRS PE_KERNEL_PAIRS

/* 64 frequencies of consecutive rows. Rows at equal distances come in blocks; all share what
 * amplitudes grow by within one. The amplitude of a block's first row is computed for every
 * LEAPS-th one, and follows in double-double from the one before for the others: an error of
 * 2^-102 for each of some 200 factors. The angles of TURNS rows are that of the first one and
 * one of TURNS that all share. The first one's phase follows from the one before, too: each of
 * LEAPS * BLOCK steps adds an error of 2^-128 turns. */
#define BLOCK 128
#define LEAPS 64
#define TURNS 64
typedef struct growth_chunk {
    const pe_growth *growth;
    pe_growth_table table;
    const pe_kernel *kernel;
    size_t first, count;           /* frequencies */
    pe_phases phases, leap;        /* of the first of TURNS rows, and from there to the next */
    pe_anchors begun;              /* of these phases */
    pe_anchors turns[TURNS];       /* [r]: of the angles of r rows */
    double amplitudes[PAIRS];      /* at the block's first row */
    dd exact[PAIRS], leaps[PAIRS]; /* the same, and from block to block */
    double powers[BLOCK][PAIRS];   /* [r]: the growth in r rows */
    double ones[PAIRS];
} growth_chunk;

static void compute_phases(growth_chunk *chunk, uint64_t row)
{
    const pe_growth *growth = chunk->growth;
    for (size_t i = 0; i < chunk->count; i++)
        pe_phases_set(
            &chunk->phases, i,
            pe_position_phase(&growth->positions, row, growth->frequencies[chunk->first + i]));
}

static void compute_amplitudes(growth_chunk *chunk, uint64_t row, bool leap)
{
    for (size_t i = 0; i < chunk->count; i++) {
        chunk->exact[i] = leap ? dd_mul(chunk->exact[i], chunk->leaps[i])
                               : pe_apply_exponent(compute_amplitude(
                                     chunk->growth, chunk->table.sign, row, chunk->first + i));
        chunk->amplitudes[i] = chunk->exact[i].hi;
    }
}

/* Compute the angles of up to `rows` rows, and of the leap to the next TURNS ones. */
static void prepare_turns(growth_chunk *chunk, size_t rows)
{
    const pe_growth *growth = chunk->growth;
    pe_phases step, phases = {{0}, {0}};
    for (size_t i = 0; i < chunk->count; i++)
        pe_phases_set(
            &step, i,
            pe_wide_mul_double(growth->frequencies[chunk->first + i], growth->positions.step));
    for (size_t r = 0; r < TURNS; r++) {
        if (r < rows)
            pe_anchors_compute(chunk->kernel, chunk->count, &phases, &chunk->turns[r]);
        pe_phases_advance(chunk->kernel, chunk->count, &phases, &step);
    }
    chunk->leap = phases;
}

/* Compute the powers for `rows` of a block, and the leap to the next one. */
static void prepare_powers(growth_chunk *chunk, size_t rows)
{
    const pe_growth *growth = chunk->growth;
    dd ratios[PAIRS];
    for (size_t i = 0; i < chunk->count; i++) {
        dd rate = dd_mul_double(growth->rates[chunk->first + i], growth->positions.step);
        ratios[i] = pe_apply_exponent(pe_exp(dd_mul_double(rate, chunk->table.sign)));
        chunk->leaps[i] = (dd){1, 0};
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < chunk->count; i++) { /* by turns: none waits for itself */
            chunk->powers[r][i] = chunk->leaps[i].hi;
            chunk->leaps[i] = dd_mul(chunk->leaps[i], ratios[i]);
        }
}

/* Prepare the chunk for row `row` of the table, the `done`-th one of those that are written. */
static void begin_row(growth_chunk *chunk, uint64_t row, uint64_t done)
{
    const bool alone = chunk->growth->positions.list || done % (BLOCK * LEAPS) == 0;
    if (alone || done % BLOCK == 0)
        compute_amplitudes(chunk, row, !alone);
    if (chunk->table.kind == PE_GROWTH_AMPLITUDES || (!alone && done % TURNS != 0))
        return;
    if (alone)
        compute_phases(chunk, row);
    else
        pe_phases_advance(chunk->kernel, chunk->count, &chunk->phases, &chunk->leap);
    pe_anchors_compute(chunk->kernel, chunk->count, &chunk->phases, &chunk->begun);
}

/* An entry is known to within 2^-50 of its amplitude, which is off by three units of 2^-53: its
 * two factors and their product are rounded. The sine of a sum adds 3.3 of them: 0.62 for each
 * of four sines and cosines, by others of which two have squares of sum 1, so 2^(1/2) for two,
 * and a half for each of two products and for their sum. The product with it adds one. */
#define UNCERTAINTY 0x1p-50

/* A row of a chunk. */
typedef struct chunk_row {
    const growth_chunk *chunk;
    uint64_t row;
} chunk_row;

/* A pe_settle for the entries of a chunk_row. */
static void settle_entry(const void *context, size_t i, void *dst)
{
    const chunk_row *own = context;
    write_entry(own->chunk->growth, own->chunk->table, own->row, own->chunk->first + i, dst);
}

/* Turn the angles that have begun by those of r rows. */
static void turn_angles(const growth_chunk *chunk, size_t r, pe_anchors *ret_turned)
{
    const pe_rows apart = {(unsigned char *)ret_turned->sin, (unsigned char *)ret_turned->cos,
                           0, false};
    const pe_sincos turns = pe_sincos_init(&chunk->turns[r]);
    chunk->kernel->rotate[PE_F64](pe_sincos_init(&chunk->begun), &turns, 1, chunk->count,
                                  &apart, NULL, (pe_rounding){0, false});
}

/* Write the chunk's entries of a row, rounded, without gaps. `powers`: the amplitudes in terms
 * of those of the block. */
static void write_entries(const growth_chunk *chunk, uint64_t row, const pe_anchors *waves,
                          const double *powers, unsigned char *dst)
{
    const pe_kernel *kernel = chunk->kernel;
    const chunk_row own = {chunk, row};
    double below[PAIRS], above[PAIRS];
    const double *wave = chunk->table.kind == PE_GROWTH_SINES ? waves->sin : waves->cos;
    if (chunk->table.kind == PE_GROWTH_AMPLITUDES)
        wave = chunk->ones;
    kernel->bracket(chunk->amplitudes, powers, wave, chunk->count, UNCERTAINTY, below, above);
    pe_round_intervals(chunk->growth->dtype, below, above, chunk->count, settle_entry, &own,
                       dst);
}

/* Write entries to their columns of a row. */
static void store_entries(const growth_chunk *chunk, const unsigned char *entries,
                          unsigned char *row)
{
    const pe_growth *growth = chunk->growth;
    size_t size = pe_dtype_size(growth->dtype), f = chunk->first;
    if (growth->copies != PE_WAVE_IN_PAIRS)
        memcpy(row + f * size, entries, chunk->count * size);
    if (growth->copies == PE_WAVE_IN_HALVES)
        memcpy(row + (growth->count + f) * size, entries, chunk->count * size);
    for (size_t i = 0; growth->copies == PE_WAVE_IN_PAIRS && i < chunk->count; i++) {
        memcpy(row + 2 * (f + i) * size, entries + i * size, size);
        memcpy(row + (2 * (f + i) + 1) * size, entries + i * size, size);
    }
}

/* Write the chunk's entries of a row one by one. */
static void write_each(const growth_chunk *chunk, uint64_t row, unsigned char *dst)
{
    const chunk_row own = {chunk, row};
    for (size_t i = 0; i < chunk->count; i++)
        settle_entry(&own, i, dst + i * pe_dtype_size(chunk->growth->dtype));
}

/* Write the chunk's columns of rows [first, first + rows). */
static void fill_chunk(growth_chunk *chunk, uint64_t first, uint64_t rows, size_t row_bytes,
                       unsigned char *dst)
{
    const pe_growth *growth = chunk->growth;
    const bool each = growth->dtype == PE_F64 || growth->dtype >= PE_DD;
    const bool even = !growth->positions.list && rows > 1;
    unsigned char entries[PAIRS * sizeof(dd)];
    const bool turned = even && chunk->table.kind != PE_GROWTH_AMPLITUDES;
    pe_anchors anchors;
    if (!each && even)
        prepare_powers(chunk, rows < BLOCK ? (size_t)rows : BLOCK);
    if (!each && turned)
        prepare_turns(chunk, rows < TURNS ? (size_t)rows : TURNS);
    for (uint64_t r = 0; r < rows; r++) {
        if (each) {
            write_each(chunk, first + r, entries);
        } else {
            begin_row(chunk, first + r, r);
            if (turned)
                turn_angles(chunk, r % TURNS, &anchors);
            write_entries(chunk, first + r, turned ? &anchors : &chunk->begun,
                          even ? chunk->powers[r % BLOCK] : chunk->ones, entries);
        }
        store_entries(chunk, entries, dst + r * row_bytes);
    }
}

void pe_growth_fill(const pe_growth *growth, pe_growth_table table, uint64_t first,
                    uint64_t rows, void *dst)
{
    size_t columns = growth->copies == PE_WAVE_ONCE ? growth->count : 2 * growth->count;
    size_t row_bytes = columns * pe_dtype_size(growth->dtype);
    growth_chunk chunk; /* its arrays are set as far as they are needed */
    chunk.growth = growth;
    chunk.table = table;
    chunk.kernel = pe_kernel_get();
    for (size_t i = 0; i < PAIRS; i++)
        chunk.ones[i] = 1;
    for (chunk.first = 0; chunk.first < growth->count; chunk.first += PAIRS) {
        size_t rest = growth->count - chunk.first;
        chunk.count = rest < PAIRS ? rest : PAIRS;
        fill_chunk(&chunk, first, rows, row_bytes, dst);
    }
}

#define EXACT_PRICE 1200 /* of an entry by itself */
#define ENTRY_PRICE 8
#define POWER_PRICE 600 /* of a window's first amplitude, and of the step to more rows */
#define ROW_PRICE   100

double pe_growth_entry_price(const pe_growth *growth)
{
    if (growth->dtype == PE_F64 || growth->positions.list)
        return EXACT_PRICE;
    double rows = (PE_QUESTION_PRICE / (double)growth->count - 2 * POWER_PRICE) / ENTRY_PRICE;
    rows = fmin(fmax(rows, 1), (double)growth->positions.count);
    return ENTRY_PRICE + POWER_PRICE * fmin(2 / rows, 1) + ROW_PRICE / (double)growth->count;
}

double pe_growth_magnitude(const pe_growth *growth)
{
    double low, high, steepest = 0;
    pe_positions_range(&growth->positions, &low, &high);
    double distance = fmax(fabs(low - growth->centre), fabs(high - growth->centre));
    for (size_t i = 0; i < growth->count; i++)
        steepest = fmax(steepest, -growth->rates[i].hi);
    double exponent = steepest * distance;
    return exponent < 800 ? pe_exp_double(exponent) : INFINITY;
}
