#include "store/postgres_schema.h"

#include "store/shared_schema.h"

/* A number of our own, that no other program's locks are likely to have: "posenc" as bytes. */
#define LOCK "SELECT pg_advisory_xact_lock(123572558061155)"

static bool take_number(void *context, const link_row *row)
{
    *(int64_t *)context = link_row_number(row, 0);
    return true;
}

/* The first number of an answer. */
static api_store_status ask_number(postgres_link *link, const char *sql, int64_t *ret_number)
{
    *ret_number = 0;
    return postgres_link_ask(
        link, &(link_statement){.sql = sql, .visit = take_number, .context = ret_number});
}

/* The version of the tables; 0 if there are none. */
static api_store_status read_version(postgres_link *link, int64_t *ret_version)
{
    int64_t exists;
    *ret_version = 0;
    /* to_regclass would remember that there was no table before the lock */
    api_store_status status =
        ask_number(link,
                   "SELECT count(*) FROM pg_catalog.pg_class c"
                   " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
                   " WHERE n.nspname = 'posenc' AND c.relname = 'schema_version'",
                   &exists);
    if (status == API_STORE_DONE && exists)
        status = ask_number(link, "SELECT version FROM posenc.schema_version", ret_version);
    return status;
}

/* Go from a version to this release's; the lock is held, within a transaction. */
static api_store_status migrate_schema(postgres_link *link)
{
    int64_t version;
    api_store_status status = read_version(link, &version);
    while (status == API_STORE_DONE && version < SHARED_SCHEMA_VERSION)
        status = postgres_link_run_script(link, shared_schema_step((int)++version));
    return status;
}

static schema_outcome find_outcome(api_store_status status)
{
    return status == API_STORE_DONE          ? SCHEMA_READY
           : status == API_STORE_UNAVAILABLE ? SCHEMA_UNREACHABLE
                                             : SCHEMA_REFUSED;
}

schema_outcome postgres_schema_prepare(postgres_link *link)
{
    int64_t version;
    api_store_status status = read_version(link, &version);
    if (status == API_STORE_DONE && version > SHARED_SCHEMA_VERSION)
        return SCHEMA_TOO_NEW;
    if (status != API_STORE_DONE || version == SHARED_SCHEMA_VERSION)
        return find_outcome(status);
    status = postgres_link_run(link, "BEGIN");
    if (status == API_STORE_DONE)
        status = postgres_link_run(link, LOCK);
    if (status == API_STORE_DONE)
        status = migrate_schema(link);
    if (status == API_STORE_DONE)
        status = postgres_link_run(link, "COMMIT");
    if (status != API_STORE_DONE)
        postgres_link_drop(link); /* which undoes it */
    return find_outcome(status);
}
