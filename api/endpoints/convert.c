/* /v1/convert/rope: weights and tables, from one pairing of rotary columns to the other. */
#include "bytes/reserve.h"
#include "call.h"
#include "files/body_file.h"
#include "files/selection.h"
#include "http/arguments.h"
#include "replies/problem.h"
#include "replies/reply.h"
#include "replies/table_post.h"

#include <stdlib.h>

/* One conversion on its way. */
typedef struct converting {
    const api_call *call;
    api_arguments arguments;
    api_table_format format;
    api_convert_request asked;
} converting;

/* ---- reading ---- */

/* Read a number or a choice. Returns whether it is there, or has a default. */
static bool read_option(converting *self, api_convert_option option, int64_t *ret,
                        pe_error *error)
{
    const pe_parameter *row = &api_convert_options[option];
    pe_argument argument = {.name = row->name, .text = row->default_text};
    pe_value value;
    if (!api_arguments_take_any(&self->arguments, row->name, &argument, error) &&
        !row->default_text) {
        if (row->required)
            pe_error_add(error, PE_MALFORMED, row->name, "", "given: %s=half or interleaved",
                         row->name);
        return false;
    }
    if (!pe_argument_read(row, &argument, NULL, 0, &value, error))
        return false;
    *ret = value.integer;
    return true;
}

/* Read the names of tensors, which only a safetensors file has. */
static const char *read_names(converting *self, api_convert_option option, pe_error *error)
{
    const pe_parameter *row = &api_convert_options[option];
    const char *given = api_arguments_take(&self->arguments, row->name, error);
    if (given && self->format != API_TABLE_SAFETENSORS)
        pe_error_add(error, PE_MALFORMED, row->name, given,
                     "left out: only a safetensors file has tensors with names");
    return given ? given : row->default_text;
}

static void refuse_others(const converting *self, pe_error *error)
{
    const char *names[API_CONVERT_OPTIONS];
    for (size_t i = 0; i < API_CONVERT_OPTIONS; i++)
        names[i] = api_convert_options[i].name;
    for (size_t i = 0; i < self->arguments.count; i++) {
        const char *name = self->arguments.items[i].name;
        pe_problem *problem = pe_error_add(
            error, PE_MALFORMED, name, "",
            "left out: a conversion takes from, to, heads, kv_heads, rotary_dim, axis, "
            "tensors and kv_tensors");
        pe_problem_suggest(problem, pe_nearest(name, names, API_CONVERT_OPTIONS));
    }
}

static void read_all(converting *self, pe_error *error)
{
    int64_t from = 0, to = 0, heads = 1, kv_heads = 0, rotary_dim = 0, axis = 0;
    api_arguments_from_query(self->call->query, &self->arguments, error);
    (void)read_option(self, API_CONVERT_FROM, &from, error);
    (void)read_option(self, API_CONVERT_TO, &to, error);
    (void)read_option(self, API_CONVERT_HEADS, &heads, error);
    bool has_kv = read_option(self, API_CONVERT_KV_HEADS, &kv_heads, error);
    (void)read_option(self, API_CONVERT_ROTARY_DIM, &rotary_dim, error);
    (void)read_option(self, API_CONVERT_AXIS, &axis, error);
    if (has_kv && self->format != API_TABLE_SAFETENSORS)
        pe_error_add(error, PE_MALFORMED, "kv_heads", "",
                     "left out: an npy file has one array, whose heads are `heads`");
    self->asked =
        (api_convert_request){.from = (pe_pairing)from,
                              .to = (pe_pairing)to,
                              .heads = (uint64_t)heads,
                              .kv_heads = (uint64_t)(has_kv ? kv_heads : heads),
                              .rotary_dim = (uint64_t)rotary_dim,
                              .axis = (int)axis,
                              .tensors = read_names(self, API_CONVERT_TENSORS, error),
                              .kv_tensors = read_names(self, API_CONVERT_KV_TENSORS, error)};
    refuse_others(self, error);
}

/* ---- answering ---- */

static api_reply *convert(const converting *self)
{
    const api_file file = api_body_file(self->call);
    api_conversion conversion;
    pe_error error;
    pe_error_init(&error);
    bool found = self->format == API_TABLE_NPY
                     ? api_convert_npy(&self->asked, &file, &conversion, &error)
                     : api_convert_safetensors(&self->asked, &file, &conversion, &error);
    if (!found)
        return api_problem_from_error(&error);
    if (!api_reserve_lasting(API_READ_MAX + conversion.count * sizeof *conversion.parts,
                             "the file", &error)) {
        free(conversion.parts);
        return api_problem_from_error(&error);
    }
    api_reply *reply = api_reply_new(200);
    api_reply_add(reply, "Cache-Control", "no-store");
    api_reply_add(reply, "Content-Type", "%s",
                  self->format == API_TABLE_NPY ? "application/x-npy"
                                                : "application/vnd.safetensors");
    api_reply_set_reads_request(reply);
    return api_reply_with_body(reply, api_body_converted(self->call->request, &conversion),
                               false);
}

static api_reply *refuse_raw(void)
{
    return api_problem(API_UNSUPPORTED_MEDIA_TYPE,
                       "raw elements do not say where their rows end: send an npy or a "
                       "safetensors file",
                       NULL, NULL);
}

api_reply *api_post_convert(const api_call *call)
{
    converting self = {.call = call};
    api_reply *reply = NULL;
    pe_error error;
    if (!api_is_table_post(call, &self.format, &reply))
        return reply;
    if (self.format == API_TABLE_RAW)
        return refuse_raw();
    pe_error_init(&error);
    read_all(&self, &error);
    if (error.count > 0)
        reply = api_problem_from_error(&error);
    else if (api_may_begin(call, 0))
        reply = convert(&self);
    api_arguments_done(&self.arguments);
    return reply;
}
