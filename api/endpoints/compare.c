/* /v1/compare/{scheme}: a table from elsewhere, compared with the exact one. */
#include "bytes/memory_budget.h"
#include "call.h"
#include "files/body_file.h"
#include "http/target.h"
#include "replies/comparison.h"
#include "replies/explanation.h"
#include "replies/problem.h"
#include "replies/table_post.h"
#include "representations/representation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One comparison on its way. */
typedef struct comparing {
    const api_call *call;
    const pe_scheme *scheme;
    api_arguments arguments;
    api_representation representation;
    api_table_format format;
    api_file file;
    pe_options *options;
    char found_tensor[API_SET_NAME_MAX + 1];
    api_judgement judgement;
    api_segment numbers; /* of a text, from malloc */
    pe_view view;
    char query[PE_IDENTITY_QUERY_MAX]; /* the scheme's arguments; "": they are longer */
    char *target;                      /* of the exact table, from malloc */
} comparing;

/* ---- reading ---- */

/* The text of an argument, NULL if it is not given. */
static const char *find_argument_text(const api_arguments *arguments, const char *name)
{
    const pe_argument *found = api_argument_find(arguments->items, arguments->count, name);
    return found ? found->text : NULL;
}

/* Give the request the file's dtype, unless it names one or is of raw elements, which have the
 * request's. */
static void add_dtype(comparing *self)
{
    pe_dtype dtype;
    if (self->format == API_TABLE_RAW || find_argument_text(&self->arguments, "dtype") ||
        !pe_element_is_real(self->view.element, &dtype) ||
        self->arguments.count == API_ARGUMENTS_MAX)
        return;
    self->arguments.items[self->arguments.count++] =
        (pe_argument){.name = "dtype", .text = pe_dtype_name(dtype)};
}

/* Read the file's header, or a text, whose numbers have the dtype of the request if it says
 * none. `tensor` is the scheme's. Raw elements are looked at later: they have the shape of the
 * exact tensor. */
static void read_file(comparing *self, const char *tensor, pe_error *error)
{
    const char *dtype = find_argument_text(&self->arguments, "dtype");
    api_table_wish wish = {.format = self->format,
                           .name =
                               pe_options_value(self->options, API_COMPARE_FILE_TENSOR)->text,
                           .otherwise = tensor,
                           .dtype = PE_F32,
                           .most = self->call->service->host->json_elements};
    if (dtype)
        api_find_dtype(dtype, &wish.dtype);
    api_table_file_view(&self->file, &wish, &self->numbers, &self->view, self->found_tensor,
                        error);
    if (self->format != API_TABLE_SAFETENSORS && self->format != API_TABLE_JSON)
        pe_options_refuse(self->options, API_COMPARE_FILE_TENSOR, error,
                          "left out: only a safetensors file and JSON have tensors with names");
}

/* Refuse a request for several tensors that names none of them. */
static void check_tensor_is_named(const comparing *self, pe_error *error)
{
    const pe_request *request = self->representation.request;
    char names[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < pe_request_tensor_count(request) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 pe_request_tensor(request, i)->name);
    if (self->representation.selection.count > 1)
        pe_error_add(error, PE_OUT_OF_RANGE, "tensor", "", "one of %s", names)->reason =
            PE_REASON_MISSING;
}

/* The exact tensor. */
static const pe_tensor *find_tensor(const comparing *self)
{
    return pe_request_tensor(self->representation.request,
                             self->representation.selection.first);
}

/* Whether the rows of a matrix are as many and as long as those of a tensor of any rank. */
static bool has_rows(const pe_view *view, const pe_tensor *tensor)
{
    return view->rank == 2 && tensor->rank > 2 && pe_view_elements(view) == tensor->elements &&
           view->shape[1] == tensor->shape[tensor->rank - 1];
}

/* Check that the file's numbers can be those of the tensor. */
static void check_kind(comparing *self, pe_error *error)
{
    const pe_tensor *tensor = find_tensor(self);
    pe_dtype dtype;
    bool real = pe_element_is_real(self->view.element, &dtype);
    if (self->format == API_TABLE_CSV && has_rows(&self->view, tensor))
        api_reshape_view(&self->view, tensor->rank, tensor->shape, error);
    if (self->format == API_TABLE_RAW)
        api_raw_view(&self->file, pe_get_element(tensor->dtype), tensor->rank, tensor->shape,
                     &self->view, error);
    else if (real && tensor->dtype != PE_I32 && dtype != tensor->dtype) {
        pe_error_add(error, PE_OUT_OF_RANGE, "dtype", pe_dtype_name(tensor->dtype),
                     "that of the file, %s, or left out", pe_dtype_name(dtype));
    }
}

static bool read_arguments_and_table(void *job, pe_error *reterr, api_reply **ret_reply)
{
    comparing *self = job;
    pe_error error;
    if (self->format >= API_TABLE_JSON && !api_may_read_text(self->call, 0))
        return false;
    pe_error_init(&error);
    api_arguments_from_query(self->call->query, &self->arguments, &error);
    const bool any_mask = api_take_any_mask(&self->arguments);
    self->options =
        api_options_take(api_compare_options, API_COMPARE_READ, &self->arguments, &error);
    self->judgement = api_read_judgement(self->options, API_COMPARE_TOLERANCE, any_mask);
    read_file(self, find_argument_text(&self->arguments, "tensor"), &error);
    api_explained_query(&self->arguments, self->query);
    add_dtype(self);
    self->target = api_target_write(self->call, self->scheme, &self->arguments, &error);
    if (!api_representation_read(&self->representation, self->call, self->scheme,
                                 &self->arguments, &error, "a comparison is JSON", reterr,
                                 ret_reply))
        return false;
    if (reterr->count == 0) {
        check_tensor_is_named(self, reterr);
        api_check_arithmetic(self->options, API_COMPARE_TOLERANCE, self->scheme, reterr);
    }
    if (reterr->count == 0)
        check_kind(self, reterr);
    return true;
}

