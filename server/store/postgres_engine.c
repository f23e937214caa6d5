/* The engine on PostgreSQL, which several servers share. The bytes of a set are sent first, as
 * rows of 1 MiB that nobody can see; then, under a lock that all servers take and hold for
 * moments, the change is judged by what is stored, the set's row is written, and all of it is
 * committed. So conditions and limits hold across servers, and an upload that ends early leaves
 * nothing. */
#include "store/engine.h"
#include "store/postgres_link.h"
#include "store/postgres_listener.h"
#include "store/shared_schema.h"
#include "store/store_index.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20) /* bytes in a row of posenc.chunks */
#define LOCK  "SELECT pg_advisory_xact_lock(123572558061156)" /* one above the schema's */

typedef struct postgres_engine {
    char *url;
    postgres_listener *listener;
    pthread_mutex_t reads, writes; /* each guards a link */
    postgres_link *reader, *writer;
} postgres_engine;

/* A number as the text of a value. */
typedef struct number_text {
    char text[24];
} number_text;

static link_value number_value(int64_t number, number_text *dst)
{
    snprintf(dst->text, sizeof dst->text, "%lld", (long long)number);
    return (link_value){.text = dst->text};
}

static bool is_reachable(void *context)
{
    return atomic_load(postgres_listener_is_connected(((postgres_engine *)context)->listener));
}

/* Begin a transaction on a link, whose connection may have been lost since it was used. */
static api_store_status begin_transaction(postgres_engine *self, postgres_link *link)
{
    api_store_status status = API_STORE_UNAVAILABLE;
    for (int tries = 0; tries < 2 && status == API_STORE_UNAVAILABLE && is_reachable(self);
         tries++)
        if (postgres_link_open(link))
            status = postgres_link_run(link, "BEGIN ISOLATION LEVEL READ COMMITTED");
    return status;
}

/* Commit a transaction if all of it is done, else undo it. Returns the status of the whole. */
static api_store_status end_transaction(postgres_link *link, api_store_status status)
{
    if (status == API_STORE_DONE)
        status = postgres_link_run(link, "COMMIT");
    if (status != API_STORE_DONE && postgres_link_run(link, "ROLLBACK") != API_STORE_DONE)
        postgres_link_drop(link);
    return status;
}

/* Log a failure that the database has given a reason for. While it is away, its listener has
 * logged why. */
static void log_failure(postgres_engine *self, const postgres_link *link,
                        api_store_status status, const char *message, const char *name)
{
    if (status == API_STORE_FAILED || status == API_STORE_DISK_FULL ||
        (status == API_STORE_UNAVAILABLE && is_reachable(self)))
        engine_log_failure(message, name, postgres_link_reason(link));
}

/* ---- reading ---- */

typedef struct chunk_reader {
    char *dst;
    size_t size, used;
    bool fits;
} chunk_reader;

static bool take_chunk(void *context, const link_row *row)
{
    chunk_reader *reader = context;
    size_t size;
    const char *bytes = link_row_bytes(row, 0, &size);
    reader->fits = reader->fits && size <= reader->size - reader->used;
    if (reader->fits)
        memcpy(reader->dst + reader->used, bytes, size);
    reader->used += reader->fits ? size : 0;
    return true;
}

static api_store_status read_set(void *context, const char *name, int64_t id, char *dst,
                                 size_t size)
{
    postgres_engine *self = context;
    chunk_reader reader = {.dst = dst, .size = size, .fits = true};
    number_text text = {""};
    const link_value value = number_value(id, &text);
    pthread_mutex_lock(&self->reads);
    api_store_status status = begin_transaction(self, self->reader);
    if (status == API_STORE_DONE)
        status = end_transaction(
            self->reader,
            postgres_link_ask(self->reader,
                              &(link_statement){.sql = "SELECT bytes FROM posenc.chunks"
                                                       " WHERE set_id = $1 ORDER BY number",
                                                .values = &value,
                                                .count = 1,
                                                .binary = true,
                                                .visit = take_chunk,
                                                .context = &reader}));
    log_failure(self, self->reader, status, "a set cannot be read", name);
    pthread_mutex_unlock(&self->reads);
    if (status == API_STORE_DONE && reader.used == 0)
        return API_STORE_ABSENT;
    if (status == API_STORE_DONE && (!reader.fits || reader.used != size)) {
        engine_log_failure("a set is damaged", name,
                           "its bytes are not as many as its row says");
        return API_STORE_FAILED;
    }
    return status;
}

