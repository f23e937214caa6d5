#include "http/want_digest.h"

#include <stddef.h>
#include <string.h>

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static size_t key_length(const char *at)
{
    const bool begins = *at && strchr("*" LOWER, *at);
    return begins ? strspn(at, LOWER DIGITS "_-.*") : 0;
}

/* Leave the parameters behind a value, which mean nothing here. False: they are malformed. */
static bool skip_parameters(const char **at)
{
    while (**at == ';') {
        *at += 1 + strspn(*at + 1, " ");
        const size_t key = key_length(*at);
        const bool has_value = key > 0 && (*at)[key] == '=';
        const char *value = *at + key + has_value;
        const size_t size = has_value ? strspn(value, LOWER DIGITS "-.") : 0;
        if (key == 0 || (has_value && size == 0))
            return false;
        *at = value + size;
    }
    return true;
}

/* Read a preference. False: there is none. */
static bool read_preference(const char **at, int *ret_preference)
{
    const size_t digits = strspn(*at, DIGITS);
    *ret_preference = 0;
    if (digits == 0 || digits > 15) /* RFC 9651, section 3.3.1 */
        return false;
    for (size_t i = 0; i < digits && *ret_preference <= 10; i++)
        *ret_preference = *ret_preference * 10 + ((*at)[i] - '0');
    *at += digits;
    return *ret_preference <= 10;
}

bool api_wants_digest(const char *field)
{
    static const char algorithm[] = "sha-256";
    const char *at = field ? field + strspn(field, " ") : "";
    bool wanted = false, well_formed = *at != '\0';
    while (well_formed && *at) {
        const size_t key = key_length(at);
        const bool is_ours = key == strlen(algorithm) && strncmp(at, algorithm, key) == 0;
        int preference;
        if (key == 0 || at[key] != '=')
            return false;
        at += key + 1;
        if (!read_preference(&at, &preference) || !skip_parameters(&at))
            return false;
        if (is_ours)
            wanted = preference > 0; /* of several the last one counts */
        at += strspn(at, " \t");
        well_formed = *at == '\0' || *at == ',';
        if (*at == ',') {
            at += 1 + strspn(at + 1, " \t");
            well_formed = *at != '\0';
        }
    }
    return well_formed && wanted;
}
