/* Fourier features of points: sines and cosines of each coordinate at some frequencies. */
#include "numerics/dtype.h"
#include "waves/bands.h"
#include "waves/lattice.h"

#include <math.h>
#include <string.h>

static const char *const SPACINGS[] = {"geometric", "linear", NULL};
enum spacing { GEOMETRIC, LINEAR };
static const char *const ANGLES[] = {"turns", "half_turns", "radians", NULL}; /* pe_band_unit */
static const char *const LAYOUTS[] = {"concat", "concat_by_frequency", "by_frequency", NULL};
enum layout { CONCAT, CONCAT_BY_FREQUENCY, BY_FREQUENCY };
static const char *const INPUTS[] = {"none", "first", "last", NULL};
enum input { NONE, FIRST, LAST };

#define FREQUENCY_MAX 1048576.0 /* 2^20 */
#define BANDS_MAX     65536

static const pe_parameter PARAMETERS[] = {
    PE_POINT_PARAMETERS("corners"),
    {.name = "bands",
     .type = PE_INTEGER,
     .required = true,
     .minimum = 1,
     .maximum = BANDS_MAX,
     .unit = "frequencies",
     .help = "frequencies of each axis"},
    {.name = "min_frequency",
     .type = PE_REAL,
     .default_text = "1",
     .minimum = 1 / FREQUENCY_MAX,
     .maximum = FREQUENCY_MAX,
     .help = "the lowest frequency; angle says in which unit"},
    {.name = "max_frequency",
     .type = PE_REAL_LIST,
     .one_for_all = true,
     .minimum = 1 / FREQUENCY_MAX,
     .maximum = FREQUENCY_MAX,
     .help =
         "the highest frequency, one for all axes or one for each; if it is not given, each "
         "frequency is twice the one before (geometric) or min_frequency more (linear)"},
    {.name = "spacing",
     .type = PE_CHOICE,
     .default_text = "geometric",
     .choices = SPACINGS,
     .help = "geometric: neighbouring frequencies have the same ratio; linear: the same "
             "difference"},
    {.name = "angle",
     .type = PE_CHOICE,
     .default_text = "turns",
     .choices = ANGLES,
     .help = "the angle for coordinate x and frequency f; turns: 2π * f * x; half_turns: "
             "π * f * x; radians: f * x"},
    {.name = "layout",
     .type = PE_CHOICE,
     .default_text = "concat",
     .choices = LAYOUTS,
     .help = "concat: sines of all axes, axis by axis, then cosines; concat_by_frequency: "
             "the same, frequency by frequency; by_frequency: for each frequency the sines of "
             "all axes, then their cosines"},
    {.name = "include_input",
     .type = PE_CHOICE,
     .default_text = "none",
     .choices = INPUTS,
     .help = "whether the coordinates themselves are the first or the last columns"},
};

static const pe_preset PRESETS[] = {
    {"nerfstudio",
     "nerfstudio's NeRFEncoding with include_input; its max_freq_exp e is max_frequency=2^e",
     {"include_input", "last", NULL}},
    {"nerf",
     "the code of NeRF: angles without π",
     {"angle", "radians", "layout", "by_frequency", "include_input", "first", NULL}},
    {"perceiver",
     "Perceiver IO on pictures of 224 x 224: max_frequency is half the resolution",
     {"angle", "half_turns", "spacing", "linear", "max_frequency", "112", "include_input",
      "first", NULL}},
    {"timm_pixel",
     "timm's build_fourier_pos_embed with pixel bands for max_res=224",
     {"angle", "half_turns", "spacing", "linear", "max_frequency", "112", NULL}},
    {"timm_fourier_embed",
     "timm's FourierEmbed as it is, with bands=224: it takes max_res=224 for the bands and "
     "num_bands=64 for the resolution",
     {"angle", "half_turns", "spacing", "linear", "max_frequency", "32", "layout",
      "concat_by_frequency", "include_input", "first", NULL}},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[points, 2 * axes * bands], and axes more columns with include_input",
     "sines and cosines of each coordinate at each frequency"}};

/* ---- the plan ---- */

typedef struct fourier {
    pe_lattice lattice; /* its waves have neither positions nor frequencies yet */
    pe_points points;
    pe_bands bands[PE_POINT_AXES];
    enum input input;
} fourier;

static double highest_frequency(const pe_values *values, size_t axis)
{
    if (pe_is_present(values, "max_frequency")) {
        const pe_value *list = pe_value_find(values, "max_frequency");
        return list->items[list->count > 1 ? axis : 0];
    }
    double low = pe_get_real(values, "min_frequency"), bands = pe_get_real(values, "bands");
    return pe_get_choice(values, "spacing") == LINEAR ? low * bands
                                                      : ldexp(low, (int)bands - 1);
}

