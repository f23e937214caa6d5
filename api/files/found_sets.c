/* The sets that a call has found. */
#include "files/found_sets.h"

#include "replies/access.h"
#include "replies/problem.h"

#include <stdio.h>
#include <string.h>

/* Find a set in the store as its `find` does, or as this call has found it before: a new
 * reference, or API_STORE_ABSENT. */
static api_store_status find_set(const api_call *call, const char *name, api_set **ret_set)
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

bool api_read_set(const api_call *call, const char *name, api_set **ret_set,
                  api_reply **ret_reply)
{
    if (api_refuse_reading(call, ret_reply))
        return false;
    api_store_status status = find_set(call, name, ret_set);
    *ret_reply = NULL;
    if (status == API_STORE_LATER)
        api_not_yet(call, API_LATER);
    else if (status == API_STORE_FAILED || status == API_STORE_UNAVAILABLE)
        *ret_reply = api_problem_of_store(status);
    return status == API_STORE_DONE || status == API_STORE_ABSENT;
}

void api_found_sets_done(api_found_sets *found)
{
    for (size_t i = 0; i < found->count; i++)
        api_set_unref(found->items[i].set);
    found->count = 0;
}
