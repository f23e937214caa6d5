#include "identify/judged_request.h"

#include "foreign/ordered_view.h"
#include "identify/column_matching.h"
#include "identify/computation.h"
#include "identify/error_bound.h"
#include "identify/query.h"
#include "identify/residual.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAMPLED_LINES 9
/* What a candidate may take to be computed: each entry of the table, and a small one. */
#define ENTRY_PRICE 4096
#define LEAST_PRICE 0x1p28
#define NOISE_MOST  0.6  /* of the grain, which is five times the noise that was estimated */
#define COLUMNS_MAX 2    /* of which most entries do not fit */
#define MISFITS_MAX 0.07 /* share of entries that do not fit, of a table that is near */

/* A request that is judged. */
typedef struct trial {
    const pe_judge *judge;
    const pe_scheme *scheme;
    const pe_proposal *proposal;
    pe_request *request;
    size_t tensor;
    const pe_exact_waves *waves; /* of the request; NULL: not known */
} trial;

/* Whether a table may have been computed in another arithmetic, and its lines can be read one
 * after the other to find out. */
static bool has_arithmetic(const trial *self)
{
    return !self->proposal->discrete &&
           pe_request_tensor(self->request, self->tensor)->dtype != PE_I32 &&
           self->judge->seen->flat.rank > 0;
}

static pe_error_bound compute_bound(const trial *self)
{
    const pe_proposal *proposal = self->proposal;
    return (pe_error_bound){.seen = self->judge->seen,
                            .first_distance = proposal->first_distance,
                            .angle = proposal->angle,
                            .amplitude = proposal->amplitude,
                            .roundings = proposal->roundings,
                            .low_precision = proposal->low_precision,
                            .waves = self->waves};
}

/* Count what does not fit, and find a computation that gives all entries. False: it was ended.
 */
static bool count_misfits(const trial *self, pe_identity *found, bool *ret_f64,
                          bool *ret_explained)
{
    pe_misfits f64 = {.count = 0};
    const pe_judge *judge = self->judge;
    const pe_proposal *proposal = self->proposal;
    const pe_runner *runner = &judge->runner->own;
    const pe_error_bound bound = compute_bound(self);
    pe_request *wide = pe_parse_query(self->scheme, proposal->query, "f64", judge->limits);
    bool good = wide && pe_count_misfits(wide, self->request, self->tensor, &bound, runner,
                                         &found->misfits, &f64, ret_f64, judge->reterr);
    if (good && !*ret_f64 && (found->misfits.count == 0 || proposal->low_precision) &&
        judge->seen->rows > 0 && proposal->amplitude == 0)
        good = pe_computation_find(wide, self->tensor, judge->seen, proposal->low_precision,
                                   runner, &found->computation, judge->reterr);
    *ret_explained = found->computation.text != NULL;
    if (*ret_explained)
        found->computation.first_off =
            pe_residual_first_far(self->request, self->tensor, &judge->seen->view,
                                  &found->comparison, PE_COMPUTATION_FAR, runner);
    pe_request_unref(wide);
    if (!*ret_explained && judge->seen->view.element == PE_ELEMENT_F64 &&
        judge->seen->view.grain == 0)
        found->misfits = f64; /* its numbers are not float32's */
    return good;
}

/* Whether what does not fit is few other numbers, and not just somewhat off, or in many
 * columns, as entries of another law are. */
static bool are_others(const pe_misfits *misfits, uint64_t entries)
{
    return 4 * misfits->far >= 3 * misfits->count && misfits->column_count <= COLUMNS_MAX &&
           (double)misfits->count <= MISFITS_MAX * (double)entries;
}

/* Whether what fits tells of the request. Zeros are no evidence, as a table of few other
 * numbers is near anything that has few, nor is what 0 would fit as well, as nearly any number
 * does where angles are far beyond float32. */
static bool is_evident(const pe_misfits *misfits, uint64_t entries)
{
    const uint64_t others = entries - misfits->zeros;
    return 4 * misfits->vain <= 3 * others && are_others(misfits, others - misfits->vain);
}

/* Find out the arithmetic of a table that is not exact. False: it was ended. */
static bool find_arithmetic(const trial *self, pe_identity *found)
{
    const pe_comparison *compared = &found->comparison;
    bool f64 = false, explained = false;
    if (!has_arithmetic(self)) {
        found->misfits.count = found->misfits.far = compared->differing;
        f64 = compared->differing + compared->signs == 0;
    } else if (!count_misfits(self, found, &f64, &explained)) {
        return false;
    }
    if (explained)
        found->misfits = (pe_misfits){.zeros = found->misfits.zeros};
    /* of what was rounded beside a constant the arithmetic is not seen */
    f64 = f64 && (self->judge->seen->view.grain == 0 ||
                  self->judge->seen->view.element == PE_ELEMENT_F64);
    found->arithmetic = f64                        ? PE_ARITHMETIC_F64
                        : found->misfits.count > 0 ? PE_ARITHMETIC_UNKNOWN
                        : explained                ? PE_ARITHMETIC_F32
                                                   : PE_ARITHMETIC_F32_LIKE;
    if (found->arithmetic == PE_ARITHMETIC_F32_LIKE && self->judge->seen->view.grain > 0)
        found->arithmetic = PE_ARITHMETIC_UNKNOWN; /* entries are off by the grain, too */
    found->status = f64 || explained ? PE_IDENTITY_MATCH : PE_IDENTITY_NEAR;
    if (!is_evident(&found->misfits, compared->entries))
        found->status = PE_IDENTITY_UNKNOWN;
    return true;
}

