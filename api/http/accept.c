/* Quality values (RFC 9110, section 12.4.2). */
#include "http/accept.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Move *text past leading blanks; returns the length without blanks at either end. */
static size_t trim_blanks(const char **text, size_t length)
{
    for (; length > 0 && is_blank(**text); length--)
        (*text)++;
    while (length > 0 && is_blank((*text)[length - 1]))
        length--;
    return length;
}

/* How specifically a range matches: 3 if it is the media type, 2 if it is the type with a star
 * as subtype, 1 if it matches everything, 0 if it does not match. */
static int measure_specificity(const char *range, size_t length, const char *media_type)
{
    size_t type = strcspn(media_type, "/") + 1; /* the length of the type and the slash */
    if (length == strlen(media_type) && strncasecmp(range, media_type, length) == 0)
        return 3;
    if (length == type + 1 && range[type] == '*' && strncasecmp(range, media_type, type) == 0)
        return 2;
    return (length == 3 && memcmp(range, "*/*", 3) == 0) || (length == 1 && *range == '*');
}

/* Read a qvalue such as "0.25", "1" or, as some clients write, ".2"; in thousandths. */
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

/* The value of the parameter q among the parameters of a range, in thousandths; 1000 if there
 * is none. */
static unsigned parse_quality(const char *parameters, size_t length)
{
    const char *end = parameters + length;
    while (parameters < end) {
        const char *semicolon = memchr(parameters, ';', (size_t)(end - parameters));
        const char *parameter = parameters, *parameter_end = semicolon ? semicolon : end;
        size_t size = trim_blanks(&parameter, (size_t)(parameter_end - parameters));
        if (size >= 2 && (parameter[0] == 'q' || parameter[0] == 'Q') && parameter[1] == '=')
            return read_quality(parameter + 2, size - 2);
        parameters = semicolon ? semicolon + 1 : end;
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
        length = trim_blanks(&name, length);
        int specific = measure_specificity(name, length, media_type);
        if (specific > best) {
            best = specific;
            quality = semicolon ? parse_quality(semicolon + 1,
                                                whole - (size_t)(semicolon + 1 - range))
                                : 1000;
        }
    }
    *ret_specificity = best;
    return quality;
}
