/* Finding the tensors of a file that a scheme is applied to. */
#include "files/applied_parts.h"

#include "files/body_file.h"
#include "files/safetensors.h"
#include "files/set_header.h"

#include <stdio.h>
#include <string.h>

/* Names joined by commas. */
typedef struct name_list {
    size_t count;
    char names[PE_TENSORS_MAX][API_SET_NAME_MAX + 1];
} name_list;

/* The tensors that a request speaks of. */
typedef struct search {
    api_applied *applied;
    const api_applied_names *asked;
    size_t input_count;
    const char *inputs[PE_TENSORS_MAX]; /* of the scheme, each once */
    name_list names;                    /* what the file calls them, if the request says so */
    name_list against;
    pe_error *error;
} search;

bool api_applied_load(api_applied *applied, pe_error *reterr)
{
    applied->file = api_request_file(&applied->request);
    if (applied->is_npy)
        return true;
    applied->root = api_safetensors_load(&applied->file, &applied->data, reterr);
    return applied->root != NULL;
}

const char *api_applied_config(const api_applied *applied)
{
    const json_t *metadata = json_object_get(applied->root, API_SET_METADATA);
    const char *text = json_string_value(json_object_get(metadata, "config.json"));
    return text ? text : json_string_value(json_object_get(metadata, "config"));
}

bool api_applied_find_positions(api_applied *applied, const pe_view **ret_positions,
                                pe_error *reterr)
{
    const char *name = API_APPLY_POSITIONS;
    char found[API_SET_NAME_MAX + 1];
    *ret_positions = NULL;
    applied->takes_positions = true;
    if (!json_object_get(applied->root, name))
        return true;
    *ret_positions = &applied->positions;
    const bool good = api_safetensors_find(&applied->file, applied->root, applied->data, name,
                                           NULL, &applied->positions, found, reterr);
    json_object_del(applied->root, name); /* which is no input */
    return good;
}

/* ---- names ---- */

