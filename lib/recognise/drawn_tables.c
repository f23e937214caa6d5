/* Proposing seeded tables: seeds 0 to 3, where no set is given. Nothing is known of a
 * random table but its scale, so a wrong seed should be turned down by the first rows. */
#include "recognise/recognisers.h"

#include "recognise/stored_tables.h"
#include "trained/trained.h"

#include <math.h>
#include <stdio.h>

#define SEEDS 4

typedef unsigned long long number;

/* The root of the mean square of the entries that have been read, and the largest magnitude.
 * False: it is no matrix of finite numbers that differ. */
static bool measure_spread(const pe_observation *seen, double *ret_spread, double *ret_largest)
{
    const size_t count = seen->sampled * (size_t)seen->columns;
    double sum = 0, largest = 0;
    bool differ = false;
    for (size_t i = 0; i < count; i++) {
        sum += seen->sample[i] * seen->sample[i];
        largest = fmax(largest, fabs(seen->sample[i]));
        differ = differ || seen->sample[i] != seen->sample[0];
    }
    *ret_spread = count > 0 ? sqrt(sum / (double)count) : 0;
    *ret_largest = largest;
    return seen->view.rank == 2 && differ && isfinite(sum);
}

#define SIGNS 32 /* entries that are looked at */

/* Whether a table begins with a row of a tensor that is drawn from a seed, to judge by signs,
 * whatever the standard deviation is. `rows` from it on are looked at. */
static bool has_signs(const pe_observation *seen, const char *name, pe_initialiser initialiser,
                      uint64_t seed, uint64_t row, uint64_t rows)
{
    const pe_distribution distribution = {.initialiser = initialiser, .std = 1, .fans = 2};
    const pe_trained drawn = pe_trained_drawn(seed, name, seen->columns, &distribution);
    const uint64_t all = rows * seen->columns, count = all < SIGNS ? all : SIGNS;
    double elements[SIGNS / 4];
    uint64_t other = 0;
    for (uint64_t i = 0, part; i < count && 8 * other <= count; i += part) {
        const uint64_t column = i % seen->columns, left = seen->columns - column;
        part = left < PE_COUNT(elements) ? left : PE_COUNT(elements);
        pe_trained_row(&drawn, row + i / seen->columns, column, (size_t)part, elements);
        for (uint64_t k = 0; k < part; k++)
            other += (elements[k] > 0) != (seen->sample[i + k] > 0);
    }
    return 8 * other <= count;
}

/* ---- learned ---- */

#define ROWS_TRIED 1024 /* of a drawn table, of which row 0 may be one */

static const struct {
    pe_initialiser initialiser;
    const char *text;
    double part;        /* of the standard deviation, that is measured */
    const char *xavier; /* the one that differs in the standard deviation alone; or NULL */
} INITS[] = {{PE_NORMAL, "", 1, "xavier_normal"},
             {PE_UNIFORM, "&init=uniform", 1, "xavier_uniform"},
             {PE_TRUNC_NORMAL, "&init=trunc_normal", 0.8796, NULL}};

/* Propose a window from a row on, of a distribution whose standard deviation is near a measured
 * one, or follows from the shape. */
static void propose_row(const pe_observation *seen, pe_proposals *proposals, size_t init,
                        int seed, uint64_t row, double spread)
{
    const double entries = (double)seen->sampled * (double)seen->columns;
    char std[48], place[48] = "";
    if (row > 0) /* libraries after fairseq keep two rows */
        snprintf(place, sizeof place, "&%s=%llu", row == 2 ? "row_offset" : "offset",
                 (number)row);
    pe_propose_number(std, sizeof std, "std", spread / INITS[init].part,
                      fmin(3 / sqrt(2 * entries), 0.2), "0.02");
    pe_propose(proposals, "encoding", "length=%llu&dim=%llu%s%s&seed=%d%s", (number)seen->rows,
               (number)seen->columns, INITS[init].text, std, seed, place);
    if (row == 0 && INITS[init].xavier)
        pe_propose(proposals, "encoding",
                   "length=%llu&dim=%llu&init=%s&base_length=%llu&seed=%d", (number)seen->rows,
                   (number)seen->columns, INITS[init].xavier, (number)seen->rows, seed);
}

