/* Accept-Encoding, and compressed bodies, which zlib decompresses again. */
#include "http/coding.h"
#include "bytes/body.h"

#include "bytes/gzip.h"
#include "formats/registry.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

START_TEST(gzip_is_for_whom_admits_it_and_does_not_prefer_identity)
{
    static const struct {
        const char *accept;
        bool gzip, identity;
    } cases[] = {
        {NULL, false, true},
        {"", false, true},
        {"gzip", true, true},
        {"GZip", true, true},
        {"deflate, gzip, br, zstd", true, true},
        {"gzip;q=0.001", true, true},
        {"gzip;q=0", false, true},
        {"br", false, true},
        {"identity", false, true},
        {"gzip, identity", true, true},
        {"gzip;q=0.5, identity", false, true},
        {"gzip;q=0.5, identity;q=0.4", true, true},
        {"gzip;q=0.5, *;q=0.8", false, true}, /* the star stands for identity */
        {"*", true, true},
        {"*;q=0", false, false},
        {"*;q=0, gzip", true, false},
        {"gzip, *;q=0", true, false},
        {"gzip;q=0, *", false, true},
        {"gzip, identity;q=0", true, false},
        {"identity;q=0", false, false},
        {"identity;q=0, br", false, false},
        {"identity;q=0.0, *", true, false},
        {"*;q=0, identity;q=0.1", false, true},
        {"gzipped, agzip, gzi", false, true},
        {" gzip ; q=1.0 , identity ; q=0.5", true, true},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        api_codings codings = api_accept_codings(cases[i].accept);
        ck_assert_msg(codings.gzip == cases[i].gzip && codings.identity == cases[i].identity,
                      "%s: gzip %d, identity %d", cases[i].accept, codings.gzip,
                      codings.identity);
    }
}
END_TEST

START_TEST(binary_forms_have_no_coding)
{
    api_coding coding;
    ck_assert(api_choose_coding(api_accept_codings("gzip"), true, &coding));
    ck_assert_int_eq(coding, API_GZIP);
    ck_assert(api_choose_coding(api_accept_codings("gzip"), false, &coding));
    ck_assert_int_eq(coding, API_IDENTITY);
    ck_assert(!api_choose_coding(api_accept_codings("gzip, *;q=0"), false, &coding));
    ck_assert(!api_choose_coding(api_accept_codings("*;q=0"), true, &coding));
    ck_assert_str_ne(api_coding_tag(API_GZIP), api_coding_tag(API_IDENTITY));
}
END_TEST

/* ---- gzip ---- */

/* A text of kind d (digits), n (noise, which compressing makes longer) or x (one long run). */
static char *text_of(char kind, size_t size)
{
    char *text = malloc(size + 1);
    uint64_t random = size;
    for (size_t i = 0; i < size; i++)
        text[i] = kind == 'd'   ? "0123456789.,-"[unit_random(&random) % 13]
                  : kind == 'n' ? (char)unit_random(&random)
                                : 'x';
    return text;
}

/* Decompress with zlib and compare. zlib checks the header and trailer; nothing may follow. */
static void check_gzip(const char *data, size_t size, const char *expected,
                       size_t expected_size)
{
    z_stream stream = {.next_in = (z_const Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    char *out = malloc(expected_size + 1);
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)expected_size + 1;
    ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(stream.avail_in, 0);
    ck_assert_uint_eq(stream.total_out, expected_size);
    ck_assert_int_eq(memcmp(out, expected, expected_size), 0);
    inflateEnd(&stream);
    free(out);
}

static size_t read_text(void *state, uint64_t offset, char *dst, size_t room)
{
    const api_segment *text = state;
    size_t rest = text->size - (size_t)offset, part = rest < room ? rest : room;
    if (part > 5000) /* as a stream of JSON, which gives less than there is room for */
        part = 5000;
    memcpy(dst, (const char *)text->data + offset, part);
    return part;
}

static void keep_text(void *state)
{
    (void)state;
}

/* Read a whole gzip stream in pieces of up to `room` bytes. To be freed. */
static char *read_stream(api_segment *text, size_t room, size_t *ret_size)
{
    size_t capacity = text->size + text->size / 10 + room + 1000;
    char *all = malloc(capacity);
    api_body *stream = api_gzip_stream(api_body_from_source(&(api_source){
        .state = text, .size = API_LENGTH_UNKNOWN, .read = read_text, .free = keep_text}));
    ck_assert(api_body_is_stream(stream));
    ck_assert(api_body_size(stream) == API_LENGTH_UNKNOWN);
    *ret_size = 0;
    for (size_t got = 1; got > 0; *ret_size += got) {
        unit_assert(capacity - *ret_size >= room);
        got = api_body_read(stream, *ret_size, all + *ret_size, room);
        unit_assert(got <= room);
    }
    ck_assert_uint_eq(api_body_read(stream, *ret_size, all, room), 0);
    api_body_unref(stream);
    return all;
}

START_TEST(gzip_in_one_piece_and_as_a_stream_are_the_same_bytes)
{
    static const size_t SIZES[] = {0, 1, 100, 4999, 65536, 300000, 3000000};
    static const size_t ROOMS[] = {7, 1000, 524288};
    for (size_t s = 0; s < UNIT_COUNT(SIZES); s++)
        for (const char *kind = "dnx"; *kind; kind++) {
            char *text = text_of(*kind, SIZES[s]);
            api_segment all = {text, SIZES[s]};
            const api_segment *coded;
            size_t half = SIZES[s] / 2, bytes;
            api_body *plain = api_body_from_table(
                NULL, NULL, (api_segment[]){{text, half}, {text + half, SIZES[s] - half}}, 2);
            api_body *body = api_gzip_body(plain, &bytes);
            ck_assert_uint_eq(api_body_segments(body, &coded), 1);
            ck_assert_uint_ge(bytes, coded->size);
            check_gzip(coded->data, coded->size, text, SIZES[s]);
            for (size_t r = 0; r < UNIT_COUNT(ROOMS); r++) {
                size_t size;
                char *streamed = read_stream(&all, ROOMS[r], &size);
                ck_assert_uint_eq(size, coded->size);
                ck_assert_int_eq(memcmp(streamed, coded->data, size), 0);
                free(streamed);
            }
            api_body_unref(plain);
            api_body_unref(body);
            free(text);
        }
}
END_TEST

START_TEST(printed_numbers_shrink_to_less_than_the_room_they_begin_with)
{
    pe_request *request = unit_legal_request("sinusoidal", "length=1000&dim=64");
    pe_table *table = unit_table("sinusoidal", "length=1000&dim=64");
    api_selection selection = {.request = request, .count = 1};
    size_t bytes;
    api_body *plain = api_format_find("json")->write(&selection, table, &bytes);
    api_body *body = api_gzip_body(plain, &bytes);
    ck_assert_uint_lt(api_body_size(body), api_body_size(plain) / 2);
    api_body_unref(body);
    api_body_unref(plain);
    pe_table_unref(table);
    pe_request_unref(request);
}
END_TEST

Suite *coding_suite(void)
{
    const TTest *const tests[] = {
        gzip_is_for_whom_admits_it_and_does_not_prefer_identity,
        binary_forms_have_no_coding,
        gzip_in_one_piece_and_as_a_stream_are_the_same_bytes,
        printed_numbers_shrink_to_less_than_the_room_they_begin_with,
        NULL,
    };
    return unit_suite("coding", tests);
}
