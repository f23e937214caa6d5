/* Who may do what: by a bearer token, from loopback alone, and pages by their origin. */
#include "replies/access.h"

#include "bytes/digest.h"
#include "replies/problem.h"
#include "replies/reply.h"

#include <stdio.h>
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

/* ---- who asks ---- */

/* Whether an Origin is that of the pages that this server itself has under its Host; a proxy
 * may end TLS. */
static bool is_own_origin(const char *origin, const char *host)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; host && i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i]);
        if (strncmp(origin, schemes[i], length) == 0 && strcasecmp(origin + length, host) == 0)
            return true;
    }
    return false;
}

/* Whether a page of another origin asks. Browsers send no Origin with a GET that the page does
 * not read, such as that of an image, but newer ones say in Sec-Fetch-Site who asks. */
static bool is_foreign_page(const api_call *call)
{
    const char *origin = api_call_header(call, API_HEADER_ORIGIN);
    const char *site = api_call_header(call, API_HEADER_SEC_FETCH_SITE);
    bool same = !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
    return !same || (origin && !is_own_origin(origin, api_call_header(call, API_HEADER_HOST)));
}

/* Whether the request has come through a proxy that says so. */
static bool is_forwarded(const api_call *call)
{
    return api_call_header(call, API_HEADER_X_FORWARDED_FOR) ||
           api_call_header(call, API_HEADER_FORWARDED) || api_call_header(call, API_HEADER_VIA);
}

/* Whether a request is for another name than one of loopback, as of a page whose own name has
 * been made to lead here (DNS rebinding). No name leads to a Unix socket. */
static bool has_foreign_host(const api_call *call)
{
    const char *host = api_call_header(call, API_HEADER_HOST);
    return host && !call->service->host->any_host && !api_is_loopback_host(host);
}

/* ---- refusals ---- */

/* Refuse with "PATH reason: remedy". */
static api_reply *refuse_naming_remedy(const api_call *call, api_code code, const char *reason,
                                       const char *remedy)
{
    char detail[480];
    snprintf(detail, sizeof detail, "%s %s: %s", call->pattern, reason, remedy);
    return api_problem(code, detail, NULL, NULL);
}

/* What a right is called in refusals. */
static const struct {
    const char *keys, *opening; /* which keys have it, and which setting opens it to others */
} RIGHTS[] = {
    [API_RIGHT_STORE] = {"send that of --api-key-file as Authorization: Bearer KEY",
                         "--api-key-file opens it to those who have the key"},
    [API_RIGHT_TABLES] = {"send that of --tables-key-file or --api-key-file as Authorization: "
                          "Bearer KEY",
                          "--tables open or --tables key opens it"},
};

/* Refuse a call without the token of one of two keys, either of which may be NULL. */
static bool refuse_token(const api_call *call, api_right right, const char *key,
                         const char *other, api_reply **ret_refusal)
{
    static const char scheme[] = "Bearer ";
    const char *given = api_call_header(call, API_HEADER_AUTHORIZATION);
    bool bears = given && strncasecmp(given, scheme, sizeof scheme - 1) == 0;
    if (bears) {
        given += strspn(given + sizeof scheme - 1, " ") + sizeof scheme - 1;
        bool matches = key && api_secrets_match(given, key);
        if ((other && api_secrets_match(given, other)) || matches)
            return false;
    }
    *ret_refusal =
        refuse_naming_remedy(call, API_UNAUTHORIZED,
                             bears ? "needs a key of this server, and the token is none"
                                   : "needs a key of this server",
                             RIGHTS[right].keys);
    api_reply_add(*ret_refusal, "WWW-Authenticate", "Bearer realm=\"posenc\"%s",
                  bears ? ", error=\"invalid_token\"" : "");
    return true;
}

/* Why a call is none of a local client; NULL if it is one. `own`: the pages of this server
 * count as local. */
static const char *reason_to_forbid(const api_call *call, bool own)
{
    if (!call->service->host->local)
        return "is closed, since this server listens beyond loopback";
    if (is_forwarded(call))
        return "is only open to local clients, and this request has come through a proxy";
    if (is_foreign_page(call) || (!own && api_call_header(call, API_HEADER_ORIGIN)))
        return "is not open to web pages, and this request is one's, as Origin or "
               "Sec-Fetch-Site says";
    if (has_foreign_host(call))
        return "is only open under loopback names, such as Host: localhost";
    return NULL;
}

static bool refuse_others(const api_call *call, api_right right, bool own,
                          api_reply **ret_refusal)
{
    const char *reason = reason_to_forbid(call, own);
    if (reason)
        *ret_refusal = refuse_naming_remedy(call, API_FORBIDDEN, reason, RIGHTS[right].opening);
    return reason != NULL;
}

bool api_refuse_access(const api_call *call, api_right right, api_reply **ret_refusal)
{
    const api_host *host = call->service->host;
    switch (right) {
    case API_RIGHT_NONE:
        break;
    case API_RIGHT_STORE:
        return host->api_key ? refuse_token(call, right, host->api_key, NULL, ret_refusal)
                             : refuse_others(call, right, false, ret_refusal);
    case API_RIGHT_TABLES:
        if (host->tables == API_OPEN_TO_KEYS)
            return refuse_token(call, right, host->api_key, host->tables_key, ret_refusal);
        return host->tables == API_OPEN_LOCALLY &&
               refuse_others(call, right, true, ret_refusal);
    }
    return false;
}

/* ---- reading what depends on sets ---- */

/* Why a page may not read what depends on a set; NULL if no page asks, or it may. */
static const char *reason_to_withhold(const api_call *call)
{
    const api_host *host = call->service->host;
    if (host->stored_for_all)
        return NULL;
    if (is_foreign_page(call))
        return "with a set is only open to the pages of this server, and this request "
               "is that of another one, as Origin or Sec-Fetch-Site says";
    if (host->local && !host->api_key && has_foreign_host(call))
        return "with a set is only open under loopback names, such as Host: localhost";
    return NULL;
}

bool api_refuse_reading(const api_call *call, api_reply **ret_refusal)
{
    const char *reason = reason_to_withhold(call);
    if (!reason)
        return false;
    *ret_refusal =
        refuse_naming_remedy(call, API_FORBIDDEN, reason,
                             "--cors all opens it to all pages, --api-key-file under all "
                             "names");
    return true;
}
