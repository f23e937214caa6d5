/* How much work applying an encoding is: limits of a row, and how results divide into blocks.
 */
#ifndef PE_APPLY_BLOCK_LIMITS_H
#define PE_APPLY_BLOCK_LIMITS_H

#include "apply/binding.h"
#include "apply/entries.h"

/* Limits of a row: elements of the input's or the result's last axis; multiply-adds where
 * entries are taken row by row, and where all of a row's entries are held at once. */
#define PE_ROW_ELEMENTS ((uint64_t)1 << 20)
#define PE_ROW_PRODUCTS ((uint64_t)1 << 26)
#define PE_ROW_HELD     ((uint64_t)1 << 22)

/* Check the limits; false: a problem was added to reterr. */
bool pe_check_block_limits(const pe_application *rule, const pe_binding *binding,
                           pe_error *reterr);

/* How results divide into blocks: whole rows, or results of one row; where rows alternate, some
 * columns of all that lie together. Each takes up to a tenth of a millisecond, and some tens of
 * them where every product takes an entry of twice the precision. Prices are in multiply-adds,
 * as pe_request_price. */
typedef struct pe_blocks {
    uint64_t block_rows, block_results;
    double result_price;
} pe_blocks;

/* `entries` is the tensor of the entries that products are taken of. */
pe_blocks pe_divide_blocks(const pe_application *rule, const pe_binding *binding,
                           const pe_tensor *entries, const pe_apply_options *options,
                           bool paired);

/* In which order an application asks for rows. */
pe_row_order pe_choose_row_order(const pe_application *rule, const pe_binding *binding,
                                 const pe_apply_options *options);

#endif
