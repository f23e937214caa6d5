/* Who may do what, beside what everybody may: encodings, models, documents. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "call.h"

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

/* Refuse a call whose answer would depend on a set, if a page of another origin asks,
 * unless the host lets all of them read; an api_guard otherwise. */
bool api_refuse_reading(const api_call *call, api_reply **ret_refusal);

#endif
