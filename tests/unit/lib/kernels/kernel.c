/* Tests of the kernels of every instruction set that this processor can run: all give the same
 * bits. */
#include "kernels/kernel.h"

#include "numerics/phase.h"
#include "unit.h"

#include <math.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state ^ *state >> 29;
}

START_TEST(seeds_are_within_62_hundredths_of_the_last_place)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 1, phases[PE_KERNEL_PAIRS];
    double sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS], worst = 0;
    for (int repeat = 0; repeat < 400; repeat++) {
        for (size_t i = 0; i < PE_KERNEL_PAIRS; i++)
            phases[i] = next_random(&state);
        phases[0] = (uint64_t)repeat << 58; /* the table's own angles */
        for (size_t k = 0; k < count; k++) {
            kernels[k]->anchor(phases, PE_KERNEL_PAIRS, sines, cosines);
            for (size_t i = 0; i < PE_KERNEL_PAIRS; i++) {
                dd sine, cosine;
                pe_phase_sincos((pe_wide){{0, 0, 0, phases[i]}}, &sine, &cosine);
                worst = fmax(worst, fabs(sines[i] - sine.hi - sine.lo));
                worst = fmax(worst, fabs(cosines[i] - cosine.hi - cosine.lo));
            }
        }
    }
    ck_assert_msg(worst <= 0.62 * 0x1p-53, "%g", worst * 0x1p53);
}
END_TEST

START_TEST(quarter_turns_are_exact)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    static const uint64_t phases[4] = {0, 1ULL << 62, 2ULL << 62, 3ULL << 62};
    static const double expected[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    for (size_t k = 0; k < count; k++) {
        double sines[4], cosines[4];
        kernels[k]->anchor(phases, 4, sines, cosines);
        for (size_t i = 0; i < 4; i++)
            ck_assert(sines[i] == expected[i][0] && cosines[i] == expected[i][1]);
    }
}
END_TEST

START_TEST(advancing_carries_between_the_halves)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    for (size_t k = 0; k < count; k++) {
        uint64_t high[3] = {1, ~0ULL, 5}, low[3] = {~0ULL, ~0ULL, 7};
        const uint64_t step_high[3] = {2, 0, 6}, step_low[3] = {1, 1, 8};
        kernels[k]->advance(high, low, step_high, step_low, 3);
        ck_assert(high[0] == 4 && low[0] == 0);
        ck_assert(high[1] == 0 && low[1] == 0);
        ck_assert(high[2] == 11 && low[2] == 15);
    }
}
END_TEST

START_TEST(copies_past_the_caches_copy)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    static unsigned char from[400], to[400];
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 7 + 1);
    for (size_t k = 0; k < count; k++)
        for (size_t start = 0; start < 70; start++)
            for (size_t size = 0; size < 300; size += 23) {
                memset(to, 0, sizeof to);
                kernels[k]->stream(to + start, from + 3, size);
                kernels[k]->fence();
                ck_assert_int_eq(memcmp(to + start, from + 3, size), 0);
                ck_assert(to[start + size] == 0 && (start == 0 || to[start - 1] == 0));
            }
}
END_TEST

/* ---- rotations ---- */

#define PAIRS PE_KERNEL_PAIRS
#define ROWS  3

static const pe_dtype ROUNDED[] = {PE_F32, PE_F16, PE_BF16};

/* Angles a and b, and where rows are stored, with room before and after each. */
typedef struct rotations {
    double a[2][PAIRS], b[ROWS][2][PAIRS];
    alignas(64) unsigned char stored[2][ROWS][2 * PAIRS * sizeof(double) + 128];
} rotations;

static void draw(rotations *ret)
{
    uint64_t state = 5;
    for (size_t r = 0; r <= ROWS; r++)
        for (size_t i = 0; i < PAIRS; i++) {
            double angle = (double)(next_random(&state) >> 40) * 0x1p-20;
            double(*to)[PAIRS] = r < ROWS ? ret->b[r] : ret->a;
            to[0][i] = sin(angle);
            to[1][i] = cos(angle);
        }
}

