/* Times of the library alone: tables, the store of as many bytes, JSON. Prints "name seconds"
 * lines, the best of some runs each; tests/bench/bench.py calls it by turns with its peers. */
#include "buffer.h"
#include "kernel.h"
#include "posenc.h"
#include "request.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static pe_request *request_for(const char *length, const char *dim)
{
    const pe_limits limits = {1ULL << 40, 1ULL << 40, 1, NULL};
    const pe_argument arguments[] = {{.name = "length", .text = length},
                                     {.name = "dim", .text = dim}};
    pe_request *request = NULL;
    pe_error error;
    if (pe_request_new(pe_scheme_find("sinusoidal"), arguments, 2, &limits, &request, &error))
        exit(EXIT_FAILURE);
    return request;
}

/* Fill the buffer as the scheme does, and with plain values as fast as the same stores go. */
static void time_table(const pe_request *request, int runs)
{
    const pe_scheme *scheme = request->values.scheme;
    size_t bytes = (size_t)request->bytes, capacity;
    unsigned char *buffer = pe_buffer_allocate(bytes, &capacity);
    static const unsigned char zeros[4096];
    const pe_kernel *kernel = pe_kernel_get();
    double best = 1e9, store = 1e9;
    memset(buffer, 0, bytes);
    for (int run = 0; run < runs; run++) {
        double start = now();
        void *state = scheme->prepare(&request->values, &request->plan);
        pe_window whole = {0, 0, request->plan.tensors[0].shape[0]};
        scheme->fill(&request->values, &request->plan, state, whole, buffer);
        scheme->release(state);
        double middle = now();
        if (bytes >= (8 << 20)) {
            for (size_t at = 0; at + sizeof zeros <= bytes; at += sizeof zeros)
                kernel->stream(buffer + at, zeros, sizeof zeros);
            kernel->fence();
        } else {
            memset(buffer, run, bytes);
        }
        double end = now();
        best = middle - start < best ? middle - start : best;
        store = end - middle < store ? end - middle : store;
    }
    printf("table %.9f\nstore %.9f\n", best, store);
    pe_buffer_release(buffer, capacity);
}

/* Print the table's numbers, by our own code and by jansson. */
static void time_json(const pe_request *request, int runs)
{
    pe_table *table;
    pe_error error;
    const pe_tensor *tensor = pe_request_tensor(request, 0);
    if (pe_table_compute(request, NULL, &table, &error) != PE_OK)
        exit(EXIT_FAILURE);
    size_t rows = (size_t)tensor->shape[0], columns = (size_t)tensor->shape[1];
    const float *data = pe_table_data(table, 0);
    char *text = malloc(columns * PE_PRINT_MAX);
    double best = 1e9, peer = 1e9;
    for (int run = 0; run < runs; run++) {
        double start = now();
        for (size_t r = 0; r < rows; r++)
            pe_print_row(text, PE_F32, data + r * columns, columns);
        double end = now();
        best = end - start < best ? end - start : best;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < rows * columns; i++)
        json_array_append_new(array, json_real((double)data[i]));
    for (int run = 0; run < 2; run++) {
        double start = now();
        free(json_dumps(array, JSON_COMPACT));
        double end = now();
        peer = end - start < peer ? end - start : peer;
    }
    json_decref(array);
    printf("json %.9f\njansson %.9f\n", best, peer);
    free(text);
    pe_table_unref(table);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: bench-tables table|json LENGTH DIM RUNS\n");
        return EXIT_FAILURE;
    }
    pe_request *request = request_for(argv[2], argv[3]);
    int runs = (int)strtol(argv[4], NULL, 10);
    if (strcmp(argv[1], "json") == 0)
        time_json(request, runs);
    else
        time_table(request, runs);
    pe_request_free(request);
    return EXIT_SUCCESS;
}
