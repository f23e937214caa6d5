/* Assigning pairs to axes, and the ladders of their frequencies. */
#include "waves/axis_columns.h"

#include <string.h>

/* Pair j of the axis that is the n-th to have columns, whose block begins at pair `start`. */
static size_t find_pair(const pe_axis_columns *columns, size_t axes, size_t n, size_t start,
                        size_t j)
{
    return columns->alternating ? j * axes + n : start + j;
}

void pe_axis_columns_assign(const pe_axis_columns *columns, pe_axes *axes)
{
    for (size_t n = 0, start = 0; n < axes->count; n++) {
        size_t axis = columns->reversed ? axes->count - 1 - n : n;
        size_t own = (size_t)columns->widths[axis] / 2;
        for (size_t j = 0; j < own; j++)
            axes->axis_of_pair[find_pair(columns, axes->count, n, start, j)] = (int32_t)axis;
        start += own;
    }
}

bool pe_axis_columns_ladders(const pe_axis_columns *columns, const pe_axes *axes, pe_wide first,
                             pe_wide *ret_frequencies, pe_pace *pace)
{
    const size_t count = axes->count;
    size_t turned = 0, computed = 0; /* pairs of the ladder */
    pe_wide *ladder = pe_keep(pace, axes->pairs, sizeof *ladder);
    if (!ladder)
        return false;
    memset(ret_frequencies, 0, axes->pairs * sizeof *ret_frequencies);
    for (size_t a = 0; a < count; a++)
        turned += (size_t)columns->widths[a] / 2;
    if (columns->split)
        pe_wave_geometric_ladder(first, turned, columns->theta, 1, turned, ladder);
    for (size_t n = 0, start = 0; n < count; n++) {
        size_t axis = columns->reversed ? count - 1 - n : n;
        size_t own = (size_t)columns->widths[axis] / 2;
        if (!columns->split && own > 0 && own != computed)
            pe_wave_geometric_ladder(first, own, columns->theta, 1, own, ladder);
        computed = own;
        for (size_t j = 0; j < own; j++)
            ret_frequencies[find_pair(columns, count, n, start, j)] =
                ladder[columns->split ? j * count + n : j];
        start += own;
    }
    return true;
}
