#include "identify/computation.h"

#include "identify/exact_waves.h"
#include "identify/recipe.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOATS        14 /* how far a computation moves a frequency: an exp by its exponent */
#define CANDIDATES    (2 * FLOATS + 1) /* floats that a frequency may be */
#define PROBED_ROWS   384              /* by which frequencies are chosen first */
#define PASSES_MAX    12               /* over all rows, until a choice holds */
#define BLOCK_ENTRIES ((uint64_t)1 << 16)
#define ANGLE_MAX     0x1p30 /* radians: beyond, quarter turns are not told apart exactly */

/* ---- one entry ---- */

/* A frequency, or a divisor, which some columns share. */
typedef struct chosen_frequency {
    double nearest;   /* the float32 number next to the exact one */
    double chosen;    /* of the candidates */
    uint32_t refuted; /* candidates that do not give an entry: a bit for each */
    size_t off;       /* probed entries to which the chosen one gives a neighbour */
    int changed;      /* the last pass over all rows in which it was chosen anew */
} chosen_frequency;

_Static_assert(CANDIDATES <= 32, "candidates are bits of a number");

typedef struct computation {
    pe_observation *seen;
    pe_exact_waves waves;
    const pe_recipe *in;
    double factor; /* by which the request divides all frequencies; else 1 */
    pe_recipe_entries entries;
    chosen_frequency *frequencies; /* [columns]: each in the place of its first column */
    uint64_t *first;               /* [columns]: the first column of the same frequency */
    uint64_t *next;                /* [columns]: the next one, or itself */
    double *probed;                /* [probes, columns] */
    size_t probes;                 /* rows, spread over the table */
    uint64_t probed_rows[PROBED_ROWS];
} computation;

/* The angle of a row by a frequency or divisor, as it was rounded. */
static double compute_angle(const computation *self, double frequency, uint64_t row)
{
    return pe_recipe_angle(self->in, pe_exact_position(&self->waves, row), self->factor,
                           frequency);
}

static int measure_distance(const computation *self, double angle, int quarters, double found)
{
    return pe_recipe_distance(self->in, &self->entries, angle, quarters, found);
}

/* ---- one column ---- */

#define NEVER SIZE_MAX

/* Whether a row is zero whatever its angles are. */
static bool is_zero_row(const computation *self, uint64_t row)
{
    return self->waves.zero_at_origin && pe_exact_position(&self->waves, row) == 0;
}

/* How many of the probed entries a frequency gives but for a float; NEVER if one is further
 * off, or if there are `most` of them. */
static size_t count_misses(const computation *self, uint64_t column, double frequency,
                           size_t most)
{
    const int quarters = self->waves.items[column].quarters;
    size_t off = 0;
    for (size_t i = 0; i < self->probes; i++) {
        if (is_zero_row(self, self->probed_rows[i]))
            continue;
        double angle = compute_angle(self, frequency, self->probed_rows[i]);
        int distance = measure_distance(self, angle, quarters,
                                        self->probed[i * self->waves.count + column]);
        off += distance == 1;
        if (distance == 2 || off >= most)
            return NEVER;
    }
    return off;
}

/* The same of all columns of a frequency, from the first one on. */
static size_t count_all_misses(const computation *self, uint64_t first, double frequency,
                               size_t most)
{
    size_t off = 0;
    for (uint64_t c = first;; c = self->next[c]) {
        size_t more = off < most ? count_misses(self, c, frequency, most - off) : NEVER;
        if (more == NEVER)
            return NEVER;
        off += more;
        if (self->next[c] == c)
            return off;
    }
}

/* The exact number of which a column's is a neighbour. */
static double find_exact(const computation *self, uint64_t column)
{
    double angle = self->waves.items[column].angle;
    if (self->in->form == PE_SCALED)
        angle *= self->factor;
    return self->in->form == PE_QUOTIENT ? 1 / angle : angle;
}

/* The float32 number `floats` farther from 0 than a normal one. */
static double step_number(double number, int floats)
{
    float narrow = (float)number;
    int32_t place;
    memcpy(&place, &narrow, sizeof place);
    place += floats;
    memcpy(&narrow, &place, sizeof narrow);
    return (double)narrow;
}

/* A candidate: the floats on either side of the nearest one in turn, rounded to the format. */
static double find_candidate(const computation *self, const chosen_frequency *own,
                             int candidate)
{
    const int floats = candidate % 2 ? (candidate + 1) / 2 : -candidate / 2;
    return pe_round_number(step_number(own->nearest, floats), self->in->frequency);
}

static bool is_refuted(const chosen_frequency *own, int candidate)
{
    return own->refuted >> candidate & 1;
}

/* Choose the candidate that gives the most of the probed entries of its columns, of those that
 * no entry has refuted. False if none gives all of them within a float. */
