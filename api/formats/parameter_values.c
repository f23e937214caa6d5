/* The values of a request's parameters as JSON text. */
#include "formats/parameter_values.h"

#include "bytes/digest.h"

#define LIST_SHOWN 1024 /* items of a list that is written out */

static void append_list(api_text *text, const pe_value *value)
{
    if (value->count > LIST_SHOWN) {
        char digest[65];
        api_sha256_hex(value->items, value->count * sizeof *value->items, digest);
        api_text_add(text, "\"sha256:%s\"", digest);
        return;
    }
    api_text_add(text, "[");
    for (size_t i = 0; i < value->count; i++) {
        if (i > 0)
            api_text_add(text, ",");
        api_text_add_number(text, value->items[i]);
    }
    api_text_add(text, "]");
}

void api_parameter_append_json(api_text *text, const pe_request *request, size_t index)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    const pe_parameter *parameter = pe_parameter_at(info, index);
    const pe_value *value = pe_request_value(request, index);
    if (!value->present) {
        api_text_add(text, "null");
        return;
    }
    switch (parameter->type) {
    case PE_INTEGER:
    case PE_REAL:
        api_text_add_number(text, value->real);
        return;
    case PE_BOOLEAN:
        api_text_add(text, value->integer ? "true" : "false");
        return;
    case PE_CHOICE:
        api_text_add(text, "\"%s\"", parameter->choices[value->integer]);
        return;
    case PE_STORED:
        api_text_add(text, "\"%s\"", value->text);
        return;
    case PE_TEXT:
    case PE_TEXT_LIST:
        return; /* no scheme has them */
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        append_list(text, value);
        return;
    }
}
