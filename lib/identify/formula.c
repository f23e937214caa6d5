#include "identify/formula.h"

#include "numerics/dtype.h"
#include "numerics/elementary.h"
#include "numerics/phase.h"
#include "recognise/rotary_types.h"
#include "requests/request.h"
#include "waves/rotary_request.h"
#include "waves/wave.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum evaluation { RECIPROCAL, NEGATIVE, EXPONENTIAL, EXACT, EVALUATIONS } evaluation;

static const char *const TEXTS[2][EVALUATIONS] = {
    {"1 / base^(2i / dim)", "base^(-2i / dim)", "exp(2i * (-ln(base) / dim))",
     "the exact frequency, rounded"},
    {"1 / base^(i / (dim / 2 - 1))", "base^(-i / (dim / 2 - 1))",
     "exp(i * (-ln(base) / (dim / 2 - 1)))", "the exact frequency, rounded"}};

static const char *const DIVISOR_TEXTS[2] = {"position / base^(2i / dim)",
                                             "position / base^(i / (dim / 2 - 1))"};

const char *pe_formula_text(const pe_formula_law *law, bool quotient, size_t formula)
{
    if (quotient)
        return formula == 0 ? DIVISOR_TEXTS[law->to_last] : NULL;
    return formula < EVALUATIONS ? TEXTS[law->to_last][formula] : NULL;
}

bool pe_formula_is_exact(size_t formula)
{
    return formula == EXACT;
}

/* ---- reading a request ---- */

static const pe_parameter *find_parameter(const pe_values *values, const char *name)
{
    const pe_scheme_info *info = pe_scheme_describe(values->scheme);
    for (size_t i = 0; i < pe_all_parameter_count(info); i++)
        if (strcmp(pe_parameter_at(info, i)->name, name) == 0)
            return pe_parameter_at(info, i);
    return NULL;
}

/* Whether a request's frequencies are those of a choice. */
static bool has_frequencies(const pe_values *values, const char *choice)
{
    const pe_parameter *row = find_parameter(values, "frequencies");
    return row && pe_is_present(values, row->name) &&
           strcmp(row->choices[pe_choice(values, row->name)], choice) == 0;
}

bool pe_formula_read(const pe_request *request, pe_formula_law *ret_law)
{
    const pe_values *values = &request->values;
    *ret_law = (pe_formula_law){.to_last = false};
    pe_rotary *rotary = &ret_law->rotary;
    if (find_parameter(values, "rope_type")) {
        *rotary = pe_rotary_read(values);
    } else if (find_parameter(values, "base") && pe_is_present(values, "base") &&
               find_parameter(values, "dim")) {
        ret_law->to_last = has_frequencies(values, "tensor2tensor");
        *rotary = (pe_rotary){.width = (size_t)pe_integer(values, "dim"),
                              .theta = pe_real(values, "base")};
        if (!ret_law->to_last && find_parameter(values, "frequencies") &&
            !has_frequencies(values, "vaswani"))
            return false;
    }
    double step = find_parameter(values, "step") && pe_is_present(values, "step")
                      ? pe_real(values, "step")
                      : 1;
    if (step != 1 && (rotary->type != PE_ROTARY_DEFAULT || step <= 0))
        return false;
    if (step != 1) {
        rotary->type = PE_ROTARY_LINEAR;
        rotary->factor = 1 / step;
    }
    return rotary->width >= 4 && rotary->width % 2 == 0 && rotary->theta > 1 &&
           pe_rotary_known[rotary->type].scale;
}

/* ---- exact frequencies ---- */

size_t pe_formula_pairs(const pe_formula_law *law)
{
    return law->rotary.width / 2;
}

double *pe_formula_exact(const pe_formula_law *law)
{
    const size_t count = pe_formula_pairs(law);
    double *exact = malloc(count * sizeof *exact);
    pe_wide *turns = exact ? pe_rotary_frequencies(&law->rotary) : NULL;
    if (turns && law->to_last)
        pe_wave_geometric_ladder(pe_wide_radian, count, law->rotary.theta, 1, count - 1, turns);
    for (size_t i = 0; turns && i < count; i++) {
        exact[i] = pe_phase_radians(turns[i]).hi;
        if (law->to_last && law->rotary.type == PE_ROTARY_LINEAR)
            exact[i] /= law->rotary.factor;
    }
    if (!turns) {
        free(exact);
        exact = NULL;
    }
    free(turns);
    return exact;
}

/* ---- arithmetic ---- */

static float nearest(dd number)
{
    return (float)pe_narrow_to_double(PE_F32, dd_snap(number));
}

static double compute_base(const pe_rotary *rotary)
{
    return pe_rotary_known[rotary->type].compute_base(rotary);
}

static float scale(const pe_rotary *rotary, size_t i, float frequency, float power)
{
    return pe_rotary_known[rotary->type].scale(rotary, i, frequency, power);
}

/* A base's power, in float32: that of pair i, or of what is the opposite of that. */
static float compute_power(const pe_formula_law *law, size_t i, bool opposite)
{
    const size_t count = pe_formula_pairs(law);
    float base = (float)compute_base(&law->rotary);
    float exponent = law->to_last ? (float)i / (float)(count - 1)
                                  : (float)(2 * i) / (float)law->rotary.width;
    exponent = opposite ? -exponent : exponent;
    return nearest(pe_unscaled(pe_power((double)base, (double)exponent)));
}

static float compute_exponential(const pe_formula_law *law, size_t i)
{
    double log = pe_log_double(compute_base(&law->rotary));
    double count = (double)pe_formula_pairs(law);
    float exponent = law->to_last ? (float)i * (float)(-(log / (count - 1)))
                                  : (float)(2 * i) * (float)(-(log / (2 * count)));
    return nearest(pe_unscaled(pe_exp((dd){(double)exponent, 0})));
}

float pe_formula_number(const pe_formula_law *law, bool quotient, size_t formula, size_t i,
                        double exact)
{
    float power = compute_power(law, i, formula == NEGATIVE);
    if (quotient)
        return power;
    switch ((evaluation)formula) {
    case RECIPROCAL:
        return scale(&law->rotary, i, 1 / power, power);
    case NEGATIVE:
        return scale(&law->rotary, i, power, 0);
    case EXPONENTIAL:
        return scale(&law->rotary, i, compute_exponential(law, i), 0);
    case EXACT:
    case EVALUATIONS:
        break;
    }
    return (float)exact;
}
