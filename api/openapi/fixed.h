/* The fixed part of the OpenAPI document, fixed.json, as the build embeds it. */
#ifndef API_OPENAPI_FIXED_H
#define API_OPENAPI_FIXED_H

extern const char api_openapi_fixed[]; /* a JSON object */

#endif
