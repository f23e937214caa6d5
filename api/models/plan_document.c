/* A plan as JSON, for a person to read: what the model has, part by part, and why. */
#include "models/config.h"
#include "models/difference.h"
#include "models/row_source.h"

#include "bytes/text.h"
#include "json/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a part is, and the same after "2 parts". */
static const char *const STATES[][2] = {
    [API_PART_COMPUTED] = {"computed", "computed"},
    [API_PART_TRAINED] = {"trained", "trained"},
    [API_PART_UNSERVED] = {"no scheme in this release", "without a scheme in this release"},
    [API_PART_NOTHING] = {"nothing to compute", "with nothing to compute"},
};

/* The text as a JSON string. */
static json_t *take_string(api_text *text)
{
    char *taken = api_text_take(text);
    json_t *string = json_string(taken ? taken : "");
    if (!taken)
        api_document_spoil();
    free(taken);
    return string;
}

/* ---- layers ---- */

json_t *model_list_layers(const api_model_plan *plan, size_t part)
{
    const api_model_component *component = &plan->components[plan->parts[part].component];
    if (plan->parts[part].second)
        return json_incref(plan->parts[part].second);
    json_t *layers = json_array();
    for (size_t i = 0; i < component->layer_count; i++)
        if (component->layers[i] == (int32_t)part)
            json_array_append_new(layers, json_integer((json_int_t)i));
    return layers;
}

/* "all 32 layers", "10 of 62 layers", or nothing where the layers are not known. */
static void add_layers(const api_model_plan *plan, size_t part, size_t used, api_text *text)
{
    const api_model_component *component = &plan->components[plan->parts[part].component];
    if (component->layer_count == 0 || used == 0)
        return;
    if (used == 1 && component->layer_count == 1)
        api_text_add(text, "; the only layer");
    else if (used == component->layer_count)
        api_text_add(text, "; all %zu layers", used);
    else
        api_text_add(text, "; %zu of %zu layers", used, component->layer_count);
}

/* ---- words ---- */

/* A number with blanks between thousands, as in "1 000 000"; others as they are. */
static void add_number(double number, api_text *text)
{
    char digits[PE_PRINT_MAX];
    size_t length = pe_print_number(digits, number);
    bool plain = number >= 10000 && strspn(digits, "0123456789") >= length;
    for (size_t i = 0; i < length; i++) {
        if (plain && i > 0 && (length - i) % 3 == 0)
            api_text_add(text, " ");
        api_text_add(text, "%c", digits[i]);
    }
}

static json_t *find_fact(const api_model_part *part, const char *name)
{
    return json_object_get(json_object_get(part->facts, name), "value");
}

/* Add "word number" of a fact, if there is one. */
static void add_fact(const api_model_part *part, const char *name, const char *before,
                     const char *after, api_text *text)
{
    const json_t *value = find_fact(part, name);
    if (!json_is_number(value))
        return;
    api_text_add(text, "%s", before);
    add_number(json_number_value(value), text);
    bool is_one = json_number_value(value) == 1 && model_has_ending(after, "s");
    api_text_add(text, "%.*s", (int)(strlen(after) - is_one), after);
}

/* Add "8 x 16" for [8, 16]. */
static void add_grid(const json_t *grid, const char *before, const char *after, api_text *text)
{
    for (size_t i = 0; i < json_array_size(grid); i++) {
        api_text_add(text, "%s", i == 0 ? before : " x ");
        add_number(json_number_value(json_array_get(grid, i)), text);
    }
    if (grid)
        api_text_add(text, "%s", after);
}

static void add_rotary_words(const api_model_part *part, api_text *text)
{
    const char *type = json_string_value(find_fact(part, "rope_type"));
    api_text_add(text,
                 strcmp(part->kind, "mrope") == 0 ? "Rotary on three axes: " : "Rotary: ");
    add_fact(part, "rotary_dim", "", "", text);
    add_fact(part, "head_dim", " of ", " columns of a head", text);
    if (part->pairing)
        api_text_add(text, ", pairs %s",
                     strcmp(part->pairing, "half") == 0 ? "in halves" : "of neighbours");
    add_fact(part, "rope_theta", ", theta ", "", text);
    if (type && strcmp(type, "default") != 0) {
        api_text_add(text, ", %s", type);
        add_fact(part, "factor", " by ", "", text);
    }
    if (strcmp(part->kind, "mrope") == 0) {
        add_grid(find_fact(part, "grid"), ", for text around ", " patches", text);
        add_fact(part, "picture_tokens", ", ", " tokens", text);
    }
}

