/* /v1/convert/rope: weights and tables, from one pairing of rotary columns to the other. */
#include "bytes/reserve.h"
#include "call.h"
#include "files/body_file.h"
#include "files/selection.h"
#include "http/arguments.h"
#include "replies/document.h"
#include "replies/problem.h"
#include "replies/table_post.h"

#include <stdlib.h>

/* One conversion on its way. */
typedef struct converting {
    const api_call *call;
    api_arguments arguments;
    pe_options *options;
    api_table_format format;
    api_convert_request asked;
} converting;

/* ---- reading ---- */

static const pe_value *describe_value(const converting *self, api_convert_option option)
{
    return pe_options_value(self->options, option);
}

/* Refuse what only a safetensors file has. */
static void refuse_names(const converting *self, pe_error *reterr)
{
    static const char rule[] = "left out: only a safetensors file has tensors with names";
    pe_options_refuse(self->options, API_CONVERT_KV_HEADS, reterr,
                      "left out: an npy file has one array, whose heads are `heads`");
    pe_options_refuse(self->options, API_CONVERT_TENSORS, reterr, rule);
    pe_options_refuse(self->options, API_CONVERT_KV_TENSORS, reterr, rule);
}

/* The heads along the axis. Along axis 0, that of weights, they are no matter of course: a
 * projection that is taken for one head is spoilt, and nothing shows it. */
static uint64_t read_heads(const converting *self, pe_error *reterr)
{
    const pe_value *heads = describe_value(self, API_CONVERT_HEADS);
    if (heads->present)
        return (uint64_t)heads->integer;
    if (describe_value(self, API_CONVERT_AXIS)->integer == 0 && reterr->count == 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "heads", "",
                     "the number of heads along axis 0, num_attention_heads of the config")
            ->reason = PE_REASON_MISSING;
    return 1;
}

static bool read_all(void *job, pe_error *reterr, api_reply **ret_reply)
{
    converting *self = job;
    (void)ret_reply;
    api_arguments_from_query(self->call->query, &self->arguments, reterr);
    self->options = pe_options_read(api_convert_options, API_CONVERT_OPTIONS,
                                    self->arguments.items, self->arguments.count, reterr);
    const pe_value *kv_heads = describe_value(self, API_CONVERT_KV_HEADS);
    if (self->format != API_TABLE_SAFETENSORS)
        refuse_names(self, reterr);
    const uint64_t heads = read_heads(self, reterr);
    self->asked = (api_convert_request){
        .from = (pe_pairing)describe_value(self, API_CONVERT_FROM)->integer,
        .to = (pe_pairing)describe_value(self, API_CONVERT_TO)->integer,
        .heads = heads,
        .kv_heads = kv_heads->present ? (uint64_t)kv_heads->integer : heads,
        .rotary_dim = (uint64_t)describe_value(self, API_CONVERT_ROTARY_DIM)->integer,
        .axis = (int)describe_value(self, API_CONVERT_AXIS)->integer,
        .tensors = describe_value(self, API_CONVERT_TENSORS)->text,
        .kv_tensors = describe_value(self, API_CONVERT_KV_TENSORS)->text};
    return true;
}

/* ---- answering ---- */

static api_reply *convert(void *job)
{
    const converting *self = job;
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
    api_reply *reply = api_passing_reply(200, api_table_media_type(self->format));
    api_reply_set_reads_request(reply);
    return api_reply_with_body(reply, api_body_converted(self->call->request, &conversion),
                               false);
}

static const api_table_endpoint CONVERT = {
    .raw = "raw elements do not say where their rows end: send an npy or a safetensors file",
    .read = read_all,
    .work = convert,
};

api_reply *api_post_convert(const api_call *call)
{
    converting self = {.call = call};
    api_reply *reply = api_answer_table_post(call, &CONVERT, &self.format, &self);
    pe_options_free(self.options);
    api_arguments_done(&self.arguments);
    return reply;
}
