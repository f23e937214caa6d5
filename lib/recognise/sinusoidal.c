/* Proposing sinusoidal encodings, by the law of their sines and cosines. */
#include "recognise/odd_sinusoidal.h"
#include "recognise/recognisers.h"

#include "numerics/elementary.h"
#include "recognise/rotary_laws.h"
#include "recognise/table_positions.h"
#include "recognise/wave_law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE_TEXT   48
#define SCALE_ROWS   4 /* by which the amplitude is measured */
#define PROPOSED_MAX 4 /* published laws of one layout, measured ones of one formula */

/* Write "&amplitude=…" of a measured one: the root of the width, or its inverse, by which
 * models scale, or a decimal. */
static void write_scale(double amplitude, double dim, double error, char dst[SCALE_TEXT])
{
    const double roots[] = {sqrt(dim), 1 / sqrt(dim)};
    dst[0] = '\0';
    for (size_t i = 0; i < PE_COUNT(roots) && !dst[0]; i++)
        if (fabs(amplitude - roots[i]) < fmax(error, 1e-5) * roots[i])
            snprintf(dst, SCALE_TEXT, "&amplitude=%.17g", roots[i]);
    if (!dst[0])
        pe_propose_number(dst, SCALE_TEXT, "amplitude", amplitude, error, "1");
}

/* ---- positions by bases, of published models or measured ---- */

/* Those of frequencies that rise, as in DiffWave and CSDI. */
static const double RISING[] = {1e-4, 1e-3, 1e-2, 1e-5};

/* Search of one layout. */
typedef struct published {
    const pe_observation *seen;
    pe_proposals *proposals;
    pe_columns sines, cosines;
    const char *layout;
    double amplitude;
    double *frequencies; /* [half] */
    pe_row_law law;
    pe_table_positions positions;
    size_t proposed;
} published;

/* The amplitude, by the sine and cosine of the first frequency in one of the first rows, since
 * some may be padding; 0: there is none. */
static double measure_scale(const published *self)
{
    const double unit = pe_observation_unit(&self->seen->view);
    double scale = 0;
    for (size_t row = 0; scale == 0 && row < self->seen->sampled && row < SCALE_ROWS; row++) {
        const double sine = pe_observation_entry(self->seen, row, self->sines.first);
        const double cosine = pe_observation_entry(self->seen, row, self->cosines.first);
        scale = sqrt(sine * sine + cosine * cosine);
    }
    return fabs(scale - 1) <= 2 * unit ? 1 : isnormal(scale) ? scale : 0;
}

static void try_base(published *self, double base, bool to_last)
{
    const uint64_t half = self->sines.count;
    const double unit = pe_observation_unit(&self->seen->view);
    const double ratio =
        pe_exp_double(-pe_log_double(base) / (double)(half - (to_last ? 1 : 0)));
    char text[SCALE_TEXT], scale[SCALE_TEXT];
    self->frequencies[0] = 1;
    for (uint64_t i = 1; i < half; i++)
        self->frequencies[i] = self->frequencies[i - 1] * ratio;
    pe_row_law_init(&self->law, self->frequencies, self->sines, self->cosines, self->amplitude,
                    self->amplitude == 1 ? unit : 2 * unit);
    if (self->proposed == PROPOSED_MAX ||
        !pe_table_positions_find(self->seen, &self->law, &self->positions))
        return;
    self->proposed++;
    self->proposals->angle =
        (self->positions.farthest + 1) * fmax(1, self->frequencies[half - 1]);
    write_scale(self->amplitude, (double)self->seen->columns, fmax(4 * unit, 1e-9), scale);
    pe_propose_number(text, sizeof text, "base", base, 0, "10000");
    pe_propose_request(self->proposals, "encoding", "%s&dim=%llu%s%s%s%s%s",
                       self->positions.rows, (unsigned long long)self->seen->columns,
                       self->layout, to_last ? "&frequencies=tensor2tensor" : "", text,
                       self->positions.spacing, scale);
}

/* Try bases near the ratio of slow columns, whose frequencies are measured right though fast
 * ones turn by more than half a turn from row to row. */
static void try_measured(published *self, pe_observation *seen)
{
    const uint64_t half = self->sines.count;
    pe_observed_geometry slow;
    for (uint64_t eighths = 0; eighths < 7; eighths++) {
        const uint64_t skipped = eighths * half / 8;
        pe_wave_law law = {.geometric = true};
        if (!pe_observation_fit_geometry(seen, self->sines.first + skipped * self->sines.stride,
                                         self->sines.stride, half - skipped, &slow))
            continue;
        law.ratio = slow.ratio;
        law.ratio_error = slow.ratio_error;
        for (int to_last = 0; to_last < 2; to_last++) {
            double bases[PE_WAVE_BASES];
            self->proposed = 0;
            const size_t count =
                pe_wave_law_bases(&law, (double)(half - (uint64_t)to_last), bases);
            for (size_t i = 0; i < count; i++)
                try_base(self, bases[i], to_last);
        }
        return;
    }
}

