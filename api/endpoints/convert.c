/* /v1/convert/rope: weights and tables, from one pairing of rotary columns to the other. */
#include "bytes/memory_budget.h"
#include "call.h"
#include "files/body_file.h"
#include "files/convert_selection.h"
#include "files/safetensors.h"
#include "http/arguments.h"
#include "models/attention.h"
#include "replies/document.h"
#include "replies/problem.h"
#include "replies/table_post.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One conversion on its way. */
typedef struct converting {
    const api_call *call;
    api_arguments arguments;
    pe_options *options;
    api_table_format format;
    api_convert_request asked;
    api_attention attention; /* of the config; without a pairing: there is none */
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
    pe_options_refuse(self->options, API_CONVERT_TENSORS, reterr, rule);
    pe_options_refuse(self->options, API_CONVERT_KV_TENSORS, reterr, rule);
    pe_options_refuse(self->options, API_CONVERT_QKV_TENSORS, reterr, rule);
    pe_options_refuse(self->options, API_CONVERT_NONE, reterr, rule);
    if (!describe_value(self, API_CONVERT_QKV)->present)
        pe_options_refuse(self->options, API_CONVERT_KV_HEADS, reterr,
                          "left out: an npy file has one array, whose heads are `heads`");
}

static bool read_arguments(void *job, pe_error *reterr, api_reply **ret_reply)
{
    converting *self = job;
    (void)ret_reply;
    api_arguments_from_query(self->call->query, &self->arguments, reterr);
    self->options = pe_options_read(api_convert_options, API_CONVERT_OPTIONS,
                                    self->arguments.items, self->arguments.count, reterr);
    if (self->format != API_TABLE_SAFETENSORS)
        refuse_names(self, reterr);
    if (describe_value(self, API_CONVERT_MODEL)->present)
        pe_options_refuse(self->options, API_CONVERT_CONFIG, reterr, "left out beside model");
    self->asked = (api_convert_request){
        .to = (pe_pairing)describe_value(self, API_CONVERT_TO)->integer,
        .axis = (int)describe_value(self, API_CONVERT_AXIS)->integer,
        .has_axis = pe_options_text(self->options, API_CONVERT_AXIS),
        .allows_none = describe_value(self, API_CONVERT_NONE)->integer == 1,
        .tensors = describe_value(self, API_CONVERT_TENSORS)->text,
        .kv_tensors = describe_value(self, API_CONVERT_KV_TENSORS)->text,
        .qkv_tensors = describe_value(self, API_CONVERT_QKV_TENSORS)->text,
        .by_default = {!pe_options_text(self->options, API_CONVERT_TENSORS),
                       !pe_options_text(self->options, API_CONVERT_KV_TENSORS),
                       !pe_options_text(self->options, API_CONVERT_QKV_TENSORS)}};
    api_qkv_read(pe_options_text(self->options, API_CONVERT_QKV), &self->asked.qkv, reterr);
    return true;
}

/* ---- what the config says ---- */

/* Find the config and read it, if there is one. Where the heads are given, one in the file may
 * be of something else, or of a model that is not known. False: a problem was added. */
static bool read_config(converting *self, const json_t *header, pe_error *reterr)
{
    const pe_limits *limits = &self->call->service->host->limits;
    const char *model = pe_options_text(self->options, API_CONVERT_MODEL);
    const char *text = pe_options_text(self->options, API_CONVERT_CONFIG);
    const char *in_file = text ? NULL : api_attention_find_config(header);
    const bool is_needed = !describe_value(self, API_CONVERT_HEADS)->present &&
                           !describe_value(self, API_CONVERT_HEAD_DIM)->present;
    pe_error other;
    self->asked.config = model ? "model" : "config";
    if (model)
        return api_attention_from_name(model, limits, &self->attention, reterr);
    if (text)
        return api_attention_from_config(text, strlen(text), "config", limits, &self->attention,
                                         reterr);
    pe_error_init(&other);
    if (in_file && api_attention_from_config(in_file, strlen(in_file), "config", limits,
                                             &self->attention, &other))
        return true;
    self->asked.config = NULL;
    self->attention = (api_attention){.heads = 0};
    if (other.count > 0 && (is_needed || other.status == PE_NO_MEMORY))
        pe_error_append(reterr, &other);
    return reterr->count == 0;
}

/* The number that is given, or that of the config; 0: neither. They must not differ. */
static uint64_t choose_number(const converting *self, api_convert_option option,
                              uint64_t in_config, pe_error *reterr)
{
    const pe_value *given = describe_value(self, option);
    if (!given->present)
        return in_config;
    if (in_config > 0 && in_config != (uint64_t)given->integer)
        pe_error_add(reterr, PE_OUT_OF_RANGE, api_convert_options[option].name,
                     pe_options_text(self->options, option),
                     "%llu, as the config has it, or left out", (unsigned long long)in_config);
    return (uint64_t)given->integer;
}

