#include "identify/mistakes.h"

#include "identify/changed_values.h"

#include "numerics/dd.h"
#include "numerics/dtype.h"
#include "recognise/observation.h"
#include "recognise/rotary_laws.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How near a measured factor is to what it is, relative. */
static double find_accuracy(const pe_trial *trial)
{
    return fmax(1e-4, pe_dtypes[trial->format].unit / 4);
}

/* ---- other tensors ---- */

bool pe_find_tensor(pe_trial *trial)
{
    const pe_scheme_info *info = &trial->scheme->info;
    for (size_t i = 0; i < info->tensor_count; i++)
        if (strcmp(info->tensors[i].name, trial->tensor) != 0 &&
            pe_trial_fits(trial, trial->query, info->tensors[i].name, &trial->view, 1))
            return pe_say_changes(trial, trial->tensor);
    return false;
}

/* ---- signs and factors ---- */

/* Sines of negated positions have the other sign, and cosines are the same. */
bool pe_find_negated(pe_trial *trial)
{
    pe_value step, offset;
    char text[2][PE_PRINT_MAX], negated[2][PE_PRINT_MAX];
    if (!pe_trial_read_value(trial, "step", &step, text[0]) ||
        !pe_trial_read_value(trial, "offset", &offset, text[1]))
        return false;
    pe_print_number(negated[0], -step.real);
    pe_print_number(negated[1], 0 - offset.real);
    const char *const changes[] = {"step", negated[0], "offset", negated[1], NULL};
    return pe_trial_fits_changed(trial, changes) &&
           pe_trial_say(trial, "sine_sign",
                        "The sines have the other sign, as at positions that are negated: "
                        "step=%s.",
                        negated[0]);
}

/* A factor that has a name, if it is as near to this one as measuring it brings it. */
static double name_factor(pe_trial *trial, double factor, char dst[96])
{
    pe_value dim;
    char text[PE_PRINT_MAX];
    const double sign = factor < 0 ? -1 : 1, accuracy = find_accuracy(trial);
    dst[0] = '\0';
    if (pe_trial_read_value(trial, "dim", &dim, text)) {
        const double root = sqrt(dim.real);
        if (fabs(fabs(factor) / root - 1) < accuracy) {
            snprintf(dst, 96, ", the square root of dim=%s", text);
            return sign * root;
        }
        if (fabs(fabs(factor) * root - 1) < accuracy) {
            snprintf(dst, 96, ", 1 over the square root of dim=%s", text);
            return sign / root;
        }
    }
    if (!pe_trial_read_value(trial, "rope_type", &dim, text))
        return factor;
    for (int scaled = 2; scaled <= 64; scaled++) {
        const double attention = 0.1 * log(scaled) + 1;
        if (strcmp(text, "default") == 0 && fabs(factor / attention - 1) < accuracy / 100) {
            snprintf(dst, 96, ", the attention factor of rope_type=yarn, factor=%d", scaled);
            return attention;
        }
    }
    if ((strcmp(text, "yarn") == 0 || strcmp(text, "longrope") == 0))
        snprintf(dst, 96, ", as with another attention factor than that of rope_type=%s", text);
    return factor;
}

bool pe_find_factor(pe_trial *trial)
{
    double measured;
    char text[PE_PRINT_MAX], name[96];
    if (trial->dtype == PE_I32 || !trial->subject->measure_factor(trial, &measured) ||
        fabs(measured) < 1e-30)
        return false;
    const double named = name_factor(trial, measured, name);
    const double factors[] = {named != measured ? named : 1,
                              pe_find_decimal(measured, find_accuracy(trial)),
                              pe_find_decimal(measured, 1e-6), measured};
    for (size_t i = 0; i < PE_COUNT(factors); i++) {
        if (factors[i] == 1 ||
            !pe_trial_fits(trial, trial->query, trial->tensor, &trial->view, factors[i]))
            continue;
        const char *every = factors[i] < 0 && pe_trial_find_parameter(trial, "mask")
                                ? "Every finite entry"
                                : "Every entry";
        if (factors[i] == -1)
            return pe_trial_say(trial, "sign", "%s has the other sign.", every);
        pe_print_number(text, pe_find_decimal(factors[i], 1e-7));
        return pe_trial_say(trial, "factor", "%s is the exact one times %s%s.", every, text,
                            name);
    }
    return false;
}

/* ---- parameters ---- */

static bool try_number(pe_trial *trial, const char *name, double number)
{
    char text[PE_PRINT_MAX];
    pe_print_number(text, number);
    return pe_try_value(trial, name, text);
}

