/* Proposing sinusoidal encodings, by the law of their sines and cosines. */
#include "recognise/recognisers.h"

#include "numerics/elementary.h"
#include "recognise/rotary_laws.h"
#include "recognise/table_positions.h"
#include "recognise/wave_law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE_TEXT 48
#define SCALE_ROWS 4 /* by which the amplitude is measured */

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
    bool found;
} published;

/* The amplitude, by the sine and cosine of the first frequency in one of the first rows, since
 * some may be padding; 0: there is none. */
static double measure_scale(const published *self)
{
    const double error = pe_observation_unit(&self->seen->view) + self->seen->view.grain;
    double scale = 0;
    for (size_t row = 0; scale == 0 && row < self->seen->sampled && row < SCALE_ROWS; row++) {
        const double sine = pe_observation_entry(self->seen, row, self->sines.first);
        const double cosine = pe_observation_entry(self->seen, row, self->cosines.first);
        scale = sqrt(sine * sine + cosine * cosine);
    }
    return fabs(scale - 1) <= 2 * error ? 1 : isnormal(scale) ? scale : 0;
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
    if (!pe_table_positions_find(self->seen, &self->law, &self->positions))
        return;
    self->found = true;
    self->proposals->angle =
        (self->positions.farthest + 1) * fmax(1, self->frequencies[half - 1]);
    write_scale(self->amplitude, (double)self->seen->columns,
                fmax(4 * (unit + self->seen->view.grain / self->amplitude), 1e-9), scale);
    pe_propose_number(text, sizeof text, "base", base, 0, "10000");
    pe_propose_request(self->proposals, "encoding", "%s&dim=%llu%s%s%s%s%s",
                       self->positions.rows, (unsigned long long)self->seen->columns,
                       self->layout, to_last ? "&frequencies=tensor2tensor" : "", text,
                       self->positions.spacing, scale);
}

/* Try bases near the measured one: entries in their rows say positions better than waves do. */
static void try_measured(published *self, pe_observation *seen)
{
    pe_wave_law law;
    (void)pe_wave_law_read(seen, self->sines, true, &law);
    for (int to_last = 0; law.geometric && to_last < 2; to_last++) {
        double bases[PE_WAVE_BASES];
        const size_t count =
            pe_wave_law_bases(&law, (double)self->sines.count - to_last, bases);
        for (size_t i = 0; i < count; i++)
            try_base(self, bases[i], to_last);
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
        if (self->amplitude > 0 && !self->found && seen->sampled >= 4)
            try_measured(self, seen);
        proposals->angle = 0;
    }
    free(frequencies);
    free(self);
}

/* ---- layouts ---- */

/* How the columns are laid out. */
typedef struct column_layout {
    pe_columns sines, cosines;
    double plain, last; /* the exponents of both laws of frequencies; 0: there is no such law */
    char text[2 * SCALE_TEXT];
} column_layout;

#define LAYOUTS_MAX 3

/* Whether the last column is zero in all rows, as it is where an odd number was padded. */
static bool is_padded(const pe_observation *seen)
{
    bool zero = seen->columns % 2 == 1;
    for (size_t row = 0; row < seen->sampled && zero; row++)
        zero = pe_observation_entry(seen, row, seen->columns - 1) == 0;
    return zero;
}

/* List the layouts of columns that form pairs. Of an odd number a pair lacks its second column,
 * or the last column is no part of one. */
static void list_pairs(const pe_observation *seen, column_layout ret_layouts[LAYOUTS_MAX])
{
    static const char *const TEXTS[] = {"", "&layout=concat", "&layout=concat_cos_first"};
    const bool odd = seen->columns % 2 == 1, pad = is_padded(seen);
    const uint64_t columns = seen->columns - pad, pairs = (columns + 1) / 2;
    const uint64_t others = columns - pairs;
    const pe_columns lists[LAYOUTS_MAX][2] = {{{0, 2, pairs}, {1, 2, others}},
                                              {{0, 1, pairs}, {pairs, 1, others}},
                                              {{pairs, 1, others}, {0, 1, pairs}}};
    for (size_t i = 0; i < LAYOUTS_MAX; i++) {
        ret_layouts[i] = (column_layout){lists[i][0], lists[i][1], (double)columns / 2,
                                         (double)pairs - 1, ""};
        snprintf(ret_layouts[i].text, sizeof ret_layouts[i].text, "%s%s",
                 !odd  ? ""
                 : pad ? "&odd_dim=pad"
                       : "&odd_dim=truncate",
                 TEXTS[i]);
    }
}

