/* Proposing Fourier features of the points of a grid. */
#include "numerics/angle.h"
#include "recognise/lattice.h"
#include "recognise/recognisers.h"
#include "recognise/wave_fit.h"

#include <math.h>
#include <stdio.h>

#define TEXT         48
#define ROWS         4    /* that pairs are looked at in */
#define NEAR_NYQUIST 1e-5 /* relative: half a whole number of points is that */

typedef unsigned long long number;

/* Whether two columns are a sine and a cosine of the same angles, in the rows between the first
 * and the last one that have been read. */
static bool is_pair(const pe_observation *seen, uint64_t sine, uint64_t cosine)
{
    size_t far = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t row = i * (seen->sampled - 1) / (ROWS - 1);
        const double x = pe_observation_entry(seen, row, sine);
        const double y = pe_observation_entry(seen, row, cosine);
        far += !(fabs(x * x + y * y - 1) <= 0.05);
    }
    return 4 * far <= ROWS;
}

/* Whether the columns after some coordinates are pairs at one of the distances that layouts
 * have. */
static bool has_pairs(const pe_observation *seen, uint64_t first, uint64_t count, uint64_t axes)
{
    const uint64_t distances[] = {count / 2, axes};
    for (size_t i = 0; i < PE_COUNT(distances); i++) {
        const uint64_t distance = distances[i];
        uint64_t far = 0;
        for (uint64_t pair = 0; pair < count / 2 && 8 * far <= count / 2; pair++) {
            const uint64_t sine = first + pair / distance * 2 * distance + pair % distance;
            far += !is_pair(seen, sine, sine + distance);
        }
        if (8 * far <= count / 2)
            return true;
    }
    return false;
}

/* Whether the angles of the first pairs, of sines and cosines side by side, fall from more than
 * a little: frequencies of features rise. */
static bool angles_fall(const pe_observation *seen)
{
    double cosines[3];
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t column = seen->columns / 16 * i * 2;
        cosines[i] =
            pe_observation_entry(seen, 0, column) * pe_observation_entry(seen, 1, column) +
            pe_observation_entry(seen, 0, column + 1) *
                pe_observation_entry(seen, 1, column + 1);
    }
    return seen->columns >= 16 && cosines[0] < 0.955 && cosines[0] < cosines[1] &&
           cosines[1] < cosines[2];
}

/* How the columns of features are laid out. */
typedef struct feature_layout {
    const char *text;
    bool by_band, split; /* bands before axes; sines and cosines of a band together */
} feature_layout;

static const feature_layout LAYOUTS[] = {{"", false, false},
                                         {"&layout=by_frequency", true, true},
                                         {"&layout=concat_by_frequency", true, false}};

/* The angle of a band of the last axis from the first point to the next one. */
static double measure_angle(const pe_observation *seen, const feature_layout *layout,
                            uint64_t start, uint64_t axes, uint64_t bands, uint64_t band)
{
    const uint64_t axis = axes - 1;
    const uint64_t place =
        layout->by_band ? band * axes * (layout->split ? 2 : 1) + axis : axis * bands + band;
    const uint64_t sine = start + place;
    const uint64_t cosine = sine + (layout->split ? axes : axes * bands);
    const double s = pe_observation_entry(seen, 0, sine),
                 t = pe_observation_entry(seen, 1, sine);
    const double c = pe_observation_entry(seen, 0, cosine),
                 d = pe_observation_entry(seen, 1, cosine);
    return pe_compute_angle(t * c - s * d, d * c + t * s);
}

/* The last of bands at equal distances from 1 on, as the line through their angles tells: half
 * a whole number that is near, if there is one, and the decimal; 0 if there is none. The first
 * two turn by less than half a turn, the others by as much more each. */
