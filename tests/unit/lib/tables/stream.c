/* Tests of streams: they give the bytes of the table in any pieces, and take little memory
 * whatever its size. */
#include "requests/request.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits that allow any number of elements, but only in streams. */
static const pe_limits ENDLESS = {
    .elements = 1ULL << 60, .table_bytes = 1, .list_length = 1 << 16};

static pe_request *endless_request(const char *scheme, const char *query)
{
    pe_request *request;
    pe_error error;
    ck_assert_int_eq(unit_request(scheme, query, &ENDLESS, &request, &error), PE_OK);
    return request;
}

static pe_stream *open_stream(pe_request *request, size_t tensor)
{
    pe_stream *stream;
    pe_error error;
    ck_assert_int_eq(pe_stream_new(request, tensor, 10000, NULL, &stream, &error), PE_OK);
    return stream;
}

/* ---- the bytes of the table ---- */

static const char *const QUERIES[][2] = {
    {"integer", "length=3000&offset=-7.5&step=0.25&dtype=f64"},
    {"normalized", "length=2500&dtype=bf16"},
    {"binary", "length=999&width=10"},
    {"shaw", "length=120&dim=3"},
    {"periodic", "length=700&offset=-100&dim=35"},
    {"sinusoidal", "length=20000&dim=66&dtype=f16"},
    {"sinusoidal", "positions=5,-3,1e6,0.3,77&dim=34"},
    {"sinusoidal_2d", "height=50&width=70&dim=12"},
    {"sinusoidal_2d", "height=50&width=70&dim=12&shape=hwc&dtype=f64"},
    {"sinusoidal_2d", "height=50&width=70&dim=12&preset=timm&extra_tokens=3"},
    {"sinusoidal_2d", "height=50&width=70&dim=12&preset=detr&mask=0,1000,2500"},
    {"sinusoidal_3d", "depth=9&height=11&width=13&dim=20"},
    {"random_fourier", "sizes=50,70&features=5&preset=sam"},
    {"fourier", "sizes=50,70&bands=5&include_input=last"},
    {"mrope", "text=700,9&grids=3,40,60&dim=64&mrope_section=10,11,11"},
    {"axial_rope", "sizes=5,20,30&dim=60&prefix=7&suffix=3&repeats=2"},
    {"axial_rope", "sizes=40,60&dim=90&widths=30,50&row_order=merge_blocks&table=full"},
};

/* Read the whole stream in pieces of random sizes. Only a row that would be cut is left out. */
static void read_in_order(pe_stream *stream, uint64_t row_bytes, unsigned char *dst,
                          uint64_t *random)
{
    uint64_t at = 0, size = pe_stream_size(stream);
    while (at < size) {
        size_t part = 1 + (size_t)(unit_random(random) % 30000);
        size_t got = pe_stream_read(stream, at, dst + at, part);
        part = part < size - at ? part : size - at;
        at += got;
        unit_assert(got == part || (got + row_bytes > part && at % row_bytes == 0));
    }
    ck_assert_uint_eq(pe_stream_read(stream, size, dst, 1), 0);
}

START_TEST(reading_gives_the_bytes_of_the_table_in_any_pieces)
{
    uint64_t random = 1;
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        pe_request *request = endless_request(QUERIES[i][0], QUERIES[i][1]);
        pe_stream *stream = open_stream(request, 0);
        pe_table *table = unit_table(QUERIES[i][0], QUERIES[i][1]);
        const unsigned char *data = pe_table_data(table, 0);
        size_t size = (size_t)pe_table_tensor(table, 0)->bytes;
        unsigned char *read = malloc(size);
        pe_request_unref(request); /* the stream has its own reference */
        ck_assert_uint_eq(pe_stream_size(stream), size);
        read_in_order(stream, size / pe_table_tensor(table, 0)->rows, read, &random);
        ck_assert_msg(memcmp(read, data, size) == 0, "%s?%s", QUERIES[i][0], QUERIES[i][1]);
        for (size_t n = 0; n < 20; n++) { /* read at random offsets */
            size_t from = (size_t)(unit_random(&random) % size);
            size_t got = pe_stream_read(stream, from, read, 1000);
            unit_assert(got == (size - from < 1000 ? size - from : 1000));
            unit_assert(memcmp(read, data + from, got) == 0);
        }
        free(read);
        pe_table_unref(table);
        pe_stream_free(stream);
    }
}
END_TEST

/* ---- memory ---- */

