/* csv: only numbers, as spreadsheets, pandas and numpy.loadtxt read them. It is RFC 4180
 * without a header line unless `header` asks for one, and with lines that end in LF, since
 * tools in a pipe do not expect a CR. A line is a row along the last axis. The rows of all
 * leading axes follow one another without blank lines, since in RFC 4180 every line has the
 * same number of fields. A vector has one number on each line. */
#include "formats/options.h"
#include "formats/printed.h"

#include <math.h>
#include <string.h>

static const pe_parameter OPTIONS[] = {
    API_SLICE_ROW,
    {.name = "header",
     .type = PE_BOOLEAN,
     .default_text = "false",
     .help = "a first line of names, and before each row its position, or its index where rows "
             "are no positions"}};
static const pe_parameter *const HEADER = &OPTIONS[1];

#define COLUMNS_MAX 16384 /* with names: as many as spreadsheets have */

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

/* ---- names and labels ---- */

static bool has_header(const api_selection *selection)
{
    return api_option_value(selection, HEADER).integer;
}

/* Whether the rows of a tensor are the positions of the request: its shape begins with n, and
 * the scheme takes positions. */
static bool has_positions(const pe_request *request, const pe_tensor *tensor)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    const char *shape = "";
    for (size_t i = 0; i < info->tensor_count; i++)
        if (strcmp(info->tensors[i].name, tensor->name) == 0)
            shape = info->tensors[i].shape;
    return tensor->rank <= 2 && (strncmp(shape, "[n,", 3) == 0 || strcmp(shape, "[n]") == 0) &&
           pe_parameter_find(info, "positions");
}

static const pe_value *find_value(const pe_request *request, const char *name)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    size_t index = 0;
    while (strcmp(pe_parameter_at(info, index)->name, name) != 0)
        index++;
    return pe_request_value(request, index);
}

static double find_position(const pe_request *request, uint64_t row)
{
    const pe_value *positions = find_value(request, "positions");
    return positions->present ? positions->items[row]
                              : fma((double)row, find_value(request, "step")->real,
                                    find_value(request, "offset")->real);
}

/* The index along the last axis but one, or that of a vector. */
static uint64_t find_row(const pe_tensor *tensor, uint64_t first)
{
    const size_t last = tensor->rank - 1;
    return last == 0 ? first : first / tensor->shape[last] % tensor->shape[last - 1];
}

/* The label of a line: the position of its row, or the index where rows are no positions. */
static size_t write_label(char *dst, const pe_request *request, const pe_tensor *tensor,
                          uint64_t first)
{
    const uint64_t row = find_row(tensor, first);
    const double number =
        has_positions(request, tensor) ? find_position(request, row) : (double)row;
    const size_t size = pe_print_number(dst, number);
    dst[size] = ',';
    return size + 1;
}

static void write_names(api_text *text, const api_selection *selection)
{
    const pe_tensor *tensor = pe_request_tensor(selection->request, selection->first);
    const uint64_t columns = tensor->rank == 1 ? 0 : tensor->shape[tensor->rank - 1];
    api_text_add(text, "%s", has_positions(selection->request, tensor) ? "position" : "row");
    for (uint64_t i = 0; i < columns; i++)
        api_text_add(text, ",c%llu", (unsigned long long)i);
    if (tensor->rank == 1)
        api_text_add(text, ",%s", tensor->name);
    api_text_add(text, "\n");
}

static const api_printer WITH_HEADER = {
    .head = write_names,
    .label = write_label,
    .before = begin_piece,
    .after = end_piece,
    .print = print,
    .slice = api_slice_select,
};

static const api_printer *choose_printer(const api_selection *selection)
{
    return has_header(selection) ? &WITH_HEADER : &PRINTER;
}

static const char *media_parameters(const api_selection *selection)
{
    return has_header(selection) ? "; charset=utf-8; header=present"
                                 : "; charset=utf-8; header=absent";
}

/* ---- the format ---- */

static void check(const api_selection *selection, pe_error *error)
{
    const pe_tensor *tensor = pe_request_tensor(selection->request, selection->first);
    api_slice_check(selection, has_header(selection), error);
    if (has_header(selection) && tensor->rank > 1 &&
        tensor->shape[tensor->rank - 1] > COLUMNS_MAX)
        pe_error_add(error, PE_OUT_OF_RANGE, HEADER->name, "true",
                     "left out for a tensor of more than %d columns", COLUMNS_MAX);
}

static uint64_t work(const api_selection *selection)
{
    return api_printed_elements(&PRINTER, selection);
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    return api_printed_body(choose_printer(selection), selection, table, ret_bytes);
}

static api_body *stream(const api_selection *selection, pe_error *reterr)
{
    return api_printed_stream(choose_printer(selection), selection, reterr);
}

const api_format api_format_csv = {
    .name = "csv",
    .media_type = "text/csv",
    .media_parameters = media_parameters,
    .extension = "csv",
    .help = "one tensor as rows of numbers, nan and inf by name, without a header unless "
            "header=true adds one; leading axes run together unless slice picks a matrix",
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
