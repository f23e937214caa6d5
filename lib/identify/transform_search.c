#include "identify/transform_search.h"

#include "foreign/repeats.h"
#include "identify/query.h"
#include "identify/transforms.h"
#include "recognise/observation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCHES_MAX 6 /* beside that of the table as it is */

/* One table, and room for what is found of it. */
typedef struct state {
    const pe_searcher *searcher;
    pe_identity *found, *second;
    size_t left; /* searches */
    bool failed; /* it was ended, or a problem was added */
} state;

/* ---- what is found ---- */

/* Whether nothing better is looked for: an amplitude may be a root, which a decimal only comes
 * near. */
static bool is_settled(const pe_identity *found)
{
    return found->status >= PE_IDENTITY_MATCH ||
           (found->status == PE_IDENTITY_NEAR && found->misfits.count == 0 &&
            !strstr(found->query, "&amplitude="));
}

/* Entries that do not fit, but for those of rows that are all zero: padding, which is told as
 * that. */
static uint64_t count_misfits(const pe_identity *identity)
{
    return identity->misfits.count - identity->misfits.in_zero_rows;
}

bool pe_identity_is_better(const pe_identity *one, const pe_identity *other)
{
    if (one->status != other->status)
        return one->status > other->status;
    return one->status == PE_IDENTITY_NEAR && count_misfits(one) < count_misfits(other);
}

/* Keep what was found of a table whose transforms have been undone, if it is better than the
 * best. */
static void keep_better_identity(state *self, const pe_undone *undone, pe_identity *found)
{
    pe_identity *best = self->searcher->best;
    const size_t proposed = best->proposed + found->proposed;
    const size_t compared = best->compared + found->compared;
    if (pe_identity_is_better(found, best)) {
        *best = *found;
        best->transform_count = undone->count;
        memcpy(best->transforms, undone->transforms, sizeof best->transforms);
        best->rank = undone->view.rank;
        memcpy(best->shape, undone->view.shape, sizeof best->shape);
    } else if (found->waves > best->waves) {
        best->waves = found->waves;
        best->frequency = found->frequency;
        best->amplitude = found->amplitude;
    }
    best->proposed = proposed;
    best->compared = compared;
}

/* Search a view. False: nothing was found. */
static bool search_view(state *self, const pe_view *view)
{
    const pe_view squeezed = pe_view_squeezed(view);
    if (self->failed || self->left == 0)
        return false;
    self->left--;
    self->failed = !self->searcher->search(self->searcher->context, &squeezed, self->found);
    return self->found->status > PE_IDENTITY_UNKNOWN;
}

/* Compare another request with a view. False: it does not make it. */
static bool compare_request(state *self, const pe_view *view, const char *query,
                            const char *tensor)
{
    const pe_view squeezed = pe_view_squeezed(view);
    if (self->failed)
        return false;
    self->failed = !self->searcher->check(self->searcher->context, &squeezed,
                                          self->found->scheme, query, tensor, self->second);
    return self->second->status > PE_IDENTITY_UNKNOWN;
}

/* Note whether a view could be read. */
static bool note_read(state *self, bool read)
{
    if (!read && !self->failed) {
        self->failed = true;
        pe_error_add(self->searcher->reterr, PE_MALFORMED, "body", "",
                     "a table that can be read and held in part");
    }
    return read;
}

/* ---- two tensors ---- */

/* The sines of a tensor of cosines, and the other way round; false if it is neither. */
static bool name_counterpart(const char *tensor, char dst[32])
{
    const char *const names[] = {"cos", "sin"};
    for (size_t i = 0; i < 2; i++) {
        const char *place = strstr(tensor, names[i]);
        if (!place || place[3] != '\0')
            continue;
        snprintf(dst, 32, "%.*s%s", (int)(place - tensor), tensor, names[1 - i]);
        return true;
    }
    return false;
}

/* Whether a view is another tensor of the request that was found, perhaps with the other sign.
 */
static bool is_counterpart(state *self, const pe_view *view, const char *tensor,
                           bool *ret_negative)
{
    pe_mapped_view mapped;
    pe_view negative;
    *ret_negative = false;
    if (compare_request(self, view, self->found->query, tensor))
        return true;
    *ret_negative = pe_mapped_view_init(&mapped, view, PE_MAP_NEGATE, 0, &negative) &&
                    compare_request(self, &negative, self->found->query, tensor);
    pe_mapped_view_done(&mapped);
    return *ret_negative;
}

/* Compare the other tensor with the request that was found of the one. */
static bool check_counterpart(state *self, const pe_view *view)
{
    pe_identity *found = self->found;
    pe_second second = {.negative = false};
    pe_view turned = pe_view_squeezed(view);
    if (found->column_count > 0 || !name_counterpart(found->tensor, second.tensor))
        return false;
    if (found->transposed)
        turned = pe_view_transposed(&turned, 0, 1);
    if (!is_counterpart(self, &turned, second.tensor, &second.negative))
        return false;
    second.status = self->second->status;
    second.misfits = self->second->misfits.count;
    second.largest = self->second->comparison.absolute.error;
    found->second = second;
    if (second.status < found->status) {
        found->status = second.status;
        found->arithmetic = self->second->arithmetic;
    }
    return true;
}

