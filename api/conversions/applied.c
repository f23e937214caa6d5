/* Finding the tensors of a file that a scheme is applied to, and writing the results. */
#include "conversions/applied.h"

#include "sets/set_header.h"
#include "tables/body_file.h"
#include "tables/safetensors.h"
#include "json/document.h"

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
    char *head;
    size_t head_size;
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
    free(applied->head);
    free(applied);
}

/* ---- finding ---- */

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
static bool add(api_applied *self, size_t application, const char *name, pe_error *reterr)
{
    const api_file file = api_request_file(&self->request);
    const pe_application *rule = &self->applications[application];
    api_applied_tensor *result = &self->results[self->count];
    pe_view *view = &self->inputs[self->count];
    bool same = strcmp(rule->result, rule->input) == 0;
    if (name ? !api_safetensors_view(&file, name, NULL, view, result->name, reterr)
             : !api_npy_view(&file, view, reterr))
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
                 "a safetensors file of tensors that are called %s, or of one tensor", names);
    return false;
}

/* Whether a result is asked for. */
static bool is_asked(const pe_application *rule, const char *result)
{
    return !result || strcmp(rule->result, result) == 0;
}

/* Find the inputs of a safetensors file with these members. */
static bool find_named(api_applied *self, size_t applications, const char *result,
                       const json_t *root, pe_error *reterr)
{
    const char *name, *only = NULL, *stranger = NULL;
    json_t *value;
    size_t tensors = 0, known = 0;
    json_object_foreach((json_t *)(uintptr_t)root, name, value)
    {
        if (strcmp(name, API_SET_METADATA) == 0 ||
            (self->against && strcmp(name, self->against) == 0))
            continue;
        bool is_input = false;
        for (size_t i = 0; i < applications; i++)
            is_input |= strcmp(self->applications[i].input, name) == 0;
        tensors++;
        known += is_input;
        only = name;
        stranger = is_input ? stranger : name;
    }
    if (self->against && !json_object_get(root, self->against)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "against", self->against,
                     "the name of a tensor of the file");
        return false;
    }
    if (tensors == 0 || (tensors > 1 && known < tensors))
        return refuse_names(self, applications, stranger ? stranger : "", reterr);
    const char *first = NULL; /* whose input the only tensor is */
    for (size_t i = 0; i < applications; i++) {
        const pe_application *rule = &self->applications[i];
        if (!is_asked(rule, result))
            continue;
        first = first ? first : rule->input;
        bool there = known > 0 ? json_object_get(root, rule->input) != NULL
                               : strcmp(rule->input, first) == 0;
        if (there && !add(self, i, known > 0 ? rule->input : only, reterr))
            return false;
        self->count += there;
    }
    return self->count > 0 ||
           refuse_names(self, applications, stranger ? stranger : only, reterr);
}

/* The array of an npy file is the first input of what is asked for. */
static bool find_array(api_applied *self, size_t applications, const char *result,
                       pe_error *reterr)
{
    size_t first = applications, count = 0;
    for (size_t i = applications; i-- > 0;)
        if (is_asked(&self->applications[i], result))
            first = i;
    for (size_t i = 0; i < applications; i++)
        count += is_asked(&self->applications[i], result) &&
                 strcmp(self->applications[i].input, self->applications[first].input) == 0;
    if (count > 1)
        return refuse_result(self, applications, "", reterr);
    if (!add(self, first, NULL, reterr))
        return false;
    self->count = 1;
    return true;
}

/* Find the tensor to compare with, and check that there is one result. */
static bool find_compared(api_applied *self, pe_error *reterr)
{
    const api_file file = api_request_file(&self->request);
    const char *names[PE_TENSORS_MAX];
    char name[API_SET_NAME_MAX + 1];
    for (size_t i = 0; i < self->count; i++)
        names[i] = self->applications[self->chosen[i]].result;
    if (self->count > 1)
        pe_error_add_choice(reterr, "result", "", names, self->count);
    return self->count == 1 &&
           api_safetensors_view(&file, self->against, NULL, &self->compared, name, reterr);
}

bool api_applied_find(api_applied *applied, const pe_scheme *scheme, const char *result,
                      const char *against, pe_error *reterr)
{
    api_file file = api_request_file(&applied->request);
    size_t count, data;
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
        return find_array(applied, count, result, reterr);
    json_t *root = api_safetensors_load(&file, &data, reterr);
    bool good = root && find_named(applied, count, result, root, reterr);
    json_decref(root);
    return good && (!against || find_compared(applied, reterr));
}

pe_element api_applied_element(const api_applied *applied)
{
    return applied->against ? applied->compared.element : PE_ELEMENT_COUNT;
}

