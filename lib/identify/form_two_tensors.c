/* The forms of a table that has two tensors of a request, the cosines and the sines of a
 * rotation: along an axis, in halves or alternating, as matrices, or as their angles; and of
 * two tables in one axis, each of its own request. */
#include "identify/form.h"

#include "foreign/repeats.h"

#include <math.h>
#include <stdio.h>

/* ---- entries that are looked at ---- */

bool pe_view_read_sample(const pe_view *view, double *entries, size_t *ret_count)
{
    const uint64_t all = view->rank > 0 ? view->shape[0] : 1;
    const uint64_t rows = all < PE_LOOKED_ROWS ? all : PE_LOOKED_ROWS;
    *ret_count = 0;
    for (uint64_t i = 0; i < rows; i++) {
        pe_view line = *view;
        for (bool first = true; line.rank > (first ? 0u : 1u); first = false)
            line = pe_view_at(&line, 0, rows > 1 ? i * (line.shape[0] - 1) / (rows - 1) : 0);
        const bool one = line.rank == 0;
        const uint64_t columns = one                                 ? 1
                                 : line.shape[0] < PE_LOOKED_COLUMNS ? line.shape[0]
                                                                     : PE_LOOKED_COLUMNS;
        if (!pe_view_read(&line, 0, columns, entries + *ret_count))
            return false;
        *ret_count += columns;
    }
    return true;
}

/* The sum of their squares is constant, or grows by a power along the rows, in most of what is
 * looked at. */
bool pe_views_are_turned(const pe_view views[2], bool *ret_read)
{
    double entries[2][PE_LOOKED_ROWS * PE_LOOKED_COLUMNS], sum = 0;
    const uint64_t rows =
        views[0].shape[0] < PE_LOOKED_ROWS ? views[0].shape[0] : PE_LOOKED_ROWS;
    const uint64_t apart = rows > 1 ? (views[0].shape[0] - 1) / (rows - 1) : 0;
    const pe_view even[] = {pe_view_part(&views[0], 0, 0, (rows - 1) * apart + 1),
                            pe_view_part(&views[1], 0, 0, (rows - 1) * apart + 1)};
    size_t count, far = 0, bent = 0, moved = 0;
    *ret_read = pe_view_read_sample(&even[0], entries[0], &count) &&
                pe_view_read_sample(&even[1], entries[1], &count);
    if (!*ret_read || count < 8)
        return false;
    for (size_t i = 0; i < count; i++)
        sum += entries[0][i] * entries[0][i] + entries[1][i] * entries[1][i];
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        moved += entries[0][i] != entries[0][0];
        entries[0][i] = entries[0][i] * entries[0][i] + entries[1][i] * entries[1][i];
        far += !(fabs(entries[0][i] - mean) <= 0.02 * mean);
    }
    const size_t columns = count / (size_t)rows;
    for (size_t i = columns; i + columns < count; i++) {
        const double square = entries[0][i] * entries[0][i];
        bent += !(fabs(entries[0][i - columns] * entries[0][i + columns] - square) <=
                  0.04 * square);
    }
    const bool grows = rows == PE_LOOKED_ROWS && 8 * bent <= count;
    return (8 * far <= count || grows) && 4 * moved >= count && mean > 0;
}

pe_view pe_view_half(const pe_view *view, bool alternating, uint64_t which)
{
    const size_t last = view->rank - 1;
    const uint64_t count = view->shape[last] / 2;
    pe_view half = pe_view_part(view, last, alternating ? which : which * count, count);
    half.strides[last] *= alternating ? 2 : 1;
    return half;
}

/* ---- undoing ---- */

