/* /v1/identify: which request made a table. */
#include "bytes/body.h"
#include "http/arguments.h"
#include "replies/problem.h"
#include "replies/reply.h"
#include "replies/table_post.h"
#include "representations/comparison.h"
#include "representations/identity.h"
#include "service.h"
#include "tables/body_file.h"
#include "json/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One table on its way. */
typedef struct identifying {
    const api_call *call;
    api_arguments arguments;
    api_table_format format;
    api_file file;
    char tensor[API_SET_NAME_MAX + 1]; /* of a safetensors file */
    const pe_scheme *only;
    pe_view view;
} identifying;

/* ---- reading ---- */

static void read_scheme(identifying *self, pe_error *error)
{
    const char *name = api_arguments_take(&self->arguments, "scheme", error);
    self->only = name ? pe_scheme_find(name) : NULL;
    if (name && !self->only)
        api_error_add_scheme(error, name);
    else if (name && !pe_scheme_is_recognised(self->only))
        pe_error_add(error, PE_OUT_OF_RANGE, "scheme", name,
                     "one whose tables are recognised, as /v1/schemes says");
}

/* Read the element type of raw elements. */
static bool read_element(const char *name, pe_element *ret_element, pe_error *error)
{
    const char *names[PE_ELEMENT_COUNT];
    for (int i = 0; i < PE_ELEMENT_COUNT; i++) {
        names[i] = pe_element_name((pe_element)i);
        if (strcmp(names[i], name) == 0) {
            *ret_element = (pe_element)i;
            return true;
        }
    }
    pe_error_add_choice(error, "dtype", name, names, PE_ELEMENT_COUNT);
    return false;
}

/* Read raw elements, whose shape and dtype the query has. */
static void read_raw(identifying *self, pe_error *error)
{
    double extents[PE_VIEW_RANK_MAX];
    uint64_t shape[PE_VIEW_RANK_MAX];
    pe_argument given;
    pe_value value;
    pe_element element = PE_ELEMENT_F32;
    const pe_parameter *row = &api_identify_options[API_IDENTIFY_SHAPE];
    const char *dtype = api_arguments_take(&self->arguments, "dtype", error);
    bool good = !dtype || read_element(dtype, &element, error);
    if (!api_arguments_take_any(&self->arguments, row->name, &given, error)) {
        if (error->count == 0)
            pe_error_add(error, PE_MALFORMED, row->name, "",
                         "given with raw elements: shape=4096,128");
        return;
    }
    if (!pe_argument_read(row, &given, extents, PE_VIEW_RANK_MAX, &value, error) || !good)
        return;
    for (size_t i = 0; i < value.count; i++)
        shape[i] = (uint64_t)extents[i];
    api_raw_view(&self->file, element, value.count, shape, &self->view, error);
}

/* Refuse what no option is called. */
static void refuse_others(const identifying *self, pe_error *error)
{
    const char *names[API_IDENTIFY_OPTIONS];
    for (size_t i = 0; i < API_IDENTIFY_OPTIONS; i++)
        names[i] = api_identify_options[i].name;
    for (size_t i = 0; i < self->arguments.count; i++) {
        const char *name = self->arguments.items[i].name;
        pe_problem *problem =
            pe_error_add(error, PE_MALFORMED, name, "",
                         "left out: of a table in a file only scheme and, of safetensors, "
                         "file_tensor are asked; of raw elements shape and dtype, too");
        pe_problem_suggest(problem, pe_nearest(name, names, API_IDENTIFY_OPTIONS));
    }
}

static void read_all(identifying *self, pe_error *error)
{
    api_arguments_from_query(self->call->query, &self->arguments, error);
    read_scheme(self, error);
    if (self->format == API_TABLE_NPY) {
        api_npy_view(&self->file, &self->view, error);
    } else if (self->format == API_TABLE_SAFETENSORS) {
        const char *name = api_arguments_take(&self->arguments, "file_tensor", error);
        api_safetensors_view(&self->file, name, NULL, &self->view, self->tensor, error);
    } else {
        read_raw(self, error);
    }
    refuse_others(self, error);
}

/* ---- answering ---- */

static api_reply *reply_of(const identifying *self, const pe_identity *identity)
{
    json_t *document = api_identity_document(identity, &self->view);
    json_t *file = json_pack("{s:s, s:s}", "format", api_table_format_name(self->format),
                             "dtype", pe_element_name(self->view.element));
    if (self->tensor[0])
        json_object_set_new(file, "tensor", json_string(self->tensor));
    json_object_set_new(document, "file", file);
    api_reply *reply = api_reply_new(200);
    api_reply_add(reply, "Cache-Control", "no-store");
    api_reply_add(reply, "Content-Type", "application/json");
    char *text = api_document_readable(document);
    return api_reply_with_body(reply, text ? api_body_from_text(text, strlen(text)) : NULL,
                               false);
}

static api_reply *identify(identifying *self)
{
    const api_host *host = self->call->service->host;
    pe_identity *identity = malloc(sizeof *identity);
    api_reply *reply = NULL;
    pe_error error;
    if (!identity)
        return NULL;
    if (pe_identify(&self->view, self->only, &host->limits, host->runner, identity, &error) ==
        PE_OK)
        reply = reply_of(self, identity);
    else
        reply = api_problem_from_error(&error);
    free(identity);
    return reply;
}

/* What the search costs in multiply-adds, about. */
static uint64_t price_of(const pe_view *view)
{
    return 64 * pe_view_elements(view) + ((uint64_t)1 << 24);
}

api_reply *api_post_identify(const api_call *call)
{
    identifying self = {.call = call, .file = api_body_file(call)};
    api_reply *reply = NULL;
    pe_error error;
    if (!api_is_table_post(call, &self.format, &reply))
        return reply;
    pe_error_init(&error);
    read_all(&self, &error);
    if (error.count > 0)
        reply = api_problem_from_error(&error);
    else if (!call->request->quick)
        reply = identify(&self);
    else {
        if (call->request->ret_price)
            *call->request->ret_price = price_of(&self.view);
        reply = api_not_yet(call, API_LATER);
    }
    api_arguments_done(&self.arguments);
    return reply;
}
