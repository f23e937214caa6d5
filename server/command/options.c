/* Everything that reads the table of the command's options. */
#include "command/options.h"

#include "api.h"
#include "command/input.h"
#include "settings/wrapped_text.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef struct option_row {
    char letter; /* 0: it has a long name alone */
    const char *name;
    const char *value; /* stands for the value in --help; NULL: the option has none */
    const char *help;
} option_row;

/* The letters of rows without one are these. */
enum { OPTION_DATA_DIR = 1 };

static const option_row OPTIONS[] = {
    {'o', "output", "FILE",
     "write the answer into this file, whose ending (" COMMAND_ENDINGS
     ") names its format; an answer in another one is refused, and so is another ending unless "
     "the request names the format; - is standard output, also where it is a terminal"},
    {'X', "request", "METHOD",
     "method of the request; without it GET, or POST where a file is given"},
    {'H', "header", "FIELD",
     "header field of the request, such as 'Range: bytes=0-99'; may be given several times"},
    {'i', "include", NULL,
     "write the status and the header fields before the answer, and a problem as its whole "
     "document"},
    {OPTION_DATA_DIR, "data-dir", "DIRECTORY",
     "directory of sets, as that of posenc-server, which must not run on it meanwhile"},
    {'h', "help", NULL, "print this help and exit"},
    {'V', "version", NULL, "print the version and exit"},
};
#define OPTION_COUNT (sizeof OPTIONS / sizeof *OPTIONS)

/* ---- reading ---- */

static bool report_argument(FILE *errors, const char *argument, const char *reason)
{
    fprintf(errors, "posenc: %s: %s\n", argument, reason);
    return false;
}

/* Read "Name: value" into the fields; the text is cut at the colon. */
static bool read_field(command_options *options, char *text, FILE *errors)
{
#define NAME(identifier, name) name,
    static const char *const names[] = {API_REQUEST_HEADERS(NAME)};
#undef NAME
    char *colon = strchr(text, ':');
    if (!colon)
        return report_argument(errors, text, "a header field is a name, a colon and a value");
    *colon = '\0';
    for (size_t i = 0; i < API_HEADER_COUNT; i++)
        if (strcasecmp(names[i], text) == 0) {
            options->fields[i] = colon + 1 + strspn(colon + 1, " \t");
            return true;
        }
    report_argument(errors, text, "the service reads no header field of this name, but these:");
    for (size_t i = 0; i < API_HEADER_COUNT; i++)
        fprintf(errors, "%s%s", names[i], i + 1 < API_HEADER_COUNT ? ", " : "\n");
    return false;
}

static bool take_option(command_options *options, int letter, FILE *errors)
{
    switch (letter) {
    case 'o':
        options->output = optarg;
        return true;
    case 'X':
        options->method = optarg;
        return true;
    case 'H':
        return read_field(options, optarg, errors);
    case 'i':
        options->include = true;
        return true;
    case OPTION_DATA_DIR:
        options->data_directory = optarg;
        return true;
    case 'h':
        options->action = COMMAND_HELP;
        return true;
    case 'V':
        options->action = COMMAND_VERSION;
        return true;
    default: /* getopt has written a line */
        fputs("posenc: --help lists the options\n", errors);
        return false;
    }
}

static bool take_options(command_options *options, int argc, char **argv, FILE *errors)
{
    struct option known[OPTION_COUNT + 1] = {{0}};
    char letters[2 * OPTION_COUNT + 1];
    size_t used = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &OPTIONS[i];
        known[i] = (struct option){row->name, row->value ? required_argument : no_argument,
                                   NULL, row->letter};
        if (row->letter >= 'A')
            letters[used++] = row->letter;
        if (row->letter >= 'A' && row->value)
            letters[used++] = ':';
    }
    letters[used] = '\0';
    bool legal = true;
    for (int letter; legal && (letter = getopt_long(argc, argv, letters, known, NULL)) != -1;)
        legal = take_option(options, letter, errors);
    return legal;
}

/* Whether a URL's host, text[0, length), is this machine, or that of the field Host. */
static bool is_own_host(const command_options *options, const char *text, size_t length)
{
    char host[256];
    const char *named = options->fields[API_HEADER_HOST];
    snprintf(host, sizeof host, "%.*s", (int)(length < 255 ? length : 255), text);
    return length == 0 || api_is_loopback_host(host) || (named && strcasecmp(host, named) == 0);
}

/* Cut a URL of this machine down to its path and query: the same request, which is answered
 * here. NULL: it is that of another one. */
static const char *find_target(const command_options *options, const char *text)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const char *host = text + strlen(schemes[i]);
        if (strncasecmp(text, schemes[i], strlen(schemes[i])) != 0)
            continue;
        const size_t length = strcspn(host, "/?#");
        return is_own_host(options, host, length) ? host + length : NULL;
    }
    return text;
}

