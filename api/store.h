/* Sets: safetensors files that have been checked, and the store in which a host keeps
 * them. */
#ifndef API_STORE_H
#define API_STORE_H

#include "posenc.h"

/* ---- sets ---- */

/* A safetensors file: its bytes and the tensors in them. Immutable and reference-counted. */
typedef struct api_set api_set;

#define API_SET_HEADER_MAX  (1 << 20) /* bytes of a file's JSON header */
#define API_SET_TENSORS_MAX 256
#define API_SET_NAME_MAX    128 /* bytes of a tensor's name */

/* Check a whole file and make a set of it. The function takes over `bytes`, which are from
 * malloc. On failure it frees them, fills reterr and returns NULL: PE_MALFORMED,
 * PE_OUT_OF_RANGE (a dtype, shape or value that is not accepted) or PE_NO_MEMORY. */
api_set *api_set_read(char *bytes, size_t size, pe_error *reterr);
api_set *api_set_ref(api_set *set);
void api_set_unref(api_set *set);

pe_set *api_set_tensors(const api_set *set); /* not a new reference */
const char *api_set_digest(const api_set *set);
const char *api_set_bytes(const api_set *set, size_t *ret_size);

/* The tensors as a JSON array: name, dtype and shape of each. */
const char *api_set_description(const api_set *set);

/* Bytes of memory that the set takes. */
size_t api_set_footprint(const api_set *set);

/* ---- storage ---- */

/* The name of a set: the most bytes, and the pattern. */
#define API_STORED_NAME_MAX     64
#define API_STORED_NAME_PATTERN "^[a-z0-9][a-z0-9._-]{0,63}$"

typedef enum api_store_status {
    API_STORE_DONE,
    API_STORE_ABSENT,         /* no set has the name */
    API_STORE_LATER,          /* the set must be read from disk, and the call was to be quick */
    API_STORE_REFUSED,        /* the precondition does not hold */
    API_STORE_TOO_MANY_SETS,  /* the limit on the number of sets is reached */
    API_STORE_TOO_MANY_BYTES, /* the limit on the size of all sets has no room for this one */
    API_STORE_DISK_FULL,
    API_STORE_READ_ONLY,   /* the disk can be read, but not written any more */
    API_STORE_FAILED,      /* the storage cannot be read or written; the host has logged why */
    API_STORE_UNAVAILABLE, /* the storage cannot be reached now: whether it has the set, or has
                            * done the change, is not known */
    API_STORE_NO_MEMORY,   /* memory ran out; the same call may succeed later */
} api_store_status;

/* A row of the store's index, which is known without reading the set. */
typedef struct api_stored {
    const char *name, *digest, *description;
    uint64_t bytes;
} api_stored;

/* A precondition of a change. `holds` is given the digest of the set that is stored under the
 * name, NULL if there is none. The store is locked while it runs, so it must not call it. */
typedef struct api_condition {
    void *context;
    bool (*holds)(void *context, const char *digest);
} api_condition;

/* Sets by name. Every function may be called from any thread. `put` and `remove` take time;
 * they are atomic, even if the process or the machine crashes. */
typedef struct api_store {
    const char *kind; /* "memory", "sqlite" or "postgresql" */
    bool shared;      /* other servers change it, too: what list and look say may be late */
    void *context;
    /* Whether the storage can be reached; if not, what is in memory can still be found. */
    bool (*is_up)(void *context);
    /* Call `visit` for every set in the order of the names; it must not call the store.
     * API_STORE_UNAVAILABLE: the names have not been read yet. */
    api_store_status (*list)(void *context,
                             void (*visit)(void *state, const api_stored *stored), void *state);
    /* The digest and size of a set; false if no set is known to have the name. */
    bool (*look)(void *context, const char *name, char ret_digest[PE_DIGEST_SIZE],
                 uint64_t *ret_bytes);
    /* A new reference to a set. With `quick` the disk is not read: see API_STORE_LATER. */
    api_store_status (*find)(void *context, const char *name, bool quick, api_set **ret_set);
    /* Store a set under a name, or replace the one that has it. */
    api_store_status (*put)(void *context, const char *name, api_set *set,
                            const api_condition *condition, bool *ret_replaced);
    api_store_status (*remove)(void *context, const char *name, const api_condition *condition);
    /* The number of sets and the bytes of their files. */
    void (*totals)(void *context, uint64_t *ret_sets, uint64_t *ret_bytes);
} api_store;

#endif