/* Try the other choices of parameters, one at a time. */
static bool try_choices(pe_trial *trial, const pe_parameter *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const pe_parameter *row = &rows[i];
        char text[PE_PRINT_MAX];
        if (strcmp(row->name, "rope_type") == 0)
            continue; /* with its keys: pe_find_scaling */
        for (size_t c = 0; row->type == PE_CHOICE && row->choices[c]; c++)
            if (pe_try_value(trial, row->name, row->choices[c]))
                return true;
        if (row->type == PE_BOOLEAN &&
            pe_try_value(trial, row->name,
                         strcmp(pe_trial_value_text(trial, row->name, text), "true") == 0
                             ? "false"
                             : "true"))
            return true;
    }
    return false;
}

bool pe_find_option(pe_trial *trial)
{
    return try_choices(trial, trial->subject->options, trial->subject->option_count);
}

bool pe_find_in_entries(pe_trial *trial)
{
    return trial->subject->find_in_entries && trial->subject->find_in_entries(trial);
}

bool pe_find_choice(pe_trial *trial)
{
    return try_choices(trial, trial->scheme->info.parameters,
                       trial->scheme->info.parameter_count);
}

/* Bases that models have. */
bool pe_find_base(pe_trial *trial)
{
    static const char *const NAMES[] = {"rope_theta", "base"};
    for (size_t n = 0; n < PE_COUNT(NAMES); n++)
        for (size_t i = 0; pe_trial_find_parameter(trial, NAMES[n]) && i < PE_ROTARY_THETAS;
             i++)
            if (try_number(trial, NAMES[n], pe_rotary_thetas[i]))
                return true;
    return false;
}

/* Try numbers that the right one may be: a multiple, a neighbour, the square, or one that
 * another number of the request was multiplied with. */
static bool try_near_numbers(pe_trial *trial, const pe_parameter *row, double x)
{
    pe_value factor = {.real = NAN};
    char text[PE_PRINT_MAX];
    pe_trial_read_value(trial, "factor", &factor, text);
    const double numbers[] = {1,     2 * x, x / 2, 4 * x, x / 4,           8 * x,
                              x / 8, x + 1, x - 1, x * x, x * factor.real, x / factor.real};
    for (size_t i = 0; i < PE_COUNT(numbers); i++)
        if (isfinite(numbers[i]) && numbers[i] != 0 &&
            (row->type == PE_REAL || numbers[i] == rint(numbers[i])) &&
            try_number(trial, row->name, numbers[i]))
            return true;
    return false;
}

bool pe_find_number(pe_trial *trial)
{
    const pe_scheme_info *info = &trial->scheme->info;
    pe_value value;
    char text[PE_PRINT_MAX];
    for (size_t i = 0; i < info->parameter_count; i++) {
        const pe_parameter *row = &info->parameters[i];
        if ((row->type == PE_INTEGER || (row->type == PE_REAL && !row->choices)) &&
            !row->counts_rows && pe_trial_read_value(trial, row->name, &value, text) &&
            try_near_numbers(trial, row, value.real))
            return true;
    }
    return false;
}

#define ITEMS_MAX 8
#define MOVED_MAX 64 /* from one item of a list to another */

/* Try a list with some of one item moved to another. Notes what is left in trial->far. */
static bool try_moved(pe_trial *trial, const char *name, const double *items, size_t count,
                      size_t one, size_t other, double moved)
{
    char text[PE_PRINT_MAX], number[PE_PRINT_MAX];
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof text; i++) {
        pe_print_number(number, items[i] + (i == other ? moved : i == one ? -moved : 0));
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? "," : "", number);
    }
    trial->far = INFINITY;
    return used < sizeof text && pe_try_value(trial, name, text);
}

/* Try all lists with some of one item moved to another, by whole numbers or their difference.
 * Takes that after which least is left over into the list. */
static bool try_all_moved(pe_trial *trial, const char *name, double *items, size_t count,
                          double *far)
{
    size_t best[2] = {0, 0};
    double best_moved = 0;
    for (size_t i = 0; i < count * count; i++) {
        const size_t one = i / count, other = i % count;
        const double most = one == other ? 0 : items[one], whole = items[one] - items[other];
        for (double moved = 1; moved <= most; moved = moved < MOVED_MAX ? moved + 1 : INFINITY)
            if (try_moved(trial, name, items, count, one, other, moved))
                return true;
            else if (trial->far < *far) {
                *far = trial->far;
                best[0] = one;
                best[1] = other;
                best_moved = moved;
            }
        if (one < other && whole != 0 &&
            try_moved(trial, name, items, count, one, other, whole))
            return true;
    }
    items[best[0]] -= best_moved;
    items[best[1]] += best_moved;
    return false;
}

