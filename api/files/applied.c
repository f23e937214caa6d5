/* Finding the tensors of a file that a scheme is applied to, and writing the results. */
#include "files/applied.h"

#include "bytes/joined.h"
#include "files/applied_head.h"
#include "files/body_file.h"
#include "files/safetensors.h"
#include "files/set_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct api_applied {
    api_request request; /* whose body is the file */
    bool is_npy;
    const pe_application *applications;
    size_t count;                   /* of results */
    size_t chosen[PE_TENSORS_MAX];  /* [count]: of the applications */
    pe_view inputs[PE_TENSORS_MAX]; /* [count] */
    const char *against;            /* the tensor to compare with; NULL: none */
    pe_view compared;
    api_applied_tensor results[PE_TENSORS_MAX];
};

api_applied *api_applied_new(const api_request *request, bool is_npy)
{
    api_applied *applied = calloc(1, sizeof *applied);
    if (applied) {
        applied->request = *request;
        applied->is_npy = is_npy;
    }
    return applied;
}

void api_applied_free(api_applied *applied)
{
    if (!applied)
        return;
    for (size_t i = 0; i < applied->count; i++)
        pe_apply_free(applied->results[i].apply);
    free(applied);
}

/* ---- finding ---- */

/* The header of a safetensors file, which is parsed once; no root: the file is npy. */
typedef struct file_header {
    api_file file;
    json_t *root;
    size_t data; /* where the file's data begins */
} file_header;

/* Check that a tensor's bytes come in the order of its elements. */
static bool is_plain(const pe_view *view, const char *name, pe_error *reterr)
{
    pe_view plain = *view;
    pe_view_set_row_major(&plain);
    if (!view->swapped &&
        memcmp(plain.strides, view->strides, view->rank * sizeof *view->strides) == 0)
        return true;
    pe_error_add(reterr, PE_OUT_OF_RANGE, "body", name,
                 "little-endian and row-major (C order), as numpy.ascontiguousarray makes it");
    return false;
}

/* Add a result for an input of the file, which is called `name` there; NULL in an npy file. */
static bool add(api_applied *self, const file_header *header, size_t application,
                const char *name, pe_error *reterr)
{
    const pe_application *rule = &self->applications[application];
    api_applied_tensor *result = &self->results[self->count];
    pe_view *view = &self->inputs[self->count];
    bool same = strcmp(rule->result, rule->input) == 0;
    if (name ? !api_safetensors_find(&header->file, header->root, header->data, name, NULL,
                                     view, result->name, reterr)
             : !api_npy_view(&header->file, view, reterr))
        return false;
    if (!name || !same)
        snprintf(result->name, sizeof result->name, "%s", rule->result);
    self->chosen[self->count] = application;
    return is_plain(view, name ? name : "the array", reterr);
}

/* Append a name to a list of those that a problem tells. */
static void list_name(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    if (!strstr(list, name) && used + strlen(name) + 4 < size)
        snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

static bool refuse_result(const api_applied *self, size_t applications, const char *result,
                          pe_error *reterr)
{
    const char *names[PE_TENSORS_MAX];
    for (size_t i = 0; i < applications; i++)
        names[i] = self->applications[i].result;
    pe_error_add_choice(reterr, "result", result, names, applications);
    return false;
}

static bool refuse_names(const api_applied *self, size_t applications, const char *given,
                         pe_error *reterr)
{
    char names[128] = "";
    for (size_t i = 0; i < applications; i++)
        list_name(names, sizeof names, self->applications[i].input);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "body", given,
                 "a safetensors file of %s that are called %s, or of one such tensor%s",
                 self->against ? "tensors besides that of against" : "tensors", names,
                 self->against ? " of any name" : ", which may have any name");
    return false;
}

/* Add that one of the results that may be computed must be chosen; `reason` is why. */
static bool refuse_several(const api_applied *self, const size_t *chosen, size_t count,
                           const char *reason, pe_error *reterr)
{
    char names[128] = "";
    bool one_input = true;
    for (size_t i = 0; i < count; i++) {
        const pe_application *rule = &self->applications[chosen[i]];
        list_name(names, sizeof names, rule->result);
        one_input &= strcmp(rule->input, self->applications[chosen[0]].input) == 0;
    }
    pe_error_add(reterr, PE_MALFORMED, "result", "", "one of %s, as %s%s", names, reason,
                 one_input ? "" : "; or send the input of one result alone");
    return false;
}

