/* libpq is used without blocking, so that a database which neither answers nor ends the
 * connection is noticed: see PATIENCE. Rows are taken one by one, so that a large set is not
 * held twice. */
#include "store/postgres_link.h"

#include "clock.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP           100                 /* milliseconds of one wait */
#define PATIENCE       (65 * CLOCK_SECOND) /* without a byte; longer than STATEMENT_TIMEOUT */
#define SHORT_PATIENCE (5 * CLOCK_SECOND)
#define SESSION        "SET statement_timeout = '60s'; SET client_min_messages = 'error'"
#define STANDBY        "25006" /* SQLSTATE of a change where nothing can be changed */
#define VALUES_MAX     8
#define SECRETS_MAX    2

struct postgres_link {
    PGconn *connection; /* NULL: not connected */
    const char *url;
    const atomic_bool *is_up;
    char *secrets[SECRETS_MAX]; /* of the URL; NULL: none */
    bool is_standby; /* the server has refused a change: another one may be the primary */
    char reason[256];
};

struct link_row {
    const PGresult *result; /* its only row */
};

/* ---- reasons ---- */

/* Overwrite every occurrence of a secret in a text. */
static void hide_secret(char *text, const char *secret)
{
    size_t length = secret ? strlen(secret) : 0;
    for (char *place = text; length > 0 && (place = strstr(place, secret)); place += length)
        memset(place, '*', length);
}

/* Keep a message as the reason: its lines become one, without secrets. */
static void set_reason(postgres_link *self, const char *message)
{
    char *text = strdup(message && *message ? message : "out of memory");
    if (!text)
        return;
    for (size_t i = 0; i < SECRETS_MAX; i++)
        hide_secret(text, self->secrets[i]);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\n' || text[i] == '\t')
            text[i] = ' ';
    snprintf(self->reason, sizeof self->reason, "%s", text);
    free(text);
}

const char *postgres_link_reason(const postgres_link *self)
{
    return self->reason;
}

/* ---- opening and closing ---- */

/* Copy the secrets of the URL. False if it is malformed or memory ran out. */
static bool read_secrets(postgres_link *self)
{
    PQconninfoOption *options = PQconninfoParse(self->url, NULL);
    size_t count = 0;
    bool done = options != NULL;
    for (PQconninfoOption *option = options; done && option->keyword; option++)
        if (option->val && *option->val && count < SECRETS_MAX &&
            (strcmp(option->keyword, "password") == 0 ||
             strcmp(option->keyword, "sslpassword") == 0)) {
            self->secrets[count] = strdup(option->val);
            done = self->secrets[count++] != NULL;
        }
    PQconninfoFree(options);
    return done;
}

postgres_link *postgres_link_new(const char *url, const atomic_bool *is_up)
{
    postgres_link *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->url = url;
    self->is_up = is_up;
    if (read_secrets(self))
        return self;
    postgres_link_free(self);
    return NULL;
}

void postgres_link_drop(postgres_link *self)
{
    PQfinish(self->connection);
    self->connection = NULL;
}

void postgres_link_free(postgres_link *self)
{
    if (!self)
        return;
    postgres_link_drop(self);
    for (size_t i = 0; i < SECRETS_MAX; i++)
        free(self->secrets[i]);
    free(self);
}

/* Keep what the connection says of its failure, and drop it; returns false. */
static bool lose_connection(postgres_link *self)
{
    set_reason(self, PQerrorMessage(self->connection));
    postgres_link_drop(self);
    return false;
}

static void ignore_notice(void *context, const PGresult *notice)
{
    (void)context, (void)notice;
}

bool postgres_link_open(postgres_link *self)
{
    /* the URL comes last, so that what it says wins */
    static const char *const keywords[] = {"connect_timeout",
                                           "tcp_user_timeout",
                                           "keepalives_idle",
                                           "target_session_attrs",
                                           "fallback_application_name",
                                           "client_encoding",
                                           "dbname",
                                           NULL};
    const char *const values[] = {"2",      "5000", "5",       "read-write",
                                  "posenc", "UTF8", self->url, NULL};
    if (self->connection && PQstatus(self->connection) == CONNECTION_OK)
        return true;
    postgres_link_drop(self);
    self->connection = PQconnectdbParams(keywords, values, 1);
    if (PQstatus(self->connection) != CONNECTION_OK)
        return lose_connection(self);
    PQsetNoticeReceiver(self->connection, ignore_notice, NULL);
    if (PQsetnonblocking(self->connection, 1) != 0)
        return lose_connection(self);
    if (postgres_link_run_script(self, SESSION) == API_STORE_DONE)
        return true;
    postgres_link_drop(self);
    return false;
}

/* ---- waiting ---- */

static uint64_t choose_timeout(const postgres_link *self)
{
    return self->is_up && atomic_load(self->is_up) ? PATIENCE : SHORT_PATIENCE;
}

