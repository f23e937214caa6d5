/* Content negotiation (RFC 9110, section 12.5.1). */
#include "negotiate.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static size_t trimmed(const char **text, size_t length)
{
    while (length > 0 && (**text == ' ' || **text == '\t'))
        (*text)++, length--;
    while (length > 0 && ((*text)[length - 1] == ' ' || (*text)[length - 1] == '\t'))
        length--;
    return length;
}

/* How specifically a media range matches: 3 exactly, 2 by its type with a star, 1 by two stars,
 * 0 not at all. */
static int specificity(const char *range, size_t length, const char *media_type)
{
    size_t type = strcspn(media_type, "/") + 1; /* with the slash */
    if (length == strlen(media_type) && strncasecmp(range, media_type, length) == 0)
        return 3;
    if (length == type + 1 && range[type] == '*' && strncasecmp(range, media_type, type) == 0)
        return 2;
    return (length == 3 && memcmp(range, "*/*", 3) == 0) || (length == 1 && *range == '*');
}

/* A qvalue, "0.25" or "1" or, as some clients write, ".2", in thousandths. */
static unsigned read_quality(const char *text, size_t length)
{
    unsigned quality = 0, unit = 100;
    size_t i = length > 0 && (text[0] == '0' || text[0] == '1');
    if (i == 1 && text[0] == '1')
        return 1000;
    if (i == length || text[i] != '.')
        return 0;
    for (i++; i < length && unit > 0 && text[i] >= '0' && text[i] <= '9'; i++, unit /= 10)
        quality += unit * (unsigned)(text[i] - '0');
    return quality;
}

/* The q parameter among a range's parameters, in thousandths; 1000 if there is none. */
static unsigned quality_of(const char *parameters, size_t length)
{
    for (const char *end = parameters + length; parameters < end;) {
        const char *next = memchr(parameters, ';', (size_t)(end - parameters)),
                   *at = parameters;
        size_t size = trimmed(&at, (size_t)((next ? next : end) - parameters));
        if (size >= 2 && (at[0] == 'q' || at[0] == 'Q') && at[1] == '=')
            return read_quality(at + 2, size - 2);
        parameters = next ? next + 1 : end;
    }
    return 1000;
}

unsigned api_accept_quality(const char *accept, const char *media_type, int *ret_specificity)
{
    int best = 0;
    unsigned quality = 0;
    *ret_specificity = 1;
    if (!accept)
        return 1000;
    for (const char *next, *range = accept; range; range = next) {
        next = strchr(range, ',');
        size_t whole = next ? (size_t)(next - range) : strlen(range);
        next = next ? next + 1 : NULL;
        const char *semicolon = memchr(range, ';', whole);
        size_t length = semicolon ? (size_t)(semicolon - range) : whole;
        const char *name = range;
        length = trimmed(&name, length);
        int specific = specificity(name, length, media_type);
        if (specific > best) {
            best = specific;
            quality = semicolon
                          ? quality_of(semicolon + 1, whole - (size_t)(semicolon + 1 - range))
                          : 1000;
        }
    }
    *ret_specificity = best;
    return quality;
}

/* What a format's work must not pass; UINT64_MAX: there is no limit. */
static uint64_t limit_of(const api_format *format, const api_host *host)
{
    switch (format->measure) {
    case API_ELEMENTS:
        return host->json_elements;
    case API_PIXELS:
        return host->png_pixels;
    case API_BYTES:
        break;
    }
    return UINT64_MAX;
}

/* The selection as the format carries it. */
static api_selection carried(const api_format *format, const api_selection *selection)
{
    api_selection part = *selection;
    part.count = format->single ? 1 : part.count;
    return part;
}

static uint64_t work_of(const api_format *format, const api_selection *selection)
{
    api_selection part = carried(format, selection);
    return format->work ? format->work(&part) : 0;
}

static bool is_over(const api_format *format, const api_selection *selection,
                    const api_host *host)
{
    return work_of(format, selection) > limit_of(format, host);
}

static const char *refusal(const api_format *format, const api_selection *selection)
{
    const pe_tensor *tensor = pe_request_tensor(selection->request, selection->first);
    return format->refuses ? format->refuses(tensor->dtype) : NULL;
}

/* Whether the format's own check finds something wrong; added to `error` if that is not NULL.
 */
static bool is_wrong(const api_format *format, const api_selection *selection, pe_error *error)
{
    pe_error own;
    api_selection part = carried(format, selection);
    if (!format->check)
        return false;
    pe_error_init(&own);
    format->check(&part, error ? error : &own);
    return (error ? error : &own)->count > 0;
}

