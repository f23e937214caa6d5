/* Solving p'(t) = h(t, p) from row to row with Runge-Kutta methods: Dormand and Prince's pair
 * of orders 5 and 4, whose steps keep the error estimate within a tolerance, or the classic
 * method of order 4.
 *
 * Every sum has a fixed order and a step ends at every row, so the bits of a state depend only
 * on the network, dt and the method. */
#ifndef PE_FLOW_H
#define PE_FLOW_H

#include "trained/network.h"

typedef enum pe_method { PE_DOPRI5, PE_RK4 } pe_method;

typedef struct pe_flow {
    const pe_network *network;
    pe_method method;
    double dt, rtol, atol; /* dopri5: the error of a step, as a root mean square of its entries'
                            * error / (atol + rtol·|p|), is at most 1 */
    unsigned substeps;     /* rk4: steps from row to row */
    size_t dim;
    uint64_t row;   /* the state belongs to t = row·dt */
    uint64_t steps; /* steps so far, including rejected ones */
    double *state;  /* dim elements, in one allocation with `next` and `slopes` */
    double *next, *slopes[7];
    double step;    /* dopri5: the step to try next */
    bool has_slope; /* dopri5: slopes[0] is the derivative of the state */
} pe_flow;

/* Begin at row 0. The caller sets the members up to `dim` before, and writes the state
 * afterwards. False if memory ran out. */
bool pe_flow_init(pe_flow *flow);
void pe_flow_done(pe_flow *flow);

#define PE_FLOW_ROW_STEPS 16384     /* the most steps from row to row */
#define PE_FLOW_STEPS     (1 << 24) /* the most steps in all */
#define PE_FLOW_LARGEST   1e100

typedef enum pe_flow_end {
    PE_FLOW_REACHED,   /* the state is that of the next row */
    PE_FLOW_OVERFLOW,  /* an entry is not finite or above PE_FLOW_LARGEST */
    PE_FLOW_TOO_FINE,  /* the tolerance takes too many steps */
    PE_FLOW_CANCELLED, /* by `watch` */
} pe_flow_end;

/* Called before every step. Returning false cancels. */
typedef bool pe_flow_watch(void *context, const pe_flow *flow);

/* Solve up to the next row. */
pe_flow_end pe_flow_advance(pe_flow *flow, pe_flow_watch *watch, void *context);

#endif
