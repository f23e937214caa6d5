/* Bodies one after the other: held and streamed, of known and of unknown length. */
#include "bytes/joined.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static int freed;

static api_body *held(const char *text)
{
    return api_body_from_text(strdup(text), strlen(text));
}

/* A stream that gives at most three bytes at a time, as one does that takes long. */
static size_t read_slowly(void *state, uint64_t offset, char *dst, size_t room)
{
    size_t rest = strlen(state) - (size_t)offset, part = rest < 3 ? rest : 3;
    part = part < room ? part : room;
    memcpy(dst, (char *)state + offset, part);
    return part;
}

static void free_text(void *state)
{
    freed++;
    free(state);
}

static api_body *streamed(const char *text, bool known)
{
    return api_body_from_source(&(api_source){.state = strdup(text),
                                              .size = known ? strlen(text) : API_LENGTH_UNKNOWN,
                                              .read = read_slowly,
                                              .free = free_text});
}

/* Read all of a body by reads of at most `room` bytes. */
static void read_whole(api_body *body, size_t room, char *dst)
{
    uint64_t offset = 0;
    for (size_t got; (got = api_body_read(body, offset, dst + offset, room)) > 0;)
        offset += got;
    dst[offset] = '\0';
}

START_TEST(the_bytes_follow_one_another_however_they_are_read)
{
    for (size_t room = 1; room < 30; room++) {
        api_body *bodies[] = {held("head:"),  streamed("0123456789", true),
                              held(""),       streamed("", true),
                              held("middle"), streamed("abcd", true)};
        api_body *whole = api_body_join(bodies, 6);
        char seen[64];
        ck_assert_uint_eq(api_body_size(whole), 25);
        read_whole(whole, room, seen);
        ck_assert_str_eq(seen, "head:0123456789middleabcd");
        api_body_unref(whole);
    }
}
END_TEST

START_TEST(the_length_is_unknown_where_that_of_one_is)
{
    api_body *bodies[] = {held("a"), streamed("bcdef", false), held("g")};
    api_body *whole = api_body_join(bodies, 3);
    char seen[16];
    ck_assert(api_body_size(whole) == API_LENGTH_UNKNOWN);
    read_whole(whole, 16, seen);
    ck_assert_str_eq(seen, "abcdefg");
    api_body_unref(whole);
}
END_TEST

START_TEST(a_body_is_freed_when_the_next_one_begins)
{
    api_body *bodies[] = {streamed("ab", true), streamed("cd", true)};
    api_body *whole = api_body_join(bodies, 2);
    char seen[8];
    freed = 0;
    ck_assert_uint_eq(api_body_read(whole, 0, seen, 8), 2);
    ck_assert_int_eq(freed, 0);
    ck_assert_uint_eq(api_body_read(whole, 2, seen, 8), 2);
    ck_assert_int_eq(freed, 1);
    api_body_unref(whole);
    ck_assert_int_eq(freed, 2);
}
END_TEST

START_TEST(what_is_skipped_is_freed_unread)
{
    for (uint64_t first = 0; first <= 25; first++) {
        api_source sources[] = {
            {.state = strdup("0123456789"), .size = 10, .read = read_slowly, .free = free_text},
            {.state = "middle", .size = 6, .read = read_slowly},
            {.state = strdup("abcd"), .size = 4, .read = read_slowly, .free = free_text}};
        api_body *whole = api_body_from_sources(strdup("head:"), 5, sources, 3);
        static const char all[] = "head:0123456789middleabcd";
        char seen[64];
        uint64_t offset = first;
        freed = 0;
        for (size_t got; (got = api_body_read(whole, offset, seen + offset, 4)) > 0;)
            offset += got;
        seen[offset] = '\0';
        ck_assert_str_eq(seen + first, all + first);
        ck_assert_int_eq(freed, 2);
        api_body_unref(whole);
        ck_assert_int_eq(freed, 2);
    }
}
END_TEST

START_TEST(a_missing_body_frees_the_others)
{
    freed = 0;
    api_body *bodies[] = {streamed("ab", true), NULL, streamed("cd", true)};
    ck_assert_ptr_null(api_body_join(bodies, 3));
    ck_assert_int_eq(freed, 2);
}
END_TEST

Suite *joined_suite(void)
{
    const TTest *const tests[] = {
        the_bytes_follow_one_another_however_they_are_read,
        the_length_is_unknown_where_that_of_one_is,
        a_body_is_freed_when_the_next_one_begins,
        what_is_skipped_is_freed_unread,
        a_missing_body_frees_the_others,
        NULL,
    };
    return unit_suite("joined", tests);
}
