/* Comparing what a kernel gives with the results of an application. */
#ifndef API_APPLY_COMPARE_H
#define API_APPLY_COMPARE_H

#include "files/applied.h"
#include "replies/comparison.h"

/* What the answer says of all results. */
typedef struct api_apply_comparison {
    const char *scheme, *url, *format;
    api_judgement judgement;
    const pe_runner *runner;
} api_apply_comparison;

/* Compare the results, which are open, each with its own tensor. NULL without memory. */
api_reply *api_apply_compare(const api_applied *applied, const api_apply_comparison *asked);

#endif
