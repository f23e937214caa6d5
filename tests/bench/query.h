/* Queries that the benchmark's tools change: arguments are set, and sizes grow. */
#ifndef BENCH_QUERY_H
#define BENCH_QUERY_H

#include "posenc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX 24

typedef struct bench_query {
    char text[512];
    pe_argument arguments[ARGUMENTS_MAX];
    char numbers[ARGUMENTS_MAX][24];
    size_t count;
} bench_query;

/* Read "name=value&…"; the arguments point into *ret_query, which must not be copied. */
static inline void bench_read_query(bench_query *ret_query, const char *text)
{
    snprintf(ret_query->text, sizeof ret_query->text, "%s", text);
    ret_query->count = 0;
    char *rest = ret_query->text;
    for (char *part; (part = strsep(&rest, "&")) && ret_query->count < ARGUMENTS_MAX;) {
        char *name = strsep(&part, "=");
        ret_query->arguments[ret_query->count++] = (pe_argument){.name = name, .text = part};
    }
}

/* Set an argument, in place of the one of this name. The texts must outlive the query. */
static inline void bench_set(bench_query *query, const char *name, const char *text)
{
    size_t i = 0;
    while (i < query->count && strcmp(query->arguments[i].name, name) != 0)
        i++;
    if (i == ARGUMENTS_MAX)
        return;
    query->arguments[i] = (pe_argument){.name = name, .text = text};
    query->count += i == query->count;
}

/* The request, NULL if it is refused. */
static inline pe_request *bench_request(const pe_scheme *scheme, const bench_query *query)
{
    const pe_limits limits = {1ULL << 40, 1ULL << 40, 1 << 20, NULL, NULL};
    pe_request *request = NULL;
    pe_error error;
    if (pe_request_new(scheme, query->arguments, query->count, &limits, &request, &error))
        return NULL;
    return request;
}

/* Whether an argument of the scheme's example sets the size: a required integer, or length. */
static inline bool bench_sets_size(const pe_scheme_info *info, const char *name)
{
    for (size_t i = 0; i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, name) == 0)
            return info->parameters[i].type == PE_INTEGER &&
                   (info->parameters[i].required || strcmp(name, "length") == 0);
    return false;
}

#define HEADS_MAX 32 /* of an enlarged query, as of large models */

/* Double an argument; the request with it, or NULL and everything as it was. */
static inline pe_request *bench_double(const pe_scheme *scheme, bench_query *query,
                                       size_t index)
{
    pe_argument *argument = &query->arguments[index];
    const pe_argument before = *argument;
    const unsigned long long doubled = 2 * strtoull(before.text, NULL, 10);
    char number[24];
    if (strcmp(argument->name, "heads") == 0 && doubled > HEADS_MAX)
        return NULL;
    snprintf(number, sizeof number, "%llu", doubled);
    argument->text = number;
    pe_request *request = bench_request(scheme, query);
    if (request)
        memcpy(query->numbers[index], number, sizeof number);
    argument->text = request ? query->numbers[index] : before.text;
    return request;
}

/* The request with its sizes doubled by turns until its tensors have so many bytes; NULL if the
 * query is refused. */
static inline pe_request *bench_enlarged(const pe_scheme *scheme, bench_query *query,
                                         uint64_t bytes)
{
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    pe_request *request = bench_request(scheme, query);
    for (bool grown = true; grown && request && pe_request_bytes(request) < bytes;) {
        grown = false;
        for (size_t i = 0; i < query->count && pe_request_bytes(request) < bytes; i++) {
            pe_request *larger = bench_sets_size(info, query->arguments[i].name)
                                     ? bench_double(scheme, query, i)
                                     : NULL;
            if (!larger)
                continue;
            pe_request_unref(request);
            request = larger;
            grown = true;
        }
    }
    return request;
}

#endif
