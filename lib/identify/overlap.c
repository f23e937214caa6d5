/* Explaining by lines that are shifted where no request has the shift: those at both ends of an
 * axis have no counterpart, and the others are compared one by one. */
#include "identify/compared_lines.h"
#include "identify/mistakes.h"

#include <math.h>

#define OVERLAP_SHIFT_MAX 4

/* Two tables whose indices along an axis differ by `shift`: index i of the table is index
 * i + shift of the exact one. */
typedef struct overlap {
    size_t axis;
    int64_t shift;
    pe_view part;   /* the indices of the table that have a counterpart */
    uint64_t inner; /* lines of each index of the axis */
} overlap;

/* Lines of an index of an axis. */
static uint64_t count_inner(const pe_view *view, size_t axis)
{
    uint64_t inner = 1;
    for (size_t i = axis + 1; i + 1 < view->rank; i++)
        inner *= view->shape[i];
    return inner;
}

static overlap make_overlap(const pe_view *view, size_t axis, int64_t shift)
{
    const uint64_t extent = view->shape[axis], size = (uint64_t)(shift < 0 ? -shift : shift);
    return (overlap){.axis = axis,
                     .shift = shift,
                     .part = pe_view_part(view, axis, shift < 0 ? size : 0, extent - size),
                     .inner = count_inner(view, axis)};
}

/* The line of the exact table that a line of the part is compared with. */
static uint64_t find_line(const overlap *self, const pe_view *view, uint64_t line)
{
    const uint64_t extent = self->part.shape[self->axis];
    const uint64_t inner = line % self->inner, index = line / self->inner % extent;
    const uint64_t outer = line / self->inner / extent;
    return (outer * view->shape[self->axis] + index +
            (self->shift > 0 ? (uint64_t)self->shift : 0)) *
               self->inner +
           inner;
}

/* Whether all lines of the part fit: some first. Notes the figures. */
static bool overlap_fits(pe_compared_lines *lines, pe_trial *trial, const overlap *self,
                         const pe_view *view)
{
    const uint64_t count = pe_view_lines(&self->part);
    const double line_price =
        (pe_request_price(lines->request) - pe_request_preparation_price(lines->request)) /
        (double)pe_view_lines(view);
    bool good = pe_trial_spend(trial, PE_TRIAL_LINES * line_price);
    trial->found->tried++;
    for (uint64_t i = 0; good && i < PE_TRIAL_LINES; i++) {
        const uint64_t line = i * (count - 1) / (PE_TRIAL_LINES - 1);
        good = pe_compared_lines_fit(lines, trial, &self->part, line,
                                     find_line(self, view, line), 1);
    }
    good = good && pe_trial_spend(trial, (double)count * line_price);
    lines->differing = 0;
    lines->max_abs = 0;
    for (uint64_t line = 0; good && line < count; line++)
        good = pe_compared_lines_fit(lines, trial, &self->part, line,
                                     find_line(self, view, line), 1);
    if (good) {
        trial->found->found = true;
        trial->found->entries = pe_view_elements(&self->part);
        trial->found->differing = lines->differing;
        trial->found->max_abs = lines->max_abs;
    }
    return good;
}

static bool say_overlap(pe_trial *trial, const overlap *self)
{
    const unsigned long long size =
        (unsigned long long)(self->shift < 0 ? -self->shift : self->shift);
    return pe_trial_say(
        trial, "shift",
        "Shifted by %llu along axis %zu: index i of the table is index i %c %llu "
        "of the exact one, and the %s %llu %s no counterpart.",
        size, self->axis, self->shift > 0 ? '+' : '-', size, self->shift > 0 ? "last" : "first",
        size, size == 1 ? "has" : "have");
}

bool pe_find_fewer(pe_trial *trial, const pe_view *shape)
{
    if (trial->view.rank < 2) /* the first axis is that of the columns */
        return false;
    const uint64_t rows = trial->view.shape[0], fewer = shape->shape[0] - rows;
    pe_view whole = trial->view; /* of which only the shape is looked at */
    pe_compared_lines lines = {.request = NULL};
    whole.shape[0] = shape->shape[0];
    bool found = false,
         open = pe_compared_lines_open(&lines, trial, trial->query, trial->tensor, &whole);
    for (uint64_t first = 0; open && !found && first <= fewer; first += fewer) {
        const overlap part = {
            .shift = (int64_t)first, .part = trial->view, .inner = count_inner(&whole, 0)};
        found =
            overlap_fits(&lines, trial, &part, &whole) &&
            pe_trial_say(trial, "rows",
                         "%llu row%s fewer: the table has rows %llu to %llu of the request.",
                         (unsigned long long)fewer, fewer == 1 ? "" : "s",
                         (unsigned long long)first, (unsigned long long)(first + rows - 1));
    }
    pe_compared_lines_close(&lines);
    return found;
}

bool pe_find_overlap(pe_trial *trial)
{
    pe_compared_lines lines = {.request = NULL};
    bool found = false;
    if (trial->view.rank < 2 ||
        !pe_compared_lines_open(&lines, trial, trial->query, trial->tensor, &trial->view)) {
        pe_compared_lines_close(&lines);
        return false;
    }
    for (size_t axis = 0; !found && axis + 1 < trial->view.rank; axis++)
        for (int step = 2; !found && step < 2 * OVERLAP_SHIFT_MAX + 2; step++) {
            const int64_t shift = step % 2 == 0 ? step / 2 : -(step / 2);
            if (trial->view.shape[axis] < 4 * (uint64_t)(step / 2) ||
                !pe_search_may_continue(&trial->runner))
                continue;
            const overlap shifted = make_overlap(&trial->view, axis, shift);
            found = overlap_fits(&lines, trial, &shifted, &trial->view) &&
                    say_overlap(trial, &shifted);
        }
    pe_compared_lines_close(&lines);
    return found;
}
