/* Files with tables, as npy and safetensors, JSON and CSV. The input is a file. For short: what
 * begins with "{'" is the line of an npy header of version 1 and then the data, what begins
 * with
 * "{" that of a safetensors header. What is taken must have a header that an independent
 * pattern, or jansson, reads alike; its elements must lie within the file, each at a place of
 * its own, and read as those of a copy that is written anew. Comparing it must find what
 * comparing entry by entry does. The numbers of a text must be those that jansson or strtod
 * reads in it one after the other. */
#include "support/fuzz.h"

#include "files/table_file.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- files in memory ---- */

typedef struct memory_file {
    const char *bytes;
    size_t size;
} memory_file;

static bool read_bytes(void *context, uint64_t offset, void *dst, size_t size)
{
    const memory_file *file = context;
    fuzz_check(offset <= file->size && size <= file->size - offset,
               "%zu bytes at %llu of a file of %zu", size, (unsigned long long)offset,
               file->size);
    if (size > 0)
        memcpy(dst, file->bytes + offset, size);
    return true;
}

static api_file file_of(memory_file *file)
{
    return (api_file){.read = read_bytes, .context = file, .size = file->size};
}

/* An npy file of version 1, to be freed. */
static char *write_npy(const char *header, size_t length, const void *data, size_t data_size,
                       size_t *ret_size)
{
    static const char magic[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    *ret_size = 10 + length + data_size;
    char *file = malloc(*ret_size);
    fuzz_check(file, "memory");
    memcpy(file, magic, sizeof magic);
    file[8] = (char)(length & 0xff);
    file[9] = (char)(length >> 8 & 0xff);
    memcpy(file + 10, header, length);
    if (data_size > 0)
        memcpy(file + 10 + length, data, data_size);
    return file;
}

/* ---- places of elements ---- */

/* The place of an element in the file, by its number in row-major order. */
static uint64_t place_of(const pe_view *view, uint64_t number)
{
    uint64_t place = 0;
    for (size_t axis = view->rank; axis-- > 0; number /= view->shape[axis])
        place += number % view->shape[axis] * view->strides[axis];
    return view->offset + place * pe_element_size(view->element);
}

static void check_places(const pe_view *view, uint64_t elements, uint64_t size)
{
    size_t width = pe_element_size(view->element);
    unsigned char *taken = calloc((size_t)size + 1, 1);
    fuzz_check(taken, "memory");
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t place = place_of(view, i);
        fuzz_check(place >= view->offset && place <= size && width <= size - place,
                   "element %llu at %llu", (unsigned long long)i, (unsigned long long)place);
        fuzz_check(!taken[place] && (place - view->offset) % width == 0,
                   "element %llu at %llu, which is another's", (unsigned long long)i,
                   (unsigned long long)place);
        taken[place] = 1;
    }
    free(taken);
}

/* All elements, in native order, one by one. To be freed. */
static unsigned char *gather(const pe_view *view, const memory_file *file, uint64_t elements)
{
    size_t width = pe_element_size(view->element);
    unsigned char *all = malloc((size_t)elements * width);
    fuzz_check(all, "memory");
    for (uint64_t i = 0; i < elements; i++)
        for (size_t k = 0; k < width; k++)
            all[i * width + k] =
                (unsigned char)
                    file->bytes[place_of(view, i) + (view->swapped ? width - 1 - k : k)];
    return all;
}

/* Read rows by twos and threes, which must be the elements. */
static void check_rows(const pe_view *view, const unsigned char *all, uint64_t elements)
{
    size_t width = pe_element_size(view->element);
    uint64_t rows = view->rank > 0 ? view->shape[0] : 1, in_row = elements / rows;
    unsigned char *some = malloc((size_t)(3 * in_row) * width);
    fuzz_check(some, "memory");
    for (uint64_t row = 0, count = 2; row < rows; row += count, count = 5 - count) {
        count = count < rows - row ? count : rows - row;
        size_t bytes = (size_t)(count * in_row) * width;
        fuzz_check(pe_view_read_elements(view, row, count, some), "rows are not read");
        fuzz_check(memcmp(some, all + row * in_row * width, bytes) == 0, "row %llu",
                   (unsigned long long)row);
        if (count < 2)
            break;
    }
    free(some);
}

/* ---- a copy ---- */

