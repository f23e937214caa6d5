/* /v1/apply/{scheme}: tensors of a model, with an encoding applied to them exactly. */
#include "bytes/reserve.h"
#include "call.h"
#include "files/applied.h"
#include "http/arguments.h"
#include "http/target.h"
#include "replies/comparison.h"
#include "replies/document.h"
#include "replies/problem.h"
#include "replies/reply.h"
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
    pe_apply_options options;
    const char *result;  /* as asked for, or NULL */
    const char *against; /* the tensor to compare with, or NULL */
    bool judged;         /* a tolerance is given */
    pe_tolerance tolerance;
    char *target; /* of the encoding, from malloc; where it is compared */
    api_applied *applied;
} applying;

/* ---- reading ---- */

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

/* Read an option that is no text, which only schemes with an application of that kind take.
 * Returns whether it is given. */
static bool read_option(applying *self, api_apply_option option, pe_application_kind kind,
                        pe_value *ret_value, pe_error *error)
{
    const pe_parameter *row = &api_apply_options[option];
    pe_argument argument;
    if (!api_arguments_take_any(&self->arguments, row->name, &argument, error))
        return false;
    if (option != API_APPLY_DTYPE && !does(self->scheme, kind)) {
        pe_error_add(error, PE_MALFORMED, row->name, argument.text, "left out: %s does not %s",
                     pe_scheme_describe(self->scheme)->name,
                     kind == PE_APPLY_ROTATE ? "rotate" : "add anything");
        return false;
    }
    return pe_argument_read(row, &argument, NULL, 0, ret_value, error);
}

static void read_tolerance(applying *self, api_compare_option option, double *ret,
                           pe_error *error)
{
    const pe_parameter *row = &api_compare_options[option];
    pe_argument argument;
    pe_value value;
    if (!api_arguments_take_any(&self->arguments, row->name, &argument, error))
        return;
    self->judged = true;
    if (!self->against)
        pe_error_add(error, PE_MALFORMED, row->name, argument.text, "left out without against");
    else if (pe_argument_read(row, &argument, NULL, 0, &value, error))
        *ret = value.real;
}

/* Read what is compared. */
static void read_against(applying *self, pe_error *error)
{
    self->against =
        api_arguments_take(&self->arguments, api_apply_options[API_APPLY_AGAINST].name, error);
    read_tolerance(self, API_COMPARE_TOLERANCE, &self->tolerance.absolute, error);
    read_tolerance(self, API_COMPARE_ULPS, &self->tolerance.ulps, error);
}

/* Read the options. The request itself is of f64, which has room for every entry. */
static void read_options(applying *self, pe_error *error)
{
    pe_value value;
    self->options = (pe_apply_options){.dtype = PE_DTYPE_COUNT, .scale = 1};
    if (read_option(self, API_APPLY_DTYPE, PE_APPLY_ADD, &value, error))
        self->options.dtype = (pe_dtype)value.integer;
    if (read_option(self, API_APPLY_SCALE, PE_APPLY_ADD, &value, error))
        self->options.scale = value.real;
    if (read_option(self, API_APPLY_INVERSE, PE_APPLY_ROTATE, &value, error))
        self->options.inverse = value.integer != 0;
    self->options.axes =
        api_arguments_take(&self->arguments, api_apply_options[API_APPLY_AXES].name, error);
    self->result =
        api_arguments_take(&self->arguments, api_apply_options[API_APPLY_RESULT].name, error);
    read_against(self, error);
    if (self->against)
        self->target = api_target_of(self->call, self->scheme, &self->arguments, error);
    if (self->arguments.count < API_ARGUMENTS_MAX)
        self->arguments.items[self->arguments.count++] =
            (pe_argument){.name = "dtype", .text = "f64"};
}

/* Read everything; false: ret_reply is the answer, or it is missing. */
static bool read_all(applying *self, api_reply **ret_reply)
{
    const api_format *asked;
    pe_error error, all;
    pe_error_init(&error);
    api_arguments_from_query(self->call->query, &self->arguments, &error);
    read_options(self, &error);
    bool is_npy = self->format == API_TABLE_NPY;
    if (!api_representation_read(&self->representation, self->call, self->scheme,
                                 &self->arguments, &error, &asked, &all, ret_reply))
        return false;
    if (asked)
        pe_error_add(&all, PE_MALFORMED, "format", asked->name,
                     "left out: the answer is a file as the body is");
    if (is_npy && self->options.dtype == PE_BF16)
        pe_error_add(&all, PE_OUT_OF_RANGE, "dtype", "bf16",
                     "another one: npy has no bf16, but safetensors has");
    if (all.count == 0)
        self->applied = api_applied_new(self->call->request, is_npy);
    if (all.count == 0 && !self->applied)
        return false;
    if (all.count == 0 &&
        api_applied_find(self->applied, self->scheme, self->result, self->against, &all)) {
        if (self->options.dtype == PE_DTYPE_COUNT && self->against)
            (void)pe_element_is_real(api_applied_element(self->applied), &self->options.dtype);
        return true;
    }
    *ret_reply = api_problem_from_error(&all);
    return false;
}

