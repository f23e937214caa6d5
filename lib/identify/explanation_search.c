#include "identify/explanation_search.h"

#include "foreign/repeats.h"
#include "identify/candidates.h"
#include "identify/form.h"
#include "identify/judged_request.h"
#include "identify/price.h"
#include "identify/query.h"
#include "identify/refined_number.h"
#include "numerics/dd.h"
#include "numerics/decimal.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPARED_MAX 24 /* requests that are compared in full with one view */
#define LAYERS_MAX   32 /* that are searched */
/* Searching a layer takes as long as so many entries of it, beside its own. */
#define LAYER_WORK  0x1p20
#define LAYERS_WORK 0x1p26 /* of all layers */
#define COMPARED    0x1p26 /* entries that are compared in full */
#define LAWS        0x1p25 /* entries that are compared with rotary laws */
#define REFINED     4      /* entries that take as long as one whose number is refined */
#define NEAR_AMONG  4      /* entries, one of which may not fit what is near */
#define LARGE       0x1p21 /* entries of a table of which a match is enough */
#define DEPTH_MAX   3      /* forms that are undone one after the other */
#define PRICE_MAX   0.5    /* of an explanation, of the table's own bits */
#define SIMPLE_BITS 48     /* of a request beside which noise or a wrong column may stand */
#define TIE_BITS    12 /* by which another law that fits is dearer, or noise tells neither */
#define OPEN_BITS   4  /* less of one with a number of which noise leaves several */

/* The search for what made one table. */
typedef struct search {
    const pe_search_terms *terms;
    pe_search_runner *runner;
    pe_layers layers;
    pe_candidates candidates;
    bool noisy;     /* the layer that is searched has noise */
    bool unordered; /* its columns are in any order */
    bool exchanged; /* the second of its two tensors is searched, the first one is checked */
    double left;    /* entries that may still be compared in full */
    double laws;    /* the same with rotary laws */
    double rival; /* bits of the cheapest request of another law than the best one's that fits,
                   * too, and makes another table, but for noise */
    const pe_layer *told; /* of the best one; NULL: there is none */
    pe_identity *best, *found, *second, *first;
    pe_proposal refined; /* the last candidate whose number was */
    pe_error *reterr;
} search;

/* ---- views ---- */

/* Begin to look at a view. False: a problem was added. */
static bool begin_view(search *self, const pe_view *view, pe_observation *ret_seen)
{
    if (!pe_observation_begin(ret_seen, view)) {
        pe_observation_end(ret_seen);
        return pe_layers_refuse(&self->layers);
    }
    ret_seen->set = self->terms->set;
    ret_seen->set_name = self->terms->set_name;
    ret_seen->runner = &self->runner->own;
    ret_seen->work = &self->laws;
    return true;
}

/* The bits that a table takes as it is: of each entry, as far as its grain shows, or of the few
 * numbers that it has and of which one each entry is. */
