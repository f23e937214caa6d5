/* png: a matrix as a picture, one pixel or a square of `scale` for each element: rows run
 * downward, columns to the right, [0, 0] is at the top left. The colours are those of
 * formats/palette.h; the entry of NaN and infinities is transparent. This is the only file that
 * uses libpng. */
#include "bytes/body.h"
#include "formats/options.h"
#include "formats/palette.h"
#include "formats/slice.h"
#include "formats/streams.h"

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

enum { SLICE, COLORMAP, SCALE };
static const pe_parameter OPTIONS[] = {
    [SLICE] = API_SLICE_ROW,
    [COLORMAP] =
        {.name = "colormap",
         .type = PE_CHOICE,
         .choices = api_colormap_names,
         .default_text = "diverging",
         .help =
             "colours: diverging is blue below and red above 0, viridis and gray run from the "
             "smallest to the largest value"},
    [SCALE] = {.name = "scale",
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

static uint64_t read_scale(const api_selection *selection)
{
    return (uint64_t)api_option_value(selection, &OPTIONS[SCALE]).integer;
}

static uint64_t work(const api_selection *selection)
{
    api_slice slice = api_slice_select(selection);
    return slice.rows * slice.columns * read_scale(selection) * read_scale(selection);
}

/* ---- elements ---- */

/* The matrix that is drawn, and a piece of it that has been read. */
typedef struct drawn_matrix {
    api_slice slice;
    pe_dtype dtype;
    const unsigned char *data; /* the tensor in memory; or NULL, and then it is read from */
    pe_stream *stream;
    api_colour_range range;
    uint64_t scale;
    double values[PIECE];
    unsigned char bytes[PIECE * sizeof(double)]; /* what the stream gave */
} drawn_matrix;

/* Read `count` elements of the slice, from `element` on, into `values`. */
static void read_values(drawn_matrix *matrix, uint64_t element, size_t count)
{
    size_t size = pe_dtype_size(matrix->dtype);
    uint64_t offset = (matrix->slice.first + element) * size;
    const unsigned char *bytes = matrix->bytes;
    if (matrix->data)
        bytes = matrix->data + offset;
    else
        (void)pe_stream_read_fully(matrix->stream, offset, matrix->bytes, count * size);
    pe_read_row(matrix->values, matrix->dtype, bytes, count);
}

static size_t choose_piece(uint64_t rest)
{
    return rest < PIECE ? (size_t)rest : PIECE;
}

/* Find the range of the values, which all have to be read for it. */
static void find_range(drawn_matrix *matrix, api_colormap colormap)
{
    uint64_t elements = matrix->slice.rows * matrix->slice.columns;
    double low = INFINITY, high = -INFINITY;
    for (uint64_t first = 0; first < elements; first += PIECE) {
        size_t count = choose_piece(elements - first);
        read_values(matrix, first, count);
        for (size_t i = 0; i < count; i++) {
            double value = matrix->values[i];
            low = isfinite(value) && value < low ? value : low;
            high = isfinite(value) && value > high ? value : high;
        }
    }
    matrix->range = api_choose_colour_range(colormap, low, high);
}

/* Write the pixels of a row of elements to dst. */
static void draw_row(drawn_matrix *matrix, uint64_t row, png_byte *dst)
{
    unsigned char entries[PIECE];
    for (uint64_t column = 0; column < matrix->slice.columns; column += PIECE) {
        size_t count = choose_piece(matrix->slice.columns - column);
        read_values(matrix, row * matrix->slice.columns + column, count);
        api_palette_entries(&matrix->range, matrix->values, count, entries);
        for (size_t i = 0; i < count; i++, dst += matrix->scale)
            memset(dst, entries[i], matrix->scale);
    }
}

/* ---- libpng ---- */

typedef struct png_encoder {
    jmp_buf failed; /* libpng's errors jump here; only missing memory can cause one */
    png_structp png;
    png_infop info;
    png_bytep line; /* the pixels of one row */
    api_text out;
} png_encoder;

/* libpng takes its memory from malloc by these, so that tests can make it fail. */
static png_voidp allocate_for_libpng(png_structp png, png_alloc_size_t size)
{
    (void)png;
    return malloc(size);
}

static void free_for_libpng(png_structp png, png_voidp block)
{
    (void)png;
    free(block);
}

static void on_error(png_structp png, png_const_charp message)
{
    (void)message;
    longjmp(((png_encoder *)png_get_error_ptr(png))->failed, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void on_data(png_structp png, png_bytep data, png_size_t size)
{
    png_encoder *encoder = png_get_io_ptr(png);
    api_text_put(&encoder->out, (const char *)data, size);
    if (encoder->out.failed)
        png_error(png, "memory");
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* Add text chunks: the colormap and the values at its ends, so that a picture can be read
 * back. */
static void set_texts(png_encoder *encoder, const drawn_matrix *matrix)
{
    char range[2 * PE_PRINT_MAX + 2] = "none", colormap[16], software[] = "posenc";
    char keys[][16] = {"Software", "Colormap", "Range"};
    char *const values[] = {software, colormap, range};
    png_text texts[3];
    snprintf(colormap, sizeof colormap, "%s", api_colormap_names[matrix->range.colormap]);
    if (matrix->range.finite) {
        size_t used = pe_print_number(range, matrix->range.low);
        range[used++] = ',';
        range[used++] = ' ';
        pe_print_number(range + used, matrix->range.high);
    }
    for (size_t i = 0; i < 3; i++)
        texts[i] = (png_text){
            .compression = PNG_TEXT_COMPRESSION_NONE, .key = keys[i], .text = values[i]};
    png_set_text(encoder->png, encoder->info, texts, 3);
}

static void set_head(png_encoder *encoder, const drawn_matrix *matrix)
{
    api_colour colours[API_PALETTE_SIZE];
    png_color palette[API_PALETTE_SIZE];
    png_byte transparent = 0; /* the opacity of entry 0 */
    api_palette_fill(matrix->range.colormap, colours);
    for (size_t i = 0; i < API_PALETTE_SIZE; i++)
        palette[i] = (png_color){colours[i].red, colours[i].green, colours[i].blue};
    png_set_write_fn(encoder->png, encoder, on_data, on_flush);
    png_set_user_limits(encoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(encoder->png, LEVEL);
    png_set_compression_buffer_size(encoder->png, CHUNK_BYTES);
    png_set_filter(encoder->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_IHDR(encoder->png, encoder->info,
                 (png_uint_32)(matrix->slice.columns * matrix->scale),
                 (png_uint_32)(matrix->slice.rows * matrix->scale), 8, PNG_COLOR_TYPE_PALETTE,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    png_set_PLTE(encoder->png, encoder->info, palette, API_PALETTE_SIZE);
    png_set_tRNS(encoder->png, encoder->info, &transparent, 1, NULL);
    set_texts(encoder, matrix);
}

/* Write the file with an encoder that is prepared. Without memory libpng leaves this function
 * by longjmp. */
static void draw_rows(png_encoder *encoder, drawn_matrix *matrix)
{
    set_head(encoder, matrix);
    png_write_info(encoder->png, encoder->info);
    for (uint64_t row = 0; row < matrix->slice.rows; row++) {
        draw_row(matrix, row, encoder->line);
        for (uint64_t i = 0; i < matrix->scale; i++)
            png_write_row(encoder->png, encoder->line);
    }
    png_write_end(encoder->png, NULL);
}

/* Write the file to the encoder's text. False without memory. No variable of this function may
 * change after setjmp: its value would be indeterminate after longjmp. */
static bool draw_picture(png_encoder *encoder, drawn_matrix *matrix)
{
    if (setjmp(encoder->failed) != 0)
        return false;
    encoder->png =
        png_create_write_struct_2(PNG_LIBPNG_VER_STRING, encoder, on_error, on_warning, NULL,
                                  allocate_for_libpng, free_for_libpng);
    if (!encoder->png)
        return false;
    encoder->info = png_create_info_struct(encoder->png);
    if (!encoder->info)
        return false;
    draw_rows(encoder, matrix);
    return true;
}

/* ---- bodies ---- */

static api_body *draw_body(const api_selection *selection, drawn_matrix *matrix,
                           size_t *ret_bytes)
{
    const pe_tensor *tensor = pe_request_tensor(selection->request, selection->first);
    png_encoder encoder = {.png = NULL};
    matrix->slice = api_slice_select(selection);
    matrix->dtype = tensor->dtype;
    matrix->scale = read_scale(selection);
    if (matrix->stream)
        pe_stream_end_at(matrix->stream,
                         (matrix->slice.first + matrix->slice.rows * matrix->slice.columns) *
                             pe_dtype_size(matrix->dtype));
    find_range(matrix, (api_colormap)api_option_value(selection, &OPTIONS[COLORMAP]).integer);
    encoder.line = malloc(matrix->slice.columns * matrix->scale);
    api_text_begin(&encoder.out, selection->runner ? selection->runner->pool : NULL,
                   4096 + work(selection) / 16);
    if (!encoder.line || encoder.out.failed || !draw_picture(&encoder, matrix))
        encoder.out.failed = true;
    png_destroy_write_struct(&encoder.png, &encoder.info);
    free(encoder.line);
    return api_body_take_text(&encoder.out, ret_bytes);
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    drawn_matrix matrix = {.data = pe_table_data(table, selection->first)};
    return draw_body(selection, &matrix, ret_bytes);
}

/* The tensor is computed twice: for the range and for the pixels. */
static api_body *stream(const api_selection *selection, pe_error *reterr)
{
    drawn_matrix matrix = {.data = NULL};
    size_t bytes;
    if (!api_open_streams(selection, &selection->first, PE_STREAM_FAST, &matrix.stream, reterr))
        return NULL;
    api_body *body = draw_body(selection, &matrix, &bytes);
    pe_stream_free(matrix.stream);
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