/* Entry i of a row, the sine or the cosine, before it is rounded. */
static double entry(const rotations *given, size_t r, bool behind, bool cosine, size_t i)
{
    double sign = behind ? -1 : 1, sin_a = given->a[0][i], cos_a = given->a[1][i];
    double sin_b = sign * given->b[r][0][i], cos_b = given->b[r][1][i];
    return cosine ? cos_a * cos_b - sin_a * sin_b : sin_a * cos_b + cos_a * sin_b;
}

typedef enum arrangement { BY_TURNS, APART, SINES, ARRANGEMENTS } arrangement;

/* The rows of one side: each `start` bytes into its place. */
static pe_rows place(rotations *given, bool behind, size_t count, pe_dtype dtype,
                     arrangement arranged, size_t start)
{
    unsigned char *first = given->stored[behind][0] + start;
    size_t bytes = count * pe_dtype_size(dtype);
    return (pe_rows){first, arranged == APART ? first + bytes : NULL,
                     sizeof given->stored[0][0], arranged == SINES};
}

static pe_unsettled rotate(const pe_kernel *kernel, rotations *given, size_t count,
                           pe_dtype dtype, const pe_rows sides[2], bool nontemporal)
{
    pe_sincos b[ROWS];
    for (size_t r = 0; r < ROWS; r++)
        b[r] = (pe_sincos){given->b[r][0], given->b[r][1]};
    memset(given->stored, 0xa5, sizeof given->stored);
    pe_unsettled unsettled =
        kernel->rotate[dtype]((pe_sincos){given->a[0], given->a[1]}, b, ROWS, count, &sides[0],
                              &sides[1], (pe_rounding){0, nontemporal});
    kernel->fence();
    return unsettled;
}

/* Check the rows of one side that are not doubtful; returns how many they are. */
static size_t check_rows(const rotations *given, bool behind, uint64_t unsettled, size_t count,
                         pe_dtype dtype, arrangement arranged, size_t start)
{
    size_t size = pe_dtype_size(dtype), checked = 0, functions = arranged == SINES ? 1 : 2;
    for (size_t r = 0; r < ROWS; r++) {
        const unsigned char *row = given->stored[behind][r] + start;
        unit_assert(start == 0 || row[-1] == 0xa5);
        unit_assert(row[functions * count * size] == 0xa5);
        if (unsettled >> r & 1)
            continue;
        for (size_t f = 0; f < functions; f++)
            for (size_t i = 0; i < count; i++) {
                size_t at = arranged == BY_TURNS ? 2 * i + f : f * count + i;
                double expected = unit_nearest(dtype, entry(given, r, behind, f, i));
                unit_assert(unit_element(dtype, row + at * size) == expected);
            }
        checked++;
    }
    return checked;
}

START_TEST(rotations_are_rounded_in_every_arrangement)
{
    static rotations given;
    const pe_kernel *kernels[8];
    size_t kernel_count = pe_kernel_list(kernels), checked = 0, all = 0;
    draw(&given);
    for (size_t count = 1; count <= PAIRS; count++)
        for (size_t which = 0; which < kernel_count * 3 * ARRANGEMENTS * 4; which++) {
            const pe_kernel *kernel = kernels[which / (12 * ARRANGEMENTS)];
            pe_dtype dtype = ROUNDED[which / (4 * ARRANGEMENTS) % 3];
            arrangement arranged = (arrangement)(which / 4 % ARRANGEMENTS);
            bool nontemporal = which % 2;
            size_t start = which / 2 % 2 ? 12 : 0;
            pe_rows sides[2];
            for (size_t s = 0; s < 2; s++)
                sides[s] = place(&given, s, count, dtype, arranged, start);
            pe_unsettled unsettled = rotate(kernel, &given, count, dtype, sides, nontemporal);
            checked +=
                check_rows(&given, false, unsettled.ahead, count, dtype, arranged, start);
            checked +=
                check_rows(&given, true, unsettled.behind, count, dtype, arranged, start);
            all += 2 * ROWS;
        }
    ck_assert(checked > all * 9 / 10);
}
END_TEST

/* A value half-way between two neighbours of the dtype. */
static double boundary_of(pe_dtype dtype)
{
    return dtype == PE_F32 ? 0.5 + 0x1p-25 : dtype == PE_F16 ? 0.5 + 0x1p-12 : 0.5 + 0x1p-9;
}