/* The two tensors of a rotary table as the one that the scheme has of both. */
static bool check_joined(state *self, const pe_undone *undone)
{
    char query[PE_IDENTITY_QUERY_MAX], joined[PE_IDENTITY_QUERY_MAX];
    if (strcmp(pe_scheme_describe(self->found->scheme)->name, "rope") != 0 ||
        strcmp(self->found->tensor, "cos") != 0 || self->found->second.negative)
        return false;
    pe_change_query(self->found->query, "table", NULL, query);
    pe_change_query(query, "cos_sin", "true", joined);
    return compare_request(self, &undone->view, joined, "cos_sin") &&
           self->second->status >= self->found->status;
}

/* Search two views as two tensors of a request. `whole` is what they are of, if that may be
 * one tensor of both. */
static void search_two_tensors(state *self, pe_undone *undone, const pe_view views[2],
                               const pe_undone *whole)
{
    undone->view = pe_view_squeezed(&views[0]);
    if (!search_view(self, &views[0]) || !check_counterpart(self, &views[1]))
        return;
    if (whole && check_joined(self, whole))
        keep_better_identity(self, whole, self->second);
    else
        keep_better_identity(self, undone, self->found);
}

static void search_pairs(state *self, const pe_undone *undone)
{
    for (size_t place = 0; place < PE_PAIRS && !is_settled(self->searcher->best); place++) {
        pe_undone inner = *undone;
        pe_pair pair;
        bool found = false, flat = false;
        if (!note_read(self, pe_find_pair(undone, place, &pair, &found)))
            return;
        if (!found || !pe_undone_add(&inner, pair.transform))
            continue;
        search_two_tensors(self, &inner, pair.views,
                           place == PE_VIEW_RANK_MAX + 1 ? undone : NULL);
        if (is_settled(self->searcher->best) || pair.views[0].rank < 3)
            continue;
        pe_undone other = inner;
        inner.view = pair.views[0];
        other.view = pair.views[1];
        pe_undo_grid(&other, &flat);
        pe_undo_grid(&inner, &flat);
        const pe_view views[] = {inner.view, other.view};
        if (flat)
            search_two_tensors(self, &inner, views, NULL);
    }
}

static void search_angles(state *self, const pe_undone *undone)
{
    pe_undone inner = *undone;
    pe_mapped_view mapped[2];
    bool angles = false;
    if (!note_read(self, pe_detect_angles(&undone->view, &angles)) || !angles ||
        !pe_undone_add(&inner, (pe_transform){.kind = PE_TRANSFORM_ANGLES}))
        return;
    pe_view views[2];
    const bool first =
        pe_mapped_view_init(&mapped[0], &undone->view, PE_MAP_COSINE, 0, &views[0]);
    const bool second =
        pe_mapped_view_init(&mapped[1], &undone->view, PE_MAP_SINE, 0, &views[1]);
    if (first && second)
        search_two_tensors(self, &inner, views, NULL);
    pe_mapped_view_done(&mapped[0]);
    pe_mapped_view_done(&mapped[1]);
}

/* ---- one tensor ---- */

/* Search a mapped view of a table. */
static void search_mapped(state *self, const pe_undone *undone, pe_transform transform,
                          pe_mapping mapping)
{
    pe_undone inner = *undone;
    pe_mapped_view mapped;
    if (is_settled(self->searcher->best) || !pe_undone_add(&inner, transform))
        return;
    if (pe_mapped_view_init(&mapped, &undone->view, mapping, transform.value, &inner.view) &&
        search_view(self, &inner.view))
        keep_better_identity(self, &inner, self->found);
    pe_mapped_view_done(&mapped);
}

static void search_masked(state *self, const pe_undone *undone)
{
    pe_transform transform = {.kind = PE_TRANSFORM_MASKED};
    bool found = false;
    if (!note_read(self, pe_find_mask(&undone->view, &transform.value, &found)) || !found)
        return;
    if (isfinite(transform.value))
        search_mapped(self, undone, transform, PE_MAP_UNMASK);
    search_mapped(self, undone, transform, PE_MAP_UNMASK_BY_KEY);
}

/* The number that a measured factor is taken for: a short decimal, the root of a whole number
 * or its reciprocal, or as many digits as the dtype has. */
static double choose_factor(double factor, double error)
{
    const double square = factor * factor, whole = rint(square), part = rint(1 / square);
    const double decimal = pe_find_decimal(factor, fmax(error, 1e-6));
    char text[PE_PRINT_MAX];
    pe_print_number(text, decimal);
    if (strlen(text) <= 6)
        return decimal;
    if (whole >= 1 && fabs(square - whole) <= 2 * error * square)
        return sqrt(whole);
    if (part >= 1 && fabs(1 / square - part) <= 2 * error * part)
        return 1 / sqrt(part);
    return pe_find_decimal(factor, error);
}

