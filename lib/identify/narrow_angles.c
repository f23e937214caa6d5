/* Explaining by angles in 16 bits: positions, frequencies or their products were rounded to
 * bfloat16 or float16 before the sine and the cosine. And by frequencies that no request has:
 * those of yarn with its ramp the other way round. */
#include "identify/compared_lines.h"
#include "identify/mistakes.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was rounded to 16 bits; the rest is float32. */
typedef struct recipe {
    bool position, frequency, product;
    const char *text;
} recipe;

static const recipe RECIPES[] = {
    {false, false, true, "The angles were rounded"},
    {true, true, true, "Positions, frequencies and angles were rounded"},
    {true, true, false, "Positions and frequencies were rounded"},
    {true, false, false, "Positions were rounded"},
    {false, true, false, "Frequencies were rounded"},
};

/* The waves of a table's columns. */
typedef struct columns {
    uint64_t count;
    double *frequencies, *amplitudes; /* the second ones of cosines; 0: it is a sine */
    double *line;
    double amplitude, step, offset;
    uint64_t differing; /* entries that are not the recipe's */
    double max_abs;
} columns;

/* The frequency whose sine and cosine lose this at position 1: pe_wave_loss grows with it. */
static double find_frequency(double loss)
{
    double low = 0x1p-1000, high = 1;
    if (loss >= 8)
        return loss / 8;
    for (int i = 0; i < 200; i++) {
        const double w = (low + high) / 2;
        if (w * (8 - 3 * log(w)) < loss)
            low = w;
        else
            high = w;
    }
    return low;
}

/* Read the row of a position, in a dtype of 8 bytes. */
static bool read_position(pe_trial *trial, const char *position, pe_dtype dtype, uint64_t count,
                          double *dst)
{
    char before[PE_IDENTITY_QUERY_MAX], query[PE_IDENTITY_QUERY_MAX];
    pe_change_query(trial->query, "offset", position, before);
    pe_change_query(before, "length", "1", query);
    pe_request *request = pe_trial_make_request(trial, query, PE_F64), *other = NULL;
    pe_stream *stream = NULL;
    pe_error error;
    const pe_view row = {.rank = count == 1 ? 0 : 1, .shape = {count}};
    const int index = request ? pe_find_query_tensor(request, trial->tensor, &row) : -1;
    bool good = index >= 0 && pe_request_with_dtype(request, dtype, &other, &error) == PE_OK &&
                pe_stream_new(other, (size_t)index, (size_t)count * sizeof(double),
                              &trial->runner.own, &stream, &error) == PE_OK &&
                pe_stream_read_fully(stream, 0, dst, (size_t)count * sizeof(double));
    pe_stream_free(stream);
    pe_request_unref(other);
    pe_request_unref(request);
    return good;
}

static bool read_columns(columns *self, pe_trial *trial)
{
    pe_value step, offset;
    char text[PE_PRINT_MAX];
    if (trial->scheme->errors != PE_ERRORS_OF_ANGLES || trial->dtype == PE_I32 ||
        trial->view.rank != 2 || !pe_trial_read_value(trial, "step", &step, text) ||
        !pe_trial_read_value(trial, "offset", &offset, text))
        return false;
    self->step = step.real;
    self->offset = offset.real;
    self->count = trial->view.shape[1];
    const size_t bytes = (size_t)self->count * sizeof(double);
    self->frequencies = malloc(bytes);
    self->amplitudes = malloc(bytes);
    self->line = malloc(bytes);
    if (!self->frequencies || !self->amplitudes || !self->line) {
        pe_error_add(trial->reterr, PE_NO_MEMORY, "", "", "memory for the explanation");
        return false;
    }
    if (!read_position(trial, "1", PE_LOSS, self->count, self->frequencies) ||
        !read_position(trial, "0", PE_F64, self->count, self->amplitudes))
        return false;
    for (uint64_t c = 0; c < self->count; c++)
        self->amplitude = fmax(self->amplitude, fabs(self->amplitudes[c]));
    if (self->amplitude == 0) /* sines alone */
        self->amplitude = 1;
    for (uint64_t c = 0; c < self->count; c++)
        self->frequencies[c] = find_frequency(self->frequencies[c] / self->amplitude);
    return true;
}

