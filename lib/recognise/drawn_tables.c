/* Proposing seeded tables: seeds 0 to 3, where no stored set is given. Nothing is known of a
 * random table but its scale, so a wrong seed should be turned down by the first rows. */
#include "recognise/recognisers.h"

#include "recognise/stored_tables.h"

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

/* ---- learned ---- */

/* Propose a distribution whose standard deviation is near a measured one. */
static void propose_spread(const pe_observation *seen, pe_proposals *proposals,
                           const char *init, double spread)
{
    static const char *const PLACES[] = {"", "&row_offset=2", "&offset=1"};
    const double entries = (double)seen->sampled * (double)seen->columns;
    char std[48];
    pe_propose_number(std, sizeof std, "std", spread, fmin(3 / sqrt(2 * entries), 0.2), "0.02");
    for (int seed = 0; seed < SEEDS; seed++)
        for (size_t i = 0; i < PE_COUNT(PLACES); i++)
            pe_propose(proposals, "encoding", "length=%llu&dim=%llu%s%s&seed=%d%s",
                       (number)seen->rows, (number)seen->columns, init, std, seed, PLACES[i]);
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
    propose_spread(seen, proposals, "", spread);
    propose_spread(seen, proposals, "&init=uniform", spread);
    propose_spread(seen, proposals, "&init=trunc_normal", spread / 0.8796);
    for (int seed = 0; seed < SEEDS; seed++)
        for (int normal = 0; normal < 2; normal++)
            pe_propose(proposals, "encoding",
                       "length=%llu&dim=%llu&init=%s&base_length=%llu&seed=%d",
                       (number)seen->rows, (number)seen->columns,
                       normal ? "xavier_normal" : "xavier_uniform", (number)seen->rows, seed);
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
    for (int seed = 0; seed < SEEDS; seed++) {
        pe_propose(proposals, "basis", "length=1&dim=%llu&base_length=%llu&seed=%d",
                   (number)seen->columns, (number)seen->rows, seed);
        for (size_t i = 0; i < PE_COUNT(LENGTHS); i++)
            pe_propose(proposals, "encoding", "length=%llu&dim=%llu&base_length=%u&seed=%d",
                       (number)seen->rows, (number)seen->columns, LENGTHS[i], seed);
    }
}

/* Row 0 is drawn, but the others take a differential equation: so row 0 is looked at first. */
void pe_recognise_floater(pe_observation *seen, pe_proposals *proposals)
{
    double spread, largest;
    if (!measure_spread(seen, &spread, &largest))
        return;
    for (int seed = 0; seed < SEEDS; seed++) {
        snprintf(proposals->probe, sizeof proposals->probe, "length=1&dim=%llu&seed=%d",
                 (number)seen->columns, seed);
        pe_propose(proposals, "encoding", "length=%llu&dim=%llu&seed=%d", (number)seen->rows,
                   (number)seen->columns, seed);
    }
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
                for (size_t mode = 0; mode < PE_COUNT(MODES); mode++)
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
    if (!measure_spread(seen, &spread, &largest) || largest > 10)
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