static double price_table(const pe_view *view)
{
    const double unit = pe_observation_unit(view), entries = (double)pe_view_elements(view);
    double bits = unit > 0 ? 1 - log2(unit) : 8 * (double)pe_element_size(view->element);
    size_t count = 0, distinct = 0;
    double sample[PE_LOOKED_ROWS * PE_LOOKED_COLUMNS], largest = 0;
    if (!pe_view_read_sample(view, sample, &count))
        return entries * bits;
    for (size_t i = 0; i < count; i++)
        largest = isfinite(sample[i]) ? fmax(largest, fabs(sample[i])) : largest;
    if (view->grain > 0)
        bits = fmin(bits, log2(1 + largest / view->grain));
    for (size_t i = 0; i < count && 2 * distinct <= count; i++) {
        size_t place = 0;
        while (place < distinct && sample[place] != sample[i])
            place++;
        if (place == distinct)
            sample[distinct++] = sample[i];
    }
    return 2 * distinct > count ? entries * bits
                                : entries * log2((double)distinct) + (double)distinct * bits;
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

/* Judge the other tensor of a request with a view, as it is or with the other sign. */
static bool judge_counterpart(search *self, const pe_candidate *candidate, const char *tensor,
                              const pe_view *view, bool negative)
{
    pe_mapped_view mapped;
    pe_view negated = *view;
    pe_observation seen;
    if (negative)
        pe_mapped_view_init(&mapped, view, PE_MAP_NEGATE, 1, 0, &negated);
    if (!begin_view(self, &negated, &seen))
        return false;
    pe_observation_waves(&seen); /* by which it is judged */
    const pe_judge judge = {.limits = self->terms->limits,
                            .runner = self->runner,
                            .seen = &seen,
                            .noisy = self->noisy,
                            .paired = true,
                            .reterr = self->reterr};
    const bool good =
        pe_judge_request(&judge, candidate->scheme, candidate->proposal, tensor, self->second);
    pe_observation_end(&seen);
    return good;
}

/* Note the second tensor of what was found, which is as good as the worse of both. */
static void note_second(pe_identity *found, const pe_identity *second, bool negative)
{
    const double least =
        second->noise > 0 ? second->price.misfits : fmin(second->price.misfits, PE_PRICE_LIKE);
    found->second = (pe_second){.scheme = second->scheme,
                                .negative = negative,
                                .status = second->status,
                                .misfits = second->misfits.count,
                                .largest = second->comparison.absolute.error};
    snprintf(found->second.tensor, sizeof found->second.tensor, "%s", second->tensor);
    snprintf(found->second.query, sizeof found->second.query, "%s", second->query);
    /* of the same arithmetic, which is told once */
    found->price.misfits += second->price.misfits - fmin(found->price.misfits, least);
    if (second->status < found->status) {
        found->status = second->status;
        found->arithmetic = second->arithmetic;
    }
}

static void exchange_found(search *self)
{
    pe_identity *found = self->found;
    self->found = self->second;
    self->second = found;
}

/* Compare the other view of a layer with the other tensor of the request that was found: it is
 * unknown if that does not fit. False: the search was ended. */
static bool check_counterpart(search *self, const pe_candidate *candidate, const pe_view *view,
                              uint64_t entries)
{
    char tensor[32];
    bool negative = false, good = true;
    if (!name_counterpart(candidate->proposal->tensor, tensor)) {
        self->found->status = PE_IDENTITY_UNKNOWN;
        return true;
    }
    good = judge_counterpart(self, candidate, tensor, view, false);
    if (good && self->second->status == PE_IDENTITY_UNKNOWN) {
        negative = true;
        good = judge_counterpart(self, candidate, tensor, view, true);
    }
    /* columns that are wrong in both have another frequency: it is another law */
    if (!good || self->second->status == PE_IDENTITY_UNKNOWN || (self->exchanged && negative) ||
        (self->found->misfits.column_count > 0 && self->second->misfits.column_count > 0)) {
        self->found->status = PE_IDENTITY_UNKNOWN;
        return good;
    }
    self->second->price = self->found->price;
    self->second->price.misfits = pe_price_rest(self->second, view, entries) + negative;
    if (self->exchanged)
        exchange_found(self);
    note_second(self->found, self->second, negative);
    return true;
}

/* ---- one view ---- */

static double add_price(const pe_price *price)
{
    return price->request + price->forms + price->misfits;
}

static bool is_cheaper(const pe_identity *one, const pe_identity *other)
{
    return one->status != PE_IDENTITY_UNKNOWN &&
           (other->status == PE_IDENTITY_UNKNOWN ||
            add_price(&one->price) < add_price(&other->price));
}

/* The bits of forms with which an explanation can be better: the table without them has been
 * computed by the same arithmetic. */
static double bound_forms(const pe_identity *best)
{
    if (best->status == PE_IDENTITY_UNKNOWN)
        return INFINITY;
    if (best->misfits.count > 0)
        return add_price(&best->price);
    return best->price.request + best->price.forms +
           (best->arithmetic == PE_ARITHMETIC_F32_LIKE ? PE_PRICE_ARITHMETIC : 0);
}

/* Whether two requests differ in nothing but numbers. */
static bool is_same_law(const pe_identity *one, const pe_identity *other)
{
    static const char NUMBERS[] = "0123456789.-";
    const char *a = one->query, *b = other->query;
    while (*a && *b && *a == *b) {
        a += 1 + strspn(a + 1, NUMBERS);
        b += 1 + strspn(b + 1, NUMBERS);
    }
    return one->scheme == other->scheme && !*a && !*b;
}

/* Whether a request says all that another one does, and more, which noise hides. */
static bool says_more(const pe_identity *one, const pe_identity *other)
{
    char text[PE_IDENTITY_QUERY_MAX], name[64];
    for (const char *part = other->query; *part; part += *part == '&') {
        const size_t size = strcspn(part, "&"), length = strcspn(part, "=");
        snprintf(name, sizeof name, "%.*s", (int)length, part);
        if (length >= size || !pe_find_query_text(one->query, name, text) ||
            strlen(text) != size - length - 1 ||
            strncmp(text, part + length + 1, size - length - 1) != 0)
            return false;
        part += size;
    }
    return one->scheme == other->scheme;
}

/* Note a request that fits but for noise, and is no cheaper than the best one that does. */
static void note_rival(search *self, const pe_identity *found, const pe_identity *best)
{
    if (found->status == PE_IDENTITY_UNKNOWN || best->status == PE_IDENTITY_UNKNOWN ||
        found->noise == 0 || found->price.misfits == best->price.misfits ||
        found->comparison.entries != best->comparison.entries || is_same_law(found, best) ||
        says_more(found, best))
        return;
    const double bits = fmax(add_price(&found->price), add_price(&best->price));
    self->rival = fmin(self->rival, bits);
}

/* Keep what was found if it is cheaper than the best, and than what it explains of the table,
 * of which what 0 would fit as well is none; `table`: the bits of that, 0 of a mere rival. */
static void keep_cheaper(search *self, pe_identity *found, pe_identity *best, double table)
{
    const size_t proposed = best->proposed + found->proposed;
    const size_t compared = best->compared + found->compared;
    const double vain = (double)found->misfits.vain / (double)found->comparison.entries;
    note_rival(self, found, best);
    if (is_cheaper(found, best) &&
        found->price.request + found->price.forms < PRICE_MAX * table * (1 - vain))
        *best = *found;
    best->proposed = proposed;
    best->compared = compared;
}

/* Whether the real numbers of a request have one digit each, but for those of its positions, or
 * it has but one of more, *ret_number, and it has few others beside a list of positions: noise
 * hides more, and leaves room for other laws. */
static bool shows_through_noise(const pe_candidate *candidate, const pe_parameter **ret_number)
{
    const pe_scheme_info *info = pe_scheme_describe(candidate->scheme);
    const char *query = candidate->proposal->query;
    char text[PE_IDENTITY_QUERY_MAX];
    double bits = candidate->bits;
    size_t count = 0;
    *ret_number = NULL;
    if (pe_find_query_text(query, "offset", text))
        bits -= pe_price_number(strtod(text, NULL));
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        const pe_parameter *row = pe_parameter_at(info, i);
        if (row->type != PE_REAL || strcmp(row->name, "offset") == 0 ||
            !pe_find_query_text(query, row->name, text))
            continue;
        count += strcmp(row->name, "step") != 0;
        if (pe_count_significant(text) > 1 && *ret_number)
            return false;
        *ret_number = pe_count_significant(text) > 1 ? row : *ret_number;
    }
    return (count <= 1 || !*ret_number) && (bits <= SIMPLE_BITS || strstr(query, "positions="));
}

