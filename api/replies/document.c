/* JSON documents as bodies and as replies. */
#include "replies/document.h"

#include "bytes/body.h"

#include <string.h>

/* Consume a text that may be NULL. */
static api_body *text_body(char *text)
{
    return text ? api_body_from_text(text, strlen(text)) : NULL;
}

api_body *api_document_body(json_t *document)
{
    return text_body(api_document_text(document, JSON_INDENT(1)));
}

api_body *api_document_readable_body(json_t *document)
{
    return text_body(api_document_readable(document));
}

api_reply *api_passing_reply(unsigned status, const char *media_type)
{
    api_reply *reply = api_reply_new(status);
    api_reply_add(reply, "Cache-Control", "no-store");
    api_reply_add(reply, "Content-Type", "%s", media_type);
    return reply;
}

api_reply *api_passing_document(unsigned status, json_t *document)
{
    api_reply *reply = api_passing_reply(status, "application/json");
    return api_reply_with_body(reply, api_document_readable_body(document), false);
}

api_reply *api_document_reply(api_reply *reply, json_t *document, const char *media_type,
                              bool head)
{
    api_reply_add(reply, "Content-Type", "%s", media_type);
    return api_reply_with_body(reply, api_document_body(document), head);
}
