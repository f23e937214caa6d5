/* What every POST of a table must be like. */
#ifndef API_TABLE_POST_H
#define API_TABLE_POST_H

#include "call.h"

typedef enum api_table_format {
    API_TABLE_NPY,
    API_TABLE_SAFETENSORS,
    API_TABLE_RAW
} api_table_format;

/* The word for a format: "npy" … */
const char *api_table_format_name(api_table_format format);

/* The format that Content-Type names. False: ret_refusal is the 415 then, NULL without memory.
 */
bool api_is_table_post(const api_call *call, api_table_format *ret_format,
                       api_reply **ret_refusal);

/* The guard of a head: refuses what api_is_table_post refuses. */
api_guard api_refuse_table_head;

#endif
