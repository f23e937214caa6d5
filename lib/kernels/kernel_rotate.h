/* Rotating rows: the loops around those of the instruction set. Only kernel.c includes this
 * file. */
#ifndef PE_KERNEL_ROTATE_H
#define PE_KERNEL_ROTATE_H

#include "kernels/kernel_nontemporal.h"
#include "kernels/kernel_round.h"

/* Both files have first_test, choose_test(), row_state, begin_row(), has_failed(), rotate_row()
 * and streams_directly(). */
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#include "kernels/kernel_avx512.h"
#else
#include "kernels/kernel_vector.h"
#endif

#define INLINED static inline __attribute__((always_inline))

INLINED row_state locate_row(const pe_rows *rows, size_t r)
{
    ptrdiff_t offset = (ptrdiff_t)r * rows->stride;
    return begin_row(rows->sines + offset, rows->cosines ? rows->cosines + offset : NULL);
}

/* Write all rows. Returns the rows that the first test reports. */
INLINED pe_unsettled rotate_rows(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                                 const pe_rows *ahead, const pe_rows *behind, int exponent,
                                 rotation_mode mode)
{
    const first_test test = choose_test(mode.dtype, exponent);
    const pe_rows to_ahead = *ahead, to_behind = behind ? *behind : *ahead; /* in registers */
    pe_unsettled unsettled = {0, 0};
    for (size_t r = 0; r < rows; r++) {
        row_state forth = locate_row(&to_ahead, r), back = locate_row(&to_behind, r);
        rotate_row(a, b[r], count, &forth, behind ? &back : NULL, &test, mode);
        unsettled.ahead |= has_failed(&forth, mode.dtype) << r;
        if (behind)
            unsettled.behind |= has_failed(&back, mode.dtype) << r;
    }
    return unsettled;
}

/* Write each row into a buffer that stays in the L1 cache, then copy it with non-temporal
 * stores: these need whole cache lines. Returns the rows that the first test reports. */
INLINED pe_unsettled rotate_staged(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                                   const pe_rows *ahead, const pe_rows *behind, int exponent,
                                   rotation_mode mode)
{
    _Alignas(64) unsigned char staged[2][2 * PE_KERNEL_PAIRS * sizeof(float)];
    const size_t bytes = (mode.arranged == PAIRS ? 2 : 1) * pe_dtype_size(mode.dtype) * count;
    const pe_rows *sides[2] = {ahead, behind};
    pe_rows to[2];
    pe_unsettled unsettled = {0, 0};
    mode.nontemporal = false;
    for (size_t s = 0; s < 2; s++)
        to[s] = (pe_rows){staged[s], staged[s] + PE_KERNEL_PAIRS * sizeof(float), 0, false};
    for (size_t r = 0; r < rows; r++) {
        pe_unsettled one =
            rotate_rows(a, &b[r], 1, count, &to[0], behind ? &to[1] : NULL, exponent, mode);
        unsettled.ahead |= one.ahead << r;
        unsettled.behind |= one.behind << r;
        for (size_t s = 0; s < 2 && sides[s]; s++) {
            row_state row = locate_row(sides[s], r);
            store_nontemporal(row.sines, to[s].sines, bytes);
            if (mode.arranged == APART)
                store_nontemporal(row.cosines, to[s].cosines, bytes);
        }
    }
    return unsettled;
}

/* Whether every row begins at a cache line. */
static inline bool are_aligned(const pe_rows *rows)
{
    uintptr_t all = (uintptr_t)rows->sines | (uintptr_t)rows->cosines;
    return (all | (uintptr_t)rows->stride) % 64 == 0;
}

