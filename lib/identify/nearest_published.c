#include "identify/nearest_published.h"

#include "identify/query.h"
#include "identify/residual.h"
#include "numerics/elementary.h"
#include "recognise/observation.h"
#include "recognise/wave_fit.h"
#include "waves/grid_presets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS        12    /* that are looked at */
#define COLUMNS_MAX 16384 /* of a table that is looked at */
#define NOISE_MAX   0.08  /* root of the mean square, of that of the table */
#define EARLY       0.5   /* the same of one row, that ends a look */
#define DISTINCT    0.98  /* the same, of a request that is better than one before */
#define PRICE_MAX   0x1p33

/* Usual bases; 0 stands for the one that was measured. */
static const double BASES[] = {1e4, 5e5, 1e6, 1e5, 1.5e5, 5e6, 1e7, 100, 0};

/* One table on its way through requests. */
typedef struct published_search {
    const pe_view *view;
    const pe_scheme *only;
    const pe_limits *limits;
    pe_search_runner *runner;
    pe_dtype dtype;
    uint64_t rows[ROWS], columns;
    double *found, *exact;   /* [ROWS, columns]; [columns] */
    unsigned char *elements; /* [columns] */
    double squares;          /* mean of the found entries' */
    double base;             /* that was measured; 0: none */
    double least;            /* mean square of what the best request leaves */
    const pe_scheme *scheme; /* of that; NULL: none */
    char query[PE_IDENTITY_QUERY_MAX];
    const char *tensor;
    size_t proposed;
} published_search;

/* ---- what is seen ---- */

static bool read_rows(published_search *self)
{
    double sum = 0, most = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double *row = self->found + i * self->columns;
        self->rows[i] = 1 + i * (self->view->shape[0] - 2) / (ROWS - 1);
        if (!pe_view_read(self->view, self->rows[i], 1, row))
            return false;
        for (uint64_t c = 0; c < self->columns; c++) {
            sum += row[c] * row[c];
            most = fmax(most, fabs(row[c]));
        }
    }
    self->squares = sum / (double)(ROWS * self->columns);
    if (!(most > 0.5 && most < 1.5)) /* sines and cosines */
        self->squares = 0;
    return true;
}

static pe_observed_wave fit_column(const pe_observation *seen, uint64_t column)
{
    pe_observed_wave wave = pe_fit_wave(seen->sample + column, (size_t)seen->columns,
                                        seen->sampled, PE_LEAST_ANGLE);
    wave.turns = wave.found ? wave.frequency * (double)seen->sampled : 0;
    return wave;
}

/* Measure the base by the first wave and the slowest one that turns twice in the sample.
 * Frequencies fall, so halving finds that one without fitting the others. */
static bool measure_base(published_search *self)
{
    pe_observation seen;
    const bool good = pe_observation_begin(&seen, self->view);
    for (uint64_t stride = 1; good && seen.sample && stride <= 2 && self->base == 0; stride++) {
        const uint64_t half = self->columns / 2;
        const pe_observed_wave first = fit_column(&seen, 0);
        pe_observed_wave slowest = first;
        uint64_t last = 0;
        for (uint64_t beyond = half; first.found && beyond - last > 1;) {
            const uint64_t middle = last + (beyond - last) / 2;
            const pe_observed_wave wave = fit_column(&seen, middle * stride);
            if (wave.turns > 2 * PE_TURN) {
                last = middle;
                slowest = wave;
            } else {
                beyond = middle;
            }
        }
        if (last < 2)
            continue;
        double slope = pe_log_double(slowest.frequency / first.frequency);
        double base = pe_exp_double(-slope * (double)half / (double)last);
        if (base > 2 && base < 1e9)
            self->base = pe_find_decimal(base, 2e-3);
    }
    pe_observation_end(&seen);
    return good;
}

/* ---- one request ---- */

/* The mean square of what a request leaves of the rows; more than that of the table if it is
 * far off. */
