/* Requests as the queries that schemes propose. */
#include "identify/query.h"

#include "requests/parameters.h"

#include <stdio.h>
#include <string.h>

#define ARGUMENTS 24

bool pe_write_value_text(const pe_parameter *row, const pe_value *value, char dst[PE_PRINT_MAX])
{
    char number[PE_PRINT_MAX];
    size_t used = 0;
    dst[0] = '\0';
    if (row->type != PE_REAL_LIST && row->type != PE_INTEGER_LIST)
        return snprintf(dst, PE_PRINT_MAX, "%s", pe_value_text(row, value, number)) <
               PE_PRINT_MAX;
    for (size_t i = 0; i < value->count && used < PE_PRINT_MAX; i++)
        used += (size_t)snprintf(dst + used, PE_PRINT_MAX - used, "%s%s", i > 0 ? "," : "",
                                 pe_plain_number(value->items[i], number));
    return used < PE_PRINT_MAX;
}

pe_request *pe_parse_query(const pe_scheme *scheme, const char *query, const char *dtype,
                           const pe_limits *limits)
{
    char text[PE_IDENTITY_QUERY_MAX];
    pe_argument arguments[ARGUMENTS];
    pe_request *request = NULL;
    pe_error error;
    size_t count = 0;
    snprintf(text, sizeof text, "%s", query);
    char *rest = text;
    for (char *part; (part = strsep(&rest, "&")) && count + 1 < ARGUMENTS;)
        if (*part) {
            char *name = strsep(&part, "=");
            arguments[count++] = (pe_argument){.name = name, .text = part};
        }
    arguments[count++] = (pe_argument){.name = "dtype", .text = dtype};
    if (pe_request_new(scheme, arguments, count, limits, &request, &error) != PE_OK)
        return NULL;
    return request;
}

bool pe_find_query_set(const pe_limits *limits, const char *name, pe_set **ret_set,
                       pe_error *reterr)
{
    const pe_sets *sets = limits->sets;
    if (!name)
        return true;
    if (sets && sets->find(sets->context, name, ret_set) != PE_OK)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the set");
    else if (!*ret_set)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "set", name, "the name of a set");
    return *ret_set != NULL;
}

const char *pe_find_query_text(const char *query, const char *name,
                               char dst[PE_IDENTITY_QUERY_MAX])
{
    const size_t length = strlen(name);
    for (const char *part = query; *part; part += *part == '&') {
        const size_t size = strcspn(part, "&");
        if (size > length && strncmp(part, name, length) == 0 && part[length] == '=') {
            snprintf(dst, PE_IDENTITY_QUERY_MAX, "%.*s", (int)(size - length - 1),
                     part + length + 1);
            return dst;
        }
        part += size;
    }
    return NULL;
}

void pe_change_query(const char *query, const char *name, const char *text,
                     char dst[PE_IDENTITY_QUERY_MAX])
{
    size_t used = 0, length = strlen(name);
    dst[0] = '\0';
    for (const char *part = query; *part;) {
        size_t size = strcspn(part, "&");
        bool same = strncmp(part, name, length) == 0 && part[length] == '=';
        if (size > 0 && !same && used + size + 2 < PE_IDENTITY_QUERY_MAX)
            used += (size_t)snprintf(dst + used, PE_IDENTITY_QUERY_MAX - used, "%s%.*s",
                                     used > 0 ? "&" : "", (int)size, part);
        part += size + (part[size] == '&');
    }
    if (text)
        snprintf(dst + used, PE_IDENTITY_QUERY_MAX - used, "%s%s=%s", used > 0 ? "&" : "", name,
                 text);
}

int pe_find_query_tensor(const pe_request *request, const char *name, const pe_view *view)
{
    for (size_t i = 0; i < pe_request_tensor_count(request); i++) {
        const pe_tensor *tensor = pe_request_tensor(request, i);
        pe_view shape = {.rank = tensor->rank};
        if (strcmp(tensor->name, name) != 0)
            continue;
        memcpy(shape.shape, tensor->shape, tensor->rank * sizeof *tensor->shape);
        shape = pe_view_squeezed(&shape);
        bool same = shape.rank == view->rank;
        for (size_t axis = 0; same && axis < shape.rank; axis++)
            same = shape.shape[axis] == view->shape[axis];
        return same ? (int)i : -1;
    }
    return -1;
}
