/* Which schemes have a similarity. It is found out by making a request for one. */
#include "openapi/similarity.h"

#include "http/arguments.h"
#include "json/document.h"

#include <stdio.h>
#include <string.h>

/* Whether the similarity of a scheme answers a query. */
static bool answers(const pe_scheme_info *info, const char *query, const pe_limits *limits)
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

static void write_plain(const pe_scheme_info *info, char ret_query[API_SIMILARITY_QUERY_MAX])
{
    snprintf(ret_query, API_SIMILARITY_QUERY_MAX, "%s&metric=l2", info->example);
}

bool api_has_similarity(const pe_scheme *scheme, const pe_limits *limits)
{
    char query[API_SIMILARITY_QUERY_MAX];
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    write_plain(info, query);
    return answers(info, query, limits);
}

bool api_similarity_example(const pe_scheme *scheme, const pe_limits *limits,
                            char ret_query[API_SIMILARITY_QUERY_MAX])
{
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    write_plain(info, ret_query);
    if (answers(info, ret_query, limits))
        return true;
    size_t used = strlen(ret_query);
    for (size_t i = 0; i < info->parameter_count; i++) {
        const pe_parameter *parameter = &info->parameters[i];
        for (size_t c = 0; parameter->choices && parameter->choices[c]; c++) {
            /* what the example gives already is refused as given twice */
            snprintf(ret_query + used, API_SIMILARITY_QUERY_MAX - used, "&%s=%s",
                     parameter->name, parameter->choices[c]);
            if (answers(info, ret_query, limits))
                return true;
        }
    }
    return false;
}
