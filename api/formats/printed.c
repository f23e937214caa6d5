/* Printing tensors. */
#include "formats/printed.h"

#include "bytes/body.h"
#include "bytes/memory_budget.h"
#include "formats/streams.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 4096 /* elements printed at a time */

/* The elements [first, end) of a tensor, which are printed. */
typedef struct span {
    uint64_t first, end;
} span;

static span find_span(const api_printer *printer, const api_selection *selection, size_t tensor)
{
    if (!printer->slice)
        return (span){0, pe_request_tensor(selection->request, tensor)->elements};
    api_slice slice = printer->slice(selection);
    return (span){slice.first, slice.first + slice.rows * slice.columns};
}

uint64_t api_printed_elements(const api_printer *printer, const api_selection *selection)
{
    uint64_t elements = 0;
    for (size_t i = 0; i < selection->count; i++) {
        span printed = find_span(printer, selection, selection->first + i);
        elements += printed.end - printed.first;
    }
    return elements;
}

/* Print the elements [first, first + count) of a tensor, which lie at `elements`, in runs of at
 * most a row and at most PIECE elements. */
static void append_elements(const api_printer *printer, api_text *text,
                            const pe_request *request, const pe_tensor *tensor, uint64_t first,
                            const void *elements, uint64_t count)
{
    uint64_t columns =
        printer->label && tensor->rank == 1 ? 1 : tensor->shape[tensor->rank - 1];
    const unsigned char *src = elements;
    while (count > 0) {
        uint64_t column = first % columns;
        uint64_t run = columns - column < count ? columns - column : count;
        if (run > PIECE)
            run = PIECE;
        char *start =
            api_text_room(text, (size_t)run * PE_PRINT_MAX + API_EDGE_MAX + API_LABEL_MAX);
        if (!start)
            return;
        char *end = start;
        if (printer->label && column == 0)
            end += printer->label(end, request, tensor, first);
        end = printer->before(end, tensor, first);
        end += printer->print(end, tensor, src, (size_t)run);
        end = printer->after(end, tensor, first + run);
        text->size += (size_t)(end - start);
        src += run * pe_dtype_size(tensor->dtype);
        first += run;
        count -= run;
    }
}

static void append_head(const api_printer *printer, api_text *text,
                        const api_selection *selection)
{
    if (printer->head)
        printer->head(text, selection);
}

static void append_tensor_head(const api_printer *printer, api_text *text,
                               const pe_tensor *tensor, bool first)
{
    if (printer->tensor_head)
        printer->tensor_head(text, tensor, first);
}

static void append_tensor_tail(const api_printer *printer, api_text *text, bool last)
{
    if (printer->tensor_tail)
        printer->tensor_tail(text, last);
}

/* ---- in one piece ---- */

#define SAMPLES     16
#define SAMPLE_SIZE 64 /* elements */

/* Estimate the length of the text of `elements` elements at `data`. Some are printed as
 * samples. The estimate is a little too large rather than too small, since a text that grows
 * needs fresh memory. */
static uint64_t expect_length(const pe_tensor *tensor, const unsigned char *data,
                              uint64_t elements)
{
    char text[SAMPLE_SIZE * PE_PRINT_MAX];
    uint64_t rows = elements / tensor->shape[tensor->rank - 1] + 1, sum = 0;
    uint64_t breaks = rows * (6 + 2 * tensor->rank);
    if (elements < SAMPLES * SAMPLE_SIZE)
        return elements * PE_PRINT_MAX + breaks;
    uint64_t step = (elements - SAMPLE_SIZE) / (SAMPLES - 1);
    for (uint64_t i = 0; i < SAMPLES; i++)
        sum += 1 + pe_print_row(text, tensor->dtype,
                                data + i * step * pe_dtype_size(tensor->dtype), SAMPLE_SIZE);
    return elements * sum / (SAMPLES * SAMPLE_SIZE) * 33 / 32 + breaks;
}

/* The address of a span's first element. */
static const unsigned char *find_data(pe_table *table, size_t tensor, span printed)
{
    return (const unsigned char *)pe_table_data(table, tensor) +
           printed.first * pe_dtype_size(pe_table_tensor(table, tensor)->dtype);
}

api_body *api_printed_body(const api_printer *printer, const api_selection *selection,
                           pe_table *table, size_t *ret_bytes)
{
    api_text text;
    uint64_t expected = 4096 + PIECE * PE_PRINT_MAX; /* the head, and room for the last piece */
    size_t end = selection->first + selection->count;
    for (size_t i = selection->first; i < end; i++) {
        span printed = find_span(printer, selection, i);
        expected += expect_length(pe_table_tensor(table, i), find_data(table, i, printed),
                                  printed.end - printed.first);
    }
    api_text_begin(&text, selection->runner ? selection->runner->pool : NULL, (size_t)expected);
    append_head(printer, &text, selection);
    for (size_t i = selection->first; i < end; i++) {
        const pe_tensor *tensor = pe_table_tensor(table, i);
        span printed = find_span(printer, selection, i);
        append_tensor_head(printer, &text, tensor, i == selection->first);
        append_elements(printer, &text, selection->request, tensor, printed.first,
                        find_data(table, i, printed), printed.end - printed.first);
        append_tensor_tail(printer, &text, i + 1 == end);
    }
    return api_body_take_text(&text, ret_bytes);
}

