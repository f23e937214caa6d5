/* Binding axes by their names. */
#include "apply/binding.h"

#include "apply/position_ids.h"
#include "requests/parameters.h"
#include "requests/request.h"

#include <stdio.h>
#include <string.h>

/* A binding on its way. */
typedef struct binder {
    const pe_request *request;
    const pe_application *rule;
    const pe_tensor *entries;
    const pe_view *input;
    const pe_apply_options *options;
    pe_axis_names names, of;            /* of the input and of the entries */
    uint64_t extents[PE_VIEW_RANK_MAX]; /* [names.count] */
    size_t columns;                     /* the place of the columns among the names */
    size_t positioned; /* the entries' axis that has position_ids, or of.count */
    pe_binding *binding;
    pe_error *error;
} binder;

/* The list of axes for the request's shape. */
static const char *read_axis_names(const pe_request *request, const char *axes)
{
    const char *colon = strchr(axes, ':');
    if (!colon)
        return axes;
    const pe_scheme_info *info = &request->values.scheme->info;
    const pe_parameter *row = pe_parameter_find(info, "shape");
    const char *choice = row->choices[pe_get_choice(&request->values, "shape")];
    size_t length = strlen(choice);
    while (strncmp(axes, choice, length) != 0 || axes[length] != ':')
        axes = strchr(axes, '|') + 1;
    return axes + length + 1;
}

/* ---- extents ---- */

/* Heads along the axes of an input. */
typedef struct head_counts {
    uint64_t queries, keys; /* along `qkv`, which has as many values as keys */
    uint64_t heads, groups; /* along axes of these names; 0: the input says */
} head_counts;

static head_counts count_heads(const binder *self)
{
    const pe_apply_options *options = self->options;
    const uint64_t heads = options->heads > 0 ? options->heads : 1;
    const uint64_t keys = options->kv_heads > 0 ? options->kv_heads : heads;
    bool packed = pe_axes_find(&self->names, "qkv") < self->names.count;
    if (packed && options->qkv == PE_QKV_GROUPED)
        return (head_counts){.queries = heads / keys, .keys = 1, .groups = keys};
    if (packed && pe_axes_find(&self->names, "heads") < self->names.count)
        return (head_counts){.queries = 1, .keys = 1, .heads = options->heads};
    bool key = strcmp(self->rule->input, "key") == 0;
    return (head_counts){.queries = heads,
                         .keys = keys,
                         .heads = options->heads == 0 ? 0
                                  : key               ? keys
                                                      : heads};
}

/* The extent that a name must have; 0 if the input says. */
static uint64_t find_extent(const binder *self, size_t name)
{
    const head_counts counts = count_heads(self);
    size_t of = pe_axes_find_same(&self->of, &self->names, name);
    if (of < self->of.count)
        return of == self->positioned ? 0 : self->entries->shape[of];
    if (self->rule->kind != PE_APPLY_ROTATE)
        return 0;
    if (name == self->columns && !self->options->partial)
        return (uint64_t)pe_get_integer(&self->request->values, "dim");
    if (name == pe_axes_find(&self->names, "qkv"))
        return counts.queries + 2 * counts.keys;
    if (name == pe_axes_find(&self->names, "groups"))
        return counts.groups;
    return name == pe_axes_find(&self->names, "heads") ? counts.heads : 0;
}

/* Whether an axis of the input is one name alone, whose extent is checked elsewhere. */
static bool is_alone(const pe_axis_names *names, size_t name)
{
    for (size_t i = 0; i < names->count; i++)
        if (i != name && names->at[i].in == names->at[name].in)
            return false;
    return true;
}

/* Find the extents of all names. */
static bool find_extents(binder *self)
{
    uint64_t known[PE_VIEW_RANK_MAX] = {0};
    for (size_t i = 0; i < self->names.count; i++) {
        bool checked = pe_axes_find_same(&self->of, &self->names, i) < self->of.count ||
                       i == self->columns;
        known[i] = checked && is_alone(&self->names, i) ? 0 : find_extent(self, i);
    }
    return pe_axes_divide(self->rule, &self->names, self->input, known, self->extents,
                          self->error);
}

