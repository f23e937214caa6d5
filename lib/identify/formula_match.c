#include "identify/formula_match.h"

#include "identify/formula.h"
#include "numerics/dtype.h"

#include <math.h>
#include <stdlib.h>

#define SAME_FREQUENCY 1e-4 /* relative: neighbours are further apart, computations nearer */

/* ---- formulas ---- */

/* The pair of a frequency, sought from one on; the number of pairs if there is none. */
static size_t find_pair(const double *exact, size_t count, double frequency, size_t from)
{
    for (size_t i = 0; i < count; i++) {
        size_t pair = (from + i) % count;
        if (fabs(exact[pair] - frequency) <= SAME_FREQUENCY * frequency)
            return pair;
    }
    return count;
}

bool pe_matched_law_init(pe_matched_law *law, const pe_request *wide,
                         const pe_exact_waves *waves, bool quotient, double factor)
{
    *law = (pe_matched_law){.quotient = quotient, .count = waves->count};
    if (!pe_formula_read(wide, &law->law))
        return true;
    if (factor != 1)
        law->law.rotary.type = PE_ROTARY_DEFAULT;
    if (quotient && law->law.rotary.type != PE_ROTARY_DEFAULT)
        return true;
    const size_t count = pe_formula_pairs(&law->law);
    law->exact = pe_formula_exact(&law->law);
    law->pairs = malloc((size_t)waves->count * sizeof *law->pairs);
    bool good = law->exact && law->pairs;
    law->known = good;
    for (uint64_t c = 0; law->known && c < waves->count; c++) {
        law->pairs[c] = find_pair(law->exact, count, waves->items[c].angle * factor,
                                  c > 0 ? law->pairs[c - 1] : 0);
        law->known = law->pairs[c] < count;
    }
    return good;
}

void pe_matched_law_done(pe_matched_law *law)
{
    free(law->exact);
    free(law->pairs);
}

static const char *read_text(const pe_matched_law *law, size_t formula)
{
    return law->known ? pe_formula_text(&law->law, law->quotient, formula) : NULL;
}

static float compute_number(const pe_matched_law *law, size_t formula, uint64_t column)
{
    const size_t pair = law->pairs[column];
    return pe_formula_number(&law->law, law->quotient, formula, pair, law->exact[pair]);
}

/* Keep a formula that gives all columns but `off`, which it gives but for a float: as many as
 * libraries' powers and exponentials miss, which are off by a float in up to a fifth of all
 * cases. */
static void keep_formula(pe_computation *computation, const char *text, uint64_t off)
{
    const bool first = computation->formula_count == 0;
    if (5 * off > computation->decided || (!first && off > computation->formula_off))
        return;
    if (first || off < computation->formula_off || off > 0)
        computation->formula_count = 0;
    computation->formula_off = off;
    if (computation->formula_count < PE_COUNT(computation->formulas))
        computation->formulas[computation->formula_count++] = text;
}

/* How many columns a formula gives but for a float; more than there are if it is further off
 * anywhere. */
static uint64_t count_misses(const pe_matched_law *law, pe_frequency_test *test, void *context,
                             size_t formula)
{
    uint64_t off = 0;
    for (uint64_t c = 0; c < law->count; c++) {
        float number = compute_number(law, formula, c);
        if (test(context, c, number, 0))
            continue;
        if (!test(context, c, number, 1) && !test(context, c, number, -1))
            return law->count + 1;
        off++;
    }
    return off;
}

void pe_match_formulas(const pe_matched_law *law, pe_frequency_test *test, void *context,
                       pe_computation *computation)
{
    const char *text;
    for (size_t i = 0; (text = read_text(law, i)); i++) {
        uint64_t off = count_misses(law, test, context, i);
        if (off == 0 || (off <= law->count && !pe_formula_is_exact(i)))
            keep_formula(computation, text, off);
    }
}

double pe_linear_factor(const pe_request *wide)
{
    pe_formula_law law;
    bool linear = pe_formula_read(wide, &law) && law.rotary.type == PE_ROTARY_LINEAR;
    return linear ? law.rotary.factor : 1;
}

/* ---- vectors of frequencies ---- */

/* Entries, and the formats that numbers are rounded to: first that one, then the table's. */
typedef struct vector {
    const double *found;
    pe_dtype format, dtype;
} vector;

static bool is_entry(void *context, uint64_t index, float number, int floats)
{
    const vector *self = context;
    if (floats != 0)
        number = nextafterf(number, floats > 0 ? INFINITY : 0);
    return pe_round_number(pe_round_number((double)number, self->format), self->dtype) ==
           self->found[index];
}

/* Try formulas whose numbers were rounded to a format. */
static void try_vector(const pe_matched_law *law, vector *entries, pe_computation *computation)
{
    static const struct {
        pe_dtype format;
        const char *text;
    } FORMATS[] = {{PE_F32, "float32 frequencies"},
                   {PE_BF16, "float32 frequencies, rounded to bfloat16"},
                   {PE_F16, "float32 frequencies, rounded to float16"}};
    computation->frequencies = computation->decided = law->count;
    for (size_t i = 0; i < PE_COUNT(FORMATS) && computation->formula_count == 0; i++) {
        entries->format = FORMATS[i].format;
        pe_match_formulas(law, is_entry, entries, computation);
        computation->text = computation->formula_count > 0 ? FORMATS[i].text : NULL;
    }
}

bool pe_match_frequency_vector(const pe_request *wide, const pe_observation *seen,
                               pe_dtype dtype, pe_computation *ret_computation)
{
    pe_matched_law law = {.count = seen->rows};
    if (seen->view.rank != 1 || !pe_formula_read(wide, &law.law) ||
        pe_formula_pairs(&law.law) != seen->rows)
        return true;
    const size_t count = (size_t)law.count;
    double *found = malloc(count * sizeof *found);
    law.exact = pe_formula_exact(&law.law);
    law.pairs = malloc(count * sizeof *law.pairs);
    law.known = law.exact && law.pairs && found && pe_view_read(&seen->view, 0, count, found);
    for (size_t i = 0; law.known && i < count; i++)
        law.pairs[i] = i;
    vector entries = {.found = found, .dtype = dtype};
    if (law.known)
        try_vector(&law, &entries, ret_computation);
    pe_matched_law_done(&law);
    free(found);
    return law.known;
}