static double measure_residual(published_search *self, pe_request *request, size_t tensor)
{
    const size_t size = (size_t)self->columns * pe_dtype_size(PE_F32);
    pe_stream *stream = NULL;
    pe_error error;
    double sum = 0;
    bool good =
        pe_stream_new(request, tensor, size, &self->runner->own, &stream, &error) == PE_OK;
    for (size_t i = 0; good && i < ROWS; i++) {
        const double *found = self->found + i * self->columns;
        double row = 0;
        good = pe_stream_read_fully(stream, self->rows[i] * size, self->elements, size);
        if (good)
            pe_read_row(self->exact, PE_F32, self->elements, (size_t)self->columns);
        for (uint64_t c = 0; good && c < self->columns; c++)
            row += (found[c] - self->exact[c]) * (found[c] - self->exact[c]);
        sum += row;
        good = good && row <= EARLY * EARLY * self->squares * (double)self->columns;
    }
    pe_stream_free(stream);
    return good ? sum / (double)(ROWS * self->columns) : INFINITY;
}

/* Try a request of usual settings. */
static void try_request(published_search *self, const char *name, const char *tensor,
                        const char *query)
{
    const pe_scheme *scheme = pe_scheme_find(name);
    if ((self->only && scheme != self->only) || !pe_search_may_continue(self->runner))
        return;
    pe_request *request = pe_parse_query(scheme, query, "f32", self->limits);
    const int index = request ? pe_find_query_tensor(request, tensor, self->view) : -1;
    self->proposed++;
    if (index >= 0 && pe_request_price(request) <= PRICE_MAX) {
        double rest = measure_residual(self, request, (size_t)index);
        if (rest < DISTINCT * DISTINCT * self->least) {
            self->least = rest;
            self->scheme = scheme;
            self->tensor = tensor;
            snprintf(self->query, sizeof self->query, "%s", query);
        }
    }
    pe_request_unref(request);
}

/* ---- usual requests ---- */

static void write_base(const published_search *self, size_t which, const char *name, char *dst,
                       size_t size)
{
    const double base = BASES[which] > 0 ? BASES[which] : self->base;
    char text[PE_PRINT_MAX];
    pe_print_number(text, base);
    dst[0] = '\0';
    if (base != 1e4)
        snprintf(dst, size, "&%s=%s", name, text);
}

/* `usual`: with another law and other first positions, too. */
static void try_sinusoidal(published_search *self, const char *base, bool usual)
{
    static const char *const LAYOUTS[] = {"", "&layout=concat", "&layout=concat_cos_first"};
    static const char *const LAWS[] = {"", "&frequencies=tensor2tensor"};
    char query[PE_IDENTITY_QUERY_MAX];
    for (size_t layout = 0; layout < PE_COUNT(LAYOUTS); layout++)
        for (size_t law = 0; law < (usual ? PE_COUNT(LAWS) : 1); law++)
            for (int offset = 0; offset < (usual ? 3 : 1); offset++) {
                snprintf(query, sizeof query, "length=%llu&dim=%llu%s%s%s%s",
                         (unsigned long long)self->view->shape[0],
                         (unsigned long long)self->columns, LAYOUTS[layout], LAWS[law], base,
                         offset == 0   ? ""
                         : offset == 1 ? "&offset=1"
                                       : "&offset=2");
                try_request(self, "sinusoidal", "encoding", query);
            }
}

static void try_rotary(published_search *self, const char *theta)
{
    static const struct {
        unsigned widths; /* the dim, in columns */
        const char *text;
    } TABLES[] = {{2, "&table=half_width"},
                  {1, "&table=full&layout=half"},
                  {1, "&table=full&layout=interleaved"}};
    static const char *const NAMES[] = {"cos", "sin"};
    char query[PE_IDENTITY_QUERY_MAX];
    for (size_t table = 0; table < PE_COUNT(TABLES); table++)
        for (size_t name = 0; name < PE_COUNT(NAMES); name++) {
            snprintf(query, sizeof query, "length=%llu&dim=%llu%s%s",
                     (unsigned long long)self->view->shape[0],
                     (unsigned long long)TABLES[table].widths * self->columns,
                     TABLES[table].text, theta);
            try_request(self, "rope", NAMES[name], query);
        }
}

