/* Routes: which endpoint answers which method and path. */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "call.h"

/* What a route serves. The OpenAPI document derives the statuses, headers and parameters of an
 * operation from it (openapi/contract.c). */
typedef enum api_kind {
    API_TENSORS = 1 << 0,
    API_TENSORS_BY_POST = 1 << 1,
    API_DOCUMENT = 1 << 2, /* a JSON document with an ETag and content codings */
    API_STATE = 1 << 3,    /* the state of the process: a small document, never cached */
    API_TEXT = 1 << 4,     /* metrics */
    API_SETS = 1 << 5,     /* the list of sets */
    API_SET = 1 << 6,      /* one set */
    API_UPLOAD = 1 << 7,
    API_REMOVAL = 1 << 8,
    API_ASSET = 1 << 9, /* a page, or a file that one loads */
    API_BATCH = 1 << 10,
    API_PLAN = 1 << 11,            /* a document that a query asks for, else as API_DOCUMENT */
    API_PLAN_BY_POST = 1 << 12,    /* the same of a JSON body */
    API_COMPARISON = 1 << 13,      /* of a table that the body holds with the exact one */
    API_IDENTIFICATION = 1 << 14,  /* of a table that the body holds */
    API_CONVERSION = 1 << 15,      /* of a file of tensors, which is the answer */
    API_APPLICATION = 1 << 16,     /* of an encoding to tensors that the body holds */
    API_PLAN_COMPARISON = 1 << 17, /* of two configs that the body holds */
    API_MODEL_APPLICATION = 1 << 18, /* of what a model's layer uses to such tensors */
} api_kind;

#define API_APPLICATIONS (API_APPLICATION | API_MODEL_APPLICATION)
#define API_TABLES                                                                             \
    (API_COMPARISON | API_IDENTIFICATION | API_CONVERSION | API_APPLICATION |                  \
     API_MODEL_APPLICATION)

typedef struct api_route {
    const char *method, *pattern; /* a pattern may end in /{name} */
    const char *old_pattern;      /* a deprecated one, which is answered as well; or NULL */
    const char *operation;        /* its operationId in the OpenAPI document */
    bool slashes;                 /* what {name} stands for may hold slashes */
    const char *summary, *tag;    /* for the OpenAPI document */
    api_kind kind;
    const char *schema; /* names the schema of the JSON answer; NULL: the answer is no JSON */
    const char *old_schema; /* the same of the old pattern; NULL: it is the same one */
    api_endpoint *endpoint;
    api_right right;       /* that every request for the path needs */
    api_guard *check_head; /* asked before a request's body is read; NULL: all are let in */
    bool probe;            /* answered under any load */
} api_route;

/* The whole table. */
const api_route *api_route_table(size_t *ret_count);

/* What the table has for a request. */
typedef struct api_match {
    const api_route *route; /* the one of the path and method; NULL if there is none */
    const char *pattern;    /* that the path fits; NULL if no route has it */
    api_right right;        /* that the path needs */
    api_segment parameter;  /* what the pattern's {…} stands for; empty without {…} */
    const char *query;      /* of the target; NULL if it has no `?`, or the path no route */
} api_match;

/* Match a request's method and the path of its target; HEAD matches the route of GET. */
api_match api_match_route(const char *method, const char *target);

/* The index of the route, as api_route_find. */
size_t api_route_index(const api_match *match);

/* The answer to a request that matches no route: 404, or 405 or the answer to OPTIONS where the
 * path has routes of other methods. NULL without memory. */
api_reply *api_answer_without_route(const char *method, const char *target);

#endif
