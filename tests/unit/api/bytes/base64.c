/* Bytes in base64, with the examples of RFC 4648, section 10. */
#include "bytes/base64.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

START_TEST(texts_are_the_bytes_that_the_rfc_gives)
{
    static const char *const EXAMPLES[][2] = {
        {"", ""},
        {"Zg==", "f"},
        {"Zm8=", "fo"},
        {"Zm9v", "foo"},
        {"Zm9vYg==", "foob"},
        {"Zm9vYmE=", "fooba"},
        {"Zm9vYmFy", "foobar"},
        {"Zm9v\nYmFy", "foobar"},
    };
    for (size_t i = 0; i < sizeof EXAMPLES / sizeof *EXAMPLES; i++) {
        size_t size;
        bool wrong;
        char *bytes = api_base64_decode(EXAMPLES[i][0], strlen(EXAMPLES[i][0]), &size, &wrong);
        ck_assert(bytes && !wrong);
        ck_assert_uint_eq(size, strlen(EXAMPLES[i][1]));
        ck_assert_mem_eq(bytes, EXAMPLES[i][1], size);
        free(bytes);
    }
}
END_TEST

START_TEST(what_is_no_base64_is_told)
{
    static const char *const WRONG[] = {"?", "Zg", "Zg=", "Zg==Zg==", "Z===", "Zm9v-_"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        size_t size;
        bool wrong;
        ck_assert_ptr_null(api_base64_decode(WRONG[i], strlen(WRONG[i]), &size, &wrong));
        ck_assert_msg(wrong, "%s", WRONG[i]);
    }
}
END_TEST

START_TEST(without_memory_nothing_is_wrong)
{
    size_t size;
    bool wrong;
    unit_fail_allocations(0, 1);
    char *bytes = api_base64_decode("Zg==", 4, &size, &wrong);
    unit_allow_allocations();
    ck_assert(!bytes && !wrong);
}
END_TEST

Suite *base64_suite(void)
{
    const TTest *const tests[] = {
        texts_are_the_bytes_that_the_rfc_gives,
        what_is_no_base64_is_told,
        without_memory_nothing_is_wrong,
        NULL,
    };
    return unit_suite("base64", tests);
}
