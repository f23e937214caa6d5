/* Answering what is asked of a table. */
#ifndef API_TABLE_POST_H
#define API_TABLE_POST_H

#include "call.h"

typedef enum api_table_format {
    API_TABLE_NPY,
    API_TABLE_SAFETENSORS,
    API_TABLE_RAW,
    API_TABLE_JSON, /* texts: reading them takes memory and time */
    API_TABLE_CSV
} api_table_format;

/* The word for a format, "npy" …, and its media type. */
const char *api_table_format_name(api_table_format format);
const char *api_table_media_type(api_table_format format);

/* How an endpoint answers; `job` is what it keeps of one request. */
typedef struct api_table_endpoint {
    const char *files_only; /* why raw elements and texts are refused; NULL: they are taken */

    /* Read the arguments and the head of the file, and find out what it would cost. Problems go
     * to reterr, which is empty before. False: ret_reply is the answer, NULL without memory or
     * after api_not_yet. */
    bool (*read)(void *job, pe_error *reterr, api_reply **ret_reply);

    /* The multiply-adds before the answer begins; NULL: next to none. */
    double (*price)(const void *job);
    api_reply *(*work)(void *job);
} api_table_endpoint;

/* Whether a text of that format may be read in this call, and what follows be done, whose price
 * is `more` multiply-adds for each of its bytes. False: api_not_yet has said so. */
bool api_may_read_text(const api_call *call, double more);

/* Answer a POST of a table, whose Content-Type names the format, which is kept there for
 * `read`: by its problems, or the work, now or by a worker. */
api_reply *api_answer_table_post(const api_call *call, const api_table_endpoint *endpoint,
                                 api_table_format *ret_format, void *job);

/* The guard of a head: refuses a Content-Type that is no table's. */
api_guard api_refuse_table_head;

#endif
