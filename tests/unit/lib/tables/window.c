/* Tests of windows: a row has the same bits, however it is asked for. */
#include "requests/request.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows of a tensor, and the bytes of one row. */
typedef struct rows {
    const unsigned char *data;
    size_t bytes;
} rows;

static rows rows_of(const pe_table *table, size_t tensor)
{
    const pe_tensor *shape = pe_table_tensor(table, tensor);
    return (rows){pe_table_data(table, tensor), (size_t)(shape->bytes / shape->rows)};
}

/* Check that row r of `part` is row first + r of `whole`. A tensor that has the same number of
 * rows in both does not depend on positions, and must be the same in both. */
static void is_slice(const pe_table *whole, const pe_table *part, size_t first,
                     const char *what)
{
    for (size_t t = 0; t < pe_table_tensor_count(whole); t++) {
        rows all = rows_of(whole, t), some = rows_of(part, t);
        size_t count = (size_t)pe_table_tensor(part, t)->rows;
        size_t start = count == pe_table_tensor(whole, t)->rows ? 0 : first;
        ck_assert_uint_eq(all.bytes, some.bytes);
        for (size_t row = 0; row < count; row++)
            if (memcmp(all.data + (start + row) * all.bytes, some.data + row * some.bytes,
                       all.bytes) != 0)
                ck_abort_msg("%s: row %zu of the slice at %zu differs", what, row, first);
    }
}

/* ---- positions ---- */

/* Spans whose positions are exact doubles. */
static const struct {
    size_t length;
    double offset, step;
} SPANS[] = {
    {200, 0, 1},       {140, -70, 1},
    {150, -3.5, 0.25}, {100, 1e9, 1},
    {130, 63.5, 0.5},  {70, 1099511627776, -16},
    {90, 60, -1},      {40, 9007199254740900, 2},
    {65, 17, 0},       {33, -0.046875, 0.015625},
};

/* Schemes and options (without length, offset, step and dtype) that are tested besides all
 * schemes' defaults. */
static const char *const VARIANTS[][2] = {
    {"periodic", "&dim=40&frequencies=geometric"},
    {"sinusoidal", "&dim=70"},
    {"sinusoidal", "&dim=6&layout=concat&frequencies=tensor2tensor"},
    {"sinusoidal", "&dim=66&layout=concat_cos_first&base=10"},
    {"sinusoidal", "&dim=7&odd_dim=pad&frequencies=per_column"},
    {"sinusoidal", "&dim=7&odd_dim=truncate&amplitude=3.7"},
    {"sinusoidal", "&dim=8&zero_first_row=true&base=1"},
    {"rope", "&dim=140&table=full&rope_type=linear&factor=3"},
    {"rope", "&dim=70&table=full&layout=interleaved"},
    {"rope", "&dim=8&rope_type=yarn&factor=4&original_max_position_embeddings=64"},
    {"rope", "&dim=12&rope_type=proportional&partial_rotary_factor=0.5&table=full"},
    {"rotation_matrix", "&dim=6&convention=shift"},
    {"xpos", "&dim=140&table=full"},
    {"xpos", "&dim=6&table=full&layout=half&gamma=2&centre=30.5"},
};

/* Call `check` for every position-indexed scheme, its variants, and every dtype. */
static void for_all_schemes(void (*check)(const char *scheme, const char *options))
{
    for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
        const char *name = pe_dtype_name((pe_dtype)dtype);
        char options[200];
        for (size_t s = 0; s < pe_scheme_count(); s++) {
            const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
            snprintf(options, sizeof options, "%s&dtype=%s", unit_needs(info), name);
            if (unit_scheme_takes(info, "offset"))
                check(info->name, options);
        }
        for (size_t v = 0; v < UNIT_COUNT(VARIANTS); v++) {
            snprintf(options, sizeof options, "%s&dtype=%s", VARIANTS[v][1], name);
            check(VARIANTS[v][0], options);
        }
    }
}

