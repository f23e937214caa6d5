/* What a request costs, and refusing what costs too much. */
#include "requests/request.h"

#include <stdio.h>

double pe_row_price(const pe_request *request, size_t tensor)
{
    const pe_tensor *shape = &request->plan.tensors[tensor];
    double columns = (double)shape->elements / (double)shape->rows;
    return columns * request->plan.element_prices[tensor];
}

uint64_t pe_rows_of_price(double row_price, double price)
{
    if (row_price * 2 > price)
        return 1;
    double rows = price / row_price;
    return rows < 0x1p62 ? (uint64_t)rows : (uint64_t)1 << 62;
}

double pe_request_preparation_price(const pe_request *request)
{
    return request->plan.price;
}

double pe_request_price(const pe_request *request)
{
    const pe_plan *plan = &request->plan;
    double price = plan->price;
    for (size_t i = 0; i < plan->count; i++)
        if (pe_request_is_chosen(request, i))
            price += (double)plan->tensors[i].elements * plan->element_prices[i];
    return price;
}

/* ---- what to reduce ---- */

/* The parameters that a price grows with, in schemes' words. */
static const char *const DRIVERS[] = {
    "positions",   "length",      "query_length", "rows",   "height",   "width", "heads",
    "base_length", "num_buckets", "dim",          "hidden", "substeps", NULL};

/* Write the names after the first one as "dim, hidden or substeps"; return the first. */
static const char *name_drivers(const pe_values *values, char *ret_others, size_t size)
{
    const pe_scheme_info *info = &values->scheme->info;
    const char *found[PE_COUNT(DRIVERS)];
    size_t count = 0, used = 0;
    for (size_t i = 0; DRIVERS[i]; i++)
        if (pe_parameter_index(info, DRIVERS[i]) < pe_all_parameter_count(info) &&
            pe_is_present(values, DRIVERS[i]))
            found[count++] = DRIVERS[i];
    ret_others[0] = '\0';
    for (size_t i = 1; i < count && used < size; i++) {
        const char *between = i == 1 ? "" : i + 1 == count ? " or " : ", ";
        used += (size_t)snprintf(ret_others + used, size - used, "%s%s", between, found[i]);
    }
    return count > 0 ? found[0] : "length";
}

bool pe_request_check_price(const pe_request *request, double price, uint64_t limit,
                            pe_error *reterr)
{
    char others[160], given[48], number[PE_PRINT_MAX];
    if (price <= (double)limit)
        return true;
    const char *first = name_drivers(&request->values, others, sizeof others);
    snprintf(given, sizeof given, "%.2g multiply-adds", price);
    pe_plain_number((double)limit, number);
    reterr->scheme = request->values.scheme;
    pe_error_add(reterr, PE_TOO_LARGE, first, given,
                 "reduced%s%s, such that computing takes at most %s multiply-adds, the limit "
                 "compute-cost",
                 others[0] ? ", or " : "", others, number);
    return false;
}
