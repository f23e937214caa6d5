/* Sines and cosines of position times frequency by angle addition.
 *
 * A position k is 64·hi + lo with 0 <= lo < 64. For both parts the sine and cosine are taken from
 * exact phases and rounded to double once (the seeds); one rotation per entry combines them:
 *
 *     sin(a + b) = sin a cos b + cos a sin b,   cos(a + b) = cos a cos b - sin a sin b.
 *
 * The split depends on the position alone, so a window has the bits of the whole. A rotation errs
 * by less than 2^-51; an entry that lies within 2^-50 of a rounding boundary of its dtype is
 * recomputed from its own exact phase in double-double. */
#include "wave.h"

#include "dtype.h"
#include "phase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK       32  /* frequencies handled together: the scratch stays in the L2 cache */
#define BLOCK       64  /* positions that share a hi seed */
#define SLOTS       256 /* lo seeds kept: all of a step that is a multiple of 1/4 */
#define UNCERTAINTY 0x1p-50

typedef struct seeds {
    double sin[CHUNK], cos[CHUNK];
} seeds;

typedef struct seed_store {
    seeds high, low[SLOTS];
    double high_tag, low_tags[SLOTS]; /* whose seeds they are; NaN: none */
} seed_store;

/* A position as 64·hi + lo + tail, where |tail| is below the last place of lo. */
typedef struct split {
    double hi, lo, tail;
} split;

pe_wide *pe_wave_geometric(size_t count, double base, uint64_t numerator, uint64_t denominator)
{
    pe_wide *frequencies = malloc(count * sizeof *frequencies);
    if (!frequencies)
        return NULL;
    frequencies[0] = PE_WIDE_RADIAN;
    if (count == 1)
        return frequencies;
    if (base == 1) { /* every power is 1, which a fraction cannot hold */
        for (size_t i = 1; i < count; i++)
            frequencies[i] = frequencies[0];
        return frequencies;
    }
    pe_wide ratio = pe_wide_power(base, numerator, denominator);
    for (size_t i = 1; i < count; i++)
        frequencies[i] = pe_wide_mul(frequencies[i - 1], ratio);
    return frequencies;
}

pe_wave *pe_wave_new(const pe_values *values, size_t columns, pe_wave_layout layout,
                     size_t row_columns)
{
    pe_wave *wave = malloc(sizeof *wave);
    pe_error none;
    pe_error_init(&none); /* the plan has read the positions without a problem */
    if (wave)
        *wave = (pe_wave){
            .positions = pe_positions_read(values, &none),
            .count = columns,
            .layout = layout,
            .columns = columns,
            .row_columns = row_columns,
            .amplitude = 1,
            .dtype = pe_requested_dtype(values),
        };
    return wave;
}

pe_wave *pe_wave_ready(pe_wave *wave)
{
    if (wave->frequencies)
        return wave;
    pe_wave_free(wave);
    return NULL;
}

void pe_wave_free(void *wave)
{
    if (wave)
        free(((pe_wave *)wave)->frequencies);
    free(wave);
}

static split split_position(dd position)
{
    double hi = floor(position.hi / BLOCK);
    if (position.hi == BLOCK * hi && position.lo < 0)
        hi -= 1;
    dd rest = dd_two_sum(position.hi, -BLOCK * hi); /* not one double just below 0 */
    dd lo = dd_two_sum(rest.hi, rest.lo + position.lo);
    return (split){hi, lo.hi, lo.lo};
}

static void seed(pe_wide phase, seeds *ret_seeds, size_t i)
{
    dd sine, cosine;
    pe_phase_sincos(phase, &sine, &cosine);
    ret_seeds->sin[i] = sine.hi; /* normalised: the high part is the rounded value */
    ret_seeds->cos[i] = cosine.hi;
}

static const seeds *high_seeds(seed_store *store, const pe_wide *frequencies, size_t count,
                               double hi)
{
    if (store->high_tag != hi) {
        for (size_t i = 0; i < count; i++)
            seed(pe_wide_mul_integer(frequencies[i], (int64_t)hi * BLOCK), &store->high, i);
        store->high_tag = hi;
    }
    return &store->high;
}