/* ---- answering ---- */

/* What comparing holds: the stream of the exact table, a block of it and of the other one as
 * elements and doubles, and what is counted for each column. */
#define BLOCK_BYTES  ((uint64_t)1 << 20) /* of exact elements, and at least a row */
#define ENTRY_BYTES  40
#define COLUMN_BYTES 128

static uint64_t estimate_bytes(const comparing *self)
{
    const pe_tensor *tensor = find_tensor(self);
    uint64_t row = tensor->elements / tensor->rows;
    uint64_t block = BLOCK_BYTES / pe_dtype_size(tensor->dtype);
    block = block > row ? block : row;
    block = block < tensor->elements ? block : tensor->elements;
    const uint64_t streams = self->judgement.tolerance.bounded ? 2 : 1;
    return streams * pe_stream_footprint(self->representation.request,
                                         self->representation.selection.first, BLOCK_BYTES) +
           ENTRY_BYTES * block + COLUMN_BYTES * row + sizeof(pe_comparison);
}

/* The price of comparing. */
static double compare_price(const comparing *self)
{
    return (self->judgement.tolerance.bounded ? 2 : 1) * self->representation.facts.price;
}

/* The price of explaining as well. */
static double explain_price(const comparing *self)
{
    return compare_price(self) +
           pe_explain_price(self->representation.request, self->representation.selection.first);
}

#define REPEATED 0x1p22 /* comparisons up to this price are done again where one needs more */

static double estimate_price(const void *job)
{
    return compare_price(job) <= REPEATED ? compare_price(job) : explain_price(job);
}

/* Whether what was found needs an explanation: a table that differs in more than a few entries,
 * or has another shape. Nothing is explained that may not be computed. */
static bool needs_explanation(const comparing *self, const pe_comparison *comparison,
                              const pe_error *error)
{
    const uint64_t limit = self->call->service->host->compute_cost;
    const uint64_t wrong = self->judgement.judged ? comparison->outside : comparison->differing;
    const bool is_shape =
        error->count == 1 && strcmp(error->problems[0].parameter, "shape") == 0;
    return self->query[0] && (limit == 0 || explain_price(self) <= (double)limit) &&
           (error->count == 0 ? wrong > API_EXPLAINED_FEW : is_shape);
}

/* What is wrong with the table; NULL if that is not found. A lack of memory, too, leaves an
 * answer without explanation. */
static json_t *explain_difference(const comparing *self)
{
    const api_host *host = self->call->service->host;
    const size_t tensor = self->representation.selection.first;
    pe_request *request = self->representation.request;
    pe_explanation *explanation = malloc(sizeof *explanation);
    json_t *document = NULL;
    pe_error error;
    pe_error_init(&error);
    if (explanation &&
        api_reserve(pe_explain_footprint(request, tensor), "the explanation", &error) &&
        pe_explain_mismatch(request, self->query, tensor, &self->view,
                            &self->judgement.tolerance, &host->limits, host->runner,
                            explanation, &error) == PE_OK &&
        explanation->found)
        document = api_explanation_document(explanation, self->scheme, &self->view);
    free(explanation);
    return document;
}

/* Answer with what was compared, or why it could not be; and what explains it, or NULL. */
static api_reply *answer_comparison(const comparing *self, const pe_comparison *comparison,
                                    const pe_error *error, json_t *explanation)
{
    if (error->count > 0)
        return api_problem_explained(error, explanation);
    const api_compared compared = api_compared_init(find_tensor(self));
    const api_compared_names names = {.scheme = pe_scheme_describe(self->scheme)->name,
                                      .tensor = find_tensor(self)->name,
                                      .url = self->target,
                                      .format = api_table_format_name(self->format),
                                      .file_tensor =
                                          self->found_tensor[0] ? self->found_tensor : NULL,
                                      .element = self->view.element};
    return api_comparison_answer(api_comparison_describe(
        &names, comparison, &compared, self->judgement.judged, "explanation", explanation));
}

static api_reply *compare_tables(void *job)
{
    const comparing *self = job;
    const size_t tensor = self->representation.selection.first;
    pe_comparison *comparison = calloc(1, sizeof *comparison);
    api_reply *reply = NULL;
    pe_error error;
    if (!comparison)
        return NULL;
    pe_error_init(&error);
    if (api_reserve(estimate_bytes(self), "the comparison", &error))
        pe_compare_table(self->representation.request, tensor, &self->view,
                         self->judgement.tolerance, self->call->service->host->runner,
                         comparison, &error);
    const bool needed = needs_explanation(self, comparison, &error);
    if (!needed || api_may_begin(self->call, explain_price(self)))
        reply = answer_comparison(self, comparison, &error,
                                  needed ? explain_difference(self) : NULL);
    free(comparison);
    return reply;
}

static const api_table_endpoint COMPARE = {
    .read = read_arguments_and_table, .price = estimate_price, .work = compare_tables};

api_reply *api_post_compare(const api_call *call)
{
    comparing self = {.call = call, .scheme = pe_scheme_find(call->parameter)};
    if (!self.scheme)
        return api_problem_of_scheme(call->parameter);
    self.file = api_body_file(call);
    api_reply *reply = api_answer_table_post(call, &COMPARE, &self.format, &self);
    api_representation_done(&self.representation);
    pe_options_free(self.options);
    api_arguments_done(&self.arguments);
    free((void *)(uintptr_t)self.numbers.data);
    free(self.target);
    return reply;
}
