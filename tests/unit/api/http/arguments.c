/* Query strings and JSON bodies. */
#include "http/arguments.h"

#include "unit.h"

#include <string.h>

static void check_query(const char *query, size_t count, size_t problems)
{
    api_arguments arguments;
    pe_error error;
    pe_error_init(&error);
    api_arguments_from_query(query, &arguments, &error);
    ck_assert_msg(arguments.count == count && error.count == problems,
                  "%s: %zu arguments, %zu problems", query, arguments.count, error.count);
    api_arguments_done(&arguments);
}

START_TEST(counts_what_is_legal_and_what_is_not)
{
    check_query(NULL, 0, 0);
    check_query("", 0, 0);
    check_query("a=1", 1, 0);
    check_query("a=1&b=2", 2, 0);
    check_query("a=1&b=1&a=2", 3, 0); /* repetition is judged where names are known */
    check_query("a", 1, 1);
    check_query("a=", 1, 1);
    check_query("=1", 0, 1);
    check_query("&", 0, 2);
    check_query("a=1&", 1, 1);
    check_query("a=%", 1, 1);
    check_query("a=%4", 1, 1);
    check_query("a=%zz", 1, 1);
    check_query("a=%00", 1, 1);
    check_query("a=%ff", 1, 1);
    check_query("a=%c0%80", 1, 1);       /* overlong */
    check_query("a=%ed%a0%80", 1, 1);    /* surrogate */
    check_query("a=%f4%90%80%80", 1, 1); /* past U+10FFFF */
    check_query("a=%f4%8f%bf%bf", 1, 0);
    check_query("%c3%a4=%e2%82%ac", 1, 0);
}
END_TEST

START_TEST(decodes_names_and_values)
{
    api_arguments arguments;
    pe_error error;
    pe_error_init(&error);
    api_arguments_from_query("b%61se=1%2B2+3&x=a=b", &arguments, &error);
    ck_assert_uint_eq(arguments.count, 2);
    ck_assert_str_eq(arguments.items[0].name, "base");
    ck_assert_str_eq(arguments.items[0].text, "1+2 3");
    ck_assert_str_eq(arguments.items[1].text, "a=b");
    api_arguments_done(&arguments);
}
END_TEST

START_TEST(refuses_the_sixty_fifth_parameter)
{
    char query[65 * 4 + 1] = "";
    for (int i = 0; i < 65; i++)
        snprintf(query + strlen(query), 5, i % 2 ? "b=1&" : "a=1&");
    query[65 * 4 - 1] = '\0';
    check_query(query, 64, 1);
}
END_TEST

START_TEST(neighbours_of_one_name_are_items_of_a_list)
{
    api_arguments arguments;
    pe_error error;
    pe_error_init(&error);
    api_arguments_from_query("x=1&x=%32,3&y=4&x=5&x=&x=6", &arguments, &error);
    ck_assert_uint_eq(arguments.count, 5);
    ck_assert_str_eq(arguments.items[0].text, "1,2,3");
    ck_assert(arguments.items[0].repeated && !arguments.items[1].repeated);
    ck_assert_str_eq(arguments.items[2].text, "5");
    ck_assert_ptr_null(arguments.items[3].text);
    ck_assert_str_eq(arguments.items[4].text, "6");
    api_arguments_done(&arguments);
}
END_TEST

static void check_json(const char *body, bool read, size_t count, size_t problems)
{
    api_arguments arguments;
    pe_error error;
    pe_error_init(&error);
    bool was_read = api_arguments_from_json(body, strlen(body), &arguments, &error);
    ck_assert_msg(was_read == read && arguments.count == count && error.count == problems,
                  "%s: read %d, %zu arguments, %zu problems", body, was_read, arguments.count,
                  error.count);
    api_arguments_done(&arguments);
}

START_TEST(reads_only_one_flat_object)
{
    check_json("{}", true, 0, 0);
    check_json("{\"a\":1,\"b\":\"x\",\"c\":true,\"d\":[1,2.5]}", true, 4, 0);
    check_json("", false, 0, 1);
    check_json("[]", false, 0, 1);
    check_json("4", false, 0, 1);
    check_json("{\"a\":1", false, 0, 1);
    check_json("{\"a\":1}x", false, 0, 1);
    check_json("{\"a\":1,\"a\":2}", false, 0, 1);
    check_json("{\"a\":1e999}", false, 0, 1);
    check_json("{\"a\":null,\"b\":1}", true, 2, 0);
    check_json("{\"a\":[null]}", true, 1, 1);
    check_json("{\"a\":{}}", true, 1, 1);
    check_json("{\"a\":[\"1\"]}", true, 1, 1);
    check_json("{\"a\":[[1]]}", true, 1, 1);
    check_json("{\"a\":\"\\u0000\"}", false, 0, 1);
    check_json("{\"a\":\"\xff\"}", false, 0, 1);
}
END_TEST

START_TEST(writes_json_values_as_a_query_would)
{
    static const char body[] =
        "{\"a\":4.0,\"b\":12345678901234567890,\"c\":[1,-0.5],\"d\":false}";
    api_arguments arguments;
    pe_error error;
    pe_error_init(&error);
    ck_assert(api_arguments_from_json(body, strlen(body), &arguments, &error));
    ck_assert_str_eq(arguments.items[0].text, "4");
    ck_assert_int_eq(arguments.items[0].kind, PE_KIND_NUMBER);
    ck_assert_str_eq(arguments.items[1].text, "1.2345678901234567e+19");
    ck_assert_str_eq(arguments.items[2].text, "1,-0.5");
    ck_assert_int_eq(arguments.items[2].kind, PE_KIND_LIST);
    ck_assert_str_eq(arguments.items[3].text, "false");
    ck_assert_int_eq(arguments.items[3].kind, PE_KIND_BOOLEAN);
    api_arguments_done(&arguments);
}
END_TEST

START_TEST(a_null_is_an_argument_of_its_kind)
{
    static const char body[] = "{\"format\":null,\"b\":1}";
    api_arguments arguments;
    pe_error error;
    pe_error_init(&error);
    ck_assert(api_arguments_from_json(body, strlen(body), &arguments, &error));
    ck_assert_uint_eq(arguments.count, 2);
    ck_assert_int_eq(arguments.items[0].kind, PE_KIND_NULL);
    ck_assert_uint_eq(error.count, 0);
    api_arguments_done(&arguments);
}
END_TEST

Suite *arguments_suite(void)
{
    const TTest *const tests[] = {
        counts_what_is_legal_and_what_is_not, decodes_names_and_values,
        refuses_the_sixty_fifth_parameter,    neighbours_of_one_name_are_items_of_a_list,
        reads_only_one_flat_object,           writes_json_values_as_a_query_would,
        a_null_is_an_argument_of_its_kind,    NULL};
    return unit_suite("arguments", tests);
}