/* Refine the number of a candidate by all entries. *ret_told is left as it is without one.
 * False: it has no better one, or that is known. */
static bool refine_candidate(search *self, const pe_judge *judge, const pe_parameter *number,
                             pe_candidate *candidate, bool *ret_told)
{
    const pe_proposal *given = candidate->proposal;
    char query[PE_IDENTITY_QUERY_MAX];
    self->left -= REFINED * (double)pe_view_elements(&judge->seen->view);
    if (!pe_refine_number(judge, candidate->scheme, given, number, query, ret_told) ||
        strcmp(query, self->refined.query) == 0)
        return false;
    memcpy(&self->refined, given, offsetof(pe_proposal, query));
    snprintf(self->refined.query, sizeof self->refined.query, "%s", query);
    candidate->proposal = &self->refined;
    candidate->bits =
        pe_price_request(candidate->scheme, query, given->tensor, &judge->seen->view);
    return true;
}

/* Whether a candidate may be judged beneath noise: its number of several digits, if it has one,
 * is refined first. */
static bool show_through_noise(search *self, const pe_judge *judge, pe_candidate *candidate,
                               bool *ret_told)
{
    const pe_parameter *number;
    return shows_through_noise(candidate, &number) &&
           (!number || refine_candidate(self, judge, number, candidate, ret_told));
}

/* Judge a candidate, and once more with a finer number if it is near, as one is of which
 * entries of 16 bits tell few digits. False: the search was ended. */
