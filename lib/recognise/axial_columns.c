#include "recognise/axial_columns.h"

#include <stdio.h>

#define LOOKED_AT 16 /* rows */

/* The place of an axis among those that have columns. */
static size_t find_place(const pe_axial_columns *columns, size_t axis)
{
    return columns->reversed ? columns->request.axes - 1 - axis : axis;
}

pe_columns pe_axial_columns_select(const pe_axial_columns *columns, size_t axis)
{
    const pe_axial_request *request = &columns->request;
    const size_t place = find_place(columns, axis);
    pe_columns own = {0, 1, request->widths[axis] / 2};
    for (size_t a = 0; a < request->axes; a++)
        own.first += find_place(columns, a) < place ? request->widths[a] / 2 : 0;
    if (columns->alternating)
        own = (pe_columns){place, request->axes, own.count};
    if (columns->full && columns->layout == PE_LAYOUT_INTERLEAVED) {
        own.first *= 2;
        own.stride *= 2;
    } else if (columns->full && columns->layout == PE_LAYOUT_HALF_BY_AXIS) {
        own.first *= 2;
    }
    return own;
}

double pe_axial_columns_start(const pe_axial_columns *columns, size_t axis)
{
    return (double)find_place(columns, axis) / (double)columns->request.axes;
}

/* The distance from a column to the one that has the same entries; 0: there is none. */
static uint64_t find_copy(const pe_axial_columns *columns, size_t axis)
{
    if (!columns->full)
        return 0;
    return columns->layout == PE_LAYOUT_INTERLEAVED    ? 1
           : columns->layout == PE_LAYOUT_HALF_BY_AXIS ? columns->request.widths[axis] / 2
                                                       : columns->request.pairs;
}

static bool are_equal(const pe_observation *seen, uint64_t one, uint64_t other)
{
    for (size_t i = 0; i < LOOKED_AT; i++) {
        const uint64_t row = i * (seen->sampled - 1) / (LOOKED_AT - 1);
        if (!pe_observation_is_same(seen, pe_observation_entry(seen, row, one),
                                    pe_observation_entry(seen, row, other)))
            return false;
    }
    return true;
}

/* Whether an arrangement has the axes that columns were seen to have, and the copies. */
static bool has_observed_axes(const pe_axial_columns *columns, const pe_observation *seen,
                              const int32_t *axis_of_column)
{
    uint64_t turned = 0, changing = 0;
    for (uint64_t c = 0; c < seen->columns; c++)
        changing += axis_of_column[c] >= 0;
    for (size_t a = 0; a < columns->request.axes; a++) {
        const pe_columns own = pe_axial_columns_select(columns, a);
        const uint64_t copy = find_copy(columns, a);
        for (uint64_t i = 0; i < own.count; i++) {
            const uint64_t column = own.first + i * own.stride;
            if (column + copy >= seen->columns ||
                (axis_of_column[column] >= 0 && axis_of_column[column] != (int32_t)a) ||
                !are_equal(seen, column, column + copy))
                return false;
            turned += axis_of_column[column] < 0 ? 0 : copy > 0 ? 2 : 1;
        }
    }
    return turned == changing; /* else columns change that no axis turns */
}

/* Count the columns that the axes turn one after the other; those that do not change belong to
 * the axis before, or to the first one. `all`: also the last of them. False: axes alternate. */
static bool count_widths(pe_axial_columns *columns, const int32_t *axis_of_column, bool all)
{
    pe_axial_request *request = &columns->request;
    const uint64_t step = columns->full && columns->layout == PE_LAYOUT_INTERLEAVED ? 2 : 1;
    size_t place = 0, still = 0;
    for (size_t a = 0; a < request->axes; a++)
        request->widths[a] = 0;
    for (size_t pair = 0; pair < request->pairs; pair++) {
        const int32_t found = axis_of_column[pair * step];
        if (found < 0) {
            still++;
            continue;
        }
        const size_t next = find_place(columns, (size_t)found); /* its own inverse */
        if (next < place)
            return false;
        request->widths[find_place(columns, place)] += 2 * still;
        place = next;
        request->widths[found] += 2;
        still = 0;
    }
    request->widths[find_place(columns, place)] += all ? 2 * still : 0;
    return true;
}

/* ---- all arrangements ---- */

static void write_text(pe_axial_columns *columns, const char *split)
{
    static const char *const LAYOUTS[] = {"", "&layout=interleaved", "&layout=half_by_axis"};
    snprintf(columns->text, sizeof columns->text, "&dim=%zu%s%s%s%s%s%s",
             2 * columns->request.pairs, columns->full ? "&table=full" : "", split,
             columns->reversed ? "&axis_order=reversed" : "",
             columns->split_ladder ? "&ladder=split" : "",
             columns->alternating ? "&arrangement=alternating" : "",
             columns->full ? LAYOUTS[columns->layout] : "");
}

typedef struct trial {
    const pe_observation *seen;
    const int32_t *axis_of_column;
    pe_axial_columns_use *use;
    void *context;
} trial;

/* Try widths with each arrangement of frequencies that they may have. */
static void try_widths(const trial *self, pe_axial_columns columns, const char *split)
{
    bool equal = true, all = true;
    for (size_t a = 0; a < columns.request.axes; a++) {
        equal = equal && columns.request.widths[a] == columns.request.widths[0];
        all = all && columns.request.widths[a] > 0;
    }
    for (int i = 0; all && i < (equal ? 4 : 1); i++) {
        columns.alternating = i / 2;
        columns.split_ladder = i % 2;
        if (!has_observed_axes(&columns, self->seen, self->axis_of_column))
            continue;
        write_text(&columns, split);
        self->use(self->context, &columns);
    }
}

/* Try the widths that are usual, and those that were seen. */
static void try_splits(const trial *self, pe_axial_columns columns)
{
    static const char *const SPLITS[] = {"", "&split=rounded_down", "&split=rest_to_first",
                                         "&split=eighth_first"};
    char widths[PE_AXIAL_TEXT];
    for (size_t i = 0; i < PE_COUNT(SPLITS); i++) {
        pe_axial_request_split(&columns.request, (pe_axial_split)i);
        try_widths(self, columns, SPLITS[i]);
    }
    for (int all = 0; all < 2 && columns.layout != PE_LAYOUT_HALF_BY_AXIS; all++) {
        size_t used = (size_t)snprintf(widths, sizeof widths, "&widths=");
        if (!count_widths(&columns, self->axis_of_column, all))
            return;
        for (size_t a = 0; a < columns.request.axes; a++)
            used += (size_t)snprintf(widths + used, sizeof widths - used, "%s%llu",
                                     a > 0 ? "," : "",
                                     (unsigned long long)columns.request.widths[a]);
        try_widths(self, columns, widths);
    }
}

void pe_axial_columns_try(const pe_observation *seen, const int32_t *axis_of_column,
                          size_t axes, pe_axial_columns_use *use, void *context)
{
    const trial self = {seen, axis_of_column, use, context};
    for (int full = 0; full < 2 && seen->columns % (full ? 2 : 1) == 0; full++)
        for (int layout = 0; layout < (full ? 3 : 1); layout++)
            for (int reversed = 0; reversed < 2; reversed++)
                try_splits(&self,
                           (pe_axial_columns){
                               .request = {.axes = axes,
                                           .pairs = (size_t)seen->columns / (full ? 2 : 1)},
                               .full = full,
                               .layout = layout,
                               .reversed = reversed});
}
