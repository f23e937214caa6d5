/* Load for servers: GETs over kept TCP or Unix connections, one after the other on each, for
 * small bodies and large. Reads with a large buffer, checks the status and length of every
 * answer, and prints "name value" lines. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES    (4 << 20)
#define HEAD_MAX        4096
#define CONNECTIONS_MAX 1024
#define THREADS_MAX     64
#define SAMPLES_MAX     (1 << 22) /* of one thread; pages are taken as they are written */

typedef struct client_connection {
    int fd;
    char request[1024], head[HEAD_MAX + 1];
    size_t request_size, head_size;
    uint64_t left; /* bytes of the body; head_size == 0: no answer has begun */
    bool in_body;
    double asked, begun;
} client_connection;

typedef struct sample {
    float whole, first; /* seconds until the last and the first byte */
} sample;

typedef struct client_reader {
    pthread_t thread;
    int epoll;
    client_connection *connections;
    size_t connection_count, sample_count;
    sample *samples;
    char *buffer;
    uint64_t bytes;
    double seconds;
} client_reader;

/* What the command line says. */
static struct {
    struct sockaddr_storage address;
    socklen_t address_size;
    const char *target; /* with {n} where each request gets a number of its own */
    uint64_t body_bytes;
    size_t connections, threads;
    double seconds;
    long long requests; /* at most so many */
} settings = {.connections = 1, .threads = 1, .seconds = 60, .requests = 1LL << 62};
static atomic_ullong next_number;
static atomic_llong requests_left;

_Noreturn static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "bench-client: %s: %s\n", what, detail);
    exit(EXIT_FAILURE);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *allocate(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (!block)
        fail("calloc", strerror(errno));
    return block;
}

/* ---- one connection ---- */

static void open_connection(client_reader *reader, client_connection *connection)
{
    int family = settings.address.ss_family, on = 1;
    connection->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr *address = (const void *)&settings.address;
    if (connection->fd < 0 || connect(connection->fd, address, settings.address_size) != 0)
        fail("connect", strerror(errno));
    if (family == AF_INET)
        setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(reader->epoll, EPOLL_CTL_ADD, connection->fd, &event) != 0)
        fail("epoll_ctl", strerror(errno));
}

