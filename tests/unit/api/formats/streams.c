/* Streamed bodies: in every format they have the bytes of the body in one piece, in whatever
 * pieces they are read. */
#include "formats/options.h"
#include "formats/registry.h"
#include "scheme.h"
#include "unit.h"
#include "unit_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a scheme of several tensors: element e of tensor t is 1000·t + e ---- */

static void read_several(const pe_values *values, void *ret_state, pe_plan *plan,
                         pe_error *reterr)
{
    (void)reterr;
    uint64_t n = (uint64_t)pe_get_integer(values, "length");
    *(const pe_plan **)ret_state = plan;
    pe_plan_add(plan, "matrix", PE_F32, 2, (uint64_t[]){n, 3});
    pe_plan_add(plan, "line", PE_I32, 1, (uint64_t[]){n});
    pe_plan_add(plan, "block", PE_F64, 4, (uint64_t[]){n, 2, 1, 3});
    pe_plan_add(plan, "cube", PE_F16, 3, (uint64_t[]){2, 2, 5 * n});
    plan->tensors[3].rows = 20; /* a row of the plan is a fifth of a row of the last axis */
}

static uint64_t filled[4]; /* rows that were computed, of each tensor */

static void fill_several(const void *state, pe_window window, void *dst)
{
    filled[window.tensor] += window.rows;
    const pe_plan *plan = *(const pe_plan *const *)state;
    const pe_tensor *tensor = &plan->tensors[window.tensor];
    uint64_t row = tensor->elements / tensor->rows;
    for (uint64_t e = 0; e < window.rows * row; e++) {
        int value = (int)(1000 * window.tensor + window.first * row + e);
        if (tensor->dtype == PE_I32)
            ((int32_t *)dst)[e] = value;
        else if (tensor->dtype == PE_F16)
            ((uint16_t *)dst)[e] = (uint16_t)(value % 0x7c00);
        else if (tensor->dtype == PE_F32)
            ((float *)dst)[e] = (float)value;
        else
            ((double *)dst)[e] = value;
    }
}

static const pe_parameter LENGTH[] = {
    {.name = "length", .type = PE_INTEGER, .required = true, .minimum = 1, .maximum = 1e6}};

static const pe_scheme SEVERAL = {
    .info = {.name = "several",
             .title = "",
             .formula = "",
             .convention = "",
             .reference = "",
             .revision = 1,
             PE_LIST(parameter, LENGTH)},
    .state_size = sizeof(const pe_plan *),
    .read = read_several,
    .fill = fill_several,
};

/* ---- reading ---- */

/* Read a whole body in pieces of up to `room` bytes. To be freed. */
static char *read_all(api_body *body, size_t room, size_t *ret_size)
{
    size_t size = 0, capacity = 1 << 16;
    char *all = malloc(capacity);
    if (!api_body_is_stream(body)) {
        const api_segment *segments;
        size_t count = api_body_segments(body, &segments);
        all = realloc(all, (size_t)api_body_size(body) + 1);
        for (size_t i = 0; i < count; i++) {
            memcpy(all + size, segments[i].data, segments[i].size);
            size += segments[i].size;
        }
    } else {
        for (size_t got = 1; got > 0; size += got) {
            if (capacity - size < room)
                all = realloc(all, capacity = 2 * capacity + room);
            got = api_body_read(body, size, all + size, room);
            unit_assert(got <= room);
        }
    }
    *ret_size = size;
    return all;
}

/* Compare the body in one piece with streams that are read in pieces of several sizes. */
static void compare_with(const api_format *format, pe_request *request, size_t first,
                         size_t count, const api_options *options)
{
    static const size_t ROOMS[] = {1, 7, 4096, 65537, 1 << 20};
    api_selection selection = {
        .request = request, .first = first, .count = count, .options = options};
    pe_table *table;
    pe_error error;
    size_t extra, size, streamed_size;
    ck_assert_int_eq(pe_table_compute(request, NULL, &table, &error), PE_OK);
    api_body *body = format->write(&selection, table, &extra);
    char *expected = read_all(body, 0, &size);
    for (size_t i = 0; i < UNIT_COUNT(ROOMS); i++) {
        api_body *stream = format->stream(&selection, &error);
        ck_assert(api_body_is_stream(stream) == (format->measure != API_PIXELS));
        uint64_t announced = api_body_size(stream);
        ck_assert(announced == size || (format->text && announced == API_LENGTH_UNKNOWN));
        char *read = read_all(stream, ROOMS[i], &streamed_size);
        size_t key_length;
        ck_assert_msg(size == streamed_size && memcmp(expected, read, size) == 0,
                      "%s of %s, %zu bytes at a time", format->name,
                      pe_request_key(request, &key_length), ROOMS[i]);
        free(read);
        api_body_unref(stream);
    }
    free(expected);
    api_body_unref(body);
    pe_table_unref(table);
}

static void compare(const api_format *format, pe_request *request, size_t first, size_t count)
{
    compare_with(format, request, first, count, NULL);
}

