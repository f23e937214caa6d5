#include "identify/recipe.h"

#include "foreign/quick_cosine.h"
#include "foreign/wave_fit.h"
#include "identify/judge.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOATS        9   /* how far a recipe moves a frequency, in floats */
#define PROBED_ROWS   384 /* by which frequencies are chosen */
#define BLOCK_ENTRIES ((uint64_t)1 << 16)
#define ANGLE_MAX                                                                              \
    0x1p30 /* radians: beyond, quarter turns are not told apart exactly enough                 \
            */

/* ---- formats ---- */

/* In which formats positions, frequencies, their products and the functions of these are. */
typedef struct formats {
    pe_dtype position, frequency, product, function;
    const char *text;
} formats;

#define FLOAT_RECIPES                                                                          \
    2 /* the first ones, of tables as near as float32 arithmetic brings them */
static const formats RECIPES[] = {
    {PE_F32, PE_F32, PE_F32, PE_F32, "float32 positions times float32 frequencies"},
    {PE_F64, PE_F32, PE_F64, PE_F64, "float64 positions times float32 frequencies"},
    {PE_F32, PE_BF16, PE_F32, PE_F32, "float32 positions times bfloat16 frequencies"},
    {PE_F32, PE_F16, PE_F32, PE_F32, "float32 positions times float16 frequencies"},
    {PE_BF16, PE_BF16, PE_BF16, PE_BF16, "all in bfloat16"},
    {PE_F16, PE_F16, PE_F16, PE_F16, "all in float16"},
    {PE_BF16, PE_F32, PE_F32, PE_F32, "bfloat16 positions times float32 frequencies"},
    {PE_F16, PE_F32, PE_F32, PE_F32, "float16 positions times float32 frequencies"},
    {PE_BF16, PE_BF16, PE_F32, PE_F32, "bfloat16 positions and frequencies, float32 products"},
    {PE_F16, PE_F16, PE_F32, PE_F32, "float16 positions and frequencies, float32 products"},
};

#define RECIPE_COUNT (sizeof RECIPES / sizeof *RECIPES)

/* A number rounded to a format. */
static double rounded(double number, pe_dtype format)
{
    unsigned char element[8];
    if (format == PE_F64)
        return number;
    if (format == PE_F32)
        return (double)(float)number;
    pe_round_row(format, &number, 1, element);
    return pe_element_value(format, element);
}

/* The number of a format `steps` places above one of its numbers, which is normal and positive.
 */
static double next_in(double number, pe_dtype format, int steps)
{
    static const double UNITS[] = {
        [PE_F32] = 0x1p-23, [PE_F64] = 0x1p-52, [PE_F16] = 0x1p-10, [PE_BF16] = 0x1p-7};
    for (int i = 0; i < abs(steps); i++) {
        int exponent;
        double part = frexp(number, &exponent); /* in [1/2, 1) */
        double unit = ldexp(UNITS[format], exponent - 1);
        number = steps > 0 ? number + unit : number - (part == 0.5 ? unit / 2 : unit);
    }
    return rounded(number, format);
}

/* ---- one column ---- */

typedef struct column {
    bool constant; /* too slow to be told: no wave */
    int quarters;  /* 0: cosines; 3: sines */
    double angle;  /* exact frequency, in radians per row */
    double frequency;
} column;

typedef struct recipe {
    pe_seen *seen;
    formats in;
    double first; /* the position of row 0 */
    float amplitude;
    pe_dtype dtype; /* of the table */
    column *columns;
    uint64_t rows, count;
} recipe;

/* How far an entry is from what a frequency and amplitude give: 0 if it is that, 1 if it is
 * what a neighbouring float would be rounded to, 2 if it is neither. */
static int distance_of(const recipe *self, const column *own, double found, uint64_t row)
{
    double position = rounded(self->first + (double)row, self->in.position);
    double phase = rounded(position * own->frequency, self->in.product);
    double wide = pe_quick_cosine(phase, own->quarters);
    float value = (float)wide;
    for (int i = 0; i < 3; i++) {
        float near = i == 0 ? value : nextafterf(value, i == 1 ? INFINITY : -INFINITY);
        double scaled =
            (double)(self->amplitude * (float)rounded((double)near, self->in.function));
        if (rounded(scaled, self->dtype) == found)
            return i > 0;
    }
    return 2;
}

