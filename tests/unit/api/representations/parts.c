/* Parts of bodies, replies to range requests, and compressed replies. */
#include "bytes/body.h"
#include "formats/registry.h"
#include "unit.h"
#include "unit_service.h"

#include <stdlib.h>
#include <string.h>

#define TARGET "/v1/encodings/sinusoidal?length=40&dim=8"

/* ---- bodies ---- */

/* Copy the bytes of a body; a stream is read in pieces of up to `room` bytes. Returns how many.
 */
static size_t read_body(api_body *body, size_t room, char *dst)
{
    size_t size = 0;
    const api_segment *segments;
    if (!api_body_is_stream(body)) {
        size_t count = api_body_segments(body, &segments);
        for (size_t i = 0; i < count; i++) {
            unit_assert(segments[i].size > 0);
            memcpy(dst + size, segments[i].data, segments[i].size);
            size += segments[i].size;
        }
        return size;
    }
    for (size_t got = 1; got > 0; size += got)
        got = api_body_read(body, size, dst + size, room);
    return size;
}

START_TEST(a_part_of_segments_points_into_them)
{
    static const char text[] = "abcdefghij";
    const api_segment segments[] = {{text, 3}, {text + 3, 1}, {text + 4, 6}};
    api_body *whole = api_body_from_table(NULL, NULL, segments, 3);
    for (size_t first = 0; first < 10; first++)
        for (size_t size = 1; first + size <= 10; size++) {
            char read[10];
            const api_segment *pieces;
            api_body *part = api_body_part(whole, first, size);
            unit_assert(api_body_size(part) == size && !api_body_is_stream(part));
            unit_assert(api_body_segments(part, &pieces) >= 1);
            unit_assert(pieces[0].data == (const void *)(text + first));
            unit_assert(read_body(part, 0, read) == size);
            unit_assert(memcmp(read, text + first, size) == 0);
            api_body_unref(part);
        }
    api_body *part = api_body_part(whole, 2, 5);
    char read[5];
    api_body_unref(whole); /* the part keeps the whole alive */
    ck_assert_uint_eq(read_body(part, 0, read), 5);
    ck_assert_int_eq(memcmp(read, "cdefg", 5), 0);
    api_body_unref(part);
}
END_TEST

/* A part of a stream that was opened for that part, so that it computes no rows after it. */
static api_body *part_of_stream(const api_format *format, pe_request *request, uint64_t first,
                                uint64_t size)
{
    api_selection selection = {
        .request = request, .count = 1, .from = first, .until = first + size};
    pe_error error;
    api_body *whole = format->stream(&selection, &error);
    api_body *part = api_body_part(whole, first, size);
    api_body_unref(whole);
    return part;
}

START_TEST(a_part_of_a_stream_has_the_bytes_of_the_whole)
{
    static const char *const names[] = {"raw", "npy", "safetensors"};
    pe_request *request = unit_legal_request("sinusoidal", "length=300&dim=10");
    pe_table *table = unit_table("sinusoidal", "length=300&dim=10");
    uint64_t random = 7;
    for (size_t f = 0; f < UNIT_COUNT(names); f++) {
        const api_format *format = api_format_find(names[f]);
        api_selection selection = {.request = request, .count = 1};
        size_t bytes, whole = (size_t)format->length(&selection);
        char *expected = malloc(whole), *read = malloc(whole + 1);
        api_body *body = format->write(&selection, table, &bytes);
        ck_assert_uint_eq(read_body(body, 0, expected), whole);
        for (size_t i = 0; i < 300; i++) {
            size_t first = (size_t)(unit_random(&random) % whole);
            size_t size = 1 + (size_t)(unit_random(&random) % (whole - first));
            if (i % 3 == 0 && size > 50)
                size = 50;
            api_body *part = part_of_stream(format, request, first, size);
            unit_assert(api_body_is_stream(part) && api_body_size(part) == size);
            unit_assert(read_body(part, i % 2 ? 1 << 20 : 333, read) == size);
            unit_assert(memcmp(read, expected + first, size) == 0);
            api_body_unref(part);
        }
        api_body_unref(body);
        free(expected);
        free(read);
    }
    pe_table_unref(table);
    pe_request_unref(request);
}
END_TEST

/* ---- replies ---- */

static api_reply *ask(unit_service *service, const char *target, const char *name,
                      const char *value)
{
    const char *headers[] = {name, value, NULL};
    return unit_ask(service, "GET", target, headers, NULL);
}

