/* The header of a safetensors file that a request brings. */
#ifndef API_FILES_SAFETENSORS_H
#define API_FILES_SAFETENSORS_H

#include "files/table_file.h"

#include <jansson.h>

/* Parse the header; *ret_data is where the file's data begins. The caller drops the object.
 * NULL, and a problem, if it cannot be read. */
json_t *api_safetensors_load(const api_file *file, size_t *ret_data, pe_error *reterr);

/* Choose a member of an object of tensors by its name, as api_safetensors_view does, which goes
 * to ret_name. NULL, and a problem, if there is no such one. */
const json_t *api_choose_tensor(const json_t *root, const char *name, const char *otherwise,
                                char ret_name[API_SET_NAME_MAX + 1], pe_error *reterr);

/* The tensor of a name in a header that has been parsed: see api_safetensors_view. */
bool api_safetensors_find(const api_file *file, const json_t *root, size_t data,
                          const char *name, const char *otherwise, pe_view *ret_view,
                          char ret_name[API_SET_NAME_MAX + 1], pe_error *reterr);

/* The bytes of a header that is written, which is dropped: its length in 8 bytes, and its text,
 * padded with blanks so that what follows is aligned. From malloc; NULL without memory. */
char *api_safetensors_write(json_t *root, size_t *ret_size);

#endif
