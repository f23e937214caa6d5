/* LISTEN comes before the first list, so that no change falls between them. Poolers that share
 * connections lose notifications: every 5 s the highest revision and the number of sets tell
 * whether one was lost. A revision is drawn under the lock of changes, so each change raises it
 * or, a removal, lowers the number. */
#include "store/postgres_listener.h"

#include "clock.h"
#include "observe/log.h"
#include "store/postgres_link.h"
#include "store/postgres_schema.h"
#include "store/shared_schema.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define POLL_EVERY  (5 * CLOCK_SECOND)
#define RETRY_AFTER 250 /* milliseconds */

#define COLUMNS "id, name, digest, bytes, description"

/* Which changes the database has had. */
typedef struct change_mark {
    int64_t version, revision, sets;
} change_mark;

/* What a thread waits for that has asked for a name; in its own memory. */
typedef struct inquiry {
    const char *name;
    api_store_status status;
    bool is_answered;
    struct inquiry *next;
} inquiry;

struct postgres_listener {
    pthread_t thread;
    bool has_thread;
    postgres_link *link;
    engine_events events;
    int wake; /* eventfd: there are inquiries, or the thread is to stop */
    change_mark mark;
    char logged[320]; /* the last warning */
    atomic_bool is_up, stops;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t news;  /* an inquiry is answered, or the first attempt is over */
    inquiry *inquiries;
    bool has_tried,
        is_refused; /* to connect; by a database that another try would not change */
    char refusal[320];
};

/* ---- reading rows ---- */

typedef struct row_reader {
    const engine_events *events;
    size_t rows;
} row_reader;

static bool tell_row(void *context, const link_row *row)
{
    row_reader *reader = context;
    const api_stored stored = {.name = link_row_text(row, 1),
                               .digest = link_row_text(row, 2),
                               .bytes = (uint64_t)link_row_number(row, 3),
                               .description = link_row_text(row, 4)};
    reader->rows++;
    return reader->events->stored(reader->events->context, &stored, link_row_number(row, 0));
}

static api_store_status list_sets(postgres_listener *self)
{
    row_reader reader = {.events = &self->events};
    self->events.list_begins(self->events.context);
    api_store_status status = postgres_link_ask(
        self->link, &(link_statement){.sql = "SELECT " COLUMNS " FROM posenc.sets",
                                      .visit = tell_row,
                                      .context = &reader});
    if (status == API_STORE_DONE)
        self->events.list_ends(self->events.context);
    return status;
}

static api_store_status query_name(postgres_listener *self, const char *name)
{
    row_reader reader = {.events = &self->events};
    const link_value value = {.text = name};
    api_store_status status = postgres_link_ask(
        self->link,
        &(link_statement){.sql = "SELECT " COLUMNS " FROM posenc.sets WHERE name = $1",
                          .values = &value,
                          .count = 1,
                          .visit = tell_row,
                          .context = &reader});
    if (status == API_STORE_DONE && reader.rows == 0)
        self->events.removed(self->events.context, name);
    return status;
}

static bool take_mark(void *context, const link_row *row)
{
    *(change_mark *)context = (change_mark){.version = link_row_number(row, 0),
                                            .revision = link_row_number(row, 1),
                                            .sets = link_row_number(row, 2)};
    return true;
}

static api_store_status read_mark(postgres_listener *self, change_mark *ret_mark)
{
    return postgres_link_ask(
        self->link,
        &(link_statement){.sql = "SELECT (SELECT version FROM posenc.schema_version),"
                                 " coalesce(max(revision), 0), count(*) FROM posenc.sets",
                          .visit = take_mark,
                          .context = ret_mark});
}

/* List all sets if a change was not noticed. False: connect again. */
static bool read_changes(postgres_listener *self)
{
    change_mark mark = {0};
    if (read_mark(self, &mark) != API_STORE_DONE || mark.version != SHARED_SCHEMA_VERSION)
        return false;
    if (mark.revision == self->mark.revision && mark.sets == self->mark.sets)
        return true;
    self->mark = mark;
    return list_sets(self) == API_STORE_DONE;
}

/* ---- notifications and inquiries ---- */

