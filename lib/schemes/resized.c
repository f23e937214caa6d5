/* A learned table of positions on another grid than the one that it was trained on. */
#include "trained/resized.h"

#include <math.h>
#include <stdio.h>

static const char *const MODES[] = {"nearest", "bilinear", "bicubic", NULL};

static const pe_case SMOOTH[] = {
    {"bilinear", false, "false"}, {"bicubic", false, "false"}, {0}};
static const pe_case SHIFTED[] = {{"bilinear", false, "0"}, {"bicubic", false, "0"}, {0}};

#define PREFIX_MAX 65536
#define SCALE_MIN  0.0009765625 /* 2^-10 */
#define SCALE_MAX  1024

/* A size of the target grid. */
#define TARGET                                                                                 \
    .type = PE_INTEGER, .unless = "scale_factor", .minimum = 1, .maximum = PE_RESAMPLE_MAX,    \
    .unit = "cells", .counts_rows = true

static const pe_parameter PARAMETERS[] = {
    {.name = "scale_factor",
     .type = PE_REAL,
     .minimum = SCALE_MIN,
     .maximum = SCALE_MAX,
     .help = "target cells for each source cell along either axis, instead of height and "
             "width; a part of a target cell is cut off"},
    {.name = "length",
     TARGET,
     .help = "rows of a target that is a line: stands for height=length and width=1"},
    {.name = "height",
     TARGET,
     .help = "rows of the target grid; 1 for a line. Required unless length or scale_factor "
             "is given"},
    {.name = "width",
     TARGET,
     .help = "columns of the target grid; by default 1 with length, else as many as rows"},
    {PE_TRAINED_DIM("table"), .help = "number of columns; a stored table has its own"},
    {.name = "prefix_tokens",
     .type = PE_INTEGER,
     .default_text = "0",
     .maximum = PREFIX_MAX,
     .unit = "rows",
     .help = "rows before those of the grid, such as that of a class token, which are kept"},
    PE_TRAINED_PARAMETERS("table [prefix_tokens + source_height * source_width, dim]"),
    {.name = "source_height",
     .type = PE_INTEGER,
     .minimum = 1,
     .maximum = PE_RESAMPLE_MAX,
     .unit = "cells",
     .help = "rows of the source grid; without it a stored table is a line where the target is "
             "one, and square where that is a grid"},
    {.name = "source_width",
     .type = PE_INTEGER,
     .minimum = 1,
     .maximum = PE_RESAMPLE_MAX,
     .unit = "cells",
     .help = "columns of the source grid; by default those that the stored table has, 1 where "
             "the target is a line of rows, else as many as rows"},
    {.name = "mode",
     .type = PE_CHOICE,
     .default_text = "bicubic",
     .choices = MODES,
     .help = "nearest: source row floor(k * source / target), as for fractional buckets; "
             "bilinear, along a line linear; bicubic: cubic convolution with a = -0.75"},
    {.name = "align_corners",
     .type = PE_BOOLEAN,
     .when = "mode",
     .cases = SMOOTH,
     .help = "true: the first and last cells of both grids lie on each other; false: the edges "
             "of these cells do"},
    {.name = "antialias",
     .type = PE_BOOLEAN,
     .when = "mode",
     .cases = SMOOTH,
     .help = "widen the filter where the grid shrinks; bicubic has a = -0.5 then, also where "
             "it grows"},
    {.name = "scale_offset",
     .type = PE_REAL,
     .when = "mode",
     .cases = SHIFTED,
     .minimum = 0,
     .maximum = 1,
     .open_maximum = true,
     .unit = "cells",
     .help = "the ratio of the grids is source / (target + scale_offset) along either axis"},
};

