/* Solving p'(t) = h(t, p) from row to row with Runge-Kutta methods: Dormand and Prince's pair
 * of orders 5 and 4, whose steps keep the error estimate within a tolerance, or the classic
 * method of order 4.
 *
 * A step of dopri5 may pass several rows: their states come from its continuous extension. A
 * step ends where a relu unit begins or ends to be active, since an error estimate says little
 * about a kink inside the step.
 *
 * Every sum has a fixed order and no step depends on how many rows are asked for, so the bits
 * of a state depend only on the network, dt and the method. */
#ifndef PE_RUNGE_KUTTA_H
#define PE_RUNGE_KUTTA_H

#include "ode/network.h"

typedef enum pe_method { PE_DOPRI5, PE_RK4 } pe_method;

#define PE_FLOW_KINKS 4 /* how many of the next ones are remembered */

typedef struct pe_flow {
    const pe_network *network;
    pe_method method;
    double dt, rtol, atol; /* dopri5: the error of a step, as a root mean square of its entries'
                            * error / (atol + rtol·|p|), is at most 1 */
    unsigned substeps;     /* rk4: steps from row to row */
    double step_price;
    size_t dim, hidden;
    uint64_t row;                     /* the state belongs to t = row·dt */
    uint64_t steps;                   /* steps so far, including rejected ones */
    double *state;                    /* dim elements, in one allocation with what follows */
    double *begin, *next, *slopes[7]; /* dim elements each: the states at a step's ends */
    double *units[3]; /* hidden elements each: what goes into the units at the begin of a step,
                       * at its second stage and at the last one so far */
    double time, end; /* dopri5: when the last step begins and ends */
    double step;      /* dopri5: the step to try next */
    double free_step; /* dopri5: the one to try behind the kinks; 0 if none are known */
    double kinks[PE_FLOW_KINKS]; /* dopri5: known times of kinks, ascending */
    size_t kink, kink_count;     /* `kink` is the next one */
    bool has_slope;              /* dopri5: the last slope and unit are those of `next` */
} pe_flow;

/* Begin at row 0. The caller sets the members up to `hidden` before, and writes the state
 * afterwards. False if memory ran out. */
bool pe_flow_init(pe_flow *flow, pe_pace *pace);

#define PE_FLOW_ROW_STEPS 16384     /* the most steps from row to row */
#define PE_FLOW_STEPS     (1 << 24) /* the most steps in all */
#define PE_FLOW_LARGEST   1e100
#define PE_FLOW_ROWS      8 /* the most rows that a step of dopri5 is long */

typedef enum pe_flow_end {
    PE_FLOW_REACHED,   /* the state is that of the next row */
    PE_FLOW_OVERFLOW,  /* an entry is not finite or above PE_FLOW_LARGEST */
    PE_FLOW_TOO_FINE,  /* the tolerance takes too many steps */
    PE_FLOW_CANCELLED, /* by the runner, which is asked before a step */
} pe_flow_end;

/* Solve up to the next row. */
pe_flow_end pe_flow_advance(pe_flow *flow, pe_pace *pace);

#endif