const api_applied_tensor *api_applied_result(const api_applied *applied)
{
    return &applied->results[0];
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

static json_t *shape_of(const pe_view *view)
{
    json_t *shape = json_array();
    for (size_t i = 0; i < view->rank; i++)
        json_array_append_new(shape, json_integer((json_int_t)view->shape[i]));
    return shape;
}

/* The JSON object of the head of a safetensors file, as text. */
static char *describe(const api_applied *self)
{
    static const char *const NAMES[] = {[PE_ELEMENT_F32] = "F32",
                                        [PE_ELEMENT_F64] = "F64",
                                        [PE_ELEMENT_F16] = "F16",
                                        [PE_ELEMENT_BF16] = "BF16"};
    json_t *root = json_object();
    uint64_t begin = 0;
    for (size_t i = 0; i < self->count; i++) {
        const pe_view *view = pe_apply_shape(self->results[i].apply);
        uint64_t end = begin + pe_apply_size(self->results[i].apply);
        json_object_set_new(root, self->results[i].name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", NAMES[view->element],
                                      "shape", shape_of(view), "data_offsets",
                                      (json_int_t)begin, (json_int_t)end));
        begin = end;
    }
    return api_document_text(root, JSON_COMPACT);
}

/* Write the head of an npy file, as text without its preamble. */
static char *describe_array(const api_applied *self)
{
    static const char *const NAMES[] = {
        [PE_ELEMENT_F32] = "<f4", [PE_ELEMENT_F64] = "<f8", [PE_ELEMENT_F16] = "<f2"};
    const pe_view *view = pe_apply_shape(self->results[0].apply);
    const size_t size = 256;
    char *text = malloc(size);
    if (!text)
        return NULL;
    int used = snprintf(text, size, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        NAMES[view->element]);
    for (size_t i = 0; i < view->rank; i++)
        used += snprintf(text + used, size - (size_t)used, "%llu, ",
                         (unsigned long long)view->shape[i]);
    snprintf(text + used, size - (size_t)used, "), }");
    return text;
}

#define ALIGNMENT   64
#define NPY_MAGIC   "\x93NUMPY\x01"
#define NPY_PREFIX  10 /* magic, version, length of the head */
#define FILE_PREFIX 8  /* length of the head */

/* Make the head of the answer: a length and a text, padded so that the data are aligned. */
static bool make_head(api_applied *self)
{
    char *text = self->is_npy ? describe_array(self) : describe(self);
    size_t prefix = self->is_npy ? NPY_PREFIX : FILE_PREFIX;
    if (!text)
        return false;
    size_t used = strlen(text);
    size_t size = (prefix + used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t length = size - prefix;
    self->head = malloc(size);
    if (self->head) {
        memset(self->head, self->is_npy ? 0 : ' ', size);
        memset(self->head + prefix, ' ', length);
        memcpy(self->head + prefix, text, used);
        if (self->is_npy)
            memcpy(self->head, NPY_MAGIC, sizeof NPY_MAGIC);
        for (unsigned i = 0; i < (self->is_npy ? 2 : 8); i++)
            self->head[prefix - (self->is_npy ? 2 : 8) + i] = (char)(length >> (8 * i));
        if (self->is_npy)
            self->head[size - 1] = '\n';
    }
    self->head_size = size;
    free(text);
    return self->head != NULL;
}

/* An api_source's `read`. */
static size_t read_applied(void *state, uint64_t offset, char *dst, size_t room)
{
    const api_applied *self = state;
    size_t done = 0;
    if (offset < self->head_size) {
        size_t rest = self->head_size - (size_t)offset;
        done = rest < room ? rest : room;
        memcpy(dst, self->head + offset, done);
        return done;
    }
    uint64_t at = offset - self->head_size;
    for (size_t i = 0; i < self->count; i++) {
        uint64_t size = pe_apply_size(self->results[i].apply);
        if (at < size)
            return pe_apply_read(self->results[i].apply, at, dst, room);
        at -= size;
    }
    return done;
}

/* An api_source's `free`. */
static void free_applied(void *state)
{
    api_applied_free(state);
}

api_body *api_body_applied(api_applied *applied)
{
    sort_results(applied);
    if (!make_head(applied)) {
        api_applied_free(applied);
        return NULL;
    }
    uint64_t size = applied->head_size;
    for (size_t i = 0; i < applied->count; i++)
        size += pe_apply_size(applied->results[i].apply);
    return api_body_from_source(&(api_source){
        .state = applied, .size = size, .read = read_applied, .free = free_applied});
}
