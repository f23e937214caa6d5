/* The service of the module: settings, cache, store and clock behind the api's callbacks. */
#ifndef MODULE_SERVICE_H
#define MODULE_SERVICE_H

#include "api.h"
#include "observe/metrics.h"

api_service *module_service(void);
server_metrics *module_metrics(void);

/* An exchange that has computed for so many nanoseconds begins to compute, and ends. */
void module_begin_computing(const uint64_t *spent);
void module_end_computing(uint64_t *spent);

/* Whether that is as long as an exchange may compute. */
bool module_is_late(uint64_t spent);

#endif
