/* Selecting a representation by the arguments and headers of a request. */
#include "representations/representation.h"

#include "files/found_sets.h"
#include "formats/negotiate.h"
#include "formats/registry.h"
#include "formats/safetensors_header.h"
#include "replies/problem.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- tensors ---- */

/* The index of the tensor that is asked for; `count`, and a problem, if there is none. */
static size_t find_tensor(const char *const *names, size_t count, const char *asked,
                          pe_error *error)
{
    size_t index = 0;
    while (index < count && strcmp(names[index], asked) != 0)
        index++;
    if (index == count)
        pe_error_add_choice(error, "tensor", asked, names, count);
    return index;
}

/* Select the tensor that is asked for by name, or all tensors if `asked` is NULL. A name that
 * no tensor has is added to `error`. */
static void select_tensors(api_representation *representation, const char *asked,
                           pe_error *error)
{
    size_t count = pe_request_tensor_count(representation->request);
    const char *names[PE_TENSORS_MAX];
    representation->selection =
        (api_selection){.request = representation->request,
                        .count = count,
                        .options = &representation->options,
                        .runner = representation->call->service->host->runner};
    for (size_t i = 0; i < count; i++)
        names[i] = pe_request_tensor(representation->request, i)->name;
    const size_t found = asked ? find_tensor(names, count, asked, error) : count;
    if (found < count) {
        representation->selection.first = found;
        representation->selection.count = 1;
    }
}

/* Check the name of a tensor against the documentation of the scheme. This is for requests that
 * are wrong in another way as well, so that their tensors are not known. */
static void check_tensor_name(const pe_scheme_info *info, const char *asked, pe_error *error)
{
    const char *names[PE_TENSORS_MAX];
    assert(info->tensor_count <= PE_TENSORS_MAX);
    for (size_t i = 0; i < info->tensor_count; i++)
        names[i] = info->tensors[i].name;
    find_tensor(names, info->tensor_count, asked, error);
}

/* ---- what is computed ---- */

void api_representation_choose(api_representation *representation, unsigned tensors)
{
    pe_request *request = representation->request;
    pe_request_choose(request, tensors);
    representation->facts.price = pe_request_price(request);
    representation->facts.preparation = pe_request_preparation_price(request);
    representation->facts.streamed =
        pe_request_bytes(request) > representation->call->service->host->limits.table_bytes;
    representation->facts.begin = representation->facts.streamed
                                      ? representation->facts.preparation
                                      : representation->facts.price;
    representation->facts.stored = pe_request_set(request) != NULL;
    representation->facts.elements = 0;
    for (size_t i = 0; i < pe_request_tensor_count(request); i++)
        if (tensors >> i & 1)
            representation->facts.elements += pe_request_tensor(request, i)->elements;
}

/* Choose the selected tensors that a format holds, all of them while it is unknown: NULL. */
static void choose_held(api_representation *representation, const api_format *format)
{
    const api_selection *selection = &representation->selection;
    const size_t count = format && format->single ? 1 : selection->count;
    api_representation_choose(representation, ((1U << count) - 1) << selection->first);
}

/* ---- format and content coding ---- */

/* Add what a format states beside the parameters to the variant: the key does not have it. */
static void add_preset(api_representation *representation)
{
    const char *preset = pe_request_preset(representation->request);
    size_t used = representation->options_size;
    if (!representation->format->states_parameters || !preset)
        return;
    int length = snprintf(representation->variant + used, sizeof representation->variant - used,
                          "&preset=%s", preset);
    assert(length > 0 && (size_t)length < sizeof representation->variant - used);
}

/* Choose the format, unless one is asked for, and the content coding. On failure
 * returns false: ret_reply is the problem document then, NULL without memory. */
