/* Reading numbers in JSON's grammar, whatever the locale. */
#include "locks.h"
#include "posenc.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* cannot fail: "C" is built in */
}

/* How many digits follow each other from text[at] on. */
static size_t count_digits(const char *text, size_t length, size_t at)
{
    size_t start = at;
    while (at < length && text[at] >= '0' && text[at] <= '9')
        at++;
    return at - start;
}

static bool is_json_number(const char *text, size_t length)
{
    size_t at = length > 0 && text[0] == '-' ? 1 : 0;
    size_t digits = count_digits(text, length, at);
    if (digits == 0 || (digits > 1 && text[at] == '0'))
        return false;
    at += digits;
    if (at < length && text[at] == '.') {
        at++;
        digits = count_digits(text, length, at);
        if (digits == 0)
            return false;
        at += digits;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < length && (text[at] == '-' || text[at] == '+'))
            at++;
        digits = count_digits(text, length, at);
        if (digits == 0)
            return false;
        at += digits;
    }
    return at == length;
}

/* Read an integer of up to 15 digits, which is exact in a double and needs no strtod. Returns
 * false for any other number. */
static bool parse_short_integer(const char *text, size_t length, double *ret_number)
{
    size_t at = text[0] == '-' ? 1 : 0;
    long long value = 0;
    if (length - at > 15 || count_digits(text, length, at) != length - at)
        return false;
    for (; at < length; at++)
        value = 10 * value + (text[at] - '0');
    *ret_number = text[0] == '-' ? -(double)value : (double)value;
    return true;
}

bool pe_parse_number(const char *text, size_t length, double *ret_number)
{
    if (!is_json_number(text, length))
        return false;
    if (parse_short_integer(text, length, ret_number))
        return true;
    pthread_once(&c_locale_once, make_c_locale);
    *ret_number = strtod_l(text, NULL, c_locale);
    return true;
}

/* ---- what rounding has kept ---- */

#define EXPONENT_MAX 100000 /* beyond it every number is 0 or infinite */

/* The exponent of a number in JSON's grammar whose `e` is at `at`; 0 if it has none. */
static long read_exponent(const char *text, size_t length, size_t at)
{
    long exponent = 0;
    const bool negative = at + 1 < length && text[at + 1] == '-';
    for (; at < length; at++)
        if (text[at] >= '0' && text[at] <= '9' && exponent < EXPONENT_MAX)
            exponent = 10 * exponent + (text[at] - '0');
    return negative ? -exponent : exponent;
}

bool pe_number_is_kept(const char *text, size_t length, double number)
{
    char held[DBL_MAX_10_EXP + 3];
    if (!isfinite(number) || number != floor(number))
        return true;
    const long digits = snprintf(held, sizeof held, "%.0f", fabs(number));
    const size_t start = text[0] == '-' ? 1 : 0;
    size_t stop = start;
    while (stop < length && text[stop] != 'e' && text[stop] != 'E')
        stop++;
    /* the power of ten that the next digit counts */
    long place =
        (long)count_digits(text, length, start) - 1 + read_exponent(text, length, stop);
    bool same = true;
    for (size_t at = start; at < stop; at++) {
        if (text[at] == '.')
            continue;
        if (place < 0 && text[at] != '0')
            return false; /* a fraction, and the number has none */
        if (place >= 0)
            same = same && text[at] == (place < digits ? held[digits - 1 - place] : '0');
        place--;
    }
    for (; place >= 0 && same; place--)
        same = place >= digits || held[digits - 1 - place] == '0';
    return same || fabs(number) > 0x1p53;
}