/* False: connect again. */
static bool follow_notifications(postgres_listener *self)
{
    char name[API_STORED_NAME_MAX + 1];
    while (postgres_link_take_notification(self->link, name, sizeof name))
        if (query_name(self, name) != API_STORE_DONE)
            return false;
    return true;
}

static inquiry *take_inquiries(postgres_listener *self)
{
    pthread_mutex_lock(&self->lock);
    inquiry *taken = self->inquiries;
    self->inquiries = NULL;
    pthread_mutex_unlock(&self->lock);
    return taken;
}

static void answer_inquiry(postgres_listener *self, inquiry *asked, api_store_status status)
{
    pthread_mutex_lock(&self->lock);
    asked->status = status;
    asked->is_answered = true;
    pthread_cond_broadcast(&self->news);
    pthread_mutex_unlock(&self->lock);
}

/* Answer all inquiries; after a failure none is looked up. False: connect again. */
static bool follow_inquiries(postgres_listener *self)
{
    api_store_status status = API_STORE_DONE;
    for (inquiry *asked = take_inquiries(self), *next; asked; asked = next) {
        next = asked->next; /* its memory goes with its answer */
        if (status == API_STORE_DONE)
            status = query_name(self, asked->name);
        answer_inquiry(self, asked, status == API_STORE_DONE ? status : API_STORE_UNAVAILABLE);
    }
    return status == API_STORE_DONE;
}

/* Wait for something to do, at most for some milliseconds. False: the connection is lost. */
static bool wait_for_events(postgres_listener *self, int milliseconds)
{
    uint64_t count;
    struct pollfd sources[] = {{self->wake, POLLIN, 0},
                               {postgres_link_descriptor(self->link), POLLIN, 0}};
    poll(sources, 2, milliseconds);
    if (sources[0].revents && read(self->wake, &count, sizeof count) < 0)
        return false;
    return !sources[1].revents || postgres_link_receive(self->link);
}

/* ---- connecting ---- */

static void note_refusal(postgres_listener *self, schema_outcome outcome)
{
    pthread_mutex_lock(&self->lock);
    self->is_refused = outcome == SCHEMA_TOO_NEW || outcome == SCHEMA_REFUSED;
    if (outcome == SCHEMA_TOO_NEW)
        snprintf(self->refusal, sizeof self->refusal,
                 "database-url: the tables were made by a later release of posenc");
    else if (outcome == SCHEMA_REFUSED)
        snprintf(
            self->refusal, sizeof self->refusal,
            "database-url: the tables cannot be made or read: %s; --print-schema prints what a "
            "role that may make them has to run",
            postgres_link_reason(self->link));
    pthread_mutex_unlock(&self->lock);
}

/* Connect, and tell of all sets. */
static bool connect_and_list(postgres_listener *self)
{
    schema_outcome outcome = postgres_link_open(self->link)
                                 ? postgres_schema_prepare(self->link)
                                 : SCHEMA_UNREACHABLE;
    note_refusal(self, outcome);
    return outcome == SCHEMA_READY &&
           postgres_link_run(self->link, "LISTEN posenc_sets") == API_STORE_DONE &&
           read_mark(self, &self->mark) == API_STORE_DONE && list_sets(self) == API_STORE_DONE;
}

/* Log why the database is not used, unless that was the last thing logged. */
static void log_outage(postgres_listener *self)
{
    const char *reason = self->is_refused ? self->refusal : postgres_link_reason(self->link);
    if (strcmp(reason, self->logged) == 0)
        return;
    snprintf(self->logged, sizeof self->logged, "%s", reason);
    log_event(LOG_LEVEL_WARNING, "the database of the sets cannot be reached",
              (const log_field[]){{.name = "reason", .text = reason}, {.name = NULL}});
}

static void report_state(postgres_listener *self, bool is_up)
{
    if (atomic_exchange(&self->is_up, is_up) != is_up && is_up && self->logged[0]) {
        self->logged[0] = '\0';
        log_event(LOG_LEVEL_INFO, "the database of the sets is reached again", NULL);
    }
    pthread_mutex_lock(&self->lock);
    self->has_tried = true;
    pthread_cond_broadcast(&self->news);
    pthread_mutex_unlock(&self->lock);
}

