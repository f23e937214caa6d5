/* CSV tables: a line is a row, as the format csv and numpy.savetxt write them. Numbers are
 * separated by a comma or by blanks. Empty lines are left out, and so is a first line that does
 * not begin with a number, but with names. Where these begin with `position` or `row`, as those
 * of the format csv do, the first column is that of labels and is left out. */
#include "files/table_view.h"
#include "files/text_table.h"
#include "json/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"

/* A text while it is read. */
typedef struct csv_reader {
    const char *at, *end;
    uint64_t line; /* counted from 1 */
    api_numbers numbers;
    uint64_t columns, rows;
    bool labelled; /* the first field of each line is a label */
    pe_error *reterr;
} csv_reader;

/* Add what is wrong with a line; `number` is that of a field, or how many there are. */
static bool refuse_line(const csv_reader *self, const char *fault, uint64_t number)
{
    char given[80];
    snprintf(given, sizeof given, "line %llu %s %llu", (unsigned long long)self->line, fault,
             (unsigned long long)number);
    return api_table_refuse(self->reterr, PE_MALFORMED, "body", given,
                            "lines of numbers, such as 0.5, -1e-07, nan and -inf, and of "
                            "equally many");
}

/* Whether a line of names calls the first column as the format csv does where it is a label. */
static bool names_a_label(const char *text)
{
    return strncmp(text, "position,", strlen("position,")) == 0 ||
           strncmp(text, "row,", strlen("row,")) == 0;
}

/* Skip the label of a line, if lines have one. */
static void skip_label(csv_reader *self)
{
    const size_t size = strcspn(self->at, ",\n");
    if (self->labelled && self->at[size] == ',')
        self->at += size + 1;
}

/* Read a line of numbers, as many as the first one has, and go to its end. */
static bool read_row(csv_reader *self)
{
    const uint64_t before = self->numbers.count;
    uint64_t count = 0;
    skip_label(self);
    for (bool more = true; more; count++) {
        const char *text = self->at + strspn(self->at, BLANKS);
        const size_t size = strcspn(text, BLANKS ",\n");
        if (self->line == 1 && count == 0 && *text == ',')
            return api_table_refuse(self->reterr, PE_MALFORMED, "body",
                                    "a first line of names that begins with an empty one",
                                    "lines without an index, as pandas writes them by "
                                    "to_csv(header=False, index=False)");
        self->at = text + size + strspn(text + size, BLANKS);
        if (!api_numbers_read(&self->numbers, text, size) &&
            (self->line > 1 || count > 0 || strchr("+-.0123456789", *text)))
            return refuse_line(self, "has no number in field", count + 1);
        if (self->numbers.count == before) { /* names */
            self->labelled = names_a_label(text);
            self->at += strcspn(self->at, "\n");
            return true;
        }
        more = self->at < self->end && *self->at != '\n';
        self->at += *self->at == ',';
    }
    if (self->rows++ == 0)
        self->columns = count;
    return count == self->columns || refuse_line(self, "has another count of numbers:", count);
}

static bool read_lines(csv_reader *self)
{
    for (bool more = true; more; self->at++) {
        self->line++;
        if (strspn(self->at, BLANKS) < strcspn(self->at, "\n") && !read_row(self))
            return false;
        self->at += strcspn(self->at, "\n");
        more = self->at < self->end;
    }
    return self->rows > 0 || api_table_refuse(self->reterr, PE_MALFORMED, "body", "",
                                              "lines of numbers; there are none");
}

/* As many fields as a text has at most. */
static uint64_t count_fields(const char *text, const char *end)
{
    uint64_t count = 1;
    for (; text < end; text++)
        count += *text == ',' || *text == ' ' || *text == '\t' || *text == '\n';
    return count;
}

bool api_csv_view(const api_file *file, const api_table_wish *wish, api_segment *ret_numbers,
                  pe_view *ret_view, pe_error *reterr)
{
    char *text = api_text_load(file, reterr);
    if (!text)
        return false;
    const size_t size = (size_t)file->size;
    csv_reader self = {.at = text + api_document_mark(text, size),
                       .end = text + size,
                       .numbers = {.dtype = wish->dtype},
                       .reterr = reterr};
    bool good = !memchr(text, '\0', size) ||
                api_table_refuse(reterr, PE_MALFORMED, "body", "", "a text without NULs");
    good = good &&
           api_numbers_begin(&self.numbers, count_fields(text, self.end), wish->most, reterr) &&
           read_lines(&self);
    const pe_view shape = {.rank = self.columns > 1 ? 2 : 1,
                           .shape = {self.rows, self.columns}};
    good = good && api_numbers_view(&self.numbers, &shape, ret_numbers, ret_view, reterr);
    free(self.numbers.elements);
    free(text);
    return good;
}
