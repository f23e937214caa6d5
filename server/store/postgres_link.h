/* One connection to PostgreSQL, which is opened again after it was lost. No call waits for
 * ever, and nothing that is told or logged shows the password. */
#ifndef POSTGRES_LINK_H
#define POSTGRES_LINK_H

#include "api.h"

#include <stdatomic.h>

/* Used by one thread at a time. */
typedef struct postgres_link postgres_link;

/* The URL must outlive the link. `is_up`: whether the database answers another link; while it
 * does not, patience ends sooner. NULL: always the short patience. Returns NULL without memory.
 */
postgres_link *postgres_link_new(const char *url, const atomic_bool *is_up);
void postgres_link_free(postgres_link *self); /* NULL is fine */

/* Connect, unless it is connected. False: see the reason. */
bool postgres_link_open(postgres_link *self);

/* Disconnect; what is not committed is undone. */
void postgres_link_drop(postgres_link *self);

/* A value of a statement: $1 and so on. */
typedef struct link_value {
    const char *text; /* ended by NUL, unless it is binary */
    size_t size;      /* of binary bytes; 0: a text */
} link_value;

/* One row of an answer. */
typedef struct link_row link_row;
const char *link_row_text(const link_row *row, int column); /* "" for null */
bool link_row_is_null(const link_row *row, int column);
int64_t link_row_number(const link_row *row, int column);
const char *link_row_bytes(const link_row *row, int column, size_t *ret_size);

/* Run one statement with up to 8 values. `visit` is called for every row of the answer as it
 * comes in, and returns false if memory ran out; it may be NULL. With `binary` the rows have
 * binary bytes instead of texts. API_STORE_UNAVAILABLE: the connection is lost, or the database
 * cannot do it now. API_STORE_DISK_FULL, API_STORE_FAILED, API_STORE_NO_MEMORY. */
typedef bool link_visit(void *context, const link_row *row);
typedef struct link_statement {
    const char *sql;
    const link_value *values;
    size_t count;
    bool binary;
    link_visit *visit;
    void *context;
} link_statement;
api_store_status postgres_link_ask(postgres_link *self, const link_statement *statement);

/* Run a statement without values and rows. */
api_store_status postgres_link_run(postgres_link *self, const char *sql);

/* Run a script of several statements. */
api_store_status postgres_link_run_script(postgres_link *self, const char *sql);

/* One line that says why the last call failed. */
const char *postgres_link_reason(const postgres_link *self);

/* ---- notifications ---- */

/* What to poll for what comes in; -1: not connected. */
int postgres_link_descriptor(const postgres_link *self);

/* Read what has come in. False: the connection is lost. */
bool postgres_link_receive(postgres_link *self);

/* Take one notification that has come in, and copy its text. False if there is none. */
bool postgres_link_take_notification(postgres_link *self, char *dst, size_t size);

#endif
