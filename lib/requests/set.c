/* Sets of trained tensors, counted by references. */
#include "numerics/dtype.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct pe_set {
    atomic_uint references;
    char digest[PE_DIGEST_SIZE];
    size_t count;
    void *memory;
    pe_set_tensor tensors[];
};

pe_set *pe_set_new(const char *digest, const pe_set_tensor *tensors, size_t count, void *memory)
{
    pe_set *set = malloc(sizeof *set + count * sizeof *tensors);
    if (!set)
        return NULL;
    atomic_init(&set->references, 1);
    assert(strlen(digest) < sizeof set->digest);
    strncpy(set->digest, digest, sizeof set->digest);
    set->count = count;
    set->memory = memory;
    memcpy(set->tensors, tensors, count * sizeof *tensors);
    return set;
}

pe_set *pe_set_ref(pe_set *set)
{
    atomic_fetch_add_explicit(&set->references, 1, memory_order_relaxed);
    return set;
}

void pe_set_unref(pe_set *set)
{
    if (!set || atomic_fetch_sub_explicit(&set->references, 1, memory_order_acq_rel) > 1)
        return;
    free(set->memory);
    free(set);
}

const char *pe_set_digest(const pe_set *set)
{
    return set->digest;
}

size_t pe_set_tensor_count(const pe_set *set)
{
    return set->count;
}

const pe_set_tensor *pe_set_tensor_at(const pe_set *set, size_t index)
{
    assert(index < set->count);
    return &set->tensors[index];
}

const pe_set_tensor *pe_set_tensor_find(const pe_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->tensors[i].tensor.name, name) == 0)
            return &set->tensors[i];
    return NULL;
}

double pe_set_element(const pe_set_tensor *tensor, uint64_t index)
{
    size_t size = pe_dtype_size(tensor->tensor.dtype);
    return pe_element_value(tensor->tensor.dtype,
                            (const unsigned char *)tensor->data + index * size);
}
