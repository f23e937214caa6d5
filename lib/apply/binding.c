/* Binding axes by their names. */
#include "apply/binding.h"

#include "requests/request.h"

#include <stdio.h>
#include <string.h>

#define NAMES_MAX       PE_VIEW_RANK_MAX
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* Names of axes, which lie in a text that they are cut out of. */
typedef struct axis_names {
    size_t count;
    struct {
        const char *text;
        size_t length;
    } at[NAMES_MAX];
} axis_names;

/* Split names joined by commas, up to the end or a bar. False: there are too many, or one is
 * empty, too long or has other characters. */
static bool split(const char *text, axis_names *ret_names)
{
    ret_names->count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",|");
        if (length == 0 || length >= PE_AXIS_NAME_SIZE || ret_names->count == NAMES_MAX ||
            strspn(at, NAME_CHARACTERS) < length)
            return false;
        ret_names->at[ret_names->count].text = at;
        ret_names->at[ret_names->count++].length = length;
        at += length;
        if (*at != ',')
            return true;
    }
}

/* The place of a name, or `count`. */
static size_t find_place(const axis_names *names, const axis_names *of, size_t index)
{
    size_t place = 0;
    while (place < names->count &&
           (names->at[place].length != of->at[index].length ||
            memcmp(names->at[place].text, of->at[index].text, of->at[index].length) != 0))
        place++;
    return place;
}

/* The list of axes for the request's shape. */
static const char *read_axis_names(const pe_request *request, const char *axes)
{
    const char *colon = strchr(axes, ':');
    if (!colon)
        return axes;
    const pe_scheme_info *info = &request->values.scheme->info;
    const pe_parameter *row = pe_parameter_at(info, pe_parameter_index(info, "shape"));
    const char *choice = row->choices[pe_choice(&request->values, "shape")];
    size_t length = strlen(choice);
    while (strncmp(axes, choice, length) != 0 || axes[length] != ':')
        axes = strchr(axes, '|') + 1;
    return axes + length + 1;
}

/* ---- problems ---- */

static void write_shape(const uint64_t *shape, size_t rank, char *dst, size_t size)
{
    size_t used = (size_t)snprintf(dst, size, "[");
    for (size_t i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(dst + used, size - used, "%s%llu", i > 0 ? ", " : "",
                                 (unsigned long long)shape[i]);
    if (used < size)
        snprintf(dst + used, size - used, "]");
}

static bool refuse_axes(const pe_application *rule, const char *list, const char *given,
                        size_t rank, pe_error *reterr)
{
    pe_error_add(reterr, PE_MALFORMED, "axes", given,
                 "%zu different names joined by commas, one for each axis of %s, with all of "
                 "%.*s among them and the last of these at the end; a name has at most %d "
                 "letters, digits, _ and -",
                 rank, rule->input, (int)strcspn(list, "|"), list, PE_AXIS_NAME_SIZE - 1);
    return false;
}

/* Check that no name is that of an axis that only the entries or the result have. */
static bool are_free(const pe_application *rule, const axis_names *names,
                     const axis_names *wanted, const char *given, pe_error *reterr)
{
    const char *lists[] = {rule->entry_axes, rule->result_axes};
    for (size_t i = 0; i < 2; i++) {
        axis_names taken;
        for (size_t k = 0; lists[i] && split(lists[i], &taken) && k < taken.count; k++) {
            if (find_place(wanted, &taken, k) < wanted->count ||
                find_place(names, &taken, k) == names->count)
                continue;
            pe_error_add(reterr, PE_OUT_OF_RANGE, "axes", given,
                         "names without %.*s: that is an axis of the encoding, and not of %s",
                         (int)taken.at[k].length, taken.at[k].text, rule->input);
            return false;
        }
    }
    return true;
}

/* ---- binding ---- */

/* Name the input's axes: as asked for, else the last ones as the rule names them. Those without
 * a name have an empty one. */
static bool name_axes(const pe_application *rule, const char *list, const pe_view *input,
                      const char *asked, axis_names *ret_names, pe_error *reterr)
{
    axis_names wanted;
    char given[96];
    (void)split(list, &wanted);
    if (input->rank < wanted.count) {
        write_shape(input->shape, input->rank, given, sizeof given);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", given, "[..., %.*s] of %s",
                     (int)strcspn(list, "|"), list, rule->input);
        return false;
    }
    if (!asked) {
        size_t before = input->rank - wanted.count;
        *ret_names = (axis_names){.count = input->rank};
        for (size_t i = 0; i < before; i++)
            ret_names->at[i].text = "";
        memcpy(ret_names->at + before, wanted.at, wanted.count * sizeof *wanted.at);
        return true;
    }
    bool good = split(asked, ret_names) && ret_names->count == input->rank;
    for (size_t i = 0; good && i < ret_names->count; i++)
        good = find_place(ret_names, ret_names, i) == i;
    for (size_t i = 0; good && i < wanted.count; i++)
        good = find_place(ret_names, &wanted, i) < input->rank;
    if (good && find_place(ret_names, &wanted, wanted.count - 1) == input->rank - 1)
        return are_free(rule, ret_names, &wanted, asked, reterr);
    return refuse_axes(rule, list, asked, input->rank, reterr);
}

