/* Logarithms, exponentials and powers: compared with mpmath, and exact where they are. */
#include "numerics/elementary.h"
#include "numerics/expect.h"

#include "unit.h"

#include <math.h>

static void is_near(dd got, dd expected, double tolerance, const char *what, size_t which)
{
    double error = (got.hi - expected.hi) + (got.lo - expected.lo);
    ck_assert_msg(fabs(error) <= tolerance * fabs(expected.hi),
                  "%s, case %zu: %a + %a is off by %a of itself", what, which, got.hi, got.lo,
                  error / expected.hi);
}

START_TEST(logarithms_are_those_of_mpmath)
{
    static const struct {
        double x;
        dd log;
    } CASES[] = {
        {0x1.8000000000000p+1, {0x1.193ea7aad030bp+0, -0x1.a256f99caabebp-54}},
        {0x1.0000000001000p+0, {0x1.ffffffffff000p-41, 0x1.5555555554555p-122}},
        {0x1.ffffffff00000p-1, {-0x1.0000000040000p-33, -0x1.55555555d5555p-101}},
        {0x1.7e43c8800759cp+996, {0x1.5963447f87fb5p+9, 0x1.abccc0710fcd4p-46}},
        {0x1.56e1fc2f8f359p-997, {-0x1.5963447f87fb5p+9, -0x1.aa670d35324e6p-46}},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++)
        is_near(pe_log((dd){CASES[i].x, 0}), CASES[i].log, 0x1p-100, "log", i);
    for (int exponent = -1000; exponent <= 1000; exponent++) { /* ln 2 of 160 bits times it */
        dd log = pe_log((dd){ldexp(1, exponent), 0});
        dd ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
        is_near(log, dd_mul_double(ln2, exponent), 0x1p-102, "power of 2", (size_t)exponent);
    }
    ck_assert(pe_log((dd){1, 0}).hi == 0 && pe_log((dd){1, 0}).lo == 0);
}
END_TEST

START_TEST(logarithms_near_1_keep_their_bits)
{
    static const struct {
        double x;
        dd log;
    } CASES[] = {
        {0x1.0000000000000p-200, {0x1.0000000000000p-200, -0x1.0000000000000p-401}},
        {0x1.12e0be826d695p-30, {0x1.12e0be801f1d9p-30, 0x1.73146f77b063ap-84}},
        {0x1.0000000000000p-5, {0x1.f829b0e783300p-6, 0x1.33e3f04f1ef23p-60}},
        {0x1.e848000000000p+19, {0x1.ba18abb1dedc8p+3, 0x1.b4da20a70e526p-52}},
        {-0x1.0000000000000p-5, {-0x1.0415d89e74444p-5, -0x1.c05cf1d753622p-59}},
        {-0x1.0000000000000p-30, {-0x1.0000000200000p-30, -0x1.5555555955555p-92}},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++)
        is_near(pe_log1p((dd){CASES[i].x, 0}), CASES[i].log, 0x1p-100, "log1p", i);
    ck_assert(pe_log1p((dd){0, 0}).hi == 0);
}
END_TEST

/* Compare numbers with exponents. */
static void is_scaled(pe_scaled got, dd value, int exponent, double tolerance, const char *what,
                      size_t which)
{
    ck_assert_msg(got.value.hi > 0.7 && got.value.hi < 1.42, "%s, case %zu", what, which);
    got.exponent -= exponent;
    is_near(pe_apply_exponent(got), value, tolerance, what, which);
}

START_TEST(exponentials_are_those_of_mpmath)
{
    static const struct {
        double x;
        dd value;
        int exponent;
    } CASES[] = {
        {0x1.0000000000000p+0, {0x1.5bf0a8b145769p+0, 0x1.4d57ee2b1013ap-54}, 1},
        {0x1.4484bfeebc2a0p-100, {0x1.0000000000000p+0, 0x1.4484bfeebc2a0p-100}, 0},
        {-0x1.5e20000000000p+9, {0x1.af5fe9a485c8ep-1, 0x1.5bfda61764fecp-55}, -1010},
        {0x1.5e20000000000p+9, {0x1.2fd8e4cbfa413p+0, 0x1.2cb7d9b882d75p-54}, 1010},
        {-0x1.86a1000000000p+15, {0x1.70c71e6f0a010p-1, -0x1.737b63bd4cd01p-56}, -72135},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++)
        is_scaled(pe_exp((dd){CASES[i].x, 0}), CASES[i].value, CASES[i].exponent,
                  0x1p-100 + 0x1p-104 * fabs(CASES[i].x), "exp", i);
    ck_assert(pe_exp((dd){0, 0}).value.hi == 1 && pe_exp((dd){0, 0}).value.lo == 0);
}
END_TEST

