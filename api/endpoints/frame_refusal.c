/* The text holds the query of its call, and so is escaped, and bounded. */
#include "endpoints/frame_refusal.h"

#include "bytes/body.h"

#include <string.h>

#define QUERY_MAX 1024 /* bytes; a longer one is left out */

/* Append a text as HTML, also within quotes. */
static void add_escaped(api_text *text, const char *string, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = string[i];
        if (strchr("&<>\"'", c))
            api_text_add(text, "&#%d;", c);
        else
            api_text_put(text, &c, 1);
    }
}

/* Append the address of the visualiser with the call's query, and one more pair. */
static void add_address(api_text *text, const api_call *call, const char *pair)
{
    const char *query = call->query && strlen(call->query) < QUERY_MAX ? call->query : "";
    api_text_add(text, "/?");
    add_escaped(text, query, strlen(query));
    api_text_add(text, "%s%s", *query && *pair ? "&#38;" : "", pair);
}

api_body *api_frame_refusal_body(const api_call *call)
{
    api_text text = {0};
    size_t bytes;
    api_text_add(
        &text, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n<title>posenc</title>\n"
               "</head>\n<body>\n<p>In a page of another site posenc shows the picture alone. "
               "Give the frame this address, which ends in embed=1: <a href=\"");
    add_address(&text, call, "embed=1");
    api_text_add(&text, "\"><code>");
    add_address(&text, call, "embed=1");
    api_text_add(&text, "</code></a>.</p>\n<p><a href=\"");
    add_address(&text, call, "");
    api_text_add(&text, "\" target=\"_blank\" rel=\"noopener\">The whole page</a> opens in a "
                        "tab of its own. Whoever runs this service may let other sites frame "
                        "it, by <code>--frame-ancestors</code>.</p>\n</body>\n</html>\n");
    return api_body_take_text(&text, &bytes);
}
