/* Shortcuts: from a request as it came to the reply that all its hits share, without reading
 * its parameters again. */
#ifndef API_SHORTCUT_H
#define API_SHORTCUT_H

#include "encoding.h"

/* A new reference to the reply of a request that has a shortcut, NULL if it has none. */
api_reply *api_shortcut_reply(const api_service *service, const api_request *request);

/* Make one from the request to the reply, which is an attachment of the entry. */
void api_shortcut_add(const api_encoding *encoding, pe_entry *entry, api_reply *reply);

#endif