/* Whether what is left is noise, about as strong as was estimated at most. */
static bool is_noise_left(const trial *self, double *ret_size)
{
    const pe_judge *judge = self->judge;
    const double grain = judge->seen->view.grain;
    const char *name = pe_request_tensor(self->request, self->tensor)->name;
    /* slow cosines are all 1 where sines are not */
    return pe_residual_is_noise(self->request, self->tensor, &judge->seen->view,
                                judge->paired && strstr(name, "cos"), &judge->runner->own,
                                ret_size) &&
           *ret_size <= NOISE_MOST * grain;
}

/* Let what is left be noise, unless there are entries that are not finite. */
static void note_noise(pe_identity *found, double size)
{
    found->status = found->comparison.not_finite == 0 ? PE_IDENTITY_NEAR : PE_IDENTITY_UNKNOWN;
    found->arithmetic = PE_ARITHMETIC_UNKNOWN;
    found->noise = size;
    found->misfits = (pe_misfits){.count = found->comparison.differing};
}

/* Compare the request with the whole table. False: it was ended. */
static bool compare_request(const trial *self, pe_identity *found)
{
    const pe_judge *judge = self->judge;
    double size = 0;
    found->compared = 1;
    if (judge->noisy && !is_noise_left(self, &size))
        return true;
    if (pe_compare_table(self->request, self->tensor, &judge->seen->view,
                         (pe_tolerance){.absolute = 0}, &judge->runner->own, &found->comparison,
                         judge->reterr) != PE_OK)
        return false;
    found->status = PE_IDENTITY_EXACT;
    found->arithmetic = PE_ARITHMETIC_EXACT;
    if (judge->noisy)
        note_noise(found, size);
    else if ((found->comparison.differing + found->comparison.signs > 0 ||
              judge->seen->view.grain > 0 || judge->seen->view.is_divided) &&
             !find_arithmetic(self, found))
        return false;
    found->scheme = self->scheme;
    snprintf(found->query, sizeof found->query, "%s", self->proposal->query);
    snprintf(found->tensor, sizeof found->tensor, "%s",
             pe_request_tensor(self->request, self->tensor)->name);
    return true;
}

/* Whether some lines of the request are near those of the table. float64 is more than that asks
 * for, and some schemes take long for it. */
static bool are_close_lines(const trial *self)
{
    pe_error_bound bound = compute_bound(self);
    if (bound.low_precision)
        bound.waves = NULL; /* frequencies of 16 bits are not the request's */
    const bool wide = pe_request_tensor(self->request, self->tensor)->dtype == PE_F64;
    bool read = true;
    pe_request *narrow =
        wide ? pe_parse_query(self->scheme, self->proposal->query, "f32", self->judge->limits)
             : NULL;
    const bool near = pe_check_sampled_lines(narrow ? narrow : self->request, self->tensor,
                                             &bound, SAMPLED_LINES, &read);
    pe_request_unref(narrow);
    return near;
}

/* Judge the request by the table that the judge sees. */
static bool judge_seen(const trial *given, pe_identity *found)
{
    pe_exact_waves waves;
    trial self = *given;
    bool good = true;
    /* what has an angle was proposed without measuring waves */
    if (self.proposal->angle > 0 && pe_exact_waves_read(&waves, self.request, self.tensor))
        self.waves = &waves;
    if (are_close_lines(&self))
        good = compare_request(&self, found);
    if (self.waves)
        pe_exact_waves_done(&waves);
    return good;
}

/* Judge the request by the table with its columns in the request's order. */
static bool judge_ordered(const trial *given, pe_identity *found)
{
    trial self = *given;
    pe_ordered_view ordered;
    pe_observation seen;
    pe_view view;
    pe_judge judge = *given->judge;
    if (!pe_match_columns(self.request, self.tensor, judge.seen,
                          judge.noisy ? judge.seen->view.grain : 0, found->columns))
        return true;
    bool good = pe_ordered_view_init(&ordered, &judge.seen->view, found->columns, &view);
    if (good && pe_observation_begin(&seen, &view)) {
        pe_observation_waves(&seen); /* by which it is judged */
        seen.runner = judge.seen->runner;
        judge.seen = &seen;
        self.judge = &judge;
        good = judge_seen(&self, found);
        found->column_count = seen.columns;
        pe_observation_end(&seen);
    } else {
        pe_error_add(judge.reterr, PE_NO_MEMORY, "", "", "memory for the search");
        good = false;
    }
    pe_ordered_view_done(&ordered);
    return good;
}

bool pe_judge_request(const pe_judge *judge, const pe_scheme *scheme,
                      const pe_proposal *proposal, const char *tensor, pe_identity *ret_found)
{
    pe_dtype dtype;
    bool good = true;
    const pe_view *view = &judge->seen->view;
    const char *name = pe_element_is_real(view->element, &dtype) ? pe_dtype_name(dtype) : "f32";
    trial self = {.judge = judge, .scheme = scheme, .proposal = proposal};
    *ret_found = (pe_identity){.arithmetic = PE_ARITHMETIC_UNKNOWN, .proposed = 1};
    self.request = pe_parse_query(scheme, proposal->query, name, judge->limits);
    const int index = self.request ? pe_find_query_tensor(self.request, tensor, view) : -1;
    if (index >= 0 && pe_request_price(self.request) <=
                          ENTRY_PRICE * (double)pe_view_elements(view) + LEAST_PRICE) {
        self.tensor = (size_t)index;
        good = (judge->unordered ? judge_ordered : judge_seen)(&self, ret_found);
    }
    pe_request_unref(self.request);
    return good;
}