/* The formats that can carry the selection, for a reason. */
static void list_alternatives(const api_selection *selection, const api_host *host, char *dst,
                              size_t size)
{
    size_t used = strlen(dst);
    const char *separator = "; available: ";
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_at(i);
        if (refusal(format, selection) || is_wrong(format, selection, NULL) ||
            is_over(format, selection, host))
            continue;
        int length = snprintf(dst + used, size - used, "%s%s (format=%s)", separator,
                              format->media_type, format->name);
        used += (size_t)length < size - used ? (size_t)length : 0;
        separator = ", ";
    }
}

static bool has_coding(const api_format *format, api_codings codings)
{
    api_coding coding;
    return api_choose_coding(codings, format->text, &coding);
}

static const char NO_CODING[] =
    "Accept-Encoding admits neither identity nor, for text, gzip; there is nothing else";

static const char *const UNITS[] = {
    [API_BYTES] = "bytes", [API_ELEMENTS] = "elements", [API_PIXELS] = "pixels"};

static api_choice check_asked(const api_format *asked, api_codings codings,
                              const api_selection *selection, const api_host *host,
                              char *ret_reason, size_t reason_size, pe_error *error)
{
    const char *reason = refusal(asked, selection);
    if (reason) {
        snprintf(ret_reason, reason_size, "%s", reason);
        return API_CHOICE_REFUSED;
    }
    if (is_wrong(asked, selection, error))
        return API_CHOICE_WRONG;
    if (is_over(asked, selection, host)) {
        snprintf(ret_reason, reason_size, "at most %llu %s as %s, this is %llu",
                 (unsigned long long)limit_of(asked, host), UNITS[asked->measure], asked->name,
                 (unsigned long long)work_of(asked, selection));
        list_alternatives(selection, host, ret_reason, reason_size);
        return API_CHOICE_TOO_LARGE;
    }
    if (!has_coding(asked, codings)) {
        snprintf(ret_reason, reason_size, "%s", NO_CODING);
        return API_CHOICE_NOT_ACCEPTABLE;
    }
    return API_CHOSEN;
}

/* The quality that Accept gives a format. A browser on its way to a page says which pictures
 * the page may hold, as if these would do in its place: then a picture is the last thing to
 * send, and not asked for by name. */
static unsigned quality_for(const char *accept, const api_format *format, int *ret_specificity)
{
    int page;
    unsigned quality = api_accept_quality(accept, format->media_type, ret_specificity);
    if (quality == 0 || format->measure != API_PIXELS)
        return quality;
    unsigned of_page = api_accept_quality(accept, "text/html", &page);
    if (page < 3 || of_page < quality)
        return quality;
    *ret_specificity = 1;
    return 1;
}

/* What there is to say of the formats that a request accepts and cannot have. */
typedef struct obstacles {
    const api_format *over, *wrong;
    const char *reason;
} obstacles;

/* Whether a format can be served; if not, what stands against it is noted. */
static bool can_serve(const api_format *format, api_codings codings,
                      const api_selection *selection, const api_host *host, obstacles *found)
{
    const char *reason = refusal(format, selection);
    if (reason) {
        found->reason = reason;
    } else if (!has_coding(format, codings)) {
        found->reason = found->reason ? found->reason : NO_CODING;
    } else if (is_wrong(format, selection, NULL)) {
        found->wrong = found->wrong ? found->wrong : format;
    } else if (is_over(format, selection, host)) {
        found->over = format;
    } else {
        return true;
    }
    return false;
}

api_choice api_choose_format(const api_format *asked, const char *accept, api_codings codings,
                             const api_selection *selection, const api_host *host,
                             const api_format **ret_format, char *ret_reason,
                             size_t reason_size, pe_error *error)
{
    if (asked) {
        *ret_format = asked;
        return check_asked(asked, codings, selection, host, ret_reason, reason_size, error);
    }
    const api_format *best = NULL;
    obstacles found = {.over = NULL};
    unsigned best_quality = 0;
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_at(i);
        int specific;
        unsigned quality = quality_for(accept, format, &specific);
        if (quality == 0 || quality <= best_quality)
            continue;
        if (found.over && specific < 3) /* nobody gets another form unless asked for by name */
            continue;
        if (can_serve(format, codings, selection, host, &found)) {
            best = format;
            best_quality = quality;
        }
    }
    if (best) {
        *ret_format = best;
        return API_CHOSEN;
    }
    if (found.wrong && !found.over && !found.reason && is_wrong(found.wrong, selection, error))
        return API_CHOICE_WRONG;
    if (found.over)
        snprintf(ret_reason, reason_size, "%s carries at most %llu %s, this is %llu",
                 found.over->media_type, (unsigned long long)limit_of(found.over, host),
                 UNITS[found.over->measure],
                 (unsigned long long)work_of(found.over, selection));
    else
        snprintf(ret_reason, reason_size, "%s",
                 found.reason ? found.reason : "Accept admits no representation of a tensor");
    list_alternatives(selection, host, ret_reason, reason_size);
    return API_CHOICE_NOT_ACCEPTABLE;
}
