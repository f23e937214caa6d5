/* The formulas, each from its paper, and the random queries. */
#include "formulas.h"

#include "../bench/query.h"

#include <math.h>
#include <stdarg.h>

/* ---- random numbers ---- */

static uint64_t state = 1;

void draw_from(uint64_t seed)
{
    state = seed * 0x9e3779b97f4a7c15u + 1;
}

static uint64_t any(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

static double one_to_two(void) /* 53 random bits, in [1, 2) */
{
    return 1 + (double)any(1ULL << 52) * 0x1p-52;
}

/* Numerators of the continued fraction of π: their sines are near 0, those of halves near ±1.
 */
static const double NEAR_ZEROS[] = {3,
                                    22,
                                    355,
                                    103993,
                                    104348,
                                    5419351,
                                    245850922,
                                    2549491779,
                                    21053343141,
                                    1783366216531,
                                    8958937768937,
                                    139755218526789,
                                    428224593349304,
                                    5706674932067741,
                                    6134899525417045};

static void draw_positions(random_query *drawn)
{
    int64_t sign = any(2) ? -1 : 1;
    drawn->step = 1;
    switch (any(6)) {
    case 0: /* where tables usually begin */
        drawn->offset = (double)any(1 << 20);
        break;
    case 1: /* integers of any size */
        drawn->offset = (double)(sign * (int64_t)any(1ULL << (1 + any(52))));
        break;
    case 2: /* the middle of the table is near a zero */
        drawn->offset =
            NEAR_ZEROS[any(sizeof NEAR_ZEROS / sizeof *NEAR_ZEROS)] - (double)any(40);
        drawn->step = any(2) ? 1 : 0.5;
        break;
    case 3: /* fractions */
        drawn->offset = (double)sign * ldexp(one_to_two(), (int)any(40) - 20);
        drawn->step = ldexp(one_to_two(), (int)any(20) - 12);
        break;
    case 4: /* tiny, also subnormal */
        drawn->offset = 0;
        drawn->step = ldexp(one_to_two(), -(int)any(1074));
        break;
    default: /* large steps */
        drawn->offset = (double)sign * ldexp(one_to_two(), (int)any(30));
        drawn->step = (double)sign * ldexp(one_to_two(), (int)any(40));
    }
}

__attribute__((format(printf, 2, 3))) static void add(random_query *drawn, const char *format,
                                                      ...)
{
    size_t used = strlen(drawn->query);
    va_list values;
    va_start(values, format);
    vsnprintf(drawn->query + used, sizeof drawn->query - used, format, values);
    va_end(values);
}

/* length, offset and step. */
static void add_positions(random_query *drawn)
{
    draw_positions(drawn);
    add(drawn, "&length=%u&offset=%.17g&step=%.17g", (unsigned)(1 + any(90)), drawn->offset,
        drawn->step);
}

static double draw_base(void)
{
    static const double usual[] = {10000, 10000, 500000, 1e6, 100, 1, 1e18};
    return any(2) ? usual[any(7)] : ldexp(one_to_two(), (int)any(59));
}

/* ---- frequencies ---- */

/* base^(-numerator·i/denominator) for i < count. */
static void geometric(random_query *drawn, size_t count, double base, unsigned long numerator,
                      unsigned long denominator)
{
    mpfr_t exponent;
    mpfr_init2(exponent, PRECISION);
    mpfr_init2(drawn->factor, PRECISION);
    mpfr_set_d(drawn->factor, 1, MPFR_RNDN);
    drawn->frequencies = malloc(count * sizeof *drawn->frequencies);
    drawn->count = count;
    for (size_t i = 0; i < count; i++) {
        mpfr_init2(drawn->frequencies[i], PRECISION);
        mpfr_set_d(drawn->frequencies[i], base, MPFR_RNDN);
        mpfr_set_si(exponent, -(long)(i * numerator), MPFR_RNDN);
        mpfr_div_ui(exponent, exponent, denominator, MPFR_RNDN);
        mpfr_pow(drawn->frequencies[i], drawn->frequencies[i], exponent, MPFR_RNDN);
    }
    mpfr_clear(exponent);
}

void drawn_done(random_query *drawn)
{
    for (size_t i = 0; drawn->frequencies && i < drawn->count; i++)
        mpfr_clear(drawn->frequencies[i]);
    if (drawn->frequencies)
        mpfr_clear(drawn->factor);
    free(drawn->frequencies);
}

static void draw_dim(random_query *drawn, unsigned long most, unsigned long multiple)
{
    drawn->dim = multiple * (1 + any(most / multiple));
    add(drawn, "&dim=%lu", drawn->dim);
}

static void draw_geometric(random_query *drawn, const char *name)
{
    drawn->base = draw_base();
    draw_dim(drawn, 96, 2);
    add(drawn, "&%s=%.17g", name, drawn->base);
    geometric(drawn, drawn->dim / 2, drawn->base, 2, drawn->dim);
}

/* ---- entries ---- */

static void position_of(const random_query *drawn, uint64_t row, mpfr_t ret_position)
{
    mpfr_set_d(ret_position, drawn->step, MPFR_RNDN);
    mpfr_mul_ui(ret_position, ret_position, row, MPFR_RNDN);
    mpfr_add_d(ret_position, ret_position, drawn->offset, MPFR_RNDN);
}

/* Make a truncated number odd if anything was cut off: it rounds to fewer bits as the exact
 * one. */
static void to_odd(mpfr_t number, int inexact)
{
    if (inexact == 0 || mpfr_min_prec(number) == PRECISION)
        return;
    if (mpfr_signbit(number))
        mpfr_nextbelow(number);
    else
        mpfr_nextabove(number);
}

/* Round to a number of 256 bits that is so near that it is the exact one: a frequency such as
 * 1/100 is rounded, and its multiples may lie on a rounding boundary of the dtype. */
static void settle(mpfr_t number)
{
    mpfr_t near, rest;
    mpfr_inits2(PRECISION, near, rest, (mpfr_ptr)0);
    mpfr_set(near, number, MPFR_RNDN);
    mpfr_prec_round(near, 256, MPFR_RNDN);
    mpfr_sub(rest, number, near, MPFR_RNDN);
    if (!mpfr_zero_p(rest) && mpfr_get_exp(rest) < mpfr_get_exp(number) - 300)
        mpfr_set(number, near, MPFR_RNDN);
    mpfr_clears(near, rest, (mpfr_ptr)0);
}

/* factor · sin or cos of position · frequency; `ret_exact` is the position before. */
static void wave(const random_query *drawn, size_t frequency, bool cosine, mpfr_t ret_exact)
{
    mpfr_mul(ret_exact, ret_exact, drawn->frequencies[frequency], MPFR_RNDN);
    settle(ret_exact);
    to_odd(ret_exact, (cosine ? mpfr_cos : mpfr_sin)(ret_exact, ret_exact, MPFR_RNDZ));
    to_odd(ret_exact, mpfr_mul(ret_exact, ret_exact, drawn->factor, MPFR_RNDZ));
}

static void interleaved(const random_query *drawn, uint64_t column, mpfr_t ret_exact)
{
    wave(drawn, column / 2, column % 2 == 1, ret_exact);
}

static void concatenated(const random_query *drawn, uint64_t column, mpfr_t ret_exact)
{
    wave(drawn, column % drawn->count, column >= drawn->count, ret_exact);
}

static bool covers_encoding(const char *tensor)
{
    return strcmp(tensor, "encoding") == 0;
}

static bool covers_all(const char *tensor)
{
    return tensor != NULL;
}

/* The tensor "distance" of a compact table. */
static long distance_at(const pe_table *table, uint64_t row)
{
    for (size_t i = 0; i < pe_table_tensor_count(table); i++)
        if (strcmp(pe_table_tensor(table, i)->name, "distance") == 0)
            return ((const int32_t *)pe_table_data(table, i))[row];
    return 0;
}

/* ---- the schemes ---- */

#define ENTRY(name)                                                                            \
    static void name(const random_query *drawn, entry_place at, mpfr_t ret_exact)

ENTRY(integer_entry)
{
    position_of(drawn, at.row, ret_exact);
}

static void draw_normalized(random_query *drawn)
{
    drawn->width = 2 + any(100000);
    add(drawn, "&length=%lu", drawn->width);
}

ENTRY(normalized_entry)
{
    mpfr_set_ui(ret_exact, at.row, MPFR_RNDN);
    mpfr_div_ui(ret_exact, ret_exact, drawn->width - 1, MPFR_RNDN);
}

static void draw_dyadic(random_query *drawn)
{
    add_positions(drawn);
    draw_dim(drawn, 200, 1);
    geometric(drawn, drawn->dim, 2, 1, 1);
    mpfr_t quarter;
    mpfr_init2(quarter, PRECISION);
    mpfr_const_pi(quarter, MPFR_RNDN);
    mpfr_div_2ui(quarter, quarter, 1, MPFR_RNDN);
    for (size_t i = 0; i < drawn->count; i++)
        mpfr_mul(drawn->frequencies[i], drawn->frequencies[i], quarter, MPFR_RNDN);
    mpfr_clear(quarter);
}

/* Multiples of a quarter turn, whose sines are exact: position · 2^-(column + 1) of π. */
ENTRY(dyadic_entry)
{
    position_of(drawn, at.row, ret_exact);
    mpfr_div_2ui(ret_exact, ret_exact, at.column, MPFR_RNDN);
    if (mpfr_integer_p(ret_exact)) {
        static const int sines[] = {0, 1, 0, -1};
        mpfr_fmod_ui(ret_exact, ret_exact, 4, MPFR_RNDN);
        mpfr_set_si(ret_exact, sines[(mpfr_get_si(ret_exact, MPFR_RNDN) + 4) % 4], MPFR_RNDN);
        return;
    }
    position_of(drawn, at.row, ret_exact);
    wave(drawn, at.column, false, ret_exact);
}

static void draw_periodic(random_query *drawn)
{
    add_positions(drawn);
    drawn->base = draw_base();
    draw_dim(drawn, 96, 1);
    add(drawn, "&frequencies=geometric&base=%.17g", drawn->base);
    geometric(drawn, drawn->dim, drawn->base, 1, drawn->dim);
}

ENTRY(periodic_entry)
{
    position_of(drawn, at.row, ret_exact);
    wave(drawn, at.column, false, ret_exact);
}

static void draw_sinusoidal(random_query *drawn)
{
    add_positions(drawn);
    draw_geometric(drawn, "base");
}

static void draw_amplified(random_query *drawn)
{
    draw_sinusoidal(drawn);
    drawn->amplitude = ldexp(one_to_two(), (int)any(200) - 100);
    add(drawn, "&layout=concat&amplitude=%.17g", drawn->amplitude);
    mpfr_set_d(drawn->factor, drawn->amplitude, MPFR_RNDN);
}

ENTRY(interleaved_entry)
{
    position_of(drawn, at.row, ret_exact);
    interleaved(drawn, at.column, ret_exact);
}

ENTRY(concatenated_entry)
{
    position_of(drawn, at.row, ret_exact);
    concatenated(drawn, at.column, ret_exact);
}

static void draw_grid(random_query *drawn)
{
    draw_dim(drawn, 96, 4);
    drawn->width = 1 + any(40);
    drawn->base = draw_base();
    add(drawn, "&height=%u&width=%lu&shape=nc&base=%.17g", (unsigned)(1 + any(40)),
        drawn->width, drawn->base);
    geometric(drawn, drawn->dim / 4, drawn->base, 4, drawn->dim);
}

ENTRY(grid_entry) /* x in the first half of the columns, y in the second */
{
    uint64_t half = drawn->dim / 2;
    mpfr_set_ui(ret_exact, at.column < half ? at.row % drawn->width : at.row / drawn->width,
                MPFR_RNDN);
    interleaved(drawn, at.column % half, ret_exact);
}

static void draw_rope(random_query *drawn)
{
    add_positions(drawn);
    draw_geometric(drawn, "rope_theta");
}

static void draw_linear_rope(random_query *drawn)
{
    double factor = one_to_two() * (double)(1 + any(64));
    draw_rope(drawn);
    add(drawn, "&rope_type=linear&factor=%.17g", factor);
    for (size_t i = 0; i < drawn->count; i++)
        mpfr_div_d(drawn->frequencies[i], drawn->frequencies[i], factor, MPFR_RNDN);
}

/* All frequencies divided, since beta_fast and beta_slow are above every index, and the
 * attention factor 0.1 ln(factor) + 1. */
static void draw_yarn_rope(random_query *drawn)
{
    double factor = 1 + one_to_two() * (double)(1 + any(64));
    add_positions(drawn);
    drawn->base = 2 + one_to_two() * 1e5;
    draw_dim(drawn, 96, 2);
    add(drawn, "&rope_theta=%.17g&rope_type=yarn&factor=%.17g&beta_fast=0.001&beta_slow=0.001",
        drawn->base, factor);
    add(drawn, "&original_max_position_embeddings=9007199254740992");
    geometric(drawn, drawn->dim / 2, drawn->base, 2, drawn->dim);
    for (size_t i = 0; i < drawn->count; i++)
        mpfr_div_d(drawn->frequencies[i], drawn->frequencies[i], factor, MPFR_RNDN);
    mpfr_set_d(drawn->factor, factor, MPFR_RNDN);
    mpfr_log(drawn->factor, drawn->factor, MPFR_RNDN);
    mpfr_div_ui(drawn->factor, drawn->factor, 10, MPFR_RNDN);
    mpfr_add_ui(drawn->factor, drawn->factor, 1, MPFR_RNDN);
}

ENTRY(rope_entry)
{
    const char *name = pe_table_tensor(at.table, at.tensor)->name;
    if (strcmp(name, "inv_freq") == 0) {
        mpfr_set(ret_exact, drawn->frequencies[at.row], MPFR_RNDN);
        return;
    }
    position_of(drawn, at.row, ret_exact);
    wave(drawn, at.column, strcmp(name, "cos") == 0, ret_exact);
}

static void draw_matrix(random_query *drawn)
{
    add_positions(drawn);
    drawn->base = draw_base();
    draw_dim(drawn, 24, 2);
    add(drawn, "&base=%.17g", drawn->base);
    geometric(drawn, drawn->dim / 2, drawn->base, 2, drawn->dim);
}

ENTRY(matrix_entry) /* [n, dim, dim]: blocks [[cos, -sin], [sin, cos]] */
{
    uint64_t line = at.row % drawn->dim;
    if (line / 2 != at.column / 2) {
        mpfr_set_ui(ret_exact, 0, MPFR_RNDN);
        return;
    }
    position_of(drawn, at.row / drawn->dim, ret_exact);
    wave(drawn, at.column / 2, line == at.column, ret_exact);
    if (line < at.column)
        mpfr_neg(ret_exact, ret_exact, MPFR_RNDN);
}

static void draw_relative(random_query *drawn)
{
    draw_geometric(drawn, "base");
    add(drawn, "&length=%u&form=compact", (unsigned)(1 + any(60)));
}

ENTRY(relative_entry)
{
    mpfr_set_si(ret_exact, distance_at(at.table, at.row), MPFR_RNDN);
    interleaved(drawn, at.column, ret_exact);
}

ENTRY(transformer_xl_entry)
{
    mpfr_set_si(ret_exact, distance_at(at.table, at.row), MPFR_RNDN);
    concatenated(drawn, at.column, ret_exact);
}

static void draw_alibi(random_query *drawn)
{
    drawn->heads = 1 + any(40);
    drawn->base = 4 + one_to_two();
    add(drawn, "&length=%u&heads=%lu&form=compact&non_power_of_two=geometric",
        (unsigned)(1 + any(60)), drawn->heads);
    add(drawn, "&alibi_bias_max=%.17g", drawn->base);
}

ENTRY(alibi_entry) /* slopes [heads] or bias [heads, distances] */
{
    bool slopes = strcmp(pe_table_tensor(at.table, at.tensor)->name, "slopes") == 0;
    mpfr_set_d(ret_exact, -drawn->base, MPFR_RNDN);
    mpfr_mul_ui(ret_exact, ret_exact, at.row + 1, MPFR_RNDN);
    mpfr_div_ui(ret_exact, ret_exact, drawn->heads, MPFR_RNDN);
    mpfr_exp2(ret_exact, ret_exact, MPFR_RNDN);
    if (!slopes)
        mpfr_mul_si(ret_exact, ret_exact, -labs(distance_at(at.table, at.column)), MPFR_RNDN);
}

const scheme_formula formulas[] = {
    {"integer", "positions", 0.01, add_positions, covers_encoding, integer_entry},
    {"normalized", "k/(n-1)", 0.04, draw_normalized, covers_encoding, normalized_entry},
    {"periodic", "dyadic", 0.08, draw_dyadic, covers_encoding, dyadic_entry},
    {"periodic", "geometric", 0.05, draw_periodic, covers_encoding, periodic_entry},
    {"sinusoidal", "interleaved", 0.2, draw_sinusoidal, covers_encoding, interleaved_entry},
    {"sinusoidal", "concat, with an amplitude", 0.15, draw_amplified, covers_encoding,
     concatenated_entry},
    {"sinusoidal_2d", "cells by channels", 0.05, draw_grid, covers_encoding, grid_entry},
    {"rope", "default", 0.13, draw_rope, covers_all, rope_entry},
    {"rope", "linear", 0.07, draw_linear_rope, covers_all, rope_entry},
    {"rope", "yarn, with its attention factor", 0.07, draw_yarn_rope, covers_all, rope_entry},
    {"rotation_matrix", "blocks", 0.05, draw_matrix, covers_all, matrix_entry},
    {"relative_sinusoidal", "compact", 0.04, draw_relative, covers_encoding, relative_entry},
    {"transformer_xl", "compact", 0.04, draw_relative, covers_encoding, transformer_xl_entry},
    {"alibi", "geometric slopes, and biases", 0.02, draw_alibi, covers_all, alibi_entry},
};
const size_t formula_count = sizeof formulas / sizeof *formulas;

pe_request *draw(const scheme_formula *formula, random_query *ret_drawn)
{
    bench_query query;
    ret_drawn->dtype = any(4) ? PE_F64 : PE_F32;
    snprintf(ret_drawn->query, sizeof ret_drawn->query, "dtype=%s",
             ret_drawn->dtype == PE_F64 ? "f64" : "f32");
    formula->draw(ret_drawn);
    bench_read_query(&query, ret_drawn->query);
    return bench_request(pe_scheme_find(formula->scheme), &query);
}