/* Whether a result is asked for. */
static bool is_asked(const pe_application *rule, const char *result)
{
    return !result || strcmp(rule->result, result) == 0;
}

/* The tensors of a file besides that which is compared. */
typedef struct members {
    size_t count, known;         /* all; those with names of inputs */
    const char *only, *stranger; /* one of them; one that is no input, or NULL */
} members;

static bool is_input(const api_applied *self, size_t applications, const char *name)
{
    for (size_t i = 0; i < applications; i++)
        if (strcmp(self->applications[i].input, name) == 0)
            return true;
    return false;
}

/* Whether a tensor is the one to compare with. */
static bool is_compared(const api_applied *self, const char *name)
{
    return self->against && strcmp(name, self->against) == 0;
}

static members count_members(const api_applied *self, size_t applications, const json_t *root)
{
    const char *name;
    json_t *value;
    members found = {.only = NULL};
    json_object_foreach((json_t *)(uintptr_t)root, name, value)
    {
        if (strcmp(name, API_SET_METADATA) == 0 || is_compared(self, name))
            continue;
        bool known = is_input(self, applications, name);
        found.count++;
        found.known += known;
        found.only = name;
        found.stranger = known ? found.stranger : name;
    }
    return found;
}

/* Find the inputs of a safetensors file with these members. */
static bool find_named(api_applied *self, size_t applications, const char *result,
                       const file_header *header, pe_error *reterr)
{
    const json_t *root = header->root;
    const members found = count_members(self, applications, root);
    if (self->against && !json_object_get(root, self->against)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "against", self->against,
                     "the name of a tensor of the file");
        return false;
    }
    const char *given = found.stranger ? found.stranger : found.only ? found.only : "";
    if (found.count == 0 || (found.count > 1 && found.known < found.count))
        return refuse_names(self, applications, given, reterr);
    const char *first = NULL; /* whose input the only tensor is */
    for (size_t i = 0; i < applications; i++) {
        const pe_application *rule = &self->applications[i];
        if (!is_asked(rule, result))
            continue;
        first = first ? first : rule->input;
        bool there = found.known > 0 ? json_object_get(root, rule->input) != NULL &&
                                           !is_compared(self, rule->input)
                                     : strcmp(rule->input, first) == 0;
        const char *name = found.known > 0 ? rule->input : found.only;
        if (there && !add(self, header, i, name, reterr))
            return false;
        self->count += there;
    }
    return self->count > 0 || refuse_names(self, applications, given, reterr);
}

/* The array of an npy file is the first input of what is asked for. */
static bool find_array(api_applied *self, size_t applications, const char *result,
                       const file_header *header, pe_error *reterr)
{
    size_t chosen[PE_TENSORS_MAX], count = 0;
    for (size_t i = 0; i < applications; i++) {
        const pe_application *rule = &self->applications[i];
        if (is_asked(rule, result) &&
            (count == 0 || strcmp(rule->input, self->applications[chosen[0]].input) == 0))
            chosen[count++] = i;
    }
    if (count > 1)
        return refuse_several(self, chosen, count, "an npy file has one array", reterr);
    if (!add(self, header, chosen[0], NULL, reterr))
        return false;
    self->count = 1;
    return true;
}

/* Find the tensor to compare with, and check that there is one result. */
static bool find_compared(api_applied *self, const file_header *header, pe_error *reterr)
{
    char name[API_SET_NAME_MAX + 1];
    if (self->count > 1)
        return refuse_several(self, self->chosen, self->count,
                              "against compares with one result, and the file has inputs of "
                              "these",
                              reterr);
    return self->count == 1 &&
           api_safetensors_find(&header->file, header->root, header->data, self->against, NULL,
                                &self->compared, name, reterr);
}

