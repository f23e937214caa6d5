/* Proposing sinusoidal encodings of grids and of volumes. Every channel of such a table depends
 * on one axis alone, which few other tables do. */
#include "recognise/lattice.h"
#include "recognise/recognisers.h"
#include "waves/presets.h"

#include <math.h>
#include <stdio.h>

#define ZERO_ROWS_MAX 16 /* before the cells */
#define EXTENT_MAX    65536
#define TEXT          64
#define MASK_TEXT     256
#define NEARLY        1e-3 /* relative: what a measured step may be off by */

typedef unsigned long long number;

/* ---- sinusoidal_2d ---- */

/* What the waves along an axis say. */
typedef struct axis_line {
    uint64_t cells; /* that are valid */
    bool has_law;
    pe_wave_law law;
} axis_line;

/* The size of a grid, and the axes of its lines. */
typedef struct grid_size {
    uint64_t height, width, dim;
} grid_size;

enum { HEIGHT, WIDTH }; /* among the axes */

#define JUMP 0.02 /* more than slow channels change from one cell to the next */

/* Whether the other axis changes at a cell, whose channels are those that are equal in all
 * cells before it: its positions are 0 in masked cells. Slow cosines of 16 bits are equal in
 * the first two cells as well, but not up to where they fall fast. */
static bool is_masked(const pe_observation *line, uint64_t cell)
{
    for (uint64_t c = 0; c < line->columns; c++)
        if (pe_observation_is_same(line, pe_observation_entry(line, 0, c),
                                   pe_observation_entry(line, 1, c)) &&
            pe_observation_is_same(line, pe_observation_entry(line, 0, c),
                                   pe_observation_entry(line, cell - 1, c)) &&
            fabs(pe_observation_entry(line, cell, c) -
                 pe_observation_entry(line, cell - 1, c)) > JUMP + 8 * line->view.grain)
            return true;
    return false;
}

/* End a line before the first masked cell. Returns the cells that it has then. */
static uint64_t trim_line(pe_observation *line)
{
    uint64_t cell = 2;
    while (cell < line->sampled && !is_masked(line, cell))
        cell++;
    if (cell < line->sampled)
        line->sampled = (size_t)(line->rows = line->view.shape[0] = cell);
    return line->rows;
}

/* Where the sines of an axis are that has the first channels, or the others. */
static pe_columns select_sines(uint64_t dim, size_t arrangement, bool first)
{
    const uint64_t half = dim / 2, quarter = dim / 4;
    if (arrangement == 2) /* by function */
        return (pe_columns){first ? 0 : quarter, 1, quarter};
    return (pe_columns){first ? 0 : half, arrangement == 0 ? 2 : 1, quarter};
}

/* Write the valid cells of a grid, of which the first lines have `width` each. */
static void write_mask(const grid_size *grid, uint64_t height, uint64_t width,
                       char dst[MASK_TEXT])
{
    const uint64_t beside = grid->width - width, below = (grid->height - height) * grid->width;
    size_t used = 0;
    dst[0] = '\0';
    if (beside == 0 && below > 0)
        snprintf(dst, MASK_TEXT, "&mask=%llu,%llu", (number)height * width, (number)below);
    for (uint64_t y = 0; beside > 0 && y < height && used < MASK_TEXT; y++)
        used += (size_t)snprintf(dst + used, MASK_TEXT - used, "%s%llu,%llu",
                                 y == 0 ? "&mask=" : ",", (number)width,
                                 (number)beside + (y + 1 == height ? below : 0));
}

