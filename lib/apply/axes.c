/* Names of axes: reading them, and dividing what several lie in. */
#include "apply/axes.h"

#include "requests/parameters.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* ---- names ---- */

/* Take a name from the text; false if there is none, or no room for it. */
static bool take_name(const char **text, pe_axis_names *names)
{
    size_t length = strspn(*text, NAME_CHARACTERS);
    if (length == 0 || length >= PE_AXIS_NAME_SIZE || names->count == PE_VIEW_RANK_MAX)
        return false;
    names->at[names->count].text = *text;
    names->at[names->count].length = length;
    names->at[names->count++].in = names->of;
    *text += length;
    return true;
}

bool pe_axes_split(const char *text, pe_axis_names *ret_names)
{
    bool inside = false;
    *ret_names = (pe_axis_names){.count = 0};
    for (;;) {
        if (!inside && *text == '(') {
            inside = true;
            text++;
        }
        if (!take_name(&text, ret_names))
            return false;
        if (inside && *text == ')') {
            inside = false;
            text++;
        }
        ret_names->of += !inside;
        if (*text == '\0' || *text == '|')
            return !inside;
        if (*text++ != ',')
            return false;
    }
}

static size_t find_name(const pe_axis_names *names, const char *text, size_t length)
{
    size_t place = 0;
    while (place < names->count && (names->at[place].length != length ||
                                    memcmp(names->at[place].text, text, length) != 0))
        place++;
    return place;
}

size_t pe_axes_find(const pe_axis_names *names, const char *name)
{
    return find_name(names, name, strlen(name));
}

size_t pe_axes_find_same(const pe_axis_names *names, const pe_axis_names *of, size_t index)
{
    return find_name(names, of->at[index].text, of->at[index].length);
}

/* ---- problems ---- */

bool pe_axes_refuse_shape(pe_error *reterr, const pe_view *input, const char *allowed, ...)
{
    char given[96], text[400];
    va_list list;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    pe_write_shape(input->shape, input->rank, given, sizeof given);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", given, "%s", text);
    return false;
}

static bool refuse_axes(const pe_application *rule, const char *list, const char *given,
                        size_t rank, pe_error *reterr)
{
    bool anywhere = rule->kind < PE_APPLY_ROTATE;
    pe_error_add(reterr, PE_MALFORMED, "axes", given,
                 "different names joined by commas, one for each of %zu axes of %s or, in "
                 "parentheses, those that lie in one, with all of %.*s among them%s; a name "
                 "has at most %d letters, digits, _ and -",
                 rank, rule->input, (int)strcspn(list, "|"), list,
                 anywhere ? "" : " and the last of these at the end", PE_AXIS_NAME_SIZE - 1);
    return false;
}

/* Say how a tensor is sent whose columns do not come last, or lie in two axes; false if that is
 * not what is wrong. */
static bool refuse_columns(const pe_application *rule, const pe_axis_names *names,
                           const pe_axis_names *wanted, const char *given, pe_error *reterr)
{
    char order[64] = "";
    size_t used = 0, count = 0;
    for (size_t i = 0; i < 2 * names->count && used < sizeof order; i++) {
        size_t axis = i % names->count;
        bool column = pe_axes_find_same(wanted, names, axis) + 1 == wanted->count;
        if (column != (i >= names->count))
            continue;
        used += (size_t)snprintf(order + used, sizeof order - used, used > 0 ? ", %zu" : "%zu",
                                 axis);
        count += column;
    }
    const size_t last = pe_axes_find_same(wanted, names, names->count - 1) + 1;
    if (rule->kind < PE_APPLY_ROTATE || count == 0 || names->count != names->of ||
        (count == 1 && last == wanted->count))
        return false;
    pe_error_add(reterr, PE_MALFORMED, "axes", given,
                 "such that the columns are the last axis: send %s.transpose(%s)%s",
                 rule->input, order, count > 1 ? ", whose last axes are made one" : "");
    return true;
}

