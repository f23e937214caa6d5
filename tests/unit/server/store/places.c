#include "places.h"

#include "directory.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_MAX 4000000

api_set *set_of(float first, size_t elements)
{
    pe_error error;
    char header[128];
    int length =
        snprintf(header, sizeof header,
                 "{\"t\":{\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[0,%zu]}}",
                 elements, 4 * elements);
    size_t size = 8 + (size_t)length + 4 * elements;
    char *bytes = calloc(1, size);
    unit_assert(bytes != NULL && size <= DATA_MAX);
    bytes[0] = (char)length;
    memcpy(bytes + 8, header, (size_t)length);
    for (size_t i = 0; i < elements; i++) {
        float element = first + (float)i;
        memcpy(bytes + 8 + length + 4 * i, &element, sizeof element);
    }
    api_set *set = api_set_read(bytes, size, &error);
    unit_assert(set != NULL);
    return set;
}

static double first_of(const api_set *set)
{
    return pe_set_element(pe_set_tensor_at(api_set_tensors(set), 0), 0);
}

static const char *database_url(void)
{
    return getenv("STORE_DATABASE_URL");
}

size_t place_count(void)
{
    return database_url() ? PLACES : IN_POSTGRESQL;
}

set_store *open_again(place where, uint64_t sets, uint64_t bytes, uint64_t cached)
{
    char reason[256];
    const set_store_settings settings = {
        .directory = where == IN_SQLITE ? unit_directory() : "",
        .sets = sets,
        .bytes = bytes,
        .cached_bytes = cached,
        .database_url = where == IN_POSTGRESQL ? database_url() : NULL};
    set_store *opened = set_store_open(&settings, reason, sizeof reason);
    ck_assert_msg(opened != NULL, "%s", reason);
    return opened;
}

static bool any(void *context, const char *digest)
{
    (void)context, (void)digest;
    return true;
}

const api_condition ANY_STATE = {NULL, any};

api_store_status put_set(set_store *sets, const char *name, float first, size_t elements)
{
    bool replaced;
    const api_store *store = set_store_for_api(sets);
    api_set *set = set_of(first, elements);
    api_store_status status = store->put(store->context, name, set, &ANY_STATE, &replaced);
    api_set_unref(set);
    return status;
}

api_store_status drop_set(set_store *sets, const char *name)
{
    const api_store *store = set_store_for_api(sets);
    return store->remove(store->context, name, &ANY_STATE);
}

double first_in(set_store *sets, const char *name)
{
    api_set *set = NULL;
    const api_store *store = set_store_for_api(sets);
    api_store_status status = store->find(store->context, name, false, &set);
    unit_assert((status == API_STORE_DONE) == (set != NULL));
    unit_assert(status == API_STORE_DONE || status == API_STORE_ABSENT);
    double first = set ? first_of(set) : -1;
    api_set_unref(set);
    return first;
}

set_store *open_empty(place where, uint64_t sets, uint64_t bytes, uint64_t cached)
{
    if (where == IN_SQLITE)
        unit_new_directory();
    set_store *opened = open_again(where, sets, bytes, cached);
    for (char name[2] = "a"; where == IN_POSTGRESQL && name[0] <= 'z'; name[0]++)
        drop_set(opened, name);
    return opened;
}
