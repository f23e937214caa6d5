/* Colours of pictures: the palette of a colormap, and the palette entry of a value.
 *
 * A palette has 256 entries. Entry 0 is for NaN and infinities. The others are the colormap,
 * from its low end at entry 1 to its high end at entry 255. The diverging colormap runs from -m
 * to m, where m is the largest finite magnitude, so that 0 gets the neutral entry 128. The
 * others run from the smallest finite value to the largest; where these are equal, every value
 * gets entry 128. */
#ifndef API_PALETTE_H
#define API_PALETTE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum api_colormap { API_DIVERGING, API_VIRIDIS, API_GRAY } api_colormap;

/* The names of the colormaps, in the order of the enum, and then NULL. */
extern const char *const api_colormap_names[];

#define API_PALETTE_SIZE 256

typedef struct api_colour {
    unsigned char red, green, blue;
} api_colour;

/* The colours of a colormap's palette; entry 0 is magenta, for viewers that ignore its
 * transparency. */
void api_palette_fill(api_colormap colormap, api_colour ret_palette[API_PALETTE_SIZE]);

/* The values that the ends of a colormap stand for. */
typedef struct api_colour_range {
    api_colormap colormap;
    bool finite;      /* there is a finite value; if not, the ends mean nothing */
    double low, high; /* the ends */
    double factor;    /* a power of two. Values and ends are multiplied by it, so that no
                       * difference of small ones loses digits and no product of large ones
                       * overflows. */
} api_colour_range;

/* The range for data whose finite values lie between `low` and `high`; low > high where there
 * is no finite value. */
api_colour_range api_choose_colour_range(api_colormap colormap, double low, double high);

/* The palette entries of `count` values, which lie in the range or are not finite. */
void api_palette_entries(const api_colour_range *range, const double *values, size_t count,
                         unsigned char *ret_entries);

#endif
