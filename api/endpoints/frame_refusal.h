/* What a page of another site shows in a frame that may not show the visualiser. */
#ifndef API_FRAME_REFUSAL_H
#define API_FRAME_REFUSAL_H

#include "call.h"

/* The same address of the page for those who have come to it in such a frame: a few words, and
 * the address of the picture alone. NULL without memory. */
api_body *api_frame_refusal_body(const api_call *call);

#endif
