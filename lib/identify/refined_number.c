/* Refining a number of a request: how the tensor changes with it tells how far it is off. */
#include "identify/refined_number.h"

#include "identify/query.h"
#include "identify/residual.h"
#include "numerics/decimal.h"
#include "recognise/observation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS        5  /* of least squares */
#define TRIED        16 /* lines, before a number is measured in MEASURED of them */
#define MEASURED     256
#define CHANGE       1e-7   /* relative: by which the slope is measured */
#define FAR          0.03   /* relative: more than a number may be moved by at once */
#define LIKELY       2.5    /* errors: how far off a number may be */
#define SETTLED      0.1    /* errors: a smaller step is the last one */
#define PREPARED_MAX 0x1p25 /* price, to measure a number */
#define APART        100    /* errors: between decimals that are not near by chance */

/* Measure by how much a number is off in some lines, relative, and what that may be off by. */
static bool measure_number(const pe_judge *judge, const pe_scheme *scheme,
                           const pe_proposal *proposal, const char *name, double number,
                           uint64_t lines, double *ret_off, double *ret_error)
{
    const double numbers[] = {number, number * (1 + CHANGE)};
    char query[PE_IDENTITY_QUERY_MAX], text[PE_PRINT_MAX];
    pe_request *requests[2] = {NULL, NULL};
    int tensor = -1;
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%.17g", numbers[i]);
        pe_change_query(proposal->query, name, text, query);
        requests[i] = pe_parse_query(scheme, query, "f64", judge->limits);
    }
    if (requests[0] && requests[1] && pe_request_preparation_price(requests[0]) <= PREPARED_MAX)
        tensor = pe_find_query_tensor(requests[0], proposal->tensor, &judge->seen->view);
    const bool good =
        tensor >= 0 &&
        pe_residual_measure_change(requests[0], requests[1], (size_t)tensor, &judge->seen->view,
                                   lines, &judge->runner->own, ret_off, ret_error);
    *ret_off *= CHANGE;
    *ret_error *= CHANGE;
    pe_request_unref(requests[0]);
    pe_request_unref(requests[1]);
    return good;
}

bool pe_refine_number(const pe_judge *judge, const pe_scheme *scheme,
                      const pe_proposal *proposal, const pe_parameter *row,
                      char dst[PE_IDENTITY_QUERY_MAX], bool *ret_told)
{
    char text[PE_PRINT_MAX];
    double off = INFINITY, error = 0;
    double number = strtod(pe_find_query_text(proposal->query, row->name, dst), NULL);
    for (size_t i = 0; i < STEPS && (i < 2 || fabs(off) > SETTLED * error); i++) {
        if (!measure_number(judge, scheme, proposal, row->name, number,
                            i == 0 ? TRIED : MEASURED, &off, &error) ||
            !(fabs(off) < FAR))
            return false;
        number *= 1 + off;
    }
    number = pe_find_decimal(number, LIKELY * error);
    pe_print_number(text, number);
    const double digit = pe_power_double(10, floor(log10(fabs(number))) + 1 -
                                                 (double)pe_count_significant(text));
    pe_change_query(proposal->query, row->name, text, dst);
    *ret_told = digit >= APART * error * fabs(number);
    return fabs(off) <= error;
}
