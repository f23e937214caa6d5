/* Who may do what, beside what everybody may: encodings, models, documents. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "service.h"

/* Refuse a call that lacks a right; an api_guard otherwise.
 *
 * The store: where the server has a key, every request must bring it as a bearer token. Where
 * it has none, only local clients are let in: the server must listen on loopback or a Unix
 * socket, and refused is what a proxy has forwarded, what a web page may have sent, by Origin
 * or Sec-Fetch-Site, and what is for a Host that is no loopback name (DNS rebinding).
 *
 * Tables: as api_host.tables says. Local clients are as above, and the pages of this server are
 * among them. */
bool api_refuse_access(const api_call *call, api_right right, api_reply **ret_refusal);

/* Find a stored set for an answer that depends on it; ret_set is NULL if no set has the name.
 * The answer will be closed to pages of other origins (api_reply_close), and their requests are
 * refused, unless the host lets all of them read. False: ret_reply is the answer, NULL without
 * memory or after api_not_yet. */
bool api_read_set(const api_call *call, const char *name, api_set **ret_set,
                  api_reply **ret_reply);

/* Whether the value of a Host header is a loopback name or address, with or without a port. */
bool api_is_loopback_host(const char *host);

#endif
