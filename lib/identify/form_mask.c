/* The form of a bias with a mask: keys after the query, or outside a window, have a number that
 * stands for minus infinity, or is added to the bias. */
#include "identify/form.h"

#include "numerics/dtype.h"

#include <math.h>
#include <stdio.h>

#define MASKED_BYTES_MAX ((uint64_t)8 << 20) /* of a table that is looked at */
#define LEAST_MASK       (-1000.0)
#define WINDOW_LEAST     3 /* keys by which those outside are continued */

typedef struct mask {
    const pe_view *view; /* [heads, queries, keys] or [queries, keys] */
    pe_dtype dtype;
    uint64_t queries, keys;
    double number;  /* of the last key of a query */
    bool added;     /* it is, to a bias: the first masked key after the query has another one */
    double value;   /* what is added, or the number */
    bool symmetric; /* keys on both sides are seen */
    bool decays;    /* entries are powers, not multiples, of a number */
    uint64_t window; /* keys on one side, with the query's own; 0: all */
} mask;

/* Whether an element masks a key. */
static bool is_masked(const mask *self, double element)
{
    return element == self->number ||
           (self->number < 0 && isfinite(self->number) && element <= 0.5 * self->number);
}

/* The keys that a query sees: from *ret_first up to before *ret_end. */
static void find_seen(const mask *self, uint64_t query, uint64_t *ret_first, uint64_t *ret_end)
{
    const uint64_t own = query + self->keys - self->queries;
    const uint64_t window = self->window > 0 ? self->window : self->keys;
    const uint64_t end = self->symmetric ? own + window : own + 1;
    *ret_first = own + 1 > window ? own + 1 - window : 0;
    *ret_end = end < self->keys ? end : self->keys;
}

/* ---- which mask ---- */

/* Read the first head's line of a query. */
static bool read_line(const mask *self, uint64_t head, uint64_t query, double *line)
{
    pe_view plane = *self->view;
    if (plane.rank == 3)
        plane = pe_view_at(&plane, 0, head);
    return pe_view_read(&plane, query, 1, line);
}

/* Find the mask by the line of the query in the middle, whose ends are masked. */
static bool find_mask(mask *self, double *line, bool *ret_found)
{
    const uint64_t query = self->queries / 2, own = query + self->keys - self->queries;
    uint64_t first = 0, end = self->keys;
    *ret_found = false;
    if (!read_line(self, 0, query, line))
        return false;
    self->number = line[self->keys - 1];
    if (!(self->number == 0 || self->number < LEAST_MASK) ||
        is_masked(self, line[self->number == 0 && own > 0 ? own - 1 : own]))
        return true; /* a bias may be 0 for the query's own key */
    while (end > own + 1 && is_masked(self, line[end - 1]))
        end--;
    while (self->number != 0 && first < own && is_masked(self, line[first]))
        first++;
    self->decays = line[own] > 0;
    const double nearest = line[end < self->keys ? end : self->keys - 1];
    self->added = nearest != self->number;
    self->value = self->added ? pe_find_decimal(nearest, 0.02) : self->number;
    self->symmetric = end > own + 1;
    self->window = first > 0 ? own + 1 - first : 0;
    *ret_found = (first == 0 || self->window >= WINDOW_LEAST) &&
                 (!self->symmetric || end - own == self->window);
    return true;
}

/* ---- what is beneath ---- */

/* What keys after a query have beneath the mask: what a causal bias or a decay has there
 * itself, what the last query has of the key, or of one as far before it. */
typedef enum later { CAUSAL, BY_KEY, SYMMETRIC } later;

/* Put a number in place of an element that the mask makes of it; others stay. */
static void unmask(const mask *self, double number, double *element)
{
    const double masked =
        self->added ? pe_round_number(number + self->value, self->dtype) : self->number;
    if (*element == masked)
        *element = number;
}

/* Continue what is seen of a line in its window on both sides. */
static void continue_line(const mask *self, uint64_t query, later after, const double *last,
                          double *line)
{
    uint64_t first, end;
    const uint64_t own = query + self->keys - self->queries;
    find_seen(self, query, &first, &end);
    for (uint64_t key = first; self->window > 0 && key-- > 0;)
        unmask(self, 2 * line[key + 1] - line[key + 2], &line[key]);
    for (uint64_t key = end; key < self->keys; key++)
        unmask(self,
               self->symmetric      ? 2 * line[key - 1] - line[key - 2]
               : after == BY_KEY    ? last[key]
               : after == SYMMETRIC ? last[self->keys - 1 - (key - own)]
               : self->decays       ? 0
                                    : -INFINITY,
               &line[key]);
}

