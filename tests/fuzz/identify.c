/* Tables to be identified. The input begins with a line that says what the table is: "=" and
 * "SCHEME?QUERY", the first tensor of a request, "~" and the same, transposed, or "ELEMENT
 * ROWS,COLUMNS…" and the elements. After a request's line every three bytes are a change: the
 * place of a byte (two bytes), and what it is combined with by exclusive or.
 *
 * Whatever the table is, it is identified: what is said to be exact must have every bit of the
 * answer's request made anew, and what is a match must be near it. A search that is ended early
 * must say so. */
#include "support/fuzz.h"

#include <math.h>
#include <string.h>

#define ARGUMENTS 24

/* The elements of a table. */
typedef struct held {
    unsigned char *bytes;
    uint64_t size;
    pe_view view;
} held;

static bool read_held(void *context, uint64_t offset, void *dst, size_t size)
{
    const held *table = context;
    fuzz_check(offset <= table->size && size <= table->size - offset,
               "%zu bytes at %llu of a table of %llu", size, (unsigned long long)offset,
               (unsigned long long)table->size);
    if (size > 0)
        memcpy(dst, table->bytes + offset, size);
    return true;
}

/* ---- requests ---- */

/* Make the request of a query, which is changed; NULL if it is refused. */
static pe_request *request_of(const pe_scheme *scheme, char *query, const char *dtype)
{
    pe_argument arguments[ARGUMENTS];
    pe_request *request;
    pe_error error;
    size_t count = 0;
    for (char *part; (part = strsep(&query, "&")) && count + 1 < ARGUMENTS;)
        if (*part) {
            char *name = strsep(&part, "=");
            arguments[count++] = (pe_argument){name, part ? part : "", .kind = PE_KIND_ANY};
        }
    if (dtype)
        arguments[count++] = (pe_argument){"dtype", dtype, .kind = PE_KIND_ANY};
    if (!scheme ||
        pe_request_new(scheme, arguments, count, &FUZZ_LIMITS, &request, &error) != PE_OK)
        return NULL;
    return request;
}

/* ---- what is to be identified ---- */

static pe_element element_of(pe_dtype dtype)
{
    static const pe_element ELEMENTS[] = {[PE_F32] = PE_ELEMENT_F32,
                                          [PE_F64] = PE_ELEMENT_F64,
                                          [PE_F16] = PE_ELEMENT_F16,
                                          [PE_BF16] = PE_ELEMENT_BF16,
                                          [PE_I32] = PE_ELEMENT_I32};
    return ELEMENTS[dtype];
}

/* Hold the first tensor of a request, "SCHEME?QUERY". */
static bool hold_request(char *line, bool transposed, held *ret)
{
    char *name = strsep(&line, "?");
    pe_request *request = request_of(pe_scheme_find(name), line, NULL);
    pe_table *table;
    pe_error error;
    if (!request)
        return false;
    bool good = pe_table_compute(request, NULL, &table, &error) == PE_OK;
    if (good) {
        const pe_tensor *tensor = pe_table_tensor(table, 0);
        good = tensor->rank <= PE_VIEW_RANK_MAX;
        ret->bytes = (unsigned char *)fuzz_exact(pe_table_data(table, 0), tensor->bytes);
        ret->size = tensor->bytes;
        ret->view.element = element_of(tensor->dtype);
        ret->view.rank = tensor->rank;
        memcpy(ret->view.shape, tensor->shape, tensor->rank * sizeof *tensor->shape);
        pe_view_set_row_major(&ret->view);
        if (transposed && tensor->rank == 2)
            ret->view = pe_view_transposed(&ret->view, 0, 1);
        pe_table_unref(table);
    }
    pe_request_unref(request);
    return good;
}

static void change(held *table, const uint8_t *changes, size_t size)
{
    for (size_t i = 0; i + 2 < size && table->size > 0; i += 3)
        table->bytes[(changes[i] + 256u * changes[i + 1]) % table->size] ^= changes[i + 2];
}

