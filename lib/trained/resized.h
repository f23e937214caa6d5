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

/* Which tensor of a request is resized: [prefix + y.source · x.source + suffix, columns], a row
 * for each cell. */
typedef struct pe_resized_source {
    pe_weights weights;
    const char *name;
    uint64_t columns;
    const pe_distribution *distribution;
    pe_resample y, x;
    uint64_t prefix, suffix; /* rows before and behind those of the grid, which are kept */
} pe_resized_source;

typedef struct pe_resized {
    pe_resized_source source;

    /* set by pe_resized_init */
    pe_trained table;
    pe_resized_axis y, x; /* rows of cells are counted by y */
    void *kept; /* the rows of the source grid, in double, or as elements if each target cell
                 * is one of the source; NULL: too large */
    double magnitude; /* of the source grid's largest element */
} pe_resized;

/* The bytes that a pe_resized takes, for pe_plan.held, and the price of preparing it. */
uint64_t pe_resized_bytes(const pe_resized_source *source);
double pe_resized_price(const pe_resized_source *source);

/* The price of an element of pe_resized_fill. */
double pe_resized_element_price(const pe_resized_source *source);

/* Prepare to resize the tensor of resized->source, and check that no entry overflows the
 * requested dtype. False if memory ran out or a problem was added to the pace's error. */
bool pe_resized_init(pe_resized *resized, pe_pace *pace);

/* Write rows [first, first + rows) out of prefix + y.target · x.target, the prefix first; each
 * element is rounded once. */
void pe_resized_fill(const pe_resized *resized, uint64_t first, uint64_t rows, void *dst);

#endif
