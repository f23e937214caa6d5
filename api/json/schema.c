/* Parameters as JSON values, descriptions and schemas. */
#include "json/schema.h"

#include "json/document.h"

#include <string.h>

/* The JSON type of a parameter's values. */
static const char *type_name(pe_type type)
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
    case PE_TEXT:
        return "string";
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
    case PE_TEXT_LIST:
        return "array";
    }
    return "";
}

static json_t *number_value(const char *text, size_t length)
{
    json_t *parsed = json_loadb(text, length, JSON_DECODE_ANY, NULL);
    json_t *number = api_document_number(json_number_value(parsed));
    json_decref(parsed);
    return number;
}

/* "1,2,3" or "a,b,c" as an array. */
static json_t *list_value(const char *text, bool of_texts)
{
    json_t *list = json_array();
    for (const char *next = text; next; next = strchr(next, ',')) {
        next += next > text; /* the comma */
        size_t length = strcspn(next, ",");
        json_array_append_new(list, of_texts ? json_stringn(next, length)
                                             : number_value(next, length));
    }
    return list;
}

json_t *api_parameter_value(const pe_parameter *parameter, const char *text)
{
    switch (parameter->type) {
    case PE_INTEGER:
    case PE_REAL:
        return number_value(text, strlen(text));
    case PE_BOOLEAN:
        return json_boolean(text[0] == 't');
    case PE_CHOICE:
    case PE_STORED:
    case PE_TEXT:
        return json_string(text);
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
    case PE_TEXT_LIST:
        return list_value(text, parameter->type == PE_TEXT_LIST);
    }
    return json_null();
}

/* How the default follows from other parameters: "height * width", "length - query_length". */
static json_t *default_formula(const pe_parameter *parameter)
{
    const char *times = parameter->default_times, *less = parameter->default_less;
    return json_sprintf("%s%s%s%s%s", parameter->default_of, times ? " * " : "",
                        times ? times : "", less ? " - " : "", less ? less : "");
}

/* The default, null if there is none. */
static json_t *default_value(const pe_parameter *parameter)
{
    return parameter->default_text ? api_parameter_value(parameter, parameter->default_text)
                                   : json_null();
}

/* For a parameter that depends on another one's choice: with which choices it is legal, and
 * whether it is required or has a default then. */
static json_t *describe_cases(const pe_parameter *parameter)
{
    json_t *cases = json_array();
    for (const pe_case *row = parameter->cases; row->choice; row++) {
        json_t *value =
            row->default_text ? api_parameter_value(parameter, row->default_text) : json_null();
        json_array_append_new(cases, json_pack("{s:s, s:b, s:o}", "choice", row->choice,
                                               "required", row->required, "default", value));
    }
    return json_pack("{s:s, s:o}", "parameter", parameter->when, "cases", cases);
}

static json_t *list_choices(const pe_parameter *parameter)
{
    json_t *choices = json_array();
    for (size_t i = 0; parameter->choices[i]; i++)
        json_array_append_new(choices, json_string(parameter->choices[i]));
    return choices;
}

/* The JSON type of a list's items; NULL if the values are no lists. */
static const char *item_type(pe_type type)
{
    return type == PE_REAL_LIST      ? "number"
           : type == PE_INTEGER_LIST ? "integer"
           : type == PE_TEXT_LIST    ? "string"
                                     : NULL;
}

static bool has_range(pe_type type)
{
    return type == PE_INTEGER || type == PE_REAL || type == PE_REAL_LIST ||
           type == PE_INTEGER_LIST;
}

/* Add from which tensor of a set the parameter is taken, if it is taken from one. */
static void add_stored(json_t *object, const char *name, const pe_parameter *parameter)
{
    if (parameter->stored)
        json_object_set_new(object, name,
                            json_sprintf("taken from tensor %s axis %zu of the set",
                                         parameter->stored, parameter->stored_axis));
}

bool api_is_required(const pe_parameter *parameter)
{
    return parameter->required && !parameter->unless && !parameter->stored;
}

