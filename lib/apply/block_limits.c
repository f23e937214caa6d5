/* Limits of rows, and blocks of about the same price. */
#include "apply/block_limits.h"

#include "apply/entry_tensors.h"
#include "apply/row_major_source.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>

#define BLOCK_PRICE   0x1p18
#define SUMS_PRICE    0x1p16 /* of a block of sums of many products */
#define ELEMENT_PRICE 16     /* of a result that needs one entry or two */
#define ENTRY_PRICE   16     /* of an entry that is computed for one product alone */
#define PAIR_PRICE    640    /* of an entry of waves as a pair of doubles, for f64 */
#define COPY_PRICE    128    /* of an element that is copied from another order */
#define ROW_PRICE     128    /* of each column, once for the rows that are computed together */

#define ALTERNATING_ELEMENTS ((uint64_t)1 << 18) /* of a block that computes whole rows */

/* ---- limits ---- */

static bool refuse_extent(pe_error *reterr, uint64_t given, uint64_t most, const char *what,
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
    const char *name = binding->axes > 0 ? binding->names[binding->axes - 1] : "";
    return *name ? name : "at the end";
}

bool pe_check_block_limits(const pe_application *rule, const pe_binding *binding,
                           pe_error *reterr)
{
    uint64_t most = rule->kind == PE_APPLY_COMBINE ? PE_ROW_HELD : PE_ROW_PRODUCTS;
    if (binding->columns > PE_ROW_ELEMENTS)
        return refuse_extent(reterr, binding->columns, PE_ROW_ELEMENTS,
                             "elements along the last axis", "", rule->input);
    if (binding->together > 1 && binding->columns * binding->together > PE_ROW_HELD)
        return refuse_extent(reterr, binding->columns * binding->together, PE_ROW_HELD,
                             "elements along the axis of the columns and those after it", "",
                             rule->input);
    if (binding->results > PE_ROW_ELEMENTS)
        return refuse_extent(reterr, binding->results, PE_ROW_ELEMENTS,
                             "elements along the axis ", last_axis(binding), rule->result);
    if (rule->kind >= PE_APPLY_CONTRACT && binding->columns * binding->results > most)
        return refuse_extent(
            reterr, binding->columns * binding->results, most,
            "multiply-adds (the input's last axis times the result's) for the axis ",
            last_axis(binding), rule->result);
    return true;
}

/* ---- blocks ---- */

pe_row_order pe_choose_row_order(const pe_application *rule, const pe_binding *binding,
                                 const pe_apply_options *options)
{
    return (pe_row_order){.at_once = rule->kind == PE_APPLY_COMBINE ? binding->columns : 1,
                          .scattered = options->position_ids != NULL};
}

/* How many times a row's entries are computed for each of its columns, where entries are not
 * all kept: once, with their chunk if any row may be next; and once for each block of columns.
 */
static double count_computations(const pe_application *rule, const pe_binding *binding,
                                 const pe_tensor *entries, const pe_apply_options *options,
                                 const pe_blocks *division)
{
    const uint64_t columns = entries->shape[entries->rank - 1];
    const pe_row_order order = pe_choose_row_order(rule, binding, options);
    const uint64_t whole = binding->columns / division->block_results;
    double blocks = (double)whole + 1;
    double rows = (double)pe_entries_chunk_rows(entries->elements / columns, columns, order);
    if (options->position_axes > 1)
        rows *= (double)options->position_axes;
    return (order.scattered ? rows : 0) + (binding->together > 1 ? blocks : 0);
}

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

/* Blocks of rows whose elements alternate: as many columns of all of them; more than elsewhere
 * where each block computes the entries of whole rows. */
static uint64_t count_block_columns(const pe_binding *binding, bool kept)
{
    uint64_t elements = kept ? (uint64_t)(BLOCK_PRICE / ELEMENT_PRICE) : ALTERNATING_ELEMENTS;
    uint64_t columns = elements / binding->together + 1;
    return columns < binding->columns ? columns : binding->columns;
}

pe_blocks pe_divide_blocks(const pe_application *rule, const pe_binding *binding,
                           const pe_tensor *entries, const pe_apply_options *options,
                           bool paired)
{
    pe_blocks blocks = {.block_rows = 1, .block_results = binding->results};
    blocks.result_price = estimate_price(rule, binding, entries, paired);
    double row_price = blocks.result_price * (double)binding->results;
    double price = rule->kind < PE_APPLY_CONTRACT ? BLOCK_PRICE : SUMS_PRICE;
    bool kept = pe_entries_are_kept(entries, paired);
    if (binding->together > 1)
        blocks.block_results = count_block_columns(binding, kept);
    else if (row_price < price)
        blocks.block_rows = (uint64_t)(price / row_price);
    else if (rule->kind == PE_APPLY_CONTRACT || rule->kind == PE_APPLY_GATHER)
        blocks.block_results = (uint64_t)(price / blocks.result_price);
    if (blocks.block_rows > binding->rows)
        blocks.block_rows = binding->rows;
    if (blocks.block_results == 0)
        blocks.block_results = 1;
    if (!kept && rule->kind < PE_APPLY_CONTRACT)
        blocks.result_price +=
            ENTRY_PRICE * count_computations(rule, binding, entries, options, &blocks);
    return blocks;
}