static void send_request(client_connection *connection)
{
    connection->head_size = 0;
    connection->in_body = false;
    const char *at = connection->request;
    for (size_t left = connection->request_size; left > 0;) {
        ssize_t sent = send(connection->fd, at, left, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
            return; /* the next read meets the end and reconnects */
        if (sent < 0)
            fail("send", strerror(errno));
        at += sent;
        left -= (size_t)sent;
    }
}

/* Send the next request, if any is left. */
static void ask(client_connection *connection)
{
    if (atomic_fetch_sub(&requests_left, 1) <= 0)
        return;
    const char *mark = strstr(settings.target, "{n}");
    int prefix = (int)(mark ? (size_t)(mark - settings.target) : strlen(settings.target));
    char number[24] = "";
    if (mark)
        snprintf(number, sizeof number, "%llu", atomic_fetch_add(&next_number, 1));
    int size = snprintf(connection->request, sizeof connection->request,
                        "GET %.*s%s%s HTTP/1.1\r\nHost: localhost\r\n\r\n", prefix,
                        settings.target, number, mark ? mark + 3 : "");
    if (size < 0 || (size_t)size >= sizeof connection->request)
        fail("target", "too long");
    connection->request_size = (size_t)size;
    connection->asked = now();
    send_request(connection);
}

/* Check the head of an answer. */
static void check_head(const char *head)
{
    if (strncmp(head, "HTTP/1.1 200", 12) != 0)
        fail("not 200", head);
    const char *length = strcasestr(head, "\r\ncontent-length:");
    if (!length || strtoull(length + 17, NULL, 10) != settings.body_bytes)
        fail("not the length expected", head);
}

/* Take part of a head; returns how many of the bytes belong to it. */
static size_t take_head(client_connection *connection, const char *data, size_t size)
{
    size_t before = connection->head_size;
    size_t part = size < HEAD_MAX - before ? size : HEAD_MAX - before;
    if (before == 0)
        connection->begun = now();
    memcpy(connection->head + before, data, part);
    connection->head_size += part;
    connection->head[connection->head_size] = '\0';
    const char *end = strstr(connection->head, "\r\n\r\n");
    if (!end && connection->head_size == HEAD_MAX)
        fail("head", "too long");
    if (!end)
        return part;
    check_head(connection->head);
    connection->in_body = true;
    connection->left = settings.body_bytes;
    return (size_t)(end + 4 - connection->head) - before;
}

static void take(client_reader *reader, client_connection *connection, const char *data,
                 size_t size)
{
    size_t head = connection->in_body ? 0 : take_head(connection, data, size);
    if (size - head > connection->left)
        fail("answer", "longer than announced");
    if (!connection->in_body)
        return;
    connection->left -= size - head;
    reader->bytes += size - head;
    if (connection->left > 0)
        return;
    reader->samples[reader->sample_count++] = (sample){
        (float)(now() - connection->asked), (float)(connection->begun - connection->asked)};
    ask(connection);
}

/* A server may close a kept connection after so many answers, but not within one. */
static void reconnect(client_reader *reader, client_connection *connection)
{
    if (connection->head_size > 0 && !(connection->in_body && connection->left == 0))
        fail("answer", "cut off");
    bool waiting = connection->head_size == 0;
    close(connection->fd);
    open_connection(reader, connection);
    if (waiting)
        send_request(connection);
}

static void receive(client_reader *reader, client_connection *connection)
{
    ssize_t got = recv(connection->fd, reader->buffer, BUFFER_BYTES, MSG_DONTWAIT);
    if (got > 0)
        take(reader, connection, reader->buffer, (size_t)got);
    else if (got == 0 || errno == ECONNRESET)
        reconnect(reader, connection);
    else if (errno != EAGAIN && errno != EINTR)
        fail("recv", strerror(errno));
}

/* ---- threads ---- */

static void *read_answers(void *argument)
{
    client_reader *reader = argument;
    struct epoll_event events[64];
    double start = now(), end = start;
    for (size_t i = 0; i < reader->connection_count; i++)
        ask(&reader->connections[i]);
    while (end - start < settings.seconds && reader->sample_count < SAMPLES_MAX - 64 &&
           atomic_load(&requests_left) > -(long long)settings.connections) {
        int count = epoll_wait(reader->epoll, events, 64, 50);
        for (int i = 0; i < count; i++)
            receive(reader, events[i].data.ptr);
        end = now();
    }
    reader->seconds = end - start;
    return NULL;
}

static void prepare(client_reader *reader, size_t connections)
{
    *reader = (client_reader){.epoll = epoll_create1(EPOLL_CLOEXEC),
                              .connection_count = connections,
                              .connections = allocate(connections, sizeof(client_connection)),
                              .samples = allocate(SAMPLES_MAX, sizeof(sample)),
                              .buffer = allocate(1, BUFFER_BYTES)};
    if (reader->epoll < 0)
        fail("epoll_create1", strerror(errno));
    memset(reader->buffer, 1, BUFFER_BYTES);
    for (size_t i = 0; i < connections; i++)
        open_connection(reader, &reader->connections[i]);
}

static int compare(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

static void print_quantiles(const char *name, float *values, size_t count)
{
    if (count == 0)
        return;
    qsort(values, count, sizeof *values, compare);
    printf("%s50 %.9f\n%s99 %.9f\n", name, (double)values[count / 2], name,
           (double)values[count - 1 - count / 100]);
}

static void print_results(const client_reader *readers)
{
    uint64_t bytes = 0;
    size_t count = 0, at = 0;
    double seconds = 0;
    for (size_t i = 0; i < settings.threads; i++) {
        bytes += readers[i].bytes;
        count += readers[i].sample_count;
        seconds = readers[i].seconds > seconds ? readers[i].seconds : seconds;
    }
    float *whole = allocate(count + 1, sizeof *whole),
          *first = allocate(count + 1, sizeof *first);
    for (size_t i = 0; i < settings.threads; i++)
        for (size_t j = 0; j < readers[i].sample_count; j++, at++) {
            whole[at] = readers[i].samples[j].whole;
            first[at] = readers[i].samples[j].first;
        }
    printf("requests %zu\nrequest_rate %.3f\nbyte_rate %.3f\n", count, (double)count / seconds,
           (double)bytes / seconds);
    print_quantiles("whole", whole, count);
    print_quantiles("first", first, count);
    free(whole);
    free(first);
}

static void set_address(const char *text)
{
    struct sockaddr_un *path = (void *)&settings.address;
    struct sockaddr_in *port = (void *)&settings.address;
    if (text[0] == '/') {
        if (strlen(text) >= sizeof path->sun_path)
            fail("path too long", text);
        path->sun_family = AF_UNIX;
        memcpy(path->sun_path, text, strlen(text) + 1);
        settings.address_size = sizeof *path;
    } else {
        port->sin_family = AF_INET;
        port->sin_port = htons((uint16_t)strtoul(text, NULL, 10));
        port->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        settings.address_size = sizeof *port;
    }
}

static bool read_arguments(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "c:t:d:n:f:")) != -1;) {
        if (option == 'c')
            settings.connections = strtoul(optarg, NULL, 10);
        else if (option == 't')
            settings.threads = strtoul(optarg, NULL, 10);
        else if (option == 'd')
            settings.seconds = strtod(optarg, NULL);
        else if (option == 'n')
            settings.requests = strtoll(optarg, NULL, 10);
        else if (option == 'f')
            next_number = strtoull(optarg, NULL, 10);
        else
            return false;
    }
    if (argc - optind != 3 || settings.connections > CONNECTIONS_MAX ||
        settings.threads > THREADS_MAX || settings.threads == 0 ||
        settings.connections < settings.threads)
        return false;
    set_address(argv[optind]);
    settings.target = argv[optind + 1];
    settings.body_bytes = strtoull(argv[optind + 2], NULL, 10);
    return true;
}

int main(int argc, char **argv)
{
    static client_reader readers[THREADS_MAX];
    if (!read_arguments(argc, argv)) {
        fprintf(stderr, "usage: bench-client [-c connections] [-t threads] [-d seconds] "
                        "[-n requests] [-f first {n}] PORT|PATH TARGET BODY_BYTES\n");
        return EXIT_FAILURE;
    }
    requests_left = settings.requests;
    size_t threads = settings.threads;
    for (size_t i = 0; i < threads; i++)
        prepare(&readers[i],
                settings.connections * (i + 1) / threads - settings.connections * i / threads);
    for (size_t i = 0; i < threads; i++)
        if (pthread_create(&readers[i].thread, NULL, read_answers, &readers[i]) != 0)
            fail("pthread_create", "cannot start a thread");
    for (size_t i = 0; i < threads; i++)
        pthread_join(readers[i].thread, NULL);
    print_results(readers);
    return EXIT_SUCCESS; /* what the readers hold goes with the process */
}
