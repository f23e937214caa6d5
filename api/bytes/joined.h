/* Bodies one after the other. */
#ifndef API_JOINED_H
#define API_JOINED_H

#include "bytes/body.h"

/* A streamed body of the bytes of `count` bodies in their order. Takes over the references and
 * drops each one when it has been read, or skipped: so the whole is read once, forward, and
 * from a later byte on only where that lies behind bodies of known length. NULL without memory,
 * or if one of the bodies is NULL; the references are dropped then. */
api_body *api_body_join(api_body *const *bodies, size_t count);

/* The same of a head in memory, which is from malloc or NULL, and the bytes of `count` sources.
 * Takes over the head and the sources, of which some may have no `free`; the last one is freed
 * last. */
api_body *api_body_from_sources(char *head, size_t head_size, const api_source *sources,
                                size_t count);

#endif
