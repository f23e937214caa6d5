/* The name that was meant by one that is not known: a slip of the hand, or what another library
 * calls the same thing. Whatever differs by more than that may mean something else. */
#include "posenc.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define SPELLING_MAX 40 /* bytes of a name that is compared */
#define MANY         SPELLING_MAX

static const struct {
    const char *given, *meant;
} ALIASES[] = {
#define ALIAS(given, meant) {given, meant},
#include "requests/aliases.def"
#undef ALIAS
};

/* A run of letters or of digits. */
typedef struct word {
    const char *letters;
    size_t length;
    bool is_number;
} word;

static bool is_letter(char byte)
{
    return isalpha((unsigned char)byte) || (unsigned char)byte >= 0x80;
}

/* The first word from `*at` on, which moves behind it; without letters at the end. */
static word next_word(const char **at)
{
    while (**at && !is_letter(**at) && !isdigit((unsigned char)**at))
        ++*at;
    word ret = {.letters = *at, .is_number = isdigit((unsigned char)**at)};
    while (**at && (ret.is_number ? isdigit((unsigned char)**at) : is_letter(**at)))
        ++*at;
    ret.length = (size_t)(*at - ret.letters);
    return ret;
}

static bool are_equal(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Skip what parts words; between two digits it parts numbers: 3.1 is not 31. */
static const char *skip_separators(const char *name, const char *at)
{
    const char *next = at;
    while (*next && !is_letter(*next) && !isdigit((unsigned char)*next))
        next++;
    const bool parts_numbers =
        at > name && isdigit((unsigned char)at[-1]) && isdigit((unsigned char)*next);
    return parts_numbers ? at : next;
}

/* Whether two names differ in capitals and in what parts their words alone. */
static bool are_same(const char *a, const char *b)
{
    const char *at = skip_separators(a, a), *other = skip_separators(b, b);
    while (*at && *other) {
        const bool separators = ispunct((unsigned char)*at) && ispunct((unsigned char)*other);
        if (!separators && !are_equal(*at, *other))
            return false;
        at = skip_separators(a, at + 1);
        other = skip_separators(b, other + 1);
    }
    return *at == *other;
}

static size_t find_minimum(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* The number of letters to insert, delete, replace or swap with their neighbours that turn one
 * word of at most SPELLING_MAX into the other: the Damerau-Levenshtein distance. */
static size_t count_edits(word a, word b)
{
    size_t rows[3][SPELLING_MAX + 1];
    for (size_t j = 0; j <= b.length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        const char *one = a.letters + i - 1;
        row[0] = i;
        for (size_t j = 1; j <= b.length; j++) {
            const char *other = b.letters + j - 1;
            row[j] = find_minimum(above[j] + 1, row[j - 1] + 1,
                                  above[j - 1] + !are_equal(*one, *other));
            bool swapped =
                i > 1 && j > 1 && are_equal(*one, other[-1]) && are_equal(one[-1], *other);
            if (swapped && two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[a.length % 3][b.length];
}

/* Whether two words of the same length have the same letters, as those with swapped ones do. */
static bool have_same_letters(word a, word b)
{
    size_t sum = 0, other = 0;
    for (size_t i = 0; i < a.length; i++) {
        sum += (size_t)1 << (tolower((unsigned char)a.letters[i]) % 32);
        other += (size_t)1 << (tolower((unsigned char)b.letters[i]) % 32);
    }
    return sum == other;
}

/* The slips of the hand between two words, MANY where they are others. Numbers have none: they
 * are sizes and versions. In short words, letters are swapped, left out or put in, and not
 * changed, and in the shortest only swapped; at the beginning of any, they are swapped, left
 * out or doubled. */
static size_t count_slips(word given, word known)
{
    enum { SHORTEST = 4, SHORT = 5, LONG = 8 };
    const bool same_length = given.length == known.length;
    if (given.is_number || known.is_number || given.length + 2 < known.length ||
        known.length + 2 < given.length)
        return same_length && memcmp(given.letters, known.letters, given.length) == 0 ? 0
                                                                                      : MANY;
    const size_t edits = count_edits(given, known);
    const bool swapped = same_length && have_same_letters(given, known);
    if (edits == 0 || (edits == 1 && swapped))
        return edits;
    const bool begins = are_equal(given.letters[0], known.letters[0]) ||
                        (known.length > 1 && are_equal(given.letters[0], known.letters[1]));
    const bool may_be_slip = given.length >= (same_length ? SHORT : SHORTEST) && begins;
    return may_be_slip && edits <= (given.length < LONG ? 1 : 2) ? edits : MANY;
}

/* The slips between two names, word by word; MANY where more than two, or other words. */
static size_t count_all_slips(const char *given, const char *known)
{
    size_t slips = 0;
    word one, other;
    if (are_same(given, known))
        return 0;
    do {
        one = next_word(&given);
        other = next_word(&known);
        slips += count_slips(one, other);
    } while (slips <= 2 && one.length > 0);
    return slips > 0 && slips <= 2 ? slips : MANY;
}

/* Whether another library's name is one of those that are called `known` here. */
static bool is_alias(const char *given, const char *known)
{
    for (size_t i = 0; i < sizeof ALIASES / sizeof *ALIASES; i++)
        if (strcmp(known, ALIASES[i].meant) == 0 && are_same(given, ALIASES[i].given))
            return true;
    return false;
}

const char *pe_alias_at(const char *name, size_t index)
{
    for (size_t i = 0; i < sizeof ALIASES / sizeof *ALIASES; i++)
        if (strcmp(name, ALIASES[i].meant) == 0 && index-- == 0)
            return ALIASES[i].given;
    return NULL;
}

const char *pe_find_nearest_name(const char *given, const char *const *candidates, size_t count)
{
    size_t least = MANY;
    const char *nearest = NULL;
    if (strlen(given) > SPELLING_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strlen(candidates[i]) > SPELLING_MAX)
            continue;
        const size_t slips =
            is_alias(given, candidates[i]) ? 0 : count_all_slips(given, candidates[i]);
        if (slips == least && nearest && strcmp(nearest, candidates[i]) != 0)
            nearest = NULL; /* either may be meant */
        if (slips >= least)
            continue;
        least = slips;
        nearest = candidates[i];
    }
    return nearest;
}