/* Check that an axis of the input is as long as that of the entries. */
static bool check_extent(const binder *self, size_t axis, size_t of)
{
    char shape[96];
    if (self->extents[axis] == self->entries->shape[of])
        return true;
    pe_write_shape(self->entries->shape, self->entries->rank, shape, sizeof shape);
    return pe_axes_refuse_shape(
        self->error, self->input,
        "%llu along the axis %.*s of %s, as the tensor %s has, whose shape is %s",
        (unsigned long long)self->entries->shape[of], (int)self->names.at[axis].length,
        self->names.at[axis].text, self->rule->input, self->entries->name, shape);
}

/* ---- rows ---- */

/* The place of a name among the binding's axes, where the columns come last. */
static size_t find_place(const binder *self, size_t name)
{
    return name == self->columns ? self->names.count - 1 : name - (name > self->columns);
}

/* Set shape and rows. */
static void set_rows(binder *self)
{
    pe_binding *binding = self->binding;
    binding->rank = self->names.count;
    binding->columns = self->extents[self->columns];
    binding->rows = binding->together = 1;
    for (size_t i = 0; i < self->names.count; i++) {
        binding->shape[find_place(self, i)] = self->extents[i];
        if (i != self->columns)
            binding->rows *= self->extents[i];
        if (i > self->columns)
            binding->together *= self->extents[i];
    }
}

/* Append an axis of the result. */
static void add_axis(binder *self, const pe_axis_names *names, size_t name, uint64_t extent)
{
    pe_binding *binding = self->binding;
    snprintf(binding->names[binding->axes], PE_AXIS_NAME_SIZE, "%.*s",
             (int)names->at[name].length, names->at[name].text);
    binding->extents[binding->axes++] = extent;
}

/* Bind the axes of the entries. */
static bool bind_entries(binder *self)
{
    pe_binding *binding = self->binding;
    bool sums = self->rule->kind >= PE_APPLY_CONTRACT;
    uint64_t stride = 1;
    for (size_t i = self->of.count; i-- > 0;) {
        size_t name = pe_axes_find_same(&self->names, &self->of, i);
        bool there = name < self->names.count, last = i + 1 == self->of.count;
        if (there && i != self->positioned && !check_extent(self, name, i))
            return false;
        if (there && i == self->positioned)
            binding->id_step = stride;
        else if (there && !last)
            binding->strides[find_place(self, name)] = stride;
        if (!there && sums) { /* what there are results for */
            binding->results = self->entries->shape[i];
            add_axis(self, &self->of, i, binding->results);
        }
        if (!last)
            stride *= self->entries->shape[i];
    }
    return true;
}

/* Set the axes of the result but that of its own, if it has one. */
static void set_axes(binder *self)
{
    bool sums = self->rule->kind >= PE_APPLY_CONTRACT; /* over the input's columns */
    self->binding->results = sums ? 1 : self->binding->columns;
    for (size_t i = 0; i < self->names.count; i++)
        if (!sums || i != self->columns)
            add_axis(self, &self->names, i, self->extents[i]);
}

/* Set the shape of the answer: as the input's, but for the last axis of sums. */
static void set_answer(binder *self)
{
    pe_binding *binding = self->binding;
    bool sums = self->rule->kind >= PE_APPLY_CONTRACT;
    binding->answer_rank = self->input->rank;
    memcpy(binding->answer_shape, self->input->shape, sizeof binding->answer_shape);
    uint64_t *last = &binding->answer_shape[binding->answer_rank - 1];
    if (sums)
        *last = *last / binding->columns * binding->results;
    if (sums && binding->axes < self->names.count && is_alone(&self->names, self->columns))
        binding->answer_rank--; /* one result, and no axis for it */
}

/* ---- roles ---- */