static bool choose_frequency(computation *self, uint64_t first)
{
    chosen_frequency *own = &self->frequencies[first];
    double before = 0;
    own->off = NEVER;
    for (int candidate = 0; candidate < CANDIDATES && own->off > 0; candidate++) {
        const double number = find_candidate(self, own, candidate);
        if (is_refuted(own, candidate) || number == before)
            continue;
        before = number;
        const size_t off = count_all_misses(self, first, number, own->off);
        if (off < own->off) {
            own->off = off;
            own->chosen = number;
        }
    }
    return own->off < NEVER;
}

static bool choose_frequencies(computation *self)
{
    for (uint64_t c = 0; c < self->waves.count; c++) {
        if (self->first[c] != c)
            continue;
        self->frequencies[c] =
            (chosen_frequency){.nearest = pe_round_number(find_exact(self, c), PE_F32)};
        if (!choose_frequency(self, c))
            return false;
    }
    return true;
}

/* ---- all entries ---- */

static bool read_probes(computation *self)
{
    const pe_view *view = &self->seen->view;
    self->probes = self->waves.rows < PROBED_ROWS ? (size_t)self->waves.rows : PROBED_ROWS;
    for (uint64_t i = 0; i < self->probes; i++) {
        self->probed_rows[i] = i * (self->waves.rows - 1) / (self->probes - 1);
        if (!pe_view_read(view, self->probed_rows[i], 1, self->probed + i * self->waves.count))
            return false;
    }
    return true;
}

/* Choose another frequency for a column, of which an entry of a row does not fit: probes leave
 * several, most where entries have 16 bits. False: there is none. */
static bool choose_again(computation *self, uint64_t column, uint64_t row, double found,
                         int pass)
{
    const uint64_t first = self->first[column];
    chosen_frequency *own = &self->frequencies[first];
    own->changed = pass;
    for (int candidate = 0; candidate < CANDIDATES; candidate++) {
        const double angle = compute_angle(self, find_candidate(self, own, candidate), row);
        if (measure_distance(self, angle, self->waves.items[column].quarters, found) == 2)
            own->refuted |= UINT32_C(1) << candidate;
    }
    return choose_frequency(self, first);
}

/* Check a row in a pass, which are counted from 1: only the columns whose frequency was chosen
 * anew since it was checked. */
static bool row_fits(computation *self, const double *found, uint64_t row, int pass)
{
    const bool zero = is_zero_row(self, row);
    for (uint64_t c = 0; c < self->waves.count; c++) {
        const chosen_frequency *own = &self->frequencies[self->first[c]];
        if (own->changed < pass - 1)
            continue;
        if (zero && found[c] != 0)
            return false;
        if (zero)
            continue;
        const double angle = compute_angle(self, own->chosen, row);
        if (measure_distance(self, angle, self->waves.items[c].quarters, found[c]) == 2 &&
            !choose_again(self, c, row, found[c], pass))
            return false;
    }
    return true;
}

/* Check all rows, and choose frequencies anew where they do not fit. */
static bool check_rows(computation *self, int pass, pe_request *wide, double *found,
                       const pe_runner *runner, bool *ret_fits, pe_error *reterr)
{
    const uint64_t rows = self->waves.rows, count = self->waves.count;
    const uint64_t at_once = count < BLOCK_ENTRIES ? BLOCK_ENTRIES / count : 1;
    for (uint64_t row = 0, now; *ret_fits && row < rows; row += now) {
        now = rows - row < at_once ? rows - row : at_once;
        if ((row > 0 && !pe_may_continue(runner, wide->values.scheme,
                                         (double)row / (double)rows, reterr)) ||
            !pe_view_read(&self->seen->view, row, now, found))
            return false;
        for (uint64_t i = 0; *ret_fits && i < now; i++)
            *ret_fits = row_fits(self, found + i * count, row + i, pass);
    }
    return true;
}

/* Whether a frequency was chosen anew in a pass. */
static bool has_changed(const computation *self, int pass)
{
    for (uint64_t c = 0; c < self->waves.count; c++)
        if (self->first[c] == c && self->frequencies[c].changed == pass)
            return true;
    return false;
}

/* Find out whether all entries fit, looking at the rows again until no frequency changes. */
static bool check_entries(computation *self, pe_request *wide, const pe_runner *runner,
                          bool *ret_fits, pe_error *reterr)
{
    const uint64_t count = self->waves.count;
    const uint64_t at_once = count < BLOCK_ENTRIES ? BLOCK_ENTRIES / count : 1;
    double *found = malloc((size_t)(at_once * count) * sizeof *found);
    bool good = found != NULL, changed = true;
    *ret_fits = good;
    good = pe_request_begin(wide, runner, reterr) && good;
    for (int pass = 1; good && *ret_fits && changed; pass++) {
        good = check_rows(self, pass, wide, found, runner, ret_fits, reterr);
        changed = has_changed(self, pass);
        *ret_fits = *ret_fits && !(changed && pass == PASSES_MAX);
    }
    pe_request_end(wide, runner);
    free(found);
    return good;
}