/* Propose the positions that the laws tell, as far as they agree: `rest` says all else. */
static void propose_positions(const axis_line *x, const axis_line *y, const char *rest,
                              pe_proposals *proposals)
{
    const axis_line *own = x->has_law ? x : y, *other = y->has_law ? y : x;
    const double cells = (double)own->cells, others = (double)other->cells;
    const double step = own->law.first, others_step = other->law.first;
    const double whole = rint(2 * own->law.offset) / 2 + 0.0, extent = step * cells;
    const bool is_near = fabs(whole - own->law.offset) < 0.05 && whole >= 0 && whole <= 1;
    const double nearly = fmax(NEARLY, fmax(own->law.first_error, other->law.first_error));
    char first[TEXT], text[TEXT];
    pe_propose_number(first, sizeof first, "first_position", whole, 0, "0");
    if (is_near && fabs(step - 1) < nearly && fabs(others_step - 1) < nearly)
        pe_propose_request(proposals, "encoding", "%s%s", rest, first);
    if (is_near && fabs(extent - others_step * others) < nearly * extent) {
        pe_propose_number(text, sizeof text, "turns", step * (cells + 1e-6) / PE_TURN, nearly,
                          "1");
        pe_propose_request(proposals, "encoding", "%s%s&normalize=cells%s", rest, first, text);
        for (int scale = 1; scale <= 4; scale *= 2)
            if (fabs(extent * scale - rint(extent * scale)) < nearly * extent)
                pe_propose_request(proposals, "encoding",
                                   "%s%s&base_size=%.0f&interpolation_scale=%d", rest, first,
                                   rint(extent * scale), scale);
    }
    if (fabs(step - others_step) >= nearly * step)
        return;
    pe_propose_number(text, sizeof text, "interpolation_scale", 1 / step, nearly, "1");
    if (is_near)
        pe_propose_request(proposals, "encoding", "%s%s%s", rest, first, text);
    const double table = rint(2 * own->law.offset + cells); /* of which it is the centre */
    if (!is_near && table > cells && table < EXTENT_MAX) {
        pe_propose_request(proposals, "encoding", "%s&table_size=%.0f%s", rest, table, text);
        pe_propose_request(proposals, "encoding", "%s&table_size=%.0f&base_size=%.0f", rest,
                           table, fmax(1, rint(step * table)));
    }
}

/* Write the frequencies of both axes, which are the same unless what is measured differs. */
static void write_frequencies(const grid_size *grid, const axis_line *x, const axis_line *y,
                              pe_wave_texts *ret_texts)
{
    const double quarter = (double)grid->dim / 4;
    pe_wave_law law = x->has_law ? x->law : y->law;
    const bool differ = x->has_law && y->has_law && !pe_wave_law_join(&x->law, &y->law, &law);
    pe_wave_law_frequencies(differ ? &x->law : &law, differ ? &y->law : NULL, "base", quarter,
                            quarter - 1, ret_texts);
}

static const char *const ARRANGEMENTS[] = {"", "&layout=concat",
                                           "&layout=concat&grouping=function"};
static const char *const ORDERS[] = {"", "&axis_order=height_first"};

/* Propose what the waves of both axes say. False: they say nothing. */
static bool propose_measured(const grid_size *grid, pe_grid_lines *lines, const char *cells,
                             pe_proposals *proposals)
{
    axis_line x = {.cells = trim_line(&lines->items[WIDTH])};
    axis_line y = {.cells = trim_line(&lines->items[HEIGHT])};
    pe_wave_texts frequencies;
    char mask[MASK_TEXT], rest[2 * MASK_TEXT];
    bool measured = false;
    write_mask(grid, y.cells, x.cells, mask);
    for (size_t i = 0; i < PE_COUNT(ARRANGEMENTS) * PE_COUNT(ORDERS); i++) {
        x.has_law = pe_grid_law_read(lines, WIDTH, select_sines(grid->dim, i / 2, i % 2 == 0),
                                     true, &x.law);
        y.has_law = pe_grid_law_read(lines, HEIGHT, select_sines(grid->dim, i / 2, i % 2 != 0),
                                     true, &y.law);
        if (!x.has_law && !y.has_law)
            continue;
        write_frequencies(grid, &x, &y, &frequencies);
        for (size_t k = 0; k < frequencies.count; k++) {
            snprintf(rest, sizeof rest, "%s%s%s%s%s", cells, ARRANGEMENTS[i / 2], ORDERS[i % 2],
                     frequencies.items[k], mask);
            propose_positions(&x, &y, rest, proposals);
        }
        measured = true;
    }
    return measured;
}

