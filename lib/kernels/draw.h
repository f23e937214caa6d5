/* Random draws, many at a time. */
#ifndef PE_DRAW_H
#define PE_DRAW_H

#include "numerics/rng.h"

#include <stddef.h>

#define PE_DRAWS 64 /* the most draws of one call, and the size of its arrays */

/* The integers u and v of many draws (see pe_draw), in two arrays. */
typedef struct pe_draws {
    uint64_t u[PE_DRAWS], v[PE_DRAWS];
} pe_draws;

/* The draws of elements [first, first + count), by Philox4x32-10: the key is the seed, the
 * counter the element's index and the tensor's tag. Entries past `count` may be written, too.
 */
typedef void pe_draw_many(const pe_generator *generator, uint64_t first, size_t count,
                          pe_draws *ret_draws);

/* Variables: what pe_draw_normal or pe_draw_truncated_normal gives for each draw, or NaN where
 * double-doubles do not decide it. Entries past `count` may be written, too. */
typedef void pe_draw_variables(const pe_draws *draws, size_t count,
                               double ret_variables[PE_DRAWS]);

/* How near variables in double are to those of pe_draw_normal and pe_draw_truncated_normal. */
#define PE_NEAR_NORMAL    0x1p-43
#define PE_NEAR_TRUNCATED 0x1p-46

#endif