START_TEST(an_entry_on_a_boundary_is_reported_wherever_it_is)
{
    static rotations given;
    const pe_kernel *kernels[8];
    static const size_t COUNTS[] = {PAIRS, 50, 7, 1};
    size_t kernel_count = pe_kernel_list(kernels);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < PAIRS; i++) {
            given.b[r][1][i] = r == 1 ? 1 : 0.8; /* row 1 stays where a is */
            given.b[r][0][i] = r == 1 ? 0 : 0.6;
            given.a[0][i] = 0.28;
            given.a[1][i] = 0.96;
        }
    for (size_t which = 0; which < kernel_count * 3 * ARRANGEMENTS * 4; which++) {
        const pe_kernel *kernel = kernels[which / (12 * ARRANGEMENTS)];
        pe_dtype dtype = ROUNDED[which / (4 * ARRANGEMENTS) % 3];
        arrangement arranged = (arrangement)(which / 4 % ARRANGEMENTS);
        size_t count = COUNTS[which % 4];
        pe_rows sides[2] = {place(&given, false, count, dtype, arranged, 0),
                            place(&given, true, count, dtype, arranged, 0)};
        pe_unsettled none = rotate(kernel, &given, count, dtype, sides, true);
        ck_assert(none.ahead == 0 && none.behind == 0);
        for (size_t f = 0; f < (arranged == SINES ? 1 : 2); f++)
            for (size_t i = 0; i < count; i++) {
                double before = given.a[f][i];
                given.a[f][i] = boundary_of(dtype);
                pe_unsettled unsettled = rotate(kernel, &given, count, dtype, sides, i % 2);
                ck_assert(unsettled.ahead == 2 && unsettled.behind == 2);
                given.a[f][i] = before;
            }
    }
}
END_TEST

START_TEST(f16_entries_below_the_normal_ones_are_rounded_or_reported)
{
    static rotations given;
    const pe_kernel *kernels[8];
    size_t kernel_count = pe_kernel_list(kernels), certain = 0;
    uint64_t state = 9;
    for (size_t k = 0; k < kernel_count; k++)
        for (int repeat = 0; repeat < 300; repeat++) {
            draw(&given);
            double small = (double)(next_random(&state) >> 12) * 0x1p-52; /* below 1 */
            given.a[0][5] = ldexp(repeat % 2 ? -small : small, -13 - repeat % 20);
            given.a[1][5] = 1;
            given.b[1][0][5] = 0;
            given.b[1][1][5] = 1;
            pe_rows sides[2] = {place(&given, false, PAIRS, PE_F16, SINES, 0),
                                place(&given, true, PAIRS, PE_F16, SINES, 0)};
            pe_unsettled unsettled = rotate(kernels[k], &given, PAIRS, PE_F16, sides, false);
            check_rows(&given, false, unsettled.ahead, PAIRS, PE_F16, SINES, 0);
            certain += !(unsettled.ahead & 2);
        }
    ck_assert(certain > kernel_count * 100);
}
END_TEST

START_TEST(sines_alone_in_f64_are_those_beside_cosines)
{
    static rotations given;
    static pe_anchors_f64 a, b[ROWS];
    const pe_kernel *kernels[8];
    size_t kernel_count = pe_kernel_list(kernels), size = PAIRS * sizeof(double);
    draw(&given);
    memcpy(a.sin, given.a[0], size);
    memcpy(a.cos, given.a[1], size);
    for (size_t r = 0; r < ROWS; r++) {
        memcpy(b[r].sin, given.b[r][0], size);
        memcpy(b[r].cos, given.b[r][1], size);
    }
    for (size_t k = 0; k < kernel_count; k++)
        for (size_t count = 1; count <= PAIRS; count += 9) {
            static unsigned char expected[sizeof given.stored];
            pe_unsettled unsettled[2];
            for (size_t alone = 0; alone < 2; alone++) {
                arrangement arranged = alone ? SINES : APART;
                const pe_rows ahead = place(&given, false, count, PE_F64, arranged, 0);
                const pe_rows behind = place(&given, true, count, PE_F64, arranged, 0);
                unsettled[alone] = kernels[k]->rotate_f64(&a, b, ROWS, count, &ahead, &behind,
                                                          0x1p-100, alone);
                kernels[k]->fence();
                if (!alone)
                    memcpy(expected, given.stored, sizeof expected);
            }
            ck_assert(unsettled[0].ahead == 0 && unsettled[1].ahead == 0 &&
                      unsettled[1].behind == 0);
            for (size_t at = 0; at < sizeof expected; at += sizeof given.stored[0][0])
                ck_assert_int_eq(
                    memcmp(&given.stored[0][0][0] + at, expected + at, count * sizeof(double)),
                    0);
        }
}
END_TEST