/* ---- answering ---- */

static json_t *shape_of(const pe_view *view)
{
    json_t *shape = json_array();
    for (size_t i = 0; i < view->rank; i++)
        json_array_append_new(shape, json_integer((json_int_t)view->shape[i]));
    return shape;
}

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

/* The comparison of the only result. */
static json_t *describe(const applying *self, const pe_comparison *comparison)
{
    const api_applied_tensor *result = api_applied_result(self->applied);
    const pe_view *view = pe_apply_shape(result->apply);
    api_compared compared = {.rank = view->rank, .elements = pe_view_elements(view)};
    pe_dtype real = PE_F32;
    (void)pe_element_is_real(view->element, &real);
    compared.dtype = real;
    memcpy(compared.shape, view->shape, sizeof compared.shape);
    json_t *document = json_pack(
        "{s:{s:s, s:s, s:s?}, s:o, s:s, s:{s:s, s:s, s:s}}", "request", "scheme",
        pe_scheme_describe(self->scheme)->name, "tensor", result->name, "url", self->target,
        "shape", shape_of(view), "dtype", pe_dtype_name(real), "file", "format", "safetensors",
        "dtype", pe_element_name(api_applied_element(self->applied)), "tensor", self->against);
    json_t *found = api_comparison_document(comparison, &compared);
    if (self->judged) {
        json_object_set_new(document, "within_tolerance",
                            json_boolean(comparison->outside == 0));
        json_object_set_new(document, "outside_tolerance",
                            json_integer((json_int_t)comparison->outside));
    }
    json_object_update(document, found);
    json_decref(found);
    json_object_set_new(document, "by", describe_axes(result->apply, comparison));
    return document;
}

static api_reply *compare(const applying *self)
{
    pe_comparison *comparison = malloc(sizeof *comparison);
    pe_error error;
    pe_error_init(&error);
    if (!comparison)
        return NULL;
    if (!api_applied_compare(self->applied, self->tolerance, self->call->service->host->runner,
                             comparison, &error)) {
        free(comparison);
        return api_problem_from_error(&error);
    }
    api_reply *reply = api_reply_new(self->judged && comparison->outside > 0 ? 409 : 200);
    api_reply_add(reply, "Cache-Control", "no-store");
    api_reply_add(reply, "Content-Type", "application/json");
    char *text = api_document_readable(describe(self, comparison));
    free(comparison);
    return api_reply_with_body(reply, text ? api_body_from_text(text, strlen(text)) : NULL,
                               false);
}

static api_reply *apply(applying *self)
{
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
    api_reply *reply = api_reply_new(200);
    api_reply_add(reply, "Cache-Control", "no-store");
    api_reply_add(reply, "Content-Type", "%s",
                  self->format == API_TABLE_NPY ? "application/x-npy"
                                                : "application/vnd.safetensors");
    api_reply_set_reads_request(reply);
    api_body *body = api_body_applied(self->applied);
    self->applied = NULL;
    return api_reply_with_body(reply, body, false);
}

static api_reply *refuse_raw(void)
{
    return api_problem(API_UNSUPPORTED_MEDIA_TYPE,
                       "raw elements do not say what shape they have: send an npy or a "
                       "safetensors file",
                       NULL, NULL);
}

/* The price of what is computed before the answer begins: entries are prepared as doubles and
 * as pairs, and what is compared is computed whole. */
static double price_to_begin(const applying *self)
{
    const pe_request *request = self->representation.request;
    double price = 2 * pe_request_preparation_price(request);
    if (self->against)
        price += api_applied_price(self->applied, request, &self->options);
    return price;
}

/* The price of all that is computed. */
static double price_of(const applying *self)
{
    const pe_request *request = self->representation.request;
    return 2 * pe_request_preparation_price(request) +
           api_applied_price(self->applied, request, &self->options);
}

/* Check that price. */
static bool is_affordable(const applying *self, api_reply **ret_reply)
{
    const pe_request *request = self->representation.request;
    uint64_t limit = self->call->service->host->compute_cost;
    double price = price_of(self);
    pe_error error;
    pe_error_init(&error);
    if (limit == 0 || pe_request_check_price(request, price, limit, &error))
        return true;
    *ret_reply = api_problem_from_error(&error);
    return false;
}

static api_reply *answer(applying *self)
{
    api_reply *reply = NULL;
    if (!api_is_table_post(self->call, &self->format, &reply))
        return reply;
    if (self->format == API_TABLE_RAW)
        return refuse_raw();
    if (!read_all(self, &reply) || !is_affordable(self, &reply))
        return reply;
    return api_may_begin(self->call, (double)price_to_begin(self)) ? apply(self) : NULL;
}

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
    api_reply *reply = answer(&self);
    api_applied_free(self.applied);
    api_representation_done(&self.representation);
    api_arguments_done(&self.arguments);
    free(self.target);
    return reply;
}
