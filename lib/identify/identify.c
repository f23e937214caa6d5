/* Which request made a table: recognisers propose, and a comparison of every entry decides. */
#include "foreign/narrow_view.h"
#include "foreign/ordered_view.h"
#include "identify/column_order.h"
#include "identify/computation.h"
#include "identify/error_bound.h"
#include "identify/nearest_published.h"
#include "identify/obstacle.h"
#include "identify/query.h"
#include "identify/search_runner.h"
#include "identify/slope_computation.h"
#include "identify/transform_search.h"
#include "recognise/recognisers.h"
#include "requests/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPARED_MAX  16 /* proposals of a scheme that are compared in full */
#define SAMPLED_LINES 9
#define MISFITS_MAX   0.07 /* share of entries that do not fit, of a table that is near */

/* The search for what made one table. */
typedef struct search {
    const pe_limits *limits;
    pe_search_runner runner;
    const pe_scheme *only;
    const char *set_name; /* NULL: no set is given */
    pe_set *set;
    pe_observation seen;
    bool transposed;
    uint64_t column_count; /* as of the pe_identity */
    uint16_t columns[PE_IDENTITY_COLUMNS_MAX];
    pe_observed_wave *fitted[2]; /* of the table's columns, of its rows; NULL: none */
    pe_proposals proposals;
    const pe_exact_waves *waves; /* of the request that is looked at; NULL: not known */
    pe_comparison comparison;
    uint64_t keys[COMPARED_MAX]; /* of the scheme's requests that were compared */
    size_t known;                /* of these */
    pe_proposal winner;          /* that the best is of */
    pe_identity *best;
    pe_error *reterr;
} search;

/* ---- one proposal ---- */

/* Whether a table may have been computed in another arithmetic, and its lines can be read one
 * after the other to find out. */
static bool has_arithmetic(const search *self, const pe_proposal *proposal, pe_request *request,
                           size_t tensor)
{
    return !proposal->discrete && pe_request_tensor(request, tensor)->dtype != PE_I32 &&
           self->seen.flat.rank > 0;
}

static pe_error_bound compute_bound(search *self, const pe_proposal *proposal)
{
    return (pe_error_bound){.seen = &self->seen,
                            .first_distance = proposal->first_distance,
                            .angle = proposal->angle,
                            .amplitude = proposal->amplitude,
                            .roundings = proposal->roundings,
                            .low_precision = proposal->low_precision,
                            .waves = self->waves};
}

/* Find out the arithmetic of a table that is not exact. False: it was ended. */
static bool find_arithmetic(search *self, const pe_scheme *scheme, const pe_proposal *proposal,
                            pe_request *request, size_t tensor, pe_identity *found)
{
    const pe_error_bound bound = compute_bound(self, proposal);
    pe_misfits f32 = {.count = 0};
    uint64_t f64 = 0;
    pe_computation computation = {.text = NULL};
    bool explained = false;
    if (!has_arithmetic(self, proposal, request, tensor)) {
        f32.count = self->comparison.differing;
        f64 = f32.count + self->comparison.signs;
    } else {
        pe_request *wide = pe_parse_query(scheme, proposal->query, "f64", self->limits);
        bool judged = wide && pe_count_misfits(wide, request, tensor, &bound, &self->runner.own,
                                               &f32, &f64, self->reterr);
        if (judged && f64 > 0 && (f32.count == 0 || proposal->low_precision) &&
            self->seen.rows > 0 && proposal->amplitude == 0)
            judged = pe_computation_find(wide, tensor, &self->seen, proposal->low_precision,
                                         &self->runner.own, &computation, self->reterr);
        explained = computation.text != NULL;
        if (judged && f64 > 0 && !explained)
            judged = pe_slope_computation(wide, tensor, &self->seen, &self->runner.own,
                                          &explained, self->reterr);
        pe_request_unref(wide);
        if (!judged)
            return false;
    }
    if (explained)
        f32 = (pe_misfits){.zeros = f32.zeros};
    found->misfits = f32;
    found->computation = computation;
    found->arithmetic = f64 == 0        ? PE_ARITHMETIC_F64
                        : f32.count > 0 ? PE_ARITHMETIC_UNKNOWN
                        : explained     ? PE_ARITHMETIC_F32
                                        : PE_ARITHMETIC_F32_LIKE;
    const bool fits = f64 == 0 || explained;
    found->chosen = fits && proposal->chosen;
    found->status = fits && !proposal->chosen ? PE_IDENTITY_MATCH : PE_IDENTITY_NEAR;
    /* zeros are no evidence: a table of few other numbers is near anything that has few */
    if ((double)f32.count > MISFITS_MAX * (double)(self->comparison.entries - f32.zeros))
        found->status = PE_IDENTITY_UNKNOWN;
    return true;
}

