/* Tensors that hold the projections of query, key and value: which rows are whose. */
#ifndef API_FUSED_QKV_H
#define API_FUSED_QKV_H

#include "files/converted.h"

typedef enum api_qkv_kind {
    API_QKV_NONE,
    API_QKV_STACKED, /* all queries, then all keys, then all values */
    API_QKV_GROUPED, /* for each key its queries, itself and its value */
    API_QKV_LIST     /* runs of heads as they are listed, again and again */
} api_qkv_kind;

/* How such a tensor holds its heads. */
typedef struct api_qkv {
    const char *text; /* as it was given */
    api_qkv_kind kind;
    uint64_t counts[3]; /* of a list: heads of query, key and value */
    uint64_t before;    /* of a list: heads before the values */
} api_qkv;

/* Heads that are known; 0: not known. */
typedef struct api_head_counts {
    uint64_t heads, kv_heads, head_dim;
} api_head_counts;

/* Read "stacked", "grouped", "by_head", or a list such as "q4,k,v". False: a problem with the
 * option was added. NULL is none. */
bool api_qkv_read(const char *text, api_qkv *ret_qkv, pe_error *reterr);

/* Find out how many heads a tensor of so many rows holds: the period of the part, its heads of
 * values, and all counts. False: a problem was added. */
bool api_qkv_split(const api_qkv *qkv, const api_head_counts *known, uint64_t rows,
                   const char *name, api_heads *ret_part, api_head_counts *ret_counts,
                   pe_error *reterr);

#endif
