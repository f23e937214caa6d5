/* A body in parts (multipart/form-data, RFC 7578), which libmicrohttpd splits as it arrives: a
 * file, which becomes the body, and the config of a model beside it. */
#ifndef HTTP_FORM_H
#define HTTP_FORM_H

#include "http/upload.h"

typedef struct http_form {
    struct MHD_PostProcessor *processor; /* NULL: the body is no form */
    http_upload *file;                   /* the request's body */
    http_upload config;
    http_upload_budget *budget; /* of both */
    const char *media_type;     /* of the file; NULL: it has not come */
    bool malformed, unbounded;  /* unbounded: because of its boundary */
} http_form;

/* Begin a form whose `file` goes to the upload. Without a boundary in its media type that
 * libmicrohttpd takes it is malformed; without memory its config is out_of_memory. */
void http_form_begin(http_form *form, struct MHD_Connection *connection, const char *media_type,
                     http_upload *file, http_upload_budget *budget);

/* Take received bytes. What is not the file's counts as discarded by it. */
void http_form_take(http_form *form, const char *data, size_t size);

/* The body has ended: a form without an end or without a file is malformed. */
void http_form_end(http_form *form);

/* Free what the form holds, at any time. */
void http_form_done(http_form *form, http_upload_budget *disk);

#endif
