/* Proposing periodic tables, rotation matrices and waves that grow. */
#include "recognise/recognisers.h"

#include "numerics/elementary.h"
#include "recognise/wave_law.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 48

typedef unsigned long long number;

/* ---- periodic ---- */

/* The dyadic frequencies, of which the first one is a quarter turn per position. Geometric ones
 * are the sines of rope, which is the likelier origin. */
void pe_recognise_periodic(pe_observation *seen, pe_proposals *proposals)
{
    pe_wave_law law;
    char positions[2 * TEXT];
    if (seen->view.rank != 2 || seen->sampled < 4 ||
        !pe_wave_law_read(seen, (pe_columns){0, 1, seen->columns}, true, &law) ||
        !law.geometric || fabs(law.ratio - 0.5) > 1e-3)
        return;
    proposals->first_distance = fabs(law.offset);
    double step = pe_find_decimal(law.first / (PE_TURN / 4), 1e-3);
    pe_propose_positions(positions, sizeof positions, pe_wave_offset(law.offset * step), step,
                         0);
    pe_propose_request(proposals, "encoding", "length=%llu&dim=%llu%s", (number)seen->rows,
                       (number)seen->columns, positions);
}

/* ---- rotation_matrix ---- */

/* Read the law of the cosines on the diagonals of matrices [n, dim, dim]. */
static bool read_diagonals(const pe_view *view, pe_wave_law *ret_law)
{
    pe_view diagonal = *view;
    pe_observation seen;
    diagonal.rank = 2;
    diagonal.shape[1] = view->shape[1] / 2;
    diagonal.strides[1] = 2 * (view->strides[1] + view->strides[2]);
    bool good = pe_observation_begin(&seen, &diagonal) && seen.sampled >= 4 &&
                pe_wave_law_read(&seen, (pe_columns){0, 1, seen.columns}, false, ret_law);
    pe_observation_end(&seen);
    return good && ret_law->geometric;
}

void pe_recognise_rotation_matrix(pe_observation *seen, pe_proposals *proposals)
{
    const pe_view *view = &seen->view;
    pe_wave_law law;
    char base[TEXT];
    if (view->rank != 3 || view->shape[1] != view->shape[2] || view->shape[1] % 2 != 0 ||
        view->shape[1] < 4 || !read_diagonals(view, &law))
        return;
    proposals->angle = law.step * ((double)view->shape[0] + fabs(law.offset));
    pe_wave_law_base(&law, (double)view->shape[1] / 2, 1, "base", "10000", base, sizeof base);
    for (int shift = 0; shift < 2; shift++)
        pe_propose_request(proposals, "matrix", "length=%llu&dim=%llu%s%s%s",
                           (number)view->shape[0], (number)view->shape[1], base, law.positions,
                           shift ? "&convention=shift" : "");
}

/* ---- xpos ---- */

#define EXPLAINED 0.9 /* part of the squares of a column that its law must explain */

/* How the amplitude of a column grows from row to row, by x[k+1] + r²x[k-1] = 2r·cos(w)x[k].
 * False: it is no such column, or its growth is no more than noise makes of a steady wave. */
static bool measure_growth(const pe_observation *seen, uint64_t column, double *ret_growth)
{
    double xx = 0, xy = 0, yy = 0, xz = 0, yz = 0, zz = 0;
    for (size_t k = 1; k + 1 < seen->sampled; k++) {
        double x = pe_observation_entry(seen, k, column),
               y = -pe_observation_entry(seen, k - 1, column);
        double z = pe_observation_entry(seen, k + 1, column);
        xx += x * x;
        xy += x * y;
        yy += y * y;
        xz += x * z;
        yz += y * z;
        zz += z * z;
    }
    double determinant = xx * yy - xy * xy;
    double square = determinant > 0 ? (xx * yz - xy * xz) / determinant : 0;
    double twice_cosine = determinant > 0 ? (yy * xz - xy * yz) / determinant : 0;
    double explained = twice_cosine * xz + square * yz;
    *ret_growth = square > 0 ? sqrt(square) : 0;
    return square > 0.25 && square < 4 && explained > EXPLAINED * zz &&
           fabs(*ret_growth - 1) > 1e-6 + (zz - explained) / zz;
}

/* What has been measured of a table of waves that grow. */
typedef struct growing {
    double gamma, scale_base; /* the latter in rows */
    double sign;              /* 1: of queries, -1: of keys */
    double log_zeta;          /* of the first column */
    double amplitude;         /* of the first column in row 0 */
    pe_wave_law law;          /* without the growth */
} growing;

/* Remove the growth from the rows that have been read, to `even`, of columns that are paired
 * with this stride. */
static void remove_growth(const pe_observation *seen, uint64_t stride, const growing *self,
                          double *even)
{
    const uint64_t pairs = seen->columns / (stride > 0 ? 2 : 1);
    for (uint64_t c = 0; c < seen->columns; c++) {
        uint64_t pair = stride == 2 ? c / 2 : c % pairs;
        double zeta = ((double)pair / (double)pairs + self->gamma) / (1 + self->gamma);
        double fall = pe_exp_double(-self->sign * pe_log_double(zeta) / self->scale_base);
        double factor = 1;
        for (size_t k = 0; k < seen->sampled; k++) {
            even[k * seen->columns + c] = pe_observation_entry(seen, k, c) * factor;
            factor *= fall;
        }
    }
}

/* Read the law of what remains of cosines or sines. */
static bool read_law(pe_observation *rest, uint64_t stride, bool sines, growing *self)
{
    const uint64_t pairs = rest->columns / (stride > 0 ? 2 : 1);
    if (!pe_wave_law_read(rest, (pe_columns){0, stride > 0 ? stride : 1, pairs}, sines,
                          &self->law) ||
        !self->law.geometric || !rest->waves[0].found)
        return false;
    self->amplitude = rest->waves[0].amplitude;
    return true;
}