/* The same of the first column that turns, which may count from the end of a head. */
static void choose_offset(converting *self, pe_error *reterr)
{
    const pe_value *given = describe_value(self, API_CONVERT_ROTARY_OFFSET);
    const bool has_config = self->attention.pairing != NULL;
    const int64_t in_config = self->attention.rotary_offset;
    const int64_t head_dim = (int64_t)self->attention.head_dim;
    self->asked.has_offset = given->present || has_config;
    self->asked.rotary_offset = given->present ? given->integer : in_config;
    if (given->present && has_config &&
        given->integer + (given->integer < 0 ? head_dim : 0) !=
            in_config + (in_config < 0 ? head_dim : 0))
        pe_error_add(reterr, PE_OUT_OF_RANGE, "rotary_offset",
                     pe_options_text(self->options, API_CONVERT_ROTARY_OFFSET),
                     "%lld, as the config has it, or left out", (long long)in_config);
}

/* The pairing of the file: that of the config, unless it is given. Where the answer is to have
 * the config's, the file must have the other one, which only the request can say. */
static void choose_pairing(converting *self, pe_error *reterr)
{
    const pe_value *given = describe_value(self, API_CONVERT_FROM);
    const char *pairing = self->attention.pairing;
    if (given->present) {
        self->asked.from = (pe_pairing)given->integer;
        return;
    }
    self->asked.from =
        pairing && strcmp(pairing, "half") == 0 ? PE_PAIRING_HALF : PE_PAIRING_INTERLEAVED;
    if (!pairing)
        pe_error_add(reterr, PE_MALFORMED, "from", "",
                     "half or interleaved; or model or config be given")
            ->reason = PE_REASON_MISSING;
    else if (self->asked.from == self->asked.to)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "from", "",
                     "given: the model itself pairs as `to` says, %s, so that there is "
                     "something to convert only if the file does not",
                     pairing)
            ->reason = PE_REASON_MISSING;
}

/* Complete what is asked for by the config, `header` being that of a safetensors file or NULL.
 * False: a problem was added. */
static bool complete_from_config(converting *self, const json_t *header, pe_error *reterr)
{
    api_attention *config = &self->attention;
    api_convert_request *asked = &self->asked;
    if (!read_config(self, header, reterr))
        return false;
    api_qkv *order = asked->qkv.kind == API_QKV_NONE ? &asked->qkv : &asked->config_qkv;
    if (!api_qkv_read(*config->qkv ? config->qkv : NULL, order, reterr))
        return false;
    if (!header && asked->qkv.kind == API_QKV_NONE && config->rotary_offset == 0) {
        asked->array_heads[0] = config->heads;
        asked->array_heads[1] = config->kv_heads;
        config->heads = 0; /* the array may be a query's or a key's */
    }
    asked->latent = config->latent;
    if (!header && config->rotary_offset != 0 && config->heads == 0 &&
        !describe_value(self, API_CONVERT_HEADS)->present)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "heads", "",
                     "given: an npy file does not say whether its array is of queries or a "
                     "latent")
            ->reason = PE_REASON_MISSING;
    asked->known = (api_head_counts){
        .heads = choose_number(self, API_CONVERT_HEADS, config->heads, reterr),
        .kv_heads = choose_number(self, API_CONVERT_KV_HEADS, config->kv_heads, reterr),
        .head_dim = choose_number(self, API_CONVERT_HEAD_DIM, config->head_dim, reterr)};
    asked->rotary_dim = choose_number(self, API_CONVERT_ROTARY_DIM, config->rotary_dim, reterr);
    choose_offset(self, reterr);
    choose_pairing(self, reterr);
    return reterr->count == 0;
}

/* ---- answering ---- */

/* Find the parts of the file that change. False: a problem was added. */
static bool find_parts(converting *self, const api_file *file, api_conversion *ret_conversion,
                       pe_error *reterr)
{
    size_t data;
    if (self->format == API_TABLE_NPY)
        return complete_from_config(self, NULL, reterr) &&
               api_convert_npy(&self->asked, file, ret_conversion, reterr);
    json_t *header = api_safetensors_load(file, &data, reterr);
    const bool found =
        header && complete_from_config(self, header, reterr) &&
        api_convert_safetensors(&self->asked, header, data, file->size, ret_conversion, reterr);
    json_decref(header);
    return found;
}

static api_reply *convert_file(void *job)
{
    converting *self = job;
    const api_file file = api_body_file(self->call);
    api_conversion conversion;
    pe_error error;
    pe_error_init(&error);
    if (!find_parts(self, &file, &conversion, &error))
        return api_problem_from_error(&error);
    if (!api_reserve_lasting(API_READ_MAX + conversion.count * sizeof *conversion.parts,
                             "the file", &error)) {
        free(conversion.parts);
        return api_problem_from_error(&error);
    }
    api_reply *reply = api_passing_reply(200, api_table_media_type(self->format));
    api_reply_add(reply, "Tensors-Converted", "%zu", conversion.count);
    api_reply_set_reads_request(reply);
    return api_reply_with_body(reply, api_body_converted(self->call->request, &conversion),
                               false);
}

static const api_table_endpoint CONVERT = {
    .files_only = "send an npy or a safetensors file: raw elements do not say where their rows "
                  "end, and JSON and CSV are taken where a table is compared or identified",
    .read = read_arguments,
    .work = convert_file,
};

api_reply *api_post_convert(const api_call *call)
{
    converting self = {.call = call};
    api_reply *reply = api_answer_table_post(call, &CONVERT, &self.format, &self);
    pe_options_free(self.options);
    api_arguments_done(&self.arguments);
    return reply;
}
