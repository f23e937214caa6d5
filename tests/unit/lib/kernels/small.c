/* Tests of sines and cosines of small angles, with the kernels of every instruction set: the
 * exact value lies between the two ends, which are nearly always the same. */
#include "kernels/small.h"

#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "numerics/phase.h"
#include "unit.h"

#include <math.h>

#define COUNT 60

/* Random frequencies of which `position` makes angles up to the largest small one. */
static void draw(uint64_t *state, double position, double most, pe_wide *ret_turns)
{
    for (size_t i = 0; i < COUNT; i++) {
        pe_wide turns = {{0, 0, 0, unit_random(state)}};
        unsigned shift = (unsigned)(ceil(log2(position / most)) + 3) + (unsigned)(2 * i);
        ret_turns[i] = pe_wide_shift_right(turns, shift);
    }
}

/* How many of the angles' sines, or cosines, have two ends that differ. The exact value must be
 * one of them. */
static size_t check_angles(const pe_kernel *kernel, pe_dtype dtype,
                           const pe_small_angles *angles, const pe_wide *turns, bool cosine)
{
    const size_t size = pe_dtype_size(dtype);
    unsigned char below[COUNT * 8], above[COUNT * 8], expected[8];
    size_t differences = 0;
    kernel->small(dtype, angles, cosine, below, above);
    for (size_t i = 0; i < COUNT; i++) {
        dd sine, cosine_value;
        pe_wide phase = pe_wide_mul_integer(turns[i], (int64_t)angles->position.hi);
        pe_phase_sincos(phase, &sine, &cosine_value);
        pe_round_dd(dtype, dd_mul(cosine ? cosine_value : sine, angles->amplitude), expected);
        double value = pe_element_value(dtype, expected);
        double low = pe_element_value(dtype, below + i * size);
        double high = pe_element_value(dtype, above + i * size);
        if (value != low && value != high)
            ck_abort_msg("%s, %s: %a is neither %a nor %a", kernel->name, pe_dtype_name(dtype),
                         value, low, high);
        differences += low != high;
    }
    return differences;
}

START_TEST(the_exact_value_lies_between_the_two_ends)
{
    static const pe_dtype dtypes[] = {PE_F32, PE_F64, PE_F16, PE_BF16};
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels), differences = 0;
    uint64_t state = 11;
    for (int repeat = 0; repeat < 4000; repeat++) {
        pe_dtype dtype = dtypes[repeat % 4];
        double position = 1 + (double)(unit_random(&state) >> (12 + repeat % 50));
        double most = dtype == PE_F64 ? PE_SMALL_ANGLE_F64 : PE_SMALL_ANGLE;
        double frequencies[COUNT], rests[COUNT];
        pe_wide turns[COUNT];
        dd amplitude = repeat % 3 ? (dd){1, 0} : (dd){-1.7, 0x1p-56};
        const pe_small_angles angles = {{repeat % 8 < 4 ? position : -position, 0},
                                        amplitude,
                                        frequencies,
                                        rests,
                                        COUNT,
                                        false};
        draw(&state, position, most, turns);
        for (size_t i = 0; i < COUNT; i++) {
            dd radians = pe_phase_radians(turns[i]);
            frequencies[i] = radians.hi;
            rests[i] = radians.lo;
            unit_assert(position * radians.hi <= most);
        }
        for (size_t k = 0; k < count; k++)
            for (int cosine = 0; cosine < 2; cosine++)
                differences += check_angles(kernels[k], dtype, &angles, turns, cosine);
    }
    ck_assert_uint_le(differences, 10);
}
END_TEST

START_TEST(zero_is_certain_and_underflow_is_not)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    double frequency = 0x1p-40, rest = 0, below, above;
    for (size_t k = 0; k < count; k++) {
        pe_small_angles angles = {{0, 0}, {1, 0}, &frequency, &rest, 1, false};
        kernels[k]->small(PE_F64, &angles, false, &below, &above);
        ck_assert(below == 0 && above == 0 && !signbit(below));
        angles.position.hi = 1e-290;
        kernels[k]->small(PE_F64, &angles, false, &below, &above);
        ck_assert(below != above);
    }
}
END_TEST

Suite *small_suite(void)
{
    const TTest *const tests[] = {the_exact_value_lies_between_the_two_ends,
                                  zero_is_certain_and_underflow_is_not, NULL};
    return unit_suite("small", tests);
}