/* Choose a column's frequency among those of its format: the one that gives the most of some
 * rows, and all of them within a float. False if there is none. */
static bool choose(recipe *self, column *own, const double *probed, const uint64_t *rows,
                   uint64_t stride)
{
    const pe_dtype format = self->in.frequency;
    const double nearest = rounded(own->angle, format);
    const int most = format == PE_F32 ? FLOATS : 1;
    double best = 0;
    size_t least = PROBED_ROWS + 1;
    for (int step = 0; step <= 2 * most; step++) {
        int floats = step % 2 ? (step + 1) / 2 : -step / 2, distance = 0;
        size_t row = 0, off = 0;
        own->frequency = next_in(nearest, format, floats);
        for (; row < PROBED_ROWS && distance < 2 && off < least; row++) {
            distance = distance_of(self, own, probed[row * stride], rows[row]);
            off += distance == 1;
        }
        if (distance < 2 && off < least) {
            least = off;
            best = own->frequency;
        }
    }
    own->frequency = best;
    return least <= PROBED_ROWS;
}

/* ---- the exact waves ---- */

/* Measure the exact columns: rows at a distance tell the slow ones. False without memory. */
static bool measure(recipe *self, pe_stream *stream)
{
    const size_t sampled = self->seen->sampled, size = (size_t)self->count * sizeof(double);
    double *rows = malloc(sampled * size);
    bool good = rows != NULL;
    uint64_t distances[2] = {1, (self->rows - 1) / sampled};
    for (int pass = 0; good && pass < 2 && distances[pass] > 0; pass++) {
        for (size_t i = 0; good && i < sampled; i++)
            good = pe_judge_read(stream, i * distances[pass] * size,
                                 rows + i * (size_t)self->count, size);
        for (uint64_t c = 0; good && c < self->count; c++) {
            column *own = &self->columns[c];
            pe_seen_wave wave = own->constant ? pe_fit_wave(rows + c, (size_t)self->count,
                                                            sampled, PE_LEAST_EXACT_ANGLE)
                                              : (pe_seen_wave){.found = false};
            if (!wave.found)
                continue;
            own->constant = false;
            self->amplitude = (float)wave.amplitude;
            own->angle = wave.frequency / (double)distances[pass];
            double turned = (wave.phase - own->angle * self->first) / 1.5707963267948966;
            own->quarters = (int)((int64_t)rint(turned) & 3);
        }
    }
    free(rows);
    return good;
}

/* The arc sine of a small number, by its series. */
static double small_arc_sine(double x)
{
    double square = x * x;
    return x * (1 + square * (1.0 / 6 + square * (3.0 / 40 + square * (15.0 / 336))));
}

/* Columns that hardly turn in the whole table: their last entry says how far. False if it
 * cannot be read. */
static bool measure_slow(recipe *self, pe_stream *stream)
{
    const size_t size = (size_t)self->count * sizeof(double);
    const double last = self->first + (double)self->rows - 1;
    double *row = malloc(size);
    bool good = row && pe_judge_read(stream, (self->rows - 1) * size, row, size);
    for (uint64_t c = 0; good && last > 0 && c < self->count; c++) {
        column *own = &self->columns[c];
        double x = row[c] / (double)self->amplitude, cosine = (1 - x) / 2;
        if (!own->constant || fabs(x) > 1 || (fabs(x) > 0.01 && cosine > 1e-4))
            continue;
        own->constant = false;
        own->quarters = x > 0.5 ? 0 : 3;
        own->angle = (x > 0.5 ? 2 * small_arc_sine(sqrt(cosine)) : small_arc_sine(x)) / last;
    }
    free(row);
    return good;
}

/* The position of row 0 in rows; false if the request's positions are no such thing. */
static bool read_first(const pe_request *wide, double *ret_first)
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
    *ret_first = offset / step;
    return *ret_first == rint(*ret_first) && fabs(*ret_first) < 0x1p24;
}

/* ---- all entries ---- */