/* An entry of a recipe. Before it is rounded to 16 bits, a number is off by up to `slack`,
 * relative, which decides where it lies near the middle of two: `sides` says on which side the
 * frequency and the angle are taken to be, -1, 0 or 1. */
static double make_entry(const columns *self, uint64_t column, double position,
                         const recipe *rounds, pe_dtype narrow, double slack,
                         const int sides[2])
{
    double w = self->frequencies[column];
    if (rounds->frequency)
        w = pe_round_number(w * (1 + sides[0] * slack), narrow);
    double angle = position * w;
    if (rounds->product)
        angle = pe_round_number(angle * (1 + sides[1] * slack), narrow);
    return self->amplitudes[column] != 0 ? self->amplitudes[column] * cos(angle)
                                         : self->amplitude * sin(angle);
}

/* Whether an entry is that of a recipe; counts it if it is. */
static bool is_entry(columns *self, const pe_trial *trial, uint64_t column, double position,
                     const recipe *rounds, pe_dtype narrow)
{
    const double w = self->frequencies[column], unit = pe_dtypes[trial->format].unit;
    const double slack = (8 + 3 * fabs(log(w))) * 0x1p-24; /* as pe_wave_loss */
    const double lost = rounds->product ? 0 : fabs(position * w) * slack;
    for (int i = 0; i < 9; i++) { /* no side first */
        const int sides[] = {(i / 3 + 1) % 3 - 1, (i + 1) % 3 - 1};
        const double entry = make_entry(self, column, position, rounds, narrow, slack, sides);
        const double error = fabs(entry - self->line[column]);
        if (error <= self->amplitude * (lost + 0x1p-21) + 2 * unit * fabs(entry)) {
            const double rounded = pe_round_number(entry, trial->dtype);
            self->differing += rounded != self->line[column];
            self->max_abs = fmax(self->max_abs, fabs(rounded - self->line[column]));
            return true;
        }
    }
    return false;
}

/* Whether a line is that of a recipe. */
static bool is_line(columns *self, const pe_trial *trial, uint64_t row, const recipe *rounds,
                    pe_dtype narrow)
{
    const double exact = self->offset + self->step * (double)row;
    const double position = rounds->position ? pe_round_number(exact, narrow) : exact;
    for (uint64_t c = 0; c < self->count; c++)
        if (!is_entry(self, trial, c, position, rounds, narrow))
            return false;
    return true;
}

/* Whether all lines are those of a recipe: some first. */
static bool are_lines(columns *self, pe_trial *trial, const recipe *rounds, pe_dtype narrow)
{
    const uint64_t rows = trial->view.shape[0];
    const uint64_t step = rows > 2 * PE_TRIAL_LINES ? rows / PE_TRIAL_LINES : 1;
    trial->found->tried++;
    for (uint64_t row = rows; row > 0; row = row > step ? row - step : 0)
        if (!pe_view_read_line(&trial->view, row - 1, self->line) ||
            !is_line(self, trial, row - 1, rounds, narrow))
            return false;
    self->differing = 0;
    self->max_abs = 0;
    for (uint64_t row = 0; row < rows; row++)
        if (!pe_view_read_line(&trial->view, row, self->line) ||
            !is_line(self, trial, row, rounds, narrow))
            return false;
    return true;
}

static void free_columns(columns *self)
{
    free(self->frequencies);
    free(self->amplitudes);
    free(self->line);
}

/* Note that all lines are those of a recipe. */
static void note_lines(const columns *self, pe_trial *trial)
{
    trial->found->found = true;
    trial->found->entries = pe_view_elements(&trial->view);
    trial->found->differing = self->differing;
    trial->found->max_abs = self->max_abs;
}