/* Try a list whose items have the same sum, nearer and nearer. */
static bool try_moved_items(pe_trial *trial, const pe_parameter *row)
{
    char text[PE_PRINT_MAX], *rest = text;
    double items[ITEMS_MAX], far = INFINITY, before;
    size_t count = 0;
    bool found = false;
    const bool measures = trial->measures;
    pe_trial_value_text(trial, row->name, text);
    for (char *item; count < ITEMS_MAX && (item = strsep(&rest, ","));)
        items[count++] = strtod(item, NULL);
    if (rest) /* a longer list, of which the first items are none */
        return false;
    trial->measures = true;
    do {
        before = far;
        found = count > 1 && try_all_moved(trial, row->name, items, count, &far);
    } while (!found && far < before && !trial->runner.ended && !trial->exhausted);
    trial->measures = measures;
    return found;
}

bool pe_find_moved_items(pe_trial *trial)
{
    const pe_scheme_info *info = &trial->scheme->info;
    for (size_t i = 0; i < info->parameter_count; i++) {
        const pe_parameter *row = &info->parameters[i];
        if ((row->type == PE_REAL_LIST || row->type == PE_INTEGER_LIST) && !row->counts_rows &&
            try_moved_items(trial, row))
            return true;
    }
    return false;
}

/* ---- positions ---- */

/* Angles in another unit. */
bool pe_find_unit(pe_trial *trial)
{
    static const struct {
        double ratio;
        const char *what;
    } UNITS[] = {{PE_TURN / 360, "π/180 times that, as degrees taken for radians"},
                 {360 / PE_TURN, "180/π times that, as radians taken for degrees"},
                 {PE_TURN, "2π times that, as of turns"},
                 {1 / PE_TURN, "1/(2π) of that, as in turns"}};
    pe_value step;
    char before[PE_PRINT_MAX], text[PE_PRINT_MAX];
    const char *const changes[] = {"step", text, NULL};
    for (size_t i = 0; i < PE_COUNT(UNITS); i++) {
        if (!pe_trial_read_value(trial, "step", &step, before))
            return false;
        pe_print_number(text, step.real * UNITS[i].ratio);
        if (pe_trial_fits_changed(trial, changes))
            return pe_trial_say(trial, "parameter", "The %s is that of step=%s, not %s: %s.",
                                trial->subject->name, text, before, UNITS[i].what);
    }
    return false;
}

/* Positions, or queries, that begin a few steps before or behind. */
bool pe_find_offset(pe_trial *trial)
{
    static const char *const NAMES[] = {"query_offset", "offset"};
    pe_value offset, step;
    char text[PE_PRINT_MAX];
    for (int i = 0; i < 16; i++) {
        const char *name = NAMES[i / 8];
        const int steps_away = i % 8 / 2 + 1;
        const double shift = i % 2 ? -steps_away : steps_away;
        if (!pe_trial_read_value(trial, name, &offset, text))
            continue;
        const bool steps = i >= 8 && pe_trial_read_value(trial, "step", &step, text);
        if (try_number(trial, name, offset.real + shift * (steps ? step.real : 1)))
            return true;
    }
    return false;
}

/* ---- scalings of rotary frequencies ---- */

#define SCALING_KEYS 20

/* Leave out the scaling that the request has; one of its preset is `default` then. */
bool pe_find_scaling(pe_trial *trial)
{
    const pe_scheme_info *info = &trial->scheme->info;
    char type[PE_PRINT_MAX], preset[PE_IDENTITY_QUERY_MAX];
    const bool has = pe_find_query_text(trial->query, "preset", preset) != NULL;
    const char *changes[2 * SCALING_KEYS + 3] = {"rope_type", has ? "default" : ""};
    for (size_t i = 0, at = 2; i < info->parameter_count && at < 2 * SCALING_KEYS; i++)
        if (info->parameters[i].when && strcmp(info->parameters[i].when, "rope_type") == 0) {
            changes[at++] = info->parameters[i].name;
            changes[at++] = "";
        }
    pe_trial_value_text(trial, "rope_type", type);
    return type[0] && strcmp(type, "default") != 0 && pe_try_changes(trial, changes);
}

