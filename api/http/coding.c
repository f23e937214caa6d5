/* Choosing a content coding. */
#include "http/coding.h"

#include "http/accept.h"

#include <zlib.h>

api_codings api_accept_codings(const char *accept_encoding)
{
    int named;
    if (!accept_encoding)
        return (api_codings){.identity = true};
    unsigned gzip = api_accept_quality(accept_encoding, "gzip", &named);
    unsigned identity = api_accept_quality(accept_encoding, "identity", &named);
    return (api_codings){.identity = identity > 0 || named == 0, /* unless excluded */
                         .gzip = gzip > 0 && gzip >= identity,
                         .gzip_admitted = gzip > 0};
}

bool api_choose_coding(api_codings codings, bool text, api_coding *ret_coding)
{
    bool gzip = text && codings.gzip;
    *ret_coding = gzip ? API_GZIP : API_IDENTITY;
    return gzip || codings.identity;
}

const char *api_coding_tag(api_coding coding)
{
    return coding == API_GZIP ? zlibVersion() : "identity";
}
