/* Entries are computed in double, 64 frequencies at a time. Where that does not decide the
 * rounding, an entry is computed again in double-double, from its own phase and amplitude; all
 * entries of f64 are. */
#include "waves/growth.h"

#include "kernels/kernel.h"
#include "numerics/angle.h"
#include "numerics/dtype.h"
#include "numerics/elementary.h"

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
    const double amplitude = pe_unscaled(compute_amplitude(growth, table.sign, row, i)).hi;
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

/* 64 frequencies of consecutive rows. The amplitudes are double-doubles; at equal distances one
 * follows from the one before, whose error of 2^-102 may grow for BLOCK rows. */
#define BLOCK 64
typedef struct growth_chunk {
    const pe_growth *growth;
    pe_growth_table table;
    size_t first, count; /* frequencies */
    pe_wide phases[PAIRS], phase_steps[PAIRS];
    double amplitudes[PAIRS];
    dd exact[PAIRS], ratios[PAIRS];
} growth_chunk;

static void begin_block(growth_chunk *chunk, uint64_t row)
{
    const pe_growth *growth = chunk->growth;
    for (size_t i = 0; i < chunk->count; i++) {
        size_t f = chunk->first + i;
        chunk->phases[i] = pe_position_phase(&growth->positions, row, growth->frequencies[f]);
        chunk->exact[i] = pe_unscaled(compute_amplitude(growth, chunk->table.sign, row, f));
    }
}

static void prepare_steps(growth_chunk *chunk)
{
    const pe_growth *growth = chunk->growth;
    double step = growth->positions.step;
    for (size_t i = 0; i < chunk->count; i++) {
        size_t f = chunk->first + i;
        chunk->phase_steps[i] = pe_wide_mul_double(growth->frequencies[f], step);
        chunk->ratios[i] = pe_unscaled(
            pe_exp(dd_mul_double(dd_mul_double(growth->rates[f], step), chunk->table.sign)));
    }
}

static void next_row(growth_chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++) {
        chunk->phases[i] = pe_wide_add(chunk->phases[i], chunk->phase_steps[i]);
        chunk->exact[i] = dd_mul(chunk->exact[i], chunk->ratios[i]);
    }
}

/* An entry is known to within 2^-51 of its amplitude: the sine is within 0.62·2^-53, the phase
 * is cut to 64 bits, and the product is rounded. */
#define UNCERTAINTY 0x1p-51

/* Write the chunk's entries of a row, rounded, without gaps. */
static void write_entries(const growth_chunk *chunk, uint64_t row, unsigned char *dst)
{
    const pe_growth *growth = chunk->growth;
    size_t size = pe_dtype_size(growth->dtype);
    uint64_t phases[PAIRS];
    double sines[PAIRS], cosines[PAIRS], below[PAIRS], above[PAIRS];
    unsigned char other[PAIRS * sizeof(double)];
    for (size_t i = 0; i < chunk->count; i++)
        phases[i] = chunk->phases[i].limb[3];
    pe_kernel_get()->anchor(phases, chunk->count, sines, cosines);
    const double *waves = chunk->table.kind == PE_GROWTH_SINES ? sines : cosines;
    for (size_t i = 0; i < chunk->count; i++) {
        double amplitude = chunk->exact[i].hi, entry = amplitude * waves[i];
        below[i] = entry - amplitude * UNCERTAINTY;
        above[i] = entry + amplitude * UNCERTAINTY;
    }
    pe_round_row(growth->dtype, below, chunk->count, dst);
    pe_round_row(growth->dtype, above, chunk->count, other);
    for (size_t i = 0; i < chunk->count; i++)
        if (memcmp(dst + i * size, other + i * size, size) != 0)
            write_entry(growth, chunk->table, row, chunk->first + i, dst + i * size);
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
    const pe_growth *growth = chunk->growth;
    size_t size = pe_dtype_size(growth->dtype);
    for (size_t i = 0; i < chunk->count; i++)
        write_entry(growth, chunk->table, row, chunk->first + i, dst + i * size);
}

void pe_growth_fill(const pe_growth *growth, pe_growth_table table, uint64_t first,
                    uint64_t rows, void *dst)
{
    size_t columns = growth->copies == PE_WAVE_ONCE ? growth->count : 2 * growth->count;
    size_t row_bytes = columns * pe_dtype_size(growth->dtype);
    bool each =
        growth->dtype == PE_F64 || growth->dtype >= PE_DD || table.kind == PE_GROWTH_AMPLITUDES;
    unsigned char entries[PAIRS * sizeof(dd)];
    for (size_t f = 0; f < growth->count; f += PAIRS) {
        growth_chunk chunk = {.growth = growth, .table = table, .first = f};
        chunk.count = growth->count - f < PAIRS ? growth->count - f : PAIRS;
        if (!each && !growth->positions.list)
            prepare_steps(&chunk);
        for (uint64_t r = 0; r < rows; r++) {
            if (!each && (r % BLOCK == 0 || growth->positions.list))
                begin_block(&chunk, first + r);
            else if (!each)
                next_row(&chunk);
            if (each)
                write_each(&chunk, first + r, entries);
            else
                write_entries(&chunk, first + r, entries);
            store_entries(&chunk, entries, (unsigned char *)dst + r * row_bytes);
        }
    }
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
