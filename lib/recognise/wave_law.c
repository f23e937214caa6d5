#include "recognise/wave_law.h"

#include "numerics/elementary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEAREST         1e-5 /* how near a decimal must be at least to be taken for a number */
#define FARTHEST        0.05 /* and at most, relative */
#define FINER           12.0 /* of one base after the other, by this factor */
#define AMPLITUDES      31   /* of which the middle one is taken */
#define OFFSET_ABSOLUTE 0.02 /* positions: nearer to a whole number, it is one */

static double clamp_error(double error)
{
    return fmin(fmax(error, NEAREST), FARTHEST);
}

double pe_wave_offset(double offset)
{
    if (fabs(offset - rint(offset)) <= OFFSET_ABSOLUTE)
        return rint(offset) + 0.0; /* no negative zero */
    return pe_find_decimal(offset, fmin(1e-4, 2e-3 / fabs(offset)));
}

double pe_wave_amplitude(pe_observation *seen, pe_columns columns)
{
    const pe_observed_wave *waves = pe_observation_waves(seen);
    double sorted[AMPLITUDES];
    size_t count = 0;
    for (uint64_t i = 0; waves && i < columns.count && count < AMPLITUDES; i++) {
        const pe_observed_wave *wave = &waves[columns.first + i * columns.stride];
        size_t place = count;
        if (!wave->found || (count > 0 && wave->turns < 3))
            continue;
        for (; place > 0 && sorted[place - 1] > wave->amplitude; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = wave->amplitude;
        count++;
    }
    return count > 0 ? sorted[count / 2] : 0;
}

bool pe_wave_law_read(pe_observation *seen, pe_columns columns, bool sines,
                      pe_wave_law *ret_law)
{
    const pe_ladder *ladder = pe_ladder_read(seen, columns, sines);
    *ret_law = (pe_wave_law){.step = 1};
    if (!ladder)
        return false;
    ret_law->amplitude = pe_wave_amplitude(seen, columns);
    ret_law->geometric = ladder->geometric;
    if (ladder->geometric) {
        ret_law->ratio = pe_exp_double(ladder->ratio);
        ret_law->ratio_error = ladder->ratio_error;
        ret_law->first = pe_exp_double(ladder->first);
        ret_law->first_error = clamp_error(ladder->first_error);
        ret_law->step = pe_find_decimal(ret_law->first, ret_law->first_error);
    }
    ret_law->step *= ladder->backwards ? -1 : 1;
    ret_law->offset = ladder->offset;
    pe_propose_positions(ret_law->positions, sizeof ret_law->positions,
                         pe_wave_offset(ladder->offset * ret_law->step), ret_law->step,
                         clamp_error(ladder->first_error));
    return ladder->placed;
}

/* A base of few digits near the power of a ratio. */
static double find_base(const pe_wave_law *law, double exponent, double finer)
{
    const double base = pe_exp_double(-exponent * pe_log_double(law->ratio));
    return pe_find_decimal(base, finer * clamp_error(exponent * law->ratio_error));
}

void pe_wave_law_base(const pe_wave_law *law, double exponent, double finer, const char *name,
                      const char *default_text, char *dst, size_t size)
{
    pe_propose_number(dst, size, name, find_base(law, exponent, finer), 0, default_text);
}

size_t pe_wave_law_bases(const pe_wave_law *law, double exponent,
                         double ret_bases[PE_WAVE_BASES])
{
    double finer = 1;
    size_t count = 0;
    for (size_t i = 0; i < PE_WAVE_BASES; i++) {
        const double base = find_base(law, exponent, finer);
        finer /= FINER;
        if (count == 0 || base != ret_bases[count - 1])
            ret_bases[count++] = base;
    }
    return count;
}

/* Add a text unless it is there. */
static void add_text(const char *text, pe_wave_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->items[i], text) == 0)
            return;
    snprintf(texts->items[texts->count++], PE_WAVE_TEXT, "%s", text);
}

/* Whether a number of up to three digits is near a base, and a longer one near the base of the
 * other law, which it is not then. */
static bool is_longer(double base, double other)
{
    return pe_find_decimal(other, 5e-4) == other &&
           pe_find_decimal(base, 5e-6) != pe_find_decimal(base, 5e-4);
}

void pe_wave_law_frequencies(const pe_wave_law *law, const pe_wave_law *height,
                             const char *name, double plain, double last,
                             pe_wave_texts *ret_texts)
{
    const double exponents[] = {plain, last};
    double finer = 1;
    ret_texts->count = 0;
    for (size_t i = 0; i < PE_WAVE_FREQUENCIES; i++) {
        char base[PE_WAVE_TEXT / 4], base_height[PE_WAVE_TEXT / 3] = "", text[PE_WAVE_TEXT];
        const double exponent = exponents[i % 2], other = exponents[1 - i % 2];
        if (exponent > 0 && (other <= 0 || !is_longer(find_base(law, exponent, finer),
                                                      find_base(law, other, finer)))) {
            pe_wave_law_base(law, exponent, finer, name, "10000", base, sizeof base);
            if (height)
                pe_wave_law_base(height, exponent, finer, "base_height", "", base_height,
                                 sizeof base_height);
            snprintf(text, sizeof text, "%s%s%s",
                     i % 2 == 1 ? "&frequencies=tensor2tensor" : "", base, base_height);
            add_text(text, ret_texts);
        }
        finer /= i % 2 == 1 ? FINER : 1;
    }
}

bool pe_wave_law_join(const pe_wave_law *one, const pe_wave_law *other, pe_wave_law *ret_law)
{
    const double a = 1 / (one->ratio_error * one->ratio_error);
    const double b = 1 / (other->ratio_error * other->ratio_error);
    *ret_law = *one;
    ret_law->ratio = (a * one->ratio + b * other->ratio) / (a + b);
    ret_law->ratio_error = 1 / sqrt(a + b);
    return fabs(one->ratio - other->ratio) <=
           2 * one->ratio * (one->ratio_error + other->ratio_error);
}
