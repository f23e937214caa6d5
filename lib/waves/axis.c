/* Angles of the cells of an axis. */
#include "waves/axis.h"

const char *const pe_axis_frequencies[] = {"vaswani", "tensor2tensor", NULL};

static pe_fixed make_fixed(uint64_t number)
{
    return (pe_fixed){.whole = (int64_t)number};
}

/* Turns for half a cell at the first frequency, on an axis of n cells that need not be those of
 * a wave. */
static pe_fixed turn_half_a_cell(const pe_axis *axis, uint64_t n)
{
    if (axis->normalized) { /* 1/(n + 10^-6) = 10^6/(10^6 n + 1) */
        pe_fixed turns = pe_fixed_mul_integer(pe_fixed_from_double(axis->turns), 1000000);
        return pe_fixed_div(turns, make_fixed(2 * (1000000 * n + 1)));
    }
    pe_fixed stretch = make_fixed(1), divisor = pe_fixed_from_double(axis->interpolation);
    if (axis->base_size > 0) {
        stretch = pe_fixed_from_double(axis->base_size);
        divisor = pe_fixed_mul_integer(divisor, (int64_t)axis->size);
    }
    stretch = pe_fixed_div(stretch, pe_fixed_mul_integer(divisor, 2));
    return pe_fixed_mul_wide(stretch, pe_wide_radian);
}

bool pe_axis_set_wave(const pe_axis *axis, uint64_t n, pe_wave *wave, pe_pace *pace)
{
    bool plain = !axis->normalized && axis->base_size == 0 && axis->interpolation == 1;
    const uint64_t last = axis->count - (axis->law == PE_AXIS_TENSOR2TENSOR);
    wave->count = axis->count;
    if (!wave->frequencies)
        wave->frequencies = pe_keep(pace, axis->count, sizeof *wave->frequencies);
    if (!wave->frequencies)
        return false;
    if (plain) {
        wave->positions =
            (pe_positions){.count = n, .offset = (double)axis->first / 2, .step = 1};
        pe_wave_geometric_ladder(pe_wide_radian, axis->count, axis->base, 1, last,
                                 wave->frequencies);
    } else { /* whole numbers, as phases are known modulo one turn for these */
        wave->positions = (pe_positions){.count = n, .offset = (double)axis->first, .step = 2};
        pe_wave_ladder(axis->count, turn_half_a_cell(axis, n), axis->base, 1, last,
                       wave->frequencies);
        wave->rational = true;
    }
    return true;
}