/* Compare a request with the whole table, and keep it if it is the best so far. False: the
 * search was ended. */
static bool compare_request(search *self, const pe_scheme *scheme, const pe_proposal *proposal,
                            pe_request *request, size_t tensor)
{
    pe_identity found = *self->best;
    if (pe_compare_table(request, tensor, &self->seen.view, (pe_tolerance){.absolute = 0},
                         &self->runner.own, &self->comparison, self->reterr) != PE_OK)
        return false;
    self->best->compared++;
    found.status = PE_IDENTITY_EXACT;
    found.computation = (pe_computation){.text = NULL};
    found.chosen = false;
    found.arithmetic = PE_ARITHMETIC_EXACT;
    found.misfits = (pe_misfits){.count = 0};
    if (self->comparison.differing + self->comparison.signs > 0) {
        if (self->best->status == PE_IDENTITY_MATCH) /* it can be no better */
            return true;
        if (!find_arithmetic(self, scheme, proposal, request, tensor, &found))
            return false;
    }
    if (found.status == PE_IDENTITY_UNKNOWN || !pe_identity_is_better(&found, self->best) ||
        (self->column_count > 0 && found.status < PE_IDENTITY_MATCH))
        return true;
    found.compared = self->best->compared;
    found.proposed = self->best->proposed;
    found.scheme = scheme;
    found.comparison = self->comparison;
    found.transposed = self->transposed;
    found.column_count = self->column_count;
    memcpy(found.columns, self->columns, self->column_count * sizeof *found.columns);
    snprintf(found.query, sizeof found.query, "%s", proposal->query);
    snprintf(found.tensor, sizeof found.tensor, "%s", proposal->tensor);
    *self->best = found;
    self->winner = *proposal;
    return true;
}

/* Whether a request with the same bits has been compared already; if not, it is noted. */
static bool was_compared(search *self, const pe_proposal *proposal, const pe_request *request)
{
    uint64_t hash = request->key_hash ^ proposal->low_precision;
    for (size_t i = 0; i < self->known; i++)
        if (self->keys[i] == hash)
            return true;
    self->keys[self->known++] = hash;
    return false;
}

/* Whether some lines of a request are near those of the table. float64 is more than that asks
 * for, and some schemes take long for it. */
static bool are_close_lines(search *self, const pe_scheme *scheme, const pe_proposal *proposal,
                            pe_request *request, size_t tensor)
{
    const pe_error_bound bound = compute_bound(self, proposal);
    const bool wide = pe_request_tensor(request, tensor)->dtype == PE_F64;
    bool read = true;
    pe_request *narrow =
        wide ? pe_parse_query(scheme, proposal->query, "f32", self->limits) : NULL;
    bool near =
        pe_check_sampled_lines(narrow ? narrow : request, tensor, &bound, SAMPLED_LINES, &read);
    pe_request_unref(narrow);
    return near;
}

/* Look at a proposal's request closely. False: the search was ended. */
static bool try_request(search *self, const pe_scheme *scheme, const pe_proposal *proposal,
                        pe_request *request, size_t tensor)
{
    pe_exact_waves waves;
    bool read = true, good = true;
    /* what has an angle was proposed without measuring waves */
    if (proposal->angle > 0 && !proposal->low_precision &&
        pe_exact_waves_read(&waves, request, tensor))
        self->waves = &waves;
    if (are_close_lines(self, scheme, proposal, request, tensor) &&
        !was_compared(self, proposal, request) &&
        (self->best->status < PE_IDENTITY_MATCH || /* of which only an exact one is better */
         pe_check_first_rows(request, tensor, &self->seen, &read)))
        good = compare_request(self, scheme, proposal, request, tensor);
    if (self->waves)
        pe_exact_waves_done(&waves);
    self->waves = NULL;
    return good;
}

