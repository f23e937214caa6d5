/* Writing targets. */
#include "http/target.h"

#include "bytes/text.h"

#include <string.h>

/* Append a text percent-encoded for a query. */
static void add_encoded(api_text *text, const char *value)
{
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c >= '0' && c <= '9') || strchr("-._~,", c);
        api_text_add(text, plain ? "%c" : "%%%02X", c);
    }
}

char *api_target_write(const api_call *call, const pe_scheme *scheme,
                       const api_arguments *arguments, pe_error *error)
{
    api_text text = {0};
    const char *separator = "?";
    api_text_add(&text, "/v1/encodings/%s", pe_scheme_describe(scheme)->name);
    for (size_t i = 0; i < arguments->count; i++) {
        const pe_argument *argument = &arguments->items[i];
        if (!argument->text || argument->kind == PE_KIND_NULL)
            continue;
        api_text_add(&text, "%s%s=", separator, argument->name);
        add_encoded(&text, argument->text);
        separator = "&";
    }
    bool fits = text.size <= call->service->host->target_bytes;
    char *target = fits ? api_text_take(&text) : NULL;
    if (fits && !target)
        pe_error_add(error, PE_NO_MEMORY, "", "", "memory for the target");
    api_text_done(&text);
    return target;
}
