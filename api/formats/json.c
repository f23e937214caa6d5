/* json: readable, one row to a line, shortest digits that read back as the same value. */
#include "../formats.h"
#include "../parameters.h"
#include "../reply.h"
#include "../streams.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint64_t length(const api_selection *selection)
{
    (void)selection;
    return API_LENGTH_UNKNOWN;
}

static void append_head(api_text *text, const pe_request *request)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    api_text_add(text, "{\"scheme\":\"%s\",\n \"parameters\":{",
                 info->of ? info->of : info->name);
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

/* One bracket for every inner axis that has `row`, counted along the last axis, at its edge;
 * returns the end. */
static char *write_brackets(char *dst, const pe_tensor *tensor, uint64_t row, char bracket)
{
    uint64_t span = 1; /* rows under one index of the axis */
    for (size_t axis = tensor->rank - 1; axis > 0 && row % span == 0; axis--) {
        *dst++ = bracket;
        span *= tensor->shape[axis - 1];
    }
    return dst;
}

#define PIECE     4096 /* elements printed at a time */
#define ROW_BREAK ",\n   "
#define ROW_EDGE  (5 + 2 * PE_RANK_MAX) /* what may stand around a run of elements */

/* Elements [first, first + count) of the nested lists and what stands before each and closes
 * behind it, a line for each run along the last axis. */
static void append_elements(api_text *text, const pe_tensor *tensor, uint64_t first,
                            const void *elements, uint64_t count)
{
    uint64_t columns = tensor->shape[tensor->rank - 1];
    const unsigned char *from = elements;
    while (count > 0) {
        uint64_t row = first / columns, column = first % columns;
        uint64_t run = columns - column < count ? columns - column : count;
        if (run > PIECE)
            run = PIECE;
        char *start = api_text_room(text, (size_t)run * PE_PRINT_MAX + ROW_EDGE), *at = start;
        if (!start)
            return;
        if (row > 0 && column == 0) {
            memcpy(at, ROW_BREAK, sizeof ROW_BREAK - 1);
            at += sizeof ROW_BREAK - 1;
        }
        if (column == 0)
            at = write_brackets(at, tensor, row, '[');
        else
            *at++ = ',';
        at += pe_print_row(at, tensor->dtype, from, (size_t)run);
        if (column + run == columns)
            at = write_brackets(at, tensor, row + 1, ']');
        text->size += (size_t)(at - start);
        from += run * pe_dtype_size(tensor->dtype);
        first += run;
        count -= run;
    }
}

/* ---- in one piece ---- */

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
    for (size_t i = 0; i < selection->count; i++) {
        const pe_tensor *tensor = pe_table_tensor(table, selection->first + i);
        append_tensor_head(&text, tensor, i == 0);
        append_elements(&text, tensor, 0, pe_table_data(table, selection->first + i),
                        tensor->elements);
        append_tensor_tail(&text, i + 1 == selection->count);
    }
    return api_body_take_text(&text, ret_bytes);
}

/* ---- as it is read ---- */

#define BLOCK_BYTES 32768 /* computed at a time: a millisecond even of the slowest scheme */
#define TEXT_ROOM   (PIECE * (PE_PRINT_MAX + ROW_EDGE) + 1024) /* the most of one piece */

typedef struct json_source {
    api_selection selection;
    pe_stream *streams[API_TENSORS_MAX];
    size_t tensor;    /* the one under way, counted from the selection's first */
    uint64_t element; /* its next one */
    api_text text;    /* the piece under way */
    size_t sent;      /* of the text */
    unsigned char elements[PIECE * sizeof(double)];
} json_source;

static void free_source(void *state)
{
    json_source *source = state;
    for (size_t i = 0; i < API_TENSORS_MAX; i++)
        pe_stream_free(source->streams[i]);
    api_text_done(&source->text);
    free(source);
}

/* Print the next piece; there is none after the last tensor. */
static void print_piece(json_source *source)
{
    api_text *text = &source->text;
    text->size = source->sent = 0;
    if (source->tensor == source->selection.count)
        return;
    const pe_tensor *tensor =
        pe_request_tensor(source->selection.request, source->selection.first + source->tensor);
    size_t size = pe_dtype_size(tensor->dtype);
    uint64_t rest = tensor->elements - source->element, count = rest < PIECE ? rest : PIECE;
    if (source->element == 0)
        append_tensor_head(text, tensor, source->tensor == 0);
    pe_stream_read(source->streams[source->tensor], source->element * size, source->elements,
                   (size_t)count * size);
    append_elements(text, tensor, source->element, source->elements, count);
    source->element += count;
    if (count == rest) {
        source->tensor++;
        source->element = 0;
        append_tensor_tail(text, source->tensor == source->selection.count);
    }
    assert(!text->failed); /* it had room from the start */
}

/* At most one piece is printed for each call. */
static size_t read_source(void *state, uint64_t offset, char *dst, size_t room)
{
    (void)offset;
    json_source *source = state;
    size_t done = 0;
    bool printed = false;
    while (done < room) {
        size_t there = source->text.size - source->sent;
        if (there == 0) {
            if (printed)
                break;
            print_piece(source);
            printed = true;
            if (source->text.size == 0)
                break;
            continue;
        }
        size_t part = there < room - done ? there : room - done;
        memcpy(dst + done, source->text.data + source->sent, part);
        source->sent += part;
        done += part;
    }
    return done;
}

static api_body *stream(const api_selection *selection)
{
    size_t order[API_TENSORS_MAX];
    json_source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->selection = *selection;
    for (size_t i = 0; i < selection->count; i++)
        order[i] = selection->first + i;
    append_head(&source->text, selection->request);
    if (!api_text_room(&source->text, TEXT_ROOM) ||
        !api_open_streams(selection, order, BLOCK_BYTES, source->streams)) {
        free_source(source);
        return NULL;
    }
    return api_body_from_source(
        &(api_source){source, API_LENGTH_UNKNOWN, read_source, free_source});
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
    .stream = stream,
};