START_TEST(a_part_of_a_held_body_is_the_memory_of_the_table)
{
    static const char *const targets[] = {TARGET "&format=raw", TARGET "&format=npy"};
    unit_service service;
    unit_service_start(&service);
    for (size_t i = 0; i < UNIT_COUNT(targets); i++) {
        const api_segment *whole, *piece;
        api_reply *all = unit_ask(&service, "GET", targets[i], NULL, NULL);
        api_reply *part = ask(&service, targets[i], "Range", "bytes=30-");
        ck_assert_uint_eq(api_reply_status(part), 206);
        ck_assert_uint_eq(api_body_segments(api_reply_body(all), &whole), 1);
        ck_assert_uint_eq(api_body_segments(api_reply_body(part), &piece), 1);
        ck_assert_ptr_eq(piece->data, (const char *)whole->data + 30);
        ck_assert_uint_eq(piece->size, whole->size - 30);
        ck_assert_str_eq(unit_field(part, "ETag"), unit_field(all, "ETag"));
        ck_assert_ptr_null(unit_field(all, "Content-Range"));
        api_reply_unref(all);
        api_reply_unref(part);
    }
    unit_service_stop(&service);
}
END_TEST

START_TEST(a_range_beyond_the_end_computes_nothing)
{
    unit_service service;
    pe_cache_stats stats;
    unit_service_start(&service);
    api_reply *reply = ask(&service, TARGET "&format=raw", "Range", "bytes=1280-");
    ck_assert_uint_eq(api_reply_status(reply), 416);
    ck_assert_str_eq(unit_field(reply, "Content-Range"), "bytes */1280");
    pe_cache_read_stats(service.cache, &stats);
    ck_assert_uint_eq(stats.computed + stats.misses, 0);
    api_reply_unref(reply);
    unit_service_stop(&service);
}
END_TEST

START_TEST(gzip_is_made_once_and_shared)
{
    unit_service service;
    pe_cache_stats before, after;
    unit_service_start(&service);
    api_reply *miss = ask(&service, TARGET, "Accept-Encoding", "gzip");
    ck_assert_str_eq(unit_field(miss, "Content-Encoding"), "gzip");
    pe_cache_read_stats(service.cache, &before);
    api_reply *first = ask(&service, TARGET, "Accept-Encoding", "gzip");
    api_reply *second = ask(&service, TARGET "&offset=0", "Accept-Encoding", "br, gzip;q=0.3");
    ck_assert_ptr_eq(first, second);
    ck_assert_ptr_eq(api_reply_body(first), api_reply_body(miss));
    api_reply *plain = unit_ask(&service, "GET", TARGET, NULL, NULL);
    ck_assert_ptr_null(unit_field(plain, "Content-Encoding"));
    ck_assert_str_ne(unit_field(plain, "ETag"), unit_field(first, "ETag"));
    pe_cache_read_stats(service.cache, &after);
    ck_assert_uint_eq(after.computed, 1);
    ck_assert_uint_gt(after.bytes, before.bytes); /* the plain text is one more attachment */
    api_reply_unref(miss);
    api_reply_unref(first);
    api_reply_unref(second);
    api_reply_unref(plain);
    unit_service_stop(&service);
}
END_TEST

START_TEST(the_budget_counts_what_gzip_takes)
{
    unit_service service;
    pe_cache_stats table, coded;
    unit_service_start(&service);
    api_reply_unref(unit_ask(&service, "GET", TARGET "&format=raw", NULL, NULL));
    pe_cache_read_stats(service.cache, &table);
    api_reply *reply = ask(&service, TARGET, "Accept-Encoding", "gzip");
    pe_cache_read_stats(service.cache, &coded);
    uint64_t size = api_body_size(api_reply_body(reply));
    ck_assert_uint_ge(coded.bytes - table.bytes, size);
    ck_assert_uint_lt(coded.bytes - table.bytes, size + 8192); /* the plain text is not kept */
    api_reply_unref(reply);
    unit_service_stop(&service);
}
END_TEST

Suite *parts_suite(void)
{
    const TTest *const tests[] = {
        a_part_of_segments_points_into_them,
        a_part_of_a_stream_has_the_bytes_of_the_whole,
        a_part_of_a_held_body_is_the_memory_of_the_table,
        a_range_beyond_the_end_computes_nothing,
        gzip_is_made_once_and_shared,
        the_budget_counts_what_gzip_takes,
        NULL,
    };
    return unit_suite("parts", tests);
}