static const char *const CODES[PE_ELEMENT_COUNT] = {
    [PE_ELEMENT_F32] = "f4", [PE_ELEMENT_F64] = "f8", [PE_ELEMENT_F16] = "f2",
    [PE_ELEMENT_I8] = "i1",  [PE_ELEMENT_I16] = "i2", [PE_ELEMENT_I32] = "i4",
    [PE_ELEMENT_I64] = "i8", [PE_ELEMENT_U8] = "u1",  [PE_ELEMENT_U16] = "u2",
    [PE_ELEMENT_U32] = "u4", [PE_ELEMENT_U64] = "u8", [PE_ELEMENT_BOOL] = "b1"};

/* Write the elements as numpy does and read that. */
static void check_copy(const pe_view *view, const unsigned char *all, uint64_t elements)
{
    char header[400], shape[200] = "";
    size_t width = pe_element_size(view->element), used = 0;
    pe_view copied;
    pe_error error;
    if (!CODES[view->element])
        return; /* numpy has no bfloat16 */
    for (size_t i = 0; i < view->rank; i++)
        used +=
            (size_t)snprintf(shape + used, sizeof shape - used, "%llu,%s",
                             (unsigned long long)view->shape[i], i + 1 < view->rank ? " " : "");
    int length = snprintf(header, sizeof header,
                          "{'descr': '<%s', 'fortran_order': False, 'shape': (%s), }\n",
                          CODES[view->element], shape);
    memory_file file;
    char *bytes = write_npy(header, (size_t)length, all, (size_t)elements * width, &file.size);
    file.bytes = bytes;
    const api_file again = file_of(&file);
    pe_error_init(&error);
    fuzz_check(api_npy_view(&again, &copied, &error), "%s is refused: %s", header,
               error.problems[0].allowed);
    fuzz_check(copied.rank == view->rank && copied.element == view->element, "%s", header);
    fuzz_check(memcmp(copied.shape, view->shape, view->rank * sizeof *view->shape) == 0, "%s",
               header);
    check_rows(&copied, all, elements);
    free(bytes);
}

/* ---- comparing ---- */

static double *values_of(const pe_view *view, uint64_t elements)
{
    double *values = malloc((size_t)elements * sizeof *values);
    fuzz_check(values, "memory");
    fuzz_check(pe_view_read(view, 0, view->rank > 0 ? view->shape[0] : 1, values),
               "the table is not read");
    return values;
}

static void check_comparison(const pe_comparison *found, const double *values,
                             const pe_table *table, uint64_t elements)
{
    double *exact = malloc((size_t)elements * sizeof *exact), most = 0;
    uint64_t differing = 0, strange = 0, binned = 0, in_blocks = 0;
    fuzz_check(exact, "memory");
    pe_read_row(exact, pe_table_tensor(table, 0)->dtype, pe_table_data(table, 0),
                (size_t)elements);
    for (uint64_t i = 0; i < elements; i++) {
        bool finite = isfinite(values[i]) && isfinite(exact[i]);
        differing += values[i] != exact[i];
        strange += values[i] != exact[i] && !finite;
        if (finite && fabs(values[i] - exact[i]) > most)
            most = fabs(values[i] - exact[i]);
    }
    for (size_t i = 0; i < PE_COMPARE_BINS; i++)
        binned += found->bins[i];
    for (size_t i = 0; i < found->block_count; i++)
        in_blocks += found->blocks[i].differing;
    fuzz_check(found->entries == elements && found->differing == differing &&
                   found->not_finite == strange && found->absolute.error == most,
               "%llu of %llu differ, by %g", (unsigned long long)found->differing,
               (unsigned long long)found->entries, found->absolute.error);
    fuzz_check(binned == elements && in_blocks == differing && found->outside == differing,
               "%llu in bins, %llu in blocks, %llu outside", (unsigned long long)binned,
               (unsigned long long)in_blocks, (unsigned long long)found->outside);
    if (most > 0)
        fuzz_check(found->absolute.found == values[found->absolute.place] &&
                       found->absolute.exact == exact[found->absolute.place],
                   "the values at %llu", (unsigned long long)found->absolute.place);
    free(exact);
}

