/* Text forms of tensors: numbers in rows, with what a format puts around them; in one piece, or
 * made as it is read. */
#ifndef API_PRINTED_H
#define API_PRINTED_H

#include "slice.h"
#include "text.h"

/* The most that `before` and `after` write around a run of elements. */
#define API_EDGE_MAX (8 + 2 * PE_RANK_MAX)

/* What is NULL writes nothing. Elements come in runs that end with the last axis's rows or
 * before. */
typedef struct api_printer {
    void (*head)(api_text *text, const api_selection *selection);
    void (*tensor_head)(api_text *text, const pe_tensor *tensor, bool first);
    void (*tensor_tail)(api_text *text, bool last);

    /* What stands before element `first`, where a run begins, and behind the one before `end`,
     * where it ends; at dst, returning the end. */
    char *(*before)(char *dst, const pe_tensor *tensor, uint64_t first);
    char *(*after)(char *dst, const pe_tensor *tensor, uint64_t end);

    /* A run, as pe_print_row. */
    size_t (*print)(char *dst, const pe_tensor *tensor, const void *elements, size_t count);

    /* Of which elements of the only tensor; NULL: all, of all tensors. */
    api_slice (*slice)(const api_selection *selection);
} api_printer;

/* The elements that will be printed. */
uint64_t api_printed_elements(const api_printer *printer, const api_selection *selection);

/* The hooks of a format: its `write` and its `stream`. */
api_body *api_printed_body(const api_printer *printer, const api_selection *selection,
                           pe_table *table, size_t *ret_bytes);
api_body *api_printed_stream(const api_printer *printer, const api_selection *selection);

#endif
