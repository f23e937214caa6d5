/* A sum of the bits of many tables: what must stay the same when code becomes faster. Prints
 * "scheme dtype tables words sum" lines, and the total. Every scheme's example is computed with
 * each choice of each parameter, at several positions and sizes.
 *
 *     bits [SCHEME or all] [of how many sizes, the smallest first] */
#include "query.h"

#include <inttypes.h>

/* Slow to compute, so they stay small. */
static const char *const SMALL[] = {"learned", "complex_order", "floater", "hierarchical"};

static const char *const OFFSETS[] = {"0", "1", "-5", "0.5", "1000003", "1099511627776.25"};
static const char *const STEPS[] = {"-3", "0.25"};
static const char *const DTYPES[] = {"f32", "f64", "f16", "bf16"};
static const uint64_t BYTES[] = {0, 100 << 10, 2 << 20, 17 << 20};

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct bits_sum {
    uint64_t tables, words, sum;
} bits_sum;

/* Add bytes, eight at a time; their order counts. */
static void add_bytes(bits_sum *sum, const unsigned char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = 0;
        memcpy(&word, data + at, bytes - at < 8 ? bytes - at : 8);
        sum->sum = (sum->sum ^ word) * 0x9e3779b97f4a7c15u;
        sum->sum ^= sum->sum >> 29;
    }
    sum->words += bytes / 4;
}

static void add_table(bits_sum *sum, const pe_request *request)
{
    pe_table *table;
    pe_error error;
    if (pe_table_compute(request, NULL, &table, &error) != PE_OK)
        return;
    for (size_t i = 0; i < pe_table_tensor_count(table); i++)
        add_bytes(sum, pe_table_data(table, i), (size_t)pe_table_tensor(table, i)->bytes);
    sum->tables++;
    pe_table_unref(table);
}

/* Add the tables of a query with one argument set, at every size. */
static void add_query(bits_sum *sum, const pe_scheme *scheme, const char *dtype,
                      const char *name, const char *text, size_t sizes)
{
    for (size_t i = 0; i < sizes; i++) {
        bench_query query;
        bench_read_query(&query, pe_scheme_describe(scheme)->example);
        bench_set(&query, "dtype", dtype);
        if (name)
            bench_set(&query, name, text);
        pe_request *request = bench_enlarged(scheme, &query, BYTES[i]);
        if (!request)
            return;
        add_table(sum, request);
        pe_request_unref(request);
    }
}

static void add_scheme(bits_sum *sum, const pe_scheme *scheme, const char *dtype, size_t sizes)
{
    static const char *const flags[] = {"false", "true", NULL};
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    for (size_t i = 0; i < COUNT(SMALL); i++)
        if (strcmp(SMALL[i], info->name) == 0 && sizes > 2)
            sizes = 2;
    add_query(sum, scheme, dtype, NULL, NULL, sizes);
    for (size_t i = 0; i < COUNT(OFFSETS); i++)
        add_query(sum, scheme, dtype, "offset", OFFSETS[i], sizes);
    for (size_t i = 0; i < COUNT(STEPS); i++)
        add_query(sum, scheme, dtype, "step", STEPS[i], sizes);
    add_query(sum, scheme, dtype, "positions", "3,7.5,-2,1e6,1e15,4,5,6,1e-300", 1);
    for (size_t i = 0; i < info->preset_count; i++)
        add_query(sum, scheme, dtype, "preset", info->presets[i].name, sizes);
    for (size_t i = 0; i < info->parameter_count; i++) {
        const pe_parameter *row = &info->parameters[i];
        const char *const *choices = row->type == PE_BOOLEAN ? flags : row->choices;
        for (size_t c = 0; choices && choices[c]; c++)
            add_query(sum, scheme, dtype, row->name, choices[c], sizes);
    }
}

int main(int argc, char **argv)
{
    bits_sum total = {0, 0, 0};
    const char *wanted = argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : NULL;
    size_t sizes = argc > 2 ? strtoul(argv[2], NULL, 10) : COUNT(BYTES);
    if (sizes < 1 || sizes > COUNT(BYTES))
        return EXIT_FAILURE;
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const char *name = pe_scheme_describe(pe_scheme_at(i))->name;
        if (wanted && strcmp(wanted, name) != 0)
            continue;
        for (size_t d = 0; d < COUNT(DTYPES); d++) {
            bits_sum sum = {0, 0, 0};
            add_scheme(&sum, pe_scheme_at(i), DTYPES[d], sizes);
            printf("%-20s %-4s %5" PRIu64 " %10" PRIu64 " %016" PRIx64 "\n", name, DTYPES[d],
                   sum.tables, sum.words, sum.sum);
            fflush(stdout);
            add_bytes(&total, (const unsigned char *)&sum.sum, sizeof sum.sum);
            total.tables += sum.tables;
            total.words += sum.words;
        }
    }
    printf("%-20s %-4s %5" PRIu64 " %10" PRIu64 " %016" PRIx64 "\n", "all", "", total.tables,
           total.words, total.sum);
    return EXIT_SUCCESS;
}
