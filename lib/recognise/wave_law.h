/* From measured waves to the parameters of schemes whose columns are sines and cosines. */
#ifndef PE_WAVE_LAW_H
#define PE_WAVE_LAW_H

#include "recognise/proposal.h"
#include "recognise/wave_ladder.h"

/* What their waves say. */
typedef struct pe_wave_law {
    bool geometric;     /* the frequencies fall geometrically: `ratio` means something */
    double ratio;       /* of a frequency to the one before */
    double ratio_error; /* relative: what it may be off by */
    double first;       /* the first frequency, as measured, in radians per row */
    double first_error; /* relative: what it may be off by */
    double step; /* the first frequency, in radians per row, if it is geometric, else 1; below
                  * 0 where positions fall */
    double amplitude;    /* the middle one of the first waves */
    char positions[128]; /* "&offset=…&step=…"; empty where both are the defaults */
    double offset;       /* the position of row 0, in rows */
} pe_wave_law;

/* Read the law of columns that are all sines, or all cosines. False: they are no such columns.
 */
bool pe_wave_law_read(pe_observation *seen, pe_columns columns, bool sines,
                      pe_wave_law *ret_law);

/* The middle one of the amplitudes of waves, so that a bad column does not decide. */
double pe_wave_amplitude(pe_observation *seen, pe_columns columns);

/* The number that an offset is taken for: a whole one, or a decimal of few digits. */
double pe_wave_offset(double offset);

/* The base whose power -exponent is the ratio of two neighbours: ratio^-exponent, as the
 * shortest decimal within what is measured, times `finer`. Writes "&name=…", nothing if it is
 * the default.
 */
void pe_wave_law_base(const pe_wave_law *law, double exponent, double finer, const char *name,
                      const char *default_text, char *dst, size_t size);

/* Bases near that, of ever more digits; returns how many. */
#define PE_WAVE_BASES 4
size_t pe_wave_law_bases(const pe_wave_law *law, double exponent,
                         double ret_bases[PE_WAVE_BASES]);

#define PE_WAVE_FREQUENCIES 8
#define PE_WAVE_TEXT        112

/* What requests say of measured frequencies, "&frequencies=…&base=…". */
typedef struct pe_wave_texts {
    size_t count;
    char items[PE_WAVE_FREQUENCIES][PE_WAVE_TEXT];
} pe_wave_texts;

/* Write bases of ever more digits near what is measured, "&name=…", by the laws base^(-i/plain)
 * and base^(-i/last), of which one with 0 is left out: a ratio has a base for each, and either
 * may be near a number of few digits that is not the right one. `height` gives the base of
 * another axis, "&base_height=…"; NULL: there is none. */
void pe_wave_law_frequencies(const pe_wave_law *law, const pe_wave_law *height,
                             const char *name, double plain, double last,
                             pe_wave_texts *ret_texts);

/* Two laws whose ratios are the same within what is measured, as one: false if they differ. */
bool pe_wave_law_join(const pe_wave_law *one, const pe_wave_law *other, pe_wave_law *ret_law);

#endif
