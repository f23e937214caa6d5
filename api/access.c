/* Access to the store: bearer tokens, or loopback alone. */
#include "access.h"

#include "etag.h"
#include "problem.h"
#include "reply.h"

#include <string.h>
#include <strings.h>

/* Whether text[0, length) is an IPv4 address in 127.0.0.0/8 as four decimal numbers, without
 * leading zeros, which others read as octal. */
static bool is_loopback_address(const char *text, size_t length)
{
    unsigned parts = 0;
    for (size_t at = 0; at < length; at++) {
        unsigned number = 0, digits = 0;
        for (; at < length && text[at] >= '0' && text[at] <= '9' && digits < 3; at++, digits++)
            number = 10 * number + (unsigned)(text[at] - '0');
        bool dot = at < length && text[at] == '.';
        bool octal = digits > 1 && text[at - digits] == '0';
        if (digits == 0 || octal || number > 255 || (parts == 0 && number != 127) ||
            (dot ? at + 1 == length : at != length))
            return false;
        parts++;
    }
    return parts == 4;
}

static bool is_port(const char *text)
{
    return *text == '\0' || (*text == ':' && text[1 + strspn(text + 1, "0123456789")] == '\0');
}

bool api_is_loopback_host(const char *host)
{
    static const char name[] = "localhost", six[] = "[::1]";
    if (strncmp(host, six, sizeof six - 1) == 0)
        return is_port(host + sizeof six - 1);
    size_t length = strcspn(host, ":");
    bool named = length == sizeof name - 1 && strncasecmp(host, name, length) == 0;
    return (named || is_loopback_address(host, length)) && is_port(host + length);
}

static api_reply *unauthorized(const char *detail, const char *challenge)
{
    api_reply *reply = api_problem(API_UNAUTHORIZED, detail, NULL, NULL);
    api_reply_add(reply, "WWW-Authenticate", "%s", challenge);
    return reply;
}

static api_reply *check_token(const api_call *call, const char *key)
{
    static const char scheme[] = "Bearer ";
    const char *given = api_call_header(call, "Authorization");
    if (!given || strncasecmp(given, scheme, sizeof scheme - 1) != 0)
        return unauthorized("send the key as Authorization: Bearer KEY",
                            "Bearer realm=\"posenc\"");
    given += strspn(given + sizeof scheme - 1, " ") + sizeof scheme - 1;
    if (!api_secrets_match(given, key))
        return unauthorized("the bearer token is not the key that this server was given",
                            "Bearer realm=\"posenc\", error=\"invalid_token\"");
    return NULL;
}

api_reply *api_refuse_access(const api_call *call)
{
    const api_host *host = call->service->host;
    if (host->api_key)
        return check_token(call, host->api_key);
    if (!host->local)
        return api_problem(API_FORBIDDEN,
                           "this server listens beyond loopback and has no key: start it with "
                           "--api-key-file, or on loopback or a Unix socket",
                           NULL, NULL);
    if (api_call_header(call, "Origin"))
        return api_problem(
            API_FORBIDDEN,
            "without a key (--api-key-file) web pages may not use the store: the "
            "request has an Origin",
            NULL, NULL);
    const char *name = api_call_header(call, "Host");
    if (name && !api_is_loopback_host(name))
        return api_problem(
            API_FORBIDDEN,
            "without a key (--api-key-file) the store answers for loopback names "
            "alone, such as Host: localhost",
            NULL, NULL);
    return NULL;
}
