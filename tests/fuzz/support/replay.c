/* Runs harnesses without libFuzzer: on every file of their corpora, and then on mutations of
 * these, which are the same every time.
 *
 *     fuzz-replay [--mutations COUNT] [--first NUMBER] [HARNESS …]   in the folder of tests/
 *     fuzz-replay HARNESS FILE                      one input
 *     fuzz-replay --dictionary                      prints all names as libFuzzer's -dict
 *
 * tests.mk defines HARNESSES as a list of HARNESS(name), and gives the function of each harness
 * a name of its own. */
#include "fuzz.h"

#include "formats/registry.h"
#include "mutate.h"
#include "numerics/expect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_MAX 20  /* of processor time for one input, whatever else the machine does */
#define WAIT_MAX    600 /* seconds, for one that only waits */

typedef int harness_function(const uint8_t *data, size_t size);
#define HARNESS(name) harness_function harness_##name;
HARNESSES
#undef HARNESS

typedef struct harness {
    const char *name;
    harness_function *run;
} harness;

static const harness ALL[] = {
#define HARNESS(name) {#name, harness_##name},
    HARNESSES
#undef HARNESS
};

/* The sanitizers end with SIGABRT, whose handler reports the input. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "abort_on_error=1:detect_leaks=1";
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

/* ---- one input ---- */

/* What runs now, for the signal handler. */
static struct {
    const char *program, *name, *file;
    size_t mutation; /* 0: the file itself */
    const uint8_t *data;
    size_t size;
} under_way;

/* The handler of SIGABRT, SIGPROF and SIGALRM: write the input to a file and end. It calls only
 * functions that do not allocate, since it may have interrupted malloc. */
static void report(int number)
{
    char path[256], line[800];
    snprintf(path, sizeof path, "%s-crash-%s", under_way.program, under_way.name);
    int length = snprintf(
        line, sizeof line,
        "\nfuzz-replay: %s: signal %d%s at mutation %zu of %s, written to %s\n", under_way.name,
        number, number == SIGALRM || number == SIGPROF ? " (it takes too long)" : "",
        under_way.mutation, under_way.file, path);
    int crash = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool written = crash >= 0 && write(crash, under_way.data, under_way.size) >= 0;
    if (write(STDERR_FILENO, line, (size_t)length) < 0 || !written)
        _exit(2);
    _exit(1);
}

static void run(const harness *tested, const char *file, size_t mutation, const uint8_t *data,
                size_t size)
{
    under_way.name = tested->name;
    under_way.file = file;
    under_way.mutation = mutation;
    under_way.data = data;
    under_way.size = size;
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS_MAX}, NULL);
    alarm(WAIT_MAX);
    tested->run(data, size);
    alarm(0);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
}

/* ---- a corpus ---- */

#define FILES_MAX 1000

typedef struct corpus {
    fuzz_input inputs[FILES_MAX];
    char *names[FILES_MAX];
    size_t count;
} corpus;

