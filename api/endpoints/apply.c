/* /v1/apply: tensors of a model, with an encoding applied to them exactly: that of a scheme, or
 * of a layer of the model. */
#include "bytes/memory_budget.h"
#include "call.h"
#include "endpoints/apply_compare.h"
#include "endpoints/apply_model.h"
#include "files/applied.h"
#include "http/arguments.h"
#include "http/target.h"
#include "replies/comparison.h"
#include "replies/document.h"
#include "replies/explanation.h"
#include "replies/problem.h"
#include "replies/table_post.h"
#include "representations/representation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One application on its way. */
typedef struct applying {
    const api_call *call;
    const pe_scheme *scheme; /* that of the path, or of the part of the model */
    bool follows_model;
    api_apply_model model;
    api_arguments arguments;
    api_representation representation;
    api_table_format format;
    pe_options *given, *tolerances;
    int option_count; /* of given */
    pe_apply_options options;
    char first[32], rows[32]; /* of positions, as texts of arguments */
    bool any_mask;
    char *target; /* of the encoding, from malloc; where it is compared */
    api_applied *applied;
} applying;

/* ---- reading ---- */

#define TOLERANCES (API_COMPARE_READ - API_COMPARE_TOLERANCE)

/* Whether the scheme has an application of a kind. */
static bool has_application(const pe_scheme *scheme, pe_application_kind kind)
{
    size_t count;
    const pe_application *applications = pe_scheme_applications(scheme, &count);
    for (size_t i = 0; i < count; i++)
        if (applications[i].kind == kind)
            return true;
    return false;
}

static const char *find_text(const applying *self, api_apply_option option)
{
    return pe_options_value(self->given, option)->text;
}

/* Refuse options that are of no use with the scheme, or without others. */
static void refuse_options(const applying *self, pe_error *error)
{
    const char *scheme = pe_scheme_describe(self->scheme)->name;
    if (!has_application(self->scheme, PE_APPLY_ADD))
        pe_options_refuse(self->given, API_APPLY_SCALE, error,
                          "left out: %s does not add anything", scheme);
    if (!has_application(self->scheme, PE_APPLY_ROTATE))
        pe_options_refuse(self->given, API_APPLY_INVERSE, error, "left out: %s does not rotate",
                          scheme);
    if (!self->options.heads)
        pe_options_refuse(self->given, API_APPLY_KV_HEADS, error, "left out without heads");
    if (self->options.qkv != PE_QKV_NONE && !self->options.heads)
        pe_options_refuse(self->given, API_APPLY_QKV, error, "left out without heads");
    else if (self->options.kv_heads && self->options.heads % self->options.kv_heads > 0)
        pe_options_refuse(self->given, API_APPLY_KV_HEADS, error, "a divisor of heads, %llu",
                          (unsigned long long)self->options.heads);
    if (self->options.without_rotation && !self->options.query_factors)
        pe_options_refuse(self->given, API_APPLY_ROTATION, error,
                          "true without query_factors, as nothing is left to do");
    for (size_t i = 0; i < 2 && self->options.without_rotation; i++)
        pe_options_refuse(self->given, i ? API_APPLY_OUTPUT_LAYOUT : API_APPLY_INVERSE, error,
                          "left out where nothing is turned");
    api_check_arithmetic(self->tolerances, 0, self->scheme, error);
    for (size_t i = 0; i < TOLERANCES && !find_text(self, API_APPLY_AGAINST); i++)
        pe_options_refuse(self->tolerances, i, error, "left out without against");
    if (self->any_mask && !find_text(self, API_APPLY_AGAINST))
        pe_error_add(error, PE_MALFORMED, api_compare_options[API_COMPARE_MASK].name, "any",
                     "left out without against");
}

/* The member of an enum that a choice stands for: 0 if it is not given. */
static int find_choice(const pe_options *options, api_apply_option option)
{
    const pe_value *value = pe_options_value(options, option);
    return value->present ? (int)value->integer + 1 : 0;
}

/* Read the options: those of schemes that rotate are unknown to others, which may have
 * parameters of these names. */
