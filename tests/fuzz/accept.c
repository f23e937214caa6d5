/* Content negotiation. The input is five lines: Accept, Accept-Encoding, the format that the
 * request names, dtype and length; an empty line means that there is none. The format that is
 * chosen must be registered, acceptable and able to carry the tensor. If a header is
 * well-formed, this file's own parser must find the same qualities, and no other format that
 * could be chosen may have a higher one. */
#include "http/accept.h"
#include "formats/registry.h"
#include "support/fuzz.h"

#include "formats/negotiate.h"

#include <string.h>
#include <strings.h>

#define LIMIT 1000 /* elements of text; the limit of pixels is twice as much */

#define TOKEN                                                                                  \
    "[]!#$%&'*+.^_`|~0-9A-Za-z-]+" /* and brackets, which the reader accepts as well */
#define WEIGHT "[ \t]*;[ \t]*[qQ]=(0(\\.[0-9]{0,3})?|1(\\.0{0,3})?)"
#define RANGE                                                                                  \
    "[ \t]*(" TOKEN "(/" TOKEN ")?)([ \t]*;[ \t]*[a-pr-zA-PR-Z]=" TOKEN ")*(" WEIGHT ")?[ "    \
    "\t]*"
static const char LIST[] = "(" RANGE ")(,(" RANGE "))*";

/* The specificity of a media range for a type: 3 for the type itself, 2 for "type/" and a star,
 * 1 for a star alone, 0 if the range does not match. */
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

/* The quality, in thousandths, that a well-formed list gives a type. */
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

typedef struct client_request {
    const char *accept, *encoding; /* each may be NULL */
    const api_format *asked;
    api_selection selection;
} client_request;

static const api_host HOST = {.json_elements = LIMIT, .png_pixels = 2 * LIMIT};

/* Whether the work of a format exceeds its limit. */
static bool is_over(const client_request *request, const api_format *format)
{
    uint64_t limit = format->measure == API_ELEMENTS ? HOST.json_elements : HOST.png_pixels;
    return format->measure != API_BYTES && format->work(&request->selection) > limit;
}

static bool is_possible(const client_request *request, const api_format *format)
{
    pe_error error;
    pe_error_init(&error);
    if (format->check)
        format->check(&request->selection, &error);
    const pe_tensor *tensor = pe_request_tensor(request->selection.request, 0);
    return error.count == 0 && !(format->refuses && format->refuses(tensor->dtype)) &&
           !is_over(request, format);
}

/* Check that no other format that can be served has a higher quality. Two kinds are left out:
 * pictures, if the client asks for a page; and formats that Accept does not name, if some
 * format is over its limit. */
static void check_best(const client_request *request, api_codings codings,
                       const api_format *chosen)
{
    int specific;
    api_coding coding;
    bool over = false, page = request->accept && strcasestr(request->accept, "text/html");
    unsigned quality = api_accept_quality(request->accept, chosen->media_type, &specific);
    fuzz_check(quality > 0, "%s is not accepted", chosen->name);
    for (size_t i = 0; i < api_format_count(); i++)
        over |= is_over(request, api_format_get(i));
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *other = api_format_get(i);
        unsigned own = api_accept_quality(request->accept, other->media_type, &specific);
        if (is_possible(request, other) && api_choose_coding(codings, other->text, &coding) &&
            (!over || specific == 3) && !(page && other->measure == API_PIXELS))
            fuzz_check(own <= quality, "%s is more welcome than %s", other->name, chosen->name);
    }
}

static void check_choice(const client_request *request, api_codings codings)
{
    char reason[API_REASON_SIZE] = "";
    api_coding coding;
    const api_format *chosen = NULL;
    pe_error error;
    pe_error_init(&error);
    const api_wish wish = {.asked = request->asked,
                           .accept = request->accept,
                           .codings = codings,
                           .selection = &request->selection,
                           .host = &HOST};
    api_choice choice = api_choose_format(&wish, &chosen, reason, &error);
    if (choice == API_CHOICE_WRONG)
        fuzz_check_error(&error);
    else if (choice != API_CHOSEN)
        fuzz_check(reason[0] && strlen(reason) < sizeof reason, "no reason");
    if (choice != API_CHOSEN)
        return;
    fuzz_check(chosen && api_format_find(chosen->name) == chosen, "no registered format");
    fuzz_check(is_possible(request, chosen), "%s cannot carry this", chosen->name);
    fuzz_check(api_choose_coding(codings, chosen->text, &coding), "%s without a coding",
               chosen->name);
    if (request->asked)
        fuzz_check(chosen == request->asked, "%s, not %s", chosen->name, request->asked->name);
    else
        check_best(request, codings, chosen);
}

/* Check the content codings of an Accept-Encoding value. */
static api_codings check_codings(const char *encoding)
{
    api_codings codings = api_accept_codings(encoding);
    api_coding coding;
    int close;
    fuzz_check(encoding || (codings.identity && !codings.gzip), "codings of nothing");
    fuzz_check(!api_choose_coding(codings, false, &coding) || coding == API_IDENTITY,
               "binary forms are gzipped");
    if (!encoding || !fuzz_fits(LIST, encoding, strlen(encoding)))
        return codings;
    unsigned gzip = expected_quality(encoding, "gzip", &close);
    unsigned identity = expected_quality(encoding, "identity", &close);
    fuzz_check(codings.identity == (identity > 0 || close == 0), "identity of %s", encoding);
    fuzz_check(codings.gzip == (gzip > 0 && gzip >= identity), "gzip of %s", encoding);
    return codings;
}

/* A request for a tensor with `length` elements; NULL if the arguments are not legal. */
static pe_request *request_of(const char *dtype, const char *length)
{
    static const pe_limits limits = {
        .elements = 1 << 20, .table_bytes = 1 << 24, .list_length = 64};
    const pe_argument arguments[] = {{"length", length, .kind = PE_KIND_ANY},
                                     {"dtype", dtype, .kind = PE_KIND_ANY}};
    pe_request *request = NULL;
    pe_error error;
    pe_request_new(pe_scheme_find("integer"), arguments, 2, &limits, &request, &error);
    return request;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 600) /* regular expressions are slow */
        return 0;
    char *text = fuzz_copy(data, size), *at = text;
    const char *accept = fuzz_line(&at), *encoding = fuzz_line(&at);
    client_request request = {.accept = *accept ? accept : NULL,
                              .encoding = *encoding ? encoding : NULL,
                              .asked = api_format_find(fuzz_line(&at))};
    const char *dtype = fuzz_line(&at), *elements = fuzz_line(&at);
    request.selection.request = request_of(dtype, elements);
    request.selection.count = 1;
    if (request.accept)
        for (size_t i = 0; i < api_format_count(); i++)
            check_qualities(request.accept, api_format_get(i)->media_type);
    api_codings codings = check_codings(request.encoding);
    if (request.selection.request)
        check_choice(&request, codings);
    pe_request_unref(request.selection.request);
    free(text);
    return 0;
}
