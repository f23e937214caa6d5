#include "identify/exact_waves.h"

#include "recognise/wave_fit.h"
#include "requests/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUARTER_TURN 1.5707963267948966

/* Read the positions. False: they are no whole numbers of rows. */
static bool read_positions(pe_exact_waves *waves, const pe_request *wide)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(wide));
    double offset = 0, step = 1;
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        const pe_parameter *row = pe_parameter_at(info, i);
        const pe_value *value = pe_request_value(wide, i);
        if (!value->present)
            continue;
        if (strcmp(row->name, "positions") == 0)
            return false;
        offset = strcmp(row->name, "offset") == 0 ? value->real : offset;
        step = strcmp(row->name, "step") == 0 ? value->real : step;
    }
    const double first = offset / step;
    waves->positions = (pe_formula_rows){.offset = first, .step = 1};
    return first == rint(first) && fabs(first) < 0x1p24;
}

/* A pe_view's `read` of the exact tensor. */
static bool read_stream(void *context, uint64_t offset, void *dst, size_t size)
{
    return pe_stream_read_fully(context, offset, dst, size);
}

/* Measure columns as those of a table from elsewhere. */
static bool measure_waves(pe_exact_waves *waves, pe_stream *stream)
{
    pe_view view = pe_observation_view_doubles(NULL, waves->rows, waves->count);
    pe_observation seen;
    double most = 0;
    view.read = read_stream;
    view.context = stream;
    const bool good = pe_observation_begin(&seen, &view) && pe_observation_waves(&seen);
    for (uint64_t c = 0; good && c < waves->count; c++) {
        const pe_observed_wave *wave = &seen.waves[c];
        const double turned =
            (wave->phase - wave->frequency * waves->positions.offset) / QUARTER_TURN;
        waves->items[c] = (pe_exact_wave){.constant = !wave->found};
        if (!wave->found)
            continue;
        waves->amplitude = wave->turns > most ? wave->amplitude : waves->amplitude;
        most = fmax(most, wave->turns);
        waves->items[c].angle = wave->frequency;
        waves->items[c].quarters = (int)((int64_t)rint(turned) & 3);
    }
    pe_observation_end(&seen);
    return good;
}

#define SLOW 0.4 /* radians: columns that turn less in the whole table are no waves */

/* Columns that hardly turn in the whole table: their last entry says how far. */
static bool measure_slow(pe_exact_waves *waves, pe_stream *stream)
{
    const size_t size = (size_t)waves->count * sizeof(double);
    const double last = pe_exact_position(waves, waves->rows - 1);
    double *row = malloc(size);
    bool good = row && pe_stream_read_fully(stream, (waves->rows - 1) * size, row, size);
    for (uint64_t c = 0; good && last > 0 && c < waves->count; c++) {
        pe_exact_wave *own = &waves->items[c];
        const double x = fmax(-1, fmin(row[c] / waves->amplitude, 1)), half = (1 - x) / 2;
        if (!own->constant)
            continue;
        const double angle = x > 0.5 ? 2 * pe_compute_angle(sqrt(half), sqrt(1 - half))
                                     : pe_compute_angle(x, sqrt(1 - x * x));
        own->quarters = x > 0.5 ? 0 : 3;
        own->constant = fabs(angle) > SLOW;
        own->angle = angle / last;
    }
    free(row);
    return good;
}

/* ---- reading ---- */

static bool read_columns(pe_exact_waves *waves, const pe_request *request,
                         const pe_formula_law *law, const char *tensor)
{
    double *exact = pe_formula_exact(law);
    pe_formula_column place;
    bool known = exact != NULL;
    for (uint64_t c = 0; known && c < waves->count; c++) {
        known = pe_formula_find_column(request, law, tensor, c, &place);
        if (known)
            waves->items[c] =
                (pe_exact_wave){.quarters = place.sine ? 3 : 0, .angle = exact[place.pair]};
    }
    free(exact);
    return known;
}

bool pe_exact_waves_read(pe_exact_waves *waves, const pe_request *request, size_t tensor)
{
    const pe_tensor *own = pe_request_tensor(request, tensor);
    pe_formula_law law;
    *waves = (pe_exact_waves){.items = NULL};
    if (own->rank != 2 || !pe_formula_read(request, &law))
        return false;
    waves->rows = own->shape[0];
    waves->count = own->shape[1];
    waves->amplitude = pe_formula_amplitude(request, &law);
    waves->zero_at_origin = pe_formula_has_zero(request);
    pe_formula_positions(request, &law, &waves->positions);
    waves->items = malloc((size_t)waves->count * sizeof *waves->items);
    if (waves->items && read_columns(waves, request, &law, own->name))
        return true;
    free(waves->items);
    waves->items = NULL;
    return false;
}

/* ---- the whole ---- */

bool pe_exact_waves_init(pe_exact_waves *waves, pe_request *wide, size_t tensor,
                         const pe_observation *seen, const pe_runner *runner, bool *ret_whole,
                         pe_error *reterr)
{
    pe_stream *stream = NULL;
    *ret_whole = pe_exact_waves_read(waves, wide, tensor);
    if (*ret_whole)
        return true;
    *waves = (pe_exact_waves){.rows = seen->rows, .count = seen->columns, .amplitude = 1};
    *ret_whole = read_positions(waves, wide);
    if (!*ret_whole)
        return true;
    waves->items = malloc((size_t)waves->count * sizeof *waves->items);
    bool good = waves->items &&
                pe_stream_new(wide, tensor, PE_STREAM_FAST, runner, &stream, reterr) == PE_OK;
    good = good && measure_waves(waves, stream) && measure_slow(waves, stream);
    pe_stream_free(stream);
    return good;
}

double pe_exact_waves_reach(const pe_exact_waves *waves)
{
    double farthest = fmax(fabs(pe_exact_position(waves, 0)),
                           fabs(pe_exact_position(waves, waves->rows - 1)));
    double fastest = 0;
    for (uint64_t row = 0; waves->positions.list && row < waves->rows; row++)
        farthest = fmax(farthest, fabs(waves->positions.list[row]));
    for (uint64_t c = 0; c < waves->count; c++)
        fastest = fmax(fastest, waves->items[c].constant ? INFINITY : waves->items[c].angle);
    return fastest * farthest;
}

#define SAME_ANGLE 1e-6 /* relative: of two columns of one frequency, as they are measured */

typedef struct place {
    double angle;
    uint64_t column;
} place;

static int by_angle(const void *one, const void *other)
{
    const place *a = one, *b = other;
    if (a->angle != b->angle)
        return a->angle < b->angle ? -1 : 1;
    return a->column < b->column ? -1 : 1;
}

bool pe_exact_waves_join(const pe_exact_waves *waves, uint64_t *ret_first, uint64_t *ret_next)
{
    place *places = malloc((size_t)waves->count * sizeof *places);
    for (uint64_t c = 0; places && c < waves->count; c++)
        places[c] = (place){waves->items[c].angle, c};
    if (places)
        qsort(places, (size_t)waves->count, sizeof *places, by_angle);
    for (uint64_t i = 0; places && i < waves->count; i++) {
        const place *own = &places[i];
        const place *before = i > 0 ? own - 1 : own;
        const bool joined =
            i > 0 && fabs(before->angle - own->angle) <= SAME_ANGLE * own->angle;
        ret_next[own->column] = own->column;
        ret_first[own->column] = joined ? ret_first[before->column] : own->column;
        if (joined)
            ret_next[before->column] = own->column;
    }
    free(places);
    return places != NULL;
}

void pe_exact_waves_done(pe_exact_waves *waves)
{
    free(waves->items);
}
