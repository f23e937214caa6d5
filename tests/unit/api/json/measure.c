/* The measure of a JSON text, against what jansson allocates for it. */
#include "json/measure.h"

#include "unit.h"

#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define OVERHEAD 16 /* of malloc, for a block; twice what glibc takes */

static uint64_t allocated, most;

static void *count_malloc(size_t size)
{
    void *block = malloc(size);
    allocated += malloc_usable_size(block) + OVERHEAD;
    most = allocated > most ? allocated : most;
    return block;
}

static void count_free(void *block)
{
    if (block)
        allocated -= malloc_usable_size(block) + OVERHEAD;
    free(block);
}

/* The most bytes that are allocated at a time while jansson reads a text. */
static uint64_t peak_of(const char *text, size_t size)
{
    allocated = most = 0;
    json_set_alloc_funcs(count_malloc, count_free);
    json_decref(json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL));
    json_set_alloc_funcs(malloc, free);
    ck_assert_uint_eq(allocated, 0);
    return most;
}

/* Write `count` copies of a value between two texts; {} in it becomes another number each time.
 */
static char *repeat(const char *before, const char *value, size_t count, const char *after)
{
    size_t room = strlen(before) + strlen(after) + count * (strlen(value) + 24) + 1;
    char *text = malloc(room), *to = text;
    to += sprintf(to, "%s", before);
    for (size_t i = 0; i < count; i++) {
        const char *number = strchr(value, '#');
        to += number ? sprintf(to, "%s%.*s%zu%s", i ? "," : "", (int)(number - value), value, i,
                               number + 1)
                     : sprintf(to, "%s%s", i ? "," : "", value);
    }
    sprintf(to, "%s", after);
    return text;
}

START_TEST(bounds_what_jansson_allocates)
{
    static const struct {
        const char *before, *value, *after;
    } cases[] = {
        {"[", "{}", "]"},
        {"[", "[]", "]"},
        {"[", "\"\"", "]"},
        {"[", "\"word\"", "]"},
        {"[", "1", "]"},
        {"[", "0.25e-3", "]"},
        {"[", "null", "]"},
        {"[", "[1]", "]"},
        {"[", "{\"a\":1}", "]"},
        {"[", "[[[[]]]]", "]"},
        {"{", "\"#\":1", "}"},
        {"{", "\"#\":{}", "}"},
        {"{", "\"#\":\"#\"", "}"},
        {"{", "\"t#\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}", "}"},
        {"{\"a\":\"", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
         "\"}"},
        {"{\"a\":[", "17", "],\"b\":{\"c\":[\"\\\"{[\",true]}}"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t count = 1; count < 70000; count = 2 * count + 1) {
            char *text = repeat(cases[c].before, cases[c].value, count, cases[c].after);
            const api_json_measure found = api_json_count(text, strlen(text));
            uint64_t peak = peak_of(text, strlen(text));
            ck_assert_msg(peak <= found.bytes, "%s x %zu: %llu > %llu", cases[c].value, count,
                          (unsigned long long)peak, (unsigned long long)found.bytes);
            free(text);
        }
}
END_TEST

START_TEST(counts_values)
{
    const char *text = "{\"a\\\"[\": [1, -2.5e+3, true], \"b\": {}, \"c\": \"{{\"}";
    const api_json_measure found = api_json_count(text, strlen(text));
    ck_assert_uint_eq(found.containers, 3);
    ck_assert_uint_eq(found.strings, 4);
    ck_assert_uint_eq(found.others, 3);
}
END_TEST

START_TEST(ends_within_a_text_that_is_cut)
{
    static const char text[] = "{\"a\": [\"b\\\"c\", {\"d\\\\\": 1}]}";
    for (size_t size = 0; size < sizeof text; size++) {
        char *cut = malloc(size + 1);
        memcpy(cut, text, size);
        ck_assert_uint_le(api_json_count(cut, size).strings, 4);
        free(cut);
    }
}
END_TEST

Suite *measure_suite(void)
{
    const TTest *const tests[] = {bounds_what_jansson_allocates, counts_values,
                                  ends_within_a_text_that_is_cut, NULL};
    return unit_suite("measure", tests);
}