START_TEST(a_slice_is_the_same_streamed_or_held)
{
    static const char *const SLICES[] = {"slice=0", "slice=1", "slice=11&scale=3"};
    pe_request *request = unit_legal_request("alibi", "length=70&heads=12&dtype=f64");
    for (size_t i = 0; i < UNIT_COUNT(SLICES); i++) {
        api_arguments arguments;
        api_options options;
        pe_error error;
        pe_error_init(&error);
        api_arguments_from_query(SLICES[i], &arguments, &error);
        api_options_read(&options, &arguments, &error);
        ck_assert_uint_eq(error.count, 0);
        compare_with(api_format_find("csv"), request, 0, 1, &options);
        compare_with(api_format_find("png"), request, 0, 1, &options);
        api_options_done(&options);
        api_arguments_done(&arguments);
    }
    pe_request_unref(request);
}
END_TEST

START_TEST(a_stream_has_the_bytes_of_the_body_in_one_piece)
{
    static const char *const QUERIES[][2] = {
        {"integer", "length=1"},
        {"integer", "length=5000&dtype=bf16&offset=-2500"},
        {"normalized", "length=4097&dtype=f64"},
        {"binary", "length=700&width=10"},
        {"periodic", "length=9&dim=1000&dtype=f16"},
        {"sinusoidal", "length=300&dim=66"},
        {"sinusoidal", "positions=5,-3,1e6,0.3,77&dim=34&dtype=bf16"},
        {"sinusoidal", "length=3&dim=9000&dtype=f64"}, /* rows that are longer than a piece */
        {"sinusoidal", "length=2&dim=4096"},
        {"sinusoidal_2d", "height=20&width=30&dim=12"},
        {"sinusoidal_2d", "height=20&width=1&dim=8&shape=hwc"},
        {"sinusoidal_2d", "height=3&width=5000&dim=4&dtype=f16"},
    };
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++)
        for (size_t f = 0; f < api_format_count(); f++) {
            const api_format *format = api_format_get(f);
            pe_request *request = unit_legal_request(QUERIES[i][0], QUERIES[i][1]);
            pe_dtype dtype = pe_request_tensor(request, 0)->dtype;
            pe_error error;
            pe_error_init(&error);
            if (format->check)
                format->check(&(api_selection){.request = request, .count = 1}, &error);
            if (error.count == 0 && (!format->refuses || !format->refuses(dtype)))
                compare(format, request, 0, 1);
            pe_request_unref(request);
        }
}
END_TEST

START_TEST(several_tensors_follow_one_another)
{
    static const char *const LENGTHS[] = {"1", "2", "1365", "1366", "5000"};
    for (size_t i = 0; i < UNIT_COUNT(LENGTHS); i++) {
        pe_argument argument = {"length", LENGTHS[i], .kind = PE_KIND_ANY};
        pe_request *request;
        pe_error error;
        ck_assert_int_eq(pe_request_new(&SEVERAL, &argument, 1, &UNIT_LIMITS, &request, &error),
                         PE_OK);
        compare(api_format_find("json"), request, 0, 4);
        compare(api_format_find("safetensors"), request, 0, 4);
        for (size_t t = 0; t < 4; t++) {
            compare(api_format_find("json"), request, t, 1);
            compare(api_format_find("raw"), request, t, 1);
            compare(api_format_find("csv"), request, t, 1);
        }
        pe_request_unref(request);
    }
}
END_TEST

START_TEST(a_part_computes_the_rows_that_it_needs_and_no_others)
{
    pe_argument argument = {"length", "1000", .kind = PE_KIND_ANY};
    pe_request *request;
    pe_error error;
    char read[30000];
    ck_assert_int_eq(pe_request_new(&SEVERAL, &argument, 1, &UNIT_LIMITS, &request, &error),
                     PE_OK);
    const api_format *format = api_format_find("safetensors");
    api_selection selection = {.request = request, .count = 4};
    /* in the file: header, block (48 bytes a row), matrix (12), line (4), cube (2000) */
    uint64_t data = format->length(&selection) - 1000 * (48 + 12 + 4) - 20 * 2000;
    const struct {
        uint64_t from, size, rows[4]; /* in the order of the plan */
    } cases[] = {
        {0, 8, {0, 0, 0, 0}},
        {0, data, {0, 0, 0, 0}},
        {data, 1, {0, 0, 1, 0}},
        {data - 1, 50, {0, 0, 2, 0}},
        {data + 48 * 500 + 47, 2, {0, 0, 2, 0}},
        {data + 48 * 999, 48 + 12 * 1000 + 5, {1000, 2, 1, 0}},
        {data + 48 * 1000, 12, {1, 0, 0, 0}},
        {data + 64 * 1000 + 2000 * 19 + 1990, 10, {0, 0, 0, 1}},
        {data + 60 * 1000 + 4 * 998, 8 + 2001, {0, 2, 0, 2}},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        selection.from = cases[i].from;
        selection.until = cases[i].from + cases[i].size;
        api_body *body = format->stream(&selection, &error);
        memset(filled, 0, sizeof filled);
        ck_assert_uint_eq(api_body_read(body, cases[i].from, read, (size_t)cases[i].size),
                          cases[i].size);
        for (size_t t = 0; t < 4; t++)
            ck_assert_msg(filled[t] == cases[i].rows[t], "case %zu, tensor %zu: %llu rows", i,
                          t, (unsigned long long)filled[t]);
        api_body_unref(body);
    }
    pe_request_unref(request);
}
END_TEST