/* Compare with a table of the same shape, if there is a scheme for it. */
static void compare(const pe_view *view, uint64_t elements)
{
    const pe_view shape = pe_view_squeezed(view);
    char length[24], width[24];
    const pe_argument arguments[] = {{"length", length, .kind = PE_KIND_ANY},
                                     {"dim", width, .kind = PE_KIND_ANY}};
    if (shape.rank == 0 || shape.rank > 2)
        return;
    snprintf(length, sizeof length, "%llu", (unsigned long long)shape.shape[0]);
    snprintf(width, sizeof width, "%llu", (unsigned long long)shape.shape[1]);
    const pe_scheme *scheme = pe_scheme_find(shape.rank == 1 ? "integer" : "learned");
    static pe_comparison found;
    pe_request *request;
    pe_table *table;
    pe_error error;
    if (pe_request_new(scheme, arguments, shape.rank, &FUZZ_LIMITS, &request, &error) != PE_OK)
        return;
    if (pe_request_tensor(request, 0)->elements == elements &&
        pe_table_compute(request, NULL, &table, &error) == PE_OK) {
        double *values = values_of(view, elements);
        fuzz_check(pe_compare_table(request, 0, view, (pe_tolerance){.absolute = 0}, NULL,
                                    &found, &error) == PE_OK,
                   "%s", error.problems[0].allowed);
        check_comparison(&found, values, table, elements);
        free(values);
        pe_table_unref(table);
    }
    pe_request_unref(request);
}

/* ---- what was taken ---- */

static void check_view(const pe_view *view, memory_file *file)
{
    uint64_t elements = pe_view_elements(view);
    fuzz_check(view->rank <= PE_VIEW_RANK_MAX && view->element < PE_ELEMENT_COUNT, "rank %zu",
               view->rank);
    fuzz_check(elements > 0 && elements <= file->size, "%llu elements",
               (unsigned long long)elements);
    check_places(view, elements, file->size);
    unsigned char *all = gather(view, file, elements);
    check_rows(view, all, elements);
    check_copy(view, all, elements);
    compare(view, elements);
    free(all);
}

#define B       "[ \n]*"
#define NAME(n) "('" n "'|\"" n "\")"
#define SHAPE   "\\(" B "([0-9]+" B "L?" B "," B ")*([0-9]+" B "L?" B ")?\\)"
#define MEMBER                                                                                 \
    "(" NAME("descr") B                                                                        \
        ":" B "('[<>|=][fciub][0-9]+'|\"[<>|=][fciub][0-9]+\")|" NAME("fortran_order") B       \
        ":" B "(True|False)|" NAME("shape") B ":" B SHAPE ")"

static void check_npy(memory_file *file)
{
    static const char pattern[] =
        B "\\{" B MEMBER B "," B MEMBER B "," B MEMBER B ",?" B "\\}" B;
    const api_file read = file_of(file);
    pe_view view;
    pe_error error;
    pe_error_init(&error);
    if (!api_npy_view(&read, &view, &error)) {
        fuzz_check_error(&error);
        return;
    }
    const unsigned char *bytes = (const unsigned char *)file->bytes;
    size_t first = bytes[6] == 1 ? 10 : 12;
    fuzz_check(view.offset >= first && view.offset <= file->size, "the data's place");
    char *header = fuzz_copy(bytes + first, (size_t)view.offset - first);
    fuzz_check(fuzz_fits(pattern, header, (size_t)view.offset - first), "a header of numpy: %s",
               header);
    free(header);
    uint64_t elements = pe_view_elements(&view);
    fuzz_check(elements * pe_element_size(view.element) == file->size - view.offset,
               "%llu elements", (unsigned long long)elements);
    check_view(&view, file);
}

static void check_safetensors(memory_file *file, const char *name, const char *otherwise)
{
    const api_file read = file_of(file);
    char found[API_SET_NAME_MAX + 1] = "";
    pe_view view;
    pe_error error;
    pe_error_init(&error);
    if (!api_safetensors_view(&read, name, otherwise, &view, found, &error)) {
        fuzz_check_error(&error);
        return;
    }
    size_t header = (size_t)(unsigned char)file->bytes[0] |
                    (size_t)(unsigned char)file->bytes[1] << 8 |
                    (size_t)(unsigned char)file->bytes[2] << 16;
    json_t *root = json_loadb(file->bytes + 8, header, JSON_REJECT_DUPLICATES, NULL);
    const json_t *tensor = json_object_get(root, found);
    const json_t *offsets = json_object_get(tensor, "data_offsets");
    fuzz_check(tensor || strlen(found) == API_SET_NAME_MAX, "%s is not in the file", found);
    fuzz_check(!name || strcmp(name, found) == 0, "%s, not %s", found, name);
    if (tensor) {
        uint64_t begin = (uint64_t)json_integer_value(json_array_get(offsets, 0));
        uint64_t end = (uint64_t)json_integer_value(json_array_get(offsets, 1));
        fuzz_check(view.offset == 8 + header + begin, "%s begins elsewhere", found);
        fuzz_check(end - begin == pe_view_elements(&view) * pe_element_size(view.element),
                   "the size of %s", found);
    }
    json_decref(root);
    check_view(&view, file);
}

