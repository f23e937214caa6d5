/* What others see of a page before it is opened: a network that a link is sent to reads the
 * head of the page and runs no script. */
#ifndef API_PREVIEW_H
#define API_PREVIEW_H

#include "bytes/body.h"
#include "call.h"

/* The visualiser with the title, the description and the picture of what the call's query
 * shows, in place of those in its head. The picture is an address of this service, which
 * computes it when it is asked for. NULL without memory. */
api_body *api_preview_body(const api_call *call, const api_asset *page);

/* The same address of the page for those who have come to it in a frame that may not show it: a
 * few words, and the address of the picture alone. NULL without memory. */
api_body *api_frame_refusal_body(const api_call *call);

#endif
