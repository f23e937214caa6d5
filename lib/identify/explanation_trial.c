/* What all trials of a table take: work that is left, requests, values, and what to say. */
#include "identify/explanation_trial.h"

#include "requests/parameters.h"

#include <stdarg.h>
#include <stdio.h>

#define REQUEST_PRICE 0x1p17 /* of making a request and a stream, and reading some lines */

bool pe_trial_spend(pe_trial *trial, double price)
{
    const bool enough = price <= trial->left;
    trial->left -= enough ? price : 0;
    return enough;
}

pe_request *pe_trial_make_request(pe_trial *trial, const char *query, pe_dtype dtype)
{
    const pe_dtype real = dtype == PE_I32 ? PE_F32 : dtype;
    pe_request *request =
        pe_parse_query(trial->scheme, query, pe_dtype_name(real), trial->limits);
    if (request &&
        !pe_trial_spend(trial, REQUEST_PRICE + pe_request_preparation_price(request))) {
        pe_request_unref(request);
        return NULL;
    }
    return request;
}

bool pe_trial_read_value(pe_trial *trial, const char *name, pe_value *ret_value,
                         char ret_text[PE_PRINT_MAX])
{
    const size_t index = pe_parameter_index(&trial->scheme->info, name);
    const pe_dtype real = trial->dtype == PE_I32 ? PE_F32 : trial->dtype;
    pe_request *request =
        pe_parse_query(trial->scheme, trial->query, pe_dtype_name(real), trial->limits);
    bool has = request && index < trial->scheme->info.parameter_count;
    if (has) {
        const pe_parameter *row = pe_parameter_at(&trial->scheme->info, index);
        *ret_value = *pe_request_value(request, index);
        has = ret_value->present && row->type != PE_STORED && row->type != PE_REAL_LIST &&
              row->type != PE_INTEGER_LIST;
        if (has) {
            char number[PE_PRINT_MAX];
            snprintf(ret_text, PE_PRINT_MAX, "%s", pe_value_text(row, ret_value, number));
        }
    }
    pe_request_unref(request);
    return has;
}

bool pe_trial_say(pe_trial *trial, const char *kind, const char *sentence, ...)
{
    va_list list;
    trial->found->kind = kind;
    va_start(list, sentence);
    vsnprintf(trial->found->sentence, sizeof trial->found->sentence, sentence, list);
    va_end(list);
    return true;
}
