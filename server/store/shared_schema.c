/* A set's row comes after its chunks, which may take long, and briefly under a lock
 * (postgres_engine.c): so the reference from a chunk to its set is checked at the end of the
 * transaction. */
#include "store/shared_schema.h"

#include <assert.h>
#include <stddef.h>

/* Floats do not shrink: EXTERNAL keeps chunks out of line without trying to compress them. */
static const char FIRST[] =
    "CREATE SCHEMA IF NOT EXISTS posenc;\n"
    "CREATE TABLE posenc.schema_version (version int NOT NULL);\n"
    "INSERT INTO posenc.schema_version VALUES (1);\n"
    "CREATE SEQUENCE posenc.numbers; -- of ids and revisions: never the same twice\n"
    "CREATE TABLE posenc.sets (\n"
    "    id          bigint PRIMARY KEY,\n"
    "    revision    bigint NOT NULL UNIQUE DEFAULT nextval('posenc.numbers'), -- in the order "
    "of commits\n"
    "    name        text   NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),\n"
    "    digest      text   NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'), -- SHA-256 of the "
    "file\n"
    "    bytes       bigint NOT NULL CHECK (bytes > 0),\n"
    "    description json   NOT NULL, -- name, dtype and shape of each tensor\n"
    "    stored_at   timestamptz NOT NULL DEFAULT now());\n"
    "CREATE TABLE posenc.chunks (\n"
    "    set_id bigint NOT NULL REFERENCES posenc.sets ON DELETE CASCADE DEFERRABLE INITIALLY "
    "DEFERRED,\n"
    "    number int    NOT NULL,\n"
    "    bytes  bytea  NOT NULL,\n"
    "    PRIMARY KEY (set_id, number));\n"
    "ALTER TABLE posenc.chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;\n"
    "CREATE FUNCTION posenc.tell() RETURNS trigger LANGUAGE plpgsql AS $$\n"
    "BEGIN\n"
    "    PERFORM pg_notify('posenc_sets', COALESCE(NEW.name, OLD.name));\n"
    "    RETURN NULL;\n"
    "END $$;\n"
    "CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON posenc.sets\n"
    "    FOR EACH ROW EXECUTE FUNCTION posenc.tell();\n";

static const char *const STEPS[SHARED_SCHEMA_VERSION] = {FIRST};

const char *shared_schema_step(int version)
{
    assert(version >= 1 && version <= SHARED_SCHEMA_VERSION);
    return STEPS[version - 1];
}

void shared_schema_print(FILE *out)
{
    fputs("-- Sets of posenc in PostgreSQL (12 or later). A role of posenc-server that "
          "may not "
          "make tables needs:\n"
          "--   GRANT USAGE ON SCHEMA posenc TO ROLE;\n"
          "--   GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA posenc TO ROLE;\n"
          "--   GRANT USAGE ON SEQUENCE posenc.numbers TO ROLE;\n"
          "BEGIN;\n",
          out);
    for (int version = 1; version <= SHARED_SCHEMA_VERSION; version++)
        fputs(shared_schema_step(version), out);
    fputs("COMMIT;\n", out);
}
