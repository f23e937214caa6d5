#include "foreign/tolerance.h"

#include "numerics/dtype.h"
#include "scheme.h"

#include <math.h>

#define MASKED_BELOW 50 /* e^-50 vanishes beside the smallest weight of a row */
#define PRODUCT_LOSS 12 /* roundings of an entry beside those of its angle */

double pe_dtype_ulp(pe_dtype dtype, double value)
{
    int exponent;
    if (dtype == PE_I32)
        return 1;
    frexp(value, &exponent);
    exponent--; /* so that |value| >= 2^exponent */
    if (value == 0 || exponent < pe_dtypes[dtype].least_exponent)
        exponent = pe_dtypes[dtype].least_exponent;
    return ldexp(pe_dtypes[dtype].unit, exponent);
}

bool pe_scheme_is_bounded(const pe_scheme *scheme)
{
    return scheme->errors != PE_ERRORS_OF_SUMS;
}

/* A frequency that underflows, as small ones do in float16, is off by up to the last place of
 * the least normal number, and positions are at most 2^digits, beyond which not all are
 * numbers.
 */
pe_entry_bound pe_bound_entries(pe_dtype arithmetic)
{
    const pe_dtype_facts *facts = &pe_dtypes[arithmetic];
    return (pe_entry_bound){.by_loss = facts->unit / 2,
                            .by_entry = PRODUCT_LOSS * facts->unit / 2,
                            .least = ldexp(pe_dtype_ulp(arithmetic, 0), facts->digits)};
}

bool pe_is_outside(const pe_tolerance *tolerance, pe_dtype dtype, double error, double ulps,
                   double found, double exact, double bound)
{
    if (!isfinite(error))
        return true;
    const bool bounded = tolerance->bounded && dtype != PE_I32; /* indices and distances */
    return error > tolerance->absolute + tolerance->relative * fabs(exact) &&
           ulps > tolerance->ulps &&
           !(bounded && error <= bound + pe_dtype_ulp(dtype, fmax(fabs(found), fabs(exact))));
}

uint64_t pe_mask_entries(double *found, const double *exact, size_t count, uint64_t columns)
{
    uint64_t masked = 0;
    for (size_t first = 0, end; first < count; first = end) {
        double least = INFINITY;
        end = count - first < columns ? count : first + (size_t)columns;
        for (size_t i = first; i < end; i++)
            if (isfinite(exact[i]))
                least = fmin(least, exact[i]);
        for (size_t i = first; i < end; i++)
            if (exact[i] == -INFINITY && found[i] <= fmin(least, 0) - MASKED_BELOW &&
                isfinite(found[i])) {
                found[i] = -INFINITY;
                masked++;
            }
    }
    return masked;
}
