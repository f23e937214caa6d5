#include "http/access.h"

#include <arpa/inet.h>
#include <string.h>

rejection http_access_reason(const api_reply *reply, rejection found, bool draining)
{
    api_refusal refusal = api_reply_refusal(reply);
    if (found != REJECTED_NOT)
        return found;
    return draining && refusal == API_REFUSAL_COMPUTE_DEADLINE ? REJECTED_DRAINING
                                                               : rejection_by_api(refusal);
}

/* ---- the access log ---- */

/* One word for the reply's Cache-Status (RFC 9211); NULL if the reply has none. */
static const char *cache_state(const api_reply *reply)
{
    static const struct {
        const char *part, *word; /* a part of the field's value, and the word for the log */
    } STATES[] = {
        {"hit", "hit"},
        {"collapsed", "coalesced"},
        {"fwd=miss", "miss"},
        {"fwd=bypass", "bypass"},
    };
    const api_field *fields;
    size_t count = api_reply_fields(reply, &fields);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, "Cache-Status") != 0)
            continue;
        for (size_t k = 0; k < sizeof STATES / sizeof *STATES; k++)
            if (strstr(fields[i].value, STATES[k].part))
                return STATES[k].word;
    }
    return NULL;
}

/* The client's IP address; "unix" on a Unix socket. */
static const char *write_peer(struct MHD_Connection *connection, char dst[INET6_ADDRSTRLEN])
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    const void *bytes = NULL;
    if (address && address->sa_family == AF_INET)
        bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
    else if (address && address->sa_family == AF_INET6)
        bytes = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    return bytes ? inet_ntop(address->sa_family, bytes, dst, INET6_ADDRSTRLEN) : "unix";
}

log_line *http_access_begin_line(const http_access *access, const trace_echo *echo,
                                 const api_reply *reply)
{
    char peer[INET6_ADDRSTRLEN], trace[33], span[17];
    log_line *line = log_begin(LOG_LEVEL_INFO, "request");
    log_text(line, "method", access->method);
    log_text(line, "target", access->target);
    log_text(line, "route", api_route_name_get(access->route).pattern);
    log_number(line, "status", api_reply_status(reply));
    log_text(line, "cache", cache_state(reply));
    if (access->rejected != REJECTED_NOT)
        log_text(line, "rejected", rejection_name(access->rejected));
    log_text(line, "peer", write_peer(access->connection, peer));
    log_text(line, "request_id", echo->id);
    if (echo->parent[0]) {
        trace_split_parent(echo->parent, trace, span);
        log_text(line, "trace_id", trace);
        log_text(line, "span_id", span);
    }
    log_text(line, "user_agent",
             MHD_lookup_connection_value(access->connection, MHD_HEADER_KIND,
                                         MHD_HTTP_HEADER_USER_AGENT));
    return line;
}
