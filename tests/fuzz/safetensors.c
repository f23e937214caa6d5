/* Uploads. The input is a file, or, if it begins with a brace, the line of a header and then
 * the data, which gets the length of the header in front. The tensors of a file that is
 * accepted must lie within the file, without holes or overlaps, and be finite. Written to a new
 * file they must read as the same tensors. Schemes that use them must not read beyond them. */
#include "support/fuzz.h"

#include "store.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *const NAMES[PE_DTYPE_COUNT] = {
    [PE_F64] = "F64", [PE_F32] = "F32", [PE_F16] = "F16", [PE_BF16] = "BF16"};

static void check_tensors(const api_set *set)
{
    const pe_set *tensors = api_set_tensors(set);
    size_t size, count = pe_set_tensor_count(tensors);
    const char *bytes = api_set_bytes(set, &size), *end = bytes + size;
    uint64_t held = 0;
    fuzz_check(count > 0 && count <= API_SET_TENSORS_MAX, "%zu tensors", count);
    for (size_t i = 0; i < count; i++) {
        const pe_set_tensor *at = pe_set_tensor_at(tensors, i);
        const char *data = at->data;
        uint64_t elements = 1;
        fuzz_check(strlen(at->tensor.name) <= API_SET_NAME_MAX, "a name's length");
        fuzz_check(at->tensor.rank <= PE_RANK_MAX, "rank %zu", at->tensor.rank);
        for (size_t axis = 0; axis < at->tensor.rank; axis++)
            elements *= at->tensor.shape[axis];
        fuzz_check(elements == at->tensor.elements &&
                       at->tensor.bytes == elements * pe_dtype_size(at->tensor.dtype),
                   "the sizes of %s", at->tensor.name);
        fuzz_check(data > bytes && data <= end && at->tensor.bytes <= (uint64_t)(end - data),
                   "%s lies outside the file", at->tensor.name);
        for (uint64_t e = 0; e < elements; e++)
            fuzz_check(isfinite(pe_set_element(at, e)), "%s is not finite", at->tensor.name);
        fuzz_check(pe_set_tensor_find(tensors, at->tensor.name) == at, "%s twice",
                   at->tensor.name);
        fuzz_check(i == 0 || data == (const char *)at[-1].data + at[-1].tensor.bytes,
                   "%s does not follow the one before it", at->tensor.name);
        held += at->tensor.bytes;
    }
    const pe_set_tensor *first = pe_set_tensor_at(tensors, 0);
    fuzz_check((const char *)first->data + held == end, "%llu bytes of data",
               (unsigned long long)held);
}

/* Write the tensors of a set to a file, with a header by jansson. To be freed. */
static char *write_file(const pe_set *tensors, size_t *ret_size)
{
    json_t *header = json_object();
    const pe_set_tensor *first = pe_set_tensor_at(tensors, 0);
    uint64_t at = 0;
    for (size_t i = 0; i < pe_set_tensor_count(tensors); i++) {
        const pe_tensor *tensor = &pe_set_tensor_at(tensors, i)->tensor;
        json_t *shape = json_array();
        for (size_t axis = 0; axis < tensor->rank; axis++)
            json_array_append_new(shape, json_integer((json_int_t)tensor->shape[axis]));
        json_object_set_new(header, tensor->name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", NAMES[tensor->dtype],
                                      "shape", shape, "data_offsets", (json_int_t)at,
                                      (json_int_t)(at + tensor->bytes)));
        at += tensor->bytes;
    }
    char *text = json_dumps(header, JSON_ENSURE_ASCII);
    json_decref(header);
    char *file = fuzz_safetensors(text, strlen(text), first->data, (size_t)at, ret_size);
    free(text);
    return file;
}

static void check_copy(const api_set *set)
{
    size_t size;
    pe_error error;
    const pe_set *tensors = api_set_tensors(set);
    char *file = write_file(tensors, &size);
    api_set *copy = api_set_read(file, size, &error);
    fuzz_check(copy, "what was taken is refused: %s: %s", error.problems[0].parameter,
               error.problems[0].allowed);
    fuzz_check(strcmp(api_set_description(copy), api_set_description(set)) == 0, "%s, not %s",
               api_set_description(copy), api_set_description(set));
    for (size_t i = 0; i < pe_set_tensor_count(tensors); i++) {
        const pe_set_tensor *at = pe_set_tensor_at(tensors, i);
        const pe_set_tensor *other = pe_set_tensor_at(api_set_tensors(copy), i);
        fuzz_check(memcmp(at->data, other->data, (size_t)at->tensor.bytes) == 0,
                   "the data of %s", at->tensor.name);
    }
    api_set_unref(copy);
}

/* ---- schemes that use sets ---- */

static pe_status find(void *context, const char *name, pe_set **ret_set)
{
    (void)name;
    *ret_set = pe_set_ref(context);
    return PE_OK;
}

static void use(const pe_scheme *scheme, pe_set *tensors)
{
    static const pe_argument arguments[] = {{"set", "set", .kind = PE_KIND_ANY},
                                            {"length", "3", .kind = PE_KIND_ANY}};
    const pe_sets sets = {tensors, find};
    const pe_limits limits = {
        .elements = 1 << 14, .table_bytes = 1 << 16, .list_length = 64, .sets = &sets};
    pe_request *request;
    pe_table *table;
    pe_error error;
    if (pe_request_new(scheme, arguments, 2, &limits, &request, &error) != PE_OK) {
        fuzz_check_error(&error);
        return;
    }
    if (pe_request_price(request) < 1e7 &&
        pe_table_compute(request, NULL, &table, &error) == PE_OK)
        pe_table_unref(table);
    pe_request_unref(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pe_error error;
    char *file;
    if (size > 0 && data[0] == '{') {
        const uint8_t *end = memchr(data, '\n', size);
        size_t line = end ? (size_t)(end - data) : size;
        file = fuzz_safetensors((const char *)data, line, end ? end + 1 : NULL,
                                end ? size - line - 1 : 0, &size);
    } else {
        file = fuzz_exact(data, size);
    }
    api_set *set = api_set_read(file, size, &error);
    if (!set) {
        fuzz_check_error(&error);
        return 0;
    }
    check_tensors(set);
    check_copy(set);
    for (size_t i = 0; i < pe_scheme_count(); i++)
        use(pe_scheme_at(i), api_set_tensors(set));
    api_set_unref(set);
    return 0;
}