START_TEST(powers_are_those_of_mpmath)
{
    static const struct {
        double x, p;
        dd value;
        int exponent;
    } CASES[] = {
        {3, 0.5, {0x1.bb67ae8584caap-1, 0x1.cec95d0b5c1e3p-55}, 1},
        {7, 2, {0x1.88p-1, 0}, 6},
        {0x1.0000000400000p+30, 1.75, {0x1.6a09e671da021p-1, 0x1.7bcda3217896ep-55}, 53},
        {0x1.c6bf52634p+49,
         0x1.47ae147ae147bp-7,
         {0x1.699c0f7e86e10p+0, -0x1.40bf05f87bb61p-54},
         0},
        {5, -3.5, {0x1.d4effc45a0a16p-1, -0x1.21328a2312488p-55}, -8},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++)
        is_scaled(pe_power(CASES[i].x, CASES[i].p), CASES[i].value, CASES[i].exponent, 0x1p-98,
                  "power", i);
}
END_TEST

START_TEST(powers_of_few_bits_are_exact_when_snapped)
{
    static const double POWERS[] = {0.25, 0.5, 1, 1.5, 2};
    for (double root = 1; root < 300; root++)
        for (size_t p = 0; p < UNIT_COUNT(POWERS); p++) {
            double base = pow(root, 4), expected = pow(root, 4 * POWERS[p]);
            pe_scaled power = pe_power(base, POWERS[p]);
            power.value = dd_snap(power.value);
            dd value = pe_apply_exponent(power);
            ck_assert_msg(expected >= 0x1p53 || (value.hi == expected && value.lo == 0),
                          "%g^%g: %a + %a", base, POWERS[p], value.hi, value.lo);
        }
}
END_TEST

START_TEST(logarithms_undo_exponentials)
{
    uint64_t state = 11;
    for (int i = 0; i < 20000; i++) {
        double x = ldexp((double)(int64_t)unit_random(&state), -62); /* within ±2 */
        pe_scaled power = pe_exp((dd){x, 0});
        dd back = pe_log(pe_apply_exponent(power));
        double error = fabs((back.hi - x) + back.lo);
        ck_assert_msg(error <= 0x1p-99, "%a comes back %a off", x, error);
    }
}
END_TEST

START_TEST(numbers_without_a_logarithm_choose_no_row_of_a_table)
{
    static const double NONE[] = {0,      -0.0,     -0x1p-1074, 0x1p-1074, -0.4,
                                  -1e300, INFINITY, -INFINITY,  NAN};
    pe_expect_strictly = false; /* as in a server */
    for (size_t i = 0; i < UNIT_COUNT(NONE); i++) {
        unit_assert(isnan(pe_log((dd){NONE[i], 0}).hi));
        unit_assert(isnan(pe_power(NONE[i], 0.5).value.hi));
        unit_assert(
            isnan(pe_power(2, NONE[i] == 0 || fabs(NONE[i]) < 1 ? NAN : NONE[i]).value.hi));
    }
    unit_assert(isnan(pe_log1p((dd){-0.5, 0}).hi) && isnan(pe_log1p((dd){NAN, 0}).hi));
    unit_assert(isnan(pe_exp((dd){INFINITY, 0}).value.hi) &&
                isnan(pe_exp((dd){-0x1p29, 0}).value.hi));
    pe_expect_strictly = true;
}
END_TEST

START_TEST(exponentials_and_powers_of_doubles_take_any_number)
{
    static const double LARGE[] = {701, 0x1p29, 1e300, INFINITY};
    for (size_t i = 0; i < UNIT_COUNT(LARGE); i++)
        unit_assert(pe_exp_double(LARGE[i]) == INFINITY && pe_exp_double(-LARGE[i]) == 0);
    unit_assert(isnan(pe_exp_double(NAN)) && pe_exp_double(0) == 1);
    unit_assert(pe_exp_double(700) > 1e304 && pe_exp_double(-700) < 1e-304);
    unit_assert(pe_power_double(0, 2) == 0 && pe_power_double(-2, 3) == -8);
    unit_assert(pe_power_double(2, 0x1p21) == INFINITY && isnan(pe_power_double(-2, 0.5)));
    unit_assert(pe_power_double(2, 0.5) == sqrt(2) && isnan(pe_power_double(NAN, 2)));
}
END_TEST

Suite *elementary_suite(void)
{
    const TTest *const tests[] = {logarithms_are_those_of_mpmath,
                                  numbers_without_a_logarithm_choose_no_row_of_a_table,
                                  logarithms_near_1_keep_their_bits,
                                  exponentials_are_those_of_mpmath,
                                  powers_are_those_of_mpmath,
                                  powers_of_few_bits_are_exact_when_snapped,
                                  logarithms_undo_exponentials,
                                  exponentials_and_powers_of_doubles_take_any_number,
                                  NULL};
    return unit_suite("elementary", tests);
}
