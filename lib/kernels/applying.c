/* The loops of applying encodings. Whatever a bound decides does not depend on the order of
 * operations, so all builds give the same bits. */
#include "kernels/applying.h"

#include "kernels/instruction_set.h"
#include "numerics/dd.h"
#include "numerics/dtype.h"
#include "numerics/half.h"

#include <stdbool.h>
#include <string.h>

/* Bounds: of doubles 6 units of 2^-53 for one entry, two roundings and the addition of the
 * bound; of pairs 2^-94 for the entry, and a little. Products that underflow err by less than
 * TINY. */
#define NARROW 0x1.8p-51
#define WIDE   0x1p-92
#define TINY   0x1p-1060

static inline double magnitude(double x)
{
    return pe_double_of_bits(pe_bits_of_double(x) & ~(1ULL << 63));
}

/* ---- reading ---- */

static void read_numbers(pe_dtype dtype, const void *elements, size_t count,
                         double *restrict ret_numbers)
{
    const float *floats = elements;
    const uint16_t *halves = elements;
    if (dtype == PE_F64)
        memcpy(ret_numbers, elements, count * sizeof *ret_numbers);
    else if (dtype == PE_F32)
        for (size_t i = 0; i < count; i++)
            ret_numbers[i] = (double)floats[i];
    else if (dtype == PE_BF16)
        for (size_t i = 0; i < count; i++)
            ret_numbers[i] = (double)pe_float_of_bf16(halves[i]);
    else
        for (size_t i = 0; i < count; i++)
            ret_numbers[i] = (double)pe_float_of_f16(halves[i]);
}

/* ---- sums ---- */

