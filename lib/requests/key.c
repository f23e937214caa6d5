/* The canonical key of a request: requests with equal keys have equal bits. */
#include "numerics/hash.h"
#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

static char *append_text(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

/* Write a value as the text of an argument, without a NUL; returns the end. */
static char *write_value(char *at, const pe_parameter *parameter, const pe_value *value)
{
    const char *text = "";
    switch (parameter->type) {
    case PE_INTEGER:
    case PE_REAL:
        return at + strlen(pe_plain_number(value->real, at));
    case PE_BOOLEAN:
        text = value->integer ? "true" : "false";
        break;
    case PE_CHOICE:
        text = parameter->choices[value->integer];
        break;
    case PE_STORED: /* with the name, since answers show it */
        at = append_text(append_text(at, value->text), ":");
        text = pe_set_digest(value->set);
        break;
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        for (size_t i = 0; i < value->count; i++) {
            if (i > 0)
                *at++ = ',';
            at += strlen(pe_plain_number(value->items[i], at));
        }
        return at;
    case PE_TEXT:
    case PE_TEXT_LIST:
        break; /* no scheme has them */
    }
    return append_text(at, text);
}

/* An upper bound of the bytes that write_value writes. */
static size_t value_room(const pe_parameter *parameter, const pe_value *value)
{
    if (parameter->type == PE_CHOICE)
        return strlen(parameter->choices[value->integer]);
    if (parameter->type == PE_STORED)
        return strlen(value->text) + 1 + strlen(pe_set_digest(value->set));
    return (value->count + 1) * PE_PRINT_MAX;
}

bool pe_request_write_key(pe_request *request)
{
    const pe_scheme_info *info = &request->values.scheme->info;
    size_t room = strlen(info->name) + PE_PRINT_MAX;
    for (size_t i = 0; i < request->value_count; i++)
        if (request->items[i].present)
            room += strlen(pe_parameter_at(info, i)->name) + 2 +
                    value_room(pe_parameter_at(info, i), &request->items[i]);
    request->key = malloc(room);
    if (!request->key)
        return false;
    char *at = request->key;
    size_t name_length = strlen(info->name);
    memcpy(at, info->name, name_length);
    at += name_length;
    *at++ = '@';
    at += strlen(pe_plain_number(info->revision, at));
    for (size_t i = 0; i < request->value_count; i++) {
        const pe_parameter *parameter = pe_parameter_at(info, i);
        if (!request->items[i].present)
            continue;
        size_t length = strlen(parameter->name);
        *at++ = '&';
        memcpy(at, parameter->name, length);
        at += length;
        *at++ = '=';
        at = write_value(at, parameter, &request->items[i]);
    }
    *at = '\0';
    request->key_length = (size_t)(at - request->key);
    request->key_hash = pe_hash_bytes(request->key, request->key_length);
    return true;
}
