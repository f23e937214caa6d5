/* Waves of projected points: sine and cosine of 2π times the product of a point's coordinates
 * and a trained matrix. */
#ifndef PE_PROJECTION_H
#define PE_PROJECTION_H

#include "numerics/wide.h"
#include "positions/points.h"

#define PE_PROJECTION_MIN 0x1p-100 /* the least and the largest magnitude of an element, */
#define PE_PROJECTION_MAX 0x1p30   /* unless it is 0 */

typedef struct pe_projection {
    pe_points points;
    bool from_unit; /* coordinates of points that are not of a grid count from 0 to 1: x stands
                     * for 2x - 1 */
    size_t count;   /* columns of the matrix */
    double *matrix; /* [axes, count]; row a is multiplied by coordinate a */
    pe_wide *turns; /* [axes, count]: turns for a whole number of a grid's axis, see
                     * pe_point_scale; NULL unless the points are those of a grid */
    pe_dtype dtype;
} pe_projection;

/* Set `turns` from the other members. False if memory ran out. */
bool pe_projection_prepare(pe_projection *projection, pe_pace *pace);

/* Write rows of points [first, first + rows): `count` sines, then as many cosines. */
void pe_projection_write(const pe_projection *projection, uint64_t first, uint64_t rows,
                         void *dst);

#endif