/* Check that an axis of the input is as long as that of the entries. */
static bool fits(const pe_application *rule, const axis_names *names, size_t axis,
                 const pe_view *input, const pe_tensor *entries, size_t of, pe_error *reterr)
{
    char given[96], shape[96];
    if (input->shape[axis] == entries->shape[of])
        return true;
    write_shape(input->shape, input->rank, given, sizeof given);
    write_shape(entries->shape, entries->rank, shape, sizeof shape);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", given,
                 "%llu along the axis %.*s of %s, as the tensor %s has, whose shape is %s",
                 (unsigned long long)entries->shape[of], (int)names->at[axis].length,
                 names->at[axis].text, rule->input, entries->name, shape);
    return false;
}

/* Note the name of an axis of the result. */
static void note_name(pe_binding *binding, size_t axis, const axis_names *names, size_t place)
{
    snprintf(binding->names[axis], PE_AXIS_NAME_SIZE, "%.*s", (int)names->at[place].length,
             names->at[place].text);
}

bool pe_binding_make(const pe_request *request, const pe_application *rule,
                     const pe_tensor *entries, const pe_view *input, const char *axes,
                     pe_binding *ret_binding, pe_error *reterr)
{
    const char *list = read_axis_names(request, rule->axes);
    axis_names names, of;
    pe_binding binding = {.rank = input->rank, .rows = 1};
    if (!name_axes(rule, list, input, axes, &names, reterr))
        return false;
    (void)split(rule->entry_axes ? rule->entry_axes : list, &of);
    if (of.count != entries->rank) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "form", "compact",
                     "expanded: only whole tensors are applied");
        return false;
    }
    memcpy(binding.shape, input->shape, sizeof binding.shape);
    binding.columns = input->shape[input->rank - 1];
    bool sums = rule->kind >= PE_APPLY_CONTRACT; /* over the input's last axis */
    binding.results = sums ? 1 : binding.columns;
    binding.has_result_axis = !sums;
    for (size_t i = 0; i + 1 < input->rank; i++)
        binding.rows *= input->shape[i];
    for (size_t i = 0; i + !binding.has_result_axis < input->rank; i++)
        note_name(&binding, i, &names, i);
    uint64_t stride = 1;
    for (size_t i = of.count; i-- > 0;) {
        size_t place = find_place(&names, &of, i);
        bool last = i + 1 == of.count;
        if (place < input->rank && !fits(rule, &names, place, input, entries, i, reterr))
            return false;
        if (place < input->rank && !last)
            binding.strides[place] = stride;
        if (place == input->rank && sums) { /* what there are results for */
            binding.results = entries->shape[i];
            binding.has_result_axis = true;
            note_name(&binding, input->rank - 1, &of, i);
        }
        if (!last)
            stride *= entries->shape[i];
    }
    *ret_binding = binding;
    return true;
}

uint64_t pe_binding_row(const pe_binding *binding, uint64_t row)
{
    uint64_t of = 0;
    for (size_t axis = binding->rank - 1; axis-- > 0;) {
        uint64_t extent = binding->shape[axis];
        of += row % extent * binding->strides[axis];
        row /= extent;
    }
    return of;
}