static void propose_published(pe_observation *seen, pe_proposals *proposals, pe_columns sines,
                              pe_columns cosines, const char *layout)
{
    published *self = malloc(sizeof *self);
    double *frequencies = malloc((size_t)sines.count * sizeof *frequencies);
    if (self && frequencies) {
        *self = (published){.seen = seen,
                            .proposals = proposals,
                            .sines = sines,
                            .cosines = cosines,
                            .layout = layout,
                            .frequencies = frequencies};
        self->amplitude = measure_scale(self);
        proposals->first_distance = 0;
        for (size_t t = 0; self->amplitude > 0 && t < PE_ROTARY_THETAS; t++)
            for (int to_last = 0; to_last < 2; to_last++)
                try_base(self, pe_rotary_thetas[t], to_last);
        for (size_t t = 0; self->amplitude > 0 && t < PE_COUNT(RISING); t++)
            for (int to_last = 0; to_last < 2; to_last++)
                try_base(self, RISING[t], to_last);
        if (self->amplitude > 0 && self->proposed == 0 && seen->sampled >= 4)
            try_measured(self, seen);
        proposals->angle = 0;
    }
    free(frequencies);
    free(self);
}

/* ---- measured bases ---- */

/* Propose a layout whose sines are all columns of one list and whose cosines of another, which
 * has their frequencies. */
static void propose_layout(pe_observation *seen, pe_proposals *proposals, pe_columns sines,
                           const char *layout)
{
    pe_wave_law law;
    char scale[SCALE_TEXT];
    double dim = (double)seen->columns, half = dim / 2;
    if (!pe_wave_law_read(seen, sines, true, &law) || !law.geometric || law.amplitude == 0)
        return;
    write_scale(law.amplitude, dim, 2e-3, scale);
    const char *zero = pe_wave_offset(law.offset * law.step) == 0 &&
                               pe_observation_entry(seen, 0, 0) == 0 &&
                               pe_observation_entry(seen, 0, 1) == 0 &&
                               pe_observation_entry(seen, 0, seen->columns - 1) == 0
                           ? "&zero_first_row=true"
                           : "";
    proposals->first_distance = law.first_distance;
    pe_wave_texts frequencies;
    pe_wave_law_frequencies(&law, NULL, "base", half, half - 1, &frequencies);
    for (size_t i = 0; i < frequencies.count; i++)
        pe_propose_request(proposals, "encoding", "length=%llu&dim=%llu%s%s%s%s%s",
                           (unsigned long long)seen->rows, (unsigned long long)seen->columns,
                           layout, frequencies.items[i], law.positions, scale, zero);
}

/* The layouts of columns that form pairs. */
#define LAYOUTS 3
typedef struct paired_layout {
    pe_columns sines, cosines;
    const char *text;
} paired_layout;

static void list_layouts(uint64_t half, paired_layout ret_layouts[LAYOUTS])
{
    const paired_layout layouts[LAYOUTS] = {
        {{0, 2, half}, {1, 2, half}, ""},
        {{0, 1, half}, {half, 1, half}, "&layout=concat"},
        {{half, 1, half}, {0, 1, half}, "&layout=concat_cos_first"}};
    memcpy(ret_layouts, layouts, sizeof layouts);
}

/* Propose published bases for the rows of a matrix, or for one row. */
static void propose_rows(pe_observation *seen, pe_proposals *proposals)
{
    paired_layout layouts[LAYOUTS];
    list_layouts(seen->columns / 2, layouts);
    for (size_t i = 0; seen->columns >= 4 && seen->columns % 2 == 0 && i < LAYOUTS; i++)
        propose_published(seen, proposals, layouts[i].sines, layouts[i].cosines,
                          layouts[i].text);
}

void pe_recognise_sinusoidal(pe_observation *seen, pe_proposals *proposals)
{
    paired_layout layouts[LAYOUTS];
    if (seen->view.rank == 1) {
        pe_observation row;
        if (pe_observation_begin_row(seen, &row))
            propose_rows(&row, proposals);
        pe_observation_end(&row);
        return;
    }
    pe_propose_odd_sinusoidal(seen, proposals);
    propose_rows(seen, proposals);
    if (seen->columns < 4 || seen->columns % 2 != 0 || seen->sampled < 4)
        return;
    list_layouts(seen->columns / 2, layouts);
    for (size_t i = 0; i < LAYOUTS; i++)
        propose_layout(seen, proposals, layouts[i].sines, layouts[i].text);
}