static const seeds *low_seeds(seed_store *store, const pe_wave *wave,
                              const pe_wide *frequencies, size_t count, split at, uint64_t row)
{
    size_t slot = (size_t)(at.lo * (SLOTS / BLOCK)) % SLOTS;
    seeds *low = &store->low[slot];
    if (at.tail == 0 && store->low_tags[slot] == at.lo)
        return low;
    for (size_t i = 0; i < count; i++) {
        pe_wide phase;
        if (at.tail == 0)
            phase = pe_wide_mul_double(frequencies[i], at.lo);
        else
            phase = pe_wide_sub(pe_position_phase(&wave->positions, row, frequencies[i]),
                                pe_wide_mul_integer(frequencies[i], (int64_t)at.hi * BLOCK));
        seed(phase, low, i);
    }
    store->low_tags[slot] = at.tail == 0 ? at.lo : NAN;
    return low;
}

/* sin x and cos x for 0 < |x| < 2^-20. Where x, or 1 times an amplitude, lies on a rounding boundary,
 * the second term decides, however small it is. */
static void small_sincos(dd x, dd *ret_sin, dd *ret_cos)
{
    double square = x.hi * x.hi;
    *ret_sin = dd_quick_two_sum(x.hi, x.lo - x.hi * square / 6 * (1 - square / 20));
    *ret_cos = (dd){1, -fmax(square / 2 * (1 - square / 12), 0x1p-200)};
}

/* Round one entry from its exact phase. */
static void round_exactly(const pe_wave *wave, uint64_t row, size_t frequency, bool cosine,
                          void *dst)
{
    dd parts[2], position = pe_position_at(&wave->positions, row);
    pe_wide turns = wave->frequencies[frequency];
    bool radian = memcmp(&turns, &PE_WIDE_RADIAN, sizeof turns) == 0;
    pe_phase_sincos(pe_position_phase(&wave->positions, row, turns), &parts[0], &parts[1]);
    if (position.hi != 0 && fabs(position.hi) < (radian ? 0x1p-20 : 0x1p-150))
        /* at one radian per position the position itself is the angle, without the rounding of
         * 2π; and below 2^-150 a 256-bit fraction of a turn has too few bits left */
        small_sincos(radian ? position : dd_mul(position, pe_phase_radians(turns)), &parts[0],
                     &parts[1]);
    pe_round_dd(wave->dtype, dd_mul_double(parts[cosine], wave->amplitude), dst);
}

/* Round `count` sines or cosines that begin at frequency `first`. */
static void round_entries(const pe_wave *wave, uint64_t row, size_t first, size_t count,
                          bool cosine, double *entries, unsigned char *dst)
{
    size_t size = pe_dtype_size(wave->dtype);
    double tolerance = fabs(wave->amplitude) * UNCERTAINTY;
    unsigned char above[CHUNK * sizeof(double)];
    double bounds[CHUNK];
    for (size_t i = 0; i < count; i++)
        entries[i] *= wave->amplitude;
    if (wave->dtype == PE_F64) {
        pe_round_row(wave->dtype, entries, count, dst);
        return;
    }
    for (size_t i = 0; i < count; i++)
        bounds[i] = entries[i] - tolerance;
    pe_round_row(wave->dtype, bounds, count, dst);
    for (size_t i = 0; i < count; i++)
        bounds[i] = entries[i] + tolerance;
    pe_round_row(wave->dtype, bounds, count, above);
    if (memcmp(dst, above, count * size) == 0)
        return;
    for (size_t i = 0; i < count; i++)
        if (memcmp(dst + i * size, above + i * size, size) != 0)
            round_exactly(wave, row, first + i, cosine, dst + i * size);
}

