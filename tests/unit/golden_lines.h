/* The files of tests/golden: a JSON object on each line, which is a case. */
#ifndef GOLDEN_LINES_H
#define GOLDEN_LINES_H

#include "posenc.h"

#include <jansson.h>

/* Check one case. `label` says where it is, "FILE:LINE: CASE", and begins every message. */
typedef void unit_golden_check(const char *label, json_t *line);

/* Check every line of tests/golden/NAME.jsonl, of which there is at least one. Returns how many
 * there are. */
size_t unit_golden_lines(const char *name, unit_golden_check *check);

/* A member that is a text; fails the test if it is none. */
const char *unit_golden_text(const char *label, json_t *object, const char *member);

/* The table of a line's scheme and query, which must be legal; `family` is "" or "similarity/".
 */
pe_table *unit_golden_table(const char *label, const char *family, json_t *line);

#endif