/* The table of a span; NULL if the scheme refuses its positions. */
static pe_table *span_table(const char *scheme, const char *options, size_t length,
                            double offset, double step)
{
    char query[300];
    pe_request *request;
    pe_table *table;
    pe_error error;
    snprintf(query, sizeof query, "length=%zu&offset=%.17g&step=%.17g%s", length, offset, step,
             options);
    if (unit_request(scheme, query, &UNIT_LIMITS, &request, &error) != PE_OK) {
        ck_assert_int_eq(error.status, PE_OUT_OF_RANGE);
        return NULL;
    }
    ck_assert_int_eq(pe_table_compute(request, NULL, &table, &error), PE_OK);
    pe_request_unref(request);
    return table;
}

static void check_windows(const char *scheme, const char *options)
{
    size_t checked = 0;
    for (size_t i = 0; i < UNIT_COUNT(SPANS); i++) {
        size_t length = SPANS[i].length;
        double offset = SPANS[i].offset, step = SPANS[i].step;
        pe_table *whole = span_table(scheme, options, length, offset, step);
        for (size_t first = 0; whole && first < length; first += 3 + 2 * first) {
            size_t most = first % 3 == 0 ? length - first : 1 + (length - first) / 2;
            pe_table *part =
                span_table(scheme, options, most, offset + (double)first * step, step);
            is_slice(whole, part, first, options);
            pe_table_unref(part);
            checked++;
        }
        pe_table_unref(whole);
    }
    ck_assert_uint_ge(checked, 5);
}

START_TEST(a_window_has_the_bits_of_the_whole)
{
    for_all_schemes(check_windows);
}
END_TEST

/* The required parameters of a scheme's example but for the length, as "&name=value…". */
static void required_of(const pe_scheme_info *info, char *options, size_t size)
{
    unit_query example = unit_query_of(info->example);
    size_t used = 0;
    options[0] = '\0';
    for (size_t i = 0; i < example.count; i++)
        for (size_t p = 0; p < info->parameter_count; p++)
            if (info->parameters[p].required &&
                strcmp(example.arguments[i].name, "length") != 0 &&
                strcmp(info->parameters[p].name, example.arguments[i].name) == 0)
                used += (size_t)snprintf(options + used, size - used, "&%s=%s",
                                         example.arguments[i].name, example.arguments[i].text);
    unit_query_free(&example);
}

START_TEST(defaults_do_not_depend_on_the_window)
{
    enum { LENGTH = 8 };
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        char options[200];
        if (!unit_scheme_takes(info, "offset"))
            continue;
        required_of(info, options, sizeof options);
        pe_table *whole = span_table(info->name, options, LENGTH, 0, 1);
        ck_assert_msg(whole != NULL, "%s: the example's values should suffice", info->name);
        for (size_t first = 0; first < LENGTH; first++)
            for (size_t count = 1; first + count <= LENGTH; count++) {
                pe_table *part = span_table(info->name, options, count, (double)first, 1);
                is_slice(whole, part, first, info->name);
                pe_table_unref(part);
            }
        pe_table_unref(whole);
    }
}
END_TEST

/* The positions of a span as a list; the caller frees it. */
static char *list_of(size_t first, size_t count, double offset, double step)
{
    char *list = malloc(count * 30), *at = list;
    for (size_t i = first; i < first + count; i++)
        at += snprintf(at, 30, "%s%.17g", i > first ? "," : "", offset + (double)i * step);
    return list;
}

static void check_lists(const char *scheme, const char *options)
{
    for (size_t i = 0; i < UNIT_COUNT(SPANS); i++) {
        size_t length = SPANS[i].length, first = length / 3;
        pe_table *whole = span_table(scheme, options, length, SPANS[i].offset, SPANS[i].step);
        if (!whole)
            continue;
        char query[10000];
        char *list = list_of(first, length - first, SPANS[i].offset, SPANS[i].step);
        snprintf(query, sizeof query, "positions=%s%s", list, options);
        pe_table *part = unit_table(scheme, query);
        is_slice(whole, part, first, options);
        pe_table_unref(part);
        pe_table_unref(whole);
        free(list);
    }
}

START_TEST(a_list_of_positions_has_the_bits_of_the_same_window)
{
    for_all_schemes(check_lists);
}
END_TEST

/* A tenth is no double, but multiples by a power of two of the double nearest to it are exact.
 */