/* Look at a proposal. False: the search was ended. */
static bool try_proposal(search *self, const pe_scheme *scheme, const pe_proposal *proposal)
{
    pe_dtype dtype;
    bool real = pe_element_is_real(self->seen.view.element, &dtype), good = true;
    const char *name = real ? pe_dtype_name(dtype) : "f32";
    self->best->proposed++;
    if (proposal->low_precision && self->best->status == PE_IDENTITY_MATCH)
        return true;
    pe_request *request = pe_parse_query(scheme, proposal->query, name, self->limits);
    int tensor =
        request ? pe_find_query_tensor(request, proposal->tensor, &self->seen.view) : -1;
    if (tensor >= 0 && self->known < COMPARED_MAX)
        good = try_request(self, scheme, proposal, request, (size_t)tensor);
    pe_request_unref(request);
    return good;
}

/* ---- all proposals ---- */

/* Try the proposals of all schemes until one is exact. False: the search was ended. */
static bool try_schemes(search *self)
{
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const pe_scheme *scheme = pe_scheme_at(i);
        if (self->only && scheme != self->only)
            continue;
        self->known = 0;
        if (!pe_search_may_continue(&self->runner))
            return false;
        pe_collect_proposals(scheme, &self->seen, &self->proposals);
        for (size_t p = 0; p < self->proposals.count; p++) {
            if (!pe_search_may_continue(&self->runner) ||
                !try_proposal(self, scheme, &self->proposals.items[p]))
                return false;
            if (self->best->status == PE_IDENTITY_EXACT)
                return true;
        }
    }
    return true;
}

/* Bring the waves of the columns, which are fitted once, into the usual order. */
static void order_waves(search *self)
{
    const pe_observed_wave *fitted = self->fitted[self->transposed];
    const size_t count = (size_t)self->column_count;
    self->seen.waves = fitted && count > 0 ? malloc(count * sizeof *fitted) : NULL;
    for (size_t c = 0; self->seen.waves && c < count; c++)
        self->seen.waves[c] = fitted[self->columns[c]];
}

static void keep_waves(search *self)
{
    pe_observed_wave **kept = &self->fitted[self->transposed];
    if (self->column_count > 0)
        return;
    free(*kept);
    *kept = self->seen.waves;
    self->seen.waves = NULL;
}

/* Begin to look at a view. False: a problem was added. */
static bool begin_view(search *self, const pe_view *view)
{
    bool good = pe_observation_begin(&self->seen, view);
    self->seen.set = self->set;
    self->seen.set_name = self->set_name;
    self->seen.runner = &self->runner.own;
    order_waves(self);
    if (!good)
        pe_error_add(self->reterr, PE_MALFORMED, "body", "",
                     "a table that can be read and held in part");
    return good;
}

/* Search a view as it is. False: the search was ended. */
static bool search_view(search *self, const pe_view *view, bool transposed)
{
    self->transposed = transposed;
    bool good = begin_view(self, view) && try_schemes(self);
    if (good && !transposed && self->column_count == 0)
        pe_note_waves(&self->seen, self->best);
    keep_waves(self);
    pe_observation_end(&self->seen);
    return good;
}

/* Search a matrix with its columns in the usual order, if that is another one. False: the
 * search was ended. */
static bool search_ordered(search *self, const pe_view *view, bool transposed)
{
    pe_ordered_view ordered;
    pe_view usual;
    if (!pe_column_order_find(view, self->fitted[transposed], self->columns,
                              &self->column_count, self->reterr))
        return false;
    if (self->column_count == 0)
        return true;
    bool good = pe_ordered_view_init(&ordered, view, self->columns, &usual);
    if (!good)
        pe_error_add(self->reterr, PE_NO_MEMORY, "", "", "memory for the search");
    good = good && search_view(self, &usual, transposed);
    pe_ordered_view_done(&ordered);
    return good;
}

