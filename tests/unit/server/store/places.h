/* Stores in every place that keeps sets, and small calls of them, for tests. */
#ifndef PLACES_H
#define PLACES_H

#include "store/set_store.h"

/* PostgreSQL takes part where the variable STORE_DATABASE_URL names a database, whose sets are
 * removed: `make postgres`. */
typedef enum place { IN_MEMORY, IN_SQLITE, IN_POSTGRESQL, PLACES } place;
size_t place_count(void);

/* Open a store without sets, or where an earlier one may have left some; SQLite's is in the
 * unit directory. */
set_store *open_empty(place where, uint64_t sets, uint64_t bytes, uint64_t cached);
set_store *open_again(place where, uint64_t sets, uint64_t bytes, uint64_t cached);

/* A set of one f32 tensor; its first element identifies it. */
api_set *set_of(float first, size_t elements);

/* A condition that always holds, which the two functions below use. */
extern const api_condition ANY_STATE;
api_store_status put_set(set_store *sets, const char *name, float first, size_t elements);
api_store_status drop_set(set_store *sets, const char *name);

/* The first element of the set with a name, -1 if there is none. */
double first_in(set_store *sets, const char *name);

#endif