static bool bind_roles(binder *self)
{
    pe_binding *binding = self->binding;
    size_t axis = pe_axes_find(&self->names, "qkv");
    binding->role_stride = binding->role_count = 1;
    if (self->rule->kind != PE_APPLY_ROTATE || axis == self->names.count)
        return true;
    const pe_scheme *scheme = self->request->values.scheme;
    for (size_t i = 0; i < scheme->application_count; i++)
        if (strcmp(scheme->applications[i].tensors[0], self->rule->tensors[0]) != 0) {
            pe_error_add(self->error, PE_OUT_OF_RANGE, "axes", "qkv",
                         "names without qkv: queries and keys have tables of their own, so "
                         "send each as a tensor");
            return false;
        }
    const head_counts counts = count_heads(self);
    binding->queries = counts.queries;
    binding->turned = counts.queries + counts.keys;
    binding->role_count = self->extents[axis];
    for (size_t i = axis + 1; i < self->names.count; i++)
        if (i != self->columns)
            binding->role_stride *= self->extents[i];
    return true;
}

pe_row_role pe_binding_role(const pe_binding *binding, uint64_t row)
{
    uint64_t index = row / binding->role_stride % binding->role_count;
    if (binding->role_count == 1 || index < binding->queries)
        return PE_ROW_QUERY;
    return index < binding->turned ? PE_ROW_KEY : PE_ROW_VALUE;
}

/* ---- binding ---- */

/* The entries' axis whose index is a position: that which is asked for by rows. */
static size_t find_positioned(const binder *self)
{
    if (!self->options->position_ids)
        return self->of.count;
    size_t length = pe_axes_find(&self->of, "length");
    return length < self->of.count ? length : pe_axes_find(&self->of, "queries");
}

static bool bind_positions(binder *self)
{
    pe_binding *binding = self->binding;
    if (!self->options->position_ids)
        return true;
    size_t batch = pe_axes_find(&self->names, "batch");
    size_t length = self->positioned < self->of.count
                        ? pe_axes_find_same(&self->names, &self->of, self->positioned)
                        : self->names.count;
    if (batch == self->names.count && self->names.at[0].length == 0)
        batch = 0;
    if (self->positioned < self->of.count)
        binding->positions = self->entries->shape[self->positioned];
    const pe_id_axes axes = {.length = length < self->names.count ? self->extents[length] : 0,
                             .batch = batch < self->names.count ? self->extents[batch] : 1,
                             .count = self->options->position_axes};
    pe_id_strides strides;
    if (!pe_ids_fit(self->options->position_ids, &axes, &strides, self->error))
        return false;
    binding->axis_stride = strides.axis;
    binding->id_strides[find_place(self, length)] = strides.length;
    if (batch < self->names.count)
        binding->id_strides[find_place(self, batch)] = strides.batch;
    return true;
}

bool pe_binding_make(const pe_request *request, const pe_application *rule,
                     const pe_tensor *entries, const pe_view *input,
                     const pe_apply_options *options, pe_binding *ret_binding, pe_error *reterr)
{
    const char *list = read_axis_names(request, rule->axes);
    binder self = {.request = request,
                   .rule = rule,
                   .entries = entries,
                   .input = input,
                   .options = options,
                   .binding = ret_binding,
                   .error = reterr};
    pe_axis_names wanted;
    *ret_binding = (pe_binding){.rank = 0};
    if (!pe_axes_name(rule, list, input, options, &self.names, reterr))
        return false;
    (void)pe_axes_split(list, &wanted);
    (void)pe_axes_split(rule->entry_axes ? rule->entry_axes : list, &self.of);
    if (self.of.count != entries->rank) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "form", "compact",
                     "expanded: only whole tensors are applied");
        return false;
    }
    self.columns = pe_axes_find_same(&self.names, &wanted, wanted.count - 1);
    self.positioned = find_positioned(&self);
    if (!find_extents(&self) ||
        (!options->axes && !pe_axes_are_clear(rule, list, &self.names, self.extents, reterr)))
        return false;
    set_rows(&self);
    set_axes(&self);
    if (!bind_entries(&self) || !bind_roles(&self) || !bind_positions(&self))
        return false;
    set_answer(&self);
    return true;
}

uint64_t pe_binding_row(const pe_binding *binding, uint64_t row, size_t axis)
{
    uint64_t of = 0, id = axis * binding->axis_stride;
    for (size_t i = binding->rank - 1; i-- > 0;) {
        uint64_t extent = binding->shape[i], index = row % extent;
        of += index * binding->strides[i];
        id += index * binding->id_strides[i];
        row /= extent;
    }
    return binding->offsets ? of + binding->offsets[id] * binding->id_step : of;
}
