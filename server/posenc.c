/* posenc: one request, answered in this process; the vocabulary is that of the server's URLs.
 */
#include "command/answer.h"
#include "command/input.h"
#include "command/local_service.h"
#include "command/options.h"

#include <signal.h>
#include <string.h>

#define REASON_SIZE 1024

/* A request and its body: the context of the functions that the api calls. */
typedef struct asked_request {
    const command_options *options;
    const char *media_type; /* of the body, unless a field says it; NULL: there is no body */
    command_input input;
} asked_request;

static const char *find_header(void *context, api_header header)
{
    const asked_request *asked = context;
    const char *given = asked->options->fields[header];
    return given || header != API_HEADER_CONTENT_TYPE ? given : asked->media_type;
}

static bool read_body(void *context, uint64_t offset, void *dst, size_t size)
{
    return command_input_read(&((asked_request *)context)->input, offset, dst, size);
}

static char *take_body(void *context)
{
    command_input *input = &((asked_request *)context)->input;
    char *taken = input->start;
    input->start = NULL;
    return taken;
}

/* Judge the request by its head and get hold of its body. Returns the refusal, or NULL; then
 * the request is complete, or, if `reterr` is a line, has failed. */
static api_reply *prepare_request(local_service *local, asked_request *asked,
                                  api_request *request, char *reterr, size_t size)
{
    api_head head;
    api_reply *refusal = api_judge_head(local->service, request, &head);
    if (refusal || !asked->options->file)
        return refusal;
    command_input *input = &asked->input;
    if (!command_input_load(input, head.body_limit, head.spooled,
                            settings_spool_directory(&local->settings), reterr, size))
        return NULL;
    if (input->size > head.body_limit && command_input_is_gguf(input))
        input->size = head.body_limit; /* what is read of it is in its first bytes */
    if (input->size > head.body_limit)
        return api_fault_reply(local->service, API_FAULT_PAYLOAD_TOO_LARGE);
    if (input->whole)
        api_memory_add(local->host.memory, input->held);
    request->body = input->whole && input->size > 0 ? input->start : NULL;
    request->body_size = (size_t)input->size;
    if (input->whole)
        request->take_body = take_body;
    else
        request->read_body = read_body;
    return NULL;
}

static command_status report_failure(command_status status, const char *reason)
{
    fprintf(stderr, "posenc: %s\n", reason);
    return status;
}

static command_status answer_request(local_service *local, asked_request *asked)
{
    char reason[REASON_SIZE] = "";
    api_request request = {.method = asked->options->method,
                           .target = asked->options->target,
                           .header = find_header,
                           .context = asked};
    api_reply *reply = prepare_request(local, asked, &request, reason, sizeof reason);
    if (reason[0])
        return report_failure(COMMAND_WRONG, reason);
    if (!reply)
        reply = local_service_ask(local, &request);
    const command_status status = command_answer_write(asked->options, reply);
    api_reply_unref(reply);
    return status;
}

/* Open the body's file. False: reterr is one line. */
static bool open_input(asked_request *asked, char *reterr, size_t size)
{
    const command_options *options = asked->options;
    if (!options->file)
        return true;
    if (!command_input_open(&asked->input, options->file, reterr, size)) {
        if (strchr(options->file, '='))
            strncat(reterr, "; in a shell, quote the URL", size - strlen(reterr) - 1);
        return false;
    }
    if (options->output && command_input_reads(&asked->input, options->output)) {
        snprintf(reterr, size,
                 "%s: the answer would replace the file that is read; name another",
                 options->output);
        return false;
    }
    asked->media_type = command_input_media_type(&asked->input, options->file);
    return true;
}

static command_status run_command(const command_options *options)
{
    char reason[REASON_SIZE];
    asked_request asked = {.options = options, .input = {.fd = -1, .spool.fd = -1}};
    local_service local = {.service = NULL};
    command_status status;
    if (!open_input(&asked, reason, sizeof reason))
        status = report_failure(COMMAND_USAGE, reason);
    else if (!local_service_open(&local, options->data_directory, reason, sizeof reason))
        status = report_failure(COMMAND_WRONG, reason);
    else
        status = answer_request(&local, &asked);
    local_service_close(&local);
    command_input_close(&asked.input);
    return status;
}

int main(int argc, char **argv)
{
    command_options options;
    signal(SIGPIPE, SIG_DFL); /* a reader that has enough ends the command without a word */
    if (!command_options_read(&options, argc, argv, stderr))
        return COMMAND_USAGE;
    switch (options.action) {
    case COMMAND_HELP:
        command_options_print_help(stdout);
        return COMMAND_DONE;
    case COMMAND_VERSION:
        printf("posenc %s\n", PE_VERSION);
        return COMMAND_DONE;
    case COMMAND_ASK:
        break;
    }
    return (int)run_command(&options);
}