static void fail(const char *what)
{
    fprintf(stderr, "fuzz-replay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static fuzz_input read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(FUZZ_INPUT_MAX);
    if (!file || !data)
        fail(path);
    fuzz_input input = {data, fread(data, 1, FUZZ_INPUT_MAX, file)};
    fclose(file);
    return input;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void read_corpus(const char *name, corpus *ret_corpus)
{
    char folder[256], path[600];
    struct dirent **entries;
    snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", name);
    int count = scandir(folder, &entries, is_shown, alphasort);
    if (count <= 0 || count > FILES_MAX)
        fail(folder); /* a harness must have a corpus */
    ret_corpus->count = 0;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        ret_corpus->names[ret_corpus->count] = fuzz_copy(path, strlen(path));
        ret_corpus->inputs[ret_corpus->count++] = read_file(path);
        free(entries[i]);
    }
    free(entries);
}

/* Mutations are numbered from 1 on. */
static void replay(const harness *tested, size_t first, size_t mutations)
{
    static corpus all;
    struct timespec start, end;
    read_corpus(tested->name, &all);
    clock_gettime(CLOCK_MONOTONIC, &start);
    uint8_t *mutated = malloc(FUZZ_INPUT_MAX);
    if (!mutated)
        fail("memory");
    for (size_t i = 0; i < all.count; i++)
        run(tested, all.names[i], 0, all.inputs[i].data, all.inputs[i].size);
    for (size_t m = first; m < first + mutations; m++) {
        size_t at = m % all.count;
        uint64_t seed = m;
        size_t size = fuzz_mutate(&seed, all.inputs, all.count, at, mutated);
        uint8_t *exact = (uint8_t *)fuzz_exact(mutated, size);
        run(tested, all.names[at], m, exact, size);
        free(exact);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    free(mutated);
    printf("fuzz-replay: %-12s %4zu files, %5zu mutations, %.1f s\n", tested->name, all.count,
           mutations,
           (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9);
    fflush(stdout);
    for (size_t i = 0; i < all.count; i++) {
        free(all.names[i]);
        free(all.inputs[i].data);
    }
}

/* ---- the dictionary ---- */

static void print_word(const char *word)
{
    putchar('"');
    for (; *word; word++)
        printf(*word == '"' || *word == '\\' ? "\\%c" : "%c", *word);
    puts("\"");
}

static void print_parameter(const pe_parameter *parameter)
{
    print_word(parameter->name);
    for (size_t i = 0; parameter->choices && parameter->choices[i]; i++)
        print_word(parameter->choices[i]);
}

static void print_dictionary(void)
{
    static const char *const words[] = {"format",
                                        "tensor",
                                        "preset",
                                        "similarity/",
                                        "true",
                                        "false",
                                        "GET ",
                                        "HEAD ",
                                        "POST ",
                                        "PUT ",
                                        "DELETE ",
                                        "/v1/encodings/",
                                        "/v1/schemes",
                                        "/v1/similarity/",
                                        "/v1/sets/set",
                                        "Accept: ",
                                        "Range: bytes=",
                                        "If-Range: ",
                                        "If-Match: ",
                                        "If-None-Match: ",
                                        "gzip",
                                        "identity",
                                        ";q=0",
                                        "*/*",
                                        "dtype",
                                        "shape",
                                        "data_offsets",
                                        "__metadata__",
                                        "F32",
                                        "BF16",
                                        "C64",
                                        "'descr': ",
                                        "'fortran_order': ",
                                        "'shape': (",
                                        "/v1/compare/",
                                        "Content-Type: application/json"};
    for (size_t i = 0; i < FUZZ_COUNT(words); i++)
        print_word(words[i]);
    for (size_t i = 0; i < api_format_count(); i++) {
        print_word(api_format_get(i)->name);
        print_word(api_format_get(i)->media_type);
        for (size_t o = 0; o < api_format_get(i)->option_count; o++)
            print_parameter(&api_format_get(i)->options[o]);
    }
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info =
            pe_scheme_describe(pe_similarity_find(pe_scheme_describe(pe_scheme_at(s))->name));
        print_word(info->similarity_of);
        for (size_t i = 0; i < pe_all_parameter_count(info); i++)
            print_parameter(pe_parameter_at(info, i));
        for (size_t i = 0; i < info->preset_count; i++)
            print_word(info->presets[i].name);
    }
}

static bool is_asked(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return count == 0;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static const harness *find(const char *name)
{
    for (size_t i = 0; i < FUZZ_COUNT(ALL); i++)
        if (strcmp(ALL[i].name, name) == 0)
            return &ALL[i];
    fprintf(stderr, "fuzz-replay: there is no harness %s\n", name);
    exit(1);
}

int main(int count, char **arguments)
{
    size_t first = 1, mutations = 3000;
    pe_expect_strictly = true;
    signal(SIGABRT, report);
    signal(SIGALRM, report);
    signal(SIGPROF, report);
    under_way.program = arguments[0];
    count--;
    arguments++;
    if (count > 0 && strcmp(arguments[0], "--dictionary") == 0) {
        print_dictionary();
        return 0;
    }
    if (count > 1 && strcmp(arguments[0], "--mutations") == 0) {
        mutations = strtoul(arguments[1], NULL, 10);
        count -= 2;
        arguments += 2;
    }
    if (count > 1 && strcmp(arguments[0], "--first") == 0) {
        first = strtoul(arguments[1], NULL, 10);
        count -= 2;
        arguments += 2;
    }
    if (count == 2 && is_file(arguments[1])) {
        fuzz_input input = read_file(arguments[1]);
        uint8_t *exact = (uint8_t *)fuzz_exact(input.data, input.size);
        run(find(arguments[0]), arguments[1], 0, exact, input.size);
        free(exact);
        free(input.data);
        return 0;
    }
    for (int i = 0; i < count; i++)
        find(arguments[i]);
    for (size_t i = 0; i < FUZZ_COUNT(ALL); i++)
        if (is_asked(ALL[i].name, count, arguments))
            replay(&ALL[i], first, mutations);
    return 0;
}
