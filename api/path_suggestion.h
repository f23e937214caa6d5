/* Paths that nothing answers. */
#ifndef API_PATH_SUGGESTION_H
#define API_PATH_SUGGESTION_H

#include "routes.h"

/* Write the path of one of these routes that the path of a target may be a slip of: without its
 * version, with a slash at its end, or misspelt. False if none is near, or without room. */
bool api_suggest_path(const api_route *routes, size_t count, const char *target, char *dst,
                      size_t size);

#endif
