/* Tests of copying runs into small and large windows. */
#include "kernels/copier.h"

#include "kernels/kernel.h"
#include "unit.h"

#include <string.h>

#define BYTES 20000

static unsigned char source[BYTES];

static void fill_source(void)
{
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)unit_random(&state);
}

/* Copy the source in runs of random sizes up to `most` to an address that is `shift` bytes past
 * a line's begin, and compare. `window`: how many bytes the copier is told. */
static void check_copy(size_t most, size_t shift, uint64_t window)
{
    static unsigned char room[BYTES + 256];
    unsigned char *dst = room + (64 - (uintptr_t)room % 64) + shift;
    uint64_t state = most;
    pe_copier copier;
    memset(room, 0, sizeof room);
    pe_copier_init(&copier, dst, window);
    for (size_t done = 0, part; done < BYTES; done += part) {
        part = unit_random(&state) % (most + 1);
        part = part < BYTES - done ? part : BYTES - done;
        pe_copier_add(&copier, source + done, part);
    }
    pe_copier_done(&copier);
    ck_assert_int_eq(memcmp(dst, source, BYTES), 0);
    ck_assert(dst[BYTES] == 0 && dst[-1] == 0);
}

START_TEST(runs_of_any_size_are_copied_one_after_the_other)
{
    static const size_t MOST[] = {1, 7, 64, 500, PE_COPIER_STAGE, 5000, BYTES};
    fill_source();
    for (size_t i = 0; i < UNIT_COUNT(MOST); i++)
        for (size_t shift = 0; shift < 64; shift += 9) {
            check_copy(MOST[i], shift, BYTES);
            check_copy(MOST[i], shift, PE_NONTEMPORAL_MIN);
        }
}
END_TEST

Suite *copier_suite(void)
{
    const TTest *const tests[] = {runs_of_any_size_are_copied_one_after_the_other, NULL};
    return unit_suite("copier", tests);
}
