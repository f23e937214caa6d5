/* Random variables made from the integers of a draw. */
#include "numerics/rng.h"

#include "numerics/correct.h"
#include "numerics/hash.h"

#include <math.h>
#include <string.h>

pe_generator pe_generator_init(uint64_t seed, const char *tensor)
{
    return (pe_generator){.seed = seed, .tag = pe_hash_bytes(tensor, strlen(tensor))};
}

double pe_draw_normal(pe_draw draw)
{
    double radius = sqrt(-2 * pe_correct_log(2 * draw.u + 1));
    return radius * pe_correct_cos(draw.v);
}

/* The uniform variable in (-1, 1) times 2^53: an odd integer. */
static int64_t centre_draw(pe_draw draw)
{
    return (int64_t)(2 * draw.u + 1) - (1LL << 53);
}

double pe_draw_uniform(pe_draw draw)
{
    return (double)centre_draw(draw) * 0x1p-53;
}

double pe_draw_truncated_normal(pe_draw draw)
{
    return pe_correct_quantile(centre_draw(draw));
}