START_TEST(every_scheme_streams_any_size_in_little_memory)
{
    static const char *const HUGE[][2] = {
        {"integer", "length=1e12"},
        {"normalized", "length=1e12&dtype=f64"},
        {"binary", "length=1e12&width=64&dtype=f64"},
        {"periodic", "length=1e9&dim=1024"},
        {"sinusoidal", "length=1e9&dim=1048576&dtype=f64"},
        {"sinusoidal_2d", "height=65536&width=65536&dim=4"},
        {"sinusoidal_2d", "height=1&width=16777216&dim=4&dtype=f64"},
        {"sinusoidal_2d", "height=16777216&width=16777216&dim=1024&shape=hwc"},
        {"sinusoidal_2d", "height=16777216&width=16777216&dim=4&shape=nc&extra_tokens=9"},
        {"sinusoidal_3d", "depth=1048576&height=1048576&width=64&dim=64"},
        {"fourier", "sizes=32768,32768,32768&bands=64&max_frequency=112"},
        {"mrope", "text=1000000,9&grids=100,8000,8000&dim=128&table=full&dtype=f64"},
        {"axial_rope", "sizes=65536,4096&dim=64&row_order=merge_blocks"},
        {"axial_rope", "sizes=16777216,16777216&dim=1024&table=full&dtype=f64"},
        {"axial_rope", "sizes=2,4096&dim=1048576&table=full&dtype=f64"},
    };
    unsigned char read[5000];
    for (size_t i = 0; i < UNIT_COUNT(HUGE); i++) {
        pe_request *request = endless_request(HUGE[i][0], HUGE[i][1]);
        unit_fail_allocations(0, 0);
        pe_stream *stream = NULL;
        pe_error error;
        pe_status status = pe_stream_new(request, 0, PE_STREAM_FAST, NULL, &stream, &error);
        uint64_t size = status == PE_OK ? pe_stream_size(stream) : 0;
        size_t got = pe_stream_read(stream, size / 3, read, sizeof read);
        unit_allocations seen = unit_allow_allocations();
        ck_assert_int_eq(status, PE_OK);
        ck_assert_uint_eq(size, pe_request_tensor(request, 0)->bytes);
        ck_assert_uint_eq(got, sizeof read);
        ck_assert_msg(seen.largest <= 17 << 20, "%s?%s: %zu bytes", HUGE[i][0], HUGE[i][1],
                      seen.largest);
        pe_stream_free(stream);
        pe_request_unref(request);
    }
}
END_TEST

START_TEST(without_memory_there_is_no_stream)
{
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        pe_request *request = endless_request(QUERIES[i][0], QUERIES[i][1]);
        for (size_t k = 0;; k++) {
            pe_stream *stream = NULL;
            pe_error error;
            unit_fail_allocations(k, 1);
            pe_status status = pe_stream_new(request, 0, PE_STREAM_FAST, NULL, &stream, &error);
            bool failed = unit_allow_allocations().failed > 0;
            ck_assert_int_eq(status, failed ? PE_NO_MEMORY : PE_OK);
            ck_assert_int_eq(error.status, status);
            pe_stream_free(stream);
            if (!failed) {
                ck_assert_uint_ge(k, 1);
                break;
            }
        }
        pe_request_unref(request);
    }
}
END_TEST

/* ---- grids that are too large to hold: windows are compared with one-dimensional tables ----
 */

typedef struct grid_case {
    uint64_t height, width, dim;
    const char *options, *layout;
    bool chw, width_first, by_function;
} grid_case;

/* Rows [first, first + count) of the one-dimensional table of dim/2 columns. */
typedef struct axis_rows {
    uint64_t first, count;
    pe_table *table;
} axis_rows;

static const unsigned char *axis_row(axis_rows *rows, const grid_case *grid, uint64_t position)
{
    if (!rows->table || position - rows->first >= rows->count) {
        char query[200];
        rows->count = grid->dim > 1024 ? 300 : 1024;
        rows->first = position / rows->count * rows->count;
        snprintf(query, sizeof query, "length=%llu&offset=%llu&dim=%llu&layout=%s",
                 (unsigned long long)rows->count, (unsigned long long)rows->first,
                 (unsigned long long)grid->dim / 2, grid->layout);
        pe_table_unref(rows->table);
        rows->table = unit_table("sinusoidal", query);
    }
    return (const unsigned char *)pe_table_data(rows->table, 0) +
           (position - rows->first) * grid->dim / 2 * sizeof(float);
}

/* Whether channel c belongs to the x axis. Sets *ret_column to its column in the table of its
 * axis. */
static bool is_along_x(const grid_case *grid, uint64_t c, uint64_t *ret_column)
{
    uint64_t quarter = grid->dim / 4, half = grid->dim / 2;
    bool first = c < half;
    *ret_column = c % half;
    if (grid->by_function) { /* sines of both, then cosines of both */
        first = c / quarter % 2 == 0;
        *ret_column = c % quarter + (c >= half ? quarter : 0);
    }
    return first == grid->width_first;
}