/* List the layouts of columns each of which has a frequency of its own; returns how many. */
static size_t list_single(const pe_observation *seen, column_layout ret_layouts[LAYOUTS_MAX])
{
    static const char *const ODD_DIMS[] = {"", "&odd_dim=truncate", "&odd_dim=pad"};
    const uint64_t odd = seen->columns % 2;
    size_t count = 0;
    for (size_t i = odd; i < (odd ? PE_COUNT(ODD_DIMS) : 1); i++) {
        ret_layouts[count] = (column_layout){.sines = {0, 2, (seen->columns + odd) / 2},
                                             .plain = (double)(seen->columns - (i == 2)) / 4};
        snprintf(ret_layouts[count++].text, sizeof ret_layouts->text,
                 "&frequencies=per_column%s", ODD_DIMS[i]);
    }
    return count;
}

/* Propose what the waves of a layout's sines tell. */
static void propose_measured(pe_observation *seen, pe_proposals *proposals,
                             const column_layout *layout)
{
    pe_wave_texts frequencies;
    pe_wave_law law;
    char scale[SCALE_TEXT];
    bool zero = true;
    if (!pe_wave_law_read(seen, layout->sines, true, &law) || !law.geometric ||
        law.amplitude == 0)
        return;
    for (uint64_t column = 0; column < seen->columns; column++)
        zero = zero && pe_observation_entry(seen, 0, column) == 0;
    write_scale(law.amplitude, (double)seen->columns, 2e-3, scale);
    proposals->first_distance = fabs(law.offset);
    proposals->angle = law.first * ((double)seen->rows + fabs(law.offset));
    pe_wave_law_frequencies(&law, NULL, "base", layout->plain, layout->last, &frequencies);
    for (size_t i = 0; i < frequencies.count; i++)
        pe_propose_request(proposals, "encoding", "length=%llu&dim=%llu%s%s%s%s%s",
                           (unsigned long long)seen->rows, (unsigned long long)seen->columns,
                           layout->text, frequencies.items[i], law.positions, scale,
                           zero ? "&zero_first_row=true" : "");
    proposals->angle = 0;
}

/* Propose the positions of the rows of a matrix, or of one row, by known bases. */
static void propose_rows(pe_observation *seen, pe_proposals *proposals)
{
    column_layout layouts[LAYOUTS_MAX];
    list_pairs(seen, layouts);
    for (size_t i = 0; i < LAYOUTS_MAX && seen->columns >= 4; i++)
        if (layouts[i].sines.count == layouts[i].cosines.count)
            propose_published(seen, proposals, layouts[i].sines, layouts[i].cosines,
                              layouts[i].text);
}

void pe_recognise_sinusoidal(pe_observation *seen, pe_proposals *proposals)
{
    column_layout layouts[LAYOUTS_MAX];
    if (seen->view.rank == 1) {
        pe_observation row;
        if (pe_observation_begin_row(seen, &row))
            propose_rows(&row, proposals);
        pe_observation_end(&row);
        return;
    }
    propose_rows(seen, proposals);
    if (seen->columns < 3 || seen->sampled < 4)
        return;
    list_pairs(seen, layouts);
    for (size_t i = 0; i < LAYOUTS_MAX; i++)
        propose_measured(seen, proposals, &layouts[i]);
    const size_t count = list_single(seen, layouts);
    for (size_t i = 0; i < count; i++)
        propose_measured(seen, proposals, &layouts[i]);
}
