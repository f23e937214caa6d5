#include "recognise/axial_coordinates.h"

#include "recognise/lattice.h"
#include "waves/axes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT   128
#define NEARLY 1e-3 /* relative: what a step between coordinates may be off by */

/* What the first cells along each axis say. */
typedef struct coordinate_axes {
    size_t count;
    uint64_t sizes[PE_AXES_MAX];
    double first[PE_AXES_MAX], step[PE_AXES_MAX]; /* the step of an axis of one cell is 0 */
} coordinate_axes;

/* Read the coordinate of the first cell and the step to the next one along each axis. */
static bool read_steps(const pe_observation *seen, coordinate_axes *axes)
{
    uint64_t distance = 1;
    bool good = true;
    for (size_t a = axes->count; good && a-- > 0; distance *= axes->sizes[a]) {
        double next[PE_AXES_MAX];
        const uint64_t row = axes->sizes[a] > 1 ? distance : 0;
        good = pe_view_read(&seen->view, row, 1, next);
        axes->first[a] = pe_observation_entry(seen, 0, a);
        axes->step[a] = good ? next[a] - axes->first[a] : 0;
        good = good && axes->step[a] >= 0 && isfinite(axes->step[a]);
    }
    return good;
}

/* Write "&name=1,2" of whole numbers. */
static void write_list(const coordinate_axes *axes, const char *name, const double *numbers,
                       char dst[TEXT])
{
    size_t used = (size_t)snprintf(dst, TEXT, "%s=", name);
    for (size_t a = 0; a < axes->count && used < TEXT; a++)
        used +=
            (size_t)snprintf(dst + used, TEXT - used, "%s%.10g", a > 0 ? "," : "", numbers[a]);
}

/* Propose coordinates that count cells, from anywhere, and those of a grid of another size. */
static void propose_indices(const coordinate_axes *axes, const char *rest,
                            pe_proposals *proposals)
{
    double first[PE_AXES_MAX] = {0}, reference[PE_AXES_MAX] = {0};
    char index[TEXT], sizes[TEXT] = "";
    bool zero = true, same = true;
    for (size_t a = 0; a < axes->count; a++) {
        const double step = axes->step[a] > 0 ? axes->step[a] : 1;
        first[a] = pe_find_decimal(axes->first[a] / step, 1e-6) + 0.0;
        reference[a] = fmax(1, rint(step * (double)axes->sizes[a]));
        zero = zero && first[a] == 0;
        same = same && fabs(step - 1) < NEARLY;
    }
    write_list(axes, "&first_index", first, index);
    if (!same)
        write_list(axes, "&reference_sizes", reference, sizes);
    pe_propose_request(proposals, "coordinates", "%s%s%s", rest, zero ? "" : index, sizes);
}

void pe_propose_coordinates(const pe_observation *seen, pe_proposals *proposals)
{
    static const char *const CENTRES[] = {"", "&normalize=max", "&normalize=min"};
    pe_grid_view grid = {.seen = seen};
    coordinate_axes axes = {.count = (size_t)seen->columns};
    char sizes[TEXT], rest[2 * TEXT];
    double places[PE_AXES_MAX];
    if (seen->columns < 2 || seen->columns > 3 || seen->sampled < 4 ||
        !pe_grid_find_width(&grid))
        return;
    const uint64_t rows = axes.count == 3 ? pe_grid_frame_rows(&grid) : grid.height;
    const uint64_t extents[] = {grid.height / rows, rows, grid.width};
    memcpy(axes.sizes, extents + 3 - axes.count, axes.count * sizeof *extents);
    if (!read_steps(seen, &axes))
        return;
    for (size_t a = 0; a < axes.count; a++)
        places[a] = (double)axes.sizes[a];
    write_list(&axes, "sizes", places, sizes);
    snprintf(rest, sizeof rest, "%s&dim=%zu", sizes, 4 * axes.count);
    proposals->angle = fmax((double)grid.height, (double)grid.width);
    if (axes.first[axes.count - 1] < 0)
        for (size_t i = 0; i < PE_COUNT(CENTRES); i++)
            pe_propose_request(proposals, "coordinates", "%s&coordinate_type=centres%s", rest,
                               CENTRES[i]);
    propose_indices(&axes, rest, proposals);
}