/* Check elements [first, first + count) of the tensor. */
static void check_elements(const grid_case *grid, const unsigned char *data, uint64_t first,
                           size_t count)
{
    axis_rows xs = {0}, ys = {0};
    uint64_t cells = grid->height * grid->width, column;
    for (size_t i = 0; i < count; i++) {
        uint64_t c = grid->chw ? (first + i) / cells : (first + i) % grid->dim;
        uint64_t cell = grid->chw ? (first + i) % cells : (first + i) / grid->dim;
        const unsigned char *row = is_along_x(grid, c, &column)
                                       ? axis_row(&xs, grid, cell % grid->width)
                                       : axis_row(&ys, grid, cell / grid->width);
        if (memcmp(data + i * sizeof(float), row + column * sizeof(float), sizeof(float)) != 0)
            ck_abort_msg("%llu x %llu x %llu%s: element %llu", (unsigned long long)grid->height,
                         (unsigned long long)grid->width, (unsigned long long)grid->dim,
                         grid->options, (unsigned long long)(first + i));
    }
    pe_table_unref(xs.table);
    pe_table_unref(ys.table);
}

/* Check windows that begin at chosen rows, some of which end with the tensor. */
static void check_grid(const grid_case *grid)
{
    char query[200];
    snprintf(query, sizeof query, "height=%llu&width=%llu&dim=%llu%s",
             (unsigned long long)grid->height, (unsigned long long)grid->width,
             (unsigned long long)grid->dim, grid->options);
    pe_request *request = endless_request("sinusoidal_2d", query);
    void *state;
    pe_error error;
    pe_error_init(&error);
    ck_assert_int_eq(pe_request_prepare(request, NULL, &state, &error), PE_OK);
    const pe_tensor *tensor = &request->plan.tensors[0];
    uint64_t rows = tensor->rows, row = tensor->elements / rows;
    uint64_t cells = grid->height * grid->width, random = rows;
    uint64_t most = grid->chw ? 20000 : grid->dim > 1024 ? 3 : 3000;
    unsigned char *data = malloc(most * row * sizeof(float));
    const uint64_t starts[] = {0, grid->width - 1, cells - 5, rows / 2 + 1, rows - 1};
    for (size_t i = 0; i < UNIT_COUNT(starts); i++) {
        uint64_t count = 1 + unit_random(&random) % most;
        if (count > rows - starts[i])
            count = rows - starts[i];
        pe_request_fill(request, state, (pe_window){0, starts[i], count}, data);
        check_elements(grid, data, starts[i] * row, (size_t)(count * row));
    }
    free(data);
    pe_kept_free(state);
    pe_request_unref(request);
}

START_TEST(a_grid_too_long_to_hold_has_the_rows_of_one_dimensional_tables)
{
    static const uint64_t SIZES[][3] = {
        {3, 4200000, 4},       {4200000, 3, 4},       {1, 4200000, 8}, {4200000, 1, 12},
        {4200000, 4200000, 8}, {16777216, 9000, 300}, {1, 300, 65536}};
    for (size_t i = 0; i < UNIT_COUNT(SIZES); i++) {
        uint64_t height = SIZES[i][0], width = SIZES[i][1], dim = SIZES[i][2];
        const grid_case cases[] = {
            {height, width, dim, "", "interleaved", true, true, false},
            {height, width, dim, "&axis_order=height_first&layout=concat", "concat", true,
             false, false},
            {height, width, dim, "&layout=concat&grouping=function", "concat", true, true,
             true},
            {height, width, dim, "&shape=hwc&axis_order=height_first", "interleaved", false,
             false, false},
            {height, width, dim, "&preset=mae", "concat", false, true, false},
            {height, width, dim, "&preset=timm", "concat", false, false, true},
        };
        for (size_t c = 0; c < UNIT_COUNT(cases); c++)
            check_grid(&cases[c]);
    }
}
END_TEST

START_TEST(extra_tokens_come_before_the_cells_of_any_window)
{
    pe_request *request = endless_request(
        "sinusoidal_2d", "height=4200000&width=2&dim=4&shape=nc&extra_tokens=7");
    pe_request *plain =
        endless_request("sinusoidal_2d", "height=4200000&width=2&dim=4&shape=nc");
    pe_stream *stream = open_stream(request, 0), *cells = open_stream(plain, 0);
    unsigned char read[40 * 16], expected[40 * 16] = {0};
    ck_assert_uint_eq(pe_stream_read(cells, 0, expected + 7 * 16, 33 * 16), 33 * 16);
    for (uint64_t first = 0; first < 9; first++) {
        ck_assert_uint_eq(pe_stream_read(stream, first * 16, read, (40 - first) * 16),
                          (40 - first) * 16);
        ck_assert_int_eq(memcmp(read, expected + first * 16, (40 - first) * 16), 0);
    }
    pe_stream_free(stream);
    pe_stream_free(cells);
    pe_request_unref(request);
    pe_request_unref(plain);
}
END_TEST