/* ---- judging a change ---- */

typedef struct standing_reader {
    int64_t version;
    bool exists;
    char digest[PE_DIGEST_SIZE];
    uint64_t sets, bytes, descriptions;
} standing_reader;

static bool read_standing(void *context, const link_row *row)
{
    standing_reader *reader = context;
    *reader = (standing_reader){.version = link_row_number(row, 0),
                                .exists = !link_row_is_null(row, 1),
                                .sets = (uint64_t)link_row_number(row, 2),
                                .bytes = (uint64_t)link_row_number(row, 3),
                                .descriptions = (uint64_t)link_row_number(row, 4)};
    snprintf(reader->digest, sizeof reader->digest, "%s", link_row_text(row, 1));
    return true;
}

/* Judge a change by what is stored now. */
static api_store_status judge_change(postgres_link *link, const engine_change *change)
{
    static const char sql[] =
        "SELECT (SELECT version FROM posenc.schema_version),"
        " (SELECT digest FROM posenc.sets WHERE name = $1), count(*), coalesce(sum(bytes), 0),"
        " coalesce(sum(octet_length(description::text)), 0) FROM posenc.sets WHERE name <> $1";
    standing_reader reader = {0};
    const link_value value = {.text = change->stored.name};
    api_store_status status = postgres_link_ask(link, &(link_statement){.sql = sql,
                                                                        .values = &value,
                                                                        .count = 1,
                                                                        .visit = read_standing,
                                                                        .context = &reader});
    if (status != API_STORE_DONE)
        return status;
    if (reader.version != SHARED_SCHEMA_VERSION)
        return API_STORE_UNAVAILABLE; /* the listener finds out, too */
    const engine_standing standing = {
        .digest = reader.exists ? reader.digest : NULL,
        .sets = reader.sets,
        .cost = index_cost(reader.sets, reader.bytes, reader.descriptions)};
    return change->judge(change->context, &standing);
}

/* Take the lock of all changes, which goes with the transaction, and judge. */
static api_store_status lock_and_judge(postgres_link *link, const engine_change *change)
{
    api_store_status status = postgres_link_run(link, LOCK);
    return status == API_STORE_DONE ? judge_change(link, change) : status;
}

/* ---- changing ---- */

static bool take_id(void *context, const link_row *row)
{
    *(int64_t *)context = link_row_number(row, 0);
    return true;
}

static api_store_status send_chunks(postgres_link *link, const engine_change *change,
                                    int64_t id)
{
    size_t size = (size_t)change->stored.bytes;
    number_text set_id = {""}, number = {""};
    api_store_status status = API_STORE_DONE;
    for (size_t offset = 0; status == API_STORE_DONE && offset < size; offset += CHUNK) {
        size_t part = size - offset < CHUNK ? size - offset : CHUNK;
        const link_value values[] = {number_value(id, &set_id),
                                     number_value((int64_t)(offset / CHUNK), &number),
                                     {.text = change->bytes + offset, .size = part}};
        status = postgres_link_ask(
            link, &(link_statement){.sql = "INSERT INTO posenc.chunks (set_id, number, bytes)"
                                           " VALUES ($1, $2, $3)",
                                    .values = values,
                                    .count = 3});
    }
    return status;
}

static api_store_status remove_row(postgres_link *link, const char *name)
{
    const link_value value = {.text = name};
    return postgres_link_ask(link,
                             &(link_statement){.sql = "DELETE FROM posenc.sets WHERE name = $1",
                                               .values = &value,
                                               .count = 1});
}

static api_store_status insert_row(postgres_link *link, const api_stored *stored, int64_t id)
{
    number_text set_id = {""}, bytes = {""};
    const link_value values[] = {number_value(id, &set_id),
                                 {.text = stored->name},
                                 {.text = stored->digest},
                                 number_value((int64_t)stored->bytes, &bytes),
                                 {.text = stored->description}};
    return postgres_link_ask(
        link, &(link_statement){.sql = "INSERT INTO posenc.sets (id, name, digest, bytes,"
                                       " description) VALUES ($1, $2, $3, $4, $5)",
                                .values = values,
                                .count = 5});
}

