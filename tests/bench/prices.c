/* What a unit of price takes: nanoseconds of a processor for each multiply-add that a request
 * is said to cost. Work between two questions whether to go on, and what an event thread may
 * compute, are bounded by prices, so all should take about as long. Prints for each scheme the
 * median, and the least and the most with their queries. Every scheme's example grows, with
 * each choice of each parameter: in all sizes, and in each size alone, which makes tables
 * narrow or wide.
 *
 *     prices [SCHEME or all] */
#include "query.h"

#include <time.h>

static const char *const OFFSETS[] = {"0.5", "1099511627776.25"};
static const char *const DTYPES[] = {"f32", "f64", "bf16"};

#define COUNT(array)  (sizeof(array) / sizeof *(array))
#define BYTES         ((uint64_t)1 << 20) /* of a table, as far as it may grow */
#define PRICE_MAX     2e8                 /* of a table that is computed */
#define SECONDS_LEAST 2e-4                /* what takes less says nothing */
#define ROUNDS        3
#define ROWS_MAX      4096

typedef struct price_row {
    double nanoseconds; /* for a multiply-add */
    char query[256];
} price_row;

/* Of a scheme. */
typedef struct price_rows {
    const pe_scheme *scheme;
    const char *dtype, *name, *text; /* of the argument that is set, if there is one */
    size_t count;
    price_row rows[ROWS_MAX];
} price_rows;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds to compute the table, the best of some rounds; 0 if it cannot be computed. */
static double time_table(const pe_request *request)
{
    double least = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pe_table *table;
        pe_error error;
        const double begin = now();
        if (pe_table_compute(request, NULL, &table, &error) != PE_OK)
            return 0;
        const double seconds = now() - begin;
        pe_table_unref(table);
        least = round == 0 || seconds < least ? seconds : least;
    }
    return least;
}

static void write_query(const bench_query *query, char *dst, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < query->count && used < size; i++)
        used += (size_t)snprintf(dst + used, size - used, "%s%s=%s", i ? "&" : "",
                                 query->arguments[i].name, query->arguments[i].text);
}

static void add_request(price_rows *rows, const bench_query *query, const pe_request *request)
{
    const double price = pe_request_price(request);
    const double seconds = price <= PRICE_MAX ? time_table(request) : 0;
    if (seconds < SECONDS_LEAST || rows->count == ROWS_MAX)
        return;
    price_row *row = &rows->rows[rows->count++];
    row->nanoseconds = seconds * 1e9 / price;
    write_query(query, row->query, sizeof row->query);
}

static void begin_query(const price_rows *rows, bench_query *ret_query)
{
    bench_read_query(ret_query, pe_scheme_describe(rows->scheme)->example);
    bench_set(ret_query, "dtype", rows->dtype);
    if (rows->name)
        bench_set(ret_query, rows->name, rows->text);
}

/* Add the query's table, grown in one argument alone. */
static void add_grown(price_rows *rows, size_t index)
{
    bench_query query;
    begin_query(rows, &query);
    pe_request *request = bench_request(rows->scheme, &query);
    for (pe_request *larger; request && pe_request_bytes(request) < BYTES; request = larger) {
        larger = bench_double(rows->scheme, &query, index);
        if (!larger)
            break;
        pe_request_unref(request);
    }
    if (request)
        add_request(rows, &query, request);
    pe_request_unref(request);
}

static void add_query(price_rows *rows, const char *name, const char *text)
{
    bench_query query;
    rows->name = name;
    rows->text = text;
    begin_query(rows, &query);
    pe_request *request = bench_enlarged(rows->scheme, &query, BYTES);
    if (request)
        add_request(rows, &query, request);
    pe_request_unref(request);
    for (size_t i = 0; i < query.count; i++)
        if (bench_sets_size(pe_scheme_describe(rows->scheme), query.arguments[i].name))
            add_grown(rows, i);
}

static void add_scheme(price_rows *rows)
{
    static const char *const flags[] = {"false", "true", NULL};
    const pe_scheme_info *info = pe_scheme_describe(rows->scheme);
    add_query(rows, NULL, NULL);
    add_query(rows, "positions", "3,7.5,-2,1e6,1e15,4,5,6,1e-300");
    for (size_t i = 0; i < COUNT(OFFSETS); i++)
        add_query(rows, "offset", OFFSETS[i]);
    for (size_t i = 0; i < info->parameter_count; i++) {
        const pe_parameter *parameter = &info->parameters[i];
        const char *const *choices = parameter->type == PE_BOOLEAN ? flags : parameter->choices;
        for (size_t c = 0; choices && choices[c]; c++)
            add_query(rows, parameter->name, choices[c]);
    }
}

static int compare_rows(const void *a, const void *b)
{
    const double first = ((const price_row *)a)->nanoseconds;
    const double second = ((const price_row *)b)->nanoseconds;
    return (first > second) - (first < second);
}

static void print_rows(price_rows *rows)
{
    const char *name = pe_scheme_describe(rows->scheme)->name;
    if (rows->count == 0)
        return;
    qsort(rows->rows, rows->count, sizeof *rows->rows, compare_rows);
    const price_row *last = &rows->rows[rows->count - 1];
    printf("%-20s %6.2f ns; %6.2f of %s; %6.2f of %s\n", name,
           rows->rows[rows->count / 2].nanoseconds, rows->rows[0].nanoseconds,
           rows->rows[0].query, last->nanoseconds, last->query);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static price_rows rows;
    const char *wanted = argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : NULL;
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        rows.scheme = pe_scheme_at(i);
        rows.count = 0;
        if (wanted && strcmp(wanted, pe_scheme_describe(rows.scheme)->name) != 0)
            continue;
        for (size_t d = 0; d < COUNT(DTYPES); d++) {
            rows.dtype = DTYPES[d];
            add_scheme(&rows);
        }
        print_rows(&rows);
    }
    return EXIT_SUCCESS;
}
