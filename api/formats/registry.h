/* The registry of formats. */
#ifndef API_REGISTRY_H
#define API_REGISTRY_H

#include "formats/format.h"

size_t api_format_count(void);
const api_format *api_format_get(size_t index);      /* 0 is the default */
const api_format *api_format_find(const char *name); /* NULL if there is none */

/* The names as an array, for choices. */
const char *const *api_format_names(void);

#endif
