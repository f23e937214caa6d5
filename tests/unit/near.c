/* Fixed-point numbers beside those expected. */
#include "near.h"

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static bool is_at_most(pe_wide a, uint64_t units)
{
    return !a.limb[3] && !a.limb[2] && !a.limb[1] && a.limb[0] <= units;
}

/* In hexadecimal, behind the whole part if there is one. */
static void print(pe_fixed number, char ret_text[96])
{
    const uint64_t *limb = number.part.limb;
    int size = number.whole ? snprintf(ret_text, 96, "%" PRId64 " + ", number.whole) : 0;
    snprintf(ret_text + size, 96 - (size_t)size,
             "0.%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, limb[3], limb[2],
             limb[1], limb[0]);
}

__attribute__((format(printf, 3, 0))) static void report(pe_fixed got, pe_fixed expected,
                                                         const char *format, va_list arguments)
{
    char which[256], found[96], wanted[96];
    vsnprintf(which, sizeof which, format, arguments);
    print(got, found);
    print(expected, wanted);
    ck_abort_msg("%s: %s, not %s", which, found, wanted);
}

void unit_wide_is_near(pe_wide got, pe_wide expected, uint64_t units, const char *format, ...)
{
    if (is_at_most(pe_wide_sub(got, expected), units) ||
        is_at_most(pe_wide_sub(expected, got), units))
        return;
    va_list arguments;
    va_start(arguments, format);
    report((pe_fixed){0, got}, (pe_fixed){0, expected}, format, arguments);
    va_end(arguments);
}

void unit_fixed_is_near(pe_fixed got, pe_fixed expected, uint64_t units, const char *format,
                        ...)
{
    pe_fixed error = pe_fixed_compare(got, expected) < 0 ? pe_fixed_sub(expected, got)
                                                         : pe_fixed_sub(got, expected);
    if (error.whole == 0 && is_at_most(error.part, units))
        return;
    va_list arguments;
    va_start(arguments, format);
    report(got, expected, format, arguments);
    va_end(arguments);
}