static void check_frequencies(const pe_values *values, size_t axes, pe_error *reterr)
{
    const pe_value *list = pe_value_find(values, "max_frequency");
    char given[PE_PRINT_MAX];
    if (!list->present) {
        if (highest_frequency(values, 0) > FREQUENCY_MAX)
            pe_refuse_value(
                values, "bands", reterr,
                "such that no frequency is above 2^20, unless max_frequency is given");
        return;
    }
    pe_print_number(given, (double)list->count);
    if (list->count > 1 && list->count != axes)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "max_frequency", given,
                     "one number, or one for each of the %zu axes", axes);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] < pe_get_real(values, "min_frequency")) {
            pe_print_number(given, list->items[i]);
            pe_error_add(reterr, PE_OUT_OF_RANGE, "max_frequency", given,
                         "at least min_frequency");
            return;
        }
}

static pe_bands read_bands(const pe_values *values, size_t axis)
{
    const bool linear = pe_get_choice(values, "spacing") == LINEAR;
    return (pe_bands){.count = (size_t)pe_get_integer(values, "bands"),
                      .linear = linear,
                      .multiples = linear && !pe_is_present(values, "max_frequency"),
                      .low = pe_get_real(values, "min_frequency"),
                      .high = highest_frequency(values, axis),
                      .unit = (pe_band_unit)pe_get_choice(values, "angle")};
}

static pe_lattice_axis read_axis(const pe_values *values, const fourier *state, size_t axis)
{
    const int layout = pe_get_choice(values, "layout");
    const size_t axes = state->points.axes, count = state->bands[axis].count;
    const size_t start = state->input == FIRST ? axes : 0;
    const size_t sines = start + (layout == CONCAT ? axis * count : axis);
    return (pe_lattice_axis){
        .places = (size_t)state->points.places[axis],
        .wave = {.count = count,
                 .layout = PE_WAVE_CONCAT,
                 .columns = 2 * count,
                 .row_columns = 2 * count,
                 .amplitude = 1,
                 .rational = true,
                 .dtype = state->lattice.dtype},
        .sines = sines,
        .cosines = sines + (layout == BY_FREQUENCY ? axes : axes * count),
        .stride = layout == CONCAT         ? 1
                  : layout == BY_FREQUENCY ? 2 * axes
                                           : axes,
    };
}

static void plan_tensor(pe_lattice *lattice, const pe_points *points, pe_plan *plan)
{
    pe_plan_add(plan, "encoding", lattice->dtype, 2,
                (uint64_t[]){points->count, lattice->columns});
    plan->price = 200 * (double)lattice->columns;
    pe_lattice_plan(lattice, plan);
    pe_plan_price(plan, lattice->kept ? 2 : 20);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    fourier *state = ret_state;
    pe_points *points = &state->points;
    const size_t bands = (size_t)pe_get_integer(values, "bands");
    *points = pe_points_read(values, reterr);
    pe_points_settle(points, plan);
    if (reterr->count > 0)
        return;
    check_frequencies(values, points->axes, reterr);
    state->input = (enum input)pe_get_choice(values, "include_input");
    state->lattice.axis_count = points->axes;
    state->lattice.together = points->coordinates != NULL;
    state->lattice.columns = points->axes * (2 * bands + (state->input != NONE));
    state->lattice.dtype = pe_requested_dtype(values);
    if (state->input != NONE)
        pe_check_magnitude(state->lattice.dtype, points->coordinates ? "coordinates" : "sizes",
                           pe_points_magnitude(points), reterr);
    if (reterr->count > 0)
        return;
    for (size_t a = 0; a < points->axes; a++) {
        state->bands[a] = read_bands(values, a);
        state->lattice.axes[a] = read_axis(values, state, a);
    }
    plan_tensor(&state->lattice, points, plan);
}

/* ---- preparing ---- */

/* Set the positions of a wave to those of an axis. Returns how many positions are 1 in
 * coordinates, or 0 if memory ran out. */
static uint64_t set_positions(const pe_points *points, size_t axis, double highest,
                              pe_wave *wave, pe_pace *pace)
{
    wave->positions = (pe_positions){.count = points->places[axis]};
    if (!points->coordinates) {
        pe_point_scale scale = pe_points_scale(points, axis);
        wave->positions.offset = scale.offset;
        wave->positions.step = scale.step;
        return (uint64_t)scale.divisor;
    }
    int exponent; /* highest < 2^exponent: the turns for a position are a fraction */
    (void)frexp(highest, &exponent);
    const double power = ldexp(1, exponent > 0 ? exponent : 0);
    wave->scaled_list = pe_keep(pace, points->count, sizeof *wave->scaled_list);
    for (uint64_t p = 0; wave->scaled_list && p < points->count; p++)
        wave->scaled_list[p] = points->coordinates[p * points->axes + axis] * power;
    wave->positions.list = wave->scaled_list;
    return wave->scaled_list ? (uint64_t)power : 0;
}

