/* Bodies one after the other. */
#ifndef API_JOINED_H
#define API_JOINED_H

#include "bytes/body.h"

/* A streamed body of the bytes of `count` bodies in their order, of which one may have any
 * length. Takes over the references and drops each one when it has been read: so it is read
 * once, from the start. NULL without memory, or if one of the bodies is NULL; the references
 * are dropped then. */
api_body *api_body_join(api_body *const *bodies, size_t count);

#endif
