/* png: a matrix as a picture, one pixel or a square of `scale` for each element: rows run
 * downward, columns to the right, [0, 0] is at the top left. The only file that knows libpng.
 *
 * The picture has a palette of 256 entries. Entry 0 is for NaN and infinities: transparent, and
 * magenta to whom that means nothing. The others are the colormap from its low end at 1 to its
 * high end at 255: diverging maps -m to the one and m to the other, where m is the largest
 * finite magnitude, so that 0 is the neutral 128; the others map the smallest finite value to
 * the one and the largest to the other, 128 where these are equal. */
#include "../reply.h"
#include "../slice.h"
#include "../streams.h"

#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LEVEL       1     /* of zlib: 3 takes twice the time for 1 to 15 % less */
#define CHUNK_BYTES 65536 /* compressed bytes written at a time */
#define SCALE_MAX   16
#define PIECE       1024 /* elements read at a time */

/* ---- options ---- */

static const char *const COLORMAPS[] = {"diverging", "viridis", "gray", NULL};
enum { DIVERGING, VIRIDIS, GRAY };

static const pe_parameter OPTIONS[] = {
    API_SLICE_ROW,
    {.name = "colormap",
     .type = PE_CHOICE,
     .choices = COLORMAPS,
     .default_text = "diverging",
     .help = "colours: diverging is blue below and red above 0, viridis and gray run from the "
             "smallest to the largest value"},
    {.name = "scale",
     .type = PE_INTEGER,
     .minimum = 1,
     .maximum = SCALE_MAX,
     .default_text = "1",
     .unit = "pixels",
     .help = "side of the square that is an element"},
};

static void check(const api_selection *selection, pe_error *error)
{
    api_slice_check(selection, true, error);
}

static uint64_t scale_of(const api_selection *selection)
{
    return (uint64_t)api_option(selection, "scale").integer;
}

static uint64_t work(const api_selection *selection)
{
    api_slice slice = api_slice_of(selection);
    return slice.rows * slice.columns * scale_of(selection) * scale_of(selection);
}

/* ---- palettes ---- */

#define LOW    1 /* palette entries */
#define MIDDLE 128
#define HIGH   255

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
    const uint32_t *anchors;
    int count;
} PALETTES[] = {
    [DIVERGING] = {DIVERGING_ANCHORS, sizeof DIVERGING_ANCHORS / sizeof(uint32_t)},
    [VIRIDIS] = {VIRIDIS_ANCHORS, sizeof VIRIDIS_ANCHORS / sizeof(uint32_t)},
    [GRAY] = {GRAY_ANCHORS, sizeof GRAY_ANCHORS / sizeof(uint32_t)},
};

/* A channel of an anchor; beyond the ends as if the last step went on. */
static double channel_of(int64_t colormap, int anchor, int shift)
{
    const uint32_t *anchors = PALETTES[colormap].anchors;
    int last = PALETTES[colormap].count - 1;
    if (anchor < 0)
        return 2 * channel_of(colormap, 0, shift) - channel_of(colormap, 1, shift);
    if (anchor > last)
        return 2 * channel_of(colormap, last, shift) - channel_of(colormap, last - 1, shift);
    return anchors[anchor] >> shift & 0xff;
}

/* The channel of a palette entry between four anchors (Catmull and Rom's spline). */
static png_byte blend_channel(int64_t colormap, int entry, int shift)
{
    double at = (double)(entry - LOW) * (PALETTES[colormap].count - 1) / (HIGH - LOW);
    int left = (int)at < PALETTES[colormap].count - 2 ? (int)at : PALETTES[colormap].count - 2;
    double t = at - left, a = channel_of(colormap, left - 1, shift),
           b = channel_of(colormap, left, shift), c = channel_of(colormap, left + 1, shift),
           d = channel_of(colormap, left + 2, shift);
    double value =
        b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
    return (png_byte)fmax(0, fmin(255, floor(value + 0.5)));
}

static void make_palette(int64_t colormap, png_color palette[HIGH + 1])
{
    palette[0] = (png_color){0xff, 0x00, 0xff};
    for (int entry = LOW; entry <= HIGH; entry++)
        palette[entry] =
            (png_color){blend_channel(colormap, entry, 16), blend_channel(colormap, entry, 8),
                        blend_channel(colormap, entry, 0)};
}

/* ---- elements ---- */

