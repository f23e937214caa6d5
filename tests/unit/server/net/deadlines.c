/* The watch over deadlines: rounds at times that the tests choose, on connections over loopback
 * and on socketpairs. One test runs the thread. */
#include "net/deadlines.h"

#include "clock.h"
#include "unit.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define START (100 * CLOCK_SECOND) /* when the tests add their connections */
#define TENTH (CLOCK_SECOND / 10)

/* What the host of a watch was told. */
typedef struct report {
    size_t late[WATCH_PHASES];
    size_t rounds, watched;
} report;

static void count_late(void *context, watch_phase phase)
{
    ((report *)context)->late[phase]++;
}

static void count_round(void *context, size_t watched)
{
    report *told = context;
    told->rounds++;
    told->watched = watched;
}

static size_t late_in_all(const report *told)
{
    size_t sum = 0;
    for (size_t phase = 0; phase < WATCH_PHASES; phase++)
        sum += told->late[phase];
    return sum;
}

static const watch_limits LIMITS = {
    .idle = 5, .head = 2, .body = 3, .send = 4, .rate = 1000 /* bytes a second */
};

static connection_watch *new_watch(const watch_limits *limits, report *told)
{
    const watch_host host = {.context = told, .late = count_late, .round = count_round};
    memset(told, 0, sizeof *told);
    connection_watch *watch = watch_new(limits, &host);
    ck_assert_ptr_nonnull(watch);
    return watch;
}

/* ---- connections ---- */

/* Two ends of a connection. */
typedef struct ends {
    int server, client;
} ends;