static void read_options(applying *self, pe_error *error)
{
    api_arguments *arguments = &self->arguments;
    self->option_count = has_application(self->scheme, PE_APPLY_ROTATE) ? API_APPLY_OPTIONS
                                                                        : API_APPLY_ROTATIONS;
    const pe_options *given = self->given =
        api_options_take(api_apply_options, (size_t)self->option_count, arguments, error);
    self->any_mask = api_take_any_mask(arguments);
    self->tolerances = api_options_take(&api_compare_options[API_COMPARE_TOLERANCE], TOLERANCES,
                                        arguments, error);
    const pe_value *dtype = pe_options_value(given, API_APPLY_DTYPE);
    const pe_value *rotation = pe_options_value(given, API_APPLY_ROTATION);
    self->options = (pe_apply_options){
        .dtype = dtype->present ? (pe_dtype)dtype->integer : PE_DTYPE_COUNT,
        .scale = pe_options_value(given, API_APPLY_SCALE)->real,
        .inverse = pe_options_value(given, API_APPLY_INVERSE)->integer != 0,
        .axes = find_text(self, API_APPLY_AXES),
        .heads = (uint64_t)pe_options_value(given, API_APPLY_HEADS)->integer,
        .kv_heads = (uint64_t)pe_options_value(given, API_APPLY_KV_HEADS)->integer,
        .qkv = (pe_qkv)find_choice(given, API_APPLY_QKV),
        .partial = pe_options_value(given, API_APPLY_ROTARY_OFFSET)->present,
        .rotary_offset = pe_options_value(given, API_APPLY_ROTARY_OFFSET)->integer,
        .output_layout = (pe_output_layout)find_choice(given, API_APPLY_OUTPUT_LAYOUT),
        .query_factors = pe_options_value(given, API_APPLY_QUERY_FACTORS)->integer != 0,
        .without_rotation = (rotation->present && rotation->integer == 0) ||
                            (self->follows_model && self->model.chosen.turns_nothing)};
    refuse_options(self, error);
}

/* ---- positions of rows ---- */

/* How a scheme is asked for the positions that the file has. */
typedef struct position_kind {
    const char *parameter;    /* that the schemes of this kind have */
    const char *first, *rows; /* arguments: the first position, how many there are */
    size_t axes;              /* of positions: several of each row; 0: one */
    const char *others[3];    /* arguments that a request must not give */
} position_kind;

static const position_kind POSITION_KINDS[] = {
    {"query_offset", "query_offset", "query_length", 0, {"positions", "step"}},
    {"positions", "offset", "length", 0, {"positions", "step"}},
    {"mrope_section", "first_position", "text", 3, {"position_ids", "grids"}},
    {.parameter = NULL},
};

/* Add an argument, or refuse the one that a request gives; "" is not added. */
static void add_argument(api_arguments *arguments, const char *name, const char *text,
                         pe_error *error)
{
    const pe_argument *given = api_argument_find(arguments->items, arguments->count, name);
    if (given)
        pe_error_add(error, PE_MALFORMED, name, given->text ? given->text : "",
                     "left out with the tensor " API_APPLY_POSITIONS
                     ", which has the positions");
    else if (*text && arguments->count < API_ARGUMENTS_MAX)
        arguments->items[arguments->count++] = (pe_argument){.name = name, .text = text};
}

/* Write the arguments that ask for the rows of a range of positions, on all axes. */
static void add_range(applying *self, const position_kind *kind, pe_position_range range,
                      pe_error *error)
{
    self->options.first_position = (int64_t)range.first;
    snprintf(self->first, sizeof self->first, "%.0f", range.first);
    snprintf(self->rows, sizeof self->rows, "%.0f", range.last - range.first + 1);
    add_argument(&self->arguments, kind->first, self->first, error);
    add_argument(&self->arguments, kind->rows, self->rows, error);
    for (const char *const *other = kind->others; *other; other++)
        add_argument(&self->arguments, *other, "", error);
}

/* Ask for the rows of all positions that the file has tensors of, if it has any and the scheme
 * has a use for them. False: they are wrong, which was added to `error`. */
static bool read_positions(applying *self, pe_error *error)
{
    const position_kind *kind = POSITION_KINDS;
    pe_apply_options *options = &self->options;
    pe_position_range range;
    const pe_view *ids;
    while (kind->parameter &&
           !pe_parameter_find(pe_scheme_describe(self->scheme), kind->parameter))
        kind++;
    if (!kind->parameter)
        return true;
    if (!api_applied_find_positions(self->applied, &ids, error))
        return false;
    if (!ids)
        return true;
    options->position_ids = ids;
    options->position_axes = kind->axes;
    if (self->follows_model && kind->axes == 0 && ids->rank > 2)
        pe_error_add(error, PE_OUT_OF_RANGE, API_APPLY_POSITIONS, "",
                     "[batch, length]; or image must be given too, for a model whose positions "
                     "are those of time, height and width");
    else if (pe_find_position_range(ids, self->scheme, self->call->service->host->runner,
                                    &range, error) == PE_OK)
        add_range(self, kind, range, error);
    return error->count == 0;
}

