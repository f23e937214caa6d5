/* Accept and Accept-Encoding. The input is lines: Accept, Accept-Encoding, the format asked
 * for, dtype, elements; an empty line is none. What is chosen is registered, can carry the
 * tensor and is not excluded; where the header is well-formed, a reader of this file's own
 * agrees on every quality, and nothing that could be chosen is more welcome. */
#include "support/fuzz.h"

#include "negotiate.h"

#include <string.h>
#include <strings.h>

#define LIMIT 1000 /* elements of limited formats */

#define TOKEN  "[]!#$%&'*+.^_`|~0-9A-Za-z-]+" /* with brackets, which do no harm */
#define WEIGHT "[ \t]*;[ \t]*[qQ]=(0(\\.[0-9]{0,3})?|1(\\.0{0,3})?)"
#define RANGE                                                                                  \
    "[ \t]*(" TOKEN "(/" TOKEN ")?)([ \t]*;[ \t]*[a-pr-zA-PR-Z]=" TOKEN ")*(" WEIGHT ")?[ "    \
    "\t]*"
static const char LIST[] = "(" RANGE ")(,(" RANGE "))*";

/* How exactly a range names a type: 3, 2 (type with a star), 1 (star), 0. */
static int closeness(const char *range, size_t size, const char *type)
{
    const char *slash = strchr(type, '/');
    if (size == strlen(type) && strncasecmp(range, type, size) == 0)
        return 3;
    if ((size == 1 && range[0] == '*') || (size == 3 && strncmp(range, "*/*", 3) == 0))
        return 1;
    size_t head = slash ? (size_t)(slash - type) + 1 : size;
    return size == head + 1 && strncasecmp(range, type, head) == 0 && range[head] == '*' ? 2
                                                                                         : 0;
}

/* The quality in thousandths that a well-formed list gives a type. */
static unsigned expected_quality(const char *list, const char *type, int *ret_closeness)
{
    char *copy = fuzz_copy(list, strlen(list)), *rest = copy, *element;
    unsigned quality = 0;
    *ret_closeness = 0;
    while ((element = strsep(&rest, ","))) {
        element += strspn(element, " \t");
        int close = closeness(element, strcspn(element, " \t;"), type);
        if (close <= *ret_closeness)
            continue;
        char *weight = strcasestr(element, "q=");
        while (weight && weight > element && strchr("; \t", weight[-1]) == NULL)
            weight = strcasestr(weight + 1, "q=");
        *ret_closeness = close;
        quality = weight ? (unsigned)(strtod(weight + 2, NULL) * 1000 + 0.5) : 1000;
    }
    free(copy);
    return quality;
}

static void check_qualities(const char *list, const char *type)
{
    int specific, close;
    unsigned quality = api_accept_quality(list, type, &specific);
    fuzz_check(quality <= 1000 && specific >= 0 && specific <= 3, "%u and %d", quality,
               specific);
    fuzz_check(specific > 0 || quality == 0, "%s matches nothing in %s", type, list);
    if (!fuzz_fits(LIST, list, strlen(list)))
        return;
    unsigned expected = expected_quality(list, type, &close);
    fuzz_check(quality == expected && specific == close, "%s in %s: %u (%d), not %u (%d)", type,
               list, quality, specific, expected, close);
}

typedef struct question {
    const char *accept, *encoding; /* or NULL */
    const api_format *asked;
    pe_tensor tensor;
    uint64_t elements;
} question;

static bool is_possible(const question *of, const api_format *format)
{
    return !(format->refuses && format->refuses(of->tensor.dtype)) &&
           !(format->limited && of->elements > LIMIT);
}

static void check_choice(const question *of, api_codings codings)
{
    char reason[512] = "";
    int specific;
    api_coding coding;
    const api_format *chosen = NULL;
    api_choice choice = api_choose_format(of->asked, of->accept, codings, &of->tensor,
                                          of->elements, LIMIT, &chosen, reason, sizeof reason);
    if (choice != API_CHOSEN) {
        fuzz_check(reason[0] && strlen(reason) < sizeof reason, "no reason");
        return;
    }
    fuzz_check(chosen && api_format_find(chosen->name) == chosen, "no registered format");
    fuzz_check(is_possible(of, chosen), "%s cannot carry this", chosen->name);
    fuzz_check(api_choose_coding(codings, chosen->limited, &coding), "%s without a coding",
               chosen->name);
    if (of->asked) {
        fuzz_check(chosen == of->asked, "%s, not %s", chosen->name, of->asked->name);
        return;
    }
    unsigned quality = api_accept_quality(of->accept, chosen->media_type, &specific);
    fuzz_check(quality > 0, "%s is not accepted", chosen->name);
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *other = api_format_at(i);
        bool limits = api_format_at(0)->limited && of->elements > LIMIT; /* see negotiate.c */
        if (is_possible(of, other) && !limits &&
            api_choose_coding(codings, other->limited, &coding))
            fuzz_check(api_accept_quality(of->accept, other->media_type, &specific) <= quality,
                       "%s is more welcome than %s", other->name, chosen->name);
    }
}

/* gzip only where it is named or starred, and neither where it is excluded. */
static api_codings check_codings(const char *encoding)
{
    api_codings codings = api_accept_codings(encoding);
    api_coding coding;
    int close, starred;
    fuzz_check(encoding || (codings.identity && !codings.gzip), "codings of nothing");
    fuzz_check(!api_choose_coding(codings, false, &coding) || coding == API_IDENTITY,
               "binary forms are gzipped");
    if (!encoding || !fuzz_fits(LIST, encoding, strlen(encoding)))
        return codings;
    unsigned gzip = expected_quality(encoding, "gzip", &close);
    if (close < 3) {
        unsigned old = expected_quality(encoding, "x-gzip", &starred);
        gzip = starred == 3 ? old : gzip;
    }
    unsigned identity = expected_quality(encoding, "identity", &close);
    fuzz_check(codings.identity == (identity > 0 || close == 0), "identity of %s", encoding);
    fuzz_check(codings.gzip == (gzip > 0 && gzip >= identity), "gzip of %s", encoding);
    return codings;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 600) /* regular expressions take their time */
        return 0;
    char *text = fuzz_copy(data, size), *at = text;
    const char *accept = fuzz_line(&at), *encoding = fuzz_line(&at);
    question of = {.accept = *accept ? accept : NULL,
                   .encoding = *encoding ? encoding : NULL,
                   .asked = api_format_find(fuzz_line(&at))};
    const char *dtype = fuzz_line(&at);
    of.tensor = (pe_tensor){.name = "x", .dtype = PE_F32, .rank = 1};
    for (pe_dtype d = 0; d < PE_DTYPE_COUNT; d++)
        if (strcmp(pe_dtype_name(d), dtype) == 0)
            of.tensor.dtype = d;
    of.elements = of.tensor.elements = of.tensor.shape[0] = strtoull(fuzz_line(&at), NULL, 10);
    if (of.accept)
        for (size_t i = 0; i < api_format_count(); i++)
            check_qualities(of.accept, api_format_at(i)->media_type);
    check_choice(&of, check_codings(of.encoding));
    free(text);
    return 0;
}