/* Check that no name is that of an axis that only the entries or the result have. */
static bool are_free(const pe_application *rule, const pe_axis_names *names,
                     const pe_axis_names *wanted, const char *given, pe_error *reterr)
{
    const char *lists[] = {rule->entry_axes, rule->result_axes};
    for (size_t i = 0; i < 2; i++) {
        pe_axis_names taken;
        for (size_t k = 0; lists[i] && pe_axes_split(lists[i], &taken) && k < taken.count;
             k++) {
            if (pe_axes_find_same(wanted, &taken, k) < wanted->count ||
                pe_axes_find_same(names, &taken, k) == names->count)
                continue;
            pe_error_add(reterr, PE_OUT_OF_RANGE, "axes", given,
                         "names without %.*s: that is an axis of the encoding, and not of %s",
                         (int)taken.at[k].length, taken.at[k].text, rule->input);
            return false;
        }
    }
    return true;
}

/* ---- naming ---- */

/* Let an axis lie in that of the columns, before them; false if there is no room. */
static bool insert_axis(pe_axis_names *names, size_t *columns, const char *name)
{
    if (names->count == PE_VIEW_RANK_MAX)
        return false;
    memmove(&names->at[*columns + 1], &names->at[*columns],
            (names->count - *columns) * sizeof *names->at);
    names->count++;
    names->at[*columns].text = name;
    names->at[(*columns)++].length = strlen(name);
    return true;
}

/* Let what the options say lie in the axis of the columns, where no axis is called so. */
static bool insert_axes(pe_axis_names *names, size_t columns, const pe_apply_options *options)
{
    bool packed = pe_axes_find(names, "qkv") < names->count;
    if (!packed && options->qkv == PE_QKV_GROUPED)
        return insert_axis(names, &columns, "groups") && insert_axis(names, &columns, "qkv");
    if (!packed && options->qkv == PE_QKV_STACKED)
        return insert_axis(names, &columns, "qkv");
    if (!packed && options->heads > 0 && pe_axes_find(names, "heads") == names->count)
        return insert_axis(names, &columns, "heads");
    return true;
}

bool pe_axes_name(const pe_application *rule, const char *list, const pe_view *input,
                  const pe_apply_options *options, pe_axis_names *ret_names, pe_error *reterr)
{
    pe_axis_names wanted, *names = ret_names;
    const char *asked = options->axes;
    (void)pe_axes_split(list, &wanted);
    if (input->rank < wanted.count && !asked)
        return pe_axes_refuse_shape(reterr, input, "[..., %.*s] of %s", (int)strcspn(list, "|"),
                                    list, rule->input);
    bool good = true, split = false;
    if (asked) {
        good = split = pe_axes_split(asked, names) && names->of == input->rank;
        for (size_t i = 0; good && i < names->count; i++)
            good = pe_axes_find_same(names, names, i) == i;
        for (size_t i = 0; good && i < wanted.count; i++)
            good = pe_axes_find_same(names, &wanted, i) < names->count;
    } else {
        size_t before = input->rank - wanted.count;
        *names = (pe_axis_names){.count = input->rank, .of = input->rank};
        for (size_t i = 0; i < before; i++)
            names->at[i].text = "";
        memcpy(names->at + before, wanted.at, wanted.count * sizeof *wanted.at);
        for (size_t i = 0; i < input->rank; i++)
            names->at[i].in = i;
    }
    size_t last = good ? pe_axes_find_same(names, &wanted, wanted.count - 1) : 0;
    good = good && (rule->kind < PE_APPLY_ROTATE || last + 1 == names->count);
    good = good && insert_axes(names, last, options);
    if (good)
        return !asked || are_free(rule, names, &wanted, asked, reterr);
    if (asked && split && refuse_columns(rule, names, &wanted, asked, reterr))
        return false;
    return refuse_axes(rule, list, asked ? asked : "", input->rank, reterr);
}

/* ---- two readings ---- */

/* Write the names as `axes` has them, with two of them exchanged; those that lie with the
 * columns, which are the last ones, stay out. */
