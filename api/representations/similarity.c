/* Which schemes have a similarity. It is found out by making a request for one. */
#include "representations/similarity.h"

#include "http/arguments.h"
#include "json/document.h"

#include <stdio.h>

bool api_has_similarity(const pe_scheme *scheme, const pe_limits *limits)
{
    char query[256];
    api_arguments arguments;
    pe_request *request = NULL;
    pe_error error;
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    snprintf(query, sizeof query, "%s&metric=l2", info->example);
    pe_error_init(&error);
    api_arguments_from_query(query, &arguments, &error);
    if (error.status == PE_OK)
        pe_request_new(pe_similarity_find(info->name), arguments.items, arguments.count, limits,
                       &request, &error);
    if (error.status == PE_NO_MEMORY)
        api_document_spoil();
    bool has = request != NULL;
    pe_request_unref(request);
    api_arguments_done(&arguments);
    return has;
}