/* Wait until a result can be taken. False: the connection is lost. */
static bool await_result(postgres_link *self)
{
    uint64_t heard = clock_now();
    for (;;) {
        int unsent = PQflush(self->connection);
        if (unsent < 0)
            return lose_connection(self);
        if (unsent == 0 && !PQisBusy(self->connection))
            return true;
        struct pollfd socket = {PQsocket(self->connection),
                                (short)(unsent ? POLLIN | POLLOUT : POLLIN), 0};
        if (poll(&socket, 1, STEP) > 0) {
            heard = clock_now();
            if ((socket.revents & ~POLLOUT) && !PQconsumeInput(self->connection))
                return lose_connection(self);
        } else if (clock_now() - heard > choose_timeout(self)) {
            set_reason(self, "the database does not answer");
            postgres_link_drop(self);
            return false;
        }
    }
}

/* ---- statements ---- */

/* What an error of the database means for the caller, by its SQLSTATE. */
static api_store_status find_status(const char *state)
{
    static const char *const passing[] = {
        "08",          /* connection */
        STANDBY, "40", /* the transaction was rolled back: deadlock and the like */
        "53",          /* out of memory, connections */
        "55",          /* not in the needed state */
        "57",          /* shutting down, cancelled, too long */
        "58"           /* the system's errors, such as of the disk */
    };
    if (!state)
        return API_STORE_UNAVAILABLE;
    if (strcmp(state, "53100") == 0)
        return API_STORE_DISK_FULL;
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (strncmp(state, passing[i], strlen(passing[i])) == 0)
            return API_STORE_UNAVAILABLE;
    return API_STORE_FAILED;
}

/* Judge a result, and visit its row if it has one. */
static api_store_status take_result(postgres_link *self, const link_statement *statement,
                                    const PGresult *result)
{
    const link_row row = {result};
    switch (PQresultStatus(result)) {
    case PGRES_SINGLE_TUPLE:
        return !statement->visit || statement->visit(statement->context, &row)
                   ? API_STORE_DONE
                   : API_STORE_NO_MEMORY;
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        return API_STORE_DONE;
    default:
        break;
    }
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    set_reason(self, message ? message : PQresultErrorMessage(result));
    self->is_standby = state && strcmp(state, STANDBY) == 0;
    return find_status(state);
}

/* Take all results of what has been sent. The first failure counts. */
static api_store_status take_results(postgres_link *self, const link_statement *statement)
{
    api_store_status status = API_STORE_DONE;
    for (;;) {
        if (!await_result(self))
            return API_STORE_UNAVAILABLE;
        PGresult *result = PQgetResult(self->connection);
        if (!result)
            break;
        api_store_status taken =
            status == API_STORE_DONE ? take_result(self, statement, result) : API_STORE_DONE;
        if (taken != API_STORE_DONE)
            status = taken;
        PQclear(result);
    }
    if (PQstatus(self->connection) != CONNECTION_OK)
        lose_connection(self);
    else if (self->is_standby)
        postgres_link_drop(self);
    self->is_standby = false;
    return self->connection ? status : API_STORE_UNAVAILABLE;
}

api_store_status postgres_link_ask(postgres_link *self, const link_statement *statement)
{
    const char *texts[VALUES_MAX];
    int sizes[VALUES_MAX], binary[VALUES_MAX];
    for (size_t i = 0; i < statement->count; i++) {
        texts[i] = statement->values[i].text;
        sizes[i] = (int)statement->values[i].size;
        binary[i] = statement->values[i].size > 0;
    }
    if (!self->connection)
        return API_STORE_UNAVAILABLE;
    if (!PQsendQueryParams(self->connection, statement->sql, (int)statement->count, NULL, texts,
                           sizes, binary, statement->binary)) {
        lose_connection(self);
        return API_STORE_UNAVAILABLE;
    }
    PQsetSingleRowMode(self->connection);
    return take_results(self, statement);
}

api_store_status postgres_link_run(postgres_link *self, const char *sql)
{
    return postgres_link_ask(self, &(link_statement){.sql = sql});
}

api_store_status postgres_link_run_script(postgres_link *self, const char *sql)
{
    if (!self->connection)
        return API_STORE_UNAVAILABLE;
    if (!PQsendQuery(self->connection, sql)) {
        lose_connection(self);
        return API_STORE_UNAVAILABLE;
    }
    return take_results(self, &(link_statement){.sql = sql});
}

/* ---- rows ---- */

const char *link_row_text(const link_row *row, int column)
{
    return PQgetvalue(row->result, 0, column);
}

bool link_row_is_null(const link_row *row, int column)
{
    return PQgetisnull(row->result, 0, column);
}

int64_t link_row_number(const link_row *row, int column)
{
    return strtoll(PQgetvalue(row->result, 0, column), NULL, 10);
}

const char *link_row_bytes(const link_row *row, int column, size_t *ret_size)
{
    *ret_size = (size_t)PQgetlength(row->result, 0, column);
    return PQgetvalue(row->result, 0, column);
}

/* ---- notifications ---- */

int postgres_link_descriptor(const postgres_link *self)
{
    return self->connection ? PQsocket(self->connection) : -1;
}

bool postgres_link_receive(postgres_link *self)
{
    return (self->connection && PQconsumeInput(self->connection)) || lose_connection(self);
}

bool postgres_link_take_notification(postgres_link *self, char *dst, size_t size)
{
    PGnotify *notification = self->connection ? PQnotifies(self->connection) : NULL;
    if (!notification)
        return false;
    snprintf(dst, size, "%s", notification->extra);
    PQfreemem(notification);
    return true;
}
