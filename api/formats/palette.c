/* Colormaps: their stops, the palettes between these, and the entries of values. */
#include "formats/palette.h"

#include <math.h>
#include <stdint.h>

#define LOW    1 /* palette entries: the ends and the middle of a colormap */
#define MIDDLE 128
#define HIGH   255

const char *const api_colormap_names[] = {
    [API_DIVERGING] = "diverging", [API_VIRIDIS] = "viridis", [API_GRAY] = "gray", NULL};

/* ---- palettes ---- */

/* Colours at equal distances. diverging: two arms of constant hue in Oklab, 258 and 38 degrees,
 * of one lightness; no common colour blindness confuses them. viridis: every fifteenth entry of
 * the table by Nathaniel Smith and Stefan van der Walt (CC0). */
static const uint32_t DIVERGING_ANCHORS[] = {
    0x153c72, 0x1852a2, 0x296bc8, 0x4585e3, 0x65a0f7, 0x8cbafe, 0xb4d2ff, 0xd9e8ff, 0xfafafa,
    0xffdfd5, 0xffbfab, 0xf99d81, 0xe97d5b, 0xd35e39, 0xb64219, 0x932e06, 0x68240d};
static const uint32_t VIRIDIS_ANCHORS[] = {
    0x440154, 0x481769, 0x472a7a, 0x433d84, 0x3d4e8a, 0x355e8d, 0x2e6d8e, 0x297b8e, 0x23898e,
    0x1f978b, 0x21a585, 0x2eb37c, 0x46c06f, 0x65cb5e, 0x89d548, 0xb0dd2f, 0xd8e219, 0xfde725};
static const uint32_t GRAY_ANCHORS[] = {0x000000, 0xffffff};

static const struct {
    const uint32_t *stops;
    int count;
} COLORMAPS[] = {
    [API_DIVERGING] = {DIVERGING_ANCHORS, sizeof DIVERGING_ANCHORS / sizeof(uint32_t)},
    [API_VIRIDIS] = {VIRIDIS_ANCHORS, sizeof VIRIDIS_ANCHORS / sizeof(uint32_t)},
    [API_GRAY] = {GRAY_ANCHORS, sizeof GRAY_ANCHORS / sizeof(uint32_t)},
};

/* A channel of a stop; `shift` picks the channel. Beyond the ends it is extrapolated
 * linearly. */
static double read_channel(api_colormap colormap, int stop, int shift)
{
    const uint32_t *stops = COLORMAPS[colormap].stops;
    int last = COLORMAPS[colormap].count - 1;
    if (stop < 0)
        return 2 * read_channel(colormap, 0, shift) - read_channel(colormap, 1, shift);
    if (stop > last)
        return 2 * read_channel(colormap, last, shift) -
               read_channel(colormap, last - 1, shift);
    return stops[stop] >> shift & 0xff;
}

/* A channel of a palette entry, interpolated between four stops by a Catmull-Rom spline. */
static unsigned char channel_of_entry(api_colormap colormap, int entry, int shift)
{
    int intervals = COLORMAPS[colormap].count - 1;
    double position = (double)(entry - LOW) * intervals / (HIGH - LOW);
    int left = (int)position < intervals - 1 ? (int)position : intervals - 1;
    double t = position - left;
    double a = read_channel(colormap, left - 1, shift);
    double b = read_channel(colormap, left, shift);
    double c = read_channel(colormap, left + 1, shift);
    double d = read_channel(colormap, left + 2, shift);
    double value =
        b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
    return (unsigned char)fmax(0, fmin(255, floor(value + 0.5)));
}

void api_palette_fill(api_colormap colormap, api_colour ret_palette[API_PALETTE_SIZE])
{
    ret_palette[0] = (api_colour){.red = 0xff, .green = 0x00, .blue = 0xff};
    for (int entry = LOW; entry <= HIGH; entry++)
        ret_palette[entry] = (api_colour){.red = channel_of_entry(colormap, entry, 16),
                                          .green = channel_of_entry(colormap, entry, 8),
                                          .blue = channel_of_entry(colormap, entry, 0)};
}

/* ---- values ---- */

api_colour_range api_choose_colour_range(api_colormap colormap, double low, double high)
{
    api_colour_range range = {.colormap = colormap, .finite = low <= high};
    if (colormap == API_DIVERGING) {
        high = fmax(fabs(low), fabs(high));
        low = -high;
    }
    range.low = low;
    range.high = high;
    range.factor = fmax(fabs(low), fabs(high)) < 0x1p-500 ? 0x1p520 : 0x1p-16;
    return range;
}

/* Which of `steps` equal steps from 0 to `end` > 0 is nearest to a value up to `end`. */
static double nearest_step(double value, double end, int steps)
{
    return floor(value * steps / end + 0.5);
}

static unsigned char choose_entry(const api_colour_range *range, double value)
{
    if (!isfinite(value))
        return 0;
    double low = range->low * range->factor, high = range->high * range->factor;
    value *= range->factor;
    if (range->colormap == API_DIVERGING) {
        double step = high > 0 ? nearest_step(fabs(value), high, HIGH - MIDDLE) : 0;
        return (unsigned char)(value < 0 ? MIDDLE - step : MIDDLE + step);
    }
    if (high == low)
        return MIDDLE;
    return (unsigned char)(LOW + nearest_step(value - low, high - low, HIGH - LOW));
}

void api_palette_entries(const api_colour_range *range, const double *values, size_t count,
                         unsigned char *ret_entries)
{
    for (size_t i = 0; i < count; i++)
        ret_entries[i] = choose_entry(range, values[i]);
}