/* Whether columns may have moved: no request was found, or one that leaves many entries out, as
 * a column that has moved does not fit in most of its rows. */
static bool may_have_moved(const search *self, uint64_t rows)
{
    const pe_identity *best = self->best;
    return best->status == PE_IDENTITY_UNKNOWN ||
           (best->status == PE_IDENTITY_NEAR && best->misfits.count >= rows);
}

/* Search a table as it is, transposed, and with its columns in another order: a pe_searcher's
 * function. */
static bool search_table(void *context, const pe_view *view, pe_identity *ret_found)
{
    search *self = context;
    *ret_found = (pe_identity){.arithmetic = PE_ARITHMETIC_UNKNOWN};
    self->best = ret_found;
    self->column_count = 0;
    free(self->fitted[1]); /* of another table */
    self->fitted[1] = NULL;
    bool good = search_view(self, view, false);
    if (!good || view->rank != 2)
        return good;
    const pe_view views[] = {*view, pe_view_transposed(view, 0, 1)};
    if (self->best->status == PE_IDENTITY_UNKNOWN)
        good = search_view(self, &views[1], true);
    for (int i = 0; good && i < 2 && may_have_moved(self, views[i].shape[0]); i++)
        good = search_ordered(self, &views[i], i == 1);
    return good;
}

/* Compare a request like the one that was found last with a view: a pe_searcher's function. */
static bool check_request(void *context, const pe_view *view, const pe_scheme *scheme,
                          const char *query, const char *tensor, pe_identity *ret_found)
{
    search *self = context;
    pe_proposal proposal = self->winner;
    snprintf(proposal.query, sizeof proposal.query, "%s", query);
    snprintf(proposal.tensor, sizeof proposal.tensor, "%s", tensor);
    *ret_found = (pe_identity){.arithmetic = PE_ARITHMETIC_UNKNOWN};
    self->best = ret_found;
    self->column_count = 0;
    self->known = 0;
    self->transposed = false;
    bool good = begin_view(self, view);
    if (good)
        pe_observation_waves(&self->seen); /* by which it is judged */
    good = good && try_proposal(self, scheme, &proposal);
    pe_observation_end(&self->seen);
    return good;
}

pe_status pe_identify_table(const pe_view *view, const pe_scheme *only, const char *set_name,
                            const pe_limits *limits, const pe_runner *runner,
                            pe_identity *ret_identity, pe_error *reterr)
{
    search *self = calloc(1, sizeof *self);
    pe_error_init(reterr);
    *ret_identity =
        (pe_identity){.arithmetic = PE_ARITHMETIC_UNKNOWN, .element = view->element};
    if (!self) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the search");
        return PE_NO_MEMORY;
    }
    self->limits = limits;
    pe_search_runner_init(&self->runner, runner);
    self->only = only;
    self->set_name = set_name;
    self->reterr = reterr;
    const pe_view watched = pe_search_wrap_view(&self->runner, view);
    const pe_searcher searcher = {self, search_table, check_request, ret_identity, reterr};
    pe_narrow_view narrow;
    pe_view seen = watched, last;
    if (pe_narrow_view_find(&watched, &narrow))
        seen = pe_narrow_view_make(&narrow);
    if (pe_find_query_set(limits, set_name, &self->set, reterr) &&
        pe_search_transforms(&searcher, &seen, &last) &&
        ret_identity->status == PE_IDENTITY_UNKNOWN &&
        pe_find_nearest_published(&last, only, limits, &self->runner, ret_identity, reterr) &&
        ret_identity->status == PE_IDENTITY_UNKNOWN)
        pe_obstacle_find(&watched, ret_identity);
    ret_identity->element = seen.element;
    ret_identity->tf32 = seen.unit > 0;
    if (self->runner.ended) { /* what could not be read or computed since then is no failure */
        pe_error_init(reterr);
        ret_identity->gave_up = true;
    }
    pe_set_unref(self->set);
    free(self->fitted[0]);
    free(self->fitted[1]);
    free(self);
    return reterr->status;
}