/* What is no cosines and sines may be two tables. */
bool pe_undo_pair(pe_layers *layers, const pe_layer *layer)
{
    bool read = true;
    for (size_t axis = layer->view.rank; layer->is == PE_OTHER_NONE && read && axis-- > 0;) {
        if (layer->view.rank < 2 || layer->view.shape[axis] != 2)
            continue;
        const pe_view views[] = {pe_view_at(&layer->view, axis, 0),
                                 pe_view_at(&layer->view, axis, 1)};
        const bool turned = pe_views_are_turned(views, &read);
        if (turned || (read && layer->view.rank > 2))
            pe_layers_add_two(
                layers, layer,
                (pe_transform){.kind = turned ? PE_TRANSFORM_PAIR : PE_TRANSFORM_PARTS,
                               .axis = axis},
                turned ? PE_OTHER_TENSOR : PE_OTHER_TABLE, views);
    }
    return read;
}

bool pe_undo_halves(pe_layers *layers, const pe_layer *layer)
{
    const size_t rank = layer->view.rank;
    bool read = true;
    if (layer->is != PE_OTHER_NONE || rank < 2 || layer->view.shape[rank - 1] % 2 != 0 ||
        layer->view.shape[rank - 1] < 8 || layer->order)
        return true;
    for (int alternating = 0; read && alternating < 2; alternating++) {
        const pe_view views[] = {pe_view_half(&layer->view, alternating, 0),
                                 pe_view_half(&layer->view, alternating, 1)};
        if (pe_views_are_turned(views, &read))
            pe_layers_add_two(layers, layer,
                              (pe_transform){.kind = alternating ? PE_TRANSFORM_ALTERNATING
                                                                 : PE_TRANSFORM_HALVES,
                                             .axis = rank - 1},
                              PE_OTHER_TENSOR, views);
    }
    return read;
}

bool pe_undo_opposite(pe_layers *layers, const pe_layer *layer)
{
    const size_t rank = layer->view.rank;
    pe_layer beneath = pe_layer_beneath(layer);
    pe_view negated;
    pe_mapped_view mapped;
    bool same = false, constant = false;
    if (layer->is != PE_OTHER_NONE || rank < 2 || layer->view.shape[rank - 1] % 2 != 0 ||
        !pe_layer_note(&beneath,
                       (pe_transform){.kind = PE_TRANSFORM_OPPOSITE, .axis = rank - 1}))
        return true;
    const pe_view first = pe_view_half(&layer->view, false, 0);
    beneath.view = pe_view_half(&layer->view, false, 1);
    beneath.copies *= 2;
    pe_mapped_view_init(&mapped, &first, PE_MAP_NEGATE, 1, 0, &negated);
    if (!pe_views_compare(&negated, &beneath.view, &same, &beneath.differing) ||
        (same && !pe_repeats_are_constant(&beneath.view, 0, &constant)))
        return false;
    if (same && !constant)
        pe_layers_add(layers, &beneath);
    return true;
}

/* The entries of matrices [[cos, -sin], [sin, cos]]: their others are compared in full. */
bool pe_undo_matrices(pe_layers *layers, const pe_layer *layer)
{
    const pe_view *view = &layer->view;
    pe_layer own = *layer;
    pe_view corners[4], negated;
    bool read = true, same = false;
    if (layer->is != PE_OTHER_NONE || view->rank < 3 || view->shape[view->rank - 1] != 2 ||
        view->shape[view->rank - 2] != 2)
        return true;
    for (size_t i = 0; i < 4; i++) {
        const pe_view row = pe_view_at(view, view->rank - 2, i / 2);
        corners[i] = pe_view_at(&row, row.rank - 1, i % 2);
    }
    const pe_view views[] = {corners[0], corners[2]};
    own.copies *= 2;
    if (!pe_views_are_turned(views, &read) ||
        !pe_views_compare(&corners[0], &corners[3], &same, &own.differing) || !same)
        return read;
    pe_mapped_view mapped;
    pe_mapped_view_init(&mapped, &corners[1], PE_MAP_NEGATE, 1, 0, &negated);
    if (!pe_views_compare(&negated, &corners[2], &same, &own.differing))
        return false;
    if (same)
        pe_layers_add_two(layers, &own,
                          (pe_transform){.kind = PE_TRANSFORM_MATRICES, .axis = view->rank - 1},
                          PE_OTHER_TENSOR, views);
    return true;
}