/* Whether a request with an amplitude makes the table that was found without its factor. */
static bool check_amplitude(state *self, const pe_undone *undone, double factor)
{
    char query[PE_IDENTITY_QUERY_MAX], text[PE_PRINT_MAX];
    pe_view turned = undone->view;
    if (strcmp(self->found->tensor, "encoding") != 0 || self->found->column_count > 0)
        return false;
    if (self->found->transposed)
        turned = pe_view_transposed(&turned, 0, 1);
    pe_print_number(text, factor);
    pe_change_query(self->found->query, "amplitude", text, query);
    if (!compare_request(self, &turned, query, "encoding") ||
        pe_identity_is_better(self->found, self->second))
        return false;
    self->second->transposed = self->found->transposed;
    return true;
}

/* Search what a table would be without its factor; a scheme that has an amplitude makes the
 * table itself. */
static void search_scaled(state *self, const pe_undone *undone)
{
    const double unit = pe_observation_unit(&undone->view);
    pe_mapped_view mapped;
    pe_undone inner = *undone;
    double factor = 0;
    if (!note_read(self, pe_find_factor(&undone->view, &factor)))
        return;
    if (factor == 0 && self->searcher->best->amplitude > 0)
        factor = self->searcher->best->amplitude;
    factor = factor > 0 && isnormal(factor) ? choose_factor(factor, fmax(unit, 1e-7)) : 1;
    if (factor == 1 ||
        !pe_undone_add(&inner, (pe_transform){.kind = PE_TRANSFORM_FACTOR, .value = factor}))
        return;
    if (pe_mapped_view_init(&mapped, &undone->view, PE_MAP_DIVIDE, factor, &inner.view) &&
        search_view(self, &inner.view)) {
        if (check_amplitude(self, undone, factor))
            keep_better_identity(self, undone, self->second);
        else
            keep_better_identity(self, &inner, self->found);
    }
    pe_mapped_view_done(&mapped);
}

static void search_untransformed(state *self, const pe_undone *undone);

/* Search a table of which a transform was undone by a change of its view. */
static void search_undone(state *self, const pe_undone *inner)
{
    if (is_settled(self->searcher->best))
        return;
    if (search_view(self, &inner->view))
        keep_better_identity(self, inner, self->found);
    search_untransformed(self, inner);
}

static bool has_transform(const pe_undone *undone, pe_transform_kind kind)
{
    for (size_t i = 0; i < undone->count; i++)
        if (undone->transforms[i].kind == kind)
            return true;
    return false;
}

/* Undo what a table, which was searched as it is, may have gone through, and search it. */
static void search_untransformed(state *self, const pe_undone *undone)
{
    pe_dtype dtype;
    pe_undone inner = *undone;
    bool done = false;
    if (self->failed || is_settled(self->searcher->best) || undone->view.rank < 2 ||
        !pe_element_is_real(undone->view.element, &dtype))
        return;
    search_pairs(self, undone);
    if (!is_settled(self->searcher->best) && !self->failed)
        search_masked(self, undone);
    if (!has_transform(undone, PE_TRANSFORM_ZERO_COLUMNS) &&
        note_read(self, pe_undo_zero_columns(&inner, &done)) && done)
        search_undone(self, &inner);
    inner = *undone;
    pe_undo_grid(&inner, &done);
    if (done)
        search_undone(self, &inner);
    if (!is_settled(self->searcher->best) && !self->failed)
        search_angles(self, undone);
    inner = *undone;
    if (!is_settled(self->searcher->best) && !self->failed &&
        !has_transform(undone, PE_TRANSFORM_ZERO_ROWS) &&
        note_read(self, pe_undo_zero_rows(&inner, &done)) && done)
        search_undone(self, &inner);
    if (!is_settled(self->searcher->best) && !self->failed)
        search_scaled(self, undone);
}

/* Search a table without its repetitions; what is constant says nothing. */
static void search_repeated(state *self, pe_undone *undone)
{
    bool constant = false;
    if (!note_read(self, pe_undo_repeats(undone)) || undone->count == 0)
        return;
    if (undone->view.rank == 1 &&
        !note_read(self, pe_repeats_are_constant(&undone->view, 0, &constant)))
        return;
    if (!constant && search_view(self, &undone->view))
        keep_better_identity(self, undone, self->found);
}

bool pe_search_transforms(const pe_searcher *searcher, const pe_view *view, pe_view *ret_last)
{
    state self = {.searcher = searcher,
                  .found = malloc(sizeof *self.found),
                  .second = malloc(sizeof *self.second),
                  .left = SEARCHES_MAX + 1};
    pe_undone whole = pe_undone_begin(view), inner = whole;
    self.failed = !self.found || !self.second;
    if (self.failed)
        pe_error_add(searcher->reterr, PE_NO_MEMORY, "", "", "memory for the search");
    if (search_view(&self, &whole.view) || !self.failed)
        keep_better_identity(&self, &whole, self.found);
    if (!self.failed && !is_settled(searcher->best))
        search_repeated(&self, &inner);
    search_untransformed(&self, &inner);
    *ret_last = inner.view;
    free(self.found);
    free(self.second);
    return !self.failed;
}