/* Square grids, perhaps behind one row of zeros. */
static void try_grids(published_search *self)
{
    char query[PE_IDENTITY_QUERY_MAX];
    for (uint64_t before = 0; before < 2; before++) {
        const uint64_t side = (uint64_t)rint(sqrt((double)(self->view->shape[0] - before)));
        for (size_t i = 0;
             side * side + before == self->view->shape[0] && i < PE_GRID_PRESET_COUNT; i++) {
            snprintf(query, sizeof query,
                     "height=%llu&width=%llu&dim=%llu&shape=nc%s&preset=%s",
                     (unsigned long long)side, (unsigned long long)side,
                     (unsigned long long)self->columns, before ? "&extra_tokens=1" : "",
                     pe_grid_presets[i].name);
            try_request(self, "sinusoidal_2d", "encoding", query);
        }
    }
}

static void try_usual_requests(published_search *self)
{
    for (size_t i = 0; i < PE_COUNT(BASES); i++) {
        char base[48], theta[48];
        if (BASES[i] == 0 && self->base == 0)
            continue;
        write_base(self, i, "base", base, sizeof base);
        write_base(self, i, "rope_theta", theta, sizeof theta);
        try_sinusoidal(self, base, i == 0 || BASES[i] == 0);
        try_rotary(self, theta);
    }
    try_grids(self);
}

/* ---- the whole ---- */

/* Compare the best request with the whole table. False: as pe_find_nearest_published. */
static bool compare_best_request(const published_search *self, pe_identity *identity,
                                 pe_error *reterr)
{
    pe_request *request =
        pe_parse_query(self->scheme, self->query, pe_dtype_name(self->dtype), self->limits);
    const int index = request ? pe_find_query_tensor(request, self->tensor, self->view) : -1;
    pe_comparison *compared = &identity->comparison;
    bool good = index >= 0 && pe_compare_table(request, (size_t)index, self->view,
                                               (pe_tolerance){.absolute = 0},
                                               &self->runner->own, compared, reterr) == PE_OK;
    const double step = good ? pe_residual_find_step(self->view, compared->absolute.error) : 0;
    if (!good || compared->not_finite > 0 ||
        compared->squares > NOISE_MAX * NOISE_MAX * self->squares * (double)compared->entries ||
        (step == 0 &&
         !pe_residual_is_noise(request, (size_t)index, self->view, &self->runner->own))) {
        pe_request_unref(request);
        return reterr->count == 0;
    }
    pe_request_unref(request);
    identity->status = PE_IDENTITY_NEAR;
    identity->arithmetic = PE_ARITHMETIC_UNKNOWN;
    identity->step = step;
    if (step == 0)
        identity->noise = sqrt(compared->squares / (double)compared->entries);
    identity->misfits = (pe_misfits){.count = compared->differing};
    identity->scheme = self->scheme;
    identity->rank = self->view->rank;
    memcpy(identity->shape, self->view->shape, sizeof identity->shape);
    snprintf(identity->query, sizeof identity->query, "%s", self->query);
    snprintf(identity->tensor, sizeof identity->tensor, "%s", self->tensor);
    return true;
}

bool pe_find_nearest_published(const pe_view *view, const pe_scheme *only,
                               const pe_limits *limits, pe_search_runner *runner,
                               pe_identity *identity, pe_error *reterr)
{
    published_search self = {.view = view, .only = only, .limits = limits, .runner = runner};
    if (view->rank != 2 || view->shape[0] < ROWS || view->shape[1] < 4 ||
        view->shape[1] > COLUMNS_MAX || !pe_element_is_real(view->element, &self.dtype))
        return true;
    self.columns = view->shape[1];
    self.found = malloc((size_t)self.columns * (ROWS + 1) * sizeof *self.found);
    self.elements = malloc((size_t)self.columns * sizeof(float));
    bool good = self.found && self.elements;
    if (!good)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the search");
    if (good) {
        self.exact = self.found + ROWS * self.columns;
        good = read_rows(&self);
    }
    self.least = NOISE_MAX * NOISE_MAX * self.squares;
    if (good && self.squares > 0 && measure_base(&self))
        try_usual_requests(&self);
    identity->proposed += self.proposed;
    if (good && self.scheme)
        good = compare_best_request(&self, identity, reterr);
    free(self.found);
    free(self.elements);
    return good && !runner->ended;
}