void pe_recognise_learned(pe_observation *seen, pe_proposals *proposals)
{
    double spread, largest;
    if (seen->set) {
        pe_recognise_stored_learned(seen, proposals);
        return;
    }
    if (!measure_spread(seen, &spread, &largest))
        return;
    for (size_t i = 0; i < PE_COUNT(INITS) * SEEDS; i++)
        for (uint64_t row = 0; row < ROWS_TRIED; row++)
            if (has_signs(seen, "table", INITS[i / SEEDS].initialiser, i % SEEDS, row,
                          seen->sampled))
                propose_row(seen, proposals, i / SEEDS, (int)(i % SEEDS), row, spread);
}

/* ---- tables that begin with a learned one ---- */

void pe_recognise_hierarchical(pe_observation *seen, pe_proposals *proposals)
{
    static const unsigned LENGTHS[] = {512, 1024, 2048, 128, 256, 64, 197};
    double spread, largest;
    if (seen->set) {
        pe_recognise_stored_hierarchical(seen, proposals);
        return;
    }
    if (!measure_spread(seen, &spread, &largest) || largest > 0.5)
        return;
    for (int seed = 0; seed < SEEDS; seed++) { /* both begin with row 0 of the table */
        if (!has_signs(seen, "table", PE_NORMAL, (uint64_t)seed, 0, 1))
            continue;
        pe_propose(proposals, "basis", "length=1&dim=%llu&base_length=%llu&seed=%d",
                   (number)seen->columns, (number)seen->rows, seed);
        for (size_t i = 0; i < PE_COUNT(LENGTHS); i++)
            pe_propose(proposals, "encoding", "length=%llu&dim=%llu&base_length=%u&seed=%d",
                       (number)seen->rows, (number)seen->columns, LENGTHS[i], seed);
    }
}

/* Row 0 is drawn; the others take a differential equation. */
void pe_recognise_floater(pe_observation *seen, pe_proposals *proposals)
{
    double spread, largest;
    if (!measure_spread(seen, &spread, &largest))
        return;
    for (int seed = 0; seed < SEEDS; seed++)
        if (has_signs(seen, "p0", PE_NORMAL, (uint64_t)seed, 0, 1))
            pe_propose(proposals, "encoding", "length=%llu&dim=%llu&seed=%d",
                       (number)seen->rows, (number)seen->columns, seed);
}

#define LEAST_COLUMNS 64 /* of which rows that are drawn have little in common */
#define MOST_COLUMNS  256
#define CORNER        3 /* cells of a source along each axis */

/* How much of the first cell of a target grid is one row of a source grid, by the square of the
 * cosine between them. */
static double measure_share(const double *cell, const pe_trained *source, uint64_t row,
                            size_t count)
{
    double elements[MOST_COLUMNS], xx = 0, xy = 0, yy = 0;
    pe_trained_row(source, row, 0, count, elements);
    for (size_t i = 0; i < count; i++) {
        xx += elements[i] * elements[i];
        xy += elements[i] * cell[i];
        yy += cell[i] * cell[i];
    }
    return xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
}

/* Whether the first cell of a target grid may be a sum of the cells of a source grid that are
 * near its place. */
static bool may_be_resized(const pe_observation *seen, int seed, unsigned source, uint64_t side,
                           unsigned prefix)
{
    static const pe_distribution NORMAL = {.initialiser = PE_NORMAL, .std = 1};
    const pe_trained drawn = pe_trained_drawn((uint64_t)seed, "table", seen->columns, &NORMAL);
    const size_t count = seen->columns < MOST_COLUMNS ? (size_t)seen->columns : MOST_COLUMNS;
    const uint64_t place = (uint64_t)fmax(0, floor(0.5 * source / (double)side - 0.5));
    const uint64_t cells[CORNER] = {0, place, place + 1};
    double share = 0;
    if (seen->columns < LEAST_COLUMNS || seen->sampled <= prefix)
        return true;
    for (size_t y = place == 0; y < CORNER; y++)
        for (size_t x = place == 0; x < CORNER; x++)
            share += measure_share(seen->sample + prefix * seen->columns, &drawn,
                                   prefix + cells[y] * source + cells[x], count);
    return share > 0.2;
}

