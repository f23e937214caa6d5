/* Which schemes have a similarity. It is found out by making a request for one. */
#include "openapi/similarity.h"

#include "http/arguments.h"
#include "json/document.h"

#include <stdio.h>

#define QUERY_MAX 256

/* Whether the similarity of a scheme answers a query. */
static bool answers_query(const pe_scheme_info *info, const char *query,
                          const pe_limits *limits)
{
    api_arguments arguments;
    pe_request *request = NULL;
    pe_error error;
    pe_error_init(&error);
    api_arguments_from_query(query, &arguments, &error);
    if (error.status == PE_OK)
        pe_request_new(pe_similarity_find(info->name), arguments.items, arguments.count, limits,
                       &request, &error);
    if (error.status == PE_NO_MEMORY)
        api_document_spoil();
    bool answered = request != NULL;
    pe_request_unref(request);
    api_arguments_done(&arguments);
    return answered;
}

bool api_has_similarity(const pe_scheme *scheme, const pe_limits *limits)
{
    char query[QUERY_MAX];
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    snprintf(query, sizeof query, "%s&metric=l2", info->example);
    return answers_query(info, query, limits);
}