/* All of a put but the beginning and end of its transaction. The change is judged before its
 * bytes are sent as well: most refusals need no lock and no upload. */
static api_store_status put_in_transaction(postgres_link *link, const engine_change *change,
                                           int64_t *ret_id)
{
    api_store_status status = judge_change(link, change);
    if (status == API_STORE_DONE)
        status =
            postgres_link_ask(link, &(link_statement){.sql = "SELECT nextval('posenc.numbers')",
                                                      .visit = take_id,
                                                      .context = ret_id});
    if (status == API_STORE_DONE)
        status = send_chunks(link, change, *ret_id);
    if (status == API_STORE_DONE)
        status = lock_and_judge(link, change);
    if (status == API_STORE_DONE)
        status = remove_row(link, change->stored.name);
    return status == API_STORE_DONE ? insert_row(link, &change->stored, *ret_id) : status;
}

static api_store_status remove_in_transaction(postgres_link *link, const engine_change *change)
{
    api_store_status status = lock_and_judge(link, change);
    return status == API_STORE_DONE ? remove_row(link, change->stored.name) : status;
}

/* Do a change, of a put with ret_id. When it is done the store has been told, unless the
 * connection of the listener was lost meanwhile. */
static api_store_status apply_change(postgres_engine *self, const engine_change *change,
                                     int64_t *ret_id)
{
    pthread_mutex_lock(&self->writes);
    api_store_status status = begin_transaction(self, self->writer);
    if (status == API_STORE_DONE)
        status = end_transaction(self->writer,
                                 ret_id ? put_in_transaction(self->writer, change, ret_id)
                                        : remove_in_transaction(self->writer, change));
    log_failure(self, self->writer, status, "a set cannot be stored or removed",
                change->stored.name);
    pthread_mutex_unlock(&self->writes);
    if (status == API_STORE_DONE)
        postgres_listener_refresh(self->listener, change->stored.name);
    return status;
}

static api_store_status put(void *context, const engine_change *change, int64_t *ret_id)
{
    return apply_change(context, change, ret_id);
}

static api_store_status remove_set(void *context, const engine_change *change)
{
    return apply_change(context, change, NULL);
}

static api_store_status refresh(void *context, const char *name)
{
    return postgres_listener_refresh(((postgres_engine *)context)->listener, name);
}

/* ---- opening and closing ---- */

static void close_engine(void *context)
{
    postgres_engine *self = context;
    postgres_link_free(self->reader);
    postgres_link_free(self->writer);
    postgres_listener_stop(self->listener);
    pthread_mutex_destroy(&self->reads);
    pthread_mutex_destroy(&self->writes);
    free(self->url);
    free(self);
}

bool postgres_engine_accepts(const char *url, char *reterr, size_t size)
{
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    if (!options) /* libpq's own message might show a part of the URL */
        snprintf(reterr, size,
                 "database-url: not a URL that libpq can read: "
                 "postgresql://USER@HOST:PORT/DATABASE, with %%XX for special characters");
    PQconninfoFree(options);
    return options != NULL;
}

bool postgres_engine_open(const char *url, const engine_events *events,
                          store_engine *ret_engine, char *reterr, size_t size)
{
    postgres_engine *self = calloc(1, sizeof *self);
    snprintf(reterr, size, "database-url: out of memory");
    if (!self)
        return false;
    pthread_mutex_init(&self->reads, NULL);
    pthread_mutex_init(&self->writes, NULL);
    self->url = strdup(url);
    if (self->url)
        self->listener = postgres_listener_start(self->url, events, reterr, size);
    if (self->listener) {
        const atomic_bool *up = postgres_listener_is_connected(self->listener);
        self->reader = postgres_link_new(self->url, up);
        self->writer = postgres_link_new(self->url, up);
    }
    if (!self->reader || !self->writer) {
        close_engine(self);
        return false;
    }
    *ret_engine = (store_engine){.kind = "postgresql",
                                 .shared = true,
                                 .context = self,
                                 .read = read_set,
                                 .put = put,
                                 .remove = remove_set,
                                 .refresh = refresh,
                                 .is_up = is_reachable,
                                 .close = close_engine};
    return true;
}
