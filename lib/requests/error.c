/* Errors: a bounded list of problems, and suggestions for misspelt names. */
#include "numerics/dtype.h"
#include "requests/parameters.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pe_error_init(pe_error *error)
{
    error->status = PE_OK;
    error->scheme = NULL;
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

/* Drop characters of which a precision, such as that of %.60s, has left a part. */
static void drop_cut_characters(char *text)
{
    char *end = text;
    for (size_t size; *text; text += size) {
        const unsigned char lead = (unsigned char)*text;
        const size_t whole = lead < 0x80   ? 1
                             : lead < 0xc0 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                                           : 4;
        for (size = 1; size < whole && ((unsigned char)text[size] & 0xc0) == 0x80;)
            size++;
        if (size == whole)
            end = (char *)memmove(end, text, size) + size;
    }
    *end = '\0';
}

static int rank_severity(pe_status status)
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

static pe_reason find_reason(pe_status status)
{
    switch (status) {
    case PE_TOO_LARGE:
        return PE_REASON_TOO_LARGE;
    case PE_CANCELLED:
        return PE_REASON_CANCELLED;
    case PE_NO_MEMORY:
        return PE_REASON_NO_MEMORY;
    case PE_OK:
    case PE_MALFORMED:
    case PE_OUT_OF_RANGE:
        break;
    }
    return PE_REASON_RULE;
}

static void raise_status(pe_error *error, pe_status status)
{
    if (rank_severity(status) > rank_severity(error->status))
        error->status = status;
}

/* Room for one more problem. Where there is none left, the last problem is overwritten and
 * counts as dropped. */
static pe_problem *next_problem(pe_error *error)
{
    if (error->count < PE_PROBLEM_LIMIT)
        return &error->problems[error->count++];
    error->dropped++;
    return &error->problems[PE_PROBLEM_LIMIT - 1];
}

pe_problem *pe_error_add(pe_error *error, pe_status status, const char *parameter,
                         const char *given, const char *allowed, ...)
{
    raise_status(error, status);
    pe_problem *problem = next_problem(error);
    char text[4 * sizeof problem->allowed]; /* so that copy_text sees that it is too long */
    va_list list;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    drop_cut_characters(text);
    problem->reason = find_reason(status);
    problem->row = NULL;
    problem->kind = PE_KIND_ANY;
    problem->alone = false;
    copy_text(problem->parameter, sizeof problem->parameter, parameter);
    copy_text(problem->given, sizeof problem->given, given);
    copy_text(problem->allowed, sizeof problem->allowed, text);
    problem->did_you_mean[0] = '\0';
    return problem;
}

void pe_error_append(pe_error *error, const pe_error *other)
{
    raise_status(error, other->status);
    for (size_t i = 0; i < other->count; i++)
        *next_problem(error) = other->problems[i];
    error->dropped += other->dropped;
}

#define SPELLING_MAX 40

static size_t find_minimum(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* A letter in lower case; every separator of words becomes an underscore. */
static char fold_letter(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return (char)(letter - 'A' + 'a');
    return letter == '-' || letter == '.' ? '_' : letter;
}

static bool is_same(const char *a, const char *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fold_letter(a[i]) != fold_letter(b[i]))
            return false;
    return true;
}

/* Fold a text of at most SPELLING_MAX letters. */
static void fold_text(const char *text, size_t length, char dst[SPELLING_MAX])
{
    for (size_t i = 0; i < length; i++)
        dst[i] = fold_letter(text[i]);
}

/* The number of edits (insert, delete, replace a letter, swap neighbours) that turn a into b,
 * both folded and at most SPELLING_MAX long: the Damerau-Levenshtein distance. */
static size_t edit_distance(const char *given, const char *candidate)
{
    size_t n = strlen(given), m = strlen(candidate), rows[3][SPELLING_MAX + 1];
    char a[SPELLING_MAX], b[SPELLING_MAX];
    fold_text(given, n, a);
    fold_text(candidate, m, b);
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = find_minimum(above[j] + 1, row[j - 1] + 1,
                                  above[j - 1] + (a[i - 1] != b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

/* Whether a name begins or ends with `part` as whole words, as rope_type does with "type". */
static bool has_words(const char *name, const char *part)
{
    size_t length = strlen(name), count = strlen(part);
    if (count < 2 || length < count + 2)
        return false;
    const char *rest = name + length - count;
    return (is_same(name, part, count) && fold_letter(name[count]) == '_') ||
           (is_same(rest, part, count) && fold_letter(rest[-1]) == '_');
}

#define EDITED    SPELLING_MAX       /* farther than any names that share words */
#define UNRELATED (3 * SPELLING_MAX) /* farther than any names that resemble each other */

/* How far a candidate is from the given name, as far as it is nearer than `limit`. Nearest are
 * names that differ in a last letter or share whole words; then come names that a few edits
 * turn into each other. */
static size_t name_distance(const char *given, const char *candidate, size_t limit)
{
    size_t n = strlen(given), m = strlen(candidate);
    size_t longer = n > m ? n : m, shorter = n > m ? m : n;
    if (m > SPELLING_MAX)
        return UNRELATED;
    if (longer <= shorter + 1 && is_same(given, candidate, shorter))
        return longer - shorter;
    if (has_words(given, candidate) || has_words(candidate, given))
        return longer - shorter;
    /* there are at least as many edits as one name is longer: most need not be counted */
    if (longer - shorter > 1 + n / 3 || EDITED + longer - shorter >= limit)
        return UNRELATED;
    size_t edits = edit_distance(given, candidate);
    return edits <= 1 + n / 3 ? EDITED + edits : UNRELATED;
}

const char *pe_find_nearest_name(const char *given, const char *const *candidates, size_t count)
{
    size_t length = strlen(given), best = UNRELATED;
    const char *nearest = NULL;
    if (length == 0 || length > SPELLING_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance = name_distance(given, candidates[i], best);
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

void pe_describe_choices(const char *const *choices, size_t count, char *dst, size_t size)
{
    size_t used = (size_t)snprintf(dst, size, "%s", count > 1 ? "one of " : "");
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(dst + used, size - used, "%s%s", i ? ", " : "", choices[i]);
}

pe_problem *pe_error_add_choice(pe_error *error, const char *parameter, const char *given,
                                const char *const *choices, size_t count)
{
    char allowed[2 * sizeof error->problems[0].allowed] = ""; /* pe_error_add cuts it */
    pe_describe_choices(choices, count, allowed, sizeof allowed);
    pe_problem *problem = pe_error_add(error, PE_MALFORMED, parameter, given, "%s", allowed);
    problem->reason = PE_REASON_CHOICE;
    const char *dtype = pe_dtype_from_word(given);
    for (size_t i = 0; i < count && dtype; i++)
        if (strcmp(choices[i], dtype) == 0) {
            pe_problem_suggest(problem, dtype);
            return problem;
        }
    pe_problem_suggest(problem, pe_find_nearest_name(given, choices, count));
    return problem;
}

void pe_error_add_repetition(pe_error *error, const pe_argument *argument)
{
    pe_problem *problem =
        pe_error_add(error, PE_MALFORMED, argument->name, argument->text, "given once");
    problem->reason = PE_REASON_REPEATED;
    problem->kind = argument->kind;
}