/* A preset, where the request has none. */
bool pe_find_preset(pe_trial *trial)
{
    const pe_scheme_info *info = &trial->scheme->info;
    char text[PE_IDENTITY_QUERY_MAX], type[PE_PRINT_MAX];
    if (pe_find_query_text(trial->query, "preset", text))
        return false;
    const bool unscaled = strcmp(pe_trial_value_text(trial, "rope_type", type), "default") == 0;
    for (size_t i = 0; i < info->preset_count; i++) {
        const char *const changes[] = {"preset", info->presets[i].name, NULL};
        if (!pe_trial_fits_changed(trial, changes))
            continue;
        for (const char *const *value = info->presets[i].values; *value; value += 2)
            if (unscaled && strcmp(value[0], "rope_type") == 0)
                return pe_trial_say(trial, "scaling",
                                    "A scaling is forgotten: the table is that of preset=%s, "
                                    "with rope_type=%s.",
                                    info->presets[i].name, value[1]);
        return pe_trial_say(trial, "preset", "The table is that of preset=%s.",
                            info->presets[i].name);
    }
    return false;
}

/* ---- the values ---- */

/* Nothing is wrong but the arithmetic, the dtype of the values, or what stands for a mask. */
bool pe_find_values(pe_trial *trial)
{
    const char *format = trial->format == PE_BF16 ? "bfloat16" : "float16";
    const bool rounded = trial->format != trial->dtype;
    const bool any_mask = trial->tolerance.any_mask;
    if (pe_trial_fits(trial, trial->query, trial->tensor, &trial->view, 1)) {
        if (rounded)
            return pe_trial_say(trial, "values",
                                "The values are %s numbers in a file of %s; "
                                "but for that rounding they are right.",
                                format, pe_dtype_name(trial->dtype));
        return pe_trial_say(
            trial, "arithmetic", "%s: every entry is within what float32 arithmetic may lose.",
            trial->tolerance.decides ? "Right for float32, and outside this tolerance"
                                     : "No mistake");
    }
    trial->tolerance.any_mask = true;
    if (!any_mask && pe_trial_fits(trial, trial->query, trial->tensor, &trial->view, 1))
        return pe_trial_say(trial, "mask",
                            "Finite numbers stand for minus infinity: mask=any "
                            "takes them as it, and the others are right.");
    trial->tolerance.any_mask = any_mask;
    return false;
}

/* Try all mistakes in turn. */
static bool find_one(pe_trial *trial)
{
    enum { TABLE, ANY };
    static const struct {
        int subjects;
        bool (*find)(pe_trial *);
    } MISTAKES[] = {
#define MISTAKE(subjects, find) {subjects, find},
#include "identify/mistakes.def"
    };
    for (size_t i = 0; i < PE_COUNT(MISTAKES) && !trial->runner.ended; i++)
        if ((MISTAKES[i].subjects == ANY || trial->subject->is_table) &&
            MISTAKES[i].find(trial))
            return true;
    return false;
}

#define LESS 0.9 /* of what is left without a mistake, where it is one of two */

/* Say the mistake that was found second after the first one. */
static void say_both(pe_trial *trial, const pe_nearest *first, const char *tensor)
{
    pe_explanation *found = trial->found, second = *found;
    found->change_count = first->change_count;
    memcpy(found->changes, first->changes, sizeof found->changes);
    memcpy(found->tensor, first->tensor, sizeof found->tensor);
    pe_say_changes(trial, tensor);
    const size_t used = strlen(found->sentence);
    snprintf(found->sentence + used, sizeof found->sentence - used, " Besides: %s",
             second.sentence);
    memcpy(found->tensor, second.tensor, sizeof found->tensor);
    for (size_t i = 0; i < second.change_count && found->change_count < PE_CHANGES_MAX; i++)
        found->changes[found->change_count++] = second.changes[i];
    found->kind = "several";
}

/* Find two mistakes at once: the one after which least is left, and another one besides. */
static bool find_two(pe_trial *trial)
{
    const char *query = trial->query;
    char tensor[sizeof trial->tensor];
    memcpy(tensor, trial->tensor, sizeof tensor);
    trial->measures = true;
    trial->nearest.far = INFINITY;
    pe_trial_fits(trial, query, tensor, &trial->view, 1);
    trial->nearest.far *= LESS;
    const double before = trial->nearest.far;
    bool found = isfinite(before) && find_one(trial);
    trial->measures = false;
    if (!found && trial->nearest.far < before) {
        const pe_nearest first = trial->nearest; /* others may be measured */
        trial->query = first.query;
        memcpy(trial->tensor, first.tensor, sizeof trial->tensor);
        found = find_one(trial);
        trial->query = query;
        memcpy(trial->tensor, tensor, sizeof trial->tensor);
        if (found)
            say_both(trial, &first, tensor);
    }
    return found || (isfinite(before) && trial->subject->is_table &&
                     pe_find_besides_change(trial, before, find_one));
}

bool pe_find_mistake(pe_trial *trial)
{
    return find_one(trial) || find_two(trial);
}
