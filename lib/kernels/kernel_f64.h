/* Sines and cosines in double-double, and their rounding to f64: included by kernel.c alone.
 *
 * A double-double anchor is within 2^-101 of the exact sine or cosine, and what one rotation
 * gives is within 2^-98: √2·(2^-101 + 2^-101) of the anchors, and less than 2^-103 of its own
 * rounding. An f64 entry is right unless a rounding boundary lies that near, which an entry of
 * magnitude m meets with a probability of about 2^-44/m. */
#ifndef PE_KERNEL_F64_H
#define PE_KERNEL_F64_H

#include "kernels/kernel.h"
#include "kernels/kernel_nontemporal.h"
#include "numerics/dd.h"
#include "numerics/sine_table.h"

#define F64_INLINED static inline __attribute__((always_inline))

/* An unsigned integer below 2^32 as a double, without a conversion of 64-bit integers, which
 * only AVX-512 has. */
F64_INLINED double f64_of_32(uint64_t integer)
{
    return pe_double_of_bits(0x4330000000000000 | integer) -
           0x1p52; /* 2^52 + integer, - 2^52 */
}

/* x + y·z, where |x| >= |y·z|; y·z rounds off 2^-104 of itself. */
F64_INLINED dd f64_add_product(dd x, dd y, dd z)
{
    dd product = dd_two_prod(y.hi, z.hi);
    double low = product.lo + (y.hi * z.lo + y.lo * z.hi);
    dd sum = dd_quick_two_sum(x.hi, product.hi);
    return (dd){sum.hi, sum.lo + (x.lo + low)};
}

/* Turns that are less than 2^-7, times 2π: of the phase rest/2^128, whose upper half is signed.
 */
F64_INLINED dd f64_radians(uint64_t high, uint64_t low)
{
    const dd two_pi = {0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};
    double upper = f64_of_32((high >> 32) ^ 0x80000000) - 0x1p31;
    dd turns = dd_quick_two_sum(upper * 0x1p-32, f64_of_32(high & 0xffffffff) * 0x1p-64);
    turns.lo += f64_of_32(low >> 32) * 0x1p-96 + f64_of_32(low & 0xffffffff) * 0x1p-128;
    turns = dd_quick_two_sum(turns.hi, turns.lo);
    return dd_mul(turns, two_pi);
}

/* sin x and 1 - cos x for |x| <= π/64, within 2^-107, by Taylor series in x². */
F64_INLINED void f64_small_sincos(dd x, dd *ret_sine, dd *ret_versine)
{
    const dd sixth = {-0x1.5555555555555p-3, -0x1.5555555555555p-57};
    const dd c5 = {0x1.1111111111111p-7, 0x1.1111111111111p-63};
    const dd c7 = {-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73};
    const dd c4 = {0x1.5555555555555p-5, 0x1.5555555555555p-59};
    const dd c6 = {-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65};
    const dd c8 = {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76};
    dd square = dd_mul(x, x);
    double s = square.hi;
    double tail =
        0x1.71de3a556c734p-19 +
        s * (-0x1.ae64567f544e4p-26 + s * (0x1.6124613a86d09p-33 + s * -0x1.ae7f3e733b81fp-41));
    dd sum = f64_add_product(c7, square, (dd){tail, 0});
    sum = f64_add_product(c5, square, sum);
    sum = f64_add_product(sixth, square, sum);
    dd cube = dd_mul(x, square);
    *ret_sine = f64_add_product(x, cube, sum);
    tail =
        -0x1.27e4fb7789f5cp-22 +
        s * (0x1.1eed8eff8d898p-29 + s * (-0x1.93974a8c07c9dp-37 + s * 0x1.ae7f3e733b81fp-45));
    sum = f64_add_product(c8, square, (dd){tail, 0});
    sum = f64_add_product(c6, square, sum);
    sum = f64_add_product(c4, square, sum);
    sum = f64_add_product((dd){-0.5, 0}, square, sum);
    *ret_versine = dd_mul(square, sum); /* cos x - 1 */
}

/* p·q + r·s, or p·q - r·s, where no magnitude exceeds 1: within 2^-104. */
F64_INLINED dd f64_product(double p, double p_rest, double q, double q_rest)
{
    dd product = dd_two_prod(p, q);
    return (dd){product.hi, product.lo + (p * q_rest + p_rest * q)};
}

F64_INLINED dd f64_sum(dd a, dd b, double sign)
{
    dd sum = dd_two_sum(a.hi, sign * b.hi);
    return (dd){sum.hi, sum.lo + (a.lo + sign * b.lo)};
}

static void anchor_f64(const uint64_t *restrict high, const uint64_t *restrict low,
                       size_t count, pe_anchors_f64 *restrict ret_anchors)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t step = (high[i] + (1ULL << 57)) >> 58;
        size_t j = step & 63;
        dd sine, versine;
        f64_small_sincos(f64_radians(high[i] - (step << 58), low[i]), &sine, &versine);
        double s = pe_sine_table[j], s_rest = pe_sine_table_rests[j];
        double c = pe_sine_table[j + 16], c_rest = pe_sine_table_rests[j + 16];
        dd to_sin = f64_sum(f64_product(s, s_rest, versine.hi, versine.lo),
                            f64_product(c, c_rest, sine.hi, sine.lo), 1);
        dd to_cos = f64_sum(f64_product(c, c_rest, versine.hi, versine.lo),
                            f64_product(s, s_rest, sine.hi, sine.lo), -1);
        to_sin = f64_sum((dd){s, s_rest}, to_sin, 1);
        to_cos = f64_sum((dd){c, c_rest}, to_cos, 1);
        to_sin = dd_quick_two_sum(to_sin.hi, to_sin.lo);
        to_cos = dd_quick_two_sum(to_cos.hi, to_cos.lo);
        ret_anchors->sin[i] = to_sin.hi;
        ret_anchors->sin_rest[i] = to_sin.lo;
        ret_anchors->cos[i] = to_cos.hi;
        ret_anchors->cos_rest[i] = to_cos.lo;
    }
}