/* Follow what happens until the connection is lost or the thread is to stop. */
static void follow_changes(postgres_listener *self)
{
    uint64_t next_poll = clock_now() + POLL_EVERY;
    while (follow_notifications(self) && follow_inquiries(self) && !atomic_load(&self->stops)) {
        uint64_t now = clock_now();
        if (now >= next_poll) {
            next_poll = now + POLL_EVERY;
            if (!read_changes(self))
                return;
            continue; /* notifications may have come in */
        }
        if (!wait_for_events(self, (int)((next_poll - now) / (CLOCK_SECOND / 1000)) + 1))
            return;
    }
}

/* Answer inquiries that came while the database was not reached. */
static void refuse_inquiries(postgres_listener *self)
{
    for (inquiry *asked = take_inquiries(self), *next; asked; asked = next) {
        next = asked->next;
        answer_inquiry(self, asked, API_STORE_UNAVAILABLE);
    }
}

static void *run_listener(void *argument)
{
    postgres_listener *self = argument;
    while (!atomic_load(&self->stops)) {
        bool is_connected = connect_and_list(self);
        if (!is_connected && (self->has_tried || !self->is_refused)) /* else we do not start */
            log_outage(self);
        report_state(self, is_connected);
        if (is_connected)
            follow_changes(self);
        if (is_connected && !atomic_load(&self->stops))
            log_outage(self);
        report_state(self, false);
        postgres_link_drop(self->link);
        refuse_inquiries(self);
        if (!is_connected && !atomic_load(&self->stops))
            wait_for_events(self, RETRY_AFTER);
    }
    refuse_inquiries(self);
    return NULL;
}

/* ---- for other threads ---- */

static void wake_thread(postgres_listener *self)
{
    const uint64_t one = 1;
    ssize_t written = write(self->wake, &one, sizeof one);
    (void)written; /* it fails only where the thread is woken already */
}

api_store_status postgres_listener_refresh(postgres_listener *self, const char *name)
{
    inquiry asked = {.name = name};
    pthread_mutex_lock(&self->lock);
    if (!atomic_load(&self->is_up) || atomic_load(&self->stops)) {
        pthread_mutex_unlock(&self->lock);
        return API_STORE_UNAVAILABLE;
    }
    asked.next = self->inquiries;
    self->inquiries = &asked;
    wake_thread(self);
    while (!asked.is_answered)
        pthread_cond_wait(&self->news, &self->lock);
    pthread_mutex_unlock(&self->lock);
    return asked.status;
}

const atomic_bool *postgres_listener_is_connected(const postgres_listener *self)
{
    return &self->is_up;
}

/* ---- starting and stopping ---- */

/* Wait for the first attempt. False: the database is there and refuses us. */
static bool await_first_try(postgres_listener *self, char *reterr, size_t size)
{
    pthread_mutex_lock(&self->lock);
    while (!self->has_tried)
        pthread_cond_wait(&self->news, &self->lock);
    bool is_refused = self->is_refused;
    if (is_refused)
        snprintf(reterr, size, "%s", self->refusal);
    pthread_mutex_unlock(&self->lock);
    return !is_refused;
}

postgres_listener *postgres_listener_start(const char *url, const engine_events *events,
                                           char *reterr, size_t size)
{
    postgres_listener *self = calloc(1, sizeof *self);
    snprintf(reterr, size, "database-url: memory, threads or descriptors are missing");
    if (!self)
        return NULL;
    self->events = *events;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->news, NULL);
    self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    self->link = postgres_link_new(url, NULL);
    self->has_thread = self->wake >= 0 && self->link &&
                       pthread_create(&self->thread, NULL, run_listener, self) == 0;
    if (self->has_thread && await_first_try(self, reterr, size))
        return self;
    postgres_listener_stop(self);
    return NULL;
}

void postgres_listener_stop(postgres_listener *self)
{
    if (!self)
        return;
    atomic_store(&self->stops, true);
    if (self->has_thread) {
        wake_thread(self);
        pthread_join(self->thread, NULL);
    }
    if (self->wake >= 0)
        close(self->wake);
    postgres_link_free(self->link);
    pthread_cond_destroy(&self->news);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