/* Where a matrix comes from, and what it is drawn with. */
typedef struct matrix {
    api_slice slice;
    pe_dtype dtype;
    const unsigned char *data; /* the tensor in memory, */
    pe_stream *stream;         /* or this where it is NULL */
    double values[PIECE];
    unsigned char bytes[PIECE * sizeof(double)];
    int64_t colormap;
    uint64_t scale;
    bool finite; /* there is a finite value, and then these are the colormap's ends */
    double low, high;
    double factor; /* a power of two that brings them to where doubles have all their digits,
                    * and room for a product */
} matrix;

/* Read `count` elements from one of the slice on into `values`. */
static void read_values(matrix *of, uint64_t element, size_t count)
{
    size_t size = pe_dtype_size(of->dtype);
    uint64_t offset = (of->slice.first + element) * size;
    const unsigned char *from = of->data ? of->data + offset : of->bytes;
    if (!of->data)
        pe_stream_read(of->stream, offset, of->bytes, count * size);
    pe_read_row(of->values, of->dtype, from, count);
}

static size_t piece_of(uint64_t rest)
{
    return rest < PIECE ? (size_t)rest : PIECE;
}

/* Find the values that the ends of the colormap stand for. */
static void find_range(matrix *of)
{
    uint64_t elements = of->slice.rows * of->slice.columns;
    double low = INFINITY, high = -INFINITY;
    for (uint64_t first = 0; first < elements; first += PIECE) {
        size_t count = piece_of(elements - first);
        read_values(of, first, count);
        for (size_t i = 0; i < count; i++) {
            double value = of->values[i];
            low = isfinite(value) && value < low ? value : low;
            high = isfinite(value) && value > high ? value : high;
        }
    }
    of->finite = low <= high;
    if (of->colormap == DIVERGING) {
        high = fmax(fabs(low), fabs(high));
        low = -high;
    }
    of->low = low;
    of->high = high;
    of->factor = fmax(fabs(low), fabs(high)) < 0x1p-500 ? 0x1p520 : 0x1p-16;
}

/* The nearest of `steps` equal steps from 0 to `end` (> 0) that a value up to `end` is at. */
static double step_of(double value, double end, int steps)
{
    return floor(value * steps / end + 0.5);
}

static png_byte entry_of(const matrix *of, double value)
{
    if (!isfinite(value))
        return 0;
    double low = of->low * of->factor, high = of->high * of->factor;
    value *= of->factor;
    if (of->colormap == DIVERGING) {
        double step = high > 0 ? step_of(fabs(value), high, HIGH - MIDDLE) : 0;
        return (png_byte)(value < 0 ? MIDDLE - step : MIDDLE + step);
    }
    return high > low ? (png_byte)(LOW + step_of(value - low, high - low, HIGH - LOW)) : MIDDLE;
}

/* Write a row's pixels to dst. */
static void draw_row(matrix *of, uint64_t row, png_byte *dst)
{
    for (uint64_t column = 0; column < of->slice.columns; column += PIECE) {
        size_t count = piece_of(of->slice.columns - column);
        read_values(of, row * of->slice.columns + column, count);
        for (size_t i = 0; i < count; i++, dst += of->scale)
            memset(dst, entry_of(of, of->values[i]), of->scale);
    }
}

/* ---- libpng ---- */

typedef struct drawing {
    jmp_buf failed; /* where libpng's errors lead: memory is all that may be wanting */
    png_structp png;
    png_infop info;
    png_bytep line;
    api_text out;
} drawing;

/* libpng's own memory, by way of ours. */
static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    (void)png;
    return malloc(size);
}

static void release(png_structp png, png_voidp block)
{
    (void)png;
    free(block);
}