/* Place `count` elements at columns start, start + stride …, dropping those past the last. */
static void scatter(const pe_wave *wave, const unsigned char *elements, size_t count,
                    size_t start, size_t stride, unsigned char *row)
{
    size_t size = pe_dtype_size(wave->dtype);
    for (size_t i = 0; i < count && start + i * stride < wave->columns; i++)
        memcpy(row + (start + i * stride) * size, elements + i * size, size);
}

/* Write the columns of `count` frequencies from `first` on into one row. */
static void write_entries(const pe_wave *wave, uint64_t row_number, size_t first, size_t count,
                          const seeds *high, const seeds *low, unsigned char *row)
{
    double sine[CHUNK], cosine[CHUNK];
    unsigned char sines[CHUNK * sizeof(double)], cosines[CHUNK * sizeof(double)];
    size_t size = pe_dtype_size(wave->dtype), half = wave->count;
    for (size_t i = 0; i < count; i++) {
        sine[i] = high->sin[i] * low->cos[i] + high->cos[i] * low->sin[i];
        cosine[i] = high->cos[i] * low->cos[i] - high->sin[i] * low->sin[i];
    }
    round_entries(wave, row_number, first, count, false, sine, sines);
    if (wave->layout != PE_WAVE_SINES)
        round_entries(wave, row_number, first, count, true, cosine, cosines);
    switch (wave->layout) {
    case PE_WAVE_INTERLEAVED:
        scatter(wave, sines, count, 2 * first, 2, row);
        scatter(wave, cosines, count, 2 * first + 1, 2, row);
        break;
    case PE_WAVE_CONCAT:
        scatter(wave, sines, count, first, 1, row);
        scatter(wave, cosines, count, half + first, 1, row);
        break;
    case PE_WAVE_CONCAT_COS_FIRST:
        scatter(wave, cosines, count, first, 1, row);
        scatter(wave, sines, count, half + first, 1, row);
        break;
    case PE_WAVE_ALTERNATING: /* chunks begin at even frequencies */
        for (size_t i = 1; i < count; i += 2)
            memcpy(sines + i * size, cosines + i * size, size);
        scatter(wave, sines, count, first, 1, row);
        break;
    case PE_WAVE_SINES:
        scatter(wave, sines, count, first, 1, row);
        break;
    }
}

void pe_wave_fill(const pe_wave *wave, uint64_t first, uint64_t rows, void *dst)
{
    size_t size = pe_dtype_size(wave->dtype), row_bytes = wave->row_columns * size;
    size_t wave_bytes = wave->columns * size;
    seed_store store;
    for (size_t chunk = 0; chunk < wave->count; chunk += CHUNK) {
        size_t count = wave->count - chunk < CHUNK ? wave->count - chunk : CHUNK;
        const pe_wide *frequencies = wave->frequencies + chunk;
        store.high_tag = NAN;
        for (size_t slot = 0; slot < SLOTS; slot++)
            store.low_tags[slot] = NAN;
        for (uint64_t r = 0; r < rows; r++) {
            split at = split_position(pe_position_at(&wave->positions, first + r));
            const seeds *high = high_seeds(&store, frequencies, count, at.hi);
            const seeds *low = low_seeds(&store, wave, frequencies, count, at, first + r);
            write_entries(wave, first + r, chunk, count, high, low,
                          (unsigned char *)dst + r * row_bytes);
        }
    }
    for (uint64_t r = 0; r < rows; r++) {
        unsigned char *row = (unsigned char *)dst + r * row_bytes;
        dd position = pe_position_at(&wave->positions, first + r);
        if (wave->zero_at_origin && position.hi == 0 && position.lo == 0)
            memset(row, 0, row_bytes);
        else if (row_bytes > wave_bytes)
            memset(row + wave_bytes, 0, row_bytes - wave_bytes);
    }
}

void pe_wave_fill_tensor(const pe_values *values, const pe_plan *plan, const void *state,
                         pe_window window, void *dst)
{
    (void)values, (void)plan;
    pe_wave_fill(state, window.first, window.rows, dst);
}
