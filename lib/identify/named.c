#include "identify/named.h"

#include "identify/formula.h"
#include "numerics/dtype.h"

#include <math.h>
#include <stdlib.h>

#define SAME_FREQUENCY 1e-4 /* relative: neighbours are further apart, recipes nearer */

/* ---- formulas ---- */

/* The pair of a frequency, sought from one on; the number of pairs if there is none. */
static size_t pair_of(const double *exact, size_t count, double frequency, size_t from)
{
    for (size_t i = 0; i < count; i++) {
        size_t pair = (from + i) % count;
        if (fabs(exact[pair] - frequency) <= SAME_FREQUENCY * frequency)
            return pair;
    }
    return count;
}

/* Keep a formula that gives all columns but `off`, which it gives but for a float: as many as
 * libraries' powers and exponentials miss, which are off by a float in up to a fifth of all
 * cases. */
static void keep(pe_computation *computation, const char *text, uint64_t off, uint64_t columns)
{
    const bool first = computation->formula_count == 0;
    if (5 * off > columns || (!first && off > computation->formula_off))
        return;
    if (first || off < computation->formula_off || off > 0)
        computation->formula_count = 0;
    computation->formula_off = off;
    if (computation->formula_count < PE_COUNT(computation->formulas))
        computation->formulas[computation->formula_count++] = text;
}

/* Numbers that a formula is to give. */
typedef struct numbers {
    const pe_formula_law *law;
    const double *exact; /* of the law's pairs */
    const size_t *pairs; /* [count] */
    uint64_t count;
    const pe_frequency_use *use;
} numbers;

/* How many of the numbers a formula gives but for a float; more than there are if it is further
 * off anywhere. */
static uint64_t count_off(const numbers *self, size_t formula)
{
    const pe_frequency_use *use = self->use;
    uint64_t off = 0;
    for (uint64_t c = 0; c < self->count; c++) {
        const size_t pair = self->pairs[c];
        float number =
            pe_formula_number(self->law, use->quotient, formula, pair, self->exact[pair]);
        if (use->test(use->context, c, number, 0))
            continue;
        if (!use->test(use->context, c, number, 1) && !use->test(use->context, c, number, -1))
            return self->count + 1;
        off++;
    }
    return off;
}

static void try_formulas(const numbers *self, pe_computation *computation)
{
    const char *text;
    for (size_t i = 0; (text = pe_formula_text(self->law, self->use->quotient, i)); i++) {
        uint64_t off = count_off(self, i);
        if (off == 0 || !pe_formula_is_exact(i))
            keep(computation, text, off, self->count);
    }
}

bool pe_name_frequencies(const pe_request *wide, const pe_exact_waves *waves,
                         const pe_frequency_use *use, pe_computation *ret_computation)
{
    pe_formula_law law;
    if (!pe_formula_read(wide, &law))
        return true;
    if (use->factor != 1)
        law.rotary.type = PE_ROTARY_DEFAULT;
    if (use->quotient && law.rotary.type != PE_ROTARY_DEFAULT)
        return true;
    const size_t count = pe_formula_pairs(&law);
    double *exact = pe_formula_exact(&law);
    size_t *pairs = malloc((size_t)waves->count * sizeof *pairs);
    bool good = exact && pairs, known = good;
    for (uint64_t c = 0; known && c < waves->count; c++) {
        double frequency = waves->items[c].angle * use->factor;
        pairs[c] = pair_of(exact, count, frequency, c > 0 ? pairs[c - 1] : 0);
        known = pairs[c] < count;
    }
    const numbers all = {&law, exact, pairs, waves->count, use};
    if (known)
        try_formulas(&all, ret_computation);
    free(exact);
    free(pairs);
    return good;
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

static double rounded(double number, pe_dtype format)
{
    unsigned char element[8];
    pe_round_row(format, &number, 1, element);
    return pe_element_value(format, element);
}

static bool is_entry(void *context, uint64_t index, float number, int floats)
{
    const vector *self = context;
    if (floats != 0)
        number = nextafterf(number, floats > 0 ? INFINITY : 0);
    return rounded(rounded((double)number, self->format), self->dtype) == self->found[index];
}

/* Try formulas whose numbers were rounded to a format. */
static void try_vector(const numbers *all, vector *entries, pe_computation *computation)
{
    static const struct {
        pe_dtype format;
        const char *text;
    } FORMATS[] = {{PE_F32, "float32 frequencies"},
                   {PE_BF16, "float32 frequencies, rounded to bfloat16"},
                   {PE_F16, "float32 frequencies, rounded to float16"}};
    for (size_t i = 0; i < PE_COUNT(FORMATS) && computation->formula_count == 0; i++) {
        entries->format = FORMATS[i].format;
        try_formulas(all, computation);
        computation->text = computation->formula_count > 0 ? FORMATS[i].text : NULL;
    }
}

bool pe_name_vector(const pe_request *wide, const pe_seen *seen, pe_dtype dtype,
                    pe_computation *ret_computation)
{
    pe_formula_law law;
    if (seen->view.rank != 1 || !pe_formula_read(wide, &law) ||
        pe_formula_pairs(&law) != seen->rows)
        return true;
    const size_t count = pe_formula_pairs(&law);
    double *exact = pe_formula_exact(&law), *found = malloc(count * sizeof *found);
    size_t *pairs = malloc(count * sizeof *pairs);
    bool good = exact && found && pairs && pe_view_read(&seen->view, 0, count, found);
    for (size_t i = 0; good && i < count; i++)
        pairs[i] = i;
    vector entries = {.found = found, .dtype = dtype};
    const pe_frequency_use use = {.test = is_entry, .context = &entries};
    const numbers all = {&law, exact, pairs, count, &use};
    if (good)
        try_vector(&all, &entries, ret_computation);
    free(exact);
    free(found);
    free(pairs);
    return good;
}

/* ---- functions ---- */

/* Shares of float32 results beyond an angle of 4 that are not the nearest float, as measured of
 * these libraries on x86-64. They are no proof: other releases and processors were not
 * measured. */
static const struct {
    double least, most;
    const char *name;
} LIBRARIES[] = {
    {0, 0.0005, "rounded once from float64"},
    {0.010, 0.017, "glibc's sinf and cosf"},
    {0.044, 0.056, "SLEEF's functions of 1 ulp, as in torch on x86-64"},
    {0.09, 0.17, "numpy's with AVX2 or AVX-512"},
};

#define LEAST_JUDGED 4000

void pe_name_function(pe_computation *computation)
{
    double share = (double)computation->not_nearest / (double)computation->judged;
    for (size_t i = 0; computation->judged >= LEAST_JUDGED && i < PE_COUNT(LIBRARIES); i++)
        if (share >= LIBRARIES[i].least && share <= LIBRARIES[i].most)
            computation->like = LIBRARIES[i].name;
}