/* Propose a table with each centre that is near a measured one: the position of amplitude 1. */
static void propose_centres(const pe_observation *seen, pe_proposals *proposals,
                            const char *tensor, const char *query, double measured,
                            double error)
{
    const double half = (double)seen->rows / 2;
    const double centres[] = {rint(measured) + 0.0, 0, floor(half), ceil(half)};
    for (size_t i = 0; i < PE_COUNT(centres); i++) {
        char centre[TEXT];
        pe_propose_number(centre, sizeof centre, "centre", centres[i], 0, "0");
        if (i == 0 || (fabs(centres[i] - measured) <= error && centres[i] != centres[0]))
            pe_propose_request(proposals, tensor, "%s%s", query, centre);
    }
}

/* Propose tables of one arrangement, whose law is known; stride 0: half width. */
static void propose_growing(const pe_observation *seen, pe_proposals *proposals,
                            uint64_t stride, bool sines, const growing *self)
{
    static const char *const ARRANGEMENTS[] = {"", "&table=full&layout=half", "&table=full"};
    static const char *const TENSORS[2][2] = {{"k_cos", "k_sin"}, {"q_cos", "q_sin"}};
    char base[TEXT], scale[TEXT], query[256];
    const uint64_t pairs = seen->columns / (stride > 0 ? 2 : 1);
    /* the amplitude of row 0 is zeta_0^((offset - centre)/scale_base) */
    double scale_base = self->scale_base * self->law.step;
    double from = pe_wave_offset(self->law.offset * self->law.step) -
                  self->sign * pe_log_double(self->amplitude) * scale_base / self->log_zeta;
    pe_wave_law_base(&self->law, (double)pairs, 1, "base", "10000", base, sizeof base);
    pe_propose_number(scale, sizeof scale, "scale_base", scale_base, 1e-3, "512");
    proposals->first_distance = fabs(self->law.offset);
    proposals->angle = self->law.step * ((double)seen->rows + fabs(self->law.offset));
    snprintf(query, sizeof query, "length=%llu&dim=%llu%s%s%s%s", (number)seen->rows,
             2 * (number)pairs, ARRANGEMENTS[stride], base, scale, self->law.positions);
    propose_centres(seen, proposals, TENSORS[self->sign > 0][sines], query, from,
                    2 + scale_base * pe_observation_unit(&seen->view));
}

/* Propose amplitudes alone: the first and the last row of the first column tell their growth.
 */
static void propose_scale(const pe_observation *seen, pe_proposals *proposals)
{
    const double log_zeta = pe_log_double(0.4 / 1.4), first = pe_observation_entry(seen, 0, 0);
    const double last = pe_observation_entry(seen, seen->sampled - 1, 0);
    char scale[TEXT], query[128];
    if (!(first > last) || !(first <= DBL_MAX) || !(last >= DBL_MIN) ||
        !(last / first >= DBL_MIN)) /* their logarithms are taken */
        return;
    double scale_base = log_zeta * (double)(seen->sampled - 1) / pe_log_double(last / first);
    scale_base = fabs(scale_base - 512) < 50 ? 512 : scale_base;
    pe_propose_number(scale, sizeof scale, "scale_base", scale_base,
                      fmax(1e-3, pe_observation_unit(&seen->view) * scale_base / 100), "512");
    for (int full = 0; full < 3 && seen->columns % (full ? 2 : 1) == 0; full++) {
        snprintf(query, sizeof query, "length=%llu&dim=%llu%s%s", (number)seen->rows,
                 (number)(full ? seen->columns : 2 * seen->columns),
                 full == 0   ? ""
                 : full == 1 ? "&table=full"
                             : "&table=full&layout=half",
                 scale);
        propose_centres(seen, proposals, "scale", query,
                        -pe_log_double(first) * scale_base / log_zeta,
                        2 + scale_base * pe_observation_unit(&seen->view));
    }
}

/* Propose all arrangements of waves that grow in one way. */
static void propose_waves(const pe_observation *seen, pe_proposals *proposals, double sign,
                          double scale_base)
{
    growing self = {.gamma = 0.4,
                    .sign = sign,
                    .scale_base = scale_base,
                    .log_zeta = pe_log_double(0.4 / 1.4)};
    double *even = malloc(seen->sampled * (size_t)seen->columns * sizeof *even);
    for (uint64_t stride = 0; even && stride < 3 && seen->columns % (stride > 0 ? 2 : 1) == 0;
         stride++) {
        const pe_view view = pe_observation_view_doubles(even, seen->sampled, seen->columns);
        pe_observation rest;
        remove_growth(seen, stride, &self, even);
        bool good = pe_observation_begin(&rest, &view);
        for (int sines = 0; good && sines < 2; sines++)
            if (read_law(&rest, stride, sines, &self))
                propose_growing(seen, proposals, stride, sines, &self);
        pe_observation_end(&rest);
    }
    free(even);
}

void pe_recognise_xpos(pe_observation *seen, pe_proposals *proposals)
{
    double growth;
    if (seen->view.rank != 2 || seen->sampled < 8 || seen->columns < 2)
        return;
    propose_scale(seen, proposals);
    if (!measure_growth(seen, 0, &growth))
        return;
    double sign = growth < 1 ? 1 : -1; /* zeta is below 1 */
    double scale_base = sign * pe_log_double(0.4 / 1.4) / pe_log_double(growth);
    if (fabs(scale_base - 512) > 50)
        propose_waves(seen, proposals, sign, scale_base);
    if (scale_base > 100 && scale_base < 2500) {
        propose_waves(seen, proposals, sign, 512);
        propose_waves(seen, proposals, -sign, 512);
    }
}
