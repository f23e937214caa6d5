/* Rows in an array, sorted by name. */
#include "store_index.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

store_row *index_row_new(const api_stored *stored, int64_t id)
{
    store_row *made = calloc(1, sizeof *made);
    char *description = strdup(stored->description);
    if (!made || !description || strlen(stored->name) >= sizeof made->name ||
        strlen(stored->digest) >= sizeof made->digest) {
        free(description);
        free(made);
        return NULL;
    }
    snprintf(made->name, sizeof made->name, "%s", stored->name);
    snprintf(made->digest, sizeof made->digest, "%s", stored->digest);
    made->description = description;
    made->bytes = stored->bytes;
    made->cost = stored->bytes + sizeof *made + 3 * strlen(description);
    made->id = id;
    return made;
}

void index_row_free(store_row *row)
{
    if (!row)
        return;
    api_set_unref(row->set);
    free(row->description);
    free(row);
}

/* Where the row of a name is, or would be; ret_row is NULL if there is none. */
static size_t search(const store_index *self, const char *name, store_row **ret_row)
{
    size_t low = 0, high = self->count;
    *ret_row = NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(self->rows[middle]->name, name);
        if (order == 0) {
            *ret_row = self->rows[middle];
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool index_make_room(store_index *self)
{
    if (self->count < self->room)
        return true;
    size_t room = 2 * self->room + 16;
    store_row **rows = realloc(self->rows, room * sizeof(store_row *));
    if (!rows)
        return false;
    self->rows = rows;
    self->room = room;
    return true;
}

static void forget(store_index *self, const store_row *row)
{
    self->bytes -= row->bytes;
    self->cost -= row->cost;
    if (row->set)
        self->cached -= api_set_footprint(row->set);
}

store_row *index_place(store_index *self, store_row *row)
{
    store_row *old;
    size_t at = search(self, row->name, &old);
    if (old) {
        forget(self, old);
    } else {
        assert(self->count < self->room);
        memmove(self->rows + at + 1, self->rows + at, (self->count - at) * sizeof *self->rows);
        self->count++;
    }
    self->rows[at] = row;
    self->bytes += row->bytes;
    self->cost += row->cost;
    return old;
}

void index_take_out(store_index *self, store_row *row)
{
    store_row *found;
    size_t at = search(self, row->name, &found);
    assert(found == row);
    forget(self, row);
    self->count--;
    memmove(self->rows + at, self->rows + at + 1, (self->count - at) * sizeof *self->rows);
}

store_row *index_find(const store_index *self, const char *name)
{
    store_row *found;
    search(self, name, &found);
    return found;
}

void index_keep(store_index *self, store_row *row, api_set *set)
{
    row->used = ++self->clock;
    if (row->set)
        return;
    row->set = api_set_ref(set);
    self->cached += api_set_footprint(set);
}

api_set *index_evict(store_index *self)
{
    store_row *oldest = NULL;
    for (size_t i = 0; i < self->count; i++)
        if (self->rows[i]->set && (!oldest || self->rows[i]->used < oldest->used))
            oldest = self->rows[i];
    if (!oldest)
        return NULL;
    api_set *evicted = oldest->set;
    oldest->set = NULL;
    self->cached -= api_set_footprint(evicted);
    return evicted;
}

void index_done(store_index *self)
{
    for (size_t i = 0; i < self->count; i++)
        index_row_free(self->rows[i]);
    free(self->rows);
}
