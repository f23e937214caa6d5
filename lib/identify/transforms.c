#include "identify/transforms.h"

#include "foreign/repeats.h"
#include "recognise/observation.h"

#include <math.h>

#define LOOKED_ROWS    16 /* of a table that is looked at */
#define LOOKED_COLUMNS 64
#define ZEROS_MAX      64 /* rows */

/* ---- what has been undone ---- */

static void remove_unit_axes(pe_undone *undone)
{
    size_t kept = 0;
    for (size_t axis = 0; axis < undone->view.rank; axis++)
        if (undone->view.shape[axis] > 1)
            undone->axes[kept++] = undone->axes[axis];
    undone->view = pe_view_squeezed(&undone->view);
}

pe_undone pe_undone_begin(const pe_view *view)
{
    pe_undone undone = {.view = *view};
    for (size_t axis = 0; axis < view->rank; axis++)
        undone.axes[axis] = axis;
    remove_unit_axes(&undone);
    return undone;
}

bool pe_undone_add(pe_undone *undone, pe_transform transform)
{
    if (undone->count == PE_TRANSFORMS_MAX)
        return false;
    transform.axis = transform.axis < undone->view.rank ? undone->axes[transform.axis] : 0;
    undone->transforms[undone->count++] = transform;
    return true;
}

bool pe_undo_repeats(pe_undone *undone)
{
    for (size_t axis = 0; undone->view.rank > 1 && axis < undone->view.rank;) {
        const uint64_t extent = undone->view.shape[axis];
        pe_repeats repeats;
        if (!pe_repeats_find(&undone->view, axis, &repeats))
            return false;
        const bool last = axis + 1 == undone->view.rank;
        const pe_transform transform = {.kind = repeats.period == 1 ? PE_TRANSFORM_REPEATED
                                                : repeats.run > 1   ? PE_TRANSFORM_EACH
                                                                    : PE_TRANSFORM_TILED,
                                        .axis = axis,
                                        .first = repeats.period,
                                        .count = repeats.run > 1 ? repeats.run
                                                                 : extent / repeats.period};
        if (transform.count == 1 || (last && repeats.period > 1) ||
            !pe_undone_add(undone, transform)) {
            axis++;
            continue;
        }
        undone->view = pe_repeats_once(&undone->view, axis, &repeats);
        axis += undone->view.shape[axis] > 1;
        remove_unit_axes(undone);
    }
    return true;
}

void pe_undo_grid(pe_undone *undone, bool *ret_done)
{
    pe_view *view = &undone->view;
    const size_t last = view->rank - 1;
    *ret_done = view->rank > 2;
    for (size_t axis = 0; *ret_done && axis + 1 < last; axis++)
        *ret_done = view->strides[axis] == view->strides[axis + 1] * view->shape[axis + 1];
    if (!*ret_done ||
        !pe_undone_add(undone, (pe_transform){.kind = PE_TRANSFORM_FLATTENED, .count = last}))
        return;
    for (size_t axis = 0; axis + 1 < last; axis++)
        view->shape[last - 1] *= view->shape[axis];
    for (size_t i = 0; i < 2; i++) {
        view->shape[i] = view->shape[last - 1 + i];
        view->strides[i] = view->strides[last - 1 + i];
        undone->axes[i] = undone->axes[last - 1 + i];
    }
    view->rank = 2;
}

/* ---- zeros ---- */

/* Whether an index of an axis has zeros alone. */
static bool is_zero(const pe_view *view, size_t axis, uint64_t index, bool *ret_read)
{
    double entries[LOOKED_COLUMNS];
    const pe_view line = pe_view_at(view, axis, index);
    bool zero = true;
    for (uint64_t at = 0, now; zero && *ret_read && at < line.shape[0]; at += now) {
        now = line.shape[0] - at < LOOKED_COLUMNS ? line.shape[0] - at : LOOKED_COLUMNS;
        *ret_read = pe_view_read(&line, at, now, entries);
        for (uint64_t i = 0; zero && *ret_read && i < now; i++)
            zero = entries[i] == 0;
    }
    return zero && *ret_read;
}

static bool may_have_zeros(const pe_view *view)
{
    return view->rank == 2 && view->shape[0] >= 8 && view->shape[1] >= 4;
}

bool pe_undo_zero_columns(pe_undone *undone, bool *ret_done)
{
    pe_view *view = &undone->view;
    uint64_t columns = 0;
    bool read = true;
    *ret_done = false;
    if (!may_have_zeros(view))
        return true;
    while (4 * columns < 3 * view->shape[1] &&
           is_zero(view, 1, view->shape[1] - 1 - columns, &read))
        columns++;
    const uint64_t left = view->shape[1] - columns;
    *ret_done =
        read && columns > 0 &&
        pe_undone_add(undone, (pe_transform){PE_TRANSFORM_ZERO_COLUMNS, 1, left, columns, 0});
    if (*ret_done)
        *view = pe_view_part(view, 1, 0, left);
    return read;
}

