/* Sets: safetensors files that have been checked completely. */
#include "bytes/digest.h"
#include "files/set_header.h"
#include "json/document.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct api_set {
    atomic_uint references;
    pe_set *tensors;   /* owns the memory of the file and, after it, of the tensors' names */
    const char *bytes; /* the file */
    size_t size;
    size_t footprint;  /* bytes of memory that the set takes */
    char *description; /* the tensors as JSON text */
};

/* ---- values ---- */

#define AT_ONCE 1024 /* elements */

static bool is_finite(const pe_tensor *tensor, const char *data)
{
    double numbers[AT_ONCE];
    const size_t size = pe_dtype_size(tensor->dtype);
    bool finite = true;
    for (uint64_t first = 0; finite && first < tensor->elements; first += AT_ONCE) {
        const uint64_t left = tensor->elements - first;
        const size_t count = left < AT_ONCE ? (size_t)left : AT_ONCE;
        pe_read_row(numbers, tensor->dtype, data + first * size, count);
        for (size_t i = 0; i < count; i++)
            finite &= isfinite(numbers[i]) != 0;
    }
    return finite;
}

/* Add every tensor with values that are not finite to reterr; false if there is one. */
static bool check_values(const api_set_header *header, const char *bytes, pe_error *reterr)
{
    for (size_t i = 0; i < header->count; i++) {
        const api_set_entry *entry = &header->entries[i];
        if (!is_finite(&entry->tensor, bytes + header->data + entry->begin))
            pe_error_add(reterr, PE_OUT_OF_RANGE, entry->tensor.name, "",
                         "a tensor of finite values, without NaN and infinities");
    }
    return reterr->status == PE_OK;
}

/* ---- sets ---- */

/* The tensors as JSON text; NULL without memory. */
static char *describe_tensors(const api_set_header *header)
{
    json_t *tensors = json_array();
    for (size_t i = 0; i < header->count; i++) {
        const pe_tensor *tensor = &header->entries[i].tensor;
        json_array_append_new(tensors,
                              json_pack("{s:s, s:s, s:o}", "name", tensor->name, "dtype",
                                        pe_dtype_name(tensor->dtype), "shape",
                                        api_document_shape(tensor->shape, tensor->rank)));
    }
    return api_document_text(tensors, JSON_COMPACT);
}

static size_t names_size(const api_set_header *header)
{
    size_t size = 0;
    for (size_t i = 0; i < header->count; i++)
        size += strlen(header->entries[i].tensor.name) + 1;
    return size;
}

/* The tensors of a file. `bytes` has the `size` bytes of the file and then room for the names
 * of the tensors. The result takes it over; without memory it is NULL and takes over nothing.
 */
static pe_set *make_tensors(const api_set_header *header, char *bytes, size_t size)
{
    char digest[PE_DIGEST_SIZE], *names = bytes + size;
    pe_set_tensor *tensors = calloc(header->count, sizeof *tensors);
    if (!tensors)
        return NULL;
    for (size_t i = 0; i < header->count; i++) {
        const api_set_entry *entry = &header->entries[i];
        size_t length = strlen(entry->tensor.name) + 1;
        tensors[i].tensor = entry->tensor;
        tensors[i].tensor.name = memcpy(names, entry->tensor.name, length);
        tensors[i].data = bytes + header->data + entry->begin;
        names += length;
    }
    api_sha256_hex(bytes, size, digest);
    pe_set *set = pe_set_new(digest, tensors, header->count, bytes);
    free(tensors);
    return set;
}

/* A set of a file that has been checked. It takes over the bytes. Without memory it is NULL and
 * takes over nothing, but the bytes may have moved. */
static api_set *make_set(const api_set_header *header, char **bytes, size_t size)
{
    size_t names = names_size(header);
    api_set *set = calloc(1, sizeof *set);
    char *grown = set ? realloc(*bytes, size + names) : NULL;
    if (grown) {
        *bytes = grown;
        set->description = describe_tensors(header);
    }
    if (set && set->description)
        set->tensors = make_tensors(header, grown, size);
    if (!set || !set->tensors) {
        if (set)
            free(set->description);
        free(set);
        return NULL;
    }
    atomic_init(&set->references, 1);
    set->bytes = grown;
    set->size = size;
    set->footprint = sizeof *set + size + names + strlen(set->description) +
                     header->count * sizeof(pe_set_tensor) + PE_DIGEST_SIZE;
    return set;
}

api_set *api_set_read(char *bytes, size_t size, pe_error *reterr)
{
    api_set_header header;
    api_set *set = NULL;
    pe_error_init(reterr);
    if (api_set_header_read(bytes, size, &header, reterr) &&
        check_values(&header, bytes, reterr)) {
        set = make_set(&header, &bytes, size);
        if (!set)
            pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the set");
    }
    api_set_header_done(&header);
    if (!set)
        free(bytes);
    return set;
}

api_set *api_set_ref(api_set *set)
{
    atomic_fetch_add_explicit(&set->references, 1, memory_order_relaxed);
    return set;
}

void api_set_unref(api_set *set)
{
    if (!set || atomic_fetch_sub_explicit(&set->references, 1, memory_order_acq_rel) > 1)
        return;
    pe_set_unref(set->tensors);
    free(set->description);
    free(set);
}

pe_set *api_set_tensors(const api_set *set)
{
    return set->tensors;
}

const char *api_set_digest(const api_set *set)
{
    return pe_set_digest(set->tensors);
}

const char *api_set_bytes(const api_set *set, size_t *ret_size)
{
    *ret_size = set->size;
    return set->bytes;
}

const char *api_set_description(const api_set *set)
{
    return set->description;
}

size_t api_set_footprint(const api_set *set)
{
    return set->footprint;
}
