/* Solving p'(t) = h(t, p) from row to row: Dormand and Prince's pair of orders 5 and 4 with
 * steps that keep its error estimate within a tolerance, or the classic rule of order 4.
 *
 * Every sum has a fixed order, and steps end at every row, so a state's bits depend on nothing
 * but the network, dt and the method. */
#ifndef PE_FLOW_H
#define PE_FLOW_H

#include "network.h"

typedef enum pe_method { PE_DOPRI5, PE_RK4 } pe_method;

typedef struct pe_flow {
    const pe_network *network;
    pe_method method;
    double dt, rtol, atol; /* a step's error may be atol + rtol·|p|, root mean square */
    unsigned substeps;     /* of rk4, from row to row */
    size_t dim;
    uint64_t row;   /* the state belongs to t = row·dt */
    uint64_t steps; /* made in all, refused ones included */
    double *state;  /* dim elements; then the memory of the rest */
    double *next, *slopes[7];
    double step;    /* that dopri5 would try next */
    bool has_slope; /* slopes[0] is that of the state */
} pe_flow;

/* Begin at row 0 with the state still to be written. False: memory ran out. The other fields up
 * to `dim` are the caller's to set before. */
bool pe_flow_init(pe_flow *flow);
void pe_flow_done(pe_flow *flow);

#define PE_FLOW_ROW_STEPS 16384     /* the most steps from row to row */
#define PE_FLOW_STEPS     (1 << 24) /* and in all */
#define PE_FLOW_LARGEST   1e100

typedef enum pe_flow_end {
    PE_FLOW_THERE,
    PE_FLOW_BEYOND,   /* an entry is not finite or passes PE_FLOW_LARGEST */
    PE_FLOW_TOO_FINE, /* too many steps */
    PE_FLOW_ENDED,    /* by `watch` */
} pe_flow_end;

/* Asked before every step; false ends the way. */
typedef bool pe_flow_watch(void *context, const pe_flow *flow);

/* Go on to the next row. */
pe_flow_end pe_flow_advance(pe_flow *flow, pe_flow_watch *watch, void *context);

#endif
