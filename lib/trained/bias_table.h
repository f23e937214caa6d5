/* Trained tables of biases, which have one number for each row and head. */
#ifndef PE_BIAS_TABLE_H
#define PE_BIAS_TABLE_H

#include "numerics/dd.h"
#include "trained/trained.h"

/* Read or draw the tensor `table` [rows, heads], multiply it by `factor` and round it to the
 * requested dtype once. NULL if memory ran out or a problem was added to the pace's error. */
unsigned char *pe_bias_table(const pe_weights *weights, size_t rows, size_t heads, dd factor,
                             pe_pace *pace);

/* The price of that, and the bytes, for pe_plan.held. */
double pe_bias_table_price(const pe_weights *weights, uint64_t rows, uint64_t heads);
uint64_t pe_bias_table_bytes(const pe_weights *weights, uint64_t rows, uint64_t heads);

#endif