static void add(const double *restrict x, double scale, pe_entry_row entries, size_t count,
                pe_sums sums)
{
    const double *restrict hi = entries.hi, *restrict lo = entries.lo;
    double *restrict value = sums.value, *restrict bound = sums.bound;
    double *restrict rest = sums.rest;
    if (!rest) {
        for (size_t i = 0; i < count; i++) {
            double product = scale * hi[i];
            value[i] = x[i] + product;
            bound[i] = NARROW * (magnitude(x[i]) + magnitude(product)) + TINY;
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        dd product = dd_two_prod(scale, hi[i]), sum = dd_two_sum(x[i], product.hi);
        double low = sum.lo + (product.lo + scale * lo[i]);
        value[i] = sum.hi;
        rest[i] = low;
        bound[i] = WIDE * magnitude(product.hi) + 0x1p-52 * magnitude(low) + TINY;
    }
}

static void multiply(const double *restrict x, pe_entry_row entries, size_t count, pe_sums sums)
{
    const double *restrict hi = entries.hi, *restrict lo = entries.lo;
    double *restrict value = sums.value, *restrict bound = sums.bound;
    double *restrict rest = sums.rest;
    if (!rest) {
        for (size_t i = 0; i < count; i++) {
            value[i] = x[i] * hi[i];
            bound[i] = NARROW * magnitude(value[i]) + TINY;
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        dd product = dd_two_prod(x[i], hi[i]);
        value[i] = product.hi;
        rest[i] = product.lo + x[i] * lo[i];
        bound[i] = WIDE * magnitude(product.hi) + TINY;
    }
}

static void rotate(const double *restrict x, const double *restrict y, double turn,
                   pe_entry_row cosines, pe_entry_row sines, size_t count, pe_sums sums)
{
    const double *restrict cos_hi = cosines.hi, *restrict cos_lo = cosines.lo;
    const double *restrict sin_hi = sines.hi, *restrict sin_lo = sines.lo;
    double *restrict value = sums.value, *restrict bound = sums.bound;
    double *restrict rest = sums.rest;
    if (!rest) {
        for (size_t i = 0; i < count; i++) {
            double one = x[i] * cos_hi[i], other = turn * y[i] * sin_hi[i];
            value[i] = one - other;
            bound[i] = NARROW * (magnitude(one) + magnitude(other)) + TINY;
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double z = -turn * y[i];
        dd one = dd_two_prod(x[i], cos_hi[i]), other = dd_two_prod(z, sin_hi[i]);
        dd sum = dd_two_sum(one.hi, other.hi);
        value[i] = sum.hi;
        rest[i] = sum.lo + ((one.lo + other.lo) + (x[i] * cos_lo[i] + z * sin_lo[i]));
        bound[i] = WIDE * (magnitude(one.hi) + magnitude(other.hi)) + TINY;
    }
}

/* ---- contractions ---- */

#define LANES 8

/* Partial sums of every LANES-th product, in doubles. */
static void contract_narrow(const double *restrict x, const double *restrict hi, size_t count,
                            double *ret_value, double *ret_bound)
{
    double sums[LANES] = {0}, sizes[LANES] = {0}, value = 0, size = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            double product = x[i + lane] * hi[i + lane];
            sums[lane] += product;
            sizes[lane] += magnitude(product);
        }
    for (; i < count; i++) {
        double product = x[i] * hi[i];
        sums[i % LANES] += product;
        sizes[i % LANES] += magnitude(product);
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        value += sums[lane];
        size += sizes[lane];
    }
    *ret_value = value;
    *ret_bound = ((double)count + 16) * 0x1p-52 * size + (double)count * TINY;
}

/* A sum of products, and the sum of the errors of its additions and products. */
typedef struct lane_sum {
    double sum[LANES], rest[LANES], size[LANES];
} lane_sum;

static inline void add_product(lane_sum *sums, size_t lane, double x, double hi, double lo)
{
    dd product = dd_two_prod(x, hi), sum = dd_two_sum(sums->sum[lane], product.hi);
    sums->sum[lane] = sum.hi;
    sums->rest[lane] += sum.lo + (product.lo + x * lo);
    sums->size[lane] += magnitude(product.hi);
}

/* The same in pairs: the errors are summed in doubles. */
static void contract_wide(const double *restrict x, pe_entry_row entries, size_t count,
                          double *ret_value, double *ret_rest, double *ret_bound)
{
    const double *restrict hi = entries.hi, *restrict lo = entries.lo;
    lane_sum sums = {{0}, {0}, {0}};
    double size = 0, rest = 0, n = (double)count + 16;
    dd value = {0, 0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            add_product(&sums, lane, x[i + lane], hi[i + lane], lo[i + lane]);
    for (; i < count; i++)
        add_product(&sums, i % LANES, x[i], hi[i], lo[i]);
    for (size_t lane = 0; lane < LANES; lane++) {
        value = dd_two_sum(value.hi, sums.sum[lane]);
        rest += value.lo + sums.rest[lane];
        size += sums.size[lane];
    }
    value = dd_two_sum(value.hi, rest);
    *ret_value = value.hi;
    *ret_rest = value.lo;
    *ret_bound = (WIDE + n * n * 0x1p-104) * size + n * TINY;
}

/* The entries from one on. */
static pe_entry_row skip_entries(pe_entry_row entries, size_t first)
{
    return (pe_entry_row){entries.hi + first, entries.lo ? entries.lo + first : NULL};
}

static void contract(const double *x, pe_entry_row entries, size_t count, size_t rows,
                     pe_sums sums)
{
    for (size_t j = 0; j < rows; j++) {
        const pe_entry_row row = skip_entries(entries, j * count);
        if (row.lo && sums.rest)
            contract_wide(x, row, count, &sums.value[j], &sums.rest[j], &sums.bound[j]);
        else
            contract_narrow(x, row.hi, count, &sums.value[j], &sums.bound[j]);
    }
}

/* Add x times a row to sums, and to the sum of errors and magnitudes. */
static void add_row(double x, pe_entry_row entries, size_t count, pe_sums sums)
{
    const double *restrict hi = entries.hi, *restrict lo = entries.lo;
    double *restrict value = sums.value, *restrict bound = sums.bound;
    double *restrict rest = sums.rest;
    if (!lo || !rest) {
        for (size_t j = 0; j < count; j++) {
            double product = x * hi[j];
            value[j] += product;
            bound[j] += magnitude(product);
        }
        return;
    }
    for (size_t j = 0; j < count; j++) {
        dd product = dd_two_prod(x, hi[j]), sum = dd_two_sum(value[j], product.hi);
        value[j] = sum.hi;
        rest[j] += sum.lo + (product.lo + x * lo[j]);
        bound[j] += magnitude(product.hi);
    }
}

static void combine(const double *x, pe_entry_row entries, size_t count, size_t results,
                    pe_sums sums)
{
    double n = (double)count + 16;
    double unit = sums.rest ? WIDE + n * n * 0x1p-104 : n * 0x1p-52;
    memset(sums.value, 0, results * sizeof *sums.value);
    memset(sums.bound, 0, results * sizeof *sums.bound);
    if (sums.rest)
        memset(sums.rest, 0, results * sizeof *sums.rest);
    for (size_t i = 0; i < count; i++)
        add_row(x[i], skip_entries(entries, i * results), results, sums);
    for (size_t j = 0; j < results; j++) {
        dd value = dd_two_sum(sums.value[j], sums.rest ? sums.rest[j] : 0);
        sums.value[j] = value.hi;
        if (sums.rest)
            sums.rest[j] = value.lo;
        sums.bound[j] = unit * sums.bound[j] + n * TINY;
    }
}

/* ---- deciding ---- */

/* A shorter dtype: its bits, and its least normal and largest numbers. */
/* Round to a short dtype, ties to even: a sum with a number whose last place is that of the
 * result. Numbers beyond 2^200 have any large value. */
static inline double round_short(double x, int digits, double least, double overflow)
{
    double size = magnitude(x);
    size = size > least ? size : least;
    size = size < 0x1p200 ? size : 0x1p200;
    uint64_t power = pe_bits_of_double(size) & 0x7ffULL << 52;
    double ruler = 1.5 * pe_double_of_bits(power + ((uint64_t)(53 - digits) << 52));
    double rounded = (x + ruler) - ruler;
    double above = rounded >= overflow ? (double)INFINITY : rounded;
    return above <= -overflow ? -(double)INFINITY : above;
}

static void decide_short(const pe_dtype_facts *dtype, pe_sums sums, size_t count,
                         double *restrict ret_rounded)
{
    const double *restrict value = sums.value, *restrict bound = sums.bound;
    const double least = ldexp(1, dtype->least_exponent), overflow = dtype->overflow;
    const int digits = dtype->digits;
    for (size_t i = 0; i < count; i++) {
        double low = round_short(value[i] - bound[i], digits, least, overflow);
        double high = round_short(value[i] + bound[i], digits, least, overflow);
        bool same = (low == high) & (magnitude(value[i]) + bound[i] < (double)INFINITY);
        ret_rounded[i] = same ? low : (double)NAN;
    }
}

static void decide(pe_dtype dtype, pe_sums sums, size_t count, double *restrict ret_rounded)
{
    const double *restrict value = sums.value, *restrict bound = sums.bound;
    if (dtype == PE_F16 || dtype == PE_BF16) {
        decide_short(&pe_dtypes[dtype], sums, count, ret_rounded);
    } else if (dtype == PE_F32) {
        for (size_t i = 0; i < count; i++) {
            float low = (float)(value[i] - bound[i]), high = (float)(value[i] + bound[i]);
            bool same = (low == high) & (magnitude(value[i]) + bound[i] < (double)INFINITY);
            ret_rounded[i] = same ? (double)low : (double)NAN;
        }
    } else {
        const double *restrict rest = sums.rest;
        for (size_t i = 0; i < count; i++) {
            double low = value[i] + (rest[i] - bound[i]),
                   high = value[i] + (rest[i] + bound[i]);
            bool same = (low == high) & (magnitude(low) < (double)INFINITY);
            ret_rounded[i] = same ? low : (double)NAN;
        }
    }
}

/* ---- storing ---- */

static void store(pe_dtype dtype, const double *restrict rounded, size_t count, void *dst)
{
    double *restrict doubles = dst;
    float *restrict floats = dst;
    uint16_t *restrict halves = dst;
    if (dtype == PE_F64)
        for (size_t i = 0; i < count; i++)
            doubles[i] = rounded[i] + 0.0;
    else if (dtype == PE_F32)
        for (size_t i = 0; i < count; i++)
            floats[i] = (float)(rounded[i] + 0.0);
    else if (dtype == PE_BF16)
        for (size_t i = 0; i < count; i++)
            halves[i] = pe_bf16_of_float((float)(rounded[i] + 0.0));
    else
        for (size_t i = 0; i < count; i++)
            halves[i] = pe_round_to_half(rounded[i], PE_F16_DROPPED, PE_F16_BIAS);
}

extern const pe_applying PE_FOR_SET(pe_applying);

const pe_applying PE_FOR_SET(pe_applying) = {
    .read = read_numbers,
    .add = add,
    .multiply = multiply,
    .rotate = rotate,
    .contract = contract,
    .combine = combine,
    .decide = decide,
    .store = store,
};
