/* /v1/apply/{scheme}: tensors of a model, with an encoding applied to them exactly. */
#include "bytes/reserve.h"
#include "call.h"
#include "files/applied.h"
#include "http/arguments.h"
#include "http/target.h"
#include "replies/comparison.h"
#include "replies/document.h"
#include "replies/problem.h"
#include "replies/table_post.h"
#include "representations/representation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One application on its way. */
typedef struct applying {
    const api_call *call;
    const pe_scheme *scheme;
    api_arguments arguments;
    api_representation representation;
    api_table_format format;
    pe_options *given, *tolerances;
    pe_apply_options options;
    bool any_mask;
    const char *against; /* the tensor to compare with, or NULL */
    char *target;        /* of the encoding, from malloc; where it is compared */
    api_applied *applied;
} applying;

/* ---- reading ---- */

#define TOLERANCES (API_COMPARE_READ - API_COMPARE_TOLERANCE)

/* Whether the scheme has an application of a kind. */
static bool does(const pe_scheme *scheme, pe_application_kind kind)
{
    size_t count;
    const pe_application *applications = pe_scheme_applications(scheme, &count);
    for (size_t i = 0; i < count; i++)
        if (applications[i].kind == kind)
            return true;
    return false;
}

/* Refuse options that are of no use with the scheme, or without others. */
static void refuse_options(const applying *self, pe_error *error)
{
    const char *scheme = pe_scheme_describe(self->scheme)->name;
    if (!does(self->scheme, PE_APPLY_ADD))
        pe_options_refuse(self->given, API_APPLY_SCALE, error,
                          "left out: %s does not add anything", scheme);
    if (!does(self->scheme, PE_APPLY_ROTATE))
        pe_options_refuse(self->given, API_APPLY_INVERSE, error, "left out: %s does not rotate",
                          scheme);
    if (pe_options_value(self->tolerances, 0)->integer > 0)
        api_refuse_arithmetic(self->tolerances, 0, "what a result loses depends on the input",
                              error);
    for (size_t i = 0; i < TOLERANCES && !self->against; i++)
        pe_options_refuse(self->tolerances, i, error, "left out without against");
    if (self->any_mask && !self->against)
        pe_error_add(error, PE_MALFORMED, api_compare_options[API_COMPARE_MASK].name, "any",
                     "left out without against");
}

/* Read the options. The request itself is of f64, which has room for every entry. */
static void read_options(applying *self, pe_error *error)
{
    api_arguments *arguments = &self->arguments;
    self->given = pe_options_take(api_apply_options, API_APPLY_OPTIONS, arguments->items,
                                  &arguments->count, error);
    self->any_mask = api_take_any_mask(arguments);
    self->tolerances = pe_options_take(&api_compare_options[API_COMPARE_TOLERANCE], TOLERANCES,
                                       arguments->items, &arguments->count, error);
    const pe_value *dtype = pe_options_value(self->given, API_APPLY_DTYPE);
    self->against = pe_options_value(self->given, API_APPLY_AGAINST)->text;
    self->options = (pe_apply_options){
        .dtype = dtype->present ? (pe_dtype)dtype->integer : PE_DTYPE_COUNT,
        .scale = pe_options_value(self->given, API_APPLY_SCALE)->real,
        .inverse = pe_options_value(self->given, API_APPLY_INVERSE)->integer != 0,
        .axes = pe_options_value(self->given, API_APPLY_AXES)->text};
    refuse_options(self, error);
    if (self->against)
        self->target = api_target_write(self->call, self->scheme, arguments, error);
    if (arguments->count < API_ARGUMENTS_MAX)
        arguments->items[arguments->count++] = (pe_argument){.name = "dtype", .text = "f64"};
}

/* The price of all that is computed. */
static double estimate_price(const applying *self)
{
    const pe_request *request = self->representation.request;
    return 2 * self->representation.facts.preparation +
           api_applied_price(self->applied, request, &self->options);
}

/* Find the tensors, and check what applying the encoding to them costs. False without memory.
 */
static bool find_tensors(applying *self, bool is_npy, pe_error *reterr)
{
    const char *result = pe_options_value(self->given, API_APPLY_RESULT)->text;
    uint64_t limit = self->call->service->host->compute_cost;
    self->applied = api_applied_new(self->call->request, is_npy);
    if (!self->applied)
        return false;
    if (!api_applied_find(self->applied, self->scheme, result, self->against, reterr))
        return true;
    if (self->options.dtype == PE_DTYPE_COUNT && self->against)
        (void)pe_element_is_real(api_applied_element(self->applied), &self->options.dtype);
    if (limit > 0)
        pe_request_check_price(self->representation.request, estimate_price(self), limit,
                               reterr);
    return true;
}

