/* What a request for a table of a grid asks for, and the rules between its parameters, which
 * are those of axial_rope. */
#ifndef PE_AXIAL_REQUEST_H
#define PE_AXIAL_REQUEST_H

#include "waves/axes.h"

/* The choices of the parameters, in their order. */
typedef enum pe_axial_split {
    PE_SPLIT_EQUAL,
    PE_SPLIT_ROUNDED_DOWN,
    PE_SPLIT_REST_TO_FIRST,
    PE_SPLIT_EIGHTH_FIRST,
} pe_axial_split;
enum { PE_LADDER_BY_AXIS, PE_LADDER_SPLIT };
enum { PE_PAIRS_IN_BLOCKS, PE_PAIRS_ALTERNATING };
enum { PE_ROWS_ROW_MAJOR, PE_ROWS_MERGE_BLOCKS, PE_ROWS_ZIPPED };
enum { PE_LAYOUT_HALF, PE_LAYOUT_INTERLEAVED, PE_LAYOUT_HALF_BY_AXIS };
enum { PE_TABLE_HALF_WIDTH, PE_TABLE_FULL };

#define PE_AXIAL_ROWS_MAX ((uint64_t)1 << 53)

typedef struct pe_axial_request {
    size_t axes, pairs;
    uint64_t sizes[PE_AXES_MAX];
    uint64_t widths[PE_AXES_MAX], turned; /* columns; all of them together */
    double first[PE_AXES_MAX]; /* coordinates of the first cells, if they are counted */
    uint64_t cells, rows; /* of one grid; of the table. At most PE_AXIAL_PE_AXIAL_ROWS_MAX */
} pe_axial_request;

/* Read sizes, widths and rows. The result is valid only if the rules hold. */
pe_axial_request pe_axial_request_read(const pe_values *values);

/* Set the widths of a split from the pairs and the number of axes. */
void pe_axial_request_split(pe_axial_request *request, pe_axial_split split);

/* Check the rules between the parameters. */
void pe_axial_request_check(const pe_values *values, const pe_axial_request *request,
                            pe_error *reterr);

#endif
