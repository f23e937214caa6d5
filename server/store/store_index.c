#include "store/store_index.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t index_cost(uint64_t sets, uint64_t bytes, uint64_t descriptions)
{
    return bytes + sets * sizeof(store_row) + 3 * descriptions;
}

store_row *index_row_new(const api_stored *stored, int64_t id)
{
    store_row *row = calloc(1, sizeof *row);
    char *description = strdup(stored->description);
    if (!row || !description || strlen(stored->name) >= sizeof row->name ||
        strlen(stored->digest) >= sizeof row->digest) {
        free(description);
        free(row);
        return NULL;
    }
    snprintf(row->name, sizeof row->name, "%s", stored->name);
    snprintf(row->digest, sizeof row->digest, "%s", stored->digest);
    row->description = description;
    row->bytes = stored->bytes;
    row->cost = index_cost(1, stored->bytes, strlen(description));
    row->id = id;
    return row;
}

void index_row_free(store_row *row)
{
    if (!row)
        return;
    api_set_unref(row->set);
    free(row->description);
    free(row);
}

/* Binary search: the place of a name's row in the array, or where to insert it. ret_row is NULL
 * if there is no such row. */
static size_t search_rows(const store_index *self, const char *name, store_row **ret_row)
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

/* Subtract a row from the sums. */
static void subtract_row(store_index *self, const store_row *row)
{
    self->bytes -= row->bytes;
    self->cost -= row->cost;
    if (row->set)
        self->cached -= api_set_footprint(row->set);
}

store_row *index_insert(store_index *self, store_row *row)
{
    store_row *old;
    size_t place = search_rows(self, row->name, &old);
    if (old) {
        subtract_row(self, old);
    } else {
        assert(self->count < self->room);
        memmove(self->rows + place + 1, self->rows + place,
                (self->count - place) * sizeof *self->rows);
        self->count++;
    }
    self->rows[place] = row;
    self->bytes += row->bytes;
    self->cost += row->cost;
    return old;
}

void index_remove(store_index *self, store_row *row)
{
    store_row *same;
    size_t place = search_rows(self, row->name, &same);
    assert(same == row);
    subtract_row(self, row);
    self->count--;
    memmove(self->rows + place, self->rows + place + 1,
            (self->count - place) * sizeof *self->rows);
}

store_row *index_find(const store_index *self, const char *name)
{
    store_row *row;
    search_rows(self, name, &row);
    return row;
}

void index_keep(store_index *self, store_row *row, api_set *set)
{
    row->last_used = ++self->clock;
    if (row->set)
        return;
    row->set = api_set_ref(set);
    self->cached += api_set_footprint(set);
}

api_set *index_evict(store_index *self)
{
    store_row *oldest = NULL;
    for (size_t i = 0; i < self->count; i++)
        if (self->rows[i]->set && (!oldest || self->rows[i]->last_used < oldest->last_used))
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