static const pe_preset PRESETS[] = {
    {"vit", "ViT, DeiT and DINOv2 of transformers", {"prefix_tokens", "1"}},
    {"dinov2", "DINOv2 as published", {"prefix_tokens", "1", "scale_offset", "0.1"}},
    {"dinov2_registers", "DINOv2 with registers", {"prefix_tokens", "1", "antialias", "true"}},
    {"timm", "timm's resample_abs_pos_embed", {"prefix_tokens", "1", "antialias", "true"}},
    {"siglip2", "SigLIP 2", {"mode", "bilinear", "antialias", "true"}},
    {"qwen3_vl",
     "Qwen3-VL; its rows come in blocks afterwards",
     {"mode", "bilinear", "align_corners", "true"}},
    {"idefics2", "Idefics2, Idefics3 and SmolVLM", {"mode", "nearest"}},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[prefix_tokens + height * width, dim]",
     "the rows of the prefix, then those of the target grid, row by row"}};

static const pe_distribution RECIPE = {.initialiser = PE_NORMAL, .std = 0.02};

/* ---- the grids ---- */

static uint64_t read_count(const pe_values *values, const char *name)
{
    return (uint64_t)pe_get_integer(values, name);
}

/* Refuse a stored table whose rows are no grid. */
static void refuse_rows(const pe_weights *weights, uint64_t rows, const char *rule,
                        pe_error *reterr)
{
    char given[96];
    snprintf(given, sizeof given, "%s with %llu rows", weights->set_name,
             (unsigned long long)rows);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "set", given,
                 "the name of a set whose table has prefix_tokens + %s rows", rule);
}

static uint64_t find_height(const pe_values *values)
{
    return read_count(values, pe_is_present(values, "height") ? "height" : "length");
}

static uint64_t find_width(const pe_values *values)
{
    if (pe_is_present(values, "width"))
        return read_count(values, "width");
    return pe_is_present(values, "length") ? 1 : read_count(values, "height");
}

/* Check that there is a target, and one alone. */
static void check_target(const pe_values *values, pe_error *reterr)
{
    const uint64_t length = read_count(values, "length");
    const char *other = find_width(values) != 1 ? "width" : "height";
    if (length > 0 && (find_width(values) != 1 || find_height(values) != length))
        pe_refuse_value(values, other, reterr, "left out with length, which replaces it")
            ->reason = PE_REASON_CONFLICT;
    if (find_height(values) == 0 && !pe_is_present(values, "scale_factor"))
        pe_error_add(reterr, PE_MALFORMED, "height", "",
                     "an integer from 1 to %d, unless length or scale_factor is given",
                     PE_RESAMPLE_MAX)
            ->reason = PE_REASON_MISSING;
}

/* Which axis of the target is a line's: 0 the height, 1 the width; -1: it is a grid, one cell
 * or follows from the source. */
static int find_line(const pe_values *values)
{
    uint64_t height = find_height(values), width = find_width(values);
    if (pe_is_present(values, "length"))
        return 0;
    if (height == width || (height != 1 && width != 1))
        return -1;
    return height == 1;
}

/* Ask for the grid of a stored table where nothing tells a line from a square. */
static void ask_for_grid(const pe_weights *weights, uint64_t cells, pe_error *reterr)
{
    char given[96];
    snprintf(given, sizeof given, "%.60s with %llu rows", weights->set_name,
             (unsigned long long)cells);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "source_height", given,
                 "given here: %llu with source_width=1 if the rows are a line, or the rows of "
                 "their grid",
                 (unsigned long long)cells);
}

/* Find the source grid of a stored table of so many rows. False: a problem was added. */
static bool find_stored_grid(const pe_values *values, const pe_resized_source *source,
                             uint64_t *height, uint64_t *width, pe_error *reterr)
{
    const pe_weights *weights = &source->weights;
    uint64_t rows = pe_set_tensor_find(weights->set, "table")->tensor.shape[0];
    uint64_t prefix = source->prefix;
    uint64_t cells = rows > prefix ? rows - prefix : 0;
    const int line = find_line(values);
    if (*height == 0 && *width == 0 && line >= 0) {
        *(line == 0 ? height : width) = cells;
        *(line == 0 ? width : height) = 1;
    } else if (*height == 0 && *width == 0 && cells > 1 &&
               (!pe_is_present(values, "height") || pe_get_integer(values, "height") == 1)) {
        ask_for_grid(weights, cells, reterr);
        return false;
    } else if (*height == 0 && *width == 0) {
        *height = *width = (uint64_t)sqrt((double)cells);
        if (cells == 0 || *height * *height != cells) {
            refuse_rows(weights, rows, "a square number of", reterr);
            return false;
        }
    } else if (*height == 0) {
        *height = cells / *width;
    } else if (*width == 0) {
        *width = cells / *height;
    }
    if (cells == 0 || *height > PE_RESAMPLE_MAX || *width > PE_RESAMPLE_MAX ||
        *height * *width != cells) {
        refuse_rows(weights, rows, "source_height * source_width", reterr);
        return false;
    }
    return true;
}

