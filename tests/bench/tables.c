/* Times of the library alone: tables, the store of as many bytes in the same place, JSON.
 * Prints "name seconds" lines, the best of some runs each; the benchmark calls it by turns with
 * its peers. */
#include "kernels/kernel.h"
#include "query.h"
#include "tables/buffer.h"

#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STREAMED_BYTES ((size_t)8 << 20) /* from here on stores go past the caches */

static double read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static void keep_least(double *least, double value)
{
    if (*least == 0 || value < *least)
        *least = value;
}

/* Blocks are used again, as the server's. */
static pe_runner runner;

static pe_table *compute(const pe_request *request)
{
    pe_table *table = NULL;
    pe_error error;
    if (pe_table_compute(request, &runner, &table, &error) != PE_OK) {
        fprintf(stderr, "bench-tables: a table cannot be computed\n");
        exit(EXIT_FAILURE);
    }
    return table;
}

/* Fill the table's own memory as fast as the same kind of stores go. What is stored matters:
 * some processors write lines of zeros three times as fast as others. */
static void store(const pe_table *table, bool zeros)
{
    unsigned char page[4096];
    const pe_kernel *kernel = pe_kernel_get();
    for (size_t i = 0; i < sizeof page; i++)
        page[i] = zeros ? 0 : (unsigned char)(i * 37 + 11);
    for (size_t i = 0; i < pe_table_tensor_count(table); i++) {
        unsigned char *data = (unsigned char *)(uintptr_t)pe_table_data(table, i);
        size_t bytes = (size_t)pe_table_tensor(table, i)->bytes;
        for (size_t at = 0; at + sizeof page <= bytes; at += sizeof page) {
            if (bytes < STREAMED_BYTES)
                memcpy(data + at, page, sizeof page);
            else
                kernel->stream(data + at, page, sizeof page);
        }
        kernel->fence();
    }
}

static void time_table(const pe_request *request, int runs)
{
    double best = 0, processor = 0, data = 0, zeros = 0;
    pe_table_unref(compute(request)); /* from now on its memory is there */
    for (int run = 0; run < runs; run++) {
        double before = read_clock(CLOCK_THREAD_CPUTIME_ID), start = now();
        pe_table *table = compute(request);
        double computed = now(), after = read_clock(CLOCK_THREAD_CPUTIME_ID);
        store(table, false);
        double stored = now();
        store(table, true);
        double cleared = now();
        pe_table_unref(table);
        keep_least(&best, computed - start);
        keep_least(&processor, after - before);
        keep_least(&data, stored - computed);
        keep_least(&zeros, cleared - stored);
    }
    printf("table %.9f\nprocessor %.9f\nstore %.9f\nzeros %.9f\n", best, processor, data,
           zeros);
}

#define PIECE_BYTES ((size_t)512 << 10) /* what the server reads at once */

/* Read the primary tensor as the server streams it, and store as many bytes in the same place.
 */
static void time_stream(pe_request *request, int runs)
{
    double best = 0, plain = 0;
    unsigned char *piece = malloc(PIECE_BYTES);
    for (int run = 0; piece && run < runs; run++) {
        pe_stream *stream;
        pe_error error;
        double start = now();
        if (pe_stream_new(request, 0, PE_STREAM_FAST, &runner, &stream, &error) != PE_OK)
            exit(EXIT_FAILURE);
        uint64_t size = pe_stream_size(stream);
        for (uint64_t at = 0; at < size;)
            at += pe_stream_read(stream, at, piece, PIECE_BYTES);
        double middle = now();
        for (uint64_t at = 0; at < size; at += PIECE_BYTES) {
            memset(piece, (int)(at >> 19), PIECE_BYTES);
            __asm__ volatile("" : : "r"(piece) : "memory"); /* someone may read it */
        }
        double end = now();
        pe_stream_free(stream);
        keep_least(&best, middle - start);
        keep_least(&plain, end - middle);
    }
    printf("table %.9f\nstore %.9f\n", best, plain);
    free(piece);
}

/* Print the table's numbers, by our own code and by jansson. */
static void time_json(const pe_request *request, int runs)
{
    pe_table *table = compute(request);
    const pe_tensor *tensor = pe_table_tensor(table, 0);
    size_t rows = (size_t)tensor->shape[0], columns = (size_t)tensor->shape[1];
    const float *data = pe_table_data(table, 0);
    char *text = malloc(columns * PE_PRINT_MAX);
    json_t *array = json_array();
    double best = 0, peer = 0;
    if (!text || !array)
        exit(EXIT_FAILURE);
    for (size_t i = 0; i < rows * columns; i++)
        json_array_append_new(array, json_real((double)data[i]));
    for (int run = 0; run < runs; run++) {
        double start = now();
        for (size_t r = 0; r < rows; r++)
            pe_print_row(text, PE_F32, data + r * columns, columns);
        double middle = now();
        free(json_dumps(array, JSON_COMPACT));
        double end = now();
        keep_least(&best, middle - start);
        keep_least(&peer, end - middle);
    }
    json_decref(array);
    printf("json %.9f\njansson %.9f\n", best, peer);
    free(text);
    pe_table_unref(table);
}