/* Whether a matrix may be angles: most columns grow steadily. False: it cannot be read. */
static bool are_angles(const pe_view *view, bool *ret_angles)
{
    double rows[3][PE_LOOKED_COLUMNS], largest = 0;
    size_t straight = 0, moved = 0, count = 0;
    const uint64_t columns =
        view->shape[1] < PE_LOOKED_COLUMNS ? view->shape[1] : PE_LOOKED_COLUMNS;
    for (uint64_t place = 0; place < PE_LOOKED_ROWS; place++) {
        const uint64_t row = place * (view->shape[0] - 3) / (PE_LOOKED_ROWS - 1);
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

bool pe_undo_angles(pe_layers *layers, const pe_layer *layer)
{
    bool angles = false;
    pe_view views[2];
    if (layer->is != PE_OTHER_NONE || layer->view.rank != 2 || layer->view.shape[0] < 8)
        return true;
    if (!are_angles(&layer->view, &angles))
        return false;
    pe_mapped_view *mapped = angles ? pe_layers_hold(layers, 2 * sizeof *mapped) : NULL;
    if (!mapped)
        return !angles;
    for (size_t i = 0; i < 2; i++)
        pe_mapped_view_init(&mapped[i], &layer->view, i == 0 ? PE_MAP_SINE : PE_MAP_COSINE, 1,
                            0, &views[i]);
    pe_layers_add_two(layers, layer, (pe_transform){.kind = PE_TRANSFORM_ANGLES},
                      PE_OTHER_TENSOR, views);
    return true;
}

/* ---- saying ---- */

static const char *sign_of_second(const pe_identity *identity)
{
    return identity->second.negative ? "-" : "";
}

void pe_write_pair(const pe_identity *identity, const pe_transform *form,
                   char dst[PE_FORM_TEXT])
{
    if (identity->is_complex)
        snprintf(dst, PE_FORM_TEXT, "its real part is %s, its imaginary part %s%s",
                 identity->tensor, sign_of_second(identity), identity->second.tensor);
    else
        snprintf(dst, PE_FORM_TEXT, "axis %zu has %s, then %s%s", form->axis, identity->tensor,
                 sign_of_second(identity), identity->second.tensor);
}

void pe_write_parts(const pe_identity *identity, const pe_transform *form,
                    char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "axis %zu has two tables", form->axis);
}

void pe_write_opposite(const pe_identity *identity, const pe_transform *form,
                       char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "axis %zu has it twice, at first with the other sign",
             form->axis);
}

void pe_write_halves(const pe_identity *identity, const pe_transform *form,
                     char dst[PE_FORM_TEXT])
{
    snprintf(dst, PE_FORM_TEXT, "the first half of axis %zu is %s, the second %s%s", form->axis,
             identity->tensor, sign_of_second(identity), identity->second.tensor);
}

void pe_write_alternating(const pe_identity *identity, const pe_transform *form,
                          char dst[PE_FORM_TEXT])
{
    snprintf(dst, PE_FORM_TEXT, "the even indices of axis %zu are %s, the odd ones %s%s",
             form->axis, identity->tensor, sign_of_second(identity), identity->second.tensor);
}

void pe_write_matrices(const pe_identity *identity, const pe_transform *form,
                       char dst[PE_FORM_TEXT])
{
    (void)form;
    snprintf(dst, PE_FORM_TEXT, "the last two axes are rotation matrices of them%s",
             identity->second.negative ? ", transposed" : "");
}

void pe_write_angles(const pe_identity *identity, const pe_transform *form,
                     char dst[PE_FORM_TEXT])
{
    (void)identity;
    (void)form;
    snprintf(dst, PE_FORM_TEXT, "the table has their angles, before cosine and sine");
}