/* Find the source grid. False: a problem was added. */
static bool find_source(const pe_values *values, const pe_resized_source *source,
                        uint64_t *ret_height, uint64_t *ret_width, pe_error *reterr)
{
    *ret_height = read_count(values, "source_height");
    *ret_width = read_count(values, "source_width");
    if (source->weights.set)
        return find_stored_grid(values, source, ret_height, ret_width, reterr);
    if (*ret_height == 0) {
        pe_problem *problem = pe_error_add(reterr, PE_MALFORMED, "source_height", "",
                                           "the rows of the source grid, unless set is given");
        problem->reason = PE_REASON_MISSING;
        return false;
    }
    if (*ret_width == 0)
        *ret_width = find_line(values) == 0 ? 1 : *ret_height;
    return true;
}

/* The target cells along an axis by the scale factor: a product of doubles, cut off, as PyTorch
 * computes it. 0: none, or too many, and a problem was added. */
static uint64_t scaled(const pe_values *values, uint64_t source, pe_error *reterr)
{
    double target = floor((double)source * pe_get_real(values, "scale_factor"));
    if (target >= 1 && target <= PE_RESAMPLE_MAX)
        return (uint64_t)target;
    pe_refuse_value(values, "scale_factor", reterr,
                    "such that the target grid has 1 to %d cells along either axis, not %.0f",
                    PE_RESAMPLE_MAX, target);
    return 0;
}

static void refuse_scaling(const pe_values *values, const char *name, const char *other,
                           pe_error *reterr)
{
    pe_refuse_value(values, name, reterr, "left out with %s", other)->reason =
        PE_REASON_CONFLICT;
}

/* Check the rules between the options of the filter. */
static void check_options(const pe_values *values, pe_error *reterr)
{
    bool aligned = pe_get_flag(values, "align_corners"),
         antialias = pe_get_flag(values, "antialias");
    bool factor = pe_is_present(values, "scale_factor");
    bool offset = pe_get_real(values, "scale_offset") != 0;
    const char *other = antialias ? "antialias=true" : "align_corners=true";
    if (aligned && antialias)
        pe_refuse_value(values, "antialias", reterr, "false with align_corners=true");
    if (factor && (aligned || antialias))
        refuse_scaling(values, "scale_factor", other, reterr);
    if (offset && (aligned || antialias))
        refuse_scaling(values, "scale_offset", other, reterr);
    if (offset && factor)
        refuse_scaling(values, "scale_offset", "scale_factor, which is the ratio", reterr);
}

/* One axis. */
static pe_resample read_axis(const pe_values *values, uint64_t source, uint64_t target)
{
    pe_filter filter = (pe_filter)pe_get_choice(values, "mode");
    if (pe_is_present(values, "scale_factor"))
        return pe_resample_by_factor(filter, source, target, 1,
                                     pe_get_real(values, "scale_factor"));
    if (pe_get_real(values, "scale_offset") > 0)
        return pe_resample_by_factor(filter, source, target, source,
                                     (double)target + pe_get_real(values, "scale_offset"));
    return pe_resample_to_size(filter, pe_get_flag(values, "align_corners"),
                               pe_get_flag(values, "antialias"), source, target);
}

/* Refuse a filter that would be too wide. */
static void check_shrinking(const pe_values *values, const char *name, uint64_t source,
                            uint64_t target, pe_error *reterr)
{
    char given[32];
    if (!pe_get_flag(values, "antialias") || source <= PE_RESAMPLE_SHRINK * target)
        return;
    snprintf(given, sizeof given, "%llu", (unsigned long long)target);
    pe_error_add(reterr, PE_OUT_OF_RANGE, name, given,
                 "at least 1/%d of the source grid's %llu with antialias=true",
                 PE_RESAMPLE_SHRINK, (unsigned long long)source);
}

