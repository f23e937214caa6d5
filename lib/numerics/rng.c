/* Philox, and random variables made from its words. */
#include "numerics/rng.h"

#include "numerics/correct.h"

#include <math.h>

void pe_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret_words[4])
{
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t first = (uint64_t)0xD2511F53 * x0, second = (uint64_t)0xCD9E8D57 * x2;
        x0 = (uint32_t)(second >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)second;
        x2 = (uint32_t)(first >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)first;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    ret_words[0] = x0;
    ret_words[1] = x1;
    ret_words[2] = x2;
    ret_words[3] = x3;
}

pe_generator pe_generator_of(uint64_t seed, const char *tensor)
{
    uint64_t tag = 0xcbf29ce484222325; /* FNV-1a */
    for (const char *at = tensor; *at; at++)
        tag = (tag ^ (unsigned char)*at) * 0x100000001b3;
    return (pe_generator){.seed = seed, .tag = tag};
}

pe_draw pe_draw_at(const pe_generator *generator, uint64_t element)
{
    const uint32_t counter[4] = {(uint32_t)element, (uint32_t)(element >> 32),
                                 (uint32_t)generator->tag, (uint32_t)(generator->tag >> 32)};
    const uint32_t key[2] = {(uint32_t)generator->seed, (uint32_t)(generator->seed >> 32)};
    uint32_t words[4];
    pe_philox(counter, key, words);
    return (pe_draw){.u = ((uint64_t)words[1] << 32 | words[0]) >> 11,
                     .v = ((uint64_t)words[3] << 32 | words[2]) >> 11};
}

double pe_draw_normal(pe_draw draw)
{
    double radius = sqrt(-2 * pe_correct_log(2 * draw.u + 1));
    return radius * pe_correct_cos(draw.v);
}

/* The uniform variable in (-1, 1) times 2^53: an odd integer. */
static int64_t centred(pe_draw draw)
{
    return (int64_t)(2 * draw.u + 1) - (1LL << 53);
}

double pe_draw_uniform(pe_draw draw)
{
    return (double)centred(draw) * 0x1p-53;
}

double pe_draw_truncated_normal(pe_draw draw)
{
    return pe_correct_quantile(centred(draw));
}