/* Try one computation. False: it was ended, or memory ran out. */
static bool try_computation(computation *self, const pe_recipe *in, pe_request *wide,
                            const pe_runner *runner, bool *ret_fits, pe_error *reterr)
{
    self->in = in;
    *ret_fits = false;
    if (in->form == PE_SCALED && self->factor == 1)
        return true; /* the same as the first one */
    return !choose_frequencies(self) || check_entries(self, wide, runner, ret_fits, reterr);
}

/* Try all computations until one fits. False: it was ended, memory ran out, or the view cannot
 * be read. */
static bool try_recipes(computation *self, pe_request *wide, bool low_precision,
                        const pe_runner *runner, pe_computation *ret_computation,
                        pe_error *reterr)
{
    const size_t count = (size_t)self->waves.count;
    self->frequencies = malloc(count * sizeof *self->frequencies);
    self->first = malloc(count * sizeof *self->first);
    self->next = malloc(count * sizeof *self->next);
    self->probed = malloc(PROBED_ROWS * count * sizeof *self->probed);
    self->entries.amplitude = self->waves.amplitude;
    self->entries.unit = self->seen->view.unit;
    self->factor = pe_formula_linear_factor(wide);
    bool good = self->frequencies && self->first && self->next && self->probed &&
                read_probes(self) && pe_exact_waves_join(&self->waves, self->first, self->next);
    bool fits = false;
    for (size_t i = 0; good && !fits && i < (low_precision ? PE_RECIPES : PE_FLOAT_RECIPES);
         i++)
        good = try_computation(self, &pe_recipes[i], wide, runner, &fits, reterr);
    if (good && fits)
        ret_computation->text = self->in->text;
    free(self->frequencies);
    free(self->first);
    free(self->next);
    free(self->probed);
    return good;
}

/* ---- vectors ---- */

/* Whether a number is a float near the exact one, rounded to a format. */
static bool is_near_float(double number, double exact, pe_dtype format)
{
    bool near = number == exact;
    for (int floats = -FLOATS; !near && isnormal((float)exact) && floats <= FLOATS; floats++)
        near = pe_round_number(step_number(exact, floats), format) == number;
    return near;
}

/* Name the format of a vector of numbers, if all of them are near. False: they cannot be
 * computed, or memory ran out. */
static bool name_vector(const computation *self, pe_request *wide, size_t tensor,
                        const pe_runner *runner, pe_computation *ret, pe_error *reterr)
{
    static const struct {
        pe_dtype format;
        const char *text;
    } FORMATS[] = {{PE_F32, "float32 numbers"},
                   {PE_BF16, "float32 numbers, rounded to bfloat16"},
                   {PE_F16, "float32 numbers, rounded to float16"}};
    const size_t count = self->seen->sampled, size = count * sizeof(double);
    double *exact = malloc(size);
    pe_stream *stream = NULL;
    const bool good =
        exact &&
        pe_stream_new(wide, tensor, PE_STREAM_FAST, runner, &stream, reterr) == PE_OK &&
        pe_stream_read_fully(stream, 0, exact, size);
    for (size_t i = 0; good && !ret->text && i < PE_COUNT(FORMATS); i++) {
        size_t near = 0;
        while (near < count &&
               is_near_float(self->seen->sample[near], exact[near], FORMATS[i].format))
            near++;
        ret->text = near == count ? FORMATS[i].text : NULL;
    }
    pe_stream_free(stream);
    free(exact);
    return good;
}

bool pe_computation_find(pe_request *wide, size_t tensor, pe_observation *seen,
                         bool low_precision, const pe_runner *runner,
                         pe_computation *ret_computation, pe_error *reterr)
{
    computation self = {.seen = seen};
    bool whole = false;
    *ret_computation = (pe_computation){.text = NULL};
    if (!pe_element_is_real(seen->view.element, &self.entries.dtype))
        return true;
    bool good = true;
    if (seen->columns == 1)
        good = seen->sampled < seen->rows ||
               name_vector(&self, wide, tensor, runner, ret_computation, reterr);
    else if (seen->sampled >= 4)
        good = pe_exact_waves_init(&self.waves, wide, tensor, seen, runner, &whole, reterr) &&
               (!whole || pe_exact_waves_reach(&self.waves) > ANGLE_MAX ||
                try_recipes(&self, wide, low_precision, runner, ret_computation, reterr));
    pe_exact_waves_done(&self.waves);
    if (!good && reterr->count == 0)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the comparison");
    return good;
}
