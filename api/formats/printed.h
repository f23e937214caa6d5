/* Text formats: tensors as printed numbers with the punctuation of the format. The text is
 * written in one piece, or as a stream is read. */
#ifndef API_PRINTED_H
#define API_PRINTED_H

#include "bytes/text.h"
#include "formats/slice.h"

/* The most bytes that `before` and `after` together write around a run of elements. */
#define API_EDGE_MAX (8 + 2 * PE_RANK_MAX)

#define API_LABEL_MAX (PE_PRINT_MAX + 1)

/* The parts of a text format. Elements are printed in runs; a run never extends beyond a row,
 * which is the elements that differ only in the index of the last axis. */
typedef struct api_printer {
    /* Append what begins the text, begins a tensor and ends a tensor. NULL: nothing. */
    void (*head)(api_text *text, const api_selection *selection);
    void (*tensor_head)(api_text *text, const pe_tensor *tensor, bool first);
    void (*tensor_tail)(api_text *text, bool last);

    /* Write the punctuation of a run to dst, and return the end of that: `before` for a run
     * that begins with element `first`, `after` for one that ends before element `end`. */
    char *(*before)(char *dst, const pe_tensor *tensor, uint64_t first);
    char *(*after)(char *dst, const pe_tensor *tensor, uint64_t end);

    /* Write the label of a line, which the row of element `first` begins, with what separates
     * it from the elements; at most API_LABEL_MAX bytes. Each element of a vector is a line
     * then. NULL: lines have none. */
    size_t (*label)(char *dst, const pe_request *request, const pe_tensor *tensor,
                    uint64_t first);

    /* Print the elements of a run, with separators between them; see pe_print_row. */
    size_t (*print)(char *dst, const pe_tensor *tensor, const void *elements, size_t count);

    /* Which elements of the only tensor to print; NULL: all elements of all tensors. */
    api_slice (*slice)(const api_selection *selection);
} api_printer;

/* The number of elements that will be printed. */
uint64_t api_printed_elements(const api_printer *printer, const api_selection *selection);

/* The hooks `write` and `stream` of a text format. */
api_body *api_printed_body(const api_printer *printer, const api_selection *selection,
                           pe_table *table, size_t *ret_bytes);
api_body *api_printed_stream(const api_printer *printer, const api_selection *selection,
                             pe_error *reterr);

#endif