static bool choose_format(api_representation *representation, api_reply **ret_reply)
{
    const api_format *asked = representation->format;
    const api_call *call = representation->call;
    const char *given = asked ? asked->name : "";
    const api_wish wish = {
        .asked = asked,
        .accept = api_call_header(call, API_HEADER_ACCEPT),
        .codings = api_accept_codings(api_call_header(call, API_HEADER_ACCEPT_ENCODING)),
        .selection = &representation->selection,
        .host = call->service->host};
    char reason[API_REASON_SIZE];
    pe_error error;
    pe_error_init(&error);
    representation->negotiated = !asked;
    switch (api_choose_format(&wish, &representation->format, reason, &error)) {
    case API_CHOSEN:
        /* a format that was asked for has been checked before */
        api_options_check(&representation->options, representation->format, &error);
        if (error.count == 0)
            break;
        *ret_reply = api_problem_from_error(&error);
        return false;
    case API_CHOICE_NOT_ACCEPTABLE:
        *ret_reply = api_problem(API_NOT_ACCEPTABLE, reason, NULL, NULL);
        return false;
    case API_CHOICE_REFUSED:
        pe_error_add(&error, PE_OUT_OF_RANGE, "format", given, "one that has the dtype: %s",
                     reason);
        *ret_reply = api_problem(API_NOT_ACCEPTABLE, reason, NULL, &error);
        return false;
    case API_CHOICE_TOO_LARGE:
        pe_error_add(&error, PE_TOO_LARGE, "format", given, "%s", reason);
        *ret_reply = api_problem_from_error(&error);
        return false;
    case API_CHOICE_WRONG:
        *ret_reply = api_problem_from_error(&error);
        return false;
    }
    api_choose_coding(wish.codings, representation->format->text, &representation->coding);
    api_options_variant(&representation->options, representation->format,
                        representation->variant);
    representation->options_size = strlen(representation->variant);
    add_preset(representation);
    if (representation->format->single)
        representation->selection.count = 1;
    choose_held(representation, representation->format);
    return true;
}

/* ---- sets ---- */

/* The context of find_set. */
typedef struct set_search {
    const api_call *call;
    bool ended;       /* the last search has decided the answer */
    api_reply *reply; /* which is this one */
} set_search;

/* Find a set for the library. Where the search decides the answer, that is kept in the
 * context and told as missing memory; then no other set is looked for. */
static pe_status find_set(void *context, const char *name, pe_set **ret_set)
{
    set_search *search = context;
    api_set *set = NULL;
    if (search->ended)
        return PE_NO_MEMORY;
    search->ended = !api_read_set(search->call, name, &set, &search->reply);
    *ret_set = set ? pe_set_ref(api_set_tensors(set)) : NULL;
    api_set_unref(set);
    return search->ended ? PE_NO_MEMORY : PE_OK;
}

/* Make the library's request of the arguments; what is wrong with them goes to reterr. Returns
 * false if the search for a set has decided the answer: ret_reply is that then. */
static bool make_request(api_representation *representation, const pe_scheme *scheme,
                         const api_arguments *arguments, pe_error *reterr,
                         api_reply **ret_reply)
{
    set_search search = {.call = representation->call};
    const api_host *host = representation->call->service->host;
    const pe_sets sets = {&search, find_set};
    pe_limits limits = host->limits;
    limits.sets = &sets;
    limits.names = arguments->names;
    pe_request_new(scheme, arguments->items, arguments->count, &limits,
                   &representation->request, reterr);
    *ret_reply = search.reply;
    return !search.ended;
}

/* ---- the price ---- */

double api_representation_price(const api_representation *representation)
{
    const double all = representation->facts.price, first = representation->facts.preparation;
    const uint64_t complete = representation->range.complete;
    if (!representation->facts.streamed || complete == 0)
        return all;
    return first + (all - first) * ((double)representation->range.size / (double)complete);
}

bool api_representation_check_price(const api_representation *representation, pe_error *reterr)
{
    const uint64_t limit = representation->call->service->host->compute_cost;
    const double price = api_representation_price(representation);
    return limit == 0 || pe_request_check_price(representation->request, price, limit, reterr);
}