static bool judge_candidate(search *self, const pe_judge *judge, pe_candidate *candidate)
{
    const pe_misfits *misfits = &self->found->misfits;
    const pe_parameter *number;
    bool told = true; /* or not: the whole table is compared with the finer number */
    if (!pe_judge_request(judge, candidate->scheme, candidate->proposal,
                          candidate->proposal->tensor, self->found))
        return false;
    const bool near = self->found->status == PE_IDENTITY_UNKNOWN && misfits->count > 0 &&
                      NEAR_AMONG * misfits->far <= misfits->count &&
                      NEAR_AMONG * misfits->count <= self->found->comparison.entries;
    if (self->noisy || !near || !shows_through_noise(candidate, &number) || !number ||
        !refine_candidate(self, judge, number, candidate, &told))
        return true;
    return pe_judge_request(judge, candidate->scheme, candidate->proposal,
                            candidate->proposal->tensor, self->found);
}

/* The bits below which a request may be better: one that is as dear as another and its
 * arithmetic would have to be exact. */
static double bound_price(const pe_identity *best)
{
    return best->status == PE_IDENTITY_UNKNOWN ? INFINITY
           : best->status == PE_IDENTITY_EXACT ? add_price(&best->price)
                                               : add_price(&best->price) - PE_PRICE_ARITHMETIC;
}

/* Judge the candidates, the cheapest first, until none that is left can be cheaper than the
 * best. `forms`: bits that are spent already. False: the search was ended. */
static bool judge_candidates(search *self, pe_observation *seen, const pe_view *other,
                             double forms, pe_identity *best)
{
    const pe_judge judge = {.limits = self->terms->limits,
                            .runner = self->runner,
                            .seen = seen,
                            .noisy = self->noisy,
                            .paired = other != NULL,
                            .unordered = self->unordered,
                            .reterr = self->reterr};
    const uint64_t entries =
        pe_view_elements(&seen->view) + (other ? pe_view_elements(other) : 0);
    const double table = price_table(&seen->view) + (other ? price_table(other) : 0);
    /* noise is that of the whole table, whatever has been undone */
    const uint64_t told = self->noisy ? pe_view_elements(&self->layers.items[0].view) : entries;
    for (size_t i = 0, left = COMPARED_MAX;
         left > 0 && self->left > 0 && i < self->candidates.count; i++) {
        pe_candidate candidate = self->candidates.items[i];
        if (forms + candidate.bits >= bound_price(best))
            break;
        bool is_told = true;
        if (self->noisy && !show_through_noise(self, &judge, &candidate, &is_told))
            continue;
        if (!pe_search_may_continue(self->runner) || !judge_candidate(self, &judge, &candidate))
            return false;
        left -= self->found->compared;
        self->left -= (double)(self->found->compared * entries);
        self->found->price = (pe_price){.request = candidate.bits, .forms = forms};
        const pe_misfits *misfits = &self->found->misfits;
        if ((misfits->column_count > 0 && candidate.bits > SIMPLE_BITS) ||
            (misfits->row_count > misfits->zero_rows &&
             strstr(candidate.proposal->query, "positions="))) /* each row has its own */
            self->found->status = PE_IDENTITY_UNKNOWN;         /* it may be another law's */
        if (self->found->status != PE_IDENTITY_UNKNOWN) {
            self->found->price.misfits = pe_price_rest(self->found, &seen->view, told);
            if (other && !check_counterpart(self, &candidate, other, entries))
                return false;
        }
        self->found->price.request += is_told ? 0 : OPEN_BITS;
        keep_cheaper(self, self->found, best, is_told ? table : 0);
    }
    return true;
}

/* Keep how many columns are waves, if these are the most yet. */
static void keep_waves(const pe_identity *found, pe_identity *best)
{
    if (found->waves <= best->waves)
        return;
    best->waves = found->waves;
    best->frequency = found->frequency;
}

/* Note which columns of a layer are waves. */
static void note_waves(const pe_layer *layer, const pe_observation *seen, pe_identity *best)
{
    pe_identity noted = {.waves = 0};
    for (uint64_t i = 0; layer->waves && i < seen->columns; i++) {
        const pe_observed_wave *wave = &layer->waves[i];
        if (!wave->found)
            continue;
        if (noted.waves++ == 0)
            noted.frequency = wave->frequency;
    }
    keep_waves(&noted, best);
}

/* Judge what a view proposes. */
static bool judge_proposed(search *self, pe_observation *seen, const pe_view *other,
                           double forms, pe_identity *best)
{
    bool good = pe_candidates_collect(&self->candidates, self->terms->only, seen);
    if (!good)
        pe_error_add(self->reterr, PE_NO_MEMORY, "", "", "memory for the search");
    good = good && judge_candidates(self, seen, other, forms, best);
    pe_candidates_done(&self->candidates);
    return good;
}