bool pe_undo_zero_rows(pe_undone *undone, bool *ret_done)
{
    pe_view *view = &undone->view;
    uint64_t before = 0, after = 0;
    bool read = true;
    *ret_done = false;
    if (!may_have_zeros(view))
        return true;
    const uint64_t most = view->shape[0] / 4 < ZEROS_MAX ? view->shape[0] / 4 : ZEROS_MAX;
    while (before < most && is_zero(view, 0, before, &read))
        before++;
    while (after < most && is_zero(view, 0, view->shape[0] - 1 - after, &read))
        after++;
    const uint64_t rows = view->shape[0] - before - after;
    const pe_transform transforms[] = {{PE_TRANSFORM_ZERO_ROWS, 0, 0, before, 0},
                                       {PE_TRANSFORM_ZERO_ROWS, 0, before + rows, after, 0}};
    for (size_t i = 0; read && i < PE_COUNT(transforms); i++)
        *ret_done |= transforms[i].count > 0 && pe_undone_add(undone, transforms[i]);
    if (*ret_done)
        *view = pe_view_part(view, 0, before, rows);
    return read;
}

/* ---- cosines and sines ---- */

/* Entries of a table that are spread over its rows, and the first ones of these: at most
 * LOOKED_ROWS times LOOKED_COLUMNS. */
static bool read_sample(const pe_view *view, double *entries, size_t *ret_count)
{
    const uint64_t all = view->rank > 0 ? view->shape[0] : 1;
    const uint64_t rows = all < LOOKED_ROWS ? all : LOOKED_ROWS;
    *ret_count = 0;
    for (uint64_t i = 0; i < rows; i++) {
        pe_view line = *view;
        for (bool first = true; line.rank > (first ? 0u : 1u); first = false)
            line = pe_view_at(&line, 0, first && rows > 1 ? i * (all - 1) / (rows - 1) : 0);
        const bool one = line.rank == 0;
        const uint64_t columns = one                              ? 1
                                 : line.shape[0] < LOOKED_COLUMNS ? line.shape[0]
                                                                  : LOOKED_COLUMNS;
        if (!pe_view_read(&line, 0, columns, entries + *ret_count))
            return false;
        *ret_count += columns;
    }
    return true;
}

/* The amplitude of two tensors whose squares have a constant sum in what is looked at; 0 if
 * they do not. *ret_read: as read_some. */
static double find_amplitude(const pe_view views[2], bool *ret_read)
{
    double entries[2][LOOKED_ROWS * LOOKED_COLUMNS], sum = 0;
    size_t count, far = 0, moved = 0;
    *ret_read = read_sample(&views[0], entries[0], &count) &&
                read_sample(&views[1], entries[1], &count);
    if (!*ret_read || count < 8)
        return 0;
    for (size_t i = 0; i < count; i++)
        sum += entries[0][i] * entries[0][i] + entries[1][i] * entries[1][i];
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        double square = entries[0][i] * entries[0][i] + entries[1][i] * entries[1][i];
        far += !(fabs(square - mean) <= 0.02 * mean);
        moved += entries[0][i] != entries[0][0];
    }
    return 8 * far <= count && 4 * moved >= count && mean > 0 ? sqrt(mean) : 0;
}

/* One of the columns of each pair. */
static pe_view view_half(const pe_view *view, bool alternating, uint64_t which)
{
    const size_t last = view->rank - 1;
    const uint64_t count = view->shape[last] / 2;
    pe_view half = pe_view_part(view, last, alternating ? which : which * count, count);
    half.strides[last] *= alternating ? 2 : 1;
    return half;
}

/* Cosines and sines of rotation matrices: whether the other entries are what they must be is
 * compared in full. */
static bool find_matrices(const pe_view *view, pe_pair *ret_pair, bool *ret_found)
{
    pe_view corners[4];
    for (size_t i = 0; i < 4; i++) {
        const pe_view row = pe_view_at(view, view->rank - 2, i / 2);
        corners[i] = pe_view_at(&row, row.rank - 1, i % 2);
    }
    pe_mapped_view negative;
    pe_view other;
    bool read = true;
    ret_pair->transform = (pe_transform){.kind = PE_TRANSFORM_MATRICES, .axis = view->rank - 1};
    ret_pair->views[0] = corners[0];
    ret_pair->views[1] = corners[2];
    *ret_found = find_amplitude(ret_pair->views, &read) > 0;
    if (read && *ret_found)
        read = pe_views_compare(&corners[0], &corners[3], ret_found);
    if (!read || !*ret_found)
        return read;
    *ret_found = pe_mapped_view_init(&negative, &corners[1], PE_MAP_NEGATE, 0, &other);
    if (*ret_found)
        read = pe_views_compare(&other, &corners[2], ret_found);
    pe_mapped_view_done(&negative);
    return read;
}

