/* Answering what is asked of a table: the steps that all such endpoints have. */
#include "replies/table_post.h"

#include "replies/document.h"
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
    [API_TABLE_JSON] = {"application/json", "json"},
    [API_TABLE_CSV] = {"text/csv", "csv"},
};

const char *api_table_format_name(api_table_format format)
{
    return FORMATS[format].name;
}

const char *api_table_media_type(api_table_format format)
{
    return FORMATS[format].media_type;
}

/* Whether a media type is that of a form in one line, which curl names unless it is told
 * another one. */
static bool is_urlencoded(const char *media_type)
{
    static const char FORM[] = "application/x-www-form-urlencoded";
    return media_type && strncasecmp(media_type, FORM, strlen(FORM)) == 0;
}

/* The format that Content-Type names. False: ret_refusal is the 415 then, NULL without memory.
 */
static bool is_table_post(const api_call *call, api_table_format *ret_format,
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
    char detail[512];
    snprintf(detail, sizeof detail,
             "Content-Type must be %s, %s, %s, %s or, for raw elements, %s; with curl: curl "
             "--data-binary @table.npy -H 'Content-Type: %s' …%.100s%s",
             FORMATS[API_TABLE_NPY].media_type, FORMATS[API_TABLE_SAFETENSORS].media_type,
             FORMATS[API_TABLE_JSON].media_type, FORMATS[API_TABLE_CSV].media_type,
             FORMATS[API_TABLE_RAW].media_type, FORMATS[API_TABLE_NPY].media_type,
             call->request->target,
             is_urlencoded(given) ? ". What came is a form, as curl sends it without -H; "
                                    "its --data also takes line ends out of the file"
                                  : "");
    *ret_refusal = api_problem(API_UNSUPPORTED_MEDIA_TYPE, detail, NULL, NULL);
    return false;
}

bool api_refuse_table_head(const api_call *call, api_reply **ret_refusal)
{
    api_table_format format;
    return !is_table_post(call, &format, ret_refusal);
}

#define TEXT_PRICE 64 /* multiply-adds to read a byte */

bool api_may_read_text(const api_call *call, double more)
{
    return api_may_begin(call, (TEXT_PRICE + more) * (double)call->request->body_size);
}

static api_reply *answer_table(const api_call *call, const api_table_endpoint *endpoint,
                               void *job)
{
    api_reply *reply = NULL;
    pe_error error;
    pe_error_init(&error);
    if (!endpoint->read(job, &error, &reply))
        return reply;
    if (error.count > 0)
        return api_problem_from_error(&error);
    return api_may_begin(call, endpoint->price ? endpoint->price(job) : 0) ? endpoint->work(job)
                                                                           : NULL;
}

api_reply *api_answer_table_post(const api_call *call, const api_table_endpoint *endpoint,
                                 api_table_format *ret_format, void *job)
{
    api_reply *refusal;
    if (!is_table_post(call, ret_format, &refusal))
        return refusal;
    if (*ret_format >= API_TABLE_RAW && endpoint->files_only)
        return api_problem(API_UNSUPPORTED_MEDIA_TYPE, endpoint->files_only, NULL, NULL);
    return answer_table(call, endpoint, job);
}