static int list_schemes(void)
{
    for (size_t i = 0; i < pe_scheme_count(); i++)
        puts(pe_scheme_describe(pe_scheme_at(i))->name);
    return EXIT_SUCCESS;
}

static int list_kernels(void)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    for (size_t i = 0; i < count; i++)
        puts(kernels[i]->name);
    return EXIT_SUCCESS;
}

/* Use the kernel of this name, the best one, or the baseline that every processor runs. False
 * if this processor has no such kernel. */
static bool use_kernel(const char *name)
{
    const pe_kernel *kernels[8], *chosen = NULL;
    size_t count = pe_kernel_list(kernels);
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, kernels[i]->name) == 0)
            chosen = kernels[i];
    if (strcmp(name, "baseline") == 0)
        chosen = kernels[0];
    pe_kernel_use(chosen);
    return chosen || strcmp(name, "best") == 0;
}

/* "sinusoidal", or "similarity/sinusoidal". */
static const pe_scheme *scheme_of(const char *name)
{
    static const char similarity[] = "similarity/";
    size_t prefix = sizeof similarity - 1;
    return strncmp(name, similarity, prefix) == 0 ? pe_similarity_find(name + prefix)
                                                  : pe_scheme_find(name);
}

/* Read "SCHEME?QUERY", or a QUERY alone, which is of `otherwise`. Returns the scheme, NULL if
 * there is none of that name. */
static const pe_scheme *read_path(const char *argument, const char *otherwise,
                                  char dst_path[256], const char **ret_query)
{
    snprintf(dst_path, 256, "%s", argument);
    char *rest = strchr(dst_path, '?');
    if (rest)
        *rest++ = '\0';
    *ret_query = rest ? rest : otherwise ? dst_path : "";
    return scheme_of(rest || !otherwise ? dst_path : otherwise);
}

/* Most schemes are asked for this much. Those that draw or integrate take seconds for it. */
#define SCHEME_BYTES      ((uint64_t)16 << 20)
#define SLOW_SCHEME_BYTES ((uint64_t)1 << 20)

static uint64_t bytes_of_scheme(const pe_scheme *scheme)
{
    static const char *const SLOW[] = {"complex_order", "floater", "hierarchical", "learned"};
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    for (size_t i = 0; i < sizeof SLOW / sizeof *SLOW; i++)
        if (strcmp(SLOW[i], info->name) == 0)
            return SLOW_SCHEME_BYTES;
    return info->similarity_of ? SLOW_SCHEME_BYTES : SCHEME_BYTES;
}

/* A scheme's example at a size that is worth measuring. The arguments after a question mark
 * come before those of the example. */
static pe_request *large_example(const char *argument)
{
    char path[256];
    const char *more;
    bench_query query, own;
    const pe_scheme *scheme = read_path(argument, NULL, path, &more);
    if (!scheme)
        return NULL;
    bench_read_query(&query, pe_scheme_describe(scheme)->example);
    bench_read_query(&own, more);
    for (size_t i = 0; *more && i < own.count; i++)
        bench_set(&query, own.arguments[i].name, own.arguments[i].text);
    return bench_enlarged(scheme, &query, bytes_of_scheme(scheme));
}

static pe_request *request_of(const char *task, const char *argument)
{
    char path[256];
    const char *text;
    bench_query query;
    if (strcmp(task, "scheme") == 0)
        return large_example(argument);
    const pe_scheme *scheme = read_path(argument, "sinusoidal", path, &text);
    bench_read_query(&query, text);
    return scheme ? bench_request(scheme, &query) : NULL;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "schemes") == 0)
        return list_schemes();
    if (argc == 2 && strcmp(argv[1], "kernels") == 0)
        return list_kernels();
    pe_request *request =
        argc == 5 && use_kernel(argv[4]) ? request_of(argv[1], argv[2]) : NULL;
    if (!request) {
        fprintf(stderr, "usage: bench-tables schemes|kernels\n"
                        "       bench-tables table|json|stream [SCHEME?]QUERY RUNS KERNEL\n"
                        "       bench-tables scheme SCHEME[?QUERY] RUNS KERNEL\n"
                        "scheme enlarges the scheme's example to some 16 MB, slow ones to 1 "
                        "MB; a kernel is\n"
                        "best, baseline, or one of those that `bench-tables kernels` lists\n");
        return EXIT_FAILURE;
    }
    mallopt(M_MMAP_THRESHOLD, 4 << 20); /* as the server does */
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
    runner.pool = pe_pool_new();
    if (!runner.pool)
        return EXIT_FAILURE;
    pe_pool_limit_idle(runner.pool, 1 << 30);
    int runs = (int)strtol(argv[3], NULL, 10);
    if (strcmp(argv[1], "stream") == 0)
        time_stream(request, runs);
    else
        (strcmp(argv[1], "json") == 0 ? time_json : time_table)(request, runs);
    pe_request_unref(request);
    pe_pool_close(runner.pool);
    return EXIT_SUCCESS;
}