/* ---- finding ---- */

/* How often entries are computed and the input is read: once, and for the bounds of results. */
static unsigned count_passes(const applying *self)
{
    return pe_options_value(self->tolerances, 0)->integer > 0 ? 2 : 1;
}

/* The price of all that is computed. */
static double estimate_price(const applying *self)
{
    const pe_request *request = self->representation.request;
    return count_passes(self) * (2 * self->representation.facts.preparation +
                                 api_applied_price(self->applied, request, &self->options));
}

/* Find the tensors, before what follows is asked: a name that is none of theirs comes first. */
static bool find_tensors(applying *self, pe_error *reterr)
{
    const api_applied_names names = {.inputs = find_text(self, API_APPLY_INPUTS),
                                     .result = find_text(self, API_APPLY_RESULT),
                                     .against = find_text(self, API_APPLY_AGAINST)};
    if (!api_applied_find(self->applied, self->scheme, &names, reterr))
        return false;
    if (self->options.dtype == PE_DTYPE_COUNT && names.against)
        (void)pe_element_is_real(api_applied_get(self->applied, 0)->compared.element,
                                 &self->options.dtype);
    return true;
}

/* Find the model that the request follows instead of a scheme, and the scheme of its part. */
static bool read_model(applying *self, pe_error *reterr)
{
    if (!self->follows_model || reterr->count > 0)
        return reterr->count == 0;
    if (!api_apply_model_read(&self->model, self->call, api_applied_config(self->applied),
                              &self->arguments, reterr))
        return false;
    self->scheme = pe_scheme_find(self->model.chosen.part->scheme);
    return true;
}

static bool read_arguments_and_tensors(void *job, pe_error *reterr, api_reply **ret_reply)
{
    applying *self = job;
    api_arguments *arguments = &self->arguments;
    pe_error error;
    bool is_npy = self->format == API_TABLE_NPY;
    uint64_t limit = self->call->service->host->compute_cost;
    pe_error_init(&error);
    api_arguments_from_query(self->call->query, arguments, &error);
    self->applied = api_applied_new(self->call->request, is_npy);
    if (!self->applied)
        return false;
    if (self->follows_model) /* which the arguments name */
        pe_error_append(reterr, &error);
    if (!api_applied_load(self->applied, reterr) || !read_model(self, reterr))
        return true;
    read_options(self, &error);
    const size_t own = arguments->count;
    if (!read_positions(self, reterr) || !find_tensors(self, reterr)) {
        pe_error_append(reterr, &error);
        return true;
    }
    if (self->follows_model)
        api_apply_model_add(&self->model, self->options.query_factors, own, arguments, reterr);
    if (reterr->count > 0)
        return true;
    if (find_text(self, API_APPLY_AGAINST))
        self->target = api_target_write(self->call, self->scheme, arguments, &error);
    /* the request itself is of f64, which has room for every entry */
    if (arguments->count < API_ARGUMENTS_MAX)
        arguments->items[arguments->count++] = (pe_argument){.name = "dtype", .text = "f64"};
    if (!api_representation_read(&self->representation, self->call, self->scheme, arguments,
                                 &error, "the answer is a file as the body is", reterr,
                                 ret_reply))
        return false;
    if (is_npy && self->options.dtype == PE_BF16)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dtype", "bf16",
                     "another one: npy has no bf16, but safetensors has");
    if (reterr->count == 0 && limit > 0)
        pe_request_check_price(self->representation.request, estimate_price(self), limit,
                               reterr);
    return true;
}

/* ---- answering ---- */

/* Say that pairs lie otherwise than the model has them. */
static api_reply *add_note(const applying *self, api_reply *reply)
{
    if (self->follows_model && self->model.other_layout)
        api_reply_add(reply, "Note", "the model's weights in transformers have layout=%s",
                      self->model.other_layout);
    return reply;
}

