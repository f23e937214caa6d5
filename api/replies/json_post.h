/* What every POST of a JSON object must be like. */
#ifndef API_JSON_POST_H
#define API_JSON_POST_H

#include "call.h"

/* Whether a POST says that its body is JSON. False: ret_refusal is the 415 then, NULL without
 * memory. `example` is a body that would do. */
bool api_is_json_body(const api_call *call, const char *example, api_reply **ret_refusal);

/* Whether a POST says that its body is bytes, and these begin as a GGUF file does. */
bool api_is_gguf_body(const api_call *call);

/* As api_is_json_body, and whether it has no query. False: ret_refusal is the 415 or 400. */
bool api_is_json_post(const api_call *call, const char *example, api_reply **ret_refusal);

#endif
