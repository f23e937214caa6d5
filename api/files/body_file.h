/* The body of a request as a file. */
#ifndef API_BODY_FILE_H
#define API_BODY_FILE_H

#include "call.h"
#include "files/table_file.h"

/* The body, which is valid as long as the request. */
api_file api_body_file(const api_call *call);

/* The same of a request that outlives its call: see api_reply_reads_request. */
api_file api_request_file(const api_request *request);

#endif