/* Choose the frequencies of all columns by some rows of the table. */
static bool choose_all(recipe *self, bool *ret_read)
{
    uint64_t rows[PROBED_ROWS];
    double *probed = malloc(PROBED_ROWS * (size_t)self->count * sizeof *probed);
    *ret_read = probed != NULL;
    for (uint64_t i = 0; *ret_read && i < PROBED_ROWS; i++) {
        rows[i] = i * (self->rows - 1) / (PROBED_ROWS - 1);
        *ret_read = pe_view_read(&self->seen->view, rows[i], 1, probed + i * self->count);
    }
    bool good = *ret_read;
    for (uint64_t c = 0; good && c < self->count; c++)
        good = self->columns[c].constant ||
               choose(self, &self->columns[c], probed + c, rows, self->count);
    free(probed);
    return good;
}

static bool rows_fit(const recipe *self, const double *found, uint64_t first, uint64_t rows)
{
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t c = 0; c < self->count; c++) {
            const column *own = &self->columns[c];
            double entry = found[row * self->count + c];
            if (own->constant ? fabs(entry) > 1
                              : distance_of(self, own, entry, first + row) == 2)
                return false;
        }
    return true;
}

static bool all_fit(recipe *self, pe_request *wide, const pe_runner *runner, bool *ret_fits,
                    pe_error *reterr)
{
    static const pe_runner none = {.context = NULL};
    uint64_t at_once = self->count < BLOCK_ENTRIES ? BLOCK_ENTRIES / self->count : 1;
    double *found = malloc((size_t)(at_once * self->count) * sizeof *found);
    bool good = found != NULL;
    *ret_fits = good;
    good = pe_request_begin(wide, runner, reterr) && good;
    for (uint64_t row = 0, now; good && *ret_fits && row < self->rows; row += now) {
        now = self->rows - row < at_once ? self->rows - row : at_once;
        good = (row == 0 || pe_may_go_on(runner ? runner : &none, &wide->values,
                                         (double)row / (double)self->rows, reterr)) &&
               pe_view_read(&self->seen->view, row, now, found);
        *ret_fits = good && rows_fit(self, found, row, now);
    }
    pe_request_end(wide, runner);
    free(found);
    return good;
}

/* Columns that are no waves fit only if every entry is exact, which the caller has not found:
 * so all have to be waves. */
static bool all_are_waves(const recipe *self)
{
    for (uint64_t c = 0; c < self->count; c++)
        if (self->columns[c].constant ||
            self->columns[c].angle * (self->first + (double)self->rows) > ANGLE_MAX)
            return false;
    return true;
}

/* Try one recipe. False: it was ended. */
static bool try_recipe(recipe *self, pe_request *wide, const pe_runner *runner, bool *ret_fits,
                       pe_error *reterr)
{
    bool read = true, good = true;
    *ret_fits = false;
    if (choose_all(self, &read))
        good = all_fit(self, wide, runner, ret_fits, reterr);
    return good && read;
}

bool pe_recipe_find(pe_request *wide, size_t tensor, pe_seen *seen, bool coarse,
                    const pe_runner *runner, const char **ret_computation, pe_error *reterr)
{
    recipe self = {.seen = seen, .amplitude = 1, .rows = seen->rows, .count = seen->columns};
    pe_stream *stream = NULL;
    bool fits = false;
    *ret_computation = NULL;
    if (!pe_element_is_real(seen->view.element, &self.dtype) || self.dtype == PE_F64 ||
        seen->sampled < 4 || !read_first(wide, &self.first))
        return true;
    self.columns = malloc((size_t)self.count * sizeof *self.columns);
    bool good = self.columns &&
                pe_stream_new(wide, tensor, PE_STREAM_FAST, runner, &stream, reterr) == PE_OK;
    for (uint64_t c = 0; good && c < self.count; c++)
        self.columns[c] = (column){.constant = true};
    good = good && measure(&self, stream) && measure_slow(&self, stream);
    bool waves = good && all_are_waves(&self);
    for (size_t i = 0; good && waves && !fits && i < (coarse ? RECIPE_COUNT : FLOAT_RECIPES);
         i++) {
        self.in = RECIPES[i];
        good = try_recipe(&self, wide, runner, &fits, reterr);
        *ret_computation = fits ? RECIPES[i].text : NULL;
    }
    pe_stream_free(stream);
    free(self.columns);
    if (!good && reterr->count == 0)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the comparison");
    return good;
}
