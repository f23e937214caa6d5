/* Range. The input is two lines: the value, and the length of the whole. A part must lie within
 * the whole, and the part of a body must have the bytes of that slice. If the value is one
 * well-formed range, this file's own parser must find the same part. */
#include "bytes/body.h"
#include "support/fuzz.h"

#include "http/ranges.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide; /* holds the 19 digits of ONE_RANGE */

static const char ONE_RANGE[] = "[bB][yY][tT][eE][sS]=([0-9]{1,19}-[0-9]{0,19}|-[0-9]{1,19})";

static wide read_wide(const char **at)
{
    wide number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        number = 10 * number + (unsigned)(**at - '0');
    return number;
}

/* What a well-formed range asks for, by RFC 9110, section 14.1.2. */
static api_range expected(const char *range, uint64_t whole, uint64_t *ret_first,
                          uint64_t *ret_size)
{
    const char *at = strchr(range, '=') + 1;
    bool suffix = *at == '-';
    wide first = read_wide(&at);
    at++;
    bool open = *at == '\0';
    wide last = read_wide(&at);
    if (!suffix && !open && last < first)
        return API_RANGE_NONE;
    if (suffix) {
        first = last < whole ? whole - last : 0;
        last = whole - 1;
    } else if (open || last >= whole) {
        last = whole - 1;
    }
    if (first >= whole)
        return API_RANGE_UNSATISFIABLE;
    *ret_first = (uint64_t)first;
    *ret_size = (uint64_t)(last - first) + 1;
    return API_RANGE_PART;
}

/* Check a part of a body that has `whole` bytes in three segments. */
static void check_slice(uint64_t whole, uint64_t first, uint64_t size)
{
    char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    size_t cut = (size_t)whole / 3;
    char *pieces[3] = {fuzz_exact(bytes, cut), fuzz_exact(bytes + cut, cut),
                       fuzz_exact(bytes + 2 * cut, (size_t)whole - 2 * cut)};
    const api_segment segments[3] = {
        {pieces[0], cut}, {pieces[1], cut}, {pieces[2], (size_t)whole - 2 * cut}};
    api_body *body = api_body_from_table(NULL, NULL, segments, 3);
    api_body *part = api_body_part(body, first, size);
    const api_segment *cuts;
    size_t count = api_body_segments(part, &cuts), at = 0;
    fuzz_check(api_body_size(part) == size, "the part's size");
    for (size_t i = 0; i < count; i++) {
        fuzz_check(cuts[i].size <= size - at, "a part of too many bytes");
        fuzz_check(memcmp(cuts[i].data, bytes + first + at, cuts[i].size) == 0, "the slice");
        at += cuts[i].size;
    }
    fuzz_check(at == size, "a part of %zu bytes, not %llu", at, (unsigned long long)size);
    api_body_unref(part);
    api_body_unref(body);
    for (size_t i = 0; i < 3; i++)
        free(pieces[i]);
}

static void check_range(const char *range, uint64_t whole)
{
    uint64_t first = 0, size = 0, wanted_first = 0, wanted_size = 0;
    api_range outcome = api_read_range(range, whole, &first, &size);
    if (outcome == API_RANGE_PART) {
        fuzz_check(first < whole && size > 0 && size <= whole - first, "%s of %llu", range,
                   (unsigned long long)whole);
        if (whole <= 300)
            check_slice(whole, first, size);
    }
    if (!fuzz_fits(ONE_RANGE, range, strlen(range)))
        return;
    fuzz_check(outcome == expected(range, whole, &wanted_first, &wanted_size), "%s of %llu: %d",
               range, (unsigned long long)whole, (int)outcome);
    if (outcome == API_RANGE_PART)
        fuzz_check(first == wanted_first && size == wanted_size, "%s of %llu: %llu from %llu",
                   range, (unsigned long long)whole, (unsigned long long)size,
                   (unsigned long long)first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_copy(data, size), *at = text;
    const char *range = fuzz_line(&at);
    char *exact = fuzz_copy(range, strlen(range));
    const uint64_t wholes[] = {strtoull(fuzz_line(&at), NULL, 10), 1, 2, 100, 300, UINT64_MAX};
    for (size_t i = 0; i < FUZZ_COUNT(wholes); i++)
        if (wholes[i] > 0)
            check_range(exact, wholes[i]);
    free(exact);
    free(text);
    return 0;
}
