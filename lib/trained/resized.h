/* A trained tensor whose rows are the cells of a grid, read on another grid. */
#ifndef PE_RESIZED_H
#define PE_RESIZED_H

#include "numerics/resample.h"
#include "trained/trained.h"

/* The weights of all target cells of one axis. */
typedef struct pe_resized_axis {
    pe_resample resample;
    size_t stride;    /* room for the weights of a cell */
    dd *weights;      /* [target, stride] */
    double *rounded;  /* the same in double */
    pe_taps *taps;    /* [target] */
    bool *exact;      /* [target]: what pe_taps_weights returned */
    double amplitude; /* the largest sum of a cell's |weights| */
} pe_resized_axis;

typedef struct pe_resized {
    pe_trained table;     /* [prefix + y.source · x.source, columns] */
    uint64_t prefix;      /* rows that are kept as they are, before those of the grid */
    pe_resized_axis y, x; /* rows of cells are counted by y */
    double *kept;         /* the rows of the source grid in double; NULL: too large */
    double magnitude;     /* of the source grid's largest element */
} pe_resized;

/* The bytes that a pe_resized takes, for pe_plan.held, and the price of preparing it. */
uint64_t pe_resized_bytes(const pe_resample *y, const pe_resample *x, uint64_t columns);
double pe_resized_price(const pe_values *values, const pe_recipe *recipe, const pe_resample *y,
                        const pe_resample *x, uint64_t columns);

/* The price of an element of pe_resized_fill. */
double pe_resized_element_price(const pe_values *values, const pe_recipe *recipe,
                                const pe_resample *y, const pe_resample *x, uint64_t columns);

/* Prepare to resize the request's tensor `name` [prefix + y->source · x->source, columns], and
 * check that no entry overflows the requested dtype. False if memory ran out or a problem was
 * added to the pace's error; then there is nothing to free. */
bool pe_resized_init(pe_resized *ret_resized, pe_pace *pace, const char *name, uint64_t columns,
                     const pe_recipe *recipe, uint64_t prefix, const pe_resample *y,
                     const pe_resample *x);
void pe_resized_done(pe_resized *resized);

/* Write rows [first, first + rows) out of prefix + y.target · x.target, the prefix first; each
 * element is rounded once. */
void pe_resized_fill(const pe_resized *resized, pe_dtype dtype, uint64_t first, uint64_t rows,
                     void *dst);

#endif
