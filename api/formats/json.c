/* json: readable, one row to a line, shortest digits that read back as the same value. */
#include "../formats.h"
#include "../parameters.h"
#include "../reply.h"

#include <stdlib.h>

static uint64_t length(const api_selection *selection)
{
    (void)selection;
    return API_LENGTH_UNKNOWN;
}

static void append_head(api_text *text, const pe_request *request)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    api_text_add(text, "{\"scheme\":\"%s\",\n \"parameters\":{", info->name);
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        api_text_add(text, "%s\"%s\":", i ? "," : "", pe_parameter_at(info, i)->name);
        api_parameter_append_json(text, request, i);
    }
    api_text_add(text, "},\n \"tensors\":[");
}

/* One bracket for every inner axis that has `row`, counted along the last axis, at its edge. */
static void append_brackets(api_text *text, const pe_tensor *tensor, uint64_t row,
                            const char *bracket)
{
    uint64_t span = 1; /* rows under one index of the axis */
    for (size_t axis = tensor->rank - 1; axis > 0 && row % span == 0; axis--) {
        api_text_add(text, "%s", bracket);
        span *= tensor->shape[axis - 1];
    }
}

/* The items of the outermost list, a line for each run along the last axis. */
static void append_data(api_text *text, const pe_tensor *tensor, const void *data)
{
    uint64_t columns = tensor->shape[tensor->rank - 1], rows = tensor->elements / columns;
    const unsigned char *row = data;
    for (uint64_t r = 0; r < rows; r++, row += columns * pe_dtype_size(tensor->dtype)) {
        if (r > 0)
            api_text_add(text, ",\n   ");
        append_brackets(text, tensor, r, "[");
        char *at = api_text_room(text, (size_t)columns * PE_PRINT_MAX);
        if (!at)
            return;
        text->size += pe_print_row(at, tensor->dtype, row, (size_t)columns);
        append_brackets(text, tensor, r + 1, "]");
    }
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    api_text text = {0};
    append_head(&text, selection->request);
    for (size_t i = selection->first; i < selection->first + selection->count; i++) {
        const pe_tensor *tensor = pe_table_tensor(table, i);
        api_text_add(&text, "%s\n  {\"name\":\"%s\",\"dtype\":\"%s\",\"shape\":[",
                     i > selection->first ? "," : "", tensor->name,
                     pe_dtype_name(tensor->dtype));
        for (size_t axis = 0; axis < tensor->rank; axis++)
            api_text_add(&text, "%s%llu", axis ? "," : "",
                         (unsigned long long)tensor->shape[axis]);
        api_text_add(&text, "],\"data\":[\n   ");
        append_data(&text, tensor, pe_table_data(table, i));
        api_text_add(&text, "]}");
    }
    api_text_add(&text, "]}\n");
    if (text.failed) {
        api_text_done(&text);
        return NULL;
    }
    char *fitted = realloc(text.data, text.size);
    *ret_bytes = text.size;
    return api_body_from_text(fitted ? fitted : text.data, text.size);
}

const api_format api_format_json = {
    .name = "json",
    .media_type = "application/json",
    .extension = "json",
    .help = "all tensors as nested lists, with scheme and parameters",
    .revision = 1,
    .limited = true,
    .length = length,
    .write = write_body,
};