static void on_error(png_structp png, png_const_charp message)
{
    (void)message;
    longjmp(((drawing *)png_get_error_ptr(png))->failed, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void on_data(png_structp png, png_bytep data, png_size_t size)
{
    drawing *to = png_get_io_ptr(png);
    api_text_put(&to->out, (const char *)data, size);
    if (to->out.failed)
        png_error(png, "memory");
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* What the picture shows: the values at the ends of the colormap, and its name. */
static void set_texts(drawing *to, const matrix *of)
{
    char range[2 * PE_PRINT_MAX + 2] = "none", colormap[16], software[] = "posenc";
    char keys[][16] = {"Software", "Colormap", "Range"};
    char *const values[] = {software, colormap, range};
    png_text texts[3];
    snprintf(colormap, sizeof colormap, "%s", COLORMAPS[of->colormap]);
    if (of->finite) {
        size_t used = pe_print_number(range, of->low);
        range[used++] = ',';
        range[used++] = ' ';
        pe_print_number(range + used, of->high);
    }
    for (size_t i = 0; i < 3; i++)
        texts[i] = (png_text){
            .compression = PNG_TEXT_COMPRESSION_NONE, .key = keys[i], .text = values[i]};
    png_set_text(to->png, to->info, texts, 3);
}

static void set_head(drawing *to, const matrix *of)
{
    png_color palette[HIGH + 1];
    png_byte transparent = 0; /* the opacity of entry 0 */
    make_palette(of->colormap, palette);
    png_set_write_fn(to->png, to, on_data, on_flush);
    png_set_user_limits(to->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(to->png, LEVEL);
    png_set_compression_buffer_size(to->png, CHUNK_BYTES);
    png_set_filter(to->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_IHDR(to->png, to->info, (png_uint_32)(of->slice.columns * of->scale),
                 (png_uint_32)(of->slice.rows * of->scale), 8, PNG_COLOR_TYPE_PALETTE,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    png_set_PLTE(to->png, to->info, palette, HIGH + 1);
    png_set_tRNS(to->png, to->info, &transparent, 1, NULL);
    set_texts(to, of);
}

/* Draw with a `drawing` that is prepared; libpng leaves by longjmp where memory is wanting. */
static void draw_rows(drawing *to, matrix *of)
{
    set_head(to, of);
    png_write_info(to->png, to->info);
    for (uint64_t row = 0; row < of->slice.rows; row++) {
        draw_row(of, row, to->line);
        for (uint64_t i = 0; i < of->scale; i++)
            png_write_row(to->png, to->line);
    }
    png_write_end(to->png, NULL);
}

/* The whole file into `to->out`. False without memory. No variable of this function changes
 * after setjmp. */
static bool draw(drawing *to, matrix *of)
{
    if (setjmp(to->failed) != 0)
        return false;
    to->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, to, on_error, on_warning, NULL,
                                        allocate, release);
    if (!to->png)
        return false;
    to->info = png_create_info_struct(to->png);
    if (!to->info)
        return false;
    draw_rows(to, of);
    return true;
}

/* ---- bodies ---- */

static api_body *draw_body(const api_selection *selection, matrix *of, size_t *ret_bytes)
{
    const pe_tensor *tensor = pe_request_tensor(selection->request, selection->first);
    drawing to = {.png = NULL};
    of->slice = api_slice_of(selection);
    of->dtype = tensor->dtype;
    of->colormap = api_option(selection, "colormap").integer;
    of->scale = scale_of(selection);
    if (of->stream)
        pe_stream_end_at(of->stream, (of->slice.first + of->slice.rows * of->slice.columns) *
                                         pe_dtype_size(of->dtype));
    find_range(of);
    to.line = malloc(of->slice.columns * of->scale);
    api_text_begin(&to.out, 4096 + work(selection) / 16);
    if (!to.line || to.out.failed || !draw(&to, of))
        to.out.failed = true;
    png_destroy_write_struct(&to.png, &to.info);
    free(to.line);
    return api_body_take_text(&to.out, ret_bytes);
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    matrix of = {.data = pe_table_data(table, selection->first)};
    return draw_body(selection, &of, ret_bytes);
}

/* The tensor is computed twice, for the range and for the pixels. */
static api_body *stream(const api_selection *selection)
{
    matrix of = {.data = NULL};
    size_t bytes;
    if (!api_open_streams(selection, &selection->first, PE_STREAM_FAST, &of.stream))
        return NULL;
    api_body *body = draw_body(selection, &of, &bytes);
    pe_stream_free(of.stream);
    return body;
}

static const char *libpng_version(void)
{
    return png_get_libpng_ver(NULL);
}

static const char *(*const VERSIONS[])(void) = {libpng_version, zlibVersion, NULL};

const api_format api_format_png = {
    .name = "png",
    .media_type = "image/png",
    .extension = "png",
    .help = "a matrix as a picture, rows downward; NaN and infinities are transparent; of a "
            "tensor with more axes slice picks one",
    .versions = VERSIONS,
    .revision = 1,
    .single = true,
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .check = check,
    .measure = API_PIXELS,
    .work = work,
    .write = write_body,
    .stream = stream,
};