static void measure_frequency(const pe_observation *seen, const feature_layout *layout,
                              uint64_t start, uint64_t axes, uint64_t bands,
                              double ret_numbers[2])
{
    const double last = (double)bands - 1;
    double angle = 0, before = 0, sum = 0, moment = 0; /* about the middle band */
    for (uint64_t band = 0; band < bands; band++) {
        const double found = measure_angle(seen, layout, start, axes, bands, band);
        const double expected = band < 2 ? found : 2 * angle - before;
        const double off = found - expected;
        before = angle;
        angle = expected + off - PE_TURN * rint(off / PE_TURN);
        if (fabs(angle - expected) > 0.1)
            return;
        sum += angle;
        moment += angle * ((double)band - last / 2);
    }
    const double middle = sum / (last + 1), half = 6 * moment / ((last + 1) * (last + 2));
    const double first = middle - half, error = 2 * pe_observation_unit(&seen->view) / first;
    if (bands < 3 || first <= 0 || half <= 0)
        return;
    const double ratio = (middle + half) / first, nyquist = rint(2 * ratio) / 2;
    ret_numbers[0] = fabs(nyquist - ratio) <= fmax(error, NEAR_NYQUIST) * ratio ? nyquist : 0;
    ret_numbers[1] = pe_find_decimal(ratio, fmin(error, 0.05) + 1e-6);
}

/* Propose the published frequencies and layouts for points of a grid. */
static void propose_features(const pe_observation *seen, pe_proposals *proposals,
                             const char *sizes, uint64_t axes)
{
    static const char *const GRIDS[] = {"", "&grid=centers", "&grid=unit", "&grid=index"};
    static const char *const PRESETS[] = {"nerfstudio", "nerf", "perceiver", "timm_pixel",
                                          "timm_fourier_embed"};
    static const char *const ANGLES[] = {"", "&angle=half_turns", "&angle=radians"};
    static const char *const INPUTS[] = {"", "&include_input=first", "&include_input=last"};
    const bool input = seen->columns % (2 * axes) != 0;
    const number bands = (seen->columns - (input ? axes : 0)) / (2 * axes);
    char points[160];
    if ((input && seen->columns % (2 * axes) != axes) || bands == 0 ||
        (!has_pairs(seen, 0, 2 * axes * bands, axes) &&
         !(input && has_pairs(seen, axes, 2 * axes * bands, axes))))
        return;
    snprintf(points, sizeof points, "sizes=%s&bands=%llu", sizes, bands);
    for (size_t grid = 0; grid < PE_COUNT(GRIDS); grid++)
        for (size_t i = 0; i < PE_COUNT(PRESETS); i++)
            pe_propose_request(proposals, "encoding", "preset=%s&%s%s", PRESETS[i], points,
                               GRIDS[grid]);
    for (size_t i = 0; i < 9; i++)
        for (size_t in = input ? 1 : 0; in < (input ? 3 : 1); in++) {
            for (size_t grid = 0; grid < PE_COUNT(GRIDS); grid++)
                pe_propose_request(proposals, "encoding", "%s%s%s%s%s", points, GRIDS[grid],
                                   ANGLES[i % 3], LAYOUTS[i / 3].text, INPUTS[in]);
            double most[2] = {0, 0};
            measure_frequency(seen, &LAYOUTS[i / 3], in == 1 ? axes : 0, axes, bands, most);
            for (size_t k = 0; k < 2 * PE_COUNT(GRIDS); k++)
                if (most[k % 2] > 1)
                    pe_propose_request(proposals, "encoding",
                                       "%s%s&spacing=linear&max_frequency=%.17g%s%s%s", points,
                                       GRIDS[k / 2], most[k % 2], ANGLES[i % 3],
                                       LAYOUTS[i / 3].text, INPUTS[in]);
        }
}

void pe_recognise_fourier(pe_observation *seen, pe_proposals *proposals)
{
    pe_grid_view grid = {.seen = seen};
    char sizes[3 * TEXT];
    if (seen->view.rank != 2 || seen->sampled < 2)
        return;
    proposals->angle = 1000;
    if (seen->sampled >= 4 && pe_grid_find_width(&grid)) {
        const uint64_t rows = pe_grid_frame_rows(&grid);
        snprintf(sizes, sizeof sizes, "%llu,%llu", (number)grid.height, (number)grid.width);
        propose_features(seen, proposals, sizes, 2);
        snprintf(sizes, sizeof sizes, "%llu,%llu,%llu", (number)(grid.height / rows),
                 (number)rows, (number)grid.width);
        if (rows < grid.height)
            propose_features(seen, proposals, sizes, 3);
        return;
    }
    snprintf(sizes, sizeof sizes, "%llu", (number)seen->rows);
    if (!angles_fall(seen))
        propose_features(seen, proposals, sizes, 1);
}
