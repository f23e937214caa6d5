#include "identify/computation.h"

#include "identify/exact_waves.h"
#include "identify/formula_match.h"
#include "identify/recipe.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOATS        14  /* how far a computation moves a frequency: an exp by its exponent */
#define PROBED_ROWS   384 /* by which frequencies are chosen first */
#define PROBES_MAX    448 /* with rows that were found not to fit */
#define PASSES_MAX    8   /* over all rows, until a choice holds */
#define BLOCK_ENTRIES ((uint64_t)1 << 16)
#define ANGLE_MAX     0x1p30 /* radians: beyond, quarter turns are not told apart exactly */
#define ANGLE_JUDGED  4      /* radians: beyond, libraries' functions differ visibly */

/* ---- one entry ---- */

typedef struct computation {
    pe_observation *seen;
    pe_exact_waves waves;
    const pe_recipe *in;
    double factor; /* by which the request divides all frequencies; else 1 */
    pe_recipe_entries entries;
    double *frequencies;   /* [columns]: those of the computation, or divisors */
    size_t *off;           /* [columns]: probed entries that are not the nearest floats */
    uint64_t *next;        /* [columns]: the next column of the same frequency, or itself */
    bool *first_of_its;    /* [columns]: whether none before has the same frequency */
    double *probed;        /* [probes, columns] */
    size_t probes, spread; /* rows; of these the ones that are spread over the table */
    uint64_t probed_rows[PROBES_MAX];
    pe_computation found;
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

/* Set the frequency of all its columns. */
static void set_frequency(computation *self, uint64_t first, double frequency)
{
    for (uint64_t c = first;; c = self->next[c]) {
        self->frequencies[c] = frequency;
        if (self->next[c] == c)
            return;
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

/* Choose a frequency among the float32 numbers near the exact one, rounded to the format: the
 * one that gives the most of the probed entries of its columns. False if none gives all of them
 * within a float. */
static bool choose_frequency(computation *self, uint64_t first)
{
    const double nearest = pe_round_number(find_exact(self, first), PE_F32);
    size_t least = NEVER;
    double before = 0, best = 0;
    for (int step = 0; step <= 2 * FLOATS && least > 0; step++) {
        double frequency =
            pe_step_number(nearest, PE_F32, step % 2 ? (step + 1) / 2 : -step / 2);
        frequency = pe_round_number(frequency, self->in->frequency);
        if (frequency == before)
            continue;
        before = frequency;
        size_t off = count_all_misses(self, first, frequency, least);
        if (off < least) {
            least = off;
            best = frequency;
        }
    }
    self->off[first] = least;
    set_frequency(self, first, best);
    return least < NEVER;
}

/* Whether a frequency gives its columns about as well as the chosen one. */
static bool is_as_good(void *context, uint64_t column, float frequency, int floats)
{
    const computation *self = context;
    double number = (double)frequency;
    if (floats != 0)
        number = pe_step_number(number, PE_F32, floats);
    number = pe_round_number(number, self->in->frequency);
    return !self->first_of_its[column] || number == self->frequencies[column] ||
           count_all_misses(self, column, number, 2 * self->off[column] + 16) < NEVER;
}

/* ---- all entries ---- */

static bool read_probes(computation *self)
{
    const pe_view *view = &self->seen->view;
    self->spread = self->waves.rows < PROBED_ROWS ? (size_t)self->waves.rows : PROBED_ROWS;
    for (uint64_t i = 0; i < self->spread; i++) {
        self->probed_rows[i] = i * (self->waves.rows - 1) / (self->spread - 1);
        if (!pe_view_read(view, self->probed_rows[i], 1, self->probed + i * self->waves.count))
            return false;
    }
    return true;
}

/* Add a row to the probes, by which frequencies are chosen. False: there is no room. */
static bool add_probe(computation *self, uint64_t row, const double *found)
{
    const uint64_t count = self->waves.count;
    if (self->probes > 0 && self->probed_rows[self->probes - 1] == row)
        return true;
    if (self->probes == PE_COUNT(self->probed_rows))
        return false;
    self->probed_rows[self->probes] = row;
    memcpy(self->probed + self->probes * count, found, (size_t)count * sizeof *found);
    self->probes++;
    return true;
}

/* Choose another frequency for a column, of which an entry of a row does not fit: entries of 16
 * bits say so little that probes leave several. False: there is none. */
static bool choose_again(computation *self, uint64_t column, uint64_t row, const double *found)
{
    uint64_t first = 0;
    for (bool has = false; !has; first += !has) {
        for (uint64_t c = first; self->first_of_its[first] && !has; c = self->next[c]) {
            has = c == column;
            if (self->next[c] == c)
                break;
        }
    }
    return add_probe(self, row, found) && choose_frequency(self, first);
}

/* Whether all entries of rows fit. *ret_changed: frequencies were changed to make them fit,
 * where that may be. */
static bool rows_fit(computation *self, const double *found, uint64_t first, uint64_t rows,
                     bool *ret_changed)
{
    const bool judged = self->in->function == PE_F32 && self->entries.dtype == PE_F32 &&
                        self->entries.amplitude == 1;
    for (uint64_t row = 0, i = 0; row < rows; row++) {
        const double *entries = found + row * self->waves.count;
        const bool zero = is_zero_row(self, first + row);
        for (uint64_t c = 0; c < self->waves.count; c++, i++) {
            double angle = compute_angle(self, self->frequencies[c], first + row);
            int distance =
                measure_distance(self, angle, self->waves.items[c].quarters, found[i]);
            if (zero) {
                if (found[i] != 0)
                    return false;
                continue;
            }
            if (distance == 2 && !(ret_changed && choose_again(self, c, first + row, entries)))
                return false;
            if (distance == 2)
                *ret_changed = true;
            if (judged && fabs(angle) > ANGLE_JUDGED) {
                self->found.judged++;
                self->found.not_nearest += distance == 1;
            }
        }
    }
    return true;
}

/* Check all rows. `ret_changed`: as of rows_fit, or NULL. */
static bool check_rows(computation *self, pe_request *wide, double *found,
                       const pe_runner *runner, bool *ret_fits, bool *ret_changed,
                       pe_error *reterr)
{
    const uint64_t rows = self->waves.rows, count = self->waves.count;
    const uint64_t at_once = count < BLOCK_ENTRIES ? BLOCK_ENTRIES / count : 1;
    bool good = true;
    self->found = (pe_computation){.text = self->in->text};
    for (uint64_t row = 0, now; good && *ret_fits && row < rows; row += now) {
        now = rows - row < at_once ? rows - row : at_once;
        good = (row == 0 || pe_may_continue(runner, wide->values.scheme,
                                            (double)row / (double)rows, reterr)) &&
               pe_view_read(&self->seen->view, row, now, found);
        *ret_fits = good && rows_fit(self, found, row, now, ret_changed);
    }
    return good;
}

/* Find out whether all entries fit. Where frequencies may be `chosen` anew, all rows are looked
 * at again until none of them asks for that. */
static bool check_entries(computation *self, pe_request *wide, bool chosen,
                          const pe_runner *runner, bool *ret_fits, pe_error *reterr)
{
    const uint64_t count = self->waves.count;
    const uint64_t at_once = count < BLOCK_ENTRIES ? BLOCK_ENTRIES / count : 1;
    double *found = malloc((size_t)(at_once * count) * sizeof *found);
    bool good = found != NULL, changed = true;
    *ret_fits = good;
    good = pe_request_begin(wide, runner, reterr) && good;
    for (int pass = 0; good && *ret_fits && changed; pass++) {
        changed = false;
        good =
            check_rows(self, wide, found, runner, ret_fits, chosen ? &changed : NULL, reterr);
        *ret_fits = *ret_fits && !(changed && pass == PASSES_MAX);
    }
    pe_request_end(wide, runner);
    free(found);
    return good;
}

/* Set the frequencies of a formula. False if they do not give all probed entries. */
static bool set_formula(computation *self, const pe_matched_law *law, size_t formula)
{
    for (uint64_t c = 0; c < self->waves.count; c++) {
        if (!self->first_of_its[c])
            continue;
        double number = pe_round_number((double)pe_matched_law_number(law, formula, c),
                                        self->in->frequency);
        self->off[c] = count_all_misses(self, c, number, NEVER);
        if (self->off[c] == NEVER)
            return false;
        set_frequency(self, c, number);
    }
    return true;
}

/* Try the frequencies of each formula: entries of 16 bits say too little to choose by. False:
 * it was ended, or memory ran out. */
static bool try_formulas(computation *self, pe_request *wide, const pe_matched_law *law,
                         const pe_runner *runner, bool *ret_fits, pe_error *reterr)
{
    bool good = true;
    for (size_t i = 0; good && !*ret_fits && pe_matched_law_text(law, i); i++)
        if (set_formula(self, law, i))
            good = check_entries(self, wide, false, runner, ret_fits, reterr);
    return good;
}

static bool choose_frequencies(computation *self)
{
    for (uint64_t c = 0; c < self->waves.count; c++)
        if (self->first_of_its[c] && !choose_frequency(self, c))
            return false;
    return true;
}

/* Count the frequencies, and those of which a neighbouring float would not do. */
static void count_decided(computation *self)
{
    for (uint64_t c = 0; c < self->waves.count; c++) {
        const float chosen = (float)self->frequencies[c];
        self->found.frequencies += self->first_of_its[c];
        self->found.decided += self->first_of_its[c] && !is_as_good(self, c, chosen, 1) &&
                               !is_as_good(self, c, chosen, -1);
    }
}

/* Try one computation. False: it was ended, or memory ran out. */
static bool try_computation(computation *self, const pe_recipe *in, pe_request *wide,
                            const pe_runner *runner, bool *ret_fits, pe_error *reterr)
{
    pe_matched_law law;
    self->in = in;
    self->probes = self->spread; /* without those that another computation asked for */
    *ret_fits = false;
    if (in->form == PE_SCALED && self->factor == 1)
        return true; /* the same as the first one */
    bool good =
        !choose_frequencies(self) || check_entries(self, wide, true, runner, ret_fits, reterr);
    if (!good || (!*ret_fits && self->entries.dtype == PE_F32))
        return good;
    good = pe_matched_law_init(&law, wide, &self->waves, in->form == PE_QUOTIENT,
                               in->form == PE_SCALED ? self->factor : 1);
    if (good && !*ret_fits)
        good = try_formulas(self, wide, &law, runner, ret_fits, reterr);
    if (good && *ret_fits) {
        pe_match_library(&self->found);
        count_decided(self);
        pe_match_formulas(&law, is_as_good, self, &self->found);
    }
    pe_matched_law_done(&law);
    return good;
}

/* Try all computations until one fits. False: it was ended, memory ran out, or the view cannot
 * be read. */
static bool try_recipes(computation *self, pe_request *wide, bool low_precision,
                        const pe_runner *runner, pe_computation *ret_computation,
                        pe_error *reterr)
{
    const size_t count = (size_t)self->waves.count;
    self->frequencies = malloc(count * sizeof *self->frequencies);
    self->off = calloc(count, sizeof *self->off);
    self->next = malloc(count * sizeof *self->next);
    self->first_of_its = malloc(count * sizeof *self->first_of_its);
    self->probed = malloc(PROBES_MAX * count * sizeof *self->probed);
    self->entries.amplitude = (float)self->waves.amplitude;
    self->entries.unit = self->seen->view.unit;
    self->factor = pe_linear_factor(wide);
    bool good = self->frequencies && self->off && self->next && self->first_of_its &&
                self->probed && read_probes(self) &&
                pe_exact_waves_join(&self->waves, self->next, self->first_of_its);
    bool fits = false;
    for (size_t i = 0; good && !fits && i < (low_precision ? PE_RECIPES : PE_FLOAT_RECIPES);
         i++)
        good = try_computation(self, &pe_recipes[i], wide, runner, &fits, reterr);
    if (good && fits)
        *ret_computation = self->found;
    free(self->frequencies);
    free(self->off);
    free(self->next);
    free(self->first_of_its);
    free(self->probed);
    return good;
}

bool pe_computation_find(pe_request *wide, size_t tensor, pe_observation *seen,
                         bool low_precision, const pe_runner *runner,
                         pe_computation *ret_computation, pe_error *reterr)
{
    computation self = {.seen = seen};
    bool whole = false;
    *ret_computation = (pe_computation){.text = NULL};
    if (!pe_element_is_real(seen->view.element, &self.entries.dtype) ||
        self.entries.dtype == PE_F64)
        return true;
    bool good = true;
    if (seen->columns == 1)
        good = pe_match_frequency_vector(wide, seen, self.entries.dtype, ret_computation);
    else if (seen->sampled >= 4)
        good = pe_exact_waves_init(&self.waves, wide, tensor, seen, runner, &whole, reterr) &&
               (!whole || pe_exact_waves_reach(&self.waves) > ANGLE_MAX ||
                try_recipes(&self, wide, low_precision, runner, ret_computation, reterr));
    pe_exact_waves_done(&self.waves);
    if (!good && reterr->count == 0)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the comparison");
    return good;
}
