/* What all trials of a table take: work that is left, requests, values, and what to say. */
#include "identify/explanation_trial.h"

#include "requests/parameters.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REQUEST_PRICE 0x1p17 /* of making a request and a stream, and reading some lines */

bool pe_trial_spend(pe_trial *trial, double price)
{
    const bool enough = price <= trial->left;
    trial->left -= enough ? price : 0;
    trial->exhausted |= !enough;
    return enough;
}

const pe_parameter *pe_trial_find_parameter(const pe_trial *trial, const char *name)
{
    const pe_parameter *row = pe_parameter_find(&trial->scheme->info, name);
    for (size_t i = 0; !row && i < trial->subject->option_count; i++)
        if (strcmp(trial->subject->options[i].name, name) == 0)
            row = &trial->subject->options[i];
    return row;
}

/* The request of a query's arguments that are no options. */
static pe_request *parse_request(const pe_trial *trial, const char *query, pe_dtype dtype)
{
    const pe_dtype real = dtype == PE_I32 ? PE_F32 : dtype;
    char text[PE_IDENTITY_QUERY_MAX], before[PE_IDENTITY_QUERY_MAX];
    snprintf(text, sizeof text, "%s", query);
    for (size_t i = 0; i < trial->subject->option_count; i++) {
        memcpy(before, text, sizeof before);
        pe_change_query(before, trial->subject->options[i].name, NULL, text);
    }
    return pe_parse_query(trial->scheme, text, pe_dtype_name(real), trial->limits);
}

pe_request *pe_trial_make_request(pe_trial *trial, const char *query, pe_dtype dtype)
{
    pe_request *request = parse_request(trial, query, dtype);
    if (request &&
        !pe_trial_spend(trial, REQUEST_PRICE + pe_request_preparation_price(request))) {
        pe_request_unref(request);
        return NULL;
    }
    return request;
}

/* Read the value of an option, which is a choice or a number. */
static bool read_option(const pe_trial *trial, const pe_parameter *row, pe_value *ret_value,
                        char ret_text[PE_PRINT_MAX])
{
    char text[PE_IDENTITY_QUERY_MAX];
    pe_owned_value value = {.value = {.present = false}};
    pe_error error;
    const char *given = pe_find_query_text(trial->query, row->name, text);
    pe_error_init(&error);
    if (given || row->default_text)
        pe_parameter_read(row, given ? given : row->default_text, PE_KIND_ANY, NULL, &value,
                          &error);
    *ret_value = value.value;
    return ret_value->present && pe_write_value_text(row, ret_value, ret_text);
}

bool pe_trial_read_value(pe_trial *trial, const char *name, pe_value *ret_value,
                         char ret_text[PE_PRINT_MAX])
{
    const size_t index = pe_parameter_index(&trial->scheme->info, name);
    const pe_parameter *row = pe_trial_find_parameter(trial, name);
    if (row && index == pe_all_parameter_count(&trial->scheme->info))
        return read_option(trial, row, ret_value, ret_text);
    pe_request *request = row ? parse_request(trial, trial->query, trial->dtype) : NULL;
    if (request)
        *ret_value = *pe_request_value(request, index);
    const bool has =
        request && ret_value->present && pe_write_value_text(row, ret_value, ret_text);
    pe_request_unref(request);
    return has;
}

static void note_nearest(pe_trial *trial, const char *query, const char *tensor)
{
    pe_nearest *nearest = &trial->nearest;
    nearest->far = trial->far;
    snprintf(nearest->query, sizeof nearest->query, "%s", query);
    snprintf(nearest->tensor, sizeof nearest->tensor, "%s", tensor);
    nearest->change_count = trial->found->change_count;
    memcpy(nearest->changes, trial->found->changes, sizeof nearest->changes);
}

bool pe_trial_fits(pe_trial *trial, const char *query, const char *tensor, const pe_view *view,
                   double factor)
{
    pe_explanation *found = trial->found;
    trial->vague = false;
    if (!trial->subject->fits(trial, query, tensor, view, factor) ||
        (trial->vague && strcmp(query, trial->query) != 0)) {
        if (trial->measures && factor == 1 && trial->far < trial->nearest.far)
            note_nearest(trial, query, tensor);
        return false;
    }
    found->found = true;
    found->factor = factor;
    snprintf(found->query, sizeof found->query, "%s", query);
    snprintf(found->tensor, sizeof found->tensor, "%s", tensor);
    return true;
}

bool pe_trial_fits_changed(pe_trial *trial, const char *const *changes)
{
    char query[PE_IDENTITY_QUERY_MAX], before[PE_IDENTITY_QUERY_MAX];
    pe_explanation *found = trial->found;
    snprintf(query, sizeof query, "%s", trial->query);
    found->change_count = 0;
    for (; changes[0]; changes += 2) {
        if (!changes[0][0])
            continue;
        memcpy(before, query, sizeof before);
        pe_change_query(before, changes[0], changes[1][0] ? changes[1] : NULL, query);
        if (strcmp(before, query) == 0 || found->change_count == PE_CHANGES_MAX)
            continue;
        pe_change *change = &found->changes[found->change_count++];
        snprintf(change->name, sizeof change->name, "%s", changes[0]);
        snprintf(change->value, sizeof change->value, "%s", changes[1]);
    }
    if (pe_trial_fits(trial, query, trial->tensor, &trial->view, 1))
        return true;
    found->change_count = 0;
    return false;
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