/* Judge what the second view of a layer proposes. Sines tell slow waves in 16 bits, where
 * cosines are all 1. */
static bool judge_exchanged(search *self, const pe_view *view, const pe_view *other,
                            double forms, pe_identity *best)
{
    pe_observation seen;
    if (!begin_view(self, other, &seen))
        return false;
    self->exchanged = true;
    const bool good = judge_proposed(self, &seen, view, forms, best);
    self->exchanged = false;
    pe_observation_end(&seen);
    return good;
}

/* Find the cheapest request of a view. `layer`: whose view it is, if that is the only one. */
static bool search_view(search *self, const pe_view *view, const pe_view *other, double forms,
                        pe_layer *layer, pe_identity *best)
{
    pe_observation seen;
    if (!begin_view(self, view, &seen))
        return false;
    seen.waves = layer ? layer->waves : NULL;
    bool good = judge_proposed(self, &seen, other, forms, best);
    if (good && other && best->status == PE_IDENTITY_UNKNOWN)
        good = judge_exchanged(self, view, other, forms, best);
    if (good && layer && !layer->waves && seen.columns > 0 && pe_observation_waves(&seen)) {
        layer->waves = pe_layers_keep(&self->layers, seen.waves, free);
        good = layer->waves != NULL;
        seen.waves = NULL;
    }
    if (layer) {
        seen.waves = layer->waves ? NULL : seen.waves; /* they are the layer's */
        note_waves(layer, &seen, best);
    }
    pe_observation_end(&seen);
    return good;
}

/* ---- layers ---- */

/* Count what does not fit of what a table has several times: where the first one does not, the
 * others differ from it. */
static void note_differing(const pe_layer *layer, pe_identity *found)
{
    const uint64_t others =
        (found->misfits.count + found->second.misfits) * (layer->copies - 1);
    if (found->noise > 0 || layer->differing <= others)
        return;
    found->misfits.count += layer->differing - others;
    found->status = PE_IDENTITY_NEAR;
    found->arithmetic = PE_ARITHMETIC_UNKNOWN;
}

/* Note the forms of a layer in what was found of it. */
static void note_layer(const pe_layer *layer, pe_identity *found)
{
    found->transform_count = layer->count;
    memcpy(found->transforms, layer->transforms, sizeof found->transforms);
    found->transposed = pe_layer_has(layer, PE_TRANSFORM_TRANSPOSED);
    const bool matched = found->column_count > 0;
    found->column_count = layer->order ? layer->view.shape[layer->view.rank - 1] : 0;
    for (uint64_t c = 0; c < found->column_count; c++)
        found->columns[c] = layer->order[matched ? found->columns[c] : c];
    found->rank = layer->view.rank;
    memcpy(found->shape, layer->view.shape, sizeof found->shape);
    note_differing(layer, found);
}

/* Find the requests of both tables of a layer. */
static bool search_tables(search *self, const pe_layer *layer)
{
    *self->first = (pe_identity){.arithmetic = PE_ARITHMETIC_UNKNOWN};
    pe_identity *other = calloc(1, sizeof *other);
    bool good = other != NULL;
    if (!good)
        pe_error_add(self->reterr, PE_NO_MEMORY, "", "", "memory for the search");
    good = good && search_view(self, &layer->view, NULL, layer->bits, NULL, self->first);
    if (good && self->first->status != PE_IDENTITY_UNKNOWN)
        good = search_view(self, &layer->other, NULL, 0, NULL, other);
    if (good && other->status != PE_IDENTITY_UNKNOWN) {
        self->first->price.request += other->price.request;
        note_second(self->first, other, false);
    } else {
        self->first->status = PE_IDENTITY_UNKNOWN;
    }
    free(other);
    return good;
}

static bool search_layer(search *self, pe_layer *layer)
{
    const bool tables = layer->is == PE_OTHER_TABLE;
    pe_identity *first = self->first;
    layer->examined = true;
    self->noisy = pe_layer_has(layer, PE_TRANSFORM_NOISE);
    self->unordered = layer->is_rough && layer->view.rank == 2;
    if (tables) {
        if (!search_tables(self, layer))
            return false;
    } else {
        *first = *self->best; /* such that only what is cheaper is looked at */
        first->proposed = first->compared = 0;
        if (!search_view(self, &layer->view,
                         layer->is == PE_OTHER_TENSOR ? &layer->other : NULL, layer->bits,
                         layer, first))
            return false;
    }
    if (is_cheaper(first, self->best)) {
        note_layer(layer, first);
        self->told = layer;
    }
    keep_cheaper(self, first, self->best, INFINITY);
    keep_waves(first, self->best);
    self->layers.least = bound_forms(self->best);
    return true;
}