/* Add the bounds of a number; an open bound has a name of its own. */
static void add_bounds(json_t *object, const pe_parameter *parameter,
                       const char *open_minimum_name, const char *open_maximum_name)
{
    if (!has_range(parameter->type))
        return;
    json_object_set_new(object, parameter->open_minimum ? open_minimum_name : "minimum",
                        api_document_number(parameter->minimum));
    json_object_set_new(object, parameter->open_maximum ? open_maximum_name : "maximum",
                        api_document_number(parameter->maximum));
}

/* Add what limits the values of a parameter to its description. */
static void add_limits(json_t *object, const pe_parameter *parameter)
{
    add_bounds(object, parameter, "exclusive_minimum", "exclusive_maximum");
    if (parameter->multiple_of > 1)
        json_object_set_new(object, "multiple_of", json_integer(parameter->multiple_of));
    if (parameter->type == PE_CHOICE)
        json_object_set_new(object, "choices", list_choices(parameter));
    if (parameter->type == PE_STORED)
        json_object_set_new(object, "format", json_string("set name"));
    add_stored(object, "stored", parameter);
}

json_t *api_parameter_schema(const pe_parameter *parameter)
{
    json_t *schema = json_object(), *number = schema; /* where minimum and maximum go */
    if (parameter->type == PE_REAL && parameter->choices) {
        number = json_pack("{s:s}", "type", type_name(parameter->type));
        add_bounds(number, parameter, "exclusiveMinimum", "exclusiveMaximum");
        json_object_set_new(schema, "oneOf",
                            json_pack("[o, {s:s, s:o}]", number, "type", "string", "enum",
                                      list_choices(parameter)));
        return schema;
    }
    json_object_set_new(schema, "type", json_string(type_name(parameter->type)));
    if (item_type(parameter->type)) {
        number = json_pack("{s:s}", "type", item_type(parameter->type));
        json_object_set_new(schema, "minItems", json_integer(1));
    }
    add_bounds(number, parameter, "exclusiveMinimum", "exclusiveMaximum");
    if (parameter->one_for_all) {
        json_object_set_new(schema, "type", json_pack("[s, s]", "array", "number"));
        add_bounds(schema, parameter, "exclusiveMinimum", "exclusiveMaximum");
    }
    if (number != schema) /* last, since jansson frees it if this fails */
        json_object_set_new(schema, "items", number);
    if (parameter->multiple_of > 1)
        json_object_set_new(schema, "multipleOf", json_integer(parameter->multiple_of));
    if (parameter->type == PE_CHOICE)
        json_object_set_new(schema, "enum", list_choices(parameter));
    if (parameter->type == PE_STORED)
        json_object_set_new(schema, "pattern", json_string(API_STORED_NAME_PATTERN));
    if (parameter->default_text)
        json_object_set_new(schema, "default", default_value(parameter));
    if (parameter->default_of)
        json_object_set_new(schema, "x-default-of", default_formula(parameter));
    add_stored(schema, "x-stored", parameter);
    if (parameter->when)
        json_object_set_new(schema, "x-when", describe_cases(parameter));
    return schema;
}

json_t *api_list_aliases(const char *name)
{
    json_t *names = json_array();
    const char *alias;
    for (size_t i = 0; (alias = pe_alias_at(name, i)); i++)
        json_array_append_new(names, json_string(alias));
    return names;
}

json_t *api_describe_parameter(const pe_parameter *parameter)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(parameter->name));
    if (parameter->old_name)
        json_object_set_new(object, "old_name", json_string(parameter->old_name));
    if (pe_alias_at(parameter->name, 0))
        json_object_set_new(object, "aliases", api_list_aliases(parameter->name));
    json_object_set_new(object, "type", json_string(type_name(parameter->type)));
    json_object_set_new(object, "required", json_boolean(parameter->required));
    json_object_set_new(object, "default", default_value(parameter));
    if (parameter->default_of)
        json_object_set_new(object, "default_of", default_formula(parameter));
    add_limits(object, parameter);
    if (parameter->unless)
        json_object_set_new(object, "unless", json_string(parameter->unless));
    if (parameter->when)
        json_object_set_new(object, "when", describe_cases(parameter));
    if (parameter->unit)
        json_object_set_new(object, "unit", json_string(parameter->unit));
    json_object_set_new(object, "help", json_string(parameter->help));
    return object;
}