bool pe_find_narrow_angles(pe_trial *trial)
{
    static const struct {
        pe_dtype dtype;
        const char *name;
    } FORMATS[] = {{PE_BF16, "bfloat16"}, {PE_F16, "float16"}};
    columns self = {.count = 0};
    bool found = false;
    if (read_columns(&self, trial))
        for (size_t i = 0; !found && i < PE_COUNT(RECIPES) * PE_COUNT(FORMATS); i++) {
            const recipe *rounds = &RECIPES[i / PE_COUNT(FORMATS)];
            const size_t format = i % PE_COUNT(FORMATS);
            found = are_lines(&self, trial, rounds, FORMATS[format].dtype);
            if (found) {
                note_lines(&self, trial);
                pe_trial_say(trial, "angles", "%s to %s before the sines and cosines.",
                             rounds->text, FORMATS[format].name);
            }
        }
    free_columns(&self);
    return found;
}

/* Whether the table is that of a query's yarn, but that the frequencies which it keeps are
 * divided by the factor, and those that it divides are kept: w' = w0 (1 + 1/factor) - w, with
 * w0 those of factor=1. */
static bool is_reversed(pe_trial *trial, const char *query, double factor)
{
    static const recipe UNROUNDED = {.text = NULL};
    const char *given = trial->query;
    char plain[PE_IDENTITY_QUERY_MAX];
    columns self = {.count = 0}, whole = {.count = 0};
    trial->query = query;
    bool found = read_columns(&self, trial);
    pe_change_query(query, "factor", "1", plain);
    trial->query = plain;
    found = found && read_columns(&whole, trial);
    trial->query = given;
    for (uint64_t c = 0; found && c < self.count; c++)
        self.frequencies[c] = whole.frequencies[c] * (1 + 1 / factor) - self.frequencies[c];
    found = found && are_lines(&self, trial, &UNROUNDED, PE_F32);
    if (found)
        note_lines(&self, trial);
    free_columns(&self);
    free_columns(&whole);
    return found;
}

/* Write the query with beta_fast or beta_slow such that its bound of the ramp is `steps`
 * indices farther. */
static bool move_bound(pe_trial *trial, const char *query, const char *name, double steps,
                       char dst[PE_IDENTITY_QUERY_MAX])
{
    pe_value beta, theta, dim, part;
    char text[PE_PRINT_MAX];
    if (!pe_trial_read_value(trial, name, &beta, text) ||
        !pe_trial_read_value(trial, "rope_theta", &theta, text) ||
        !pe_trial_read_value(trial, "dim", &dim, text) ||
        !pe_trial_read_value(trial, "partial_rotary_factor", &part, text))
        return false;
    pe_print_number(text, beta.real *
                              pe_power_double(theta.real, -2 * steps / (dim.real * part.real)));
    pe_change_query(query, name, text, dst);
    return true;
}

/* With the betas exchanged, Hugging Face's ramp falls, between the same bounds but for their
 * rounding: that of beta_fast down and that of beta_slow up. */
bool pe_find_reversed_ramp(pe_trial *trial)
{
    pe_value type, factor;
    char text[PE_PRINT_MAX], one[PE_IDENTITY_QUERY_MAX], both[PE_IDENTITY_QUERY_MAX];
    if (!pe_trial_read_value(trial, "rope_type", &type, text) || strcmp(text, "yarn") != 0 ||
        !pe_trial_read_value(trial, "factor", &factor, text))
        return false;
    if (is_reversed(trial, trial->query, factor.real))
        return pe_trial_say(
            trial, "scaling",
            "The ramp of rope_type=yarn is the other way round: frequencies that "
            "are kept are divided, and those that are divided are kept.");
    return move_bound(trial, trial->query, "beta_fast", 1, one) &&
           move_bound(trial, one, "beta_slow", -1, both) &&
           is_reversed(trial, both, factor.real) &&
           pe_trial_say(trial, "scaling",
                        "beta_fast and beta_slow are exchanged, which turns the "
                        "ramp of rope_type=yarn round.");
}