static void check_tenths(const char *scheme, const char *options)
{
    pe_table *whole = span_table(scheme, options, 150, 0, 0.1);
    for (size_t first = 1; whole && first <= 128; first *= 2) {
        pe_table *part = span_table(scheme, options, 150 - first, 0.1 * (double)first, 0.1);
        is_slice(whole, part, first, options);
        pe_table_unref(part);
    }
    pe_table_unref(whole);
}

START_TEST(steps_that_are_no_dyadic_fractions_make_the_same_windows)
{
    for_all_schemes(check_tenths);
}
END_TEST

START_TEST(the_order_of_a_list_is_the_order_of_the_rows)
{
    pe_table *forward = unit_table("sinusoidal", "positions=5,-3,1e6,0.3,77&dim=34");
    pe_table *backward = unit_table("sinusoidal", "positions=77,0.3,1e6,-3,5&dim=34");
    rows first = rows_of(forward, 0), last = rows_of(backward, 0);
    for (size_t row = 0; row < 5; row++)
        ck_assert_int_eq(memcmp(first.data + row * first.bytes,
                                last.data + (4 - row) * last.bytes, first.bytes),
                         0);
    pe_table_unref(forward);
    pe_table_unref(backward);
}
END_TEST

/* ---- the fill hook: windows of any first axis ---- */

static void check_fill(const char *scheme_name, const char *query)
{
    pe_request *request = unit_legal_request(scheme_name, query);
    pe_table *whole = unit_table(scheme_name, query);
    void *state;
    pe_error error;
    pe_error_init(&error);
    ck_assert_int_eq(pe_request_prepare(request, NULL, &state, &error), PE_OK);
    for (size_t t = 0; t < pe_table_tensor_count(whole); t++) {
        rows all = rows_of(whole, t);
        size_t count = (size_t)pe_table_tensor(whole, t)->rows;
        unsigned char *part = malloc(count * all.bytes + 1);
        for (size_t first = 0; first < count; first += 1 + count / 9) {
            for (size_t n = 1; first + n <= count; n += 1 + count / 7) {
                memset(part, 0xaa, count * all.bytes + 1);
                pe_request_fill(request, state, (pe_window){t, first, n}, part);
                ck_assert_msg(!memcmp(part, all.data + first * all.bytes, n * all.bytes),
                              "%s?%s: %zu rows from %zu on", scheme_name, query, n, first);
                ck_assert_uint_eq(part[n * all.bytes], 0xaa); /* not written */
            }
        }
        free(part);
    }
    pe_kept_free(state);
    pe_table_unref(whole);
    pe_request_unref(request);
}