/* The cheapest layer that has not been searched; NULL: none may be cheaper than the best. */
static pe_layer *find_next_layer(search *self)
{
    pe_layer *next = NULL;
    for (size_t i = 0; i < self->layers.count; i++) {
        pe_layer *layer = &self->layers.items[i];
        if (!layer->examined && layer->bits < self->layers.least &&
            (!next || layer->turn < next->turn))
            next = layer;
    }
    return next;
}

/* Whether all entries of a table are one number, of which forms tell nothing. False as well if
 * it cannot be read. */
static bool is_constant(const pe_view *view)
{
    pe_view rest = *view;
    bool constant = rest.rank > 0;
    for (; constant && rest.rank > 0; rest = pe_view_at(&rest, 0, 0))
        if (!pe_repeats_are_constant(&rest, 0, &constant))
            return false;
    return constant;
}

/* Search layers until `work` is done. */
static bool search_layers(search *self, double *work)
{
    pe_layer *layer;
    const double entries = (double)pe_view_elements(&self->layers.items[0].view);
    for (size_t i = 0; i<LAYERS_MAX && * work> 0 && (layer = find_next_layer(self)); i++) {
        if (!search_layer(self, layer))
            return false;
        if (entries > LARGE && self->best->status >= PE_IDENTITY_MATCH)
            break;
        *work -= LAYER_WORK + (double)pe_view_elements(&layer->view);
        if (layer->depth < DEPTH_MAX && !pe_forms_undo(&self->layers, layer))
            return false;
    }
    return true;
}

/* Search the whole table with the other sign, as a bias has that grows with the distance. */
static bool search_other_sign(search *self)
{
    pe_layers *layers = &self->layers;
    const size_t known = layers->count;
    if (!pe_undo_other_sign(layers, &layers->items[0]))
        return pe_layers_refuse(layers);
    return layers->count == known || search_layer(self, &layers->items[known]);
}

/* Search all layers without noise, and then those with it: few forms show through noise, and
 * without it they are told better. */
static bool search_all(search *self)
{
    pe_layers *layers = &self->layers;
    double work = LAYERS_WORK;
    if (is_constant(&layers->items[0].view))
        return search_layer(self, &layers->items[0]);
    if (!search_layers(self, &work) || !search_other_sign(self))
        return false;
    if (self->best->status != PE_IDENTITY_UNKNOWN)
        return true;
    layers->noisy = true;
    layers->count = 1;
    self->rival = INFINITY;
    if (!pe_undo_noise(layers, &layers->items[0]) || !search_layers(self, &work))
        return false;
    if (self->rival < add_price(&self->best->price) + TIE_BITS)
        self->best->status = PE_IDENTITY_UNKNOWN;
    return true;
}

/* Search what was found once more, with the factor and the constant that fit it, where these
 * were told badly: so did what was found. */
static bool settle_factor(search *self)
{
    pe_layers *layers = &self->layers;
    const size_t known = layers->count;
    const pe_factor_fit fit = {self->best, self->terms->limits, &self->runner->own};
    if (self->best->status == PE_IDENTITY_UNKNOWN)
        return true;
    layers->least = INFINITY;
    if (!pe_refit_factor(layers, self->told, &fit))
        return pe_layers_refuse(layers);
    if (layers->count == known)
        return true;
    self->best->status = PE_IDENTITY_UNKNOWN;
    return search_layer(self, &layers->items[known]);
}

bool pe_search_explanations(const pe_search_terms *terms, const pe_view *view,
                            pe_search_runner *runner, pe_identity *ret_best, pe_error *reterr)
{
    search *self = calloc(1, sizeof *self);
    pe_identity *found = calloc(3, sizeof *found);
    bool good = self && found;
    if (good) {
        *self = (search){.terms = terms,
                         .runner = runner,
                         .best = ret_best,
                         .found = &found[0],
                         .second = &found[1],
                         .first = &found[2],
                         .left = COMPARED,
                         .laws = LAWS,
                         .reterr = reterr};
        good = pe_layers_begin(&self->layers, view, reterr) && search_all(self) &&
               settle_factor(self);
        pe_layers_done(&self->layers);
    } else {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the search");
    }
    free(found);
    free(self);
    return good;
}
