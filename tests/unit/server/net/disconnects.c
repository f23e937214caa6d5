/* Departures: what counts as one, on connections over loopback and on socketpairs. */
#include "net/disconnects.h"

#include "unit.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct test_client {
    waiting_client client; /* first */
    int other_end;
    atomic_int departed; /* how often */
} test_client;

static void count_disconnect(waiting_client *client)
{
    atomic_fetch_add(&((test_client *)client)->departed, 1);
}

static void connect_tcp(int ret_ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    ret_ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    ck_assert_int_eq(connect(ret_ends[1], (struct sockaddr *)&address, size), 0);
    ret_ends[0] = accept(listener, NULL, NULL);
    close(listener);
}

static void connect_client(test_client *ret_client, bool tcp, bool takes_interim)
{
    int ends[2];
    if (tcp)
        connect_tcp(ends);
    else
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    *ret_client = (test_client){
        .client = {.fd = ends[0], .takes_interim = takes_interim, .left = count_disconnect},
        .other_end = ends[1]};
}

static bool is_noticed(test_client *client)
{
    for (int i = 0; i < 10000 && !atomic_load(&client->departed); i++)
        poll(NULL, 0, 1);
    return atomic_load(&client->departed) == 1;
}

/* The disconnects have seen all that happened so far: they notice a later disconnect. */
static void wait_for_another(disconnect_list *disconnects)
{
    test_client other;
    connect_client(&other, false, false);
    disconnects_add(disconnects, &other.client);
    close(other.other_end);
    ck_assert(is_noticed(&other));
    disconnects_remove(disconnects, &other.client);
    close(other.client.fd);
}

START_TEST(a_client_that_closes_is_noticed_once)
{
    disconnect_list *disconnects = disconnects_start();
    for (int tcp = 0; tcp < 2; tcp++) {
        test_client client;
        connect_client(&client, tcp, true);
        disconnects_add(disconnects, &client.client);
        wait_for_another(disconnects);
        ck_assert_int_eq(atomic_load(&client.departed), 0);
        close(client.other_end);
        ck_assert(is_noticed(&client));
        wait_for_another(disconnects);
        ck_assert_int_eq(atomic_load(&client.departed), 1);
        disconnects_remove(disconnects, &client.client);
        close(client.client.fd);
    }
    disconnects_free(disconnects);
}
END_TEST

START_TEST(a_client_that_has_left_before_it_is_added_is_noticed)
{
    disconnect_list *disconnects = disconnects_start();
    test_client client;
    connect_client(&client, true, true);
    close(client.other_end);
    disconnects_add(disconnects, &client.client);
    ck_assert(is_noticed(&client));
    disconnects_remove(disconnects, &client.client);
    close(client.client.fd);
    disconnects_free(disconnects);
}
END_TEST

START_TEST(a_half_closed_client_is_asked_by_an_interim_response_where_that_is_needed)
{
    static const char INTERIM[] = "HTTP/1.1 100 Continue\r\n\r\n";
    disconnect_list *disconnects = disconnects_start();
    for (int kind = 0; kind < 4; kind++) {
        bool tcp = kind & 1, takes_interim = kind & 2;
        char received[64] = "";
        test_client client;
        connect_client(&client, tcp, takes_interim);
        disconnects_add(disconnects, &client.client);
        shutdown(client.other_end, SHUT_WR);
        if (tcp && takes_interim)
            ck_assert_int_eq(recv(client.other_end, received, sizeof INTERIM - 1, MSG_WAITALL),
                             sizeof INTERIM - 1);
        wait_for_another(disconnects);
        ck_assert_str_eq(received, tcp && takes_interim ? INTERIM : "");
        ck_assert_int_lt(recv(client.other_end, received, sizeof received, MSG_DONTWAIT), 0);
        ck_assert_int_eq(atomic_load(&client.departed), 0);
        disconnects_remove(disconnects, &client.client);
        close(client.client.fd);
        close(client.other_end);
    }
    disconnects_free(disconnects);
}
END_TEST

START_TEST(one_that_is_removed_or_never_added_is_left_alone)
{
    disconnect_list *disconnects = disconnects_start();
    test_client client;
    connect_client(&client, true, true);
    disconnects_remove(disconnects, &client.client);
    disconnects_add(disconnects, &client.client);
    disconnects_remove(disconnects, &client.client);
    close(client.other_end);
    wait_for_another(disconnects);
    disconnects_stop(disconnects);
    disconnects_add(disconnects, &client.client);
    disconnects_remove(disconnects, &client.client);
    ck_assert_int_eq(atomic_load(&client.departed), 0);
    disconnects_free(disconnects);
    disconnects_free(NULL);
    close(client.client.fd);
}
END_TEST

START_TEST(without_memory_they_do_not_start)
{
    unit_fail_allocations(0, 1);
    disconnect_list *disconnects = disconnects_start();
    unit_allow_allocations();
    ck_assert_ptr_null(disconnects);
}
END_TEST

Suite *disconnects_suite(void)
{
    const TTest *const tests[] = {
        a_client_that_closes_is_noticed_once,
        a_client_that_has_left_before_it_is_added_is_noticed,
        a_half_closed_client_is_asked_by_an_interim_response_where_that_is_needed,
        one_that_is_removed_or_never_added_is_left_alone,
        without_memory_they_do_not_start,
        NULL};
    return unit_suite("disconnects", tests);
}