static ends connect_tcp(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    ends connection = {.client = socket(AF_INET, SOCK_STREAM, 0)};
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    ck_assert_int_eq(connect(connection.client, (struct sockaddr *)&address, size), 0);
    connection.server = accept(listener, NULL, NULL);
    ck_assert_int_ge(connection.server, 0);
    setsockopt(connection.client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    close(listener);
    return connection;
}

static ends connect_unix(void)
{
    int fds[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    return (ends){.server = fds[0], .client = fds[1]};
}

static void close_ends(ends closed)
{
    close(closed.server);
    close(closed.client);
}

/* Send bytes and read them at the other end, in either direction. */
static void transfer(int from, int to, size_t size)
{
    char bytes[4096] = {0};
    ck_assert_uint_le(size, sizeof bytes);
    ck_assert_int_eq(send(from, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
    ck_assert_int_eq(recv(to, bytes, size, MSG_WAITALL), (ssize_t)size);
}

/* Send a response to the client. The client's byte that follows acknowledges all of it. */
static void respond(ends connection, size_t size)
{
    transfer(connection.server, connection.client, size);
    transfer(connection.client, connection.server, 1);
}

/* Whether the watch has shut the connection down, both ways. */
static bool is_shut_down(ends connection)
{
    struct pollfd server = {.fd = connection.server};
    poll(&server, 1, 0);
    return (server.revents & POLLHUP) != 0;
}

/* A watch with one connection. */
typedef struct watched_connection {
    report told;
    connection_watch *watch;
    ends connection;
    watch_mark *mark;
} watched_connection;

/* Watch a connection that was accepted at `time`. */
static void begin(watched_connection *one, const watch_limits *limits, ends connection,
                  uint64_t time)
{
    one->watch = new_watch(limits, &one->told);
    one->connection = connection;
    one->mark = watch_add(one->watch, connection.server, time);
}

static void end(watched_connection *one)
{
    watch_remove(one->watch, one->mark);
    watch_free(one->watch);
    close_ends(one->connection);
}

/* Whether a round at this time shuts the connection down. */
static bool ends_at(const watched_connection *one, uint64_t time)
{
    unit_assert(!is_shut_down(one->connection));
    watch_round(one->watch, time);
    return is_shut_down(one->connection);
}

/* ---- heads ---- */

START_TEST(a_first_head_has_its_time_from_the_start_of_the_connection)
{
    const ends kinds[] = {connect_tcp(), connect_unix()};
    for (size_t i = 0; i < UNIT_COUNT(kinds); i++) {
        watched_connection one;
        begin(&one, &LIMITS, kinds[i], START);
        ck_assert(!ends_at(&one, START));
        send(kinds[i].client, "GET", 3, MSG_NOSIGNAL); /* its bytes do not prolong it */
        ck_assert(!ends_at(&one, START + 2 * CLOCK_SECOND));
        ck_assert(ends_at(&one, START + 2 * CLOCK_SECOND + 1));
        ck_assert_uint_eq(one.told.late[WATCH_HEAD], 1);
        ck_assert_uint_eq(late_in_all(&one.told), 1);
        end(&one);
    }
}
END_TEST

START_TEST(a_connection_that_is_younger_than_the_round_is_in_time)
{
    watched_connection one;
    begin(&one, &LIMITS, connect_unix(), START);
    ck_assert(!ends_at(&one, START - 1));
    ck_assert_uint_eq(watch_young(one.watch, START - 1), 1);
    ck_assert_uint_eq(late_in_all(&one.told), 0);
    end(&one);
}
END_TEST

/* Watch a connection that has had a request and waits for another since START. */
static void begin_served(watched_connection *one, ends connection)
{
    begin(one, &LIMITS, connection, START - CLOCK_SECOND);
    transfer(connection.client, connection.server, 10);
    watch_enter(one->mark, WATCH_BODY);
    watch_enter(one->mark, WATCH_SEND);
    watch_enter(one->mark, WATCH_HEAD);
    watch_round(one->watch, START);
}

START_TEST(an_idle_connection_is_ended_and_not_counted_as_late)
{
    watched_connection one;
    begin_served(&one, connect_tcp());
    ck_assert(!ends_at(&one, START + 5 * CLOCK_SECOND));
    ck_assert(ends_at(&one, START + 5 * CLOCK_SECOND + 1));
    ck_assert_uint_eq(late_in_all(&one.told), 0);
    end(&one);
}
END_TEST

START_TEST(a_later_head_has_its_time_from_its_first_byte)
{
    watched_connection one;
    begin_served(&one, connect_tcp());
    ck_assert(!ends_at(&one, START + 4 * CLOCK_SECOND));
    transfer(one.connection.client, one.connection.server, 1);
    ck_assert(!ends_at(&one, START + 6 * CLOCK_SECOND));
    transfer(one.connection.client, one.connection.server, 1);
    ck_assert(!ends_at(&one, START + 8 * CLOCK_SECOND));
    ck_assert(ends_at(&one, START + 8 * CLOCK_SECOND + 1));
    ck_assert_uint_eq(one.told.late[WATCH_HEAD], 1);
    end(&one);
}
END_TEST

/* The kernel does not count the bytes of a Unix socket. */
START_TEST(a_later_head_on_a_unix_socket_has_the_time_of_silence_too)
{
    watched_connection one;
    begin_served(&one, connect_unix());
    ck_assert(!ends_at(&one, START + 7 * CLOCK_SECOND));
    ck_assert(ends_at(&one, START + 7 * CLOCK_SECOND + 1));
    ck_assert_uint_eq(one.told.late[WATCH_HEAD], 1);
    end(&one);
}
END_TEST

/* ---- bodies and responses ---- */

START_TEST(a_body_earns_time_by_its_bytes)
{
    watched_connection one;
    begin(&one, &LIMITS, connect_unix(), START);
    watch_enter(one.mark, WATCH_BODY);
    ck_assert(!ends_at(&one, START));
    watch_receive(one.mark, 500); /* half a second */
    ck_assert(!ends_at(&one, START + 3 * CLOCK_SECOND));
    ck_assert(!ends_at(&one, START + 3 * CLOCK_SECOND + 5 * TENTH));
    watch_receive(one.mark, 200);
    ck_assert(!ends_at(&one, START + 3 * CLOCK_SECOND + 7 * TENTH));
    ck_assert(ends_at(&one, START + 3 * CLOCK_SECOND + 7 * TENTH + 1));
    ck_assert_uint_eq(one.told.late[WATCH_BODY], 1);
    end(&one);
}
END_TEST

START_TEST(only_of_tcp_it_knows_what_clients_have_read)
{
    int tcp = socket(AF_INET, SOCK_STREAM, 0), local = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(listen(tcp, 1), 0);
    ck_assert(watch_counts_sent(tcp));
    ck_assert(!watch_counts_sent(local));
    close(tcp);
    close(local);
}
END_TEST

START_TEST(a_fast_body_saves_no_more_time_than_it_had_at_first)
{
    for (size_t size = 2500; size <= 250000; size *= 10) {
        watched_connection one;
        begin(&one, &LIMITS, connect_unix(), START);
        watch_enter(one.mark, WATCH_BODY);
        ck_assert(!ends_at(&one, START));
        watch_receive(one.mark, size);
        ck_assert(!ends_at(&one, START + CLOCK_SECOND));
        ck_assert(!ends_at(&one, START + 4 * CLOCK_SECOND));
        ck_assert(ends_at(&one, START + 4 * CLOCK_SECOND + 1));
        end(&one);
    }
}
END_TEST

START_TEST(a_response_earns_time_by_the_bytes_that_the_client_acknowledges)
{
    watched_connection one;
    begin(&one, &LIMITS, connect_tcp(), START);
    watch_enter(one.mark, WATCH_BODY);
    watch_enter(one.mark, WATCH_SEND);
    ck_assert(!ends_at(&one, START));
    respond(one.connection, 2000);
    ck_assert(!ends_at(&one, START + 4 * CLOCK_SECOND));
    ck_assert(!ends_at(&one, START + 6 * CLOCK_SECOND));
    ck_assert(ends_at(&one, START + 6 * CLOCK_SECOND + 1));
    ck_assert_uint_eq(one.told.late[WATCH_SEND], 1);
    end(&one);
}
END_TEST

START_TEST(a_phase_begins_with_all_its_time)
{
    watched_connection one;
    begin(&one, &LIMITS, connect_unix(), START);
    for (uint64_t request = 0; request < 10; request++) {
        uint64_t time = START + 10 * request * CLOCK_SECOND;
        watch_enter(one.mark, WATCH_BODY);
        ck_assert(!ends_at(&one, time));
        ck_assert(!ends_at(&one, time + 3 * CLOCK_SECOND));
        watch_enter(one.mark, WATCH_HEAD);
        ck_assert(!ends_at(&one, time + 4 * CLOCK_SECOND));
    }
    ck_assert_uint_eq(late_in_all(&one.told), 0);
    end(&one);
}
END_TEST

START_TEST(work_and_responses_on_unix_sockets_have_no_deadline)
{
    watched_connection one;
    begin(&one, &LIMITS, connect_unix(), START);
    static const watch_phase PHASES[] = {WATCH_WORK, WATCH_SEND};
    for (size_t i = 0; i < UNIT_COUNT(PHASES); i++) {
        watch_enter(one.mark, PHASES[i]);
        ck_assert(!ends_at(&one, START));
        ck_assert(!ends_at(&one, START + 86400 * CLOCK_SECOND));
    }
    ck_assert_uint_eq(late_in_all(&one.told), 0);
    end(&one);
}
END_TEST

START_TEST(without_a_rate_nothing_is_too_slow)
{
    watched_connection one;
    watch_limits limits = LIMITS;
    limits.rate = 0;
    begin(&one, &limits, connect_tcp(), START);
    static const watch_phase PHASES[] = {WATCH_BODY, WATCH_SEND};
    for (size_t i = 0; i < UNIT_COUNT(PHASES); i++) {
        watch_enter(one.mark, PHASES[i]);
        ck_assert(!ends_at(&one, START));
        ck_assert(!ends_at(&one, START + 3600 * CLOCK_SECOND));
    }
    ck_assert_uint_eq(late_in_all(&one.told), 0);
    end(&one);
}
END_TEST

/* ---- all connections ---- */

START_TEST(a_late_connection_is_reported_once_and_reset_when_it_is_closed)
{
    report told;
    connection_watch *watch = new_watch(&LIMITS, &told);
    ends connection = connect_tcp();
    struct pollfd client = {.fd = connection.client};
    watch_mark *mark = watch_add(watch, connection.server, START);
    for (uint64_t i = 1; i <= 5; i++)
        watch_round(watch, START + 10 * i * CLOCK_SECOND);
    ck_assert_uint_eq(told.late[WATCH_HEAD], 1);
    ck_assert_uint_eq(told.rounds, 5);
    watch_remove(watch, mark);
    watch_free(watch);
    ck_assert(is_shut_down(connection));
    close(connection.server);
    ck_assert_int_eq(poll(&client, 1, 60000), 1);
    ck_assert_int_ne(client.revents & POLLERR, 0); /* a reset */
    close(connection.client);
}
END_TEST

START_TEST(connections_are_counted_and_are_young_for_a_second_or_until_their_head_is_whole)
{
    enum { COUNT = 40 }; /* more than there are lists */
    report told;
    connection_watch *watch = new_watch(&LIMITS, &told);
    ends connections[COUNT];
    watch_mark *marks[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        connections[i] = connect_unix();
        marks[i] = watch_add(watch, connections[i].server, START + i);
    }
    ck_assert_uint_eq(watch_count(watch), COUNT);
    ck_assert_uint_eq(watch_young(watch, START + COUNT), COUNT);
    ck_assert_uint_eq(watch_young(watch, START + CLOCK_SECOND + 9), COUNT - 10);
    ck_assert_uint_eq(watch_young(watch, START + CLOCK_SECOND + COUNT), 0);
    watch_enter(marks[COUNT - 1], WATCH_BODY);
    watch_enter(marks[7], WATCH_BODY);
    ck_assert_uint_eq(watch_young(watch, START + COUNT), COUNT - 2);
    for (size_t i = 0; i < COUNT; i += 3)
        watch_remove(watch, marks[i]);
    ck_assert_uint_eq(watch_count(watch), COUNT - 14);
    watch_round(watch, START + 3 * CLOCK_SECOND);
    ck_assert_uint_eq(told.watched, COUNT - 14);
    for (size_t i = 0; i < COUNT; i++) { /* the removed ones are left alone */
        bool waits_for_head = i % 3 != 0 && i != 7 && i != COUNT - 1;
        ck_assert_int_eq(is_shut_down(connections[i]), waits_for_head);
    }
    for (size_t i = COUNT; i-- > 0;)
        if (i % 3 != 0)
            watch_remove(watch, marks[i]);
    watch_round(watch, START);
    ck_assert_uint_eq(watch_count(watch), 0);
    watch_free(watch);
    for (size_t i = 0; i < COUNT; i++)
        close_ends(connections[i]);
}
END_TEST

START_TEST(a_connection_that_is_not_watched_has_a_mark_that_takes_everything)
{
    watch_enter(NULL, WATCH_SEND);
    watch_receive(NULL, 1);
    report told;
    connection_watch *watch = new_watch(&LIMITS, &told);
    unit_fail_allocations(0, 1);
    watch_mark *mark = watch_add(watch, 0, START);
    unit_allow_allocations();
    ck_assert_ptr_null(mark);
    ck_assert_uint_eq(watch_count(watch), 0);
    watch_remove(watch, NULL);
    watch_free(watch);
    watch_free(NULL);
}
END_TEST

/* Wait until the other end of a pipe is written, or a socket has ended. */
static void await_input(int fd)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};
    char byte;
    ck_assert_int_eq(poll(&input, 1, 60000), 1);
    ck_assert_int_ge(read(fd, &byte, 1), 0);
}

/* A round's host that writes to a pipe when there was no connection. */
static void tell_when_empty(void *context, size_t watched)
{
    const int *write_end = context;
    if (watched == 0)
        ck_assert_int_eq(write(*write_end, "", 1), 1);
}

static void ignore_late(void *context, watch_phase phase)
{
    (void)context, (void)phase;
}

/* It goes to sleep after a round without any, and the next connection wakes it. */
START_TEST(the_thread_makes_rounds_while_there_are_connections)
{
    int empty[2];
    const watch_limits limits = {.idle = 1, .head = 0, .body = 1, .send = 1, .rate = 1};
    const watch_host host = {&empty[1], ignore_late, tell_when_empty};
    ck_assert_int_eq(pipe(empty), 0);
    connection_watch *watch = watch_new(&limits, &host);
    ck_assert(watch_start(watch));
    for (size_t i = 0; i < 2; i++) {
        ends connection = connect_unix();
        watch_mark *mark = watch_add(watch, connection.server, clock_now());
        await_input(connection.client);
        watch_remove(watch, mark);
        await_input(empty[0]);
        close_ends(connection);
    }
    watch_stop(watch);
    watch_stop(watch);
    watch_free(watch);
    close(empty[0]);
    close(empty[1]);
}
END_TEST

Suite *deadlines_suite(void)
{
    const TTest *const tests[] = {
        a_first_head_has_its_time_from_the_start_of_the_connection,
        only_of_tcp_it_knows_what_clients_have_read,
        a_connection_that_is_younger_than_the_round_is_in_time,
        an_idle_connection_is_ended_and_not_counted_as_late,
        a_later_head_has_its_time_from_its_first_byte,
        a_later_head_on_a_unix_socket_has_the_time_of_silence_too,
        a_body_earns_time_by_its_bytes,
        a_fast_body_saves_no_more_time_than_it_had_at_first,
        a_response_earns_time_by_the_bytes_that_the_client_acknowledges,
        a_phase_begins_with_all_its_time,
        work_and_responses_on_unix_sockets_have_no_deadline,
        without_a_rate_nothing_is_too_slow,
        a_late_connection_is_reported_once_and_reset_when_it_is_closed,
        connections_are_counted_and_are_young_for_a_second_or_until_their_head_is_whole,
        a_connection_that_is_not_watched_has_a_mark_that_takes_everything,
        the_thread_makes_rounds_while_there_are_connections,
        NULL,
    };
    return unit_suite("deadlines", tests);
}