START_TEST(a_document_of_several_tensors_reads_as_written)
{
    pe_argument argument = {"length", "1", .kind = PE_KIND_ANY};
    pe_request *request;
    pe_error error;
    size_t size;
    ck_assert_int_eq(pe_request_new(&SEVERAL, &argument, 1, &UNIT_LIMITS, &request, &error),
                     PE_OK);
    api_body *body = api_format_find("json")->stream(
        &(api_selection){.request = request, .count = 3}, &error);
    char *text = read_all(body, 100, &size);
    static const char expected[] =
        "{\"scheme\":\"several\",\"preset\":null,\"revision\":1,\n "
        "\"parameters\":{\"length\":1,\"dtype\":\"f32\"},\n"
        " \"tensors\":[\n"
        "  {\"name\":\"matrix\",\"dtype\":\"f32\",\"shape\":[1,3],\"data\":[\n"
        "   [0.0,1.0,2.0]]},\n"
        "  {\"name\":\"line\",\"dtype\":\"i32\",\"shape\":[1],\"data\":[\n"
        "   1000]},\n"
        "  {\"name\":\"block\",\"dtype\":\"f64\",\"shape\":[1,2,1,3],\"data\":[\n"
        "   [[[2000.0,2001.0,2002.0]],\n"
        "   [[2003.0,2004.0,2005.0]]]]}]}\n";
    ck_assert_uint_eq(size, sizeof expected - 1);
    ck_assert_int_eq(memcmp(text, expected, size), 0);
    free(text);
    api_body_unref(body);
    pe_request_unref(request);
}
END_TEST

/* ---- a scheme whose preparation fails ---- */

static pe_status failure;

static bool fail_to_prepare(void *state, pe_pace *pace)
{
    (void)state;
    pe_error_add(pace->reterr, failure, "length", "9", "what it cannot be");
    return false;
}

static void read_matrix(const pe_values *values, void *ret_state, pe_plan *plan,
                        pe_error *reterr)
{
    (void)ret_state, (void)reterr;
    uint64_t n = (uint64_t)pe_get_integer(values, "length");
    pe_plan_add(plan, "matrix", PE_F32, 2, (uint64_t[]){n, 3});
}

START_TEST(a_failing_preparation_is_told_in_every_format)
{
    static const pe_status FAILURES[] = {PE_OUT_OF_RANGE, PE_CANCELLED, PE_NO_MEMORY};
    pe_scheme failing = SEVERAL;
    pe_argument argument = {"length", "9", .kind = PE_KIND_ANY};
    pe_request *request;
    pe_error error;
    failing.read = read_matrix;
    failing.prepare = fail_to_prepare;
    ck_assert_int_eq(pe_request_new(&failing, &argument, 1, &UNIT_LIMITS, &request, &error),
                     PE_OK);
    const api_selection selection = {.request = request, .count = 1};
    for (size_t f = 0; f < api_format_count(); f++)
        for (size_t i = 0; i < UNIT_COUNT(FAILURES); i++) {
            failure = FAILURES[i];
            pe_error_init(&error);
            ck_assert_ptr_null(api_format_get(f)->stream(&selection, &error));
            ck_assert_int_eq(error.status, failure);
            ck_assert_uint_eq(error.count, 1);
            ck_assert_str_eq(error.problems[0].parameter, "length");
        }
    pe_request_unref(request);
}
END_TEST

START_TEST(opening_a_stream_is_not_quick)
{
    unit_service service;
    unit_service_start(&service);
    service.host.limits.table_bytes = 1;
    const api_request request = {
        .method = "GET", .target = "/v1/encodings/integer?length=9", .quick = true};
    api_reply *reply = NULL;
    ck_assert_int_eq(api_handle(service.service, &request, &reply), API_LATER);
    ck_assert_ptr_null(reply);
    unit_service_stop(&service);
}
END_TEST

Suite *streams_suite(void)
{
    const TTest *const tests[] = {
        a_stream_has_the_bytes_of_the_body_in_one_piece,
        a_slice_is_the_same_streamed_or_held,
        several_tensors_follow_one_another,
        a_part_computes_the_rows_that_it_needs_and_no_others,
        a_document_of_several_tensors_reads_as_written,
        a_failing_preparation_is_told_in_every_format,
        opening_a_stream_is_not_quick,
        NULL,
    };
    return unit_suite("streams", tests);
}