/* ---- texts ---- */

#define NUMBERS_MAX 4096

/* Check that the next number of a table in float64 is one; NULL for infinities and NaN, which
 * are written in many ways. */
static void check_next(const double **numbers, const json_t *value)
{
    fuzz_check(!json_is_number(value) || **numbers == json_number_value(value), "%g, not %g",
               **numbers, json_number_value(value));
    fuzz_check(json_is_number(value) || !isfinite(**numbers) || json_is_string(value), "%g",
               **numbers);
    ++*numbers;
}

static void check_nested(const double **numbers, const json_t *value)
{
    if (!json_is_array(value))
        check_next(numbers, value);
    for (size_t i = 0; i < json_array_size(value); i++)
        check_nested(numbers, json_array_get(value, i));
}

/* Check that a text has the numbers that strtod reads, from its second line on if the first has
 * names. */
static void check_lines(const char *text, const double *numbers, uint64_t count)
{
    char *end;
    const char *field = text + strspn(text, " \t\r");
    strtod(field, &end);
    if (!strchr("+-.0123456789", *field) && (end == field || !strchr(" ,\t\r\n", *end)))
        text += strcspn(text, "\n");
    for (uint64_t i = 0; i < count; i++) {
        text += strspn(text, " ,\t\r\n");
        const double number = strtod(text, &end);
        fuzz_check(end > text && (number == numbers[i] || isnan(number)), "%g, not %g",
                   numbers[i], number);
        text = end;
    }
    fuzz_check(text[strspn(text, " \t\r\n")] == '\0', "more numbers: %s", text);
}

static void check_text(const memory_file *file, api_table_format format)
{
    const api_file read = file_of((memory_file *)(uintptr_t)file);
    const api_table_wish wish = {.format = format, .dtype = PE_F64, .most = NUMBERS_MAX};
    char name[API_SET_NAME_MAX + 1] = "", *text = fuzz_copy(file->bytes, file->size);
    api_segment numbers = {NULL, 0};
    pe_view view;
    pe_error error;
    pe_error_init(&error);
    if (api_table_file_view(&read, &wish, &numbers, &view, name, &error)) {
        memory_file elements = {.bytes = numbers.data, .size = numbers.size};
        const double *next = numbers.data;
        json_t *root = json_loadb(text, file->size, JSON_DECODE_INT_AS_REAL, NULL);
        fuzz_check(pe_view_elements(&view) <= NUMBERS_MAX, "too many numbers");
        check_view(&view, &elements);
        if (format == API_TABLE_JSON && json_is_array(root))
            check_nested(&next, root);
        else if (format == API_TABLE_CSV && !memchr(text, '\xef', file->size))
            check_lines(text, numbers.data, pe_view_elements(&view));
        json_decref(root);
    } else {
        fuzz_check_error(&error);
    }
    free((void *)(uintptr_t)numbers.data);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memory_file file = {.size = size};
    char *bytes;
    if (size > 1 && data[0] == '{') {
        const uint8_t *end = memchr(data, '\n', size);
        size_t line = end ? (size_t)(end - data) : size, rest = end ? size - line - 1 : 0;
        const void *after = end ? end + 1 : NULL;
        bytes = data[1] == '\'' && line <= UINT16_MAX
                    ? write_npy((const char *)data, line, after, rest, &file.size)
                    : fuzz_safetensors((const char *)data, line, after, rest, &file.size);
    } else {
        bytes = fuzz_exact(data, size);
    }
    file.bytes = bytes;
    check_text(&file, API_TABLE_JSON);
    check_text(&file, API_TABLE_CSV);
    check_npy(&file);
    check_safetensors(&file, NULL, NULL);
    check_safetensors(&file, NULL, "table");
    check_safetensors(&file, "x", "table");
    free(bytes);
    return 0;
}