/* ---- the whole ---- */

/* Bind an input that may not fit; false if it does not. */
static bool bind_input(const pe_request *request, const pe_application *rule,
                       const pe_view *input, const pe_apply_options *options, size_t tensors[2],
                       pe_binding *ret_binding)
{
    pe_error error;
    pe_error_init(&error);
    if (!pe_tensors_find(request, rule, tensors, &error))
        return false;
    const pe_tensor entries = pe_tensors_bound(request, rule, tensors);
    const pe_view shape = pe_source_shape(input);
    return pe_binding_make(request, rule, &entries, &shape, options, ret_binding, &error);
}

#define INDEX_BLOCK ((uint64_t)1 << 20) /* of the stream of indices */
#define ROW_ARRAYS  16                  /* of doubles, as long as the longest row; at least */

uint64_t pe_apply_footprint(const pe_request *request, size_t application, const pe_view *input,
                            const pe_apply_options *options)
{
    const pe_application *rule = &pe_request_scheme(request)->applications[application];
    size_t tensors[2];
    pe_binding binding;
    if (!bind_input(request, rule, input, options, tensors, &binding) ||
        !pe_check_block_limits(rule, &binding, &(pe_error){0}))
        return 0;
    const pe_row_order order = pe_choose_row_order(rule, &binding, options);
    uint64_t held = pe_request_held(request), bytes = pe_source_footprint(input);
    bool gathers = rule->kind == PE_APPLY_GATHER;
    for (size_t i = 0; i < 2 && rule->tensors[i] && !(gathers && i > 0); i++)
        bytes += pe_entries_footprint(pe_request_tensor(request, tensors[i]), order, held);
    if (gathers) {
        const pe_tensor *index = pe_request_tensor(request, tensors[1]);
        bytes += held + INDEX_BLOCK + sizeof(uint64_t) * (index->shape[0] + index->shape[1]);
    }
    if (options->position_ids)
        bytes += sizeof(uint32_t) * pe_view_elements(options->position_ids);
    if (options->position_axes > 0)
        bytes += 2 * sizeof(int32_t) * binding.columns + held; /* and the stream of axes */
    if (options->query_factors)
        bytes += 2 * (2 * PE_ENTRIES_KEPT + held); /* of tensors that are no larger */
    pe_blocks blocks = pe_divide_blocks(rule, &binding, pe_request_tensor(request, tensors[0]),
                                        options, false);
    uint64_t longest = binding.columns > binding.results ? binding.columns : binding.results;
    uint64_t block = binding.together > 1
                         ? 3 * blocks.block_results * binding.together
                         : blocks.block_rows * (2 * binding.columns + blocks.block_results);
    return bytes + sizeof(double) * (block + ROW_ARRAYS * longest);
}

double pe_apply_opening_price(const pe_view *input, const pe_apply_options *options)
{
    double price =
        pe_source_footprint(input) > 0 ? COPY_PRICE * (double)pe_view_elements(input) : 0;
    if (options->position_ids)
        price += COPY_PRICE * (double)pe_view_elements(options->position_ids);
    return price;
}

/* Whether the results need all entries as pairs, and these are sines and cosines: exact ones
 * take far longer than doubles. Trained numbers are short. */
static bool needs_pairs(const pe_request *request, const pe_view *input,
                        const pe_apply_options *options)
{
    const pe_scheme *scheme = pe_request_scheme(request);
    pe_dtype dtype = options->dtype;
    bool trained = false;
    if (dtype == PE_DTYPE_COUNT && !pe_element_is_real(input->element, &dtype))
        return false;
    for (size_t i = 0; i < scheme->info.parameter_count; i++)
        trained |= scheme->info.parameters[i].type == PE_STORED;
    return dtype == PE_F64 && scheme->errors == PE_ERRORS_OF_ANGLES && !trained;
}

/* How many entries are computed: once where they are kept, else for each product. */
static double count_entries(const pe_application *rule, const pe_binding *binding,
                            const pe_tensor *entries)
{
    double products = (double)binding->columns * (double)binding->rows;
    if (rule->kind >= PE_APPLY_CONTRACT)
        products *= (double)binding->results;
    return pe_entries_are_kept(entries, true) ? fmin(products, (double)entries->elements)
                                              : products;
}

double pe_apply_price(const pe_request *request, size_t application, const pe_view *input,
                      const pe_apply_options *options)
{
    const pe_application *rule = &pe_request_scheme(request)->applications[application];
    size_t tensors[2];
    pe_binding binding;
    if (!bind_input(request, rule, input, options, tensors, &binding))
        return 0;
    pe_blocks blocks =
        pe_divide_blocks(rule, &binding, pe_request_tensor(request, tensors[0]), options, true);
    const pe_tensor *entries = pe_request_tensor(request, tensors[0]);
    double pairs = needs_pairs(request, input, options)
                       ? PAIR_PRICE * count_entries(rule, &binding, entries)
                       : 0;
    return blocks.result_price * (double)binding.rows * (double)binding.results + pairs +
           pe_apply_opening_price(input, options);
}