bool pe_find_pair(const pe_undone *undone, size_t place, pe_pair *ret_pair, bool *ret_found)
{
    const pe_view *view = &undone->view;
    const size_t rank = view->rank;
    bool read = true;
    *ret_found = false;
    if (rank < 2)
        return true;
    *ret_pair = (pe_pair){.transform.axis = 0};
    if (place == 0) {
        if (rank < 3 || view->shape[rank - 1] != 2 || view->shape[rank - 2] != 2)
            return true;
        return find_matrices(view, ret_pair, ret_found);
    }
    if (place <= PE_VIEW_RANK_MAX) {
        const size_t axis = PE_VIEW_RANK_MAX - place;
        if (axis >= rank || view->shape[axis] != 2)
            return true;
        ret_pair->transform = (pe_transform){.kind = PE_TRANSFORM_PAIR, .axis = axis};
        for (size_t i = 0; i < 2; i++)
            ret_pair->views[i] = pe_view_at(view, axis, i);
    } else {
        const bool alternating = place > PE_VIEW_RANK_MAX + 1;
        if (view->shape[rank - 1] % 2 != 0 || view->shape[rank - 1] < 8)
            return true;
        ret_pair->transform =
            (pe_transform){.kind = alternating ? PE_TRANSFORM_ALTERNATING : PE_TRANSFORM_HALVES,
                           .axis = rank - 1};
        for (size_t i = 0; i < 2; i++)
            ret_pair->views[i] = view_half(view, alternating, i);
    }
    *ret_found = find_amplitude(ret_pair->views, &read) > 0;
    return read;
}

bool pe_find_factor(const pe_view *view, double *ret_factor)
{
    bool read = true;
    double factor = 0;
    for (size_t i = 0; i < 3 && factor == 0 && read; i++) {
        const size_t last = view->rank - 1;
        if (view->rank < 2 || view->shape[last] % 4 != 0)
            break;
        /* the halves of a grid's channels are of two axes, each with its own pairs */
        const pe_view half = i == 2 ? view_half(view, false, 0) : *view;
        const pe_view views[] = {view_half(&half, i == 1, 0), view_half(&half, i == 1, 1)};
        factor = find_amplitude(views, &read);
    }
    *ret_factor = fabs(factor - 1) > 1e-5 ? factor : 0;
    return read;
}

/* ---- angles ---- */

bool pe_detect_angles(const pe_view *view, bool *ret_angles)
{
    double rows[3][LOOKED_COLUMNS], largest = 0;
    size_t straight = 0, moved = 0, count = 0;
    *ret_angles = false;
    if (view->rank != 2 || view->shape[0] < 8)
        return true;
    const uint64_t columns = view->shape[1] < LOOKED_COLUMNS ? view->shape[1] : LOOKED_COLUMNS;
    for (uint64_t place = 0; place < LOOKED_ROWS; place++) {
        const uint64_t row = place * (view->shape[0] - 3) / (LOOKED_ROWS - 1);
        for (uint64_t i = 0; i < 3; i++) {
            const pe_view line = pe_view_at(view, 0, row + i);
            if (!pe_view_read(&line, 0, columns, rows[i]))
                return false;
        }
        for (uint64_t c = 0; c < columns; c++, count++) {
            double bend = rows[0][c] - 2 * rows[1][c] + rows[2][c], most = fabs(rows[2][c]);
            largest = fmax(largest, most);
            straight += fabs(bend) <= 0.01 * most + 1e-30;
            moved += rows[0][c] != rows[1][c];
        }
    }
    *ret_angles = 3 * straight >= 2 * count && 8 * moved >= count && largest > 4;
    return true;
}

/* ---- masks ---- */

bool pe_find_mask(const pe_view *view, double *ret_mask, bool *ret_found)
{
    double first[3], below = 0;
    *ret_found = false;
    if (view->rank < 2 || view->rank > 3)
        return true;
    const pe_view head = view->rank == 3 ? pe_view_at(view, 0, 0) : *view;
    const uint64_t queries = head.shape[0], keys = head.shape[1];
    if (queries < 4 || keys < queries)
        return true;
    /* keys that the first query does not see, and one that the last one sees */
    const pe_view row = pe_view_at(&head, 0, 0), last = pe_view_at(&head, 0, queries - 1);
    const uint64_t visible = keys - queries + 1;
    if (!pe_view_read(&row, visible, 1, &first[0]) ||
        !pe_view_read(&row, keys - 1, 1, &first[1]) || !pe_view_read(&last, 0, 1, &below))
        return false;
    *ret_mask = first[0];
    *ret_found = pe_mapped_view_masks(first[0], first[1]) && below != first[0] &&
                 (first[0] == 0 || first[0] < -1000);
    return true;
}
