/* Stored sets: safetensors files that have been checked, and where a host keeps them. */
#ifndef API_STORE_H
#define API_STORE_H

#include "posenc.h"

/* ---- sets ---- */

/* A safetensors file: its bytes and the tensors in them. Immutable, counted by references. */
typedef struct api_set api_set;

#define API_SET_HEADER_MAX  (1 << 20) /* bytes of a file's JSON header */
#define API_SET_TENSORS_MAX 256
#define API_SET_NAME_MAX    128 /* bytes of a tensor's name */

/* Check a whole file, bytes from malloc, which the set takes over. NULL with reterr filled:
 * then they are freed. PE_MALFORMED, PE_OUT_OF_RANGE (a dtype, shape or value that is not
 * taken), PE_NO_MEMORY. */
api_set *api_set_read(char *bytes, size_t size, pe_error *reterr);
api_set *api_set_ref(api_set *set);
void api_set_unref(api_set *set);

pe_set *api_set_tensors(const api_set *set); /* not a new reference */
const char *api_set_digest(const api_set *set);
const char *api_set_bytes(const api_set *set, size_t *ret_size);

/* The tensors as a JSON array: name, dtype and shape of each. */
const char *api_set_description(const api_set *set);

/* Bytes of memory the set holds. */
size_t api_set_footprint(const api_set *set);

/* ---- storage ---- */

#define API_STORED_NAME_MAX     64 /* bytes of a set's name, which is */
#define API_STORED_NAME_PATTERN "^[a-z0-9][a-z0-9._-]{0,63}$"

typedef enum api_store_status {
    API_STORE_DONE,
    API_STORE_ABSENT,    /* no set has the name */
    API_STORE_LATER,     /* not in memory, and it was to be quick */
    API_STORE_REFUSED,   /* the condition does not hold */
    API_STORE_FULL,      /* the store's limit or the disk does not admit it */
    API_STORE_FAILED,    /* the storage cannot be read or written; the host has logged why */
    API_STORE_NO_MEMORY, /* memory ran out; the same call may succeed later */
} api_store_status;

/* What is known of a set without reading it. */
typedef struct api_stored {
    const char *name, *digest, *description;
    uint64_t bytes;
} api_stored;

/* Whether to go on, given the digest of the set that stands (NULL: there is none). Called with
 * the store locked: must not call it. */
typedef struct api_condition {
    void *context;
    bool (*holds)(void *context, const char *digest);
} api_condition;

/* Sets by name. Every function may be called from any thread; `put` and `remove` take time, and
 * either happen whole or not at all, however the process or the machine ends. */
typedef struct api_store {
    const char *kind; /* "memory" or "sqlite" */
    void *context;
    /* Call `visit` for every set, by name; it must not call the store. */
    void (*list)(void *context, void (*visit)(void *of, const api_stored *stored), void *of);
    /* Digest and size of a set; false if there is none. */
    bool (*look)(void *context, const char *name, char ret_digest[PE_DIGEST_SIZE],
                 uint64_t *ret_bytes);
    /* A new reference to a set. */
    api_store_status (*find)(void *context, const char *name, bool quick, api_set **ret_set);
    api_store_status (*put)(void *context, const char *name, api_set *set,
                            const api_condition *condition, bool *ret_replaced);
    api_store_status (*remove)(void *context, const char *name, const api_condition *condition);
    void (*totals)(void *context, uint64_t *ret_sets, uint64_t *ret_bytes);
} api_store;

#endif