/* Hold elements of a line "ELEMENT EXTENT,EXTENT…"; those that are missing are 0. */
static bool hold_elements(char *line, const uint8_t *data, size_t size, held *ret)
{
    const char *name = strsep(&line, " ");
    uint64_t bytes;
    int element = 0;
    while (element < PE_ELEMENT_COUNT &&
           strcmp(pe_element_name((pe_element)element), name) != 0)
        element++;
    if (element == PE_ELEMENT_COUNT || !line)
        return false;
    ret->view.element = (pe_element)element;
    for (char *part; (part = strsep(&line, ",")) && ret->view.rank < PE_VIEW_RANK_MAX;) {
        uint64_t extent = strtoull(part, NULL, 10) % 257;
        ret->view.shape[ret->view.rank++] = extent > 0 ? extent : 1;
    }
    bytes = pe_view_elements(&ret->view);
    if (bytes == 0 || bytes > 4096)
        return false;
    bytes *= pe_element_size(ret->view.element);
    pe_view_set_row_major(&ret->view);
    ret->bytes = calloc((size_t)bytes, 1);
    fuzz_check(ret->bytes, "memory");
    memcpy(ret->bytes, data, size < bytes ? size : (size_t)bytes);
    ret->size = bytes;
    return true;
}

/* ---- what is said ---- */

/* The values of the answer's tensor in `dtype`. To be freed; NULL: there is none of that many
 * entries. */
static double *values_of(const pe_identity *said, const char *dtype, uint64_t entries)
{
    char query[PE_IDENTITY_QUERY_MAX];
    double *values = malloc((size_t)entries * sizeof *values);
    pe_table *table;
    pe_error error;
    fuzz_check(values, "memory");
    memcpy(query, said->query, sizeof query);
    pe_request *request = request_of(said->scheme, query, dtype);
    fuzz_check(request, "%s is refused", said->query);
    size_t tensor = 0;
    while (tensor < pe_request_tensor_count(request) &&
           strcmp(pe_request_tensor(request, tensor)->name, said->tensor) != 0)
        tensor++;
    fuzz_check(tensor < pe_request_tensor_count(request), "%s has no %s", said->query,
               said->tensor);
    fuzz_check(pe_table_compute(request, NULL, &table, &error) == PE_OK, "%s", said->query);
    const pe_tensor *made = pe_table_tensor(table, tensor);
    fuzz_check(made->elements == entries, "%s has %llu entries", said->query,
               (unsigned long long)made->elements);
    pe_read_row(values, made->dtype, pe_table_data(table, tensor), (size_t)entries);
    pe_table_unref(table);
    pe_request_unref(request);
    return values;
}

/* Bring the columns of rows into the answer's order, in which each column comes once. */
static void order_columns(const pe_identity *said, double *rows, uint64_t entries)
{
    const uint64_t count = said->column_count;
    double row[PE_IDENTITY_COLUMNS_MAX];
    bool seen[PE_IDENTITY_COLUMNS_MAX] = {false};
    for (uint64_t c = 0; c < count; c++) {
        fuzz_check(said->columns[c] < count && !seen[said->columns[c]], "column %d is %d",
                   (int)c, said->columns[c]);
        seen[said->columns[c]] = true;
    }
    for (uint64_t at = 0; count > 0 && at < entries; at += count) {
        memcpy(row, rows + at, count * sizeof *row);
        for (uint64_t c = 0; c < count; c++)
            rows[at + c] = row[said->columns[c]];
    }
}

/* Check that the answer to a table that went through something makes a tensor of the shape that
 * is said. What was undone is tested by test_identify_forms.py. */
static void check_shape(const pe_identity *said)
{
    uint64_t entries = 1;
    pe_dtype dtype;
    fuzz_check(said->transform_count <= PE_TRANSFORMS_MAX && said->rank <= PE_VIEW_RANK_MAX,
               "%s", said->query);
    for (size_t axis = 0; axis < said->rank; axis++)
        entries *= said->shape[axis];
    bool real = pe_element_is_real(said->element, &dtype);
    free(values_of(said, real ? pe_dtype_name(dtype) : "f32", entries));
}

