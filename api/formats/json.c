/* json: the tensors as nested arrays, one row on each line, with the shortest digits that read
 * back as the same value. */
#include "formats/parameter_values.h"
#include "formats/printed.h"

#include <string.h>

static void append_head(api_text *text, const api_selection *selection)
{
    const pe_request *request = selection->request;
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    const char *preset = pe_request_preset(request), *quote = preset ? "\"" : "";
    api_text_add(text,
                 "{\"scheme\":\"%s\",\"preset\":%s%s%s,\"revision\":%u,\n \"parameters\":{",
                 info->similarity_of ? info->similarity_of : info->name, quote,
                 preset ? preset : "null", quote, info->revision);
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        api_text_add(text, "%s\"%s\":", i ? "," : "", pe_parameter_at(info, i)->name);
        api_parameter_append_json(text, request, i);
    }
    api_text_add(text, "},\n \"tensors\":[");
}

static void append_tensor_head(api_text *text, const pe_tensor *tensor, bool first)
{
    api_text_add(text, "%s\n  {\"name\":\"%s\",\"dtype\":\"%s\",\"shape\":[", first ? "" : ",",
                 tensor->name, pe_dtype_name(tensor->dtype));
    for (size_t axis = 0; axis < tensor->rank; axis++)
        api_text_add(text, "%s%llu", axis ? "," : "", (unsigned long long)tensor->shape[axis]);
    api_text_add(text, "],\"data\":[\n   ");
}

static void append_tensor_tail(api_text *text, bool last)
{
    api_text_add(text, "%s", last ? "]}]}\n" : "]}");
}

/* Write a bracket for each axis but the first whose brackets open before a row, or close before
 * it. Rows are counted through all axes but the last. Returns the end. */
static char *write_brackets(char *dst, const pe_tensor *tensor, uint64_t row, char bracket)
{
    uint64_t span = 1; /* the rows that a pair of brackets of the axis encloses */
    for (size_t axis = tensor->rank - 1; axis > 0 && row % span == 0; axis--) {
        *dst++ = bracket;
        span *= tensor->shape[axis - 1];
    }
    return dst;
}

#define ROW_BREAK ",\n   "

/* A row begins on a line of its own. */
static char *begin_piece(char *dst, const pe_tensor *tensor, uint64_t first)
{
    uint64_t columns = tensor->shape[tensor->rank - 1], row = first / columns;
    if (first % columns > 0) {
        *dst++ = ',';
        return dst;
    }
    if (row > 0) {
        memcpy(dst, ROW_BREAK, sizeof ROW_BREAK - 1);
        dst += sizeof ROW_BREAK - 1;
    }
    return write_brackets(dst, tensor, row, '[');
}

static char *end_piece(char *dst, const pe_tensor *tensor, uint64_t end)
{
    uint64_t columns = tensor->shape[tensor->rank - 1];
    return end % columns == 0 ? write_brackets(dst, tensor, end / columns, ']') : dst;
}

static size_t print(char *dst, const pe_tensor *tensor, const void *elements, size_t count)
{
    return pe_print_row(dst, tensor->dtype, elements, count);
}

static const api_printer PRINTER = {
    .head = append_head,
    .tensor_head = append_tensor_head,
    .tensor_tail = append_tensor_tail,
    .before = begin_piece,
    .after = end_piece,
    .print = print,
};

static uint64_t work(const api_selection *selection)
{
    return api_printed_elements(&PRINTER, selection);
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    return api_printed_body(&PRINTER, selection, table, ret_bytes);
}

static api_body *stream(const api_selection *selection, pe_error *reterr)
{
    return api_printed_stream(&PRINTER, selection, reterr);
}

const api_format api_format_json = {
    .name = "json",
    .media_type = "application/json",
    .extension = "json",
    .help =
        "all tensors as nested lists, with scheme and parameters; digits are the fewest that "
        "read back as the same value of the tensor's dtype",
    .schema_type = "object",
    .revision = 3,
    .states_parameters = true,
    .text = true,
    .measure = API_ELEMENTS,
    .work = work,
    .write = write_body,
    .stream = stream,
};
