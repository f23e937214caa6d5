/* json: readable, one row to a line, shortest digits that read back as the same value. */
#include "../formats.h"
#include "../parameters.h"
#include "../reply.h"

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
        api_text_put(text, bracket, 1);
        span *= tensor->shape[axis - 1];
    }
}

#define PIECE 1024 /* elements of a row that are printed at once, to need little room */

static void append_row(api_text *text, const pe_tensor *tensor, const unsigned char *row)
{
    uint64_t columns = tensor->shape[tensor->rank - 1];
    for (uint64_t start = 0; start < columns; start += PIECE) {
        size_t count = columns - start < PIECE ? (size_t)(columns - start) : PIECE;
        char *at = api_text_room(text, count * PE_PRINT_MAX + 1);
        if (!at)
            return;
        if (start > 0) {
            *at++ = ',';
            text->size++;
        }
        text->size +=
            pe_print_row(at, tensor->dtype, row + start * pe_dtype_size(tensor->dtype), count);
    }
}

#define ROW_BREAK ",\n   "

/* The items of the outermost list, a line for each run along the last axis. */
static void append_data(api_text *text, const pe_tensor *tensor, const void *data)
{
    uint64_t columns = tensor->shape[tensor->rank - 1], rows = tensor->elements / columns;
    const unsigned char *row = data;
    for (uint64_t r = 0; r < rows; r++, row += columns * pe_dtype_size(tensor->dtype)) {
        if (r > 0)
            api_text_put(text, ROW_BREAK, sizeof ROW_BREAK - 1);
        append_brackets(text, tensor, r, "[");
        append_row(text, tensor, row);
        append_brackets(text, tensor, r + 1, "]");
    }
}

#define SAMPLES     16
#define SAMPLE_SIZE 64 /* elements */

/* About how long the text of a tensor is, and rather more: growing would cost fresh memory. */
static uint64_t expect_length(const pe_tensor *tensor, const unsigned char *data)
{
    char text[SAMPLE_SIZE * PE_PRINT_MAX];
    uint64_t rows = tensor->elements / tensor->shape[tensor->rank - 1], sum = 0;
    uint64_t breaks = rows * (sizeof ROW_BREAK + 2 * tensor->rank);
    if (tensor->elements < SAMPLES * SAMPLE_SIZE)
        return tensor->elements * PE_PRINT_MAX + breaks;
    uint64_t step = (tensor->elements - SAMPLE_SIZE) / (SAMPLES - 1);
    for (uint64_t i = 0; i < SAMPLES; i++)
        sum += 1 + pe_print_row(text, tensor->dtype,
                                data + i * step * pe_dtype_size(tensor->dtype), SAMPLE_SIZE);
    return tensor->elements * sum / (SAMPLES * SAMPLE_SIZE) * 33 / 32 + breaks;
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    api_text text;
    uint64_t expected = 4096 + PIECE * PE_PRINT_MAX; /* the head, and room for the last piece */
    size_t end = selection->first + selection->count;
    for (size_t i = selection->first; i < end; i++)
        expected += expect_length(pe_table_tensor(table, i), pe_table_data(table, i));
    api_text_begin(&text, (size_t)expected);
    append_head(&text, selection->request);
    for (size_t i = selection->first; i < end; i++) {
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
    return api_body_take_text(&text, ret_bytes);
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
