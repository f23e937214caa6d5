/* Connections that are turned away, on socketpairs and at times that the tests choose. */
#include "net/load_shedding.h"

#include "clock.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static const char RESPONSE[] = "HTTP/1.1 503 Service Unavailable\r\n\r\n";

#define PATIENCE (CLOCK_SECOND / 5)

/* A host's `answer`: to GET /large as many bytes as the context says, to GET /probe a word. */
static char *answer(void *context, const char *method, char *target)
{
    const size_t *size = context;
    if (!method || strcmp(method, "GET") != 0)
        return NULL;
    if (strcmp(target, "/probe") == 0)
        return strdup("alive");
    if (strcmp(target, "/large") != 0)
        return NULL;
    char *response = malloc(*size + 1);
    memset(response, 'x', *size);
    response[*size] = '\0';
    return response;
}

static size_t large_size = 3 << 20;

static shedder *new_shed(const char *refusal, size_t room)
{
    const shed_host host = {
        .context = &large_size, .refusal = refusal, .answer = answer, .room = room};
    return shed_new(&host);
}

/* Let the shedder take one end of a new connection, on which a text has been sent; returns the
 * client's. */
static int take_with(shedder *shed, const char *text, uint64_t now)
{
    int fds[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    ck_assert_int_eq(send(fds[1], text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    shed_take(shed, fds[0], now);
    return fds[1];
}

static int take(shedder *shed, uint64_t now)
{
    return take_with(shed, "GET / HTTP/1.1\r\n", now);
}

/* What the client can read at once. */
static const char *received(int client)
{
    static char text[200];
    ssize_t size = recv(client, text, sizeof text - 1, MSG_DONTWAIT);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

/* Look at all connections once, without waiting; returns how many are left. */
static size_t tend(shedder *shed, uint64_t now)
{
    struct pollfd polls[SHED_MAX];
    poll(polls, shed_polls(shed, polls), 0);
    shed_tend(shed, polls, now);
    return (size_t)shed_polls(shed, polls);
}

/* Whether the server's end has been closed, and not only shut down for writing. */
static bool is_closed(int client)
{
    return send(client, "x", 1, MSG_NOSIGNAL) < 0;
}

START_TEST(a_client_reads_the_response_and_its_end)
{
    char text[sizeof RESPONSE + 10] = "";
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    int client = take(shed, 0);
    ck_assert_int_eq(recv(client, text, sizeof text, MSG_WAITALL),
                     (ssize_t)sizeof RESPONSE - 1);
    ck_assert_str_eq(text, RESPONSE);
    ck_assert(!is_closed(client));
    shed_free(shed);
    close(client);
}
END_TEST

START_TEST(a_connection_stays_until_its_client_has_closed)
{
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    int stays = take(shed, 0), leaves = take(shed, 0);
    ck_assert_uint_eq(tend(shed, 0), 2);
    close(leaves);
    ck_assert_uint_eq(tend(shed, 0), 1);
    ck_assert(!is_closed(stays));
    shutdown(stays, SHUT_WR);
    ck_assert_uint_eq(tend(shed, 0), 1); /* its last byte is read first */
    ck_assert_uint_eq(tend(shed, 0), 0);
    shed_free(shed);
    close(stays);
}
END_TEST

START_TEST(a_connection_stays_for_two_seconds)
{
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    int first = take(shed, CLOCK_SECOND), second = take(shed, 2 * CLOCK_SECOND);
    ck_assert_uint_eq(tend(shed, 3 * CLOCK_SECOND), 2);
    ck_assert_uint_eq(tend(shed, 3 * CLOCK_SECOND + 1), 1);
    ck_assert(is_closed(first) && !is_closed(second));
    ck_assert_uint_eq(tend(shed, 4 * CLOCK_SECOND), 1);
    ck_assert_uint_eq(tend(shed, 4 * CLOCK_SECOND + 1), 0);
    ck_assert(is_closed(second));
    shed_free(shed);
    close(first);
    close(second);
}
END_TEST

START_TEST(input_is_discarded_up_to_a_mebibyte)
{
    enum { PART = 16384, PARTS = (1 << 20) / PART };
    static const char bytes[PART];
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    int client = take(shed, 0);
    for (size_t i = 1; i <= PARTS; i++) {
        ck_assert_int_eq(send(client, bytes, PART, MSG_NOSIGNAL), PART);
        ck_assert_uint_eq(tend(shed, 0), i < PARTS);
    }
    ck_assert(is_closed(client));
    shed_free(shed);
    close(client);
}
END_TEST

START_TEST(a_client_that_cannot_take_the_response_is_closed_at_once)
{
    static char large[8 << 20];
    struct pollfd polls[SHED_MAX];
    memset(large, 'x', sizeof large - 1);
    shedder *shed = new_shed(large, SHED_MAX);
    int client = take(shed, 0);
    ck_assert_uint_eq(shed_polls(shed, polls), 0);
    ck_assert(is_closed(client));
    shed_free(shed);
    close(client);
}
END_TEST

START_TEST(one_connection_too_many_closes_the_oldest_quarter)
{
    int clients[SHED_MAX + 1];
    struct pollfd polls[SHED_MAX];
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    for (size_t i = 0; i < SHED_MAX; i++)
        clients[i] = take(shed, 0);
    ck_assert_uint_eq(shed_polls(shed, polls), SHED_MAX);
    clients[SHED_MAX] = take(shed, 0);
    ck_assert_uint_eq(shed_polls(shed, polls), SHED_MAX - SHED_MAX / 4 + 1);
    for (size_t i = 0; i <= SHED_MAX; i++)
        ck_assert_int_eq(is_closed(clients[i]), i < SHED_MAX / 4);
    shed_free(shed);
    for (size_t i = 0; i <= SHED_MAX; i++) {
        ck_assert(is_closed(clients[i]));
        close(clients[i]);
    }
    shed_free(NULL);
}
END_TEST

START_TEST(a_request_line_is_answered_whatever_its_parts)
{
    static const char line[] = "GET /probe HTTP/1.1\r\n";
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    for (size_t cut = 0; cut < sizeof line; cut++) {
        char part[sizeof line] = "";
        memcpy(part, line, cut);
        int client = take_with(shed, part, 0);
        ck_assert_str_eq(received(client), cut == sizeof line - 1 ? "alive" : "");
        ck_assert_int_ge(send(client, line + cut, sizeof line - 1 - cut, MSG_NOSIGNAL), 0);
        tend(shed, 0);
        ck_assert_str_eq(received(client), cut == sizeof line - 1 ? "" : "alive");
        close(client);
    }
    shed_free(shed);
}
END_TEST

START_TEST(what_is_no_request_line_is_turned_away)
{
    char endless[1001] = "";
    memset(endless, 'x', sizeof endless - 1);
    const char *const lines[] = {"\n",
                                 " \n",
                                 "GET\n",
                                 "GET /probe\r\n",
                                 "GET /probe HTTP/2\r\n",
                                 "GET  /probe HTTP/1.1\r\n",
                                 "PUT /probe HTTP/1.1\r\n",
                                 endless};
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int client = take_with(shed, lines[i], 0);
        ck_assert_str_eq(received(client), RESPONSE);
        close(client);
    }
    shed_free(shed);
}
END_TEST

START_TEST(a_silent_client_is_turned_away_when_patience_ends)
{
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    int silent = take_with(shed, "", 0), slow = take_with(shed, "GET /pro", 0);
    int ended = take_with(shed, "", 0);
    shutdown(ended, SHUT_WR);
    tend(shed, PATIENCE);
    ck_assert_str_eq(received(silent), "");
    ck_assert_str_eq(received(slow), "");
    ck_assert_str_eq(received(ended), RESPONSE);
    tend(shed, PATIENCE + 1);
    ck_assert_str_eq(received(silent), RESPONSE);
    ck_assert_str_eq(received(slow), RESPONSE);
    shed_free(shed);
    close(silent);
    close(slow);
    close(ended);
}
END_TEST

START_TEST(whoever_waited_while_the_server_stood_still_is_answered_first)
{
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    int silent = take_with(shed, "", 0);
    ck_assert_uint_eq(tend(shed, 5 * CLOCK_SECOND), 1);
    ck_assert_str_eq(received(silent), RESPONSE);
    ck_assert_uint_eq(tend(shed, 5 * CLOCK_SECOND), 0);
    ck_assert(is_closed(silent));
    shed_free(shed);
    close(silent);
}
END_TEST

START_TEST(a_large_answer_is_sent_as_the_client_reads)
{
    char part[65536];
    size_t total = 0;
    shedder *shed = new_shed(RESPONSE, SHED_MAX);
    int client = take_with(shed, "GET /large HTTP/1.1\r\n", 0);
    for (ssize_t size = 1; size > 0; total += (size_t)size) {
        size = recv(client, part, sizeof part, MSG_DONTWAIT);
        if (size < 0)
            size = 0;
        if (total + (size_t)size < large_size) {
            ck_assert_int_gt(size, 0);
            ck_assert_uint_eq(tend(shed, 0), 1);
        }
    }
    ck_assert_uint_eq(total, large_size);
    shed_free(shed);
    close(client);
}
END_TEST

START_TEST(whoever_makes_room_or_is_left_is_answered)
{
    int clients[5];
    shedder *shed = new_shed(RESPONSE, 4);
    for (size_t i = 0; i < 5; i++)
        clients[i] = take_with(shed, "", 0);
    ck_assert_uint_eq(tend(shed, 0), 4);
    ck_assert_str_eq(received(clients[0]), RESPONSE);
    ck_assert_str_eq(received(clients[1]), "");
    shed_free(shed);
    for (size_t i = 1; i < 5; i++)
        ck_assert_str_eq(received(clients[i]), RESPONSE);
    for (size_t i = 0; i < 5; i++)
        close(clients[i]);
}
END_TEST

Suite *load_shedding_suite(void)
{
    const TTest *const tests[] = {
        a_client_reads_the_response_and_its_end,
        a_connection_stays_until_its_client_has_closed,
        a_connection_stays_for_two_seconds,
        input_is_discarded_up_to_a_mebibyte,
        a_client_that_cannot_take_the_response_is_closed_at_once,
        one_connection_too_many_closes_the_oldest_quarter,
        a_request_line_is_answered_whatever_its_parts,
        what_is_no_request_line_is_turned_away,
        a_silent_client_is_turned_away_when_patience_ends,
        whoever_waited_while_the_server_stood_still_is_answered_first,
        a_large_answer_is_sent_as_the_client_reads,
        whoever_makes_room_or_is_left_is_answered,
        NULL,
    };
    return unit_suite("load_shedding", tests);
}