/* Choose the loop. Each call of rotate_rows is inlined with constants of its own. */
INLINED pe_unsettled choose_loop(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                                 const pe_rows *ahead, const pe_rows *behind,
                                 pe_rounding rounding, pe_dtype dtype, arrangement arranged)
{
    const int exponent = rounding.exponent;
    const rotation_mode cached = {dtype, arranged, .nontemporal = false};
    const rotation_mode nontemporal = {dtype, arranged, .nontemporal = true};
    bool direct = streams_directly(dtype, arranged) && are_aligned(ahead) &&
                  (!behind || are_aligned(behind));
    if (rounding.nontemporal && !direct)
        return rotate_staged(a, b, rows, count, ahead, behind, exponent, cached);
    if (rounding.nontemporal && behind)
        return rotate_rows(a, b, rows, count, ahead, behind, exponent, nontemporal);
    if (rounding.nontemporal)
        return rotate_rows(a, b, rows, count, ahead, NULL, exponent, nontemporal);
    if (behind)
        return rotate_rows(a, b, rows, count, ahead, behind, exponent, cached);
    return rotate_rows(a, b, rows, count, ahead, NULL, exponent, cached);
}

/* Rotate the doubtful rows of one side again and apply the second test. Returns the rows that
 * have uncertain entries. */
static uint64_t test_again(pe_sincos a, const pe_sincos *b, size_t count, bool back,
                           const pe_rows *rows, uint64_t doubtful, int exponent,
                           second_test *test)
{
    _Alignas(64) double sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    double pairs[2 * PE_KERNEL_PAIRS];
    uint64_t uncertain = 0;
    for (; doubtful; doubtful &= doubtful - 1) {
        size_t r = (size_t)__builtin_ctzll(doubtful);
        unsigned char *to = rows->sines + (ptrdiff_t)r * rows->stride;
        bool failed = false;
        turn(a, b[r], back, count, sines, cosines);
        if (rows->alone) {
            failed = test(sines, count, exponent, to);
        } else if (rows->cosines) {
            failed = test(cosines, count, exponent, rows->cosines + (to - rows->sines));
            failed |= test(sines, count, exponent, to);
        } else {
            for (size_t i = 0; i < count; i++) {
                pairs[2 * i] = sines[i];
                pairs[2 * i + 1] = cosines[i];
            }
            failed = test(pairs, 2 * count, exponent, to);
        }
        uncertain |= (uint64_t)failed << r;
    }
    return uncertain;
}

#define ROTATE(name, dtype, second)                                                            \
    static pe_unsettled name(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,       \
                             const pe_rows *ahead, const pe_rows *behind,                      \
                             pe_rounding rounding)                                             \
    {                                                                                          \
        int exponent = rounding.exponent;                                                      \
        pe_unsettled unsettled;                                                                \
        if (ahead->alone)                                                                      \
            unsettled = choose_loop(a, b, rows, count, ahead, behind, rounding, dtype, ALONE); \
        else if (ahead->cosines)                                                               \
            unsettled = choose_loop(a, b, rows, count, ahead, behind, rounding, dtype, APART); \
        else                                                                                   \
            unsettled = choose_loop(a, b, rows, count, ahead, behind, rounding, dtype, PAIRS); \
        unsettled.ahead =                                                                      \
            test_again(a, b, count, false, ahead, unsettled.ahead, exponent, second);          \
        unsettled.behind =                                                                     \
            test_again(a, b, count, true, behind, unsettled.behind, exponent, second);         \
        return unsettled;                                                                      \
    }
ROTATE(rotate_f32, PE_F32, second_f32)
ROTATE(rotate_f16, PE_F16, second_f16)
ROTATE(rotate_bf16, PE_BF16, second_bf16)

/* Doubles are stored as they come, sines and cosines apart. */
static pe_unsettled rotate_f64(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                               const pe_rows *ahead, const pe_rows *behind,
                               pe_rounding rounding)
{
    (void)rounding;
    for (size_t r = 0; r < rows; r++) {
        row_state to = locate_row(ahead, r);
        turn(a, b[r], false, count, (double *)(void *)to.sines, (double *)(void *)to.cosines);
        if (!behind)
            continue;
        to = locate_row(behind, r);
        turn(a, b[r], true, count, (double *)(void *)to.sines, (double *)(void *)to.cosines);
    }
    return (pe_unsettled){0, 0};
}

#undef INLINED

#endif
