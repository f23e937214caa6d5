/* Shortcuts: from a request as the client has written it to the reply that all hits share,
 * without reading its arguments or negotiating again. */
#ifndef API_SHORTCUT_H
#define API_SHORTCUT_H

#include "representations/representation.h"

/* A new reference to the reply of a request that has a shortcut; NULL if it has none. */
api_reply *api_shortcut_reply(const api_service *service, const api_request *request);

/* Add a shortcut from the representation's request to a reply, which is an attachment of the
 * entry. Nothing is added without memory, or for a request that may be answered otherwise the
 * next time. */
void api_shortcut_add(const api_representation *representation, pe_entry *entry,
                      api_reply *reply);

#endif