/* What kinds of parts are called; others have their own name. */
static const char *const KINDS[][2] = {
    {"alibi", "ALiBi"},
    {"deberta", "Indices of distances, as DeBERTa's"},
    {"decomposed", "Vectors for offsets of rows and of columns"},
    {"detr_sine_2d", "Sinusoids of a picture's cells"},
    {"random_fourier", "Random Fourier features"},
    {"relative_sinusoidal", "Sinusoids of distances"},
    {"shaw", "Vectors of clipped distances"},
    {"sinusoidal", "Sinusoids"},
    {"sinusoidal_2d", "Sinusoids of patches"},
    {"swin_relative_bias", "Bias by the offset in a window"},
    {"swin_v2_bias", "Bias by a network of the offset in a window"},
    {"t5", "Buckets of distances, as T5's"},
    {"transformer_xl", "Sinusoids of distances"},
};

static void add_kind(const char *kind, api_text *text)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(KINDS[i][0], kind) == 0) {
            api_text_add(text, "%s", KINDS[i][1]);
            return;
        }
    for (const char *at = kind; *at; at++) /* "attention_temperature" in words */
        api_text_add(text, "%c", *at == '_' ? ' ' : *at);
}

/* One sentence about a part. */
static json_t *summarise_part(const api_model_plan *plan, size_t index, size_t used)
{
    const api_model_part *part = &plan->parts[index];
    api_text text = {0};
    if (strncmp(part->kind, "rope", 4) == 0 || strcmp(part->kind, "mrope") == 0) {
        add_rotary_words(part, &text);
    } else if (strcmp(part->kind, "learned") == 0) {
        api_text_add(&text, "Learned table");
        add_fact(part, "rows", " of ", " rows", &text);
        add_fact(part, "dim", ", ", " columns", &text);
        add_fact(part, "offset", "; position 0 has row ", "", &text);
    } else {
        add_kind(part->kind, &text);
        add_grid(find_fact(part, "window"), ", in ", " cells", &text);
        add_grid(find_fact(part, "grid"), ", a grid of ", "", &text);
        add_fact(part, "heads", ", ", " heads", &text);
        add_fact(part, "rows", ", ", " rows", &text);
        add_fact(part, "dim", ", ", " columns", &text);
    }
    add_layers(plan, index, used, &text);
    api_text_add(&text, ".");
    return take_string(&text);
}

/* ---- arguments ---- */

json_t *model_argument_value(const pe_argument *argument)
{
    json_t *list;
    switch (argument->kind) {
    case PE_KIND_NUMBER:
        return api_document_number(strtod(argument->text, NULL));
    case PE_KIND_BOOLEAN:
        return json_boolean(strcmp(argument->text, "true") == 0);
    case PE_KIND_LIST:
        list = json_array();
        for (const char *at = argument->text; *at; at += strcspn(at, ","), at += *at == ',')
            json_array_append_new(list, api_document_number(strtod(at, NULL)));
        return list;
    case PE_KIND_ANY:
    case PE_KIND_STRING:
    case PE_KIND_NULL:
        break;
    }
    return json_string(argument->text);
}

static json_t *describe_arguments(const api_model_part *part)
{
    json_t *arguments = json_object();
    for (size_t i = 0; i < part->count; i++)
        json_object_set_new(arguments, part->arguments[i].name,
                            json_pack("{s:o, s:o}", "value",
                                      model_argument_value(&part->arguments[i]), "from",
                                      api_origin_describe(part->from[i])));
    return arguments;
}

/* Whether the scheme of a computed part has tensors that the model trains: those which the plan
 * does not list, where the scheme takes a set. */