/* Propose a grid after rows of zeros: presets, and what waves say, or else all layouts. */
static void propose_grid(const pe_grid_view *found, const char *shape, pe_proposals *proposals)
{
    const grid_size grid = {found->height, found->width, found->seen->columns};
    char cells[160], tokens[40] = "";
    pe_grid_lines lines;
    proposals->angle = (double)(grid.height > grid.width ? grid.height : grid.width);
    if (found->before > 0)
        snprintf(tokens, sizeof tokens, "&extra_tokens=%llu", (number)found->before);
    snprintf(cells, sizeof cells, "height=%llu&width=%llu&dim=%llu&shape=%s%s",
             (number)grid.height, (number)grid.width, (number)grid.dim, shape, tokens);
    for (size_t i = 0; i < PE_GRID_PRESET_COUNT; i++)
        pe_propose_request(proposals, "encoding", "%s&preset=%s", cells,
                           pe_grid_presets[i].name);
    const bool measured =
        pe_grid_lines_read(found->seen, found->before, 2,
                           (const uint64_t[]){grid.height, grid.width}, &lines) &&
        propose_measured(&grid, &lines, cells, proposals);
    pe_grid_lines_end(&lines);
    for (size_t i = 0; !measured && i < PE_COUNT(ARRANGEMENTS) * PE_COUNT(ORDERS); i++)
        pe_propose_request(proposals, "encoding", "%s%s%s", cells, ARRANGEMENTS[i / 2],
                           ORDERS[i % 2]);
}

/* The rows of zeros that a table begins with. */
static uint64_t zero_rows(const pe_observation *seen)
{
    uint64_t rows = 0;
    for (bool zero = true; zero && rows < seen->sampled && rows <= ZERO_ROWS_MAX; rows += zero)
        for (uint64_t column = 0; zero && column < seen->columns; column++)
            zero = pe_observation_entry(seen, rows, column) == 0;
    return rows;
}

/* The cells of [dim, height, width], or of another table of channels last, as a matrix. */
static pe_view view_cells(const pe_observation *seen, bool channels_first)
{
    pe_view cells = seen->flat;
    if (channels_first) {
        cells.shape[0] = seen->view.shape[1] * seen->view.shape[2];
        cells.shape[1] = seen->view.shape[0];
        cells.strides[0] = 1;
        cells.strides[1] = cells.shape[0];
    }
    return cells;
}

/* For a table [cells, dim], perhaps after rows of zeros, [dim, height, width] or [height,
 * width, dim]. */
void pe_recognise_sinusoidal_2d(pe_observation *seen, pe_proposals *proposals)
{
    const uint64_t *shape = seen->view.shape;
    pe_grid_view grid = {.seen = seen};
    if (seen->view.rank == 2 && seen->sampled > 0 && seen->columns % 4 == 0) {
        grid.before = zero_rows(seen);
        if (pe_grid_find_width(&grid))
            propose_grid(&grid, "nc", proposals);
    }
    for (int first = 1; first >= 0 && seen->view.rank == 3 && seen->flat.rank > 0; first--) {
        const pe_view view = view_cells(seen, first);
        pe_observation cells;
        grid =
            (pe_grid_view){.seen = &cells, .height = shape[first], .width = shape[1 + first]};
        if (view.shape[1] % 4 == 0 && pe_observation_begin(&cells, &view)) {
            if (pe_grid_is_row_major(&grid))
                propose_grid(&grid, first ? "chw" : "hwc", proposals);
            pe_observation_end(&cells);
        }
    }
}

/* ---- sinusoidal_3d ---- */

/* How the channels of a volume may be arranged. */
typedef struct arrangement {
    const char *text;
    bool quarter, concat;
    size_t before_width, before_depth; /* axes whose channels come first */
} arrangement;

#define ARRANGEMENTS(split, quarter, layout, concat)                                           \
    {split layout, quarter, concat, 2, 0},                                                     \
        {split layout "&axis_order=depth_width_height", quarter, concat, 1, 0},                \
    {                                                                                          \
        split layout "&axis_order=width_height_depth", quarter, concat, 0, 2                   \
    }

static const arrangement VOLUMES[] = {
    ARRANGEMENTS("", false, "", false), ARRANGEMENTS("&split=quarter", true, "", false),
    ARRANGEMENTS("", false, "&layout=concat", true),
    ARRANGEMENTS("&split=quarter", true, "&layout=concat", true)};

/* Write what the positions of an axis are divided by. */
static void write_interpolation(const char *name, const pe_wave_law *law, char dst[TEXT])
{
    pe_propose_number(dst, TEXT, name, 1 / law->first, fmax(law->first_error, 1e-4), "1");
}

enum { DEPTH, WIDTH_OF_VOLUME = 2 }; /* among the axes */

/* Write what the waves say of an arrangement: the frequencies, and the distances of cells.
 * Without waves there is one text, which is empty. */