/* Write an option that is given, after what is there. False: there is no room for it. */
static bool add_option(const applying *self, api_apply_option option, char *dst)
{
    const size_t used = strlen(dst), left = PE_IDENTITY_QUERY_MAX - used;
    const char *text = pe_options_text(self->given, option);
    return !text || (size_t)snprintf(dst + used, left, "&%s=%s", api_apply_options[option].name,
                                     text) < left;
}

/* Write the query of explaining: the scheme's arguments, and those of the options that may be
 * wrong; and the others. It is "" if it is too long. */
static void write_query(const applying *self, char *ret_query, char *ret_more)
{
    api_explained_query(&self->arguments, ret_query);
    *ret_more = '\0';
    for (int i = API_APPLY_SCALE; *ret_query && i < self->option_count; i++)
        if (!add_option(self, (api_apply_option)i,
                        i == API_APPLY_SCALE || i == API_APPLY_INVERSE ||
                                i == API_APPLY_OUTPUT_LAYOUT || i == API_APPLY_QUERY_FACTORS
                            ? ret_query
                            : ret_more))
            *ret_query = '\0';
}

static api_reply *apply_encoding(void *job)
{
    applying *self = job;
    const api_host *host = self->call->service->host;
    pe_error error;
    pe_error_init(&error);
    const uint64_t bytes =
        api_applied_footprint(self->applied, self->representation.request, &self->options);
    if (!api_reserve_lasting(count_passes(self) * bytes + API_READ_MAX, "the result", &error) ||
        !api_applied_open(self->applied, self->representation.request, &self->options,
                          host->runner, &error))
        return api_problem_from_error(&error);
    if (find_text(self, API_APPLY_AGAINST)) {
        char query[PE_IDENTITY_QUERY_MAX], more[PE_IDENTITY_QUERY_MAX];
        const api_apply_comparison comparison = {
            .scheme = self->scheme,
            .url = self->target,
            .format = api_table_format_name(self->format),
            .judgement = api_read_judgement(self->tolerances, 0, self->any_mask),
            .query = query,
            .more = more,
            .bytes = bytes,
            .call = self->call};
        write_query(self, query, more);
        return add_note(self, api_apply_compare(self->applied, &comparison));
    }
    api_reply *reply = api_passing_reply(200, api_table_media_type(self->format));
    api_reply_set_reads_request(reply);
    api_body *body = api_body_applied(self->applied);
    self->applied = NULL;
    return add_note(self, api_reply_with_body(reply, body, false));
}

/* The price of what is computed before the answer begins: entries are prepared as doubles and
 * as pairs, and what is compared is computed whole. */
static double price_to_begin(const void *job)
{
    const applying *self = job;
    if (find_text(self, API_APPLY_AGAINST))
        return estimate_price(self);
    return 2 * self->representation.facts.preparation +
           api_applied_opening_price(self->applied, &self->options);
}

static const api_table_endpoint APPLY = {
    .files_only = "send an npy or a safetensors file: raw elements do not say what shape they "
                  "have, and JSON and CSV are taken where a table is compared or identified",
    .read = read_arguments_and_tensors,
    .price = price_to_begin,
    .work = apply_encoding,
};

static api_reply *refuse_scheme(const pe_scheme *scheme)
{
    pe_error error;
    pe_error_init(&error);
    pe_error_add(&error, PE_OUT_OF_RANGE, "scheme", pe_scheme_describe(scheme)->name,
                 "one that is applied to tensors of a model: those with `applies` in "
                 "/v1/schemes");
    return api_problem_from_error(&error);
}

static api_reply *answer_application(applying *self)
{
    api_reply *reply = api_answer_table_post(self->call, &APPLY, &self->format, self);
    api_applied_free(self->applied);
    api_representation_done(&self->representation);
    pe_options_free(self->given);
    pe_options_free(self->tolerances);
    api_arguments_done(&self->arguments);
    if (self->follows_model)
        api_apply_model_done(&self->model);
    free(self->target);
    return reply;
}

api_reply *api_post_apply(const api_call *call)
{
    applying self = {.call = call, .scheme = pe_scheme_find(call->parameter)};
    size_t count;
    if (!self.scheme)
        return api_problem_of_scheme(call->parameter);
    pe_scheme_applications(self.scheme, &count);
    return count > 0 ? answer_application(&self) : refuse_scheme(self.scheme);
}

api_reply *api_post_apply_model(const api_call *call)
{
    applying self = {.call = call, .follows_model = true};
    return answer_application(&self);
}
