/* The stored sets that a call has found. */
#include "sets/found_sets.h"

#include <stdio.h>
#include <string.h>

api_store_status api_find_set(const api_call *call, const char *name, api_set **ret_set)
{
    const api_store *store = call->service->host->store;
    api_found_sets *found = call->found_sets;
    for (size_t i = 0; i < found->count; i++) {
        api_set *known = found->items[i].set;
        if (strcmp(found->items[i].name, name) != 0)
            continue;
        *ret_set = known ? api_set_ref(known) : NULL;
        return known ? API_STORE_DONE : API_STORE_ABSENT;
    }
    *ret_set = NULL;
    api_store_status status = store->find(store->context, name, call->request->quick, ret_set);
    bool known = status == API_STORE_DONE || status == API_STORE_ABSENT;
    if (known && found->count < API_FOUND_SETS_MAX && strlen(name) <= API_STORED_NAME_MAX) {
        api_found_set *item = &found->items[found->count++];
        snprintf(item->name, sizeof item->name, "%s", name);
        item->set = *ret_set ? api_set_ref(*ret_set) : NULL;
    }
    return status;
}

void api_found_sets_done(api_found_sets *found)
{
    for (size_t i = 0; i < found->count; i++)
        api_set_unref(found->items[i].set);
    found->count = 0;
}
