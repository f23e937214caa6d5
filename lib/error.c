/* Errors: a bounded list of problems, and spelling suggestions. */
#include "posenc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pe_error_init(pe_error *error)
{
    error->status = PE_OK;
    error->count = error->dropped = 0;
}

/* Copy a text, cut at a character's boundary with an ellipsis where it does not fit. */
static void copy_text(char *dst, size_t size, const char *text)
{
    static const char ELLIPSIS[] = "\xe2\x80\xa6";
    size_t length = strlen(text);
    if (length < size) {
        memcpy(dst, text, length + 1);
        return;
    }
    size_t cut = size - sizeof ELLIPSIS;
    while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;
    memcpy(dst, text, cut);
    memcpy(dst + cut, ELLIPSIS, sizeof ELLIPSIS);
}

static int gravity(pe_status status)
{
    switch (status) {
    case PE_OK:
        return 0;
    case PE_TOO_LARGE:
        return 1;
    case PE_OUT_OF_RANGE:
        return 2;
    case PE_MALFORMED:
        return 3;
    case PE_CANCELLED:
        return 4;
    case PE_NO_MEMORY:
        return 5;
    }
    return 0;
}

pe_problem *pe_error_add(pe_error *error, pe_status status, const char *parameter,
                         const char *given, const char *allowed, ...)
{
    if (gravity(status) > gravity(error->status))
        error->status = status;
    pe_problem *problem = &error->problems[error->count];
    if (error->count == PE_PROBLEM_LIMIT) {
        error->dropped++;
        problem = &error->problems[PE_PROBLEM_LIMIT - 1]; /* the last one is given up */
    } else {
        error->count++;
    }
    char text[4 * sizeof problem->allowed]; /* so that copy_text sees that it is too long */
    va_list list;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    copy_text(problem->parameter, sizeof problem->parameter, parameter);
    copy_text(problem->given, sizeof problem->given, given);
    copy_text(problem->allowed, sizeof problem->allowed, text);
    problem->did_you_mean[0] = '\0';
    return problem;
}

#define SPELLING_MAX 40

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* A letter without its case, and one of all that part words. */
static char folded(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return (char)(letter - 'A' + 'a');
    return letter == '-' || letter == '.' ? '_' : letter;
}

static bool is_same(const char *a, const char *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (folded(a[i]) != folded(b[i]))
            return false;
    return true;
}

/* Edits (insert, delete, replace, swap neighbours) from a to b, folded, both at most
 * SPELLING_MAX. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), rows[3][SPELLING_MAX + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = smallest(above[j] + 1, now[j - 1] + 1,
                              above[j - 1] + !is_same(a + i - 1, b + j - 1, 1));
            bool swapped = i > 1 && j > 1 && is_same(a + i - 1, b + j - 2, 1) &&
                           is_same(a + i - 2, b + j - 1, 1);
            if (swapped && two_above[j - 2] + 1 < now[j])
                now[j] = two_above[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

/* Whether a name begins or ends with `part` as words of its own: rope_type with type. */
static bool has_words(const char *name, const char *part)
{
    size_t length = strlen(name), count = strlen(part);
    if (count < 2 || length < count + 2)
        return false;
    const char *rest = name + length - count;
    return (is_same(name, part, count) && folded(name[count]) == '_') ||
           (is_same(rest, part, count) && folded(rest[-1]) == '_');
}

#define WORDS    SPELLING_MAX       /* more than any edits */
#define STRANGER (3 * SPELLING_MAX) /* more than any likeness */

/* How far a candidate is from what was given: but for a last letter the same, then sharing
 * words with it, then by edits, of which only a few make a likeness. */
static size_t remoteness(const char *given, const char *candidate)
{
    size_t n = strlen(given), m = strlen(candidate);
    size_t longer = n > m ? n : m, shorter = n > m ? m : n;
    if (m > SPELLING_MAX)
        return STRANGER;
    if (longer <= shorter + 1 && is_same(given, candidate, shorter))
        return longer - shorter;
    if (has_words(given, candidate) || has_words(candidate, given))
        return longer - shorter;
    size_t edits = edit_distance(given, candidate);
    return edits <= 1 + n / 3 ? WORDS + edits : STRANGER;
}

const char *pe_nearest(const char *given, const char *const *candidates, size_t count)
{
    size_t length = strlen(given), best = STRANGER;
    const char *nearest = NULL;
    if (length == 0 || length > SPELLING_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance = remoteness(given, candidates[i]);
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

void pe_problem_suggest(pe_problem *problem, const char *name)
{
    if (name)
        copy_text(problem->did_you_mean, sizeof problem->did_you_mean, name);
}

void pe_error_add_choice(pe_error *error, const char *parameter, const char *given,
                         const char *const *choices, size_t count)
{
    char allowed[sizeof error->problems[0].allowed] = "one of";
    for (size_t i = 0; i < count; i++) {
        strncat(allowed, i ? ", " : " ", sizeof allowed - strlen(allowed) - 1);
        strncat(allowed, choices[i], sizeof allowed - strlen(allowed) - 1);
    }
    pe_problem *problem = pe_error_add(error, PE_MALFORMED, parameter, given, "%s", allowed);
    pe_problem_suggest(problem, pe_nearest(given, choices, count));
}
