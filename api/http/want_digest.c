#include "http/want_digest.h"

#include <string.h>

bool api_wants_digest(const api_call *call)
{
    static const char algorithm[] = "sha-256=";
    const char *at = api_call_header(call, API_HEADER_WANT_REPR_DIGEST);
    bool wanted = false;
    while (at && *at) {
        at += strspn(at, " \t");
        const size_t length = strcspn(at, ",");
        if (length > strlen(algorithm) && strncmp(at, algorithm, strlen(algorithm)) == 0) {
            const char *digits = at + strlen(algorithm);
            const size_t count = strspn(digits, "0123456789");
            wanted = count > 0 && strspn(digits, "0") < count; /* of several the last counts */
        }
        at += length + (at[length] == ',');
    }
    return wanted;
}