static bool read_all(void *job, pe_error *reterr, api_reply **ret_reply)
{
    applying *self = job;
    const api_format *asked;
    pe_error error;
    pe_error_init(&error);
    api_arguments_from_query(self->call->query, &self->arguments, &error);
    read_options(self, &error);
    bool is_npy = self->format == API_TABLE_NPY;
    if (!api_representation_read(&self->representation, self->call, self->scheme,
                                 &self->arguments, &error, &asked, reterr, ret_reply))
        return false;
    if (asked)
        pe_error_add(reterr, PE_MALFORMED, "format", asked->name,
                     "left out: the answer is a file as the body is");
    if (is_npy && self->options.dtype == PE_BF16)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dtype", "bf16",
                     "another one: npy has no bf16, but safetensors has");
    return reterr->count > 0 || find_tensors(self, is_npy, reterr);
}

/* ---- answering ---- */

/* What was found by head, by position …: an object of the axes by name. */
static json_t *describe_axes(const pe_apply *result, const pe_comparison *comparison)
{
    json_t *by = json_object();
    for (size_t axis = 0; axis < pe_apply_shape(result)->rank; axis++) {
        char name[32];
        snprintf(name, sizeof name, "axis_%zu", axis);
        const char *known = pe_apply_axis(result, axis);
        json_object_set_new(by, *known ? known : name, api_comparison_axis(comparison, axis));
    }
    return by;
}

static api_reply *compare(const applying *self)
{
    const api_applied_tensor *result = api_applied_result(self->applied);
    const pe_view *view = pe_apply_shape(result->apply);
    const api_judgement judgement = api_read_judgement(self->tolerances, 0, self->any_mask);
    api_compared compared = {
        .dtype = PE_F32, .rank = view->rank, .elements = pe_view_elements(view)};
    const api_compared_names names = {.scheme = pe_scheme_describe(self->scheme)->name,
                                      .tensor = result->name,
                                      .url = self->target,
                                      .format = api_table_format_name(self->format),
                                      .file_tensor = self->against,
                                      .element = api_applied_element(self->applied)};
    pe_comparison *comparison = malloc(sizeof *comparison);
    api_reply *reply;
    pe_error error;
    pe_error_init(&error);
    if (!comparison)
        return NULL;
    (void)pe_element_is_real(view->element, &compared.dtype);
    memcpy(compared.shape, view->shape, sizeof compared.shape);
    if (api_applied_compare(self->applied, judgement.tolerance,
                            self->call->service->host->runner, comparison, &error))
        reply = api_comparison_reply(&names, comparison, &compared, judgement.judged, "by",
                                     describe_axes(result->apply, comparison));
    else
        reply = api_problem_from_error(&error);
    free(comparison);
    return reply;
}

static api_reply *apply(void *job)
{
    applying *self = job;
    const api_host *host = self->call->service->host;
    pe_error error;
    pe_error_init(&error);
    uint64_t bytes =
        api_applied_footprint(self->applied, self->representation.request, &self->options);
    if (!api_reserve_lasting(bytes + API_READ_MAX, "the result", &error) ||
        !api_applied_open(self->applied, self->representation.request, &self->options,
                          host->runner, &error))
        return api_problem_from_error(&error);
    if (self->against)
        return compare(self);
    api_reply *reply = api_passing_reply(200, api_table_media_type(self->format));
    api_reply_set_reads_request(reply);
    api_body *body = api_body_applied(self->applied);
    self->applied = NULL;
    return api_reply_with_body(reply, body, false);
}

/* The price of what is computed before the answer begins: entries are prepared as doubles and
 * as pairs, and what is compared is computed whole. */
static double price_to_begin(const void *job)
{
    const applying *self = job;
    return self->against ? estimate_price(self) : 2 * self->representation.facts.preparation;
}

static const api_table_endpoint APPLY = {
    .raw = "raw elements do not say what shape they have: send an npy or a safetensors file",
    .read = read_all,
    .price = price_to_begin,
    .work = apply,
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

api_reply *api_post_apply(const api_call *call)
{
    applying self = {.call = call, .scheme = pe_scheme_find(call->parameter)};
    size_t count;
    if (!self.scheme)
        return api_problem_of_scheme(call->parameter);
    pe_scheme_applications(self.scheme, &count);
    if (count == 0)
        return refuse_scheme(self.scheme);
    api_reply *reply = api_answer_table_post(call, &APPLY, &self.format, &self);
    api_applied_free(self.applied);
    api_representation_done(&self.representation);
    pe_options_free(self.given);
    pe_options_free(self.tolerances);
    api_arguments_done(&self.arguments);
    free(self.target);
    return reply;
}