/* Let the ending of the answer's file say what is accepted, where no field does. */
static bool accept_format(command_options *options, FILE *errors)
{
    const char **accepted = &options->fields[API_HEADER_ACCEPT];
    const char *named = options->output ? command_media_type_find(options->output) : NULL;
    const bool known = !named || named[0];
    options->output_type = known ? named : NULL;
    if (!*accepted)
        *accepted = options->output_type;
    return known || *accepted || strstr(options->target, "format=") ||
           report_argument(errors, options->output,
                           "the ending names no format; use one of " COMMAND_ENDINGS
                           ", or ask for a format with format=");
}

/* Whether the request is one of this method for a set. */
static bool is_for_set(const command_options *options, const char *method)
{
    const size_t route = api_route_find(options->method, options->target);
    return strcmp(options->method, method) == 0 &&
           strcmp(api_route_name_get(route).pattern, "/v1/sets/{name}") == 0;
}

/* Check that the directory of sets is named where it is needed, and is there unless this
 * request begins it. */
static bool check_directory(const command_options *options, FILE *errors)
{
    const char *directory = options->data_directory;
    struct stat status;
    if (directory[0])
        return is_for_set(options, "PUT") || stat(directory, &status) == 0 ||
               report_argument(errors, directory, strerror(errno));
    return (!is_for_set(options, "PUT") && !is_for_set(options, "DELETE")) ||
           report_argument(errors, options->target,
                           "without --data-dir no set outlives the command; name a directory");
}

static bool take_operands(command_options *options, int count, char **operands, FILE *errors)
{
    if (count == 0)
        return report_argument(
            errors, "no target",
            "posenc '/v1/encodings/rope?length=8&dim=4' asks for a table; --help "
            "says more");
    if (count > 2)
        return report_argument(
            errors, operands[2],
            "there is a target and at most one file; in a shell, quote the URL");
    options->target = find_target(options, operands[0]);
    options->file = count > 1 ? operands[1] : NULL;
    if (!options->target)
        return report_argument(
            errors, operands[0],
            "nothing is sent to another host; give the path alone, which is answered here, or "
            "say that the host's name is yours: -H 'Host: NAME'");
    if (options->target[0] != '/')
        return report_argument(
            errors, operands[0],
            "a target is a path that begins with a slash, such as /v1/schemes");
    if (!options->method)
        options->method = options->file ? "POST" : "GET";
    if (options->file && strcmp(options->method, "POST") != 0 &&
        strcmp(options->method, "PUT") != 0)
        return report_argument(errors, options->file,
                               "only a POST or a PUT takes a file; leave out -X, or the file");
    return accept_format(options, errors) && check_directory(options, errors);
}

bool command_options_read(command_options *ret_options, int argc, char **argv, FILE *errors)
{
    *ret_options = (command_options){.action = COMMAND_ASK, .data_directory = ""};
    if (!take_options(ret_options, argc, argv, errors))
        return false;
    return ret_options->action != COMMAND_ASK ||
           take_operands(ret_options, argc - optind, argv + optind, errors);
}

/* ---- help ---- */

#define HELP_COLUMN 28
#define HELP_WIDTH  60

static void print_option(const option_row *row, FILE *out)
{
    const char letter[] = {'-', row->letter, ',', ' ', '\0'};
    int used = fprintf(out, "  %s--%s%s%s", row->letter >= 'A' ? letter : "", row->name,
                       row->value ? " " : "", row->value ? row->value : "");
    fprintf(out, "%*s", HELP_COLUMN - used, "");
    wrapped_text_print(row->help, HELP_COLUMN, HELP_WIDTH, out);
}

/* The paths of the service, each once, with the methods that it answers. */
static void print_routes(FILE *out)
{
    const size_t count = api_route_count() - 1; /* the last one is none */
    for (size_t i = 0; i < count;) {
        const char *pattern = api_route_name_get(i).pattern;
        bool computes =
            strncmp(pattern, "/v1/", 4) == 0 || strcmp(pattern, "/openapi.json") == 0;
        if (computes)
            fprintf(out, "  %-30s ", pattern);
        for (bool first = true;
             i < count && strcmp(api_route_name_get(i).pattern, pattern) == 0;
             i++, first = false)
            if (computes)
                fprintf(out, "%s%s", first ? "" : ", ", api_route_name_get(i).method);
        if (computes)
            fputc('\n', out);
    }
}

void command_options_print_help(FILE *out)
{
    fputs("Usage: posenc [OPTION]... TARGET [FILE]\n\n"
          "Answers one request of posenc's HTTP interface without a server: posenc\n"
          "'/v1/encodings/rope?length=8&dim=4&format=npy' > rope.npy. With a file the\n"
          "request is a POST of it; - is standard input.\n\n",
          out);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        print_option(&OPTIONS[i], out);
    fputs("\nTargets:\n", out);
    print_routes(out);
    fputs("\nSchemes:\n  ", out);
    char names[1024] = "";
    for (size_t i = 0, used = 0; i < pe_scheme_count() && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "",
                                 pe_scheme_describe(pe_scheme_at(i))->name);
    wrapped_text_print(names, 2, HELP_WIDTH, out);
}