static void write_reading(const pe_axis_names *names, size_t one, size_t other, char *dst,
                          size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < names->of && used < size; i++) {
        size_t name = i == one ? other : i == other ? one : i;
        if (i + 1 == names->of)
            name = names->count - 1;
        used += (size_t)snprintf(dst + used, size - used, "%s%.*s", i > 0 ? "," : "",
                                 (int)names->at[name].length, names->at[name].text);
        if (names->at[name].length == 0 && used < size)
            used += (size_t)snprintf(dst + used, size - used, name > 0 ? "axis_%zu" : "batch",
                                     name);
    }
}

bool pe_axes_are_clear(const pe_application *rule, const char *list, const pe_axis_names *names,
                       const uint64_t *extents, pe_error *reterr)
{
    pe_axis_names wanted;
    char readings[2][PE_VIEW_RANK_MAX * PE_AXIS_NAME_SIZE];
    (void)pe_axes_split(list, &wanted);
    const size_t heads = pe_axes_find(&wanted, "heads") < wanted.count;
    if (wanted.count - heads != 2) /* a grid, whose axes come together */
        return true;
    const size_t rows = pe_axes_find_same(names, &wanted, wanted.count - 2);
    for (size_t i = 0; i < rows; i++) {
        if (extents[i] != extents[rows] || extents[i] == 1)
            continue;
        write_reading(names, i, i, readings[0], sizeof readings[0]);
        write_reading(names, i, rows, readings[1], sizeof readings[1]);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "axes", "",
                     "given, as two axes of %s have %llu entries, as many as there are "
                     "positions: %s or %s",
                     rule->input, (unsigned long long)extents[i], readings[0], readings[1]);
        return false;
    }
    return true;
}

/* ---- dividing ---- */

/* The names that lie in an axis, "(heads, dim)". */
static void write_names(const pe_axis_names *names, size_t axis, char *dst, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < names->count && used < size; i++)
        if (names->at[i].in == axis)
            used += (size_t)snprintf(dst + used, size - used, "%s%.*s", used > 0 ? ", " : "(",
                                     (int)names->at[i].length, names->at[i].text);
    if (used < size)
        snprintf(dst + used, size - used, ")");
}

bool pe_axes_divide(const pe_application *rule, const pe_axis_names *names,
                    const pe_view *input, const uint64_t *known, uint64_t *ret_extents,
                    pe_error *reterr)
{
    char together[PE_VIEW_RANK_MAX * (PE_AXIS_NAME_SIZE + 2)];
    for (size_t axis = 0; axis < input->rank; axis++) {
        uint64_t extent = input->shape[axis], product = 1;
        size_t unknown = 0, open = 0, lie = 0;
        for (size_t i = 0; i < names->count; i++) {
            if (names->at[i].in != axis)
                continue;
            lie++;
            ret_extents[i] = known[i];
            if (known[i] == 0) {
                unknown++;
                open = i;
            } else if (__builtin_mul_overflow(product, known[i], &product)) {
                product = 0; /* which divides nothing */
                break;
            }
        }
        write_names(names, axis, together, sizeof together);
        if (unknown > 1)
            return pe_axes_refuse_shape(
                reterr, input,
                "such that the extents of all but one of %s of %s are known, which lie in one "
                "axis: give heads and kv_heads, or send them as axes of their own",
                together, rule->input);
        if (unknown == 1 && product > 0 && extent % product == 0)
            ret_extents[open] = extent / product;
        else if (product != extent)
            return pe_axes_refuse_shape(
                reterr, input, "%s%llu along the axis %s of %s, as %s%s",
                unknown ? "a multiple of " : "", (unsigned long long)product, together,
                rule->input, lie > 1 ? "their extents say" : "heads and kv_heads say",
                strcmp(together, "(qkv)") == 0 && product > 0 && extent % product == 0
                    ? "; or call it (groups,qkv), with qkv=grouped, if it has these of each key"
                    : "");
    }
    return true;
}
