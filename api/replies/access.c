/* Access to the store: by a bearer token, or from loopback alone. */
#include "replies/access.h"

#include "bytes/digest.h"
#include "replies/problem.h"
#include "replies/reply.h"

#include <string.h>
#include <strings.h>

/* Whether text[0, length) is an IPv4 address in 127.0.0.0/8, written as four decimal numbers.
 * Leading zeros are refused, since other programs read such numbers as octal. */
static bool is_loopback_address(const char *text, size_t length)
{
    unsigned parts = 0;
    for (size_t at = 0; at < length; at++) { /* a part and the point after it */
        unsigned number = 0, digits = 0;
        for (; at < length && text[at] >= '0' && text[at] <= '9' && digits < 3; at++, digits++)
            number = 10 * number + (unsigned)(text[at] - '0');
        bool octal = digits > 1 && text[at - digits] == '0';
        if (digits == 0 || octal || number > 255 || (parts == 0 && number != 127))
            return false;
        bool last = at == length, point = !last && text[at] == '.' && at + 1 < length;
        if (!last && !point)
            return false;
        parts++;
    }
    return parts == 4;
}

/* Whether the rest of a Host value is empty, or a colon and digits. */
static bool is_port(const char *text)
{
    return *text == '\0' || (*text == ':' && text[1 + strspn(text + 1, "0123456789")] == '\0');
}

bool api_is_loopback_host(const char *host)
{
    static const char name[] = "localhost", ipv6[] = "[::1]";
    if (strncmp(host, ipv6, sizeof ipv6 - 1) == 0)
        return is_port(host + sizeof ipv6 - 1);
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

static bool refuse_token(const api_call *call, const char *key, api_reply **ret_refusal)
{
    static const char scheme[] = "Bearer ";
    const char *given = api_call_header(call, API_HEADER_AUTHORIZATION);
    if (!given || strncasecmp(given, scheme, sizeof scheme - 1) != 0) {
        *ret_refusal =
            unauthorized("the store asks for a key; send it as Authorization: Bearer KEY",
                         "Bearer realm=\"posenc\"");
        return true;
    }
    given += strspn(given + sizeof scheme - 1, " ") + sizeof scheme - 1;
    if (api_secrets_match(given, key))
        return false;
    *ret_refusal = unauthorized("the bearer token is not the key of this server",
                                "Bearer realm=\"posenc\", error=\"invalid_token\"");
    return true;
}

/* Whether an Origin is that of the pages that this server itself has under its Host. */
static bool is_own_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return host && strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcasecmp(origin + sizeof scheme - 1, host) == 0;
}

/* Why a server without a key refuses a request; NULL if it lets it in. `own`: pages of this
 * server may ask. */
static const char *reason_to_forbid(const api_call *call, bool own)
{
    const char *name = api_call_header(call, API_HEADER_HOST);
    const char *origin = api_call_header(call, API_HEADER_ORIGIN);
    if (!call->service->host->local)
        return "the store is closed, since this server listens beyond loopback and has no key: "
               "start it with --api-key-file, or let it listen on loopback or a Unix socket";
    if (origin && !(own && is_own_origin(origin, name)))
        return "web pages may not use the store of a server without a key (--api-key-file), "
               "and this request has an Origin header";
    if (name && !api_is_loopback_host(name))
        return "the store of a server without a key (--api-key-file) is only open under "
               "loopback names, such as Host: localhost";
    return NULL;
}

static bool refuse(const api_call *call, bool own, api_reply **ret_refusal)
{
    const char *key = call->service->host->api_key;
    if (key)
        return refuse_token(call, key, ret_refusal);
    const char *reason = reason_to_forbid(call, own);
    if (!reason)
        return false;
    *ret_refusal = api_problem(API_FORBIDDEN, reason, NULL, NULL);
    return true;
}

bool api_refuse_access(const api_call *call, api_reply **ret_refusal)
{
    return refuse(call, false, ret_refusal);
}

bool api_refuse_others(const api_call *call, api_reply **ret_refusal)
{
    return refuse(call, true, ret_refusal);
}