static bool is_completed(const api_model_part *part)
{
    return part->state == API_PART_COMPUTED &&
           pe_parameter_find(pe_scheme_describe(pe_scheme_find(part->scheme)), "set");
}

const char *api_model_part_single(const api_model_part *part)
{
    return is_completed(part) && !strchr(part->tensors, ' ') ? part->tensors : NULL;
}

/* The path and query that give the tensors of a part, or with `all` what a set completes. */
static json_t *describe_request(const api_model_plan *plan, const api_model_part *part,
                                bool all)
{
    const char *set = plan->options->set ? plan->options->set : "YOUR-SET";
    const pe_scheme_info *scheme = pe_scheme_describe(pe_scheme_find(part->scheme));
    api_text text = {0};
    api_text_add(&text, "/v1/encodings/%s", part->scheme);
    for (size_t i = 0; i < part->count; i++) {
        const pe_parameter *row = pe_parameter_find(scheme, part->arguments[i].name);
        if (all && row && row->unless && strcmp(row->unless, "set") == 0)
            continue;
        api_text_add(&text, "%c%s=", i == 0 ? '?' : '&', part->arguments[i].name);
        for (const char *at = part->arguments[i].text; *at; at++)
            api_text_add(&text, *at == '+' ? "%%2B" : "%c", *at);
    }
    if (part->state == API_PART_TRAINED || all)
        api_text_add(&text, "&set=%s", set);
    else if (api_model_part_single(part))
        api_text_add(&text, "&tensor=%s", api_model_part_single(part));
    return take_string(&text);
}

static json_t *describe_tensors(const api_model_part *part, uint64_t *bytes)
{
    json_t *tensors = json_array();
    for (size_t i = 0; i < pe_request_tensor_count(part->request); i++) {
        const pe_tensor *tensor = pe_request_tensor(part->request, i);
        if (!model_lists(part->tensors, tensor->name))
            continue;
        json_t *shape = json_array();
        for (size_t axis = 0; axis < tensor->rank; axis++)
            json_array_append_new(shape, json_integer((json_int_t)tensor->shape[axis]));
        *bytes += tensor->bytes;
        json_array_append_new(tensors,
                              json_pack("{s:o, s:s, s:o, s:I}", "name",
                                        json_sprintf("%s.%s", part->name, tensor->name),
                                        "dtype", pe_dtype_name(tensor->dtype), "shape", shape,
                                        "bytes", (json_int_t)tensor->bytes));
    }
    return tensors;
}

/* ---- what is left out ---- */

bool api_model_part_is_served(const api_model_plan *plan, const api_model_part *part)
{
    return part->request && (part->state == API_PART_COMPUTED ||
                             (part->state == API_PART_TRAINED && plan->options->set));
}

static const char TRAINED[] =
    "its numbers are trained: they are in the checkpoint. Upload them "
    "as a set, and name that by set=";

/* List the tensors of a part that a set would complete. */
static void list_trained(const api_model_plan *plan, const api_model_part *part, json_t *list)
{
    for (size_t i = 0; i < pe_request_tensor_count(part->request); i++) {
        const char *name = pe_request_tensor(part->request, i)->name;
        if (!model_lists(part->tensors, name))
            json_array_append_new(list, json_pack("{s:o, s:s, s:o}", "part",
                                                  json_sprintf("%s.%s", part->name, name),
                                                  "reason", TRAINED, "request",
                                                  describe_request(plan, part, true)));
    }
}

json_t *api_model_list_omissions(const api_model_plan *plan)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plan->part_count; i++) {
        const api_model_part *part = &plan->parts[i];
        bool trained = part->state == API_PART_TRAINED;
        if (part->request && is_completed(part))
            list_trained(plan, part, list);
        if (api_model_part_is_served(plan, part) || part->state == API_PART_NOTHING)
            continue;
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:o*}", "part", part->name, "reason",
                      !trained        ? "this release has no scheme that computes it"
                      : part->request ? TRAINED
                                      : "its numbers are trained, and this release has "
                                        "no scheme that reads them",
                      "request",
                      trained && part->request ? describe_request(plan, part, true) : NULL));
    }
    return list;
}

