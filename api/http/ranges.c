/* Reading Range and If-Range. */
#include "http/ranges.h"

#include <string.h>
#include <strings.h>

/* Read the digits at *at, saturating at UINT64_MAX, and move *at past them; false if there are
 * none. */
static bool read_number(const char **at, const char *end, uint64_t *ret_number)
{
    uint64_t number = 0;
    const char *start = *at;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        uint64_t digit = (uint64_t)(**at - '0');
        number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
    }
    *ret_number = number;
    return *at > start;
}

/* Read one range, "first-last", "first-" or "-count", as its first and last byte. */
static api_range read_byte_range(const char *at, const char *end, uint64_t whole,
                                 uint64_t *ret_first, uint64_t *ret_last)
{
    bool from = read_number(&at, end, ret_first);
    if (at == end || *at++ != '-')
        return API_RANGE_NONE;
    bool to = read_number(&at, end, ret_last);
    if (at < end || (!from && !to) || (from && to && *ret_last < *ret_first))
        return API_RANGE_NONE;
    if (!from) { /* "-count": the last bytes */
        uint64_t count = *ret_last < whole ? *ret_last : whole;
        *ret_first = whole - count;
    }
    if (!from || !to || *ret_last >= whole)
        *ret_last = whole - 1;
    return *ret_first < whole ? API_RANGE_PART : API_RANGE_UNSATISFIABLE;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

api_range api_read_range(const char *range, uint64_t whole, uint64_t *ret_first,
                         uint64_t *ret_size)
{
    static const char unit[] = "bytes=";
    api_range found = API_RANGE_NONE;
    uint64_t last = 0;
    size_t count = 0;
    if (strncasecmp(range, unit, sizeof unit - 1) != 0)
        return API_RANGE_NONE;
    for (const char *next, *at = range + sizeof unit - 1; at; at = next) {
        const char *comma = strchr(at, ','), *end = comma ? comma : at + strlen(at);
        next = comma ? comma + 1 : NULL;
        while (at < end && is_blank(*at))
            at++;
        while (end > at && is_blank(end[-1]))
            end--;
        if (at == end) /* an element of a list may be empty */
            continue;
        found = read_byte_range(at, end, whole, ret_first, &last);
        if (found == API_RANGE_NONE || ++count > 1)
            return API_RANGE_NONE;
    }
    *ret_size = found == API_RANGE_PART ? last - *ret_first + 1 : 0;
    return found;
}

bool api_if_range_holds(const char *if_range, const api_etag *etag)
{
    size_t length = strlen(etag->text);
    while (is_blank(*if_range))
        if_range++;
    return strncmp(if_range, etag->text, length) == 0 &&
           if_range[length + strspn(if_range + length, " \t")] == '\0';
}
