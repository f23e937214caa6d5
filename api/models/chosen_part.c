/* Choosing a part by its name and a layer. */
#include "models/chosen_part.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A choice on its way. */
typedef struct choice {
    const api_model_plan *plan;
    const api_part_wish *wish;
    pe_error *error;
    size_t count;                  /* parts that fit */
    const api_model_part *fitting; /* one of them */
    bool one_component;            /* all of them are of one */
    char names[200];               /* theirs */
} choice;

static bool is_applied(const api_model_part *part)
{
    size_t count = 0;
    const pe_scheme *scheme = part->request ? pe_scheme_find(part->scheme) : NULL;
    if (scheme)
        pe_scheme_applications(scheme, &count);
    return count > 0;
}

static const char *name_component(const choice *self, const api_model_part *part)
{
    return self->plan->components[part->component].name;
}

/* Whether the name that is asked for is the part's. */
static bool has_name(const choice *self, const api_model_part *part)
{
    const char *name = self->wish->name;
    return !name || strcmp(name, part->name) == 0 ||
           strcmp(name, name_component(self, part)) == 0;
}

/* Whether the layer that is asked for uses the part. */
static bool has_layer(const choice *self, const api_model_part *part)
{
    const api_model_component *component = &self->plan->components[part->component];
    const int64_t layer = self->wish->layer;
    size_t index;
    json_t *other;
    if (layer < 0)
        return true;
    if ((uint64_t)layer < component->layer_count &&
        component->layers[layer] == (int32_t)(part - self->plan->parts))
        return true;
    json_array_foreach(part->second, index, other)
    {
        if (json_integer_value(other) == layer)
            return true;
    }
    return false;
}

static void add_name(choice *self, const char *name)
{
    size_t used = strlen(self->names);
    if (used + strlen(name) + 3 < sizeof self->names)
        snprintf(self->names + used, sizeof self->names - used, "%s%s", used > 0 ? ", " : "",
                 name);
}

/* Find the parts that fit. */
static void find_fitting(choice *self, bool named, bool layered)
{
    self->count = 0;
    self->one_component = true;
    self->names[0] = '\0';
    for (size_t i = 0; i < self->plan->part_count; i++) {
        const api_model_part *part = &self->plan->parts[i];
        if (!is_applied(part) || (named && !has_name(self, part)) ||
            (layered && !has_layer(self, part)))
            continue;
        if (self->count++ > 0)
            self->one_component &= part->component == self->fitting->component;
        self->fitting = part;
        add_name(self, part->name);
    }
}

/* The temperature of the queries of a component's layer; NULL: there is none. */
static const api_model_part *find_temperature(const choice *self, size_t component)
{
    for (size_t i = 0; i < self->plan->part_count; i++) {
        const api_model_part *part = &self->plan->parts[i];
        if (part->component == component && strcmp(part->kind, "attention_temperature") == 0 &&
            has_layer(self, part))
            return part;
    }
    return NULL;
}

__attribute__((format(printf, 3, 4))) static bool
refuse_wish(const choice *self, const char *parameter, const char *allowed, ...)
{
    char text[400], number[32] = "";
    const char *given = number;
    va_list list;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    if (strcmp(parameter, "part") == 0)
        given = self->wish->name ? self->wish->name : "";
    else if (strcmp(parameter, "layer") == 0 && self->wish->layer >= 0)
        snprintf(number, sizeof number, "%lld", (long long)self->wish->layer);
    pe_error_add(self->error, PE_OUT_OF_RANGE, parameter, given, "%s", text);
    return false;
}

/* Say why no part fits, unless it is a layer whose queries have a temperature alone. */
static bool choose_temperature_alone(choice *self, api_chosen_part *ret_chosen)
{
    find_fitting(self, true, false);
    if (self->count == 0) {
        find_fitting(self, false, false);
        return self->count > 0
                   ? refuse_wish(self, "part", "one of %s, of which the model has tables",
                                 self->names)
                   : refuse_wish(self, "model",
                                 "one with positions that are applied to tensors");
    }
    const api_model_part *part = self->fitting;
    const api_model_part *temperature =
        self->one_component ? find_temperature(self, part->component) : NULL;
    if (!temperature || strcmp(part->scheme, "rope") != 0)
        return refuse_wish(self, "layer", "one of those that use %s", self->names);
    if (!self->wish->query_factors)
        return refuse_wish(
            self, "layer",
            "one of those that use %s, or given with query_factors=true: the layer "
            "turns nothing, but its queries have a temperature",
            self->names);
    *ret_chosen = (api_chosen_part){part, temperature, true};
    return true;
}

bool api_model_choose_part(const api_model_plan *plan, const api_part_wish *wish,
                           api_chosen_part *ret_chosen, pe_error *reterr)
{
    choice self = {.plan = plan, .wish = wish, .error = reterr};
    find_fitting(&self, true, true);
    if (self.count == 0)
        return choose_temperature_alone(&self, ret_chosen);
    if (self.count > 1 && self.one_component && wish->layer < 0)
        return refuse_wish(&self, "layer", "given, or part: layers use different ones of %s",
                           self.names);
    if (self.count > 1)
        return refuse_wish(&self, "part", "given: one of %s", self.names);
    *ret_chosen = (api_chosen_part){self.fitting,
                                    find_temperature(&self, self.fitting->component), false};
    return true;
}

double api_model_part_fact(const api_model_part *part, const char *name)
{
    const json_t *value = json_object_get(json_object_get(part->facts, name), "value");
    return json_is_number(value) ? json_number_value(value) : NAN;
}
