/* Content negotiation (RFC 9110, section 12.5.1). */
#include "formats/negotiate.h"
#include "formats/registry.h"

#include "http/accept.h"

#include <stdio.h>
#include <string.h>

/* The limit on a format's work; UINT64_MAX: there is none. */
static uint64_t find_limit(const api_format *format, const api_host *host)
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

/* The part of the selection that the format carries. */
static api_selection select_carried_tensors(const api_format *format, const api_wish *wish)
{
    api_selection part = *wish->selection;
    part.count = format->single ? 1 : part.count;
    return part;
}

/* How many elements or pixels the format would write. */
static uint64_t estimate_work(const api_format *format, const api_wish *wish)
{
    api_selection part = select_carried_tensors(format, wish);
    return format->work ? format->work(&part) : 0;
}

static bool exceeds_limit(const api_format *format, const api_wish *wish)
{
    return estimate_work(format, wish) > find_limit(format, wish->host);
}

/* Why the format cannot represent the first selected tensor, or NULL. */
static const char *find_refusal(const api_format *format, const api_wish *wish)
{
    const api_selection *selection = wish->selection;
    const pe_tensor *tensor = pe_request_tensor(selection->request, selection->first);
    return format->refuses ? format->refuses(tensor->dtype) : NULL;
}

/* Whether the format's own check finds a problem. The problems are added to `error` unless it
 * is NULL. */
static bool is_wrong(const api_format *format, const api_wish *wish, pe_error *error)
{
    pe_error own;
    api_selection part = select_carried_tensors(format, wish);
    if (!format->check)
        return false;
    pe_error_init(&own);
    format->check(&part, error ? error : &own);
    return (error ? error : &own)->count > 0;
}

/* Append the formats that can represent the selection to a reason. */
static void list_alternatives(const api_wish *wish, char dst[API_REASON_SIZE])
{
    const size_t size = API_REASON_SIZE;
    size_t used = strlen(dst);
    const char *separator = "; available: ";
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_get(i);
        if (find_refusal(format, wish) || is_wrong(format, wish, NULL) ||
            exceeds_limit(format, wish))
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
    "Accept-Encoding must admit identity or, for text formats, gzip";

static const char *const UNITS[] = {
    [API_BYTES] = "bytes", [API_ELEMENTS] = "elements", [API_PIXELS] = "pixels"};

/* Judge the format that the request names. */
static api_choice check_asked(const api_wish *wish, char ret_reason[API_REASON_SIZE],
                              pe_error *error)
{
    const api_format *asked = wish->asked;
    const char *reason = find_refusal(asked, wish);
    if (reason) {
        snprintf(ret_reason, API_REASON_SIZE, "%s", reason);
        return API_CHOICE_REFUSED;
    }
    if (is_wrong(asked, wish, error))
        return API_CHOICE_WRONG;
    if (exceeds_limit(asked, wish)) {
        snprintf(ret_reason, API_REASON_SIZE,
                 "one that carries %llu %s: %s carries at most %llu",
                 (unsigned long long)estimate_work(asked, wish), UNITS[asked->measure],
                 asked->name, (unsigned long long)find_limit(asked, wish->host));
        list_alternatives(wish, ret_reason);
        return API_CHOICE_TOO_LARGE;
    }
    if (!has_coding(asked, wish->codings)) {
        snprintf(ret_reason, API_REASON_SIZE, "%s", NO_CODING);
        return API_CHOICE_NOT_ACCEPTABLE;
    }
    return API_CHOSEN;
}

/* The quality that Accept gives a format. A browser that opens a page accepts text/html and,
 * for the pictures within, also types such as image/png, with the same quality. For such an
 * Accept, a picture counts as the least welcome format, and as one that is not named. */
static unsigned judge_quality(const char *accept, const api_format *format,
                              int *ret_specificity)
{
    int page;
    unsigned quality = api_accept_quality(accept, format->media_type, ret_specificity);
    if (quality == 0 || format->measure != API_PIXELS)
        return quality;
    unsigned page_quality = api_accept_quality(accept, "text/html", &page);
    if (page < 3 || page_quality < quality)
        return quality;
    *ret_specificity = 1;
    return 1;
}

/* Why the formats that a request accepts cannot be served. */
typedef struct obstacles {
    const api_format *over;  /* the last one over its limit, or NULL */
    const api_format *wrong; /* the first one whose options are wrong, or NULL */
    const char *reason;      /* another reason, or NULL */
} obstacles;

/* Whether a format can be served; if not, the obstacle is noted. */
static bool can_serve(const api_format *format, const api_wish *wish, obstacles *blocked)
{
    const char *reason = find_refusal(format, wish);
    if (reason) {
        blocked->reason = reason;
    } else if (!has_coding(format, wish->codings)) {
        blocked->reason = blocked->reason ? blocked->reason : NO_CODING;
    } else if (is_wrong(format, wish, NULL)) {
        blocked->wrong = blocked->wrong ? blocked->wrong : format;
    } else if (exceeds_limit(format, wish)) {
        blocked->over = format;
    } else {
        return true;
    }
    return false;
}

api_choice api_choose_format(const api_wish *wish, const api_format **ret_format,
                             char ret_reason[API_REASON_SIZE], pe_error *error)
{
    if (wish->asked) {
        *ret_format = wish->asked;
        return check_asked(wish, ret_reason, error);
    }
    const api_format *best = NULL;
    obstacles blocked = {.over = NULL};
    unsigned best_quality = 0;
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_get(i);
        int specific;
        unsigned quality = judge_quality(wish->accept, format, &specific);
        if (quality == 0 || quality <= best_quality)
            continue;
        if (blocked.over &&
            specific < 3) /* only a format that Accept names may replace that one */
            continue;
        if (can_serve(format, wish, &blocked)) {
            best = format;
            best_quality = quality;
        }
    }
    if (best) {
        *ret_format = best;
        return API_CHOSEN;
    }
    if (blocked.wrong && !blocked.over && !blocked.reason &&
        is_wrong(blocked.wrong, wish, error))
        return API_CHOICE_WRONG;
    if (blocked.over)
        snprintf(ret_reason, API_REASON_SIZE, "%s carries at most %llu %s, but there are %llu",
                 blocked.over->media_type,
                 (unsigned long long)find_limit(blocked.over, wish->host),
                 UNITS[blocked.over->measure],
                 (unsigned long long)estimate_work(blocked.over, wish));
    else
        snprintf(ret_reason, API_REASON_SIZE, "%s",
                 blocked.reason ? blocked.reason : "Accept admits no format of tensors");
    list_alternatives(wish, ret_reason);
    return API_CHOICE_NOT_ACCEPTABLE;
}
