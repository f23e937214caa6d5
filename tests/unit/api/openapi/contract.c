/* The OpenAPI document: what its fixed part says and refers to. */
#include "openapi/contract.h"
#include "openapi/fixed.h"
#include "unit.h"
#include "unit_service.h"

#include <stdlib.h>
#include <string.h>

/* The fixed part as it is written. */
static json_t *read_fixed(void)
{
    json_error_t error;
    json_t *fixed = json_loads(api_openapi_fixed, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(fixed, "fixed.json, line %d: %s", error.line, error.text);
    return fixed;
}

START_TEST(the_fixed_part_is_a_json_object_that_names_each_thing_once)
{
    json_t *fixed = read_fixed();
    ck_assert(json_is_object(fixed));
    json_decref(fixed);
}
END_TEST

/* ---- names ---- */

/* Whether a section has the name of a header, which may end in a question mark. */
static bool has_header(const json_t *fixed, const char *section, const char *name)
{
    json_t *plain = json_stringn(name, strcspn(name, "?"));
    bool has = json_object_get(json_object_get(fixed, section), json_string_value(plain));
    json_decref(plain);
    return has;
}

static void check_headers(const json_t *fixed, const json_t *names)
{
    size_t index;
    json_t *name;
    json_array_foreach(names, index, name)
    {
        const char *text = json_string_value(name);
        bool is_group = has_header(fixed, "x-header-groups", text);
        ck_assert_msg(has_header(fixed, "x-headers", text) != is_group, "header %s", text);
        ck_assert_msg(!is_group || !strchr(text, '?'), "group %s", text);
    }
}

/* Every response has known headers and a known content. Returns how many there are. */
static size_t check_responses(const json_t *fixed, json_t *responses)
{
    const char *name;
    json_t *response;
    json_object_foreach(responses, name, response)
    {
        const char *content = json_string_value(json_object_get(response, "content"));
        check_headers(fixed, json_object_get(response, "headers"));
        ck_assert_msg(json_object_get(response, "description"), "%s", name);
        ck_assert_msg(!content || strcmp(content, "formats") == 0 ||
                          strcmp(content, "binary formats") == 0 ||
                          json_object_get(json_object_get(fixed, "x-contents"), content),
                      "%s: content %s", name, content);
    }
    return json_object_size(responses);
}

START_TEST(responses_name_headers_and_contents_that_are_there)
{
    const char *name;
    json_t *group, *fixed = read_fixed();
    json_t *components = json_object_get(fixed, "components");
    ck_assert_uint_gt(check_responses(fixed, json_object_get(components, "responses")), 20);
    ck_assert_uint_gt(check_responses(fixed, json_object_get(fixed, "x-answers")), 10);
    json_object_foreach(json_object_get(fixed, "x-header-groups"), name, group)
        check_headers(fixed, group);
    json_decref(fixed);
}
END_TEST

/* ---- references ---- */

/* What "#/components/schemas/Problem" refers to. */
static const json_t *follow(const json_t *document, const char *target)
{
    ck_assert_msg(strncmp(target, "#/", 2) == 0, "%s", target);
    const json_t *found = document;
    for (const char *at = target + 2; *at; at += strcspn(at, "/"), at += *at == '/') {
        json_t *step = json_stringn(at, strcspn(at, "/"));
        found = json_object_get(found, json_string_value(step));
        json_decref(step);
    }
    return found;
}

/* Count the references in a value; each has a target, and no shorthand is left. */
static size_t check_references(const json_t *document, json_t *value)
{
    size_t index, count = 0;
    const char *name;
    json_t *member;
    json_object_foreach(value, name, member)
    {
        ck_assert_str_ne(name, "...");
        if (strcmp(name, "$ref") == 0) {
            const char *target = json_string_value(member);
            ck_assert_msg(follow(document, target) != NULL, "%s", target);
            count++;
        }
        count += check_references(document, member);
    }
    json_array_foreach(value, index, member) count += check_references(document, member);
    return count;
}

START_TEST(every_reference_has_a_target)
{
    unit_service service;
    unit_service_start(&service);
    api_reply *reply = unit_ask(&service, "GET", "/openapi.json", NULL, NULL);
    size_t size;
    char *text = unit_body(reply, &size);
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_uint_gt(check_references(document, document), 1000);
    const char *name;
    json_t *member;
    json_object_foreach(document, name, member) ck_assert(strncmp(name, "x-", 2) != 0);
    json_decref(document);
    free(text);
    api_reply_unref(reply);
    unit_service_stop(&service);
}
END_TEST

/* ---- schemas ---- */

/* How many members two schemas have in common, word for word. */
static size_t count_common(const json_t *schema, const json_t *other)
{
    size_t count = 0;
    const char *name;
    json_t *member, *members = json_object_get(other, "properties");
    json_object_foreach(json_object_get(schema, "properties"), name, member)
    {
        if (json_equal(member, json_object_get(members, name)))
            count++;
    }
    return count;
}

START_TEST(no_two_schemas_are_the_same_or_have_more_than_two_members_in_common)
{
    const char *name, *other_name;
    json_t *schema, *other, *fixed = read_fixed();
    json_t *schemas = json_object_get(json_object_get(fixed, "components"), "schemas");
    ck_assert_uint_gt(json_object_size(schemas), 50);
    json_object_foreach(schemas, name, schema) json_object_foreach(schemas, other_name, other)
    {
        if (strcmp(name, other_name) >= 0)
            continue;
        ck_assert_msg(!json_equal(schema, other), "%s is %s", name, other_name);
        ck_assert_msg(count_common(schema, other) <= 2,
                      "%s has what %s has: name it by \"...\"", name, other_name);
    }
    json_decref(fixed);
}
END_TEST

/* The schema of a name, finished. */
static json_t *find_schema(const json_t *document, const char *name)
{
    json_t *components = json_object_get(document, "components");
    return json_object_get(json_object_get(components, "schemas"), name);
}

START_TEST(a_schema_has_the_members_of_the_one_that_it_names)
{
    json_t *document = api_contract_new();
    const json_t *figures = find_schema(document, "Figures");
    const json_t *comparison = find_schema(document, "Comparison");
    ck_assert_uint_eq(count_common(figures, comparison),
                      json_object_size(json_object_get(figures, "properties")));
    ck_assert_uint_gt(json_array_size(json_object_get(comparison, "required")),
                      json_array_size(json_object_get(figures, "required")));
    json_decref(document);
}
END_TEST

Suite *contract_suite(void)
{
    Suite *suite = suite_create("contract");
    TCase *tcase = tcase_create("contract");
    tcase_add_test(tcase, the_fixed_part_is_a_json_object_that_names_each_thing_once);
    tcase_add_test(tcase, responses_name_headers_and_contents_that_are_there);
    tcase_add_test(tcase, every_reference_has_a_target);
    tcase_add_test(tcase, no_two_schemas_are_the_same_or_have_more_than_two_members_in_common);
    tcase_add_test(tcase, a_schema_has_the_members_of_the_one_that_it_names);
    suite_add_tcase(suite, tcase);
    return suite;
}