/* ---- as it is read ---- */

/* Bytes that a stream computes at a time: the slowest scheme takes a millisecond for them. */
#define BLOCK_BYTES 32768

/* The longest text of a piece, in which every element may be a row, with a tensor's head and
 * tail. */
static size_t text_room(const api_printer *printer)
{
    return PIECE * (PE_PRINT_MAX + API_EDGE_MAX + (printer->label ? API_LABEL_MAX : 0)) + 1024;
}

typedef struct printed_source {
    const api_printer *printer;
    api_selection selection;
    pe_stream *streams[PE_TENSORS_MAX];
    span spans[PE_TENSORS_MAX];
    size_t tensor;    /* the tensor that is printed now, counted from the selection's first */
    uint64_t element; /* the next element of it to print */
    api_text text;    /* the text of the head, and then of one piece after the other */
    size_t sent;      /* bytes of it that have been read */
    unsigned char elements[PIECE * sizeof(double)]; /* of one piece */
} printed_source;

static void free_source(void *state)
{
    printed_source *source = state;
    for (size_t i = 0; i < PE_TENSORS_MAX; i++)
        pe_stream_free(source->streams[i]);
    api_text_done(&source->text);
    free(source);
}

/* Print the next piece: at most PIECE elements of one tensor. After the last tensor the text is
 * left empty. */
static void print_piece(printed_source *source)
{
    const api_printer *printer = source->printer;
    api_text *text = &source->text;
    text->size = source->sent = 0;
    if (source->tensor == source->selection.count)
        return;
    const pe_tensor *tensor =
        pe_request_tensor(source->selection.request, source->selection.first + source->tensor);
    size_t size = pe_dtype_size(tensor->dtype);
    span printed = source->spans[source->tensor];
    uint64_t rest = printed.end - source->element, count = rest < PIECE ? rest : PIECE;
    if (source->element == printed.first)
        append_tensor_head(printer, text, tensor, source->tensor == 0);
    (void)pe_stream_read_fully(source->streams[source->tensor], source->element * size,
                               source->elements, (size_t)count * size);
    append_elements(printer, text, source->selection.request, tensor, source->element,
                    source->elements, count);
    source->element += count;
    if (count == rest) {
        source->tensor++;
        bool last = source->tensor == source->selection.count;
        if (!last)
            source->element = source->spans[source->tensor].first;
        append_tensor_tail(printer, text, last);
    }
    assert(!text->failed); /* text_room was made when the stream was opened */
}

/* Copy text to dst. At most one piece is printed for each call, so that no call takes long. */
static size_t read_source(void *state, uint64_t offset, char *dst, size_t room)
{
    (void)offset;
    printed_source *source = state;
    size_t done = 0;
    bool printed = false;
    while (done < room) {
        size_t rest = source->text.size - source->sent;
        if (rest == 0) {
            if (printed)
                break;
            print_piece(source);
            printed = true;
            if (source->text.size == 0)
                break;
            continue;
        }
        size_t part = rest < room - done ? rest : room - done;
        memcpy(dst + done, source->text.data + source->sent, part);
        source->sent += part;
        done += part;
    }
    return done;
}

/* Open a stream for each tensor, which computes no more than the span that is printed. */
static bool open_streams(printed_source *source, pe_error *reterr)
{
    const api_selection *selection = &source->selection;
    size_t order[PE_TENSORS_MAX];
    for (size_t i = 0; i < selection->count; i++)
        order[i] = selection->first + i;
    if (!api_open_streams(selection, order, BLOCK_BYTES, source->streams, reterr))
        return false;
    for (size_t i = 0; i < selection->count; i++) {
        const pe_tensor *tensor = pe_request_tensor(selection->request, order[i]);
        source->spans[i] = find_span(source->printer, selection, order[i]);
        pe_stream_end_at(source->streams[i],
                         source->spans[i].end * pe_dtype_size(tensor->dtype));
    }
    source->element = source->spans[0].first;
    return true;
}

api_body *api_printed_stream(const api_printer *printer, const api_selection *selection,
                             pe_error *reterr)
{
    if (!api_reserve_lasting(sizeof(printed_source) + 2 * text_room(printer), "the stream",
                             reterr))
        return NULL;
    printed_source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->printer = printer;
    source->selection = *selection;
    append_head(printer, &source->text, selection);
    if (!api_text_room(&source->text, text_room(printer)) || !open_streams(source, reterr)) {
        free_source(source);
        return NULL;
    }
    bool slow = false;
    for (size_t i = 0; i < selection->count; i++)
        slow =
            slow || api_is_slow_stream(selection, source->streams[i], sizeof source->elements);
    return api_body_from_source(&(api_source){.state = source,
                                              .size = API_LENGTH_UNKNOWN,
                                              .read = read_source,
                                              .free = free_source,
                                              .slow = slow});
}