START_TEST(fill_writes_any_rows_of_any_scheme)
{
    static const char *const MORE[][2] = {
        {"normalized", "length=1000&dtype=f64"},
        {"learned", "length=50&dim=300&init=uniform"},
        {"hierarchical", "length=50&base_length=9&dim=300"},
        {"complex_order", "length=50&offset=-7.3&vocab=9&dim=140&dtype=f16"},
        {"hierarchical", "length=9&base_length=1100&dim=1000&step=100000&dtype=f64"},
        {"binary", "length=300&width=9&order=lsb&dtype=f16"},
        {"periodic", "length=200&offset=-100&dim=35"},
        {"sinusoidal", "length=200&offset=-100&dim=66&dtype=bf16"},
        {"sinusoidal", "length=200&step=0.1&dim=5&odd_dim=pad&layout=concat"},
        {"sinusoidal_2d", "height=5&width=7&dim=12"},
        {"sinusoidal_2d", "height=5&width=7&dim=12&shape=hwc&axis_order=height_first"},
        {"sinusoidal_2d", "height=5&width=7&dim=12&shape=nc&extra_tokens=3&dtype=f16"},
        {"sinusoidal_2d", "height=70&width=2&dim=8&layout=concat&grouping=function"},
        {"sinusoidal_2d", "height=5&width=7&dim=12&preset=detr&mask=5,2,5,2,5,16"},
        {"sinusoidal_2d", "height=5&width=7&dim=12&preset=deformable_detr&mask=5,2,5,2,5,16"
                          "&shape=nc&extra_tokens=2"},
        {"sinusoidal_2d", "height=5&width=70&dim=12&preset=sd3&dtype=f64"},
        {"sinusoidal_3d", "depth=3&height=5&width=7&dim=14"},
        {"random_fourier", "sizes=5,7&features=70&dtype=f64"},
        {"random_fourier", "sizes=30,9&features=70"},
        {"random_fourier", "sizes=160,70&features=2&dtype=bf16"},
        {"random_fourier", "sizes=3,12,6&features=64&grid=corners&std=1000&dtype=f16"},
        {"random_fourier", "coordinates=0.1,0.2,0.3,0.4,0.5,0.6&axes=2&features=70"},
        {"fourier", "sizes=3,5,4&bands=5&include_input=first&layout=by_frequency"},
        {"fourier", "coordinates=0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8&axes=2&bands=70"
                    "&max_frequency=9&dtype=f64"},
        {"sinusoidal_3d", "depth=2&height=3&width=40&dim=32&preset=cogvideox&dtype=f64"},
        {"rope", "length=200&offset=-100&dim=150&table=full&dtype=bf16"},
        {"rope", "length=100&step=0.3&dim=12&table=full&layout=interleaved&dtype=f64"},
        {"rope", "length=90&dim=12&rope_type=proportional&partial_rotary_factor=0.5"},
        {"rotation_matrix", "length=70&dim=6&dtype=f16"},
        {"mrope", "text=7,0,80&grids=2,4,6,1,10,14&dim=24&mrope_section=4,4,4&dtype=f16"},
        {"mrope", "position_ids=5,4,3,2,1,9,8,7,6&dim=8&mrope_section=2,1,1&table=full"},
        {"axial_rope", "sizes=3,5,7&dim=24&prefix=3&suffix=2&repeats=2&dtype=f16"},
        {"axial_rope", "sizes=6,4&dim=20&row_order=merge_blocks&layout=interleaved&table=full"},
        {"axial_rope", "sizes=1,100&dim=65536&dtype=f64"},
    };
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        check_fill(info->name, info->example);
    }
    for (size_t i = 0; i < UNIT_COUNT(MORE); i++)
        check_fill(MORE[i][0], MORE[i][1]);
}
END_TEST

/* ---- threads ---- */

typedef struct job {
    const pe_request *request;
    pe_table *table;
} job;

static void *compute(void *context)
{
    job *own = context;
    pe_error error;
    if (pe_table_compute(own->request, NULL, &own->table, &error) != PE_OK)
        own->table = NULL;
    return NULL;
}

START_TEST(threads_at_work_at_once_get_the_same_bits)
{
    enum { THREADS = 8 };
    static const char *const QUERIES[][2] = {
        {"sinusoidal", "length=300&offset=-150.5&dim=130"},
        {"sinusoidal", "length=300&step=0.1&dim=64&dtype=f16"},
        {"periodic", "length=500&offset=1e12&dim=70&dtype=f64"},
        {"sinusoidal_2d", "height=20&width=30&dim=64&shape=nc"},
        {"integer", "length=10000&dtype=bf16"},
        {"hierarchical", "length=200&base_length=20&dim=50"},
    };
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        pe_request *request = unit_legal_request(QUERIES[i][0], QUERIES[i][1]);
        pe_table *alone = unit_table(QUERIES[i][0], QUERIES[i][1]);
        pthread_t threads[THREADS];
        job jobs[THREADS];
        for (size_t t = 0; t < THREADS; t++) {
            jobs[t] = (job){request, NULL};
            ck_assert_int_eq(pthread_create(&threads[t], NULL, compute, &jobs[t]), 0);
        }
        for (size_t t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
            ck_assert_ptr_nonnull(jobs[t].table);
            is_slice(alone, jobs[t].table, 0, QUERIES[i][1]);
            pe_table_unref(jobs[t].table);
        }
        pe_table_unref(alone);
        pe_request_unref(request);
    }
}
END_TEST

Suite *window_suite(void)
{
    const TTest *const tests[] = {
        a_window_has_the_bits_of_the_whole,
        defaults_do_not_depend_on_the_window,
        a_list_of_positions_has_the_bits_of_the_same_window,
        steps_that_are_no_dyadic_fractions_make_the_same_windows,
        the_order_of_a_list_is_the_order_of_the_rows,
        fill_writes_any_rows_of_any_scheme,
        threads_at_work_at_once_get_the_same_bits,
        NULL,
    };
    return unit_suite("window", tests);
}