/* ---- what one read costs ---- */

START_TEST(a_read_computes_for_about_a_millisecond)
{
    static const struct {
        const char *scheme, *query;
        size_t least, most; /* bytes of a large read */
    } READS[] = {
        {"learned", "length=1e6&dim=256", 150000, 300000},
        {"periodic", "length=1e6&dim=256&offset=0.5", 1000000, 4000000},
        {"complex_order", "length=1e6&dim=256&vocab=9", 100000, 300000},
        {"sinusoidal", "length=1e6&dim=256", PE_STREAM_FAST, PE_STREAM_FAST},
        {"rope", "length=1e6&dim=256", PE_STREAM_FAST, PE_STREAM_FAST},
    };
    unsigned char *read = malloc(PE_STREAM_FAST);
    for (size_t i = 0; i < UNIT_COUNT(READS); i++) {
        pe_request *request = endless_request(READS[i].scheme, READS[i].query);
        pe_stream *stream;
        pe_error error;
        ck_assert_int_eq(pe_stream_new(request, 0, PE_STREAM_FAST, NULL, &stream, &error),
                         PE_OK);
        uint64_t at = 0;
        for (int n = 0; n < 3; n++) {
            size_t got = pe_stream_read(stream, at, read, PE_STREAM_FAST);
            ck_assert_msg(got >= READS[i].least && got <= READS[i].most, "%s: %zu bytes",
                          READS[i].scheme, got);
            at += got;
        }
        pe_stream_free(stream);
        pe_request_unref(request);
    }
    free(read);
}
END_TEST

/* ---- the rows that reading a part computes ---- */

static uint64_t rows_filled; /* number of rows */
static uint64_t rows_seen;   /* the largest index, plus 1 */

static void read_counted(const pe_values *values, void *ret_state, pe_plan *plan,
                         pe_error *reterr)
{
    (void)values, (void)ret_state, (void)reterr;
    pe_plan_add(plan, "encoding", PE_F32, 2, (uint64_t[]){1000, 3});
}

static void fill_counted(const void *state, pe_window window, void *dst)
{
    (void)state;
    rows_filled += window.rows;
    if (window.first + window.rows > rows_seen)
        rows_seen = window.first + window.rows;
    for (uint64_t e = 0; e < window.rows * 3; e++)
        ((float *)dst)[e] = (float)(window.first * 3 + e);
}

START_TEST(only_the_rows_of_the_part_that_is_read_are_computed)
{
    static const pe_scheme counted = {
        .info = {.name = "counted", .formula = "", .convention = "", .reference = ""},
        .read = read_counted,
        .fill = fill_counted,
    };
    static const uint64_t PARTS[][2] = {
        /* bytes; a row has 12, a block of 10000 holds 833 */
        {0, 1},        {0, 12},       {0, 13},        {11, 13},       {600, 612},   {605, 607},
        {9990, 10010}, {1200, 12000}, {11999, 12000}, {11988, 12000}, {3000, 3000}, {5, 11995}};
    pe_request *request;
    pe_error error;
    ck_assert_int_eq(pe_request_new(&counted, NULL, 0, &ENDLESS, &request, &error), PE_OK);
    for (size_t i = 0; i < UNIT_COUNT(PARTS); i++) {
        uint64_t from = PARTS[i][0], until = PARTS[i][1];
        unsigned char read[12000];
        pe_stream *stream = open_stream(request, 0);
        pe_stream_end_at(stream, until);
        rows_filled = rows_seen = 0;
        size_t size = (size_t)(until - from);
        ck_assert_uint_eq(pe_stream_read(stream, from, read, size), size);
        for (size_t b = 0; b < size; b++) {
            float number = (float)((from + b) / 4);
            unit_assert(read[b] == ((unsigned char *)&number)[(from + b) % 4]);
        }
        uint64_t last = (until + 11) / 12;
        ck_assert_uint_eq(rows_filled, size ? last - from / 12 : 0);
        ck_assert_uint_eq(rows_seen, size ? last : 0);
        ck_assert_uint_eq(pe_stream_read(stream, 11990, read, 100),
                          10); /* reading past the announced end works, too */
        pe_stream_free(stream);
    }
    pe_request_unref(request);
}
END_TEST

Suite *stream_suite(void)
{
    const TTest *const tests[] = {
        reading_gives_the_bytes_of_the_table_in_any_pieces,
        every_scheme_streams_any_size_in_little_memory,
        without_memory_there_is_no_stream,
        a_grid_too_long_to_hold_has_the_rows_of_one_dimensional_tables,
        extra_tokens_come_before_the_cells_of_any_window,
        only_the_rows_of_the_part_that_is_read_are_computed,
        a_read_computes_for_about_a_millisecond,
        NULL,
    };
    return unit_suite("stream", tests);
}