static void write_law(pe_grid_lines *lines, uint64_t dim, const arrangement *own,
                      pe_wave_texts *ret_frequencies, char *scales_text, size_t size)
{
    const uint64_t deep = own->quarter ? dim / 4 : (dim + 5) / 6 * 2;
    const uint64_t wide = own->quarter ? 3 * dim / 8 : deep;
    const uint64_t before = own->before_width == 0 ? 0 : deep + (own->before_width - 1) * wide;
    const uint64_t stride = own->concat ? 1 : 2;
    const pe_columns depth = {own->before_depth * wide, stride, deep / 2};
    const pe_columns width = {before, stride, wide / 2};
    char scales[2][TEXT] = {"", ""};
    pe_wave_law law, along_depth, along_width;
    const bool has_depth = pe_grid_law_read(lines, DEPTH, depth, true, &along_depth);
    const bool has_width = pe_grid_law_read(lines, WIDTH_OF_VOLUME, width, true, &along_width);
    *ret_frequencies = (pe_wave_texts){.count = 1};
    law = has_width ? along_width : along_depth;
    if (has_width && has_depth && wide == deep)
        pe_wave_law_join(&along_width, &along_depth, &law);
    if (has_width || has_depth) {
        const double pairs = (double)(has_width ? wide : deep) / 2;
        pe_wave_law_frequencies(&law, NULL, "base", pairs, pairs - 1, ret_frequencies);
    }
    if (has_depth)
        write_interpolation("temporal_interpolation_scale", &along_depth, scales[0]);
    if (has_width)
        write_interpolation("spatial_interpolation_scale", &along_width, scales[1]);
    snprintf(scales_text, size, "%s%s", scales[0], scales[1]);
}

/* Propose all arrangements of a volume of as many frames as its grid has frames' rows. */
static void propose_volume(const pe_grid_view *grid, uint64_t depth, const char *shape,
                           pe_proposals *proposals)
{
    static const char *const PRESETS[] = {"tatp22", "cogvideox", "prithvi", "simple_vit"};
    const uint64_t sizes[] = {depth, grid->height, grid->width}, dim = grid->seen->columns;
    char cells[160];
    pe_grid_lines lines;
    proposals->angle = (double)(depth * grid->height + grid->width);
    snprintf(cells, sizeof cells, "depth=%llu&height=%llu&width=%llu&dim=%llu&shape=%s",
             (number)depth, (number)grid->height, (number)grid->width, (number)dim, shape);
    for (size_t i = 0; i < PE_COUNT(PRESETS); i++)
        pe_propose_request(proposals, "encoding", "preset=%s&%s", PRESETS[i], cells);
    const bool good = pe_grid_lines_read(grid->seen, 0, 3, sizes, &lines);
    for (size_t i = 0; good && i < PE_COUNT(VOLUMES); i++) {
        pe_wave_texts frequencies;
        char scales[2 * TEXT];
        write_law(&lines, dim, &VOLUMES[i], &frequencies, scales, sizeof scales);
        for (size_t k = 0; k < frequencies.count; k++)
            pe_propose_request(proposals, "encoding", "%s%s%s%s", cells, VOLUMES[i].text,
                               frequencies.items[k], scales);
    }
    pe_grid_lines_end(&lines);
}

/* For a table [depth, height, width, dim], [depth, cells, dim] or [cells, dim], whose sizes the
 * columns say that change along each axis. */
void pe_recognise_sinusoidal_3d(pe_observation *seen, pe_proposals *proposals)
{
    const size_t rank = seen->view.rank;
    const uint64_t *shape = seen->view.shape;
    pe_observation cells;
    pe_grid_view grid = {.seen = &cells};
    if (rank < 2 || rank > 4 || shape[rank - 1] % 2 != 0 || shape[0] < 2 ||
        seen->flat.rank == 0)
        return;
    if (pe_observation_begin(&cells, &seen->flat)) {
        grid.after = rank == 3 ? cells.rows - shape[1] : 0; /* the frames after the first */
        grid.height = shape[1];
        grid.width = shape[2];
        if (rank == 4) {
            propose_volume(&grid, shape[0], "dhwc", proposals);
        } else if (cells.sampled >= 4 && pe_grid_find_width(&grid)) {
            const uint64_t rows = pe_grid_frame_rows(&grid), frames = grid.height / rows;
            grid.height = rank == 2 ? rows : grid.height;
            propose_volume(&grid, rank == 2 ? frames : shape[0], rank == 2 ? "nc" : "dnc",
                           proposals);
        }
    }
    pe_observation_end(&cells);
}
