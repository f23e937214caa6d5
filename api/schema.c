/* Parameters as JSON values, ranges and schemas. */
#include "schema.h"

#include "document.h"

#include <stdlib.h>
#include <string.h>

const char *api_type_name(pe_type type)
{
    switch (type) {
    case PE_INTEGER:
        return "integer";
    case PE_REAL:
        return "number";
    case PE_BOOLEAN:
        return "boolean";
    case PE_CHOICE:
    case PE_STORED:
        return "string";
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        return "array";
    }
    return "";
}

static json_t *number_value(const char *text, size_t length)
{
    json_t *number = json_loadb(text, length, JSON_DECODE_ANY, NULL);
    json_t *plain = api_document_number(json_number_value(number));
    json_decref(number);
    return plain;
}

static json_t *list_value(const char *text)
{
    json_t *list = json_array();
    size_t length = strcspn(text, ",");
    json_array_append_new(list, number_value(text, length));
    while (text[length]) {
        text += length + 1;
        length = strcspn(text, ",");
        json_array_append_new(list, number_value(text, length));
    }
    return list;
}

json_t *api_text_value(const pe_parameter *parameter, const char *text)
{
    switch (parameter->type) {
    case PE_INTEGER:
    case PE_REAL:
        return number_value(text, strlen(text));
    case PE_BOOLEAN:
        return json_boolean(text[0] == 't');
    case PE_CHOICE:
    case PE_STORED:
        return json_string(text);
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        return list_value(text);
    }
    return json_null();
}

json_t *api_default_of(const pe_parameter *parameter)
{
    const char *times = parameter->default_times, *less = parameter->default_less;
    return json_sprintf("%s%s%s%s%s", parameter->default_of, times ? " * " : "",
                        times ? times : "", less ? " - " : "", less ? less : "");
}

json_t *api_default_value(const pe_parameter *parameter)
{
    return parameter->default_text ? api_text_value(parameter, parameter->default_text)
                                   : json_null();
}

json_t *api_cases_of(const pe_parameter *parameter)
{
    if (!parameter->when)
        return NULL;
    json_t *cases = json_array();
    for (const pe_case *at = parameter->cases; at->choice; at++) {
        json_t *value =
            at->default_text ? api_text_value(parameter, at->default_text) : json_null();
        json_array_append_new(cases, json_pack("{s:s, s:b, s:o}", "choice", at->choice,
                                               "required", at->required, "default", value));
    }
    return json_pack("{s:s, s:o}", "parameter", parameter->when, "cases", cases);
}

static json_t *choices_of(const pe_parameter *parameter)
{
    json_t *choices = json_array();
    for (size_t i = 0; parameter->choices[i]; i++)
        json_array_append_new(choices, json_string(parameter->choices[i]));
    return choices;
}

static bool is_list(pe_type type)
{
    return type == PE_REAL_LIST || type == PE_INTEGER_LIST;
}

static bool has_range(pe_type type)
{
    return type == PE_INTEGER || type == PE_REAL || is_list(type);
}

/* What a stored set has to do with a parameter. */
static void add_stored(json_t *object, const pe_parameter *parameter)
{
    if (parameter->type == PE_STORED)
        json_object_set_new(object, "format", json_string("stored set name"));
    if (parameter->stored)
        json_object_set_new(object, "stored",
                            json_sprintf("taken from tensor %s axis %zu of the stored set",
                                         parameter->stored, parameter->stored_axis));
}

bool api_is_required(const pe_parameter *parameter)
{
    return parameter->required && !parameter->unless && !parameter->stored;
}

void api_add_range(json_t *object, const pe_parameter *parameter)
{
    if (has_range(parameter->type)) {
        json_object_set_new(object, "minimum", api_document_number(parameter->minimum));
        json_object_set_new(object, "maximum", api_document_number(parameter->maximum));
    }
    if (parameter->multiple_of > 1)
        json_object_set_new(object, "multiple_of", json_integer(parameter->multiple_of));
    if (parameter->type == PE_CHOICE)
        json_object_set_new(object, "choices", choices_of(parameter));
    add_stored(object, parameter);
}

json_t *api_schema_of(const pe_parameter *parameter)
{
    json_t *schema = json_object(), *ranged = schema;
    json_object_set_new(schema, "type", json_string(api_type_name(parameter->type)));
    if (is_list(parameter->type)) {
        const char *item = parameter->type == PE_REAL_LIST ? "number" : "integer";
        ranged = json_pack("{s:s}", "type", item);
        json_object_set_new(schema, "minItems", json_integer(1));
    }
    if (has_range(parameter->type)) {
        json_object_set_new(ranged, "minimum", api_document_number(parameter->minimum));
        json_object_set_new(ranged, "maximum", api_document_number(parameter->maximum));
    }
    if (ranged != schema) /* last, since without memory it is freed */
        json_object_set_new(schema, "items", ranged);
    if (parameter->multiple_of > 1)
        json_object_set_new(schema, "multipleOf", json_integer(parameter->multiple_of));
    if (parameter->type == PE_CHOICE)
        json_object_set_new(schema, "enum", choices_of(parameter));
    if (parameter->type == PE_STORED)
        json_object_set_new(schema, "pattern", json_string(API_STORED_NAME_PATTERN));
    if (parameter->default_text)
        json_object_set_new(schema, "default", api_default_value(parameter));
    if (parameter->default_of)
        json_object_set_new(schema, "x-default-of", api_default_of(parameter));
    add_stored(schema, parameter);
    if (parameter->when)
        json_object_set_new(schema, "x-when", api_cases_of(parameter));
    return schema;
}

json_t *api_describe_parameter(const pe_parameter *parameter)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(parameter->name));
    json_object_set_new(object, "type", json_string(api_type_name(parameter->type)));
    json_object_set_new(object, "required", json_boolean(parameter->required));
    json_object_set_new(object, "default", api_default_value(parameter));
    if (parameter->default_of)
        json_object_set_new(object, "default_of", api_default_of(parameter));
    api_add_range(object, parameter);
    if (parameter->unless)
        json_object_set_new(object, "unless", json_string(parameter->unless));
    if (parameter->when)
        json_object_set_new(object, "when", api_cases_of(parameter));
    if (parameter->unit)
        json_object_set_new(object, "unit", json_string(parameter->unit));
    json_object_set_new(object, "help", json_string(parameter->help));
    return object;
}
