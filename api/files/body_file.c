/* Reading the body of a request, which the host holds in memory or elsewhere. */
#include "files/body_file.h"

#include <string.h>

static bool read_body(void *context, uint64_t offset, void *dst, size_t size)
{
    const api_request *request = context;
    if (offset > request->body_size || size > request->body_size - offset)
        return false;
    if (!request->body)
        return size == 0 ||
               (request->read_body && request->read_body(request->context, offset, dst, size));
    if (size > 0)
        memcpy(dst, request->body + offset, size);
    return true;
}

api_file api_request_file(const api_request *request)
{
    return (api_file){
        .read = read_body, .context = (void *)(uintptr_t)request, .size = request->body_size};
}

api_file api_body_file(const api_call *call)
{
    return api_request_file(call->request);
}
