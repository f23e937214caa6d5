/* Accept and Accept-Encoding. The input is lines: Accept, Accept-Encoding, the format asked
 * for, dtype, length; an empty line is none. What is chosen is registered, can carry the
 * tensor and is not excluded; where the header is well-formed, a reader of this file's own
 * agrees on every quality, and nothing that could be chosen is more welcome. */
#include "support/fuzz.h"

#include "negotiate.h"

#include <string.h>
#include <strings.h>

#define LIMIT 1000 /* elements of text; twice as many pixels */

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
    api_selection selection;
} question;

static const api_host HOST = {.json_elements = LIMIT, .png_pixels = 2 * LIMIT};

/* Whether the work of a format passes its limit. */
static bool is_over(const question *of, const api_format *format)
{
    uint64_t limit = format->measure == API_ELEMENTS ? HOST.json_elements : HOST.png_pixels;
    return format->measure != API_BYTES && format->work(&of->selection) > limit;
}

static bool is_possible(const question *of, const api_format *format)
{
    pe_error error;
    pe_error_init(&error);
    if (format->check)
        format->check(&of->selection, &error);
    const pe_tensor *tensor = pe_request_tensor(of->selection.request, 0);
    return error.count == 0 && !(format->refuses && format->refuses(tensor->dtype)) &&
           !is_over(of, format);
}

/* No other format that would do is more welcome: pictures aside, where a page is asked for, and
 * where one form would be too large, others that are not named. */
static void check_best(const question *of, api_codings codings, const api_format *chosen)
{
    int specific;
    api_coding coding;
    bool over = false, page = of->accept && strcasestr(of->accept, "text/html");
    unsigned quality = api_accept_quality(of->accept, chosen->media_type, &specific);
    fuzz_check(quality > 0, "%s is not accepted", chosen->name);
    for (size_t i = 0; i < api_format_count(); i++)
        over |= is_over(of, api_format_at(i));
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *other = api_format_at(i);
        unsigned own = api_accept_quality(of->accept, other->media_type, &specific);
        if (is_possible(of, other) && api_choose_coding(codings, other->text, &coding) &&
            (!over || specific == 3) && !(page && other->measure == API_PIXELS))
            fuzz_check(own <= quality, "%s is more welcome than %s", other->name, chosen->name);
    }
}

static void check_choice(const question *of, api_codings codings)
{
    char reason[512] = "";
    api_coding coding;
    const api_format *chosen = NULL;
    pe_error error;
    pe_error_init(&error);
    api_choice choice = api_choose_format(of->asked, of->accept, codings, &of->selection, &HOST,
                                          &chosen, reason, sizeof reason, &error);
    if (choice == API_CHOICE_WRONG)
        fuzz_check_error(&error);
    else if (choice != API_CHOSEN)
        fuzz_check(reason[0] && strlen(reason) < sizeof reason, "no reason");
    if (choice != API_CHOSEN)
        return;
    fuzz_check(chosen && api_format_find(chosen->name) == chosen, "no registered format");
    fuzz_check(is_possible(of, chosen), "%s cannot carry this", chosen->name);
    fuzz_check(api_choose_coding(codings, chosen->text, &coding), "%s without a coding",
               chosen->name);
    if (of->asked)
        fuzz_check(chosen == of->asked, "%s, not %s", chosen->name, of->asked->name);
    else
        check_best(of, codings, chosen);
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

/* A tensor of so many elements; NULL if that is not legal. */
static pe_request *request_of(const char *dtype, const char *length)
{
    static const pe_limits limits = {
        .elements = 1 << 20, .table_bytes = 1 << 24, .list_length = 64};
    const pe_argument arguments[] = {{"length", length, PE_KIND_ANY},
                                     {"dtype", dtype, PE_KIND_ANY}};
    pe_request *request = NULL;
    pe_error error;
    pe_request_new(pe_scheme_find("integer"), arguments, 2, &limits, &request, &error);
    return request;
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
    const char *dtype = fuzz_line(&at), *elements = fuzz_line(&at);
    of.selection.request = request_of(dtype, elements);
    of.selection.count = 1;
    if (of.accept)
        for (size_t i = 0; i < api_format_count(); i++)
            check_qualities(of.accept, api_format_at(i)->media_type);
    api_codings codings = check_codings(of.encoding);
    if (of.selection.request)
        check_choice(&of, codings);
    pe_request_free(of.selection.request);
    free(text);
    return 0;
}