/* ---- the whole ---- */

static json_t *describe_part(const api_model_plan *plan, size_t index, uint64_t *bytes)
{
    const api_model_part *part = &plan->parts[index];
    uint64_t unsent = 0; /* bytes of tensors that are left out */
    json_t *layers = model_list_layers(plan, index);
    json_t *described =
        json_pack("{s:s, s:o, s:s, s:s, s:s, s:s?}", "name", part->name, "summary",
                  summarise_part(plan, index, json_array_size(layers)), "component",
                  plan->components[part->component].name, "kind", part->kind, "state",
                  STATES[part->state][0], "pairing", part->pairing);
    json_object_set_new(described, "layers", layers);
    json_object_set(described, "facts", part->facts);
    if (part->request) {
        json_object_set_new(described, "scheme", json_string(part->scheme));
        json_object_set_new(described, "arguments", describe_arguments(part));
        json_object_set_new(
            described, "tensors",
            describe_tensors(part, api_model_part_is_served(plan, part) ? bytes : &unsent));
        json_object_set_new(described, "request", describe_request(plan, part, false));
    }
    json_object_set(described, "notes", part->notes);
    return described;
}

static json_t *describe_component(const api_model_plan *plan, size_t index)
{
    const api_model_component *component = &plan->components[index];
    json_t *layers = json_array();
    for (size_t i = 0; i < component->layer_count; i++)
        json_array_append_new(layers, json_integer(component->layers[i]));
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "name", component->name, "model_type",
                     component->model_type, "config", component->path, "layer_count",
                     (json_int_t)component->layer_count, "layer_count_from",
                     api_origin_describe(component->counted), "layers", layers);
}

/* One sentence about the plan, after what must be known first. */
static json_t *summarise_plan(const api_model_plan *plan, uint64_t bytes, size_t left_out)
{
    size_t counts[4] = {0};
    for (size_t i = 0; i < plan->part_count; i++)
        counts[plan->parts[i].state]++;
    api_text text = {0};
    const char *before = ": ";
    if (plan->warning)
        api_text_add(&text, "%s\n", plan->warning);
    api_text_add(&text, "%s", plan->family);
    if (plan->part_count == 0) {
        api_text_add(&text, plan->is_told
                                ? ": this release computes none of its positions: see notes."
                                : ": no positions, so nothing to compute.");
        return take_string(&text);
    }
    for (size_t i = 0; i < sizeof STATES / sizeof *STATES; i++) {
        if (counts[i] == 0)
            continue;
        api_text_add(&text, "%s%zu part%s %s", before, counts[i], counts[i] == 1 ? "" : "s",
                     STATES[i][1]);
        before = ", ";
    }
    bool few = bytes < 100000, many = bytes >= 999500000;
    api_text_add(&text, "; %.3g %s of tensors",
                 (double)bytes / (few    ? 1e3
                                  : many ? 1e9
                                         : 1e6),
                 few    ? "kB"
                 : many ? "GB"
                        : "MB");
    if (left_out > 0)
        api_text_add(&text, ", which leave out %zu part%s: see left_out", left_out,
                     left_out == 1 ? "" : "s");
    api_text_add(&text, ".");
    return take_string(&text);
}

json_t *api_model_plan_describe(const api_model_plan *plan)
{
    json_t *components = json_array(), *parts = json_array();
    json_t *left_out = api_model_list_omissions(plan);
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->component_count; i++)
        json_array_append_new(components, describe_component(plan, i));
    for (size_t i = 0; i < plan->part_count; i++)
        json_array_append_new(parts, describe_part(plan, i, &bytes));
    const char *convention = plan->options->convention_name;
    return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:O, s:O}", "model_type",
                     plan->model_type, "summary",
                     summarise_plan(plan, bytes, json_array_size(left_out)), "convention",
                     convention, "source", model_source_describe(plan->model_type, convention),
                     "components", components, "parts", parts, "left_out", left_out, "notes",
                     plan->notes, "not_used", plan->not_used);
}