/* Check that all entries are those of the answer, or near them. */
static void check_entries(const pe_identity *said, const pe_view *view)
{
    pe_view shape = pe_view_squeezed(view);
    uint64_t entries = pe_view_elements(view), differing = 0;
    pe_dtype dtype;
    if (said->transposed)
        shape = pe_view_transposed(&shape, 0, 1);
    bool real = pe_element_is_real(said->element, &dtype);
    double *found = malloc((size_t)entries * sizeof *found);
    double *exact = values_of(said, real ? pe_dtype_name(dtype) : "f32", entries);
    fuzz_check(found && pe_view_read(&shape, 0, shape.rank > 0 ? shape.shape[0] : 1, found),
               "the table is not read");
    fuzz_check(said->column_count == 0 || said->column_count == shape.shape[1],
               "%llu columns are ordered", (unsigned long long)said->column_count);
    order_columns(said, found, entries);
    for (uint64_t i = 0; i < entries; i++) {
        bool same = found[i] == exact[i];
        bool alike = same && (!real || !signbit(found[i]) == !signbit(exact[i]));
        differing += !same;
        fuzz_check(alike || said->status != PE_IDENTITY_EXACT, "%s: entry %llu is %g, not %g",
                   said->query, (unsigned long long)i, found[i], exact[i]);
        fuzz_check(same || said->status != PE_IDENTITY_MATCH ||
                       fabs(found[i] - exact[i]) <= 0.02 * fmax(1, fabs(exact[i])),
                   "%s: entry %llu is %g, not %g", said->query, (unsigned long long)i, found[i],
                   exact[i]);
    }
    fuzz_check(differing == said->comparison.differing && said->misfits.count <= differing,
               "%s: %llu differ, %llu are misfits", said->query, (unsigned long long)differing,
               (unsigned long long)said->misfits.count);
    free(found);
    free(exact);
}

/* Whether the table is that of the request but for exchanged axes and the order of columns. */
static bool is_ordered_alone(const pe_identity *said)
{
    for (size_t i = 0; i < said->transform_count; i++)
        if (said->transforms[i].kind != PE_TRANSFORM_TRANSPOSED &&
            said->transforms[i].kind != PE_TRANSFORM_COLUMNS)
            return false;
    return true;
}

static void check_identity(const pe_identity *said, const pe_view *view)
{
    fuzz_check((said->status != PE_IDENTITY_UNKNOWN) == (said->scheme != NULL), "status %d",
               (int)said->status);
    if (!said->scheme)
        return;
    fuzz_check(pe_scheme_is_recognised(said->scheme), "%s", said->query);
    fuzz_check((said->status == PE_IDENTITY_EXACT) == (said->arithmetic == PE_ARITHMETIC_EXACT),
               "%s: arithmetic %d", said->query, (int)said->arithmetic);
    if (is_ordered_alone(said))
        check_entries(said, view);
    else
        check_shape(said);
}

/* A runner that ends what asks for the `left`-th time. */
static bool go_on(void *context, const pe_scheme *scheme, double done)
{
    unsigned *left = context;
    (void)scheme;
    return done >= 1 || *left == 0 || --*left > 0;
}

static void identify(const pe_view *view, unsigned turns)
{
    const pe_runner runner = {.context = &turns, .go_on = go_on};
    bool may_end = turns > 0;
    pe_identity said;
    pe_error error;
    fuzz_check(pe_identify_table(view, NULL, NULL, &FUZZ_LIMITS, &runner, &said, &error) ==
                   PE_OK,
               "%s", error.problems[0].allowed);
    fuzz_check(!said.gave_up || may_end, "a search without an end gave up");
    fuzz_check(said.gave_up || !may_end || turns > 0, "a search was ended and says nothing");
    check_identity(&said, view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    held table = {.bytes = NULL};
    char *text = fuzz_copy(data, size), *rest = text, *line = fuzz_line(&rest);
    const uint8_t *after = (const uint8_t *)rest;
    size_t left = size - (size_t)(rest - text);
    bool asked = line[0] == '=' || line[0] == '~';
    bool good = asked ? hold_request(line + 1, line[0] == '~', &table)
                      : hold_elements(line, after, left, &table);
    if (good) {
        if (asked)
            change(&table, after, left);
        table.view.read = read_held;
        table.view.context = &table;
        identify(&table.view, 0);
        identify(&table.view, 1 + (unsigned)(size % 7));
    }
    free(table.bytes);
    free(text);
    return 0;
}
