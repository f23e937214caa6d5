#include "json/measure.h"

#include "bytes/memory_budget.h"

#include <string.h>

/* Bytes that jansson 2.13 and 2.14 allocate on 64 bits, with malloc's overhead and the share in
 * the list or table of the container, which may be copied as it grows. */
#define READING   8192 /* of the reader itself */
#define OF_OBJECT 288
#define OF_ARRAY  192
#define OF_STRING 160 /* besides its characters */
#define OF_OTHER  64
#define OF_LONGEST                                                                             \
    4 /* for a character of the longest string, which is copied as it is read                  \
       */

/* Skip a string, whose opening quote is at `at`; returns the place of its closing quote, or
 * `size`. */
static size_t end_of_string(const char *text, size_t at, size_t size)
{
    for (at++; at < size && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at < size ? at : size;
}

/* Whether a character may belong to a number or a word. */
static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '-' || c == '+' || c == '.';
}

api_json_measure api_json_count(const char *text, size_t size)
{
    api_json_measure found = {.bytes = READING};
    size_t objects = 0, longest = 0, characters = 0;
    bool in_plain = false;
    for (size_t at = 0; at < size; at++) {
        bool plain = is_plain(text[at]);
        found.others += plain && !in_plain;
        in_plain = plain;
        if (text[at] == '{' || text[at] == '[') {
            found.containers++;
            objects += text[at] == '{';
        } else if (text[at] == '"') {
            size_t end = end_of_string(text, at, size);
            found.strings++;
            characters += end - at;
            longest = end - at > longest ? end - at : longest;
            at = end;
        }
    }
    found.bytes += OF_OBJECT * objects + OF_ARRAY * (found.containers - objects) +
                   OF_STRING * found.strings + OF_OTHER * found.others + characters +
                   OF_LONGEST * longest;
    return found;
}

/* Whether a number is written so that a double keeps it, whatever its digits are. */
static bool is_surely_kept(const char *number, size_t size)
{
    return size <= 15 && !memchr(number, 'e', size) && !memchr(number, 'E', size);
}

bool api_json_find_rounded(const char *text, size_t size, api_rounded_number *ret_found)
{
    *ret_found = (api_rounded_number){.name = text};
    for (size_t at = 0, start = 0; at < size; at++) {
        start = at;
        if (text[at] == '"') {
            at = end_of_string(text, at, size);
            ret_found->name = text + start + 1;
            ret_found->name_size = at - start - 1;
            continue;
        }
        while (at < size && is_plain(text[at]))
            at++;
        ret_found->text = text + start;
        ret_found->size = at - start;
        if (at < size && !is_surely_kept(text + start, at - start) &&
            pe_parse_number(text + start, at - start, &ret_found->number) &&
            !pe_number_is_kept(text + start, at - start, ret_found->number))
            return true;
        at -= at > start; /* what follows may begin a string */
    }
    return false;
}

bool api_json_reserve(const api_json_measure *found, size_t size, size_t copies,
                      pe_error *reterr)
{
    return api_reserve(found->bytes + (uint64_t)copies * size, "the body", reterr);
}
