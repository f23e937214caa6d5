/* What all file formats of tables share: a view whose shape fits the file. */
#ifndef API_TABLE_VIEW_H
#define API_TABLE_VIEW_H

#include "files/table_file.h"

/* Add that something in the file breaks a rule; returns false. */
bool api_table_refuse(pe_error *reterr, pe_status status, const char *part, const char *given,
                      const char *rule);

/* Begin a view of a file's elements; `little`: their byte order. */
pe_view api_table_view(const api_file *file, pe_element element, bool little);

/* Append an axis to the view's shape. False, and a problem, if it has no room for it, or the
 * axis is empty. */
bool api_table_add_axis(pe_view *view, uint64_t extent, pe_error *reterr);

/* Check that the view's elements take exactly `bytes` bytes. */
bool api_table_fits(const pe_view *view, uint64_t bytes, pe_error *reterr);

#endif
