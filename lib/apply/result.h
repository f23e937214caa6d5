/* The result of an application on its way. */
#ifndef PE_APPLY_RESULT_H
#define PE_APPLY_RESULT_H

#include "apply/binding.h"
#include "apply/block_limits.h"
#include "apply/indexed_table.h"
#include "apply/rotated_columns.h"
#include "apply/row_major_source.h"
#include "apply/rows.h"

struct pe_apply {
    const pe_application *application;
    pe_request *exact, *doubles; /* the entries; doubles only for results shorter than f64 whose
                                  * rows have no factors */
    pe_view given;               /* the input, and what was asked */
    pe_apply_options options;
    pe_source input;
    pe_view shape, compared; /* of the result: as it is answered, and with each axis named */
    pe_dtype dtype;          /* of the input */
    pe_binding binding;
    uint32_t *offsets; /* of position_ids, or NULL */
    int32_t *axis;     /* of positions, by pair, or NULL */
    pe_turned turned;
    pe_row_rule rule;
    pe_row_room room;
    size_t tensors[2]; /* of the entries, and in which order their rows are asked for */
    pe_row_order order;
    pe_entries entries[2];
    pe_indexed indexed;     /* of PE_APPLY_GATHER, whose table is entries[0] */
    bool by_row, scales;    /* factors of queries: one for each row of the entries; any */
    pe_entries temperature; /* of each row, if by_row */
    dd factor;              /* of all */
    unsigned char *found;   /* elements of a block, of the input */
    double *numbers;        /* the same */
    double *alternating;    /* results of a block of rows that alternate, and one such row */
    unsigned char *block;   /* results [first, first + filled) of all */
    uint64_t first, filled;
    pe_blocks blocks;
};

/* Set the factor of a row, given that of its entries. */
void pe_apply_set_factor(pe_apply *apply, uint64_t entries, pe_row_role role);

#endif
