/* /v1/identify: which request made a table. */
#include "bytes/memory_budget.h"
#include "call.h"
#include "files/body_file.h"
#include "files/found_sets.h"
#include "http/arguments.h"
#include "replies/document.h"
#include "replies/identity.h"
#include "replies/problem.h"
#include "replies/table_post.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One table on its way. */
typedef struct identifying {
    const api_call *call;
    api_arguments arguments;
    pe_options *options;
    api_table_format format;
    api_file file;
    char tensor[API_SET_NAME_MAX + 1]; /* of a safetensors file */
    const char *name; /* of the set of whose tensors the table may be made, NULL: none */
    api_set *set;
    api_segment numbers; /* of a text, from malloc */
    const pe_scheme *only;
    size_t most; /* other requests of the same table */
    pe_view view;
} identifying;

/* ---- reading ---- */

/* Read the query, and what all tables have. */
static void read_options(identifying *self, pe_error *error)
{
    api_arguments_from_query(self->call->query, &self->arguments, error);
    self->options = pe_options_read(api_identify_options, API_IDENTIFY_OPTIONS,
                                    self->arguments.items, self->arguments.count, error);
    const char *scheme = pe_options_value(self->options, API_IDENTIFY_SCHEME)->text;
    self->only = scheme ? pe_scheme_find(scheme) : NULL;
    if (scheme && !self->only)
        api_error_add_scheme(error, scheme);
    else if (scheme && !pe_scheme_is_recognised(self->only))
        pe_error_add(error, PE_OUT_OF_RANGE, "scheme", scheme,
                     "one whose tables are recognised, as /v1/schemes says");
    self->most = (size_t)pe_options_value(self->options, API_IDENTIFY_LIMIT)->integer;
    self->name = pe_options_value(self->options, API_IDENTIFY_SET)->text;
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

/* The extents that the request gives; returns how many, 0 if none. */
static size_t read_shape(const identifying *self, uint64_t ret_shape[PE_VIEW_RANK_MAX])
{
    const pe_value *extents = pe_options_value(self->options, API_IDENTIFY_SHAPE);
    for (size_t i = 0; extents->present && i < extents->count; i++)
        ret_shape[i] = (uint64_t)extents->items[i];
    return extents->present ? extents->count : 0;
}

/* Read raw elements, whose shape and dtype the query has. */
static void read_raw(identifying *self, pe_error *error)
{
    uint64_t shape[PE_VIEW_RANK_MAX];
    pe_element element = PE_ELEMENT_F32;
    const size_t rank = read_shape(self, shape);
    const char *dtype = pe_options_value(self->options, API_IDENTIFY_DTYPE)->text;
    bool good = dtype && read_element(dtype, &element, error);
    if (rank == 0 && error->count == 0)
        pe_error_add(error, PE_MALFORMED, api_identify_options[API_IDENTIFY_SHAPE].name, "",
                     "given with raw elements: shape=4096,128; an npy file has its own and is "
                     "sent as application/x-npy");
    if (rank > 0 && good)
        api_raw_view(&self->file, element, rank, shape, &self->view, error);
}

/* Read a file. Where a text does not say the dtype of its numbers, the search finds it. */
static void read_file(identifying *self, pe_error *error)
{
    const api_table_wish wish = {
        .format = self->format,
        .name = pe_options_value(self->options, API_IDENTIFY_FILE_TENSOR)->text,
        .dtype = PE_F64,
        .most = self->call->service->host->json_elements};
    uint64_t shape[PE_VIEW_RANK_MAX];
    const size_t rank = read_shape(self, shape);
    if (api_table_file_view(&self->file, &wish, &self->numbers, &self->view, self->tensor,
                            error) &&
        rank > 0 && self->format == API_TABLE_CSV)
        api_reshape_view(&self->view, rank, shape, error);
}

/* The options that tables in a format have beside those of all. */
static const bool TAKES[][API_IDENTIFY_OPTIONS] = {
    [API_TABLE_SAFETENSORS] = {[API_IDENTIFY_FILE_TENSOR] = true},
    [API_TABLE_RAW] = {[API_IDENTIFY_SHAPE] = true, [API_IDENTIFY_DTYPE] = true},
    [API_TABLE_JSON] = {[API_IDENTIFY_FILE_TENSOR] = true},
    [API_TABLE_CSV] = {[API_IDENTIFY_SHAPE] = true},
};

static void read_table(identifying *self, pe_error *error)
{
    if (self->format == API_TABLE_RAW)
        read_raw(self, error);
    else
        read_file(self, error);
    for (size_t i = API_IDENTIFY_FILE_TENSOR; i < API_IDENTIFY_OPTIONS; i++)
        if (!TAKES[self->format][i])
            pe_options_refuse(self->options, i, error,
                              "left out: of a table in a file only scheme, limit, set and, of "
                              "safetensors and JSON, file_tensor are asked; of CSV shape, of "
                              "raw elements shape and dtype, too");
}

/* Find the set of the name, if there is one. False: the store answers, by ret_reply or later.
 */
static bool find_set(identifying *self, pe_error *error, api_reply **ret_reply)
{
    if (self->name && !api_read_set(self->call, self->name, &self->set, ret_reply))
        return false;
    if (self->name && !self->set)
        pe_error_add(error, PE_OUT_OF_RANGE, "set", self->name,
                     "the name of a set, or left out");
    return true;
}

/* ---- answering ---- */

static api_reply *make_reply(const identifying *self, const pe_identity *identity,
                             const pe_equivalents *equivalents)
{
    json_t *document = api_identity_document(identity, equivalents, &self->view,
                                             self->format >= API_TABLE_JSON);
    json_t *file = json_pack("{s:s, s:s}", "format", api_table_format_name(self->format),
                             "dtype", pe_element_name(self->view.element));
    if (self->tensor[0])
        json_object_set_new(file, "tensor", json_string(self->tensor));
    json_object_set_new(document, "file", file);
    return api_passing_document(200, document);
}

/* Find the held set for the library: a pe_sets's function. */
static pe_status find_held_set(void *context, const char *name, pe_set **ret_set)
{
    const identifying *self = context;
    if (strcmp(name, self->name) == 0)
        *ret_set = pe_set_ref(api_set_tensors(self->set));
    return PE_OK;
}

/* What a search may hold: samples and rows of the table as doubles, and exact tables. */
#define SEARCH_LEAST  ((uint64_t)4 << 20)
#define SEARCH_MOST   ((uint64_t)64 << 20)
#define SEARCH_COPIES 16 /* of the table's elements */

static uint64_t estimate_bytes(const identifying *self)
{
    uint64_t elements = pe_view_elements(&self->view);
    return SEARCH_LEAST +
           (elements < SEARCH_MOST / SEARCH_COPIES ? SEARCH_COPIES * elements : SEARCH_MOST);
}

/* Search for what made the table, and for what else makes it. False: a problem was added. */
static bool find_request(identifying *self, pe_identity *identity, pe_equivalents *equivalents,
                         pe_error *error)
{
    const api_host *host = self->call->service->host;
    const pe_sets sets = {self, find_held_set};
    pe_limits limits = host->limits;
    pe_dtype dtype = PE_F32;
    limits.sets = self->name ? &sets : NULL;
    if (!api_reserve(estimate_bytes(self), "the search", error) ||
        pe_identify_table(&self->view, self->only, self->name, &limits, host->runner, identity,
                          error) != PE_OK)
        return false;
    pe_element_is_real(identity->element, &dtype);
    return pe_find_equivalents(identity, dtype, self->most, &limits, host->runner, equivalents,
                               error) == PE_OK;
}

static api_reply *identify_table(void *job)
{
    identifying *self = job;
    pe_identity *identity = malloc(sizeof *identity);
    pe_equivalents *equivalents = malloc(sizeof *equivalents);
    api_reply *reply = NULL;
    pe_error error;
    pe_error_init(&error);
    if (identity && equivalents)
        reply = find_request(self, identity, equivalents, &error)
                    ? make_reply(self, identity, equivalents)
                    : api_problem_from_error(&error);
    free(identity);
    free(equivalents);
    return reply;
}

/* What the search costs in multiply-adds, as noise does, of which nothing is found: what even
 * the smallest table takes in its searches, up to seven with forms undone; looking at so many
 * entries closely, at all of them once or twice, and at rows and columns that are as long as
 * the table; and what the set's tensors make. */
static double estimate_price(const void *job)
{
    const identifying *self = job;
    const pe_view *view = &self->view;
    double elements = (double)pe_view_elements(view);
    double columns = view->rank > 0 ? (double)view->shape[view->rank - 1] : 1;
    double lines = elements / columns;
    double set = self->set ? (double)api_set_footprint(self->set) : 0;
    return 0x1p27 + 4000 * fmin(elements, 0x1p20) + 300 * elements + 5e4 * (lines + columns) +
           64 * set;
}

/* About the same for a byte of a text, so that it is seldom read again: for more of it. */
#define TEXT_SEARCH_PRICE 600

/* Check that price. */
static void check_price(const identifying *self, pe_error *error)
{
    const uint64_t limit = self->call->service->host->compute_cost;
    const double price = estimate_price(self);
    char given[48];
    if (limit == 0 || price <= (double)limit)
        return;
    snprintf(given, sizeof given, "%.2g multiply-adds", price);
    pe_error_add(error, PE_TOO_LARGE, "body", given,
                 "a smaller table, such that looking for what made it takes at most %llu "
                 "multiply-adds, the limit compute-cost; a part of a table says as much",
                 (unsigned long long)limit);
}

/* ---- the endpoint ---- */

static bool read_query_and_table(void *job, pe_error *reterr, api_reply **ret_reply)
{
    identifying *self = job;
    read_options(self, reterr);
    if (self->format >= API_TABLE_JSON && !api_may_read_text(self->call, TEXT_SEARCH_PRICE))
        return false;
    read_table(self, reterr);
    if (!find_set(self, reterr, ret_reply))
        return false;
    if (reterr->count == 0)
        check_price(self, reterr);
    return true;
}

static const api_table_endpoint IDENTIFY = {
    .read = read_query_and_table, .price = estimate_price, .work = identify_table};

api_reply *api_post_identify(const api_call *call)
{
    identifying self = {.call = call, .file = api_body_file(call)};
    api_reply *reply = api_answer_table_post(call, &IDENTIFY, &self.format, &self);
    api_set_unref(self.set);
    pe_options_free(self.options);
    api_arguments_done(&self.arguments);
    free((void *)(uintptr_t)self.numbers.data);
    return reply;
}