bool api_applied_find(api_applied *applied, const pe_scheme *scheme, const char *result,
                      const char *against, pe_error *reterr)
{
    file_header header = {.file = api_request_file(&applied->request)};
    size_t count;
    bool known = !result;
    applied->applications = pe_scheme_applications(scheme, &count);
    for (size_t i = 0; i < count; i++)
        known |= is_asked(&applied->applications[i], result);
    if (!known)
        return refuse_result(applied, count, result, reterr);
    applied->against = against;
    if (applied->is_npy && against) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "against", against,
                     "left out: an npy file has one array; send a safetensors file");
        return false;
    }
    if (applied->is_npy)
        return find_array(applied, count, result, &header, reterr);
    header.root = api_safetensors_load(&header.file, &header.data, reterr);
    bool good = header.root && find_named(applied, count, result, &header, reterr) &&
                (!against || find_compared(applied, &header, reterr));
    json_decref(header.root);
    return good;
}

pe_element api_applied_element(const api_applied *applied)
{
    return applied->against ? applied->compared.element : PE_ELEMENT_COUNT;
}

const api_applied_tensor *api_applied_result(const api_applied *applied)
{
    return &applied->results[0];
}

uint64_t api_applied_footprint(const api_applied *applied, const pe_request *request,
                               const pe_apply_options *options)
{
    uint64_t bytes = sizeof *applied;
    for (size_t i = 0; i < applied->count; i++)
        bytes += pe_apply_footprint(request, applied->chosen[i], &applied->inputs[i], options);
    return bytes;
}

double api_applied_price(const api_applied *applied, const pe_request *request,
                         const pe_apply_options *options)
{
    double price = 0;
    for (size_t i = 0; i < applied->count; i++)
        price += pe_apply_price(request, applied->chosen[i], &applied->inputs[i], options);
    return price;
}

bool api_applied_compare(api_applied *applied, pe_tolerance tolerance, const pe_runner *runner,
                         pe_comparison *ret_comparison, pe_error *reterr)
{
    return pe_apply_compare(applied->results[0].apply, &applied->compared, tolerance, runner,
                            ret_comparison, reterr) == PE_OK;
}

bool api_applied_open(api_applied *applied, pe_request *request,
                      const pe_apply_options *options, const pe_runner *runner,
                      pe_error *reterr)
{
    for (size_t i = 0; i < applied->count; i++)
        if (pe_apply_new(request, applied->chosen[i], &applied->inputs[i], options, runner,
                         &applied->results[i].apply, reterr) != PE_OK)
            return false;
    return true;
}

/* ---- writing ---- */

/* Larger elements come first, so that all are aligned. */
static void sort_results(api_applied *self)
{
    for (size_t i = 1; i < self->count; i++)
        for (size_t k = i; k > 0; k--) {
            api_applied_tensor *before = &self->results[k - 1], moved = self->results[k];
            if (pe_element_size(pe_apply_shape(before->apply)->element) >=
                pe_element_size(pe_apply_shape(moved.apply)->element))
                break;
            self->results[k] = *before;
            *before = moved;
        }
}

/* An api_source's `read`: of a result. */
static size_t read_result(void *state, uint64_t offset, char *dst, size_t room)
{
    return pe_apply_read(((api_applied_tensor *)state)->apply, offset, dst, room);
}

/* An api_source's `free`: of the last result, which is read last. */
static void free_all(void *state)
{
    api_applied_free(((api_applied_tensor *)state)->all);
}

api_body *api_body_applied(api_applied *applied)
{
    api_source sources[PE_TENSORS_MAX];
    size_t size;
    sort_results(applied);
    char *head = api_applied_head(applied->results, applied->count, applied->is_npy, &size);
    if (!head) {
        api_applied_free(applied);
        return NULL;
    }
    for (size_t i = 0; i < applied->count; i++)
        sources[i] = (api_source){
            .state = &applied->results[i],
            .size = pe_apply_size(applied->results[i].apply),
            .read = read_result,
            .slow = true /* a sum takes a hundred times as long where it has to be exact */};
    applied->results[applied->count - 1].all = applied;
    sources[applied->count - 1].free = free_all;
    return api_body_from_sources(head, size, sources, applied->count);
}
