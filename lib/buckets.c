#include "buckets.h"

#include <math.h>
#include <string.h>

#define LIMBS (PE_BUCKETS_MAX * 21 / 32 + 2)

/* A natural number, least significant limb first. */
typedef struct natural {
    uint32_t limbs[LIMBS];
    size_t count;
} natural;

static void multiply(natural *number, uint32_t by)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < number->count; i++) {
        carry += (uint64_t)number->limbs[i] * by;
        number->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        number->limbs[number->count++] = (uint32_t)carry;
}

static int compare(const natural *a, const natural *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (size_t i = a->count; i-- > 0;)
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

int pe_compare_powers(uint32_t a, uint32_t b, uint32_t c, unsigned p, unsigned t)
{
    natural left = {{1}, 1}, right = {{1}, 1};
    for (unsigned i = 0; i < p; i++) {
        multiply(&left, a);
        multiply(&right, i < t ? b : c);
    }
    return compare(&left, &right);
}

/* The least n in (low, high] with n^p >= b^t · c^(p-t), which holds for n = high and not for
 * low. The logarithm only says where to look first. */
static uint32_t least_power(uint32_t b, uint32_t c, unsigned p, unsigned t, uint32_t low,
                            uint32_t high)
{
    double guess = c * exp(log((double)b / c) * t / p);
    uint32_t probe = guess >= high ? high - 1 : guess <= low + 1 ? low + 1 : (uint32_t)guess;
    for (uint32_t reach = 1; high - low > 1; reach *= 2) {
        if (pe_compare_powers(probe, b, c, p, t) >= 0) {
            high = probe;
            probe = probe - low > reach ? probe - reach : low + (probe - low) / 2;
        } else {
            low = probe;
            probe = high - probe > reach ? probe + reach : probe + (high - probe) / 2;
        }
    }
    return high;
}

void pe_buckets_t5(uint32_t exact, uint32_t max, unsigned steps, uint32_t *ret_starts)
{
    ret_starts[0] = exact;
    for (unsigned t = 1; t < steps; t++)
        ret_starts[t] = least_power(max, exact, steps, t, exact, max);
}

void pe_buckets_deberta(uint32_t mid, uint32_t last, uint32_t *ret_ends)
{
    unsigned power = mid - 1;
    ret_ends[0] = mid;
    for (unsigned t = 1; t < mid; t++) {
        /* the least a above the bucket has a^power > last^t mid^(power-t) */
        uint32_t least = least_power(last, mid, power, t, mid, last);
        bool equal = pe_compare_powers(least, last, mid, power, t) == 0;
        ret_ends[t] = equal ? least : least - 1;
    }
}