/* Find both axes. False: a problem was added. */
static bool find_axes(const pe_values *values, pe_resized_source *source, pe_error *reterr)
{
    uint64_t source_height, source_width;
    uint64_t height = find_height(values), width = find_width(values);
    size_t before = reterr->count;
    check_target(values, reterr);
    if (reterr->count > before ||
        !find_source(values, source, &source_height, &source_width, reterr))
        return false;
    if (pe_is_present(values, "scale_factor")) {
        height = scaled(values, source_height, reterr);
        width = scaled(values, source_width, reterr);
    }
    check_options(values, reterr);
    check_shrinking(values, "height", source_height, height, reterr);
    check_shrinking(values, "width", source_width, width, reterr);
    if (reterr->count > before)
        return false;
    source->y = read_axis(values, source_height, height);
    source->x = read_axis(values, source_width, width);
    return true;
}

/* ---- the scheme ---- */

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    pe_resized_source *source = &((pe_resized *)ret_state)->source;
    *source = (pe_resized_source){.weights = pe_weights_read(values),
                                  .name = "table",
                                  .distribution = &RECIPE,
                                  .prefix = read_count(values, "prefix_tokens")};
    if (!pe_trained_check(&source->weights, "table", 2, (const uint64_t[]){0, 0}, reterr) ||
        !find_axes(values, source, reterr))
        return;
    const pe_resample *y = &source->y, *x = &source->x;
    pe_plan_settle(plan, "source_height", (double)y->source);
    pe_plan_settle(plan, "source_width", (double)x->source);
    if (!pe_is_present(values, "scale_factor")) {
        pe_plan_settle(plan, "height", (double)y->target);
        pe_plan_settle(plan, "width", (double)x->target);
    }
    source->columns = (uint64_t)pe_get_integer(values, "dim");
    pe_trained_check_index("source_height",
                           (double)(source->prefix + y->source * x->source) - 1,
                           source->columns, reterr);
    pe_plan_add(plan, "encoding", source->weights.dtype, 2,
                (uint64_t[]){source->prefix + y->target * x->target, source->columns});
    pe_plan_price(plan, pe_resized_element_price(source));
    plan->held = pe_resized_bytes(source);
    plan->price = pe_resized_price(source);
}

static bool prepare(void *state, pe_pace *pace)
{
    return pe_resized_init(state, pace);
}

static void fill(const void *state, pe_window window, void *dst)
{
    pe_resized_fill(state, window.first, window.rows, dst);
}

const pe_scheme pe_scheme_resized = {
    .info =
        {
            .name = "resized",
            .title = "Learned position embedding on another grid",
            .summary = "A learned table whose rows are the cells of a grid, interpolated for"
                       " another grid, such as that of an image of another size; rows of "
                       "prefix tokens are kept. Without a set, the table is random, drawn "
                       "from seed.",
            .family = "grid",
            .keywords = "interpolate, interpolation, resize, bicubic, ViT, DeiT, DINOv2, "
                        "SigLIP, CLIP, image size, pos_embed, resolution",
            .formula =
                "encoding[y, x] = sum of w(y, i) * w(x, j) * table[i, j] over cells i, j "
                "around ((y + 1/2) * ratio_y - 1/2, (x + 1/2) * ratio_x - 1/2), or, with "
                "align_corners, (y * (source_height - 1) / (height - 1), …); cells "
                "outside of the table are those at its edge",
            .convention = "the weights of PyTorch's interpolate, as exact fractions; bicubic "
                          "without antialias, as ViT",
            .reference = "Keys 1981 (cubic convolution); arXiv:2010.11929, section 3.2",
            .example = "height=3&source_height=2&dim=4",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(pe_resized),
    PE_APPLIES(PE_WEIGHTED_ADDITION("tokens,dim")),
    .errors = PE_ERRORS_OF_SUMS,
};
