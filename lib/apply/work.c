/* Limits of rows, and blocks of about the same price. */
#include "apply/work.h"

#include "apply/entries.h"
#include "apply/tensors.h"
#include "requests/request.h"

#include <stdio.h>

#define BLOCK_PRICE   0x1p18
#define SUMS_PRICE    0x1p16 /* of a block of sums of many products */
#define ELEMENT_PRICE 16     /* of a result that needs one entry or two */
#define ENTRY_PRICE   16     /* of an entry that is computed for one product alone */
#define ROW_PRICE     128    /* of each column, once for the rows that are computed together */

/* ---- limits ---- */

static bool refuse(pe_error *reterr, uint64_t given, uint64_t most, const char *what,
                   const char *axis, const char *name)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)given);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", number, "at most %llu %s%s of %s",
                 (unsigned long long)most, what, axis, name);
    return false;
}

/* The name of the result's last axis. */
static const char *last_axis(const pe_binding *binding)
{
    const char *name = binding->names[binding->rank - 1];
    return binding->has_result_axis && *name ? name : "at the end";
}

bool pe_work_fits(const pe_application *rule, const pe_binding *binding, pe_error *reterr)
{
    uint64_t most = rule->kind == PE_APPLY_COMBINE ? PE_ROW_HELD : PE_ROW_PRODUCTS;
    if (binding->columns > PE_ROW_ELEMENTS)
        return refuse(reterr, binding->columns, PE_ROW_ELEMENTS, "elements along the last axis",
                      "", rule->input);
    if (binding->results > PE_ROW_ELEMENTS)
        return refuse(reterr, binding->results, PE_ROW_ELEMENTS, "elements along the axis ",
                      last_axis(binding), rule->result);
    if (rule->kind >= PE_APPLY_CONTRACT && binding->columns * binding->results > most)
        return refuse(reterr, binding->columns * binding->results, most,
                      "multiply-adds (the input's last axis times the result's) for the axis ",
                      last_axis(binding), rule->result);
    return true;
}

/* ---- blocks ---- */

/* The price of a result: entries that are not all kept are computed for each product, of a
 * table of which any row may be next a whole chunk. */
static double estimate_price(const pe_application *rule, const pe_binding *binding,
                             const pe_tensor *entries, bool paired)
{
    const uint64_t rows = PE_CHUNK_ENTRIES / binding->columns + 1;
    double columns = (double)binding->columns;
    if (rule->kind < PE_APPLY_CONTRACT)
        return ELEMENT_PRICE;
    if (pe_entries_are_kept(entries, paired))
        return columns;
    if (rule->kind == PE_APPLY_GATHER)
        return columns * (ENTRY_PRICE * (double)rows + ROW_PRICE);
    return columns * (ENTRY_PRICE + ROW_PRICE / (double)rows);
}

pe_work pe_work_divide(const pe_application *rule, const pe_binding *binding,
                       const pe_tensor *entries, bool paired)
{
    pe_work work = {.block_rows = 1, .block_results = binding->results};
    work.result_price = estimate_price(rule, binding, entries, paired);
    double row_price = work.result_price * (double)binding->results;
    double price = rule->kind < PE_APPLY_CONTRACT ? BLOCK_PRICE : SUMS_PRICE;
    if (row_price < price)
        work.block_rows = (uint64_t)(price / row_price);
    else if (rule->kind == PE_APPLY_CONTRACT || rule->kind == PE_APPLY_GATHER)
        work.block_results = (uint64_t)(price / work.result_price);
    if (work.block_rows > binding->rows)
        work.block_rows = binding->rows;
    if (work.block_results == 0)
        work.block_results = 1;
    return work;
}

/* ---- the whole ---- */

/* Bind an input that may not fit; false if it does not. */
static bool bind(const pe_request *request, const pe_application *rule, const pe_view *input,
                 const pe_apply_options *options, size_t tensors[2], pe_binding *ret_binding)
{
    pe_error error;
    pe_error_init(&error);
    if (!pe_tensors_find(request, rule, tensors, &error))
        return false;
    const pe_tensor entries = pe_tensors_bound(request, rule, tensors);
    return pe_binding_make(request, rule, &entries, input, options->axes, ret_binding, &error);
}

#define INDEX_BLOCK ((uint64_t)1 << 20) /* of the stream of indices */
#define ROW_ARRAYS  16                  /* of doubles, as long as the longest row; at least */

uint64_t pe_apply_footprint(const pe_request *request, size_t application, const pe_view *input,
                            const pe_apply_options *options)
{
    const pe_application *rule = &pe_request_scheme(request)->applications[application];
    size_t tensors[2];
    pe_binding binding;
    if (!bind(request, rule, input, options, tensors, &binding) ||
        !pe_work_fits(rule, &binding, &(pe_error){0}))
        return 0;
    uint64_t at_once = rule->kind == PE_APPLY_COMBINE ? binding.columns : 1;
    uint64_t held = pe_request_held(request), bytes = 0;
    bool gathers = rule->kind == PE_APPLY_GATHER;
    for (size_t i = 0; i < 2 && rule->tensors[i] && !(gathers && i > 0); i++)
        bytes += pe_entries_footprint(pe_request_tensor(request, tensors[i]), at_once, held);
    if (gathers) {
        const pe_tensor *index = pe_request_tensor(request, tensors[1]);
        bytes += held + INDEX_BLOCK + sizeof(uint64_t) * (index->shape[0] + index->shape[1]);
    }
    pe_work work =
        pe_work_divide(rule, &binding, pe_request_tensor(request, tensors[0]), false);
    uint64_t longest = binding.columns > binding.results ? binding.columns : binding.results;
    uint64_t block = work.block_rows * (2 * binding.columns + work.block_results);
    return bytes + sizeof(double) * (block + ROW_ARRAYS * longest);
}

double pe_apply_price(const pe_request *request, size_t application, const pe_view *input,
                      const pe_apply_options *options)
{
    const pe_application *rule = &pe_request_scheme(request)->applications[application];
    size_t tensors[2];
    pe_binding binding;
    if (!bind(request, rule, input, options, tensors, &binding))
        return 0;
    pe_work work = pe_work_divide(rule, &binding, pe_request_tensor(request, tensors[0]), true);
    return work.result_price * (double)binding.rows * (double)binding.results;
}