static bool set_axis(fourier *state, size_t axis, pe_pace *pace)
{
    pe_wave *wave = &state->lattice.axes[axis].wave;
    const pe_bands *bands = &state->bands[axis];
    uint64_t positions = set_positions(&state->points, axis, bands->high, wave, pace);
    wave->frequencies = pe_keep(pace, bands->count, sizeof *wave->frequencies);
    if (positions == 0 || !wave->frequencies)
        return false;
    pe_bands_write(bands, positions, wave->frequencies);
    return true;
}

/* The column of the first coordinate. */
static size_t input_column(const fourier *state)
{
    return state->input == FIRST ? 0 : state->lattice.columns - state->points.axes;
}

/* Write the coordinates that the tables lack. */
static void add_coordinates(const fourier *state)
{
    const pe_dtype dtype = state->lattice.dtype;
    const size_t first = input_column(state);
    for (size_t a = 0; a < state->points.axes; a++)
        for (size_t place = 0; place < state->lattice.axes[a].places; place++)
            pe_round_dd(dtype, pe_points_place_coordinate(&state->points, place, a),
                        pe_lattice_row(&state->lattice, a, place) +
                            (first + a) * pe_dtype_size(dtype));
}

static bool prepare(void *context, pe_pace *pace)
{
    fourier *state = context;
    for (size_t a = 0; a < state->points.axes; a++)
        if (!set_axis(state, a, pace))
            return false;
    if (!pe_lattice_prepare(&state->lattice, pace))
        return false;
    if (state->input != NONE && state->lattice.kept)
        add_coordinates(state);
    return true;
}

/* What entries lose where angles are rounded: that of the largest coordinate, since those near
 * 0 are often as far off. Waves know their frequencies modulo one turn alone. */
static void write_losses(const fourier *state, pe_window window, double *dst)
{
    const double farthest = pe_points_magnitude(&state->points);
    const size_t columns = state->lattice.columns;
    memset(dst, 0, columns * sizeof *dst);
    for (size_t a = 0; a < state->points.axes; a++)
        for (size_t i = 0; i < state->bands[a].count; i++) {
            const pe_lattice_axis *axis = &state->lattice.axes[a];
            const double w = pe_bands_radians(&state->bands[a], i);
            const double lost = farthest * w * (8 + 3 * fabs(log(w)));
            dst[axis->sines + i * axis->stride] = lost;
            dst[axis->cosines + i * axis->stride] = lost;
        }
    for (uint64_t r = 1; r < window.rows; r++) /* of which all lose the same */
        memcpy(dst + r * columns, dst, columns * sizeof *dst);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const fourier *state = context;
    const pe_dtype dtype = state->lattice.dtype;
    const size_t axes = state->points.axes, columns = state->lattice.columns;
    const size_t first = input_column(state);
    if (dtype == PE_LOSS) {
        write_losses(state, window, dst);
        return;
    }
    pe_lattice_fill(&state->lattice, window.first, window.rows, dst);
    if (state->input == NONE || state->lattice.kept)
        return;
    for (uint64_t r = 0; r < window.rows; r++)
        for (size_t a = 0; a < axes; a++)
            pe_round_dd(dtype, pe_points_coordinate(&state->points, window.first + r, a),
                        (unsigned char *)dst +
                            (r * columns + first + a) * pe_dtype_size(dtype));
}

const pe_scheme pe_scheme_fourier = {
    .info =
        {
            .name = "fourier",
            .title = "Fourier features of coordinates",
            .summary = "Sines and cosines of every coordinate of a point at several "
                       "frequencies, for points of a grid or any others.",
            .family = "grid",
            .keywords = "NeRF, gamma, coordinates, positional encoding of points, Perceiver, "
                        "audio, scene, rays",
            .formula = "sin(2π * f_i * x), cos(2π * f_i * x) for each coordinate x of a point, "
                       "f_i = min_frequency * (max_frequency / min_frequency)^(i/(bands-1))",
            .convention = "sines of all coordinates, then cosines, as in nerfstudio; other "
                          "libraries leave 2π out or take π, which angle says",
            .reference = "arXiv:2003.08934, section 5.1 (NeRF); arXiv:2103.03206 (Perceiver)",
            .example = "sizes=2,3&bands=2",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(fourier),
    .errors = PE_ERRORS_OF_ANGLES,
};