/* Propose square target grids from square source grids, as vision models have them. */
void pe_recognise_resized(pe_observation *seen, pe_proposals *proposals)
{
    static const unsigned SOURCES[] = {14, 16, 24, 32};
    static const char *const MODES[] = {"",
                                        "&antialias=true",
                                        "&mode=bilinear",
                                        "&mode=bilinear&align_corners=true",
                                        "&mode=nearest",
                                        "&scale_offset=0.1"};
    double spread, largest;
    if (seen->set) {
        pe_recognise_stored_resized(seen, proposals);
        return;
    }
    if (!measure_spread(seen, &spread, &largest) || largest > 0.5)
        return;
    for (unsigned prefix = 0; prefix < 2; prefix++) {
        uint64_t cells = seen->rows - prefix, side = (uint64_t)rint(sqrt((double)cells));
        for (int seed = 0; seed < SEEDS && side * side == cells && side > 1; seed++)
            for (size_t i = 0; i < PE_COUNT(SOURCES); i++)
                for (size_t mode = 0; mode < PE_COUNT(MODES) &&
                                      may_be_resized(seen, seed, SOURCES[i], side, prefix);
                     mode++)
                    pe_propose(proposals, "encoding",
                               "height=%llu&dim=%llu&source_height=%u%s%s&seed=%d",
                               (number)side, (number)seen->columns, SOURCES[i],
                               prefix ? "&prefix_tokens=1" : "", MODES[mode], seed);
    }
}

/* ---- waves of random frequencies ---- */

void pe_recognise_complex_order(pe_observation *seen, pe_proposals *proposals)
{
    static const char *const SHARINGS[] = {"", "&sharing=word", "&sharing=dim"};
    double spread, largest;
    if (!measure_spread(seen, &spread, &largest) || largest > 10 ||
        !pe_observation_may_be_waves(seen))
        return;
    proposals->angle = (double)seen->rows;
    for (int seed = 0; seed < SEEDS; seed++)
        for (size_t i = 0; i < PE_COUNT(SHARINGS); i++)
            for (int imaginary = 0; imaginary < 2; imaginary++)
                pe_propose(proposals, imaginary ? "imag" : "real",
                           "length=%llu&dim=%llu&vocab=1%s&seed=%d", (number)seen->rows,
                           (number)seen->columns, SHARINGS[i], seed);
}

/* Whether the columns of the first rows are sines, and then cosines of the same angles. */
static bool has_circles(const pe_observation *seen)
{
    const uint64_t half = seen->columns / 2;
    size_t far = 0, looked = 0;
    for (size_t row = 0; row < seen->sampled && row < 4; row++)
        for (uint64_t i = 0; i < half; i++, looked++) {
            double sine = pe_observation_entry(seen, row, i);
            double cosine = pe_observation_entry(seen, row, half + i);
            far += !(fabs(sine * sine + cosine * cosine - 1) < 0.05);
        }
    return looked > 0 && 16 * far <= looked;
}

void pe_recognise_random_fourier(pe_observation *seen, pe_proposals *proposals)
{
    static const char *const VARIANTS[] = {"", "&preset=sam", "&grid=corners"};
    const uint64_t rows = seen->rows, features = seen->columns / 2;
    if (seen->view.rank != 2 || seen->columns % 2 != 0 || !has_circles(seen))
        return;
    proposals->angle = 100;
    for (uint64_t width = rows; width >= 2; width--)
        for (int seed = 0; rows % width == 0 && seed < SEEDS; seed++)
            for (size_t i = 0; i < PE_COUNT(VARIANTS); i++) {
                char sizes[48];
                snprintf(sizes, sizeof sizes, "%llu,%llu", (number)(rows / width),
                         (number)width);
                if (width == rows)
                    snprintf(sizes, sizeof sizes, "%llu", (number)rows);
                pe_propose(proposals, "encoding", "sizes=%s&features=%llu%s&seed=%d", sizes,
                           (number)features, VARIANTS[i], seed);
            }
}
