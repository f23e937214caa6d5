/* The header of a safetensors file that a request brings. */
#ifndef API_TABLES_SAFETENSORS_H
#define API_TABLES_SAFETENSORS_H

#include "tables/table_file.h"

#include <jansson.h>

/* Parse the header; *ret_data is where the file's data begins. The caller drops the object.
 * NULL, and a problem, if it cannot be read. */
json_t *api_safetensors_load(const api_file *file, size_t *ret_data, pe_error *reterr);

#endif
