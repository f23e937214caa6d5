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

static bool is_over(const api_format *format, uint64_t elements, uint64_t limited_elements)
{
    return format->limited && elements > limited_elements;
}

static const char *refusal(const api_format *format, pe_dtype dtype)
{
    return format->refuses ? format->refuses(dtype) : NULL;
}

/* The formats that can carry the selection, for a reason. */
static void list_alternatives(pe_dtype dtype, uint64_t elements, uint64_t limited_elements,
                              char *dst, size_t size)
{
    size_t used = strlen(dst);
    const char *separator = "; available: ";
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_at(i);
        if (refusal(format, dtype) || is_over(format, elements, limited_elements))
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
    return api_choose_coding(codings, format->limited, &coding);
}

static const char NO_CODING[] =
    "Accept-Encoding admits neither identity nor, for text, gzip; there is nothing else";

static api_choice check_asked(const api_format *asked, api_codings codings,
                              const pe_tensor *tensor, uint64_t elements,
                              uint64_t limited_elements, char *ret_reason, size_t reason_size)
{
    const char *reason = refusal(asked, tensor->dtype);
    if (reason) {
        snprintf(ret_reason, reason_size, "%s", reason);
        return API_CHOICE_REFUSED;
    }
    if (is_over(asked, elements, limited_elements)) {
        snprintf(ret_reason, reason_size, "at most %llu elements as %s",
                 (unsigned long long)limited_elements, asked->name);
        list_alternatives(tensor->dtype, elements, limited_elements, ret_reason, reason_size);
        return API_CHOICE_TOO_LARGE;
    }
    if (!has_coding(asked, codings)) {
        snprintf(ret_reason, reason_size, "%s", NO_CODING);
        return API_CHOICE_NOT_ACCEPTABLE;
    }
    return API_CHOSEN;
}

api_choice api_choose_format(const api_format *asked, const char *accept, api_codings codings,
                             const pe_tensor *tensor, uint64_t elements,
                             uint64_t limited_elements, const api_format **ret_format,
                             char *ret_reason, size_t reason_size)
{
    if (asked) {
        *ret_format = asked;
        return check_asked(asked, codings, tensor, elements, limited_elements, ret_reason,
                           reason_size);
    }
    const api_format *best = NULL, *over = NULL;
    const char *reason = NULL;
    unsigned best_quality = 0;
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_at(i);
        int specific;
        unsigned quality = api_accept_quality(accept, format->media_type, &specific);
        if (quality == 0 || quality <= best_quality)
            continue;
        if (over && specific < 3) /* nobody gets a binary form that was not asked for by name */
            continue;
        if (refusal(format, tensor->dtype)) {
            reason = refusal(format, tensor->dtype);
        } else if (!has_coding(format, codings)) {
            reason = reason ? reason : NO_CODING;
        } else if (is_over(format, elements, limited_elements)) {
            over = format;
        } else {
            best = format;
            best_quality = quality;
        }
    }
    if (best) {
        *ret_format = best;
        return API_CHOSEN;
    }
    if (over)
        snprintf(ret_reason, reason_size, "%s carries at most %llu elements, this is %llu",
                 over->media_type, (unsigned long long)limited_elements,
                 (unsigned long long)elements);
    else
        snprintf(ret_reason, reason_size, "%s",
                 reason ? reason : "Accept admits no representation of a tensor");
    list_alternatives(tensor->dtype, elements, limited_elements, ret_reason, reason_size);
    return API_CHOICE_NOT_ACCEPTABLE;
}