/* ---- tables ---- */

/* FNV-1a sums of tables, the same for every kernel, compiler and optimisation level. If one
 * changes, bits have changed, and the scheme's revision must be raised. */
static const struct {
    const char *scheme, *query;
    uint64_t sum;
} SUMS[] = {
#define SUM(its_scheme, its_query, its_sum) {(its_scheme), (its_query), (its_sum)},
#include "checksums.def"
};

/* The FNV-1a sum of the bytes of all tensors. */
static uint64_t sum_of(const char *scheme, const char *query)
{
    pe_table *table = unit_table(scheme, query);
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t t = 0; t < pe_table_tensor_count(table); t++) {
        const unsigned char *data = pe_table_data(table, t);
        for (uint64_t i = 0; i < pe_table_tensor(table, t)->bytes; i++)
            sum = (sum ^ data[i]) * 0x100000001b3;
    }
    pe_table_unref(table);
    return sum;
}

START_TEST(tables_have_the_same_bits_everywhere)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    for (size_t k = 0; k < count; k++) {
        pe_kernel_use(kernels[k]);
        for (size_t i = 0; i < sizeof SUMS / sizeof *SUMS; i++) {
            uint64_t sum = sum_of(SUMS[i].scheme, SUMS[i].query);
            ck_assert_msg(sum == SUMS[i].sum, "SUM(\"%s\", \"%s\", 0x%016llx), by %s",
                          SUMS[i].scheme, SUMS[i].query, (unsigned long long)sum,
                          kernels[k]->name);
        }
    }
    pe_kernel_use(NULL);
}
END_TEST

/* Rows of any length, of tables that are a multiple of 64 bytes wide; what lies behind a row is
 * left alone. */
START_TEST(overlaid_rows_have_the_bits_of_both)
{
    enum { STRIDE = 256, SPACE = 16 };
    static unsigned char a[ROWS * STRIDE], b[ROWS * STRIDE], got[ROWS * (STRIDE + SPACE)];
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof a; i++) {
        a[i] = (unsigned char)(next_random(&state) >> 40);
        b[i] = (unsigned char)(next_random(&state) >> 40);
    }
    for (size_t k = 0; k < count; k++)
        for (size_t bytes = 1; bytes <= STRIDE; bytes++) {
            memset(got, 0xa5, sizeof got);
            kernels[k]->overlay(a, 0, b, STRIDE, ROWS, bytes, got, bytes + SPACE);
            for (size_t r = 0; r < ROWS; r++)
                for (size_t i = 0; i < bytes + SPACE; i++)
                    ck_assert_int_eq(got[r * (bytes + SPACE) + i],
                                     i < bytes ? a[i] | b[r * STRIDE + i] : 0xa5);
        }
}
END_TEST

Suite *kernel_suite(void)
{
    const TTest *const tests[] = {seeds_are_within_62_hundredths_of_the_last_place,
                                  quarter_turns_are_exact,
                                  advancing_carries_between_the_halves,
                                  copies_past_the_caches_copy,
                                  rotations_are_rounded_in_every_arrangement,
                                  an_entry_on_a_boundary_is_reported_wherever_it_is,
                                  f16_entries_below_the_normal_ones_are_rounded_or_reported,
                                  sines_alone_in_f64_are_those_beside_cosines,
                                  overlaid_rows_have_the_bits_of_both,
                                  tables_have_the_same_bits_everywhere,
                                  NULL};
    return unit_suite("kernel", tests);
}