/* Whether a list has a name. */
static bool has_name(const name_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

/* Read the names of a text: one that the file has, else those that it joins by commas. */
static bool read_names(const search *self, const char *option, const char *text,
                       name_list *ret_names)
{
    const json_t *root = self->applied->root;
    bool one = json_object_get(root, text) != NULL;
    *ret_names = (name_list){.count = 0};
    for (const char *at = text;; at++) {
        size_t length = one ? strlen(at) : strcspn(at, ",");
        if (ret_names->count == PE_TENSORS_MAX || length > API_SET_NAME_MAX)
            break;
        char *name = ret_names->names[ret_names->count];
        snprintf(name, API_SET_NAME_MAX + 1, "%.*s", (int)length, at);
        if (!json_object_get(root, name) || strcmp(name, API_SET_METADATA) == 0 ||
            has_name(ret_names, name))
            break;
        ret_names->count++;
        at += length;
        if (!*at)
            return true;
    }
    pe_error_add(self->error, PE_OUT_OF_RANGE, option, text,
                 "the name of a tensor of the file, or different names joined by commas");
    return false;
}

/* Append a name to a list of those that a problem tells. */
static void list_name(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    if (!strstr(list, name) && used + strlen(name) + 4 < size)
        snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

/* Whether a result is asked for. */
static bool is_asked(const search *self, size_t application)
{
    const char *result = self->asked->result;
    return !result || strcmp(self->applied->applications[application].result, result) == 0;
}

/* List the inputs of what is asked for. */
static void list_inputs(search *self)
{
    for (size_t i = 0; i < self->applied->application_count; i++) {
        const char *input = self->applied->applications[i].input;
        size_t at = 0;
        while (at < self->input_count && strcmp(self->inputs[at], input) != 0)
            at++;
        if (at == self->input_count && is_asked(self, i))
            self->inputs[self->input_count++] = input;
    }
}

/* What the file calls an input of the scheme; NULL: the request's names leave it out. */
static const char *find_name(const search *self, const char *input)
{
    if (self->names.count == 0)
        return input;
    for (size_t i = 0; i < self->input_count && i < self->names.count; i++)
        if (strcmp(self->inputs[i], input) == 0)
            return self->names.names[i];
    return NULL;
}

/* ---- problems ---- */

static bool refuse_result(const search *self)
{
    const char *names[PE_TENSORS_MAX];
    for (size_t i = 0; i < self->applied->application_count; i++)
        names[i] = self->applied->applications[i].result;
    pe_error_add_choice(self->error, "result", self->asked->result, names,
                        self->applied->application_count);
    return false;
}

static bool refuse_names(const search *self, const char *given)
{
    char names[128] = "";
    bool compared = self->against.count > 0;
    for (size_t i = 0; i < self->applied->application_count; i++)
        list_name(names, sizeof names, self->applied->applications[i].input);
    pe_error_add(self->error, PE_OUT_OF_RANGE, "body", given,
                 "a safetensors file of %s that are called %s, or as inputs says, or of one "
                 "such tensor%s; %s",
                 compared ? "tensors besides that of against" : "tensors", names,
                 compared ? " of any name" : ", which may have any name",
                 self->applied->takes_positions
                     ? "where rows have positions of their own, these are " API_APPLY_POSITIONS
                       ", also of sequences that lie one after the other"
                     : "positions of this scheme are parameters, and no tensor");
    return false;
}

/* Add that one of the results that may be computed must be chosen; `reason` is why. */
static bool refuse_several_results(const search *self, const size_t *chosen, size_t count,
                                   const char *reason)
{
    char names[128] = "";
    bool one_input = true;
    for (size_t i = 0; i < count; i++) {
        const pe_application *rule = &self->applied->applications[chosen[i]];
        list_name(names, sizeof names, rule->result);
        one_input &= strcmp(rule->input, self->applied->applications[chosen[0]].input) == 0;
    }
    pe_error_add(self->error, PE_MALFORMED, "result", "", "one of %s, as %s%s", names, reason,
                 one_input ? "" : "; or send the input of one result alone");
    return false;
}

/* ---- inputs ---- */

/* Add a result for an input of the file, which is called `name` there; NULL in an npy file. */
static bool add_input(const search *self, size_t application, const char *name)
{
    api_applied *applied = self->applied;
    const pe_application *rule = &applied->applications[application];
    api_applied_tensor *result = &applied->results[applied->count];
    pe_view *view = &applied->inputs[applied->count];
    if (name ? !api_safetensors_find(&applied->file, applied->root, applied->data, name, NULL,
                                     view, result->name, self->error)
             : !api_npy_view(&applied->file, view, self->error))
        return false;
    if (!name || strcmp(rule->result, rule->input) != 0)
        snprintf(result->name, sizeof result->name, "%s", rule->result);
    applied->chosen[applied->count++] = application;
    return true;
}

/* The tensors of a file besides those that are compared. */
typedef struct members {
    size_t count, known;         /* all; those with names of inputs */
    const char *only, *stranger; /* one of them; one that is no input, or NULL */
} members;

static bool is_input(const search *self, const char *name)
{
    if (self->names.count > 0)
        return has_name(&self->names, name);
    for (size_t i = 0; i < self->applied->application_count; i++)
        if (strcmp(self->applied->applications[i].input, name) == 0)
            return true;
    return false;
}

static members count_members(const search *self)
{
    const char *name;
    json_t *value;
    members found = {.only = NULL};
    json_object_foreach(self->applied->root, name, value)
    {
        if (strcmp(name, API_SET_METADATA) == 0 || has_name(&self->against, name))
            continue;
        bool known = is_input(self, name);
        found.count++;
        found.known += known;
        found.only = name;
        found.stranger = known ? found.stranger : name;
    }
    return found;
}

/* Find the inputs of a safetensors file. */
static bool find_safetensors_inputs(const search *self)
{
    const members found = count_members(self);
    const char *given = found.stranger ? found.stranger : found.only ? found.only : "";
    const char *first = NULL; /* whose input the only tensor is */
    if (found.count == 0 || (found.count > 1 && found.known < found.count))
        return refuse_names(self, given);
    for (size_t i = 0; i < self->applied->application_count; i++) {
        const char *input = self->applied->applications[i].input;
        if (!is_asked(self, i))
            continue;
        first = first ? first : input;
        const char *name = found.known > 0             ? find_name(self, input)
                           : strcmp(input, first) == 0 ? found.only
                                                       : NULL;
        bool there = name && json_object_get(self->applied->root, name) &&
                     !has_name(&self->against, name);
        if (there && !add_input(self, i, name))
            return false;
    }
    return self->applied->count > 0 || refuse_names(self, given);
}

/* The array of an npy file is the first input of what is asked for. */
static bool find_npy_input(const search *self)
{
    size_t chosen[PE_TENSORS_MAX], count = 0;
    for (size_t i = 0; i < self->applied->application_count; i++)
        if (is_asked(self, i) &&
            strcmp(self->applied->applications[i].input, self->inputs[0]) == 0)
            chosen[count++] = i;
    return count > 1 ? refuse_several_results(self, chosen, count, "an npy file has one array")
                     : add_input(self, chosen[0], NULL);
}

/* Find the tensors to compare with, one for each result. */
static bool find_compared(const search *self)
{
    api_applied *applied = self->applied;
    if (applied->count > 1 && self->against.count == 1)
        return refuse_several_results(
            self, applied->chosen, applied->count,
            "against compares with one result, and the file has inputs of "
            "these; or name a tensor for each in against");
    if (applied->count != self->against.count) {
        pe_error_add(self->error, PE_OUT_OF_RANGE, "against", self->asked->against,
                     "as many names as there are results, which are %zu", applied->count);
        return false;
    }
    applied->is_compared = true;
    for (size_t i = 0; i < applied->count; i++)
        if (!api_safetensors_find(&applied->file, applied->root, applied->data,
                                  self->against.names[i], NULL, &applied->results[i].compared,
                                  applied->results[i].against, self->error))
            return false;
    return true;
}

/* Read what the request says about the names of tensors. */
static bool read_asked(search *self)
{
    const api_applied_names *asked = self->asked;
    const char *option = asked->against ? "against" : "inputs";
    const char *given = asked->against ? asked->against : asked->inputs;
    if (self->applied->is_npy && given) {
        pe_error_add(self->error, PE_OUT_OF_RANGE, option, given,
                     "left out: an npy file has one array; send a safetensors file");
        return false;
    }
    if (asked->inputs && !read_names(self, "inputs", asked->inputs, &self->names))
        return false;
    if (self->names.count > self->input_count) {
        pe_error_add(self->error, PE_OUT_OF_RANGE, "inputs", asked->inputs,
                     "as many names as %s has inputs, at most %zu",
                     asked->result ? "the result" : "the scheme", self->input_count);
        return false;
    }
    return !asked->against || read_names(self, "against", asked->against, &self->against);
}

bool api_applied_find(api_applied *applied, const pe_scheme *scheme,
                      const api_applied_names *names, pe_error *reterr)
{
    search self = {.applied = applied, .asked = names, .error = reterr};
    applied->applications = pe_scheme_applications(scheme, &applied->application_count);
    list_inputs(&self);
    if (self.input_count == 0)
        return refuse_result(&self);
    if (!read_asked(&self))
        return false;
    if (applied->is_npy)
        return find_npy_input(&self);
    return find_safetensors_inputs(&self) && (!names->against || find_compared(&self));
}
