/* What every POST of a table must be like. */
#include "replies/table_post.h"

#include "replies/problem.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *media_type, *name;
} FORMATS[] = {
    [API_TABLE_NPY] = {"application/x-npy", "npy"},
    [API_TABLE_SAFETENSORS] = {"application/vnd.safetensors", "safetensors"},
    [API_TABLE_RAW] = {"application/octet-stream", "raw"},
};

const char *api_table_format_name(api_table_format format)
{
    return FORMATS[format].name;
}

bool api_is_table_post(const api_call *call, api_table_format *ret_format,
                       api_reply **ret_refusal)
{
    const char *given = api_call_header(call, API_HEADER_CONTENT_TYPE);
    for (size_t i = 0; given && i < sizeof FORMATS / sizeof *FORMATS; i++) {
        size_t length = strlen(FORMATS[i].media_type);
        if (strncasecmp(given, FORMATS[i].media_type, length) == 0 &&
            strchr("; \t", given[length])) {
            *ret_format = (api_table_format)i;
            return true;
        }
    }
    char detail[400];
    snprintf(detail, sizeof detail,
             "Content-Type must be %s, %s or, for raw elements, %s; with curl: curl "
             "--data-binary @table.npy -H 'Content-Type: %s' …%.100s",
             FORMATS[API_TABLE_NPY].media_type, FORMATS[API_TABLE_SAFETENSORS].media_type,
             FORMATS[API_TABLE_RAW].media_type, FORMATS[API_TABLE_NPY].media_type,
             call->request->target);
    *ret_refusal = api_problem(API_UNSUPPORTED_MEDIA_TYPE, detail, NULL, NULL);
    return false;
}

bool api_refuse_table_head(const api_call *call, api_reply **ret_refusal)
{
    api_table_format format;
    return !api_is_table_post(call, &format, ret_refusal);
}