/* Whether a line is masked where the mask says so, and nowhere else. */
static bool has_mask(const mask *self, uint64_t query, const double *line)
{
    uint64_t first, end;
    find_seen(self, query, &first, &end);
    for (uint64_t key = 0; key < self->keys; key++)
        if (is_masked(self, line[key]) != (key < first || key >= end) &&
            !(self->number == 0 && key >= first && key < end))
            return false;
    return true;
}

/* Fill all lines. *ret_fits: they all have the mask. False: the view cannot be read. */
static bool fill_lines(const mask *self, later after, double *lines, unsigned char *dst,
                       bool *ret_fits)
{
    const uint64_t heads = self->view->rank == 3 ? self->view->shape[0] : 1;
    const size_t size = (size_t)self->keys * pe_dtype_size(self->dtype);
    double *last = lines + self->keys;
    *ret_fits = true;
    for (uint64_t head = 0; head < heads; head++) {
        if (!read_line(self, head, self->queries - 1, last))
            return false;
        for (uint64_t query = 0; *ret_fits && query < self->queries; query++, dst += size) {
            if (!read_line(self, head, query, lines))
                return false;
            *ret_fits = has_mask(self, query, lines);
            continue_line(self, query, after, last, lines);
            pe_round_row(self->dtype, lines, (size_t)self->keys, dst);
        }
    }
    return true;
}

static bool add_filled(pe_layers *layers, const pe_layer *layer, const mask *self, later after,
                       double *lines)
{
    const pe_transform form = {.kind = PE_TRANSFORM_MASKED,
                               .first = self->window,
                               .count = self->symmetric,
                               .value = self->value,
                               .constant = self->added};
    pe_layer beneath = pe_layer_beneath(layer);
    bool fits = false;
    if (!pe_layer_note(&beneath, form) || beneath.bits >= layers->least)
        return true;
    unsigned char *elements = pe_layers_hold(layers, (size_t)pe_view_elements(self->view) *
                                                         pe_dtype_size(self->dtype));
    if (!elements || !fill_lines(self, after, lines, elements, &fits))
        return false;
    beneath.view = pe_view_held(&layer->view, elements);
    if (fits)
        pe_layers_add(layers, &beneath);
    return true;
}

bool pe_undo_mask(pe_layers *layers, const pe_layer *layer)
{
    const size_t rank = layer->view.rank;
    mask self = {.view = &layer->view};
    bool found = false;
    if (layer->is != PE_OTHER_NONE || rank < 2 || rank > 3 ||
        pe_layer_has(layer, PE_TRANSFORM_MASKED) ||
        !pe_element_is_real(layer->view.element, &self.dtype))
        return true;
    self.queries = layer->view.shape[rank - 2];
    self.keys = layer->view.shape[rank - 1];
    if (self.queries < 4 || self.keys < self.queries ||
        pe_view_elements(&layer->view) * pe_element_size(layer->view.element) >
            MASKED_BYTES_MAX)
        return true;
    double *lines = pe_layers_hold(layers, 2 * (size_t)self.keys * sizeof *lines);
    if (!lines || !find_mask(&self, lines, &found))
        return false;
    if (!found)
        return true;
    /* -inf after the query is what the scheme's own mask has, whatever is added to it */
    const bool own = self.window == 0 && !self.symmetric && !self.decays &&
                     (isinf(self.number) || self.added);
    return (own || add_filled(layers, layer, &self, CAUSAL, lines)) &&
           (self.symmetric || add_filled(layers, layer, &self, BY_KEY, lines)) &&
           (!self.added || add_filled(layers, layer, &self, SYMMETRIC, lines));
}

void pe_write_mask(const pe_identity *identity, const pe_transform *form,
                   char dst[PE_FORM_TEXT])
{
    (void)identity;
    const char *what = form->constant != 0 ? "are moved by" : "have";
    if (form->first > 0)
        snprintf(dst, PE_FORM_TEXT, "keys beyond a window of %llu%s %s %g",
                 (unsigned long long)form->first,
                 form->count > 0 ? " on each side" : ", and after the query,", what,
                 form->value);
    else
        snprintf(dst, PE_FORM_TEXT, "keys after the query %s %g", what, form->value);
}
