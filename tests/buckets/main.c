/* Writes where the buckets of a scheme change, over the distances -2048 … 2048.
 *
 *     bucket-runs < QUERIES
 *
 * Each line is "SCHEME QUERY", the query without length and form. The answer to each is a line
 * "low:bucket low:bucket …": the least distance (key minus query) of each run of one bucket, or
 * "refused PARAMETER". tests/buckets/check.py compares them with its own. */
#include "posenc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REACH         2048
#define ARGUMENTS_MAX 16

static const struct {
    const char *scheme, *tensor;
} BUCKETS[] = {{"t5", "bucket"}, {"deberta", "relative_position"}};

static const char *tensor_of(const char *scheme)
{
    for (size_t i = 0; i < sizeof BUCKETS / sizeof *BUCKETS; i++)
        if (strcmp(BUCKETS[i].scheme, scheme) == 0)
            return BUCKETS[i].tensor;
    return "";
}

static void print_runs(const pe_table *table, const char *name)
{
    for (size_t i = 0; i < pe_table_tensor_count(table); i++) {
        const pe_tensor *tensor = pe_table_tensor(table, i);
        if (strcmp(tensor->name, name) != 0)
            continue;
        const int32_t *buckets = pe_table_data(table, i);
        for (uint64_t t = 0; t < tensor->elements; t++)
            if (t == 0 || buckets[t] != buckets[t - 1])
                printf("%d:%d ", (int)t - REACH, buckets[t]);
    }
    putchar('\n');
}

static int answer(char *line)
{
    char length[] = "length=2049", form[] = "form=compact";
    char *scheme = strsep(&line, " "), *pairs[ARGUMENTS_MAX] = {length, form};
    size_t count = 2;
    pe_argument arguments[ARGUMENTS_MAX];
    for (char *pair; (pair = strsep(&line, "&")) && count < ARGUMENTS_MAX;)
        pairs[count++] = pair;
    for (size_t i = 0; i < count; i++) {
        arguments[i] = (pe_argument){.name = strsep(&pairs[i], "=")};
        arguments[i].text = pairs[i];
    }
    const pe_limits limits = {1 << 20, 1 << 24, 1 << 10, NULL, NULL};
    const pe_scheme *found = pe_scheme_find(scheme);
    pe_request *request;
    pe_table *table;
    pe_error error;
    if (!found)
        return EXIT_FAILURE;
    if (pe_request_new(found, arguments, count, &limits, &request, &error) != PE_OK) {
        printf("refused %s\n", error.problems[0].parameter);
        return EXIT_SUCCESS;
    }
    if (pe_table_compute(request, NULL, &table, &error) != PE_OK)
        return EXIT_FAILURE;
    print_runs(table, tensor_of(scheme));
    pe_table_unref(table);
    pe_request_unref(request);
    return EXIT_SUCCESS;
}

int main(void)
{
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (answer(line) != EXIT_SUCCESS) {
            fprintf(stderr, "bucket-runs: no answer to %s\n", line);
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
