/* csv: numbers alone, as spreadsheets, pandas and numpy.loadtxt read them (RFC 4180 without a
 * header line, and with lines that end in LF, so that no tool in a pipe meets a CR). A line is
 * a row of the last axis; lines of all leading axes follow one another without blank ones,
 * since RFC 4180 has lines of one length alone. A vector is one number a line. */
#include "../printed.h"

#include <math.h>
#include <string.h>

static const pe_parameter OPTIONS[] = {API_SLICE_ROW};

static char *write_before(char *dst, const pe_tensor *tensor, uint64_t first)
{
    if (tensor->rank > 1 && first % tensor->shape[tensor->rank - 1] > 0)
        *dst++ = ',';
    return dst;
}

static char *write_after(char *dst, const pe_tensor *tensor, uint64_t end)
{
    if (tensor->rank == 1 || end % tensor->shape[tensor->rank - 1] == 0)
        *dst++ = '\n';
    return dst;
}

/* Print one by one, where some are infinite or NaN: as C, numpy and pandas read these. */
static size_t print_any(char *dst, const pe_tensor *tensor, const unsigned char *elements,
                        size_t count)
{
    char *at = dst;
    for (size_t i = 0; i < count; i++, elements += pe_dtype_size(tensor->dtype)) {
        double value;
        pe_read_row(&value, tensor->dtype, elements, 1);
        if (i > 0)
            *at++ = ',';
        if (isfinite(value)) {
            at += pe_print_element(at, tensor->dtype, elements);
            continue;
        }
        const char *name = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
        memcpy(at, name, strlen(name));
        at += strlen(name);
    }
    return (size_t)(at - dst);
}

static size_t print(char *dst, const pe_tensor *tensor, const void *elements, size_t count)
{
    size_t length = pe_print_row(dst, tensor->dtype, elements, count);
    if (memchr(dst, 'n', length)) /* null: what JSON has for them */
        length = print_any(dst, tensor, elements, count);
    if (tensor->rank == 1)
        for (char *comma = dst; (comma = memchr(comma, ',', length - (size_t)(comma - dst)));)
            *comma = '\n';
    return length;
}

static const api_printer PRINTER = {
    .before = write_before,
    .after = write_after,
    .print = print,
    .slice = api_slice_of,
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

static api_body *stream(const api_selection *selection)
{
    return api_printed_stream(&PRINTER, selection);
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