/* Check the price, unless it shows only when the range has been read. */
static void check_price(const api_representation *representation, pe_error *reterr)
{
    const bool may_be_part = !representation->post && representation->facts.streamed &&
                             api_call_header(representation->call, API_HEADER_RANGE);
    if (representation->request && !may_be_part)
        api_representation_check_price(representation, reterr);
}

/* ---- all of it ---- */

/* What a request names besides the scheme's parameters and the options of formats. */
enum { FORMAT, TENSOR, NAMED_COUNT };
static const pe_parameter NAMED[NAMED_COUNT] = {
    [FORMAT] = {.name = "format", .type = PE_TEXT, .help = "representation; beats Accept"},
    [TENSOR] = {.name = "tensor", .type = PE_TEXT, .help = "one tensor of several"},
};

/* Take the name of a format, and the options of formats, where `form` is NULL; else refuse it.
 */
static void read_format(api_representation *representation, api_arguments *arguments,
                        const char *form, pe_error *error)
{
    const size_t first = form ? TENSOR : FORMAT;
    api_arguments_add_names(arguments, &NAMED[first], NAMED_COUNT - first);
    representation->named =
        pe_options_take(NAMED, NAMED_COUNT, arguments->items, &arguments->count, error);
    if (form)
        pe_options_refuse(representation->named, FORMAT, error, "left out: %s", form);
    else
        api_options_read(&representation->options, arguments, error);
}

/* As api_representation_read, without the price. `form` is NULL where formats are served. */
static bool read_arguments(api_representation *ret_representation, const api_call *call,
                           const pe_scheme *scheme, api_arguments *arguments, pe_error *error,
                           const char *form, pe_error *reterr, api_reply **ret_reply)
{
    *ret_representation = (api_representation){.call = call};
    read_format(ret_representation, arguments, form, error);
    const char *format =
        form ? NULL : pe_options_value(ret_representation->named, FORMAT)->text;
    const char *tensor = pe_options_value(ret_representation->named, TENSOR)->text;
    if (!make_request(ret_representation, scheme, arguments, reterr, ret_reply))
        return false;
    pe_error_append(reterr, error); /* the library's problems come first */
    const api_format *asked = ret_representation->format =
        format ? api_format_find(format) : NULL;
    if (format && !asked)
        pe_error_add_choice(reterr, "format", format, api_format_names(), api_format_count());
    if (asked)
        api_options_check(&ret_representation->options, asked, reterr);
    if (ret_representation->request) {
        select_tensors(ret_representation, tensor, reterr);
        choose_held(ret_representation, asked);
    } else if (tensor) {
        check_tensor_name(pe_scheme_describe(scheme), tensor, reterr);
    }
    return true;
}

bool api_representation_read(api_representation *ret_representation, const api_call *call,
                             const pe_scheme *scheme, api_arguments *arguments, pe_error *error,
                             const char *form, pe_error *reterr, api_reply **ret_reply)
{
    if (!read_arguments(ret_representation, call, scheme, arguments, error, form, reterr,
                        ret_reply))
        return false;
    check_price(ret_representation, reterr);
    return true;
}

bool api_representation_select(api_representation *ret_representation, const api_call *call,
                               const pe_scheme *scheme, api_arguments *arguments,
                               pe_error *error, api_reply **ret_reply)
{
    pe_error all;
    if (!read_arguments(ret_representation, call, scheme, arguments, error, NULL, &all,
                        ret_reply))
        return false;
    const bool asked = ret_representation->format != NULL;
    if (asked || all.count > 0)
        check_price(ret_representation, &all);
    if (all.count == 0) {
        if (!choose_format(ret_representation, ret_reply))
            return false;
        if (!asked) /* the price depends on the format */
            check_price(ret_representation, &all);
    }
    if (all.count > 0)
        *ret_reply = api_problem_from_error(&all);
    return all.count == 0;
}

void api_representation_done(api_representation *representation)
{
    pe_request_unref(representation->request);
    representation->request = NULL;
    api_options_done(&representation->options);
    pe_options_free(representation->named);
}
