/* Comparing what a kernel gives with the results of an application. */
#ifndef API_APPLY_COMPARE_H
#define API_APPLY_COMPARE_H

#include "call.h"
#include "files/applied.h"
#include "replies/comparison.h"

/* What the answer says of all results. */
typedef struct api_apply_comparison {
    const pe_scheme *scheme;
    const char *url, *format;
    api_judgement judgement;
    const char *query; /* as pe_explain_result takes it; "": nothing is explained */
    const char *more;  /* that a request has besides: "&axes=…" */
    uint64_t bytes;    /* that the results take */
    const api_call *call;
} api_apply_comparison;

/* Compare the results, which are open, each with its own tensor, and explain what differs. NULL
 * without memory, and after api_not_yet. */
api_reply *api_apply_compare(const api_applied *applied, const api_apply_comparison *asked);

#endif
