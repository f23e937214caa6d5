/* Reading the files of tests/golden line by line. */
#include "golden_lines.h"

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *unit_golden_text(const char *label, json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    if (!text)
        ck_abort_msg("%s: %s is missing or no text", label, member);
    return text;
}

pe_table *unit_golden_table(const char *label, const char *family, json_t *line)
{
    char scheme[64];
    pe_request *request;
    pe_table *table;
    pe_error error;
    pe_error_init(&error);
    snprintf(scheme, sizeof scheme, "%s%s", family, unit_golden_text(label, line, "scheme"));
    const char *query = unit_golden_text(label, line, "query");
    pe_status status = unit_request(scheme, query, &UNIT_LIMITS, &request, &error);
    if (status != PE_OK)
        ck_abort_msg("%s: %s: %s", label, error.problems[0].parameter,
                     error.problems[0].allowed);
    status = pe_table_compute(request, NULL, &table, &error);
    if (status != PE_OK)
        ck_abort_msg("%s: no table, status %d", label, status);
    pe_request_unref(request);
    return table;
}

static void check_line(const char *place, const char *text, unit_golden_check *check)
{
    char label[256];
    json_error_t problem;
    json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, &problem);
    if (!line)
        ck_abort_msg("%s: %s at column %d", place, problem.text, problem.column);
    snprintf(label, sizeof label, "%s: %s", place, unit_golden_text(place, line, "case"));
    check(label, line);
    json_decref(line);
}

size_t unit_golden_lines(const char *name, unit_golden_check *check)
{
    char path[128], place[160], *text = NULL;
    size_t room = 0, count = 0;
    snprintf(path, sizeof path, "tests/golden/%s.jsonl", name);
    FILE *file = fopen(path, "r");
    if (!file)
        ck_abort_msg("%s: %s", path, strerror(errno));
    while (getline(&text, &room, file) >= 0) {
        snprintf(place, sizeof place, "%s:%zu", path, ++count);
        check_line(place, text, check);
    }
    free(text);
    fclose(file);
    if (count == 0)
        ck_abort_msg("%s has no lines", path);
    return count;
}
