/* csv: only numbers, as spreadsheets, pandas and numpy.loadtxt read them. It is RFC 4180
 * without a header line, and with lines that end in LF, since tools in a pipe do not expect a
 * CR. A line is a row along the last axis. The rows of all leading axes follow one another
 * without blank lines, since in RFC 4180 every line has the same number of fields. A vector has
 * one number on each line. */
#include "formats/printed.h"

#include <math.h>
#include <string.h>

static const pe_parameter OPTIONS[] = {API_SLICE_ROW};

static char *begin_piece(char *dst, const pe_tensor *tensor, uint64_t first)
{
    if (tensor->rank > 1 && first % tensor->shape[tensor->rank - 1] > 0)
        *dst++ = ',';
    return dst;
}

static char *end_piece(char *dst, const pe_tensor *tensor, uint64_t end)
{
    if (tensor->rank == 1 || end % tensor->shape[tensor->rank - 1] == 0)
        *dst++ = '\n';
    return dst;
}

/* Print elements one by one, with infinities and NaN as C, numpy and pandas read them. */
static size_t print_any(char *dst, const pe_tensor *tensor, const unsigned char *elements,
                        size_t count)
{
    char *end = dst;
    for (size_t i = 0; i < count; i++, elements += pe_dtype_size(tensor->dtype)) {
        double value;
        pe_read_row(&value, tensor->dtype, elements, 1);
        if (i > 0)
            *end++ = ',';
        if (isfinite(value)) {
            end += pe_print_element(end, tensor->dtype, elements);
            continue;
        }
        const char *name = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
        memcpy(end, name, strlen(name));
        end += strlen(name);
    }
    return (size_t)(end - dst);
}

static size_t print(char *dst, const pe_tensor *tensor, const void *elements, size_t count)
{
    size_t length = pe_print_row(dst, tensor->dtype, elements, count);
    if (memchr(dst, 'n', length)) /* a "null": an element is infinite or NaN */
        length = print_any(dst, tensor, elements, count);
    char *comma = tensor->rank == 1 ? memchr(dst, ',', length) : NULL;
    for (; comma; comma = memchr(comma, ',', length - (size_t)(comma - dst)))
        *comma = '\n';
    return length;
}

static const api_printer PRINTER = {
    .before = begin_piece,
    .after = end_piece,
    .print = print,
    .slice = api_slice_select,
};

static void check(const api_selection *selection, pe_error *error)
{
    api_slice_check(selection, false, error);
}

static uint64_t work(const api_selection *selection)
{
    return api_printed_elements(&PRINTER, selection);
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    return api_printed_body(&PRINTER, selection, table, ret_bytes);
}

static api_body *stream(const api_selection *selection, pe_error *reterr)
{
    return api_printed_stream(&PRINTER, selection, reterr);
}

const api_format api_format_csv = {
    .name = "csv",
    .media_type = "text/csv",
    .media_parameters = "; charset=utf-8; header=absent",
    .extension = "csv",
    .help = "one tensor as rows of numbers without a header, nan and inf by name; leading axes "
            "run together unless slice picks a matrix",
    .schema_type = "string",
    .revision = 1,
    .single = true,
    .text = true,
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .check = check,
    .measure = API_ELEMENTS,
    .work = work,
    .write = write_body,
    .stream = stream,
};