/* Round hi + lo, which is within `error` of the exact value; *unsettled gets a bit if it may
 * round either way. No negative zero. */
F64_INLINED double f64_round(dd value, double error, uint64_t *unsettled)
{
    double below = value.hi + (value.lo - error), above = value.hi + (value.lo + error);
    *unsettled |= (uint64_t)(below != above);
    return below + 0.0;
}

/* One row ahead and one behind from shared products; bit 0 of the result: an unsettled entry
 * ahead, bit 1: behind. */
F64_INLINED unsigned rotate_pair_f64(const pe_anchors_f64 *restrict a,
                                     const pe_anchors_f64 *restrict b, size_t count,
                                     double error, double *restrict ahead_sin,
                                     double *restrict ahead_cos, double *restrict behind_sin,
                                     double *restrict behind_cos)
{
    uint64_t ahead = 0, behind = 0;
    for (size_t i = 0; i < count; i++) {
        dd sc = f64_product(a->sin[i], a->sin_rest[i], b->cos[i], b->cos_rest[i]);
        dd cs = f64_product(a->cos[i], a->cos_rest[i], b->sin[i], b->sin_rest[i]);
        dd cc = f64_product(a->cos[i], a->cos_rest[i], b->cos[i], b->cos_rest[i]);
        dd ss = f64_product(a->sin[i], a->sin_rest[i], b->sin[i], b->sin_rest[i]);
        ahead_sin[i] = f64_round(f64_sum(sc, cs, 1), error, &ahead);
        ahead_cos[i] = f64_round(f64_sum(cc, ss, -1), error, &ahead);
        behind_sin[i] = f64_round(f64_sum(sc, cs, -1), error, &behind);
        behind_cos[i] = f64_round(f64_sum(cc, ss, 1), error, &behind);
    }
    return (unsigned)(ahead != 0) | (unsigned)(behind != 0) << 1;
}

/* The same for sines alone. */
F64_INLINED unsigned rotate_sines_f64(const pe_anchors_f64 *restrict a,
                                      const pe_anchors_f64 *restrict b, size_t count,
                                      double error, double *restrict ahead_sin,
                                      double *restrict behind_sin)
{
    uint64_t ahead = 0, behind = 0;
    for (size_t i = 0; i < count; i++) {
        dd sc = f64_product(a->sin[i], a->sin_rest[i], b->cos[i], b->cos_rest[i]);
        dd cs = f64_product(a->cos[i], a->cos_rest[i], b->sin[i], b->sin_rest[i]);
        ahead_sin[i] = f64_round(f64_sum(sc, cs, 1), error, &ahead);
        behind_sin[i] = f64_round(f64_sum(sc, cs, -1), error, &behind);
    }
    return (unsigned)(ahead != 0) | (unsigned)(behind != 0) << 1;
}

F64_INLINED void store_f64(unsigned char *to, const double *from, size_t count,
                           bool nontemporal)
{
    if (nontemporal)
        store_nontemporal(to, from, count * sizeof *from);
    else
        memcpy(to, from, count * sizeof *from);
}

/* Store a row of sines and cosines where `rows` wants row r. */
F64_INLINED void store_row_f64(const pe_rows *rows, size_t r, size_t count, const double *sines,
                               const double *cosines, bool nontemporal)
{
    _Alignas(64) double turns[2 * PE_KERNEL_PAIRS];
    ptrdiff_t offset = (ptrdiff_t)r * rows->stride;
    if (rows->alone || rows->cosines) {
        store_f64(rows->sines + offset, sines, count, nontemporal);
        if (!rows->alone)
            store_f64(rows->cosines + offset, cosines, count, nontemporal);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        turns[2 * i] = sines[i];
        turns[2 * i + 1] = cosines[i];
    }
    store_f64(rows->sines + offset, turns, 2 * count, nontemporal);
}

static pe_unsettled rotate_anchors_f64(const pe_anchors_f64 *a, const pe_anchors_f64 *b,
                                       size_t rows, size_t count, const pe_rows *ahead,
                                       const pe_rows *behind, double error, bool nontemporal)
{
    _Alignas(64) double entries[4][PE_KERNEL_PAIRS];
    pe_unsettled unsettled = {0, 0};
    for (size_t r = 0; r < rows; r++) {
        unsigned found = ahead->alone
                             ? rotate_sines_f64(a, &b[r], count, error, entries[0], entries[2])
                             : rotate_pair_f64(a, &b[r], count, error, entries[0], entries[1],
                                               entries[2], entries[3]);
        unsettled.ahead |= (uint64_t)(found & 1) << r;
        store_row_f64(ahead, r, count, entries[0], entries[1], nontemporal);
        if (!behind)
            continue;
        unsettled.behind |= (uint64_t)(found >> 1) << r;
        store_row_f64(behind, r, count, entries[2], entries[3], nontemporal);
    }
    return unsettled;
}

#endif
