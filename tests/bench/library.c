/* What libmicrohttpd alone takes for a small answer: every request gets the same response,
 * whose head and body come from standard input. Prints its port. */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As server/http/http.c has it, with the default limit of targets. */
#define CONNECTION_MEMORY ((size_t)28 << 10)

static struct MHD_Response *response;

static enum MHD_Result respond(void *cls, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **context)
{
    static int seen;
    (void)cls, (void)url, (void)method, (void)version, (void)upload, (void)upload_size;
    if (*context)
        return MHD_queue_response(connection, MHD_HTTP_OK, response);
    *context = &seen; /* an answer in the first call would close the connection */
    return MHD_YES;
}

/* Add the fields of a head, except those that libmicrohttpd writes itself. */
static void add_fields(char *head)
{
    char *rest;
    for (char *line = strtok_r(head, "\r\n", &rest); line;
         line = strtok_r(NULL, "\r\n", &rest)) {
        char *colon = strstr(line, ": ");
        if (!colon || strncmp(line, "Date", 4) == 0 ||
            strncmp(line, "Content-Length", 14) == 0 || strncmp(line, "Connection", 10) == 0)
            continue;
        *colon = '\0';
        MHD_add_response_header(response, line, colon + 2);
    }
}

int main(int argc, char **argv)
{
    static char answer[1 << 16];
    unsigned threads = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    size_t size = fread(answer, 1, sizeof answer - 1, stdin);
    char *end = strstr(answer, "\r\n\r\n");
    if (threads < 1 || !end) {
        fprintf(stderr, "usage: bench-library THREADS < ANSWER\n");
        return EXIT_FAILURE;
    }
    *end = '\0';
    char *body = end + 4;
    response = MHD_create_response_from_buffer(size - (size_t)(body - answer), body,
                                               MHD_RESPMEM_PERSISTENT);
    add_fields(answer);
    struct MHD_OptionItem pool[] = {{MHD_OPTION_THREAD_POOL_SIZE, threads, NULL},
                                    {MHD_OPTION_END, 0, NULL}};
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, respond, NULL,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
                         MHD_OPTION_ARRAY, threads > 1 ? pool : pool + 1, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info)
        return EXIT_FAILURE;
    printf("%u\n", info->port);
    fflush(stdout);
    for (;;)
        pause();
}
